"""Pictures as perception prepares them, and which pixels are which object."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deskhand.etp.tool import ToolContext
from deskhand.perception.desk_view import SETTINGS, DeskView, pasted, view_of
from deskhand.perception.neighbours import nearest
from deskhand.types import Frame, Scene

__all__ = ["SETTINGS", "DeskView", "desk_view", "owners", "pasted"]
OWN = 0.010  # [m] from an object's known points, within which a pixel shows it


def desk_view(ctx: ToolContext, frame: Frame | None = None) -> DeskView:
    """A picture (default: a new one), levelled to the table, without the robot.

    Raises:
        DeskhandError: ``no_table``, ``stale_data``, ``no_frame``.
    """
    joints = ctx.robot.joint_state()
    return view_of(ctx.robot.observe() if frame is None else frame, joints, ctx.robot.arm)


def owners(view: DeskView, scene: Scene) -> npt.NDArray[np.int32]:
    """Which object of ``scene`` each pixel (H, W) shows, as its place in ``scene.objects``; -1 for none."""
    result = np.full(view.objects.shape, -1, np.int32)
    seen = [(number, item.points) for number, item in enumerate(scene.objects) if len(item.points)]
    if not seen or not view.objects.any():
        return result
    numbers = np.concatenate([np.full(len(points), number, np.int32) for number, points in seen])
    distance, index = nearest(np.concatenate([points for _, points in seen]), view.points[view.objects], OWN)
    found = np.full(len(distance), -1, np.int32)
    found[np.isfinite(distance)] = numbers[index[np.isfinite(distance)]]
    result[view.objects] = found
    return result
