"""Objects on a desk as perception would give them, with points of the sides that the camera sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deskhand.geometry import make_transform, rotation_rpy
from deskhand.perception.fit.surface import complete_surface
from deskhand.types import Scene, SceneObject, Table

EYE = np.array([0.58, 0.0, 0.62])


def scene_object(
    name: str,
    shape: str,
    size: Sequence[float],
    xyz: Sequence[float],
    yaw: float = 0.0,
    label: str = "block",
    seen_only: bool = True,
    noise: float = 0.0,
    **more: Any,
) -> SceneObject:
    """An object at rest with its centre at ``xyz``."""
    pose = make_transform(rotation_rpy(0, 0, yaw), xyz)
    bare = SceneObject(name, label, more.pop("color", "red"), shape, np.asarray(size, float), pose, np.zeros((0, 3), np.float32), 0.9, **more)
    surface = complete_surface(bare, 0.003)
    seen = np.einsum("ij,ij->i", surface.normals, EYE - surface.points) > 0 if seen_only else np.ones(len(surface.points), bool)
    points = surface.points[seen] + np.random.default_rng(len(name)).normal(0, noise, (int(seen.sum()), 3))
    return SceneObject(**{**bare.__dict__, "points": points.astype(np.float32)})


def desk(*objects: SceneObject) -> Scene:
    """The scene that has them."""
    cloud = np.vstack([item.points for item in objects]) if objects else np.zeros((0, 3), np.float32)
    return Scene(tuple(objects), Table(np.eye(4), (0.9, 1.1)), 0.0, cloud)


def one_of_each() -> list[SceneObject]:
    """Graspable objects of every kind, apart from each other, and a bin."""
    return [
        scene_object("block_1", "box", (0.035, 0.035, 0.035), (0.0, 0.0, 0.0175), 0.4),
        scene_object("pen_1", "cylinder", (0.13, 0.01, 0.01), (0.1, 0.1, 0.005), 0.8, "pen", color="blue"),
        scene_object("eraser_1", "box", (0.05, 0.022, 0.012), (0.0, -0.12, 0.006), -0.3, "eraser", color="blue"),
        scene_object("ball_1", "sphere", (0.038, 0.038, 0.038), (0.12, -0.1, 0.019), 0, "ball", color="orange"),
        scene_object("can_1", "cylinder", (0.04, 0.04, 0.075), (-0.08, 0.1, 0.0375), 0, "can", color="green"),
        scene_object("can_2", "cylinder", (0.075, 0.04, 0.04), (-0.08, -0.2, 0.02), 1.0, "can", color="yellow"),
        scene_object("cup_1", "cylinder", (0.042, 0.042, 0.05), (0.0, 0.14, 0.025), 0, "cup", color="purple"),
        scene_object("sponge_1", "box", (0.075, 0.04, 0.025), (0.12, -0.22, 0.0125), 2.0, "sponge", color="yellow"),
        scene_object("box_1", "box", (0.037, 0.06, 0.042), (0.14, 0.0, 0.021), 1.2, "box", color="purple"),
        scene_object("bin_1", "box", (0.165, 0.17, 0.07), (0.0, 0.29, 0.035), 0.05, "bin", color="gray", is_container=True, wall=0.004),
    ]
