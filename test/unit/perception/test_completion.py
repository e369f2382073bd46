"""Hidden surfaces are filled in and said to be; the room left in a container."""

import numpy as np
import pytest

from deskhand.geometry import make_transform, rotation_rpy
from deskhand.perception.completion import completed_cloud, free_volume
from deskhand.types import Scene, SceneObject, Table

SOLIDS = {
    "box": ("box", (0.06, 0.04, 0.03)),
    "ball": ("sphere", (0.04, 0.04, 0.04)),
    "can": ("cylinder", (0.04, 0.04, 0.08)),
    "pen": ("cylinder", (0.13, 0.01, 0.01)),
}


def thing(shape, size, points=(), pose=None, **more):
    pose = make_transform(rotation_rpy(0.0, 0.0, 0.5), (0.1, 0.2, size[2] / 2)) if pose is None else pose
    return SceneObject("thing", "thing", "red", shape, np.array(size), pose, np.array(points, np.float32).reshape(-1, 3), 1.0, **more)


@pytest.mark.parametrize("name", SOLIDS)
def test_the_whole_surface_is_covered_and_nothing_else(name):
    shape, size = SOLIDS[name]
    item = thing(shape, size)
    points, seen = completed_cloud(item)
    local = (points - item.pose[:3, 3]) @ item.pose[:3, :3]
    assert not seen.any()
    assert np.allclose(local.max(axis=0), np.array(size) / 2, atol=0.002)
    assert np.allclose(local.min(axis=0), -np.array(size) / 2, atol=0.002)


def test_seen_points_stay_and_are_not_doubled():
    u, v = np.meshgrid(np.linspace(-0.02, 0.02, 15), np.linspace(-0.02, 0.02, 15))
    pose = make_transform(None, (0.0, 0.0, 0.02))
    top = np.column_stack([u.ravel(), v.ravel(), np.full(u.size, 0.04)])
    points, seen = completed_cloud(thing("box", (0.04, 0.04, 0.04), top, pose))
    assert seen.sum() == len(top)
    assert points[~seen, 2].max() < 0.04 - 0.004
    assert points[~seen, 2].min() == pytest.approx(0.0, abs=1e-6)


def test_what_lies_in_a_container_takes_its_room():
    box = thing("box", (0.1, 0.1, 0.05), pose=make_transform(None, (0.0, 0.0, 0.025)), is_container=True, wall=0.005)
    block = thing("box", (0.03,) * 3, pose=make_transform(None, (0.0, 0.0, 0.02)), relation="in", support="thing")
    empty, filled = (free_volume(Scene(objects, Table(np.eye(4), (1, 1)), 0.0), box) for objects in ((box,), (box, block)))
    assert empty == pytest.approx(0.09 * 0.09 * 0.045)
    assert empty - filled == pytest.approx(0.03**3)
