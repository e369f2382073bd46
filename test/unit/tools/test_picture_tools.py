"""Tools of pictures on made pictures, where the truth is known exactly."""

import cv2
import numpy as np
import pytest
from scipy.spatial import ConvexHull

from deskhand.errors import DeskhandError
from deskhand.etp.resources import POINTS, ResourceStore
from deskhand.etp.tool import ToolContext
from deskhand.geometry import make_transform, rotation_rpy, transform_points
from deskhand.perception.registration import SUNK, register, sampled
from deskhand.sim.shapes import shape_pieces
from deskhand.tools.cognition.similarity import changes, compare_pictures, structural_similarity
from deskhand.tools.perception.boxes import clusters, track_boxes_3d
from deskhand.tools.perception.colors import COLORS, named_pixels
from deskhand.tools.perception.depth import completed
from deskhand.tools.perception.models import _outward, _surface
from deskhand.tools.perception.quality import blur_of, noise_of
from deskhand.tools.perception.structure import reconstruct_from_pictures
from deskhand.tools.perception.tracking import segment_video, track_points


@pytest.fixture
def ctx():
    return ToolContext(robot=None, belief=None, resources=ResourceStore())


def textured(seed=0, height=240, width=320):
    random = np.random.default_rng(seed)
    grain = cv2.GaussianBlur(random.uniform(0, 255, (height, width, 3)).astype(np.float32), (0, 0), 2)
    return cv2.normalize(grain, None, 0, 255, cv2.NORM_MINMAX).astype(np.uint8)


def moved(image, dx, dy):
    return cv2.warpAffine(image, np.array([[1.0, 0, dx], [0, 1.0, dy]]), (image.shape[1], image.shape[0]), borderMode=cv2.BORDER_REFLECT)


def test_holes_in_a_plane_are_filled_exactly_and_an_edge_of_colour_is_kept():
    v, u = np.mgrid[0:60, 0:80]
    depth = (1 / (0.8 + 0.004 * u + 0.002 * v)).astype(np.float32)  # a plane
    color = np.full((60, 80, 3), 128, np.uint8)
    holes = np.zeros((60, 80), bool)
    holes[20:35, 30:50] = True
    assert np.abs(completed(np.where(holes, np.nan, depth), color, holes) - depth)[holes].max() < 1e-3
    depth[:, 40:] = 0.5
    color[:, 40:] = (220, 30, 30)
    full = completed(np.where(holes, np.nan, depth), color, holes)
    assert np.abs(full - depth)[holes].max() < 0.03 and np.isfinite(full).all()


def test_points_are_followed_and_one_that_is_covered_is_told_hidden(ctx):
    image = textured()
    pictures = [moved(image, 2.5 * n, -1.5 * n) for n in range(5)]
    pictures[3][80:160, 60:140] = 128
    uris = [ctx.resources.put(picture)["uri"] for picture in pictures]
    covered, free = track_points(ctx, uris, [[90.0, 120.0], [200.0, 100.0]])["points"]
    assert free["visible"] == [True] * 5 and np.abs(np.array(free["pixels"][-1]) - [210, 94]).max() < 0.3
    assert covered["visible"] == [True, True, True, False, True] and np.abs(np.array(covered["pixels"][-1]) - [100, 114]).max() < 0.3
    with pytest.raises(DeskhandError, match="outside the picture"):
        track_points(ctx, uris, [[400.0, 10.0]])


def test_a_target_is_followed_and_lost(ctx):
    background, target = textured(1) // 3, np.zeros((240, 320), bool)
    target[100:140, 60:110] = True
    pictures = []
    for step in range(4):
        picture = background.copy()
        picture[100:140, 60 + 8 * step : 110 + 8 * step] = (220, 40, 30)
        pictures.append(picture)
    uris = [ctx.resources.put(picture)["uri"] for picture in (*pictures, background)]
    found = segment_video(ctx, uris, box=[55, 95, 60, 50])["pictures"]
    mask = ctx.resources.get(found[3]["mask"]["uri"]).array()[..., 0] > 0
    right = np.roll(target, 24, axis=1)
    assert (mask & right).sum() / (mask | right).sum() > 0.9 and [item["lost"] for item in found] == [False] * 4 + [True]


def test_boxes_keep_their_ids_through_clouds_and_a_new_object_gets_a_new_one(ctx):
    random = np.random.default_rng(3)

    def cube(x, y):
        return (random.uniform(-0.02, 0.02, (1500, 3)) + np.array([x, y, 0.02])).astype(np.float32)

    clouds = [np.concatenate([cube(0.02 * n, 0.0), cube(0.0, 0.3), *([cube(-0.3, 0.0)] if n == 2 else [])]) for n in range(3)]
    given = track_boxes_3d(ctx, [ctx.resources.put(cloud, POINTS)["uri"] for cloud in clouds])
    ids = [{box["track_id"]: box["center"][0] for box in cloud} for cloud in given["clouds"]]
    mover = next(name for name, x in ids[2].items() if x == pytest.approx(0.04, abs=0.003))
    assert given["tracks"] == 3 and [len(cloud) for cloud in ids] == [2, 2, 3] and ids[0][mover] == pytest.approx(0.0, abs=0.003)
    assert clusters(np.zeros((0, 3), np.float32), 0.01, 5) == []


def test_blur_and_noise_rise_with_what_is_done_to_a_picture():
    board = np.kron(np.indices((8, 8)).sum(axis=0) % 2, np.ones((30, 30))) * 150 + 50
    board = board.astype(np.uint8)
    blurs = [blur_of(board), *(blur_of(cv2.GaussianBlur(board, (0, 0), sigma)) for sigma in (1, 2, 4))]
    assert blurs == sorted(blurs) and blurs[0] < 0.4 < 0.6 < blurs[-1]
    noisy = board + np.random.default_rng(4).normal(0, 10, board.shape)
    assert noise_of(np.clip(noisy, 0, 255).astype(np.uint8)) == pytest.approx(10, abs=1) and noise_of(board) == 0


def test_every_pixel_gets_the_name_of_its_colour():
    paints = {"red": (200, 30, 30), "green": (40, 150, 50), "blue": (30, 50, 190), "yellow": (230, 200, 40), "white": (235, 235, 235), "black": (15, 15, 15)}
    picture = np.concatenate([np.full((40, 40, 3), rgb, np.uint8) for rgb in paints.values()], axis=1)
    assert [COLORS[number] for number in named_pixels(picture)[20, 20::40]] == list(paints)


def test_what_differs_between_two_pictures_is_found_and_the_rest_is_not(ctx):
    first = textured(5)
    second = first.copy()
    second[50:90, 100:150] = (255, 0, 0)
    mask = changes(first, np.clip(second.astype(int) + 6, 0, 255).astype(np.uint8))
    assert mask[55:85, 105:145].mean() > 0.95 and mask.sum() < 1.3 * 2000 and not changes(first, first).any()
    assert structural_similarity(first, first) == pytest.approx(1.0) and structural_similarity(first, second) < 0.98
    shifted = compare_pictures(ctx, ctx.resources.put(first)["uri"], ctx.resources.put(moved(first, 6, -3))["uri"], align=True)
    assert shifted["shift"] == pytest.approx([6, -3], abs=0.2) and shifted["ssim"] > 0.9


def test_a_known_box_is_registered_from_the_sides_that_are_seen():
    surface, normals = _surface("", 1.0, "box", [0.08, 0.05, 0.03])
    true = make_transform(rotation_rpy(0, 0, 0.6), (0.1, -0.05, 0.015))
    eye = np.array([0.5, 0.1, 0.5])
    points = transform_points(true, surface)
    facing = ((normals @ true[:3, :3].T) * (eye - points)).sum(axis=1) > 0
    seen = points[facing] + np.random.default_rng(6).normal(0, 0.0007, (int(facing.sum()), 3))
    cost, pose = register(surface, normals, seen, true[:3, 3] + [0.006, -0.004, 0.003], eye, float(seen[:, 2].min()))[0]
    assert np.linalg.norm(pose[:3, 3] - true[:3, 3]) < 0.002 and cost < 0.01
    assert np.abs(np.linalg.inv(true)[:3, :3] @ pose[:3, :3]).max(axis=0).min() > 0.998  # axes along axes


def seen_of(surface, normals, pose, eye, noise, seed):
    """What a camera at ``eye`` sees of a body that hides nothing of itself."""
    points = transform_points(pose, surface)
    facing = ((normals @ pose[:3, :3].T) * (eye - points)).sum(axis=1) > 0
    return points[facing] + np.random.default_rng(seed).normal(0, noise, (int(facing.sum()), 3))


@pytest.mark.parametrize("seed", [2])
def test_a_box_of_which_neither_end_is_seen_is_as_far_along_as_it_is(seed):
    surface, normals = _surface("", 1.0, "box", [0.097, 0.054, 0.043])
    true = make_transform(rotation_rpy(0, 0, 1.2), (-0.05, 0.2, 0.0215))
    eye = transform_points(true, np.array([0.0, 0.5, 0.6]))
    seen = seen_of(surface, normals, true, eye, 0.001, seed)
    start = true[:3, 3] + true[:3, 0] * np.random.default_rng(seed).choice([-0.006, 0.006])
    pose = register(surface, normals, seen, start, eye, float(seen[:, 2].min()))[0][1]
    assert abs(float((pose[:3, 3] - true[:3, 3]) @ true[:3, 0])) < 0.0015


def test_a_model_that_would_be_below_what_it_stands_on_costs_as_much_as_it_is_deep():
    corners = np.concatenate(shape_pieces("wedge", (0.065, 0.042, 0.044)))
    faces = np.array([_outward(corners, face) for face in ConvexHull(corners).simplices], np.int32)
    surface, normals = sampled(corners, faces)
    true, eye = make_transform(rotation_rpy(0, 0, 1.81), (-0.112, -0.117, 0.022)), np.array([0.58, 0.0, 0.62])
    seen = seen_of(surface, normals, true, eye, 0.001, 4)
    cost, pose = register(surface, normals, seen, true[:3, 3], eye, float(seen[:, 2].min()), 0.0)[0]
    assert cost < 0.004 and np.linalg.norm(transform_points(pose, corners) - transform_points(true, corners), axis=1).mean() < 0.005
    for cost, pose in register(surface, normals, seen, true[:3, 3], eye, float(seen[:, 2].min()), 0.02):
        assert cost > 0.02 - transform_points(pose, surface)[:, 2].min() - SUNK


def test_a_camera_s_way_past_two_walls_is_found_again(ctx):
    camera = {"width": 320, "height": 240, "fx": 300.0, "fy": 300.0, "cx": 159.5, "cy": 119.5}
    matrix = np.array([[300.0, 0, 159.5], [0, 300.0, 119.5], [0, 0, 1]])
    near, far = textured(7), textured(8)

    def seen(x):
        """Two walls, at 1 m and 2 m, from ``x`` [m] to the right."""
        pictures = [moved(wall, -300.0 * x / depth, 0) for wall, depth in ((near, 1.0), (far, 2.0))]
        pictures[0][:, 160:] = pictures[1][:, 160:]
        return pictures[0]

    uris = [ctx.resources.put(seen(x))["uri"] for x in (0.0, 0.08, 0.16)]
    given = reconstruct_from_pictures(ctx, uris, camera, baseline=0.08)
    places = [np.array(pose)[:3, 3] for pose in given["poses"]]
    points = ctx.resources.get(given["points"]["uri"]).array()
    pixels = points @ matrix.T
    depth = np.where(pixels[:, 0] / pixels[:, 2] < 150, 1.0, 2.0)
    assert places[1] == pytest.approx([0.08, 0, 0], abs=0.004) and places[2] == pytest.approx([0.16, 0, 0], abs=0.006)
    assert np.median(np.abs(points[:, 2] / depth - 1)) < 0.05 and given["metric"] and given["count"] > 50
