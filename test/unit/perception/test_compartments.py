"""Open boxes with walls between their parts, ray cast from boxes: each part is a container of its own."""

from __future__ import annotations

import numpy as np
import pytest

from deskhand.geometry import make_transform
from deskhand.perception.pipeline import Perception
from deskhand.perception.settings import PerceptionSettings
from deskhand.types import CameraIntrinsics, Frame

INTRINSICS = CameraIntrinsics(640, 480, 580.0, 580.0, 319.5, 239.5)
BROWN, DESK, RED = (96, 70, 48), (200, 200, 196), (190, 40, 36)


def camera(eye, at):
    forward = np.subtract(at, eye) / np.linalg.norm(np.subtract(at, eye))
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return make_transform(np.column_stack([right, np.cross(forward, right), forward]), eye)


def picture(boxes, noise=0.0):
    """A frame of ``boxes`` (low (3,), high (3,), colour) on a desk at z = 0, by the slab method (Kay and Kajiya 1986)."""
    k, pose = INTRINSICS, camera((0.55, 0.05, 0.75), (0.0, 0.05, 0.0))
    v, u = np.mgrid[: k.height, : k.width].astype(float)
    rays = np.stack([(u - k.cx) / k.fx, (v - k.cy) / k.fy, np.ones_like(u)], axis=-1) @ pose[:3, :3].T
    eye = pose[:3, 3]
    depth = np.where(rays[..., 2] < -1e-6, -eye[2] / np.minimum(rays[..., 2], -1e-6), np.inf)
    color = np.broadcast_to(np.array(DESK, np.uint8), (*depth.shape, 3)).copy()
    for low, high, paint in boxes:
        near, far = ((np.array(side) - eye) / rays for side in (low, high))
        first, last = np.minimum(near, far).max(axis=-1), np.maximum(near, far).min(axis=-1)
        hit = (first < last) & (first > 0) & (first < depth)
        side = np.minimum(near, far).argmax(axis=-1)
        depth = np.where(hit, first, depth)
        color[hit] = (np.array(paint) * np.array([0.8, 0.7, 1.0])[side[hit]][:, None]).astype(np.uint8)
    measured = np.where(depth < 2.0, depth, np.nan) + np.random.default_rng(0).normal(0.0, noise, depth.shape)
    return Frame(color, measured.astype(np.float32), k, pose, 0.0)


def rack(x, y, height=0.06, wall=0.012, paint=BROWN):
    """Walls along all of the lines ``x`` and ``y`` [m], from the first to the last of the others."""
    half = wall / 2
    across = [((at - half, y[0] - half, 0.0), (at + half, y[-1] + half, height), paint) for at in x]
    return across + [((x[0] - half, at - half, 0.0), (x[-1] + half, at + half, height), paint) for at in y]


def seen(boxes, noise=0.0):
    return Perception(PerceptionSettings(frames=1), detectors=()).detect(picture(boxes, noise)).objects


def parts(objects):
    return sorted((item for item in objects if item.label == "compartment"), key=lambda item: (item.position[0].round(2), item.position[1].round(2)))


@pytest.mark.parametrize("noise", [0.0, 0.001])
def test_each_part_of_what_is_divided_is_a_container_where_it_is(noise):
    found = parts(seen(rack((-0.13, 0.02, 0.13), (-0.16, 0.0, 0.20)), noise))
    assert len(found) == 4 and all(item.is_container for item in found)
    expected = [(-0.055, -0.08), (-0.055, 0.10), (0.075, -0.08), (0.075, 0.10)]
    for item, (x, y) in zip(found, expected, strict=True):
        assert np.linalg.norm(item.position[:2] - [x, y]) < 0.006, (item.position, x, y)
    sizes = [sorted(item.size[:2]) for item in found]
    assert np.abs(np.array(sizes[0]) - [0.15, 0.16]).max() < 0.012 and np.abs(np.array(sizes[3]) - [0.11, 0.20]).max() < 0.012
    assert all(abs(item.size[2] - 0.06) < 0.004 for item in found)


def test_what_stands_in_a_part_is_an_object_in_it():
    block = ((0.03, 0.06, 0.0), (0.07, 0.10, 0.04), RED)
    objects = seen([*rack((-0.13, 0.02, 0.13), (-0.16, 0.0, 0.20)), block])
    [red] = [item for item in objects if item.color == "red"]
    home = next(item for item in objects if item.id == red.support)
    assert home.label == "compartment" and np.linalg.norm(home.position[:2] - [0.075, 0.10]) < 0.006


def test_one_tray_has_no_compartments():
    objects = seen(rack((-0.13, 0.13), (-0.16, 0.12)))
    assert not parts(objects) and any(item.is_container for item in objects)


def test_trays_side_by_side_have_none_either():
    objects = seen([*rack((-0.1, 0.1), (-0.22, -0.02)), *rack((-0.1, 0.1), (0.03, 0.23))])
    assert not parts(objects)
    assert sum(item.is_container for item in objects) == 2
