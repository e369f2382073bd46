"""A whole picture as perception prepares it: levelled to the table, the robot left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.perception.corrected import corrected
from deskhand.perception.self_filter import joint_map, robot_points
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.view import View, fill_edges, make_view
from deskhand.types import Frame, JointState

SETTINGS = PerceptionSettings()
Mask = npt.NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class DeskView:
    """A whole picture; all (H, W) or (H, W, 3), in the levelled world where the table is z = 0.

    Attributes:
        frame: with the levelled camera pose and smoothed depth.
        points: world points, NaN where there is none.
        valid: has depth; ``filled``: has none, but its colour says whose it is, so that its point is inferred.
        objects: above the table and not the robot; ``robot``: the robot's own.
        part: the part of it that perception looks at.
    """

    frame: Frame
    points: npt.NDArray[np.float32]
    valid: Mask
    filled: Mask
    objects: Mask
    robot: Mask
    part: View

    @property
    def eye(self) -> Array:
        """Position (3,) of the camera."""
        return self.frame.world_T_camera[:3, 3]


def view_of(frame: Frame, joints: JointState, arm: ArmConfig) -> DeskView:
    """A picture, levelled to the table; ``joints``: where the arm was in it.

    Raises:
        DeskhandError: ``no_table``.
    """
    model = RobotModel.load(arm)
    links = model.forward(joint_map(joints))
    level, fit = corrected(frame, SETTINGS)
    part = make_view(level, fit, SETTINGS, lambda points: robot_points(points, model, links, SETTINGS.self_padding))
    part = fill_edges(part, SETTINGS)
    points = part.whole.points()
    points[_window(part)] = np.where(part.filled[..., None], part.points, points[_window(part)])
    masks = [pasted(part, mask) for mask in (part.filled, part.objects, part.robot)]
    return DeskView(part.whole, points, np.isfinite(part.whole.depth), masks[0], masks[1], masks[2], part)


def _window(part: View) -> tuple[slice, slice]:
    (row, column), (height, width) = part.origin, part.valid.shape
    return slice(row, row + height), slice(column, column + width)


def pasted(part: View, values: npt.NDArray[T]) -> npt.NDArray[T]:
    """Values of the part (h, w) in the whole picture (H, W), 0 or False elsewhere."""
    whole = np.zeros(part.whole.depth.shape, values.dtype)
    whole[_window(part)] = values
    return whole
