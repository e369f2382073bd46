"""What a look says about objects that were, or were not, taken away."""

import numpy as np
import pytest

from deskhand.geometry import transform_points
from deskhand.perception.track.presence import seen_at_place, seen_lifted
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.simulation import Simulation
from deskhand.sim.worldfile import world_from_dict
from deskhand.skills.change_detection import newcomer
from deskhand.types import Scene, SceneObject, Table

BOX = {"kind": "box", "name": "box", "size": [0.06, 0.03, 0.04], "pose": [0.0, 0.05]}
# 30 mm nearer to the camera than the box's middle, one end up on its edge
PEN = {"kind": "pen", "name": "pen", "size": [0.009, 0.009, 0.13], "pose": {"x": 0.045, "y": 0.05, "z": 0.038, "pitch": 2.1}}
FAR = {"kind": "block", "name": "far", "pose": [0.0, -0.3]}
UP = 0.1


def frame_of(*objects, lifted=""):
    simulation = Simulation(world_from_dict({"objects": [FAR, *objects]}))
    if lifted:
        simulation.data.qpos[simulation.model.joint(lifted).qposadr[0] + 2] += UP
    with RgbdRenderer(simulation) as renderer:
        return renderer.render()


def points_of(name, *objects):
    """The object as the camera sees it: pixels that differ when it is not there."""
    frame, without = frame_of(*objects), frame_of(*(item for item in objects if item["name"] != name))
    rows, columns = np.nonzero(without.depth - frame.depth > 0.001)
    k = frame.intrinsics
    z = frame.depth[rows, columns]
    points = transform_points(frame.world_T_camera, np.column_stack([(columns - k.cx) / k.fx * z, (rows - k.cy) / k.fy * z, z]))
    low, high = points.min(axis=0), points.max(axis=0)
    pose = np.eye(4)
    pose[:3, 3] = (low + high) / 2
    return SceneObject(name, name, "red", "box", high - low, pose, points.astype(np.float32), 1.0)


@pytest.fixture(scope="module")
def leaning():
    return points_of("pen", BOX, PEN)


def test_a_pen_that_leans_on_a_box_is_there(leaning):
    assert seen_at_place(frame_of(BOX, PEN), leaning, 0.0) == "there"


def test_a_pen_is_gone_though_the_box_that_it_leaned_on_stands_right_behind(leaning):
    assert seen_at_place(frame_of(BOX), leaning, 0.0) == "gone"


def test_a_object_that_was_lifted_is_seen_higher_and_others_are_not(leaning):
    frame = frame_of(BOX, PEN, lifted="pen")
    assert seen_lifted(frame, leaning, UP) == "there"
    assert seen_lifted(frame_of(BOX), leaning, UP) == "gone"
    assert seen_lifted(frame, points_of("box", BOX), UP) == "gone"


def test_what_stands_in_front_of_an_object_hides_it():
    item = points_of("eraser", {"kind": "eraser", "name": "eraser", "pose": [0.0, 0.0]})
    wall = {"kind": "box", "name": "wall", "size": [0.02, 0.12, 0.12], "pose": [0.06, 0.0]}
    assert seen_at_place(frame_of(wall), item, 0.0) == "hidden"


def seen(*items):
    """A look that shows objects: name, colour, length [m], x, y."""
    objects = []
    for name, color, length, x, y in items:
        pose = np.eye(4)
        pose[:3, 3] = x, y, 0.01
        objects.append(SceneObject(name, "pen", color, "cylinder", np.array([length, 0.01, 0.01]), pose, np.zeros((0, 3), np.float32), 1.0))
    return Scene(tuple(objects), Table(np.eye(4), (0.8, 0.8)), 0.0)


def test_what_lies_where_something_was_let_go_is_that_whatever_it_is_called():
    before = seen(("pen_3", "red", 0.03, -0.04, -0.02), ("pen_4", "red", 0.07, -0.03, -0.10), ("pen_1", "yellow", 0.14, 0.13, 0.15))
    after = seen(("pen_4", "red", 0.125, -0.06, 0.19), ("pen_1", "yellow", 0.14, 0.10, 0.19))
    at = np.array([-0.10, 0.19, 0.01])
    assert newcomer(after, before, at, 0.1).id == "pen_4"
    assert newcomer(after, before, np.add(at, [0, 0.4, 0]), 0.1) is None
    assert newcomer(before, before, np.array([-0.04, -0.02, 0.01]), 0.1) is None


def test_a_neighbour_that_was_pushed_a_little_is_no_newcomer():
    before, after = seen(("pen_1", "red", 0.1, 0.0, 0.0)), seen(("pen_1", "red", 0.1, 0.06, 0.0))
    assert newcomer(after, before, np.array([0.06, 0.0, 0.01]), 0.1) is None
