"""Holes of a board in clouds made by hand, and flat shapes told by their outline."""

import cv2
import numpy as np
import pytest

from deskhand.geometry import make_transform
from deskhand.perception.closing import directions, sticks
from deskhand.perception.holes import CELL, Fit, Hole, _alike, find_holes, piece_of, upper_outline
from deskhand.perception.outline_match import outlines_of
from deskhand.sim.fixtures.outlines import natural_sides, outline, widened
from deskhand.types import CameraIntrinsics, Frame, SceneObject
from deskhand.types.outline_names import OUTLINE_NAMES

TOP = 0.06


def board(holes, seed=0, spacing=0.0015):
    """What is seen of a board of 12 x 15 cm from above, and of a floor through its holes {name: (x, y)}; and the object that it is."""
    random = np.random.default_rng(seed)
    x, y = np.meshgrid(np.arange(-0.06, 0.06, spacing), np.arange(-0.075, 0.075, spacing))
    places = np.column_stack([x.ravel(), y.ravel()]) + random.uniform(-0.0003, 0.0003, (x.size, 2))
    heights = TOP + random.normal(0.0, 0.001, len(places))
    for name, at in holes.items():
        contour = np.round((widened(outline(name, (0.03, 0.03)), 0.003) + at) * 1e5).astype(np.int32)
        through = np.array([cv2.pointPolygonTest(contour, tuple(map(float, place * 1e5)), False) > 0 for place in places])
        heights[through] = 0.006
    points = np.column_stack([places, heights]).astype(np.float32)
    pose = np.eye(4)
    pose[2, 3] = TOP / 2
    return points, SceneObject("box_1", "box", "brown", "box", np.array([0.12, 0.15, TOP]), pose, points, 0.9)


def test_every_hole_is_found_where_it_is_and_as_large_as_it_is():
    holes = {"square": (0.03, -0.03), "circle": (-0.03, -0.04), "triangle": (-0.03, 0.03), "star": (0.03, 0.04)}
    found = find_holes(*board(holes))
    assert len(found) == 4
    for name, at in holes.items():
        middle = _middle(widened(outline(name, (0.03, 0.03)), 0.003)) + at
        nearest = min(found, key=lambda hole: float(np.linalg.norm(hole.centre - middle)))
        assert np.linalg.norm(nearest.centre - middle) < 0.002, name
        assert nearest.level == pytest.approx(TOP, abs=0.001)
        assert nearest.likely[0][0] == name


def test_a_plain_board_has_none_nor_has_a_notch_at_its_edge():
    assert find_holes(*board({})) == []
    assert find_holes(*board({"square": (0.05, 0.0)})) == []


def test_of_what_is_seen_by_half_nothing_is_told():
    points, item = board({"circle": (0.0, 0.0)})
    assert find_holes(points[points[:, 0] ** 2 + (points[:, 1] - 0.05) ** 2 < 0.03**2][:90], item) == []


@pytest.mark.parametrize("name", ["circle", "square", "triangle", "star", "plus", "heart"])
@pytest.mark.parametrize("turn", [0.0, 0.4])
def test_a_flat_shape_is_told_by_its_outline(name, turn):
    c, s = np.cos(turn), np.sin(turn)
    contour = np.round(outline(name, (0.036, 0.036)) @ np.array([[c, s], [-s, c]]) / CELL + 60).astype(np.int32)
    drawn = np.zeros((121, 121), np.uint8)
    cv2.fillPoly(drawn, [contour], 1)
    assert outlines_of(drawn > 0)[0][0] == name
    assert outlines_of(np.zeros((20, 20), bool)) == ()


def _middle(corners):
    """The middle of the area of a polygon."""
    x, y = corners.T
    nx, ny = np.roll(x, -1), np.roll(y, -1)
    cross = x * ny - nx * y
    return np.array([((x + nx) * cross).sum(), ((y + ny) * cross).sum()]) / (3 * cross.sum())


def thin(holes, ground=0.005, standing=(), seed=0):
    """A plate 1 cm thick with recesses ``ground`` [m] above the table; ``standing``: names of those in which a piece stands 15 mm above the plate."""
    points, _ = board(holes, seed)
    inside = points[:, 2] < 0.02
    points[:, 2] += 0.010 - TOP
    random = np.random.default_rng(seed)
    points[inside, 2] = ground + random.normal(0.0, 0.001, int(inside.sum()))
    for name in standing:
        near = inside & (np.linalg.norm(points[:, :2] - holes[name], axis=1) < 0.03)
        points[near, 2] = 0.025
    pose = np.eye(4)
    pose[2, 3] = 0.005
    return points, SceneObject("plate", "object", "gray", "irregular", np.array([0.12, 0.15, 0.010]), pose, points, 0.9)


def test_a_recess_is_told_with_its_depth_and_a_hole_without():
    holes = {"square": (0.03, -0.03), "triangle": (-0.03, 0.03)}
    found = find_holes(*thin(holes))
    assert len(found) == 2 and all(hole.depth == pytest.approx(0.005, abs=0.0005) for hole in found)
    for name, at in holes.items():
        middle = _middle(widened(outline(name, (0.03, 0.03)), 0.003)) + at
        nearest = min(found, key=lambda hole: float(np.linalg.norm(hole.centre - middle)))
        assert np.linalg.norm(nearest.centre - middle) < 0.002 and nearest.likely[0][0] == name
    assert all(np.isnan(hole.depth) for hole in find_holes(*board(holes)))


def test_a_mark_on_a_plate_and_a_recess_in_which_something_stands_are_none():
    holes = {"square": (0.03, -0.03), "triangle": (-0.03, 0.03)}
    assert find_holes(*thin(holes, ground=0.0098)) == []
    (left,) = find_holes(*thin(holes, standing=("square",)))
    assert np.linalg.norm(left.centre - holes["triangle"]) < 0.006


@pytest.mark.parametrize("name", OUTLINE_NAMES)
def test_shapes_of_puzzles_are_told_by_their_outline_among_letters(name):
    sides = {"diamond": (0.026, 0.036), "rectangle": (0.026, 0.036)}.get(name) or tuple(0.036 * side for side in natural_sides(name))
    c, s = np.cos(0.7), np.sin(0.7)
    drawn = np.zeros((121, 121), np.uint8)
    cv2.fillPoly(drawn, [np.round(outline(name, sides) @ np.array([[c, s], [-s, c]]) / CELL + 60).astype(np.int32)], 1)
    assert outlines_of(drawn > 0, wide=True)[0][0] == name


def from_the_side():
    """A picture of one colour by a camera 65 cm above the desk and 50 cm beside its middle."""
    eye = np.array([0.5, 0.0, 0.65])
    forward = -eye / np.linalg.norm(eye)
    right = np.array([0.0, 1.0, 0.0])
    pose = make_transform(np.column_stack([right, np.cross(forward, right), forward]), eye)
    return Frame(np.full((480, 640, 3), 120, np.uint8), np.ones((480, 640), np.float32), CameraIntrinsics(640, 480, 600.0, 600.0, 320.0, 240.0), pose, 0.0)


@pytest.mark.parametrize(("high", "told"), [(0.27, 2), (0.03, 1)])
def test_an_arm_above_a_plate_stands_on_no_recess_of_it_and_hides_what_the_camera_cannot_see(high, told):
    points, item = thin({"square": (0.03, -0.03), "triangle": (-0.03, 0.03)})
    x, y = np.meshgrid(np.arange(-0.06, 0.06, 0.002), np.arange(0.015, 0.055, 0.002))  # over the triangle
    arm = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, high)]).astype(np.float32)
    seen, robot = np.vstack([points, arm]), np.arange(len(points) + len(arm)) >= len(points)
    found = find_holes(seen, item, from_the_side(), robot)
    assert len(found) == told
    assert min(np.linalg.norm(hole.centre - [0.03, -0.03]) for hole in found) < 0.006
    if told == 2:
        assert len(find_holes(seen, item, from_the_side())) == 1, "as a thing that stands there it would cover the triangle"


@pytest.mark.parametrize(("name", "sides", "ways"), [("diamond", (0.026, 0.036), 2), ("star", (0.034, 0.034), 5), ("square", (0.03, 0.03), 2)])
def test_only_what_looks_the_same_after_its_turns_is_as_regular_as_what_it_is_taken_for(name, sides, ways):
    """A diamond that is taken for a square (0.62) is closed on along its own sides, which are no right angle apart."""
    drawn = np.zeros((121, 121), np.uint8)
    cv2.fillPoly(drawn, [np.round(outline(name, sides) / CELL + 60).astype(np.int32)], 1)
    taken = "square" if name == "diamond" else name
    fit = Fit(Hole(np.zeros(2), 0.01, 1e-3, drawn > 0, ((taken, 0.65),)), 0.0, 0.9, np.zeros(2))
    closing = directions(piece_of(fit.hole), _alike(fit, [0.0]))
    assert len(closing) == ways
    if name == "diamond":
        apart = float(abs(np.diff(closing)[0]))
        assert min(apart, np.pi - apart) == pytest.approx(2 * np.arctan2(26, 36), abs=0.06)


def test_fingers_do_not_close_into_a_mouth_that_is_seen_of_the_piece_and_not_of_its_recess():
    """Seed 45034 of kits: a recess in the shade showed half of each horn; a pad was driven between those of the piece, and took it along as it opened."""
    whole = outline("crescent", (0.034, 0.034))
    random = np.random.default_rng(0)
    places = random.uniform(-0.02, 0.02, (4000, 2))
    inside = [cv2.pointPolygonTest((whole * 1e5).astype(np.int32), tuple(map(float, place * 1e5)), False) > 0 for place in places]
    points = np.column_stack([places[inside], 0.02 + random.normal(0.0, 0.0005, sum(inside))]).astype(np.float32)
    side = np.column_stack([places[inside], random.uniform(0.0, 0.014, sum(inside))]).astype(np.float32)
    seen = upper_outline(np.vstack([points, side]), 0.02)
    short = whole[np.abs(whole[:, 1]) < 0.55 * np.abs(whole[:, 1]).max()]  # of both horns the ends are missing
    mouth = next(one for one in directions(short, (0.0,), 0.026) if sticks(whole, one, 0.026))
    assert not any(abs((one - mouth + np.pi / 2) % np.pi - np.pi / 2) < 0.2 for one in directions(short, (0.0,), 0.026, seen))
    assert upper_outline(points[:10], 0.02) is None
