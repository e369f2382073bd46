"""What a camera that stands still sees while the arm moves: from when on a place is in sight, and where the robot may be in a picture."""

from __future__ import annotations

from itertools import product

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.perception.self_filter import joint_map, robot_points
from deskhand.perception.track.changes import Mask
from deskhand.skills.base import SkillContext
from deskhand.skills.out_of_view import BESIDE, robot_in
from deskhand.types import Frame, Plan

STATES = 16  # of a motion for which it is found out what the arm hides
SIGHT = 60  # points along a line of sight
LATE = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the way between two states that one picture was taken between
GRID = np.array(list(product((-0.5, 0.0, 0.5), repeat=3)))  # of a box


def first_in_sight(ctx: SkillContext, plan: Plan, spots: Array, spare: float = 0.0) -> int | None:
    """Index of the first state of ``plan`` in which the arm hides none of ``spots`` (N, 3) [m, world] from the camera of the last look.

    None where that is later than ``spare`` [s] before the end, or never, or where there was no such look.
    """
    backdrop, trajectory = ctx.belief.backdrop, plan.trajectory
    if backdrop is None:
        return None
    last = int(np.searchsorted(trajectory.times, trajectory.times[-1] - spare))
    eye, model, now = backdrop.world_T_camera[:3, 3], RobotModel.load(ctx.robot.arm), joint_map(ctx.robot.joint_state())
    along = (eye + np.linspace(0.05, 1.0, SIGHT)[:, None, None] * (spots - eye)).reshape(-1, 3).astype(np.float32)
    for index in np.unique(np.linspace(0, min(last, len(trajectory.times) - 1), STATES).astype(int)):
        if not robot_points(along, model, model.forward({**now, **_state(plan, index)}), BESIDE, BESIDE).any():
            return int(index)
    return None


def index_now(ctx: SkillContext, plan: Plan) -> int:
    """Index of the state of the plan that is nearest to the measured joints."""
    joints = ctx.robot.joint_state().of(plan.trajectory.joint_names)
    return int(np.abs(plan.trajectory.positions - joints).max(axis=1).argmin())


def robot_between(ctx: SkillContext, plan: Plan, first: int, last: int, frame: Frame) -> Mask:
    """Pixels (H, W) where the robot may be in a picture that was taken between two states of a motion."""
    now = joint_map(ctx.robot.joint_state())
    picked = np.unique([round(first + share * (last - first)) for share in LATE])
    return np.asarray(np.logical_or.reduce([robot_in(frame, ctx.robot.arm, {**now, **_state(plan, index)}) for index in picked]))


def _state(plan: Plan, index: int) -> dict[str, float]:
    return dict(zip(plan.trajectory.joint_names, map(float, plan.trajectory.positions[index]), strict=True))
