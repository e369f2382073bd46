"""Boxes that lie across other objects or lean against them: whichever way they are turned, their size tells what they are."""

import numpy as np
import pytest
from looked_at import COLORS, found_at, look

from deskhand.geometry import make_transform, rotation_about
from deskhand.perception.fit.solid import Solid, surface_distance
from deskhand.perception.fit.tilted_box_fit import tilted
from deskhand.sim.spec import ObjectSpec

SIZES = {"sponge": (0.040, 0.074, 0.025), "box": (0.037, 0.062, 0.042), "block": (0.034, 0.034, 0.034), "eraser": (0.022, 0.047, 0.0135)}


def turned(kind: str, number: int) -> ObjectSpec:
    """On one edge or corner, as if something held it so."""
    random = np.random.default_rng([number, 5])
    yaw, tilt, about = random.uniform(-np.pi, np.pi), np.radians(random.uniform(12, 50)), random.uniform(-np.pi, np.pi)
    rotation = (rotation_about([np.cos(about), np.sin(about), 0], tilt) @ rotation_about([0, 0, 1], yaw))[:3, :3]
    height = float(np.abs(rotation[2]) @ np.array(SIZES[kind]) / 2)
    pose = make_transform(rotation, (random.uniform(-0.1, 0.1), random.uniform(-0.2, 0.2), height))
    return ObjectSpec(kind, kind, SIZES[kind], COLORS["orange"], 0.02, pose)


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[] if kind in ("box", "sponge") else pytest.mark.long) for kind in SIZES])
def test_a_tilted_box_is_one_object_of_its_kind_and_size(kind):
    right = 0
    for number in range(40, 48):
        item = turned(kind, number)
        one = look(item, settle=0.0)
        scene = one.detect()
        found = found_at(scene, one.world.objects[0], 0.03)
        if found is None or len(scene.objects) > 1:
            continue
        off = np.abs(np.sort(found.size) - np.sort(item.size)).max()
        axes = np.abs(found.pose[:3, :3].T @ item.pose[:3, :3])
        right += found.label == kind and off < 0.007 and (np.sort(axes.max(axis=1))[0] > np.cos(0.12) or kind == "block")
    assert right >= (5 if kind == "eraser" else 6)  # erasers differ most in their usual sizes


def surface(size: np.ndarray, rotation: np.ndarray, eye: np.ndarray) -> np.ndarray:
    """Points (N, 3) on the faces of a box at the origin that are turned to ``eye``."""
    random, points = np.random.default_rng(0), []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            if (eye - sign * rotation[:, axis] * size[axis] / 2) @ (sign * rotation[:, axis]) > 0:
                face = random.uniform(-0.5, 0.5, (120, 3)) * size
                face[:, axis] = sign * size[axis] / 2
                points.append(face @ rotation.T)
    return np.concatenate(points) + random.normal(0, 3e-4, (sum(map(len, points)), 3))


def usual(shape: str, sizes: np.ndarray, hidden: bool = False) -> np.ndarray:
    return np.ones(len(sizes))


def test_its_faces_give_pose_and_size():
    size, eye = np.array([0.070, 0.040, 0.024]), np.array([0.4, 0.1, 0.5])
    rotation = (rotation_about([0, 1, 0], 0.5) @ rotation_about([0, 0, 1], 0.8))[:3, :3]
    up = np.array([0.0, 0.0, 0.1])
    points = surface(size, rotation, eye) + up
    found = tilted(points, points, eye + up, usual)
    assert found is not None and found.guessed == ()
    np.testing.assert_allclose(np.sort(found.size), np.sort(size), atol=0.0015)
    true = Solid("box", make_transform(rotation, up), size, 0.0)
    corners = np.array(np.meshgrid(*[[-0.5, 0.5]] * 3)).reshape(3, -1).T * found.size @ found.pose[:3, :3].T + found.pose[:3, 3]
    assert np.abs(surface_distance(true, corners)).max() < 0.002


def test_what_would_go_through_the_table_is_none():
    eye = np.array([0.4, 0.1, 0.5])
    points = surface(np.array([0.070, 0.040, 0.024]), rotation_about([0, 1, 0], 0.5)[:3, :3], eye)
    assert tilted(points, points, eye, usual) is None


@pytest.mark.parametrize("points", ["ball", "upright"])
def test_a_ball_is_none_and_neither_is_what_stands(points):
    eye = np.array([0.4, 0.1, 0.5])
    if points == "ball":
        random = np.random.default_rng(1).normal(size=(600, 3))
        cloud = 0.018 * random / np.linalg.norm(random, axis=1)[:, None]
        cloud = cloud[cloud @ eye > 0.006 * np.linalg.norm(eye)]
    else:
        cloud = surface(np.array([0.06, 0.04, 0.03]), rotation_about([0, 0, 1], 0.7)[:3, :3], eye)
    up = np.array([0.0, 0.0, 0.1])
    assert tilted(cloud + up, cloud + up, eye + up, usual) is None
