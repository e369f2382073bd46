"""Handles in made clouds: bars, a lid's grip, a knob; and what is none: walls, what stands in front, what goes on, what lies flat."""

import numpy as np
import pytest

from deskhand.geometry import make_transform, rotation_about, transform_points
from deskhand.perception.handles import find_handles
from deskhand.types import SceneObject

STEP = 0.002


def sheet(low, high, noise=0.0007, seed=0):
    """Points of an axis-aligned box's visible sheet: flat along the axis where low equals high."""
    axes = [np.arange(a, b + 1e-9, STEP) if b > a else np.array([a]) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return points + np.random.default_rng(seed).normal(0, noise, points.shape)


def cabinet(*, yaw=0.0, at=(0.1, 0.2), shape="box"):
    size = np.array([0.20, 0.16 if shape == "box" else 0.20, 0.22])
    pose = make_transform(rotation_about([0, 0, 1], yaw), [*at, 0.11])
    return SceneObject("cabinet_1", "object", "brown", shape, size, pose, np.zeros((0, 3), np.float32), 0.9)


def seen(item, *parts):
    """A cloud of a cabinet's front (its +x side) and of ``parts`` in its frame, as the camera would give them."""
    front = sheet((0.10, -0.08, -0.11), (0.10, 0.08, 0.11), seed=1)
    return transform_points(item.pose, np.concatenate([front, *parts])).astype(np.float32)


def bar(z, sticks=0.03, thick=0.010, length=0.09, seed=2):
    return sheet((0.10 + sticks - thick / 2, -length / 2, z - thick / 2), (0.10 + sticks, length / 2, z + thick / 2), seed=seed)


@pytest.mark.parametrize("yaw", [0.0, 0.4, -1.2])
def test_three_drawers_have_three_handles_told_where_they_are(yaw):
    item = cabinet(yaw=yaw)
    heights = (0.075, 0.0, -0.06)
    found = find_handles(seen(item, *(bar(z, seed=n) for n, z in enumerate(heights))), item)
    assert len(found) == 3
    for handle, z in zip(found, heights, strict=True):
        assert handle.object_id == "cabinet_1" and not handle.on_top
        true = transform_points(item.pose, np.array([[0.115, 0.0, z]]))[0]
        assert np.linalg.norm(handle.centre - true) < 0.005
        assert np.allclose(handle.outward, item.pose[:3, 0], atol=0.01) and abs(handle.along @ item.pose[:3, 1]) > 0.99
        assert handle.size == pytest.approx([0.03, 0.09, 0.010], abs=0.006) and 0.012 < handle.gap < 0.024, "the bar stands off: a finger fits behind it"


def test_a_grip_on_a_lid_is_on_top():
    item = cabinet()
    top = sheet((-0.10, -0.08, 0.11), (0.10, 0.08, 0.11), seed=3)
    grip = sheet((0.07, -0.006, 0.112), (0.084, 0.006, 0.136), seed=4)
    (handle,) = find_handles(transform_points(item.pose, np.concatenate([top, grip])).astype(np.float32), item)
    assert handle.on_top and handle.centre[:2] == pytest.approx(transform_points(item.pose, np.array([[0.077, 0, 0]]))[0][:2], abs=0.004)


@pytest.mark.parametrize(
    ("what", "part"),
    [
        ("nothing", np.zeros((0, 3))),
        ("a label", sheet((0.104, -0.03, -0.02), (0.104, 0.03, 0.02))),
        ("a cup in front that stands on the table", sheet((0.13, -0.015, -0.105), (0.15, 0.015, 0.0))),
        ("a shelf that goes on beyond", sheet((0.10, -0.01, 0.0), (0.19, 0.01, 0.01))),
        ("another box, too wide for fingers", sheet((0.13, -0.07, -0.05), (0.14, 0.07, 0.05))),
    ],
)
def test_what_is_no_handle(what, part):
    item = cabinet()
    assert find_handles(seen(item, part), item) == [], what


def test_a_round_side_has_no_handle_and_a_side_that_is_not_seen_tells_nothing():
    assert find_handles(seen(cabinet(shape="cylinder"), bar(0.0)), cabinet(shape="cylinder")) == []
    item = cabinet()
    assert find_handles(transform_points(item.pose, bar(0.0)).astype(np.float32), item) == [], "a bar alone is on no side"
    assert find_handles(np.zeros((0, 3), np.float32), item) == []
