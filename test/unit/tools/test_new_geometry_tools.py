"""Tools of geometry on data made by formula: markers that are drawn, clouds that are moved, piles that are played through."""

import itertools
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.geometry import inverse, make_transform, rotation_rpy, transform_points
from deskhand.perception.enhance import FILTERS
from deskhand.perception.fiducials import FAMILIES, find_markers
from deskhand.perception.pointing import first_hit
from deskhand.perception.registration import register_clouds
from deskhand.planning.moving_stacks import order_of_moves
from deskhand.testing.desk_scene import one_of_each
from deskhand.types import CameraIntrinsics, Scene, Table

K = CameraIntrinsics(640, 480, 600.0, 600.0, 319.5, 239.5)
EDGE = 0.06


def picture_of_marker(number, camera_T_marker, family, margin=40, around=120):
    side = 200
    drawn = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(FAMILIES[family]), number, side)
    paper = np.full((side + 2 * margin, side + 2 * margin), 255, np.uint8)
    paper[margin:-margin, margin:-margin] = drawn
    half = EDGE / 2 * len(paper) / side
    at = transform_points(camera_T_marker, np.array([[-half, half, 0], [half, half, 0], [half, -half, 0], [-half, -half, 0]]))
    pixels = np.column_stack([K.fx * at[:, 0] / at[:, 2] + K.cx, K.fy * at[:, 1] / at[:, 2] + K.cy]).astype(np.float32)
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32) * (len(paper) - 1)
    image = cv2.warpPerspective(paper, cv2.getPerspectiveTransform(corners, pixels), (K.width, K.height), borderValue=around)
    return np.repeat(image[..., None], 3, axis=-1)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_a_marker_of_every_family_is_found_where_it_is(family):
    pose = make_transform(rotation_rpy(np.pi - 0.5, 0.3, 0.7), (0.05, -0.03, 0.5))
    found = find_markers(picture_of_marker(3, pose, family), family, K, EDGE)
    assert [marker.number for marker in found] == [3] and found[0].error < 0.5
    off = inverse(pose) @ found[0].camera_T_marker
    assert np.linalg.norm(off[:3, 3]) < 0.004 and np.arccos((np.trace(off[:3, :3]) - 1) / 2) < 0.06
    with pytest.raises(DeskhandError, match="apriltag_36h11"):
        find_markers(np.zeros((9, 9, 3), np.uint8), "qr")


def test_small_markers_with_a_thin_border_on_something_dark_are_found():
    right = 0
    for yaw in np.linspace(0, 3, 12):
        pose = make_transform(rotation_rpy(np.pi - 0.7, 0.1, yaw), (0.1, -0.05, 1.6))
        found = find_markers(picture_of_marker(5, pose, "apriltag_36h11", margin=20, around=8), "apriltag_36h11", K, EDGE)
        right += [marker.number for marker in found] == [5] and float(np.linalg.norm(found[0].camera_T_marker[:3, 3] - pose[:3, 3])) < 0.03
    assert right >= 11  # in the picture as it is, ten


@pytest.mark.parametrize("seed", range(3))
def test_clouds_are_laid_on_each_other_and_the_deviation_covers_the_error(seed):
    random = np.random.default_rng(seed)
    box = random.uniform(-1, 1, (4000, 3)) * (0.1, 0.07, 0.04)
    axis = random.integers(0, 3, 4000)
    box[np.arange(4000), axis] = np.sign(box[np.arange(4000), axis]) * np.array([0.1, 0.07, 0.04])[axis]
    real = make_transform(rotation_rpy(*random.uniform(-0.15, 0.15, 3)), random.uniform(-0.02, 0.02, 3))
    source = transform_points(inverse(real), box[:2000]) + random.normal(0, 0.0005, (2000, 3))
    found, rms, overlap, covariance = register_clouds(source, box[2000:], np.eye(4), 0.05)
    assert np.linalg.norm((found @ inverse(real))[:3, 3]) < 0.001 and rms < 0.001 and overlap > 0.95
    assert np.sqrt(np.diag(covariance)).max() < 0.002


def test_a_ray_meets_what_comes_first():
    items = one_of_each()
    table = Table(np.eye(4), (0.9, 1.1))
    scene, item = Scene(tuple(items), table, 0.0), next(item for item in items if item.id == "block_1")
    eye = np.array([0.5, 0.0, 0.6])
    way = item.position - eye
    hit = first_hit(eye, way / np.linalg.norm(way), scene, np.zeros((0, 3)))
    assert (hit.object_id, hit.on) == ("block_1", "object") and hit.near[0][0] == "block_1"
    assert np.linalg.norm(hit.place - item.position) < 0.04
    blocked = first_hit(eye, way / np.linalg.norm(way), scene, (eye + 0.3 * way)[None])
    assert blocked.on == "robot"
    away = first_hit(eye, np.array([0.0, 0.0, 1.0]), scene, np.zeros((0, 3)))
    assert (away.object_id, away.on) == ("", "nothing")


def test_every_filter_keeps_the_picture_s_size_and_does_nothing_to_what_is_even():
    random = np.random.default_rng(0)
    image = random.integers(0, 256, (40, 50, 3), np.uint8)
    for name, work in FILTERS.items():
        for strength in (0.0, 1.0):
            result = work(image, strength)
            assert result.shape == image.shape and result.dtype == np.uint8, name
    grey = np.full((40, 50, 3), 127, np.uint8)
    for name in ("exposure", "denoise", "sharpen", "white_balance"):
        assert np.abs(FILTERS[name](grey, 1.0).astype(int) - 127).max() <= 2, name


def test_piles_are_moved_with_the_fewest_moves_or_it_is_said_to_be_impossible():
    def smaller(above, below):
        return int(above) < int(below)

    for count in range(1, 6):
        discs = [str(size) for size in range(count, 0, -1)]
        moves = order_of_moves({"a": discs, "b": [], "c": []}, {"b": discs}, smaller, {})
        state = {"a": list(discs), "b": [], "c": []}
        for move in moves:
            assert state[move.origin].pop() == move.item
            assert not state[move.target] or smaller(move.item, state[move.target][-1])
            state[move.target].append(move.item)
        assert len(moves) == 2**count - 1 and state["b"] == discs
    with pytest.raises(DeskhandError) as error:
        order_of_moves({"a": ["2", "1"], "b": []}, {"b": ["2", "1"]}, smaller, {})
    assert error.value.code == "impossible"
    for start, goal, room in (
        ({"a": ["1"]}, {"a": []}, {}),
        ({"a": ["1", "2"]}, {"a": ["2", "1"]}, {}),
        ({"a": ["1"]}, {"z": ["1"]}, {}),
        ({"a": ["1"], "b": []}, {"b": ["1"]}, {"b": 0}),
    ):
        with pytest.raises(DeskhandError) as error:
            order_of_moves(start, goal, smaller, room)
        assert error.value.code == "invalid_input"


def test_measures_of_given_points_follow_the_formulas():
    from deskhand.skills.belief import Belief
    from deskhand.tools.perception.measuring import measure

    belief = Belief()
    belief.scene = Scene(tuple(one_of_each()), Table(np.eye(4), (0.9, 1.1)), 0.0)
    ctx = SimpleNamespace(belief=belief)
    square = [[0, 0, 0], [0.2, 0, 0], [0.2, 0, 0.2], [0, 0, 0.2]]
    assert measure(ctx, "area", square)["value"] == pytest.approx(0.04)
    assert measure(ctx, "path", square)["value"] == pytest.approx(0.6)
    assert measure(ctx, "angle", square[:3])["value"] == pytest.approx(np.pi / 2)
    for quantity, given in (
        ("angle", {"points": square}),
        ("gap", {"points": square}),
        ("length", {"object_ids": ["block_1", "pen_1"]}),
        ("area", {"points": square[:2]}),
    ):
        with pytest.raises(DeskhandError) as error:
            measure(ctx, quantity, **given)
        assert error.value.code == "invalid_input"
    sides = [measure(ctx, side, object_ids=["box_1"])["value"] for side in ("length", "width", "height")]
    assert sorted(sides) == pytest.approx(sorted(belief.scene.get("box_1").size)) and sides[0] >= sides[1]
    assert all(measure(ctx, "gap", object_ids=list(pair))["value"] >= 0 for pair in itertools.combinations(["block_1", "box_1", "cup_1"], 2))
