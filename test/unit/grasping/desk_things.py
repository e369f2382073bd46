"""Things on a desk as perception would give them, with points of the sides that the camera sees."""

from __future__ import annotations

import numpy as np

from deskhand.geometry import make_transform, rotation_rpy
from deskhand.perception.fit.surface import complete_surface
from deskhand.types import Scene, SceneObject, Table

EYE = np.array([0.58, 0.0, 0.62])


def thing(name, shape, size, xyz, yaw=0.0, label="block", seen_only=True, noise=0.0, **more):
    """An object at rest with its centre at ``xyz``."""
    pose = make_transform(rotation_rpy(0, 0, yaw), xyz)
    bare = SceneObject(name, label, more.pop("color", "red"), shape, np.asarray(size, float), pose, np.zeros((0, 3), np.float32), 0.9, **more)
    surface = complete_surface(bare, 0.003)
    seen = np.einsum("ij,ij->i", surface.normals, EYE - surface.points) > 0 if seen_only else np.ones(len(surface.points), bool)
    points = surface.points[seen] + np.random.default_rng(len(name)).normal(0, noise, (int(seen.sum()), 3))
    return SceneObject(**{**bare.__dict__, "points": points.astype(np.float32)})


def desk(*things):
    cloud = np.vstack([item.points for item in things]) if things else np.zeros((0, 3), np.float32)
    return Scene(tuple(things), Table(np.eye(4), (0.9, 1.1)), 0.0, cloud)


def one_of_each():
    """Graspable things of every kind, apart from each other, and a bin."""
    return [
        thing("block_1", "box", (0.035, 0.035, 0.035), (0.0, 0.0, 0.0175), 0.4),
        thing("pen_1", "cylinder", (0.13, 0.01, 0.01), (0.1, 0.1, 0.005), 0.8, "pen", color="blue"),
        thing("eraser_1", "box", (0.05, 0.022, 0.012), (0.0, -0.12, 0.006), -0.3, "eraser", color="blue"),
        thing("ball_1", "sphere", (0.038, 0.038, 0.038), (0.12, -0.1, 0.019), 0, "ball", color="orange"),
        thing("can_1", "cylinder", (0.04, 0.04, 0.075), (-0.08, 0.1, 0.0375), 0, "can", color="green"),
        thing("can_2", "cylinder", (0.075, 0.04, 0.04), (-0.08, -0.2, 0.02), 1.0, "can", color="yellow"),
        thing("cup_1", "cylinder", (0.042, 0.042, 0.05), (0.0, 0.14, 0.025), 0, "cup", color="purple"),
        thing("sponge_1", "box", (0.075, 0.04, 0.025), (0.12, -0.22, 0.0125), 2.0, "sponge", color="yellow"),
        thing("box_1", "box", (0.037, 0.06, 0.042), (0.14, 0.0, 0.021), 1.2, "box", color="purple"),
        thing("bin_1", "box", (0.165, 0.17, 0.07), (0.0, 0.29, 0.035), 0.05, "bin", color="gray", is_container=True, wall=0.004),
    ]
