"""Pictures as perception prepares them: levelled, the robot left out, and which pixels are which thing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from deskhand.arms.model import RobotModel
from deskhand.etp.tool import ToolContext
from deskhand.perception.self_filter import joint_map, robot_points
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.table import fit_table
from deskhand.perception.view import View, fill_edges, make_view
from deskhand.types import Frame, Scene

SETTINGS = PerceptionSettings()
OWN = 0.010  # [m] from a thing's known points, within which a pixel shows it


def desk_view(ctx: ToolContext, frame: Frame | None = None) -> View:
    """A picture (default: a new one), levelled to the table, without the robot.

    Raises:
        DeskhandError: ``no_table``, ``stale_data``, ``no_frame``.
    """
    joints = ctx.robot.joint_state()
    frame = ctx.robot.observe() if frame is None else frame
    view = make_view(frame, fit_table(frame, SETTINGS), SETTINGS)
    model = RobotModel.load(ctx.robot.arm)
    robot = np.zeros(view.things.shape, bool)
    flat = np.nonzero(view.things.reshape(-1))[0]
    hit = robot_points(view.points.reshape(-1, 3)[flat], model, model.forward(joint_map(joints)), SETTINGS.self_padding)
    robot.reshape(-1)[flat[hit]] = True
    return fill_edges(replace(view, robot=robot, things=view.things & ~robot), SETTINGS)


def owners(view: View, scene: Scene) -> npt.NDArray[np.int32]:
    """Which object of ``scene`` each pixel (H, W) shows, as its place in ``scene.objects``; -1 for none."""
    result = np.full(view.things.shape, -1, np.int32)
    seen = [(number, item.points) for number, item in enumerate(scene.objects) if len(item.points)]
    if not seen or not view.things.any():
        return result
    tree = cKDTree(np.concatenate([points for _, points in seen]))
    numbers = np.concatenate([np.full(len(points), number, np.int32) for number, points in seen])
    distance, nearest = tree.query(view.points[view.things], distance_upper_bound=OWN)
    found = np.full(len(distance), -1, np.int32)
    found[np.isfinite(distance)] = numbers[nearest[np.isfinite(distance)]]
    result[view.things] = found
    return result
