"""What of a seen object is an obstacle: its solid, or, of one that fills its box badly, what is seen of it."""

from __future__ import annotations

import numpy as np
import pytest

from deskhand.geometry import make_transform, rotation_about, transform_points
from deskhand.motion.obstacles import obstacle_from_object
from deskhand.types import CollisionObject, SceneObject

SIZE = np.array([0.27, 0.24, 0.30])


def _object(local: np.ndarray, yaw: float = 0.0, flipped: bool = False) -> SceneObject:
    turn = rotation_about([0, 0, 1], yaw) @ (np.diag([1.0, -1.0, -1.0]) if flipped else np.eye(3))
    pose = make_transform(turn, [0.2, -0.1, SIZE[2] / 2])
    return SceneObject("rack_1", "rack", "brown", "box", SIZE, pose, transform_points(pose, local).astype(np.float32), 0.9)


def _slope() -> np.ndarray:
    """The top of a board that rises from the one end of the box to the other, in its middle third."""
    x, y = np.meshgrid(np.linspace(-0.134, 0.134, 60), np.linspace(-0.04, 0.04, 20))
    return np.column_stack([x.ravel(), y.ravel(), (x.ravel() / 0.27 * 0.9) * SIZE[2]])


def _inside(item: CollisionObject, point: np.ndarray) -> bool:
    found = False
    for shape in item.shapes:
        local = np.linalg.inv(item.pose @ shape.pose) @ np.append(point, 1.0)
        found |= bool(np.all(np.abs(local[:3]) <= np.asarray(shape.size) / 2 + 1e-9))
    return found


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("yaw", [0.0, 0.7])
def test_over_the_low_end_of_a_slope_there_is_room(yaw: float, flipped: bool) -> None:
    seen = _slope() * ([1.0, -1.0, -1.0] if flipped else 1.0)
    item = _object(seen, yaw, flipped)
    obstacle = obstacle_from_object(item)
    turn = rotation_about([0, 0, 1], yaw)
    low, high = ([0.2, -0.1, 0.0] + turn @ [x, 0.0, 0.2] for x in (-0.1, 0.12))
    assert len(obstacle.shapes) > 1
    assert not _inside(obstacle, low) and _inside(obstacle, high)
    assert all(_inside(obstacle, point - [0, 0, 0.002]) for point in item.points[::97].astype(float))


def test_what_fills_its_box_and_what_is_small_is_its_solid() -> None:
    full = np.column_stack([_slope()[:, :2] * [1.0, 3.0], np.full(1200, SIZE[2] / 2)])
    assert len(obstacle_from_object(_object(full)).shapes) == 1
    assert len(obstacle_from_object(_object(_slope()[:20])).shapes) == 1


def test_cells_of_one_height_are_one_box_and_one_low_end_is_room() -> None:
    x, y = np.meshgrid(np.linspace(-0.134, 0.134, 80), np.linspace(-0.119, 0.119, 60))
    step = np.where(x > 0.09, -0.05, 0.149)  # a sixth of it is lower by 20 cm
    obstacle = obstacle_from_object(_object(np.column_stack([x.ravel(), y.ravel(), step.ravel()])))
    assert len(obstacle.shapes) == 2
    assert not _inside(obstacle, np.array([0.2 + 0.12, -0.1, 0.2])) and _inside(obstacle, np.array([0.2, -0.1, 0.2]))
