"""The baseline without tools: one action of seven discrete numbers, executed within the same envelope. Not part of the tool base (see ``load_tools``).

The numbers are those of EB-Manipulation (Yang et al., "EmbodiedBench", 2025): position in 100 bins an axis, angles in 120 bins of 3 degrees, gripper 0 or 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.outcome import ToolError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array, pose_from_xyz_rpy
from deskhand.tools.looking import skill_context
from deskhand.types import MotionGoal, SceneUpdate

LOWER, UPPER = (-0.30, -0.40, 0.0), (0.30, 0.40, 0.40)
"""The box that the bins of x, y, z divide [m, world]."""
BINS, TURNS = 100, 120
"""Bins of a position, and of a full turn."""


class Acted(TypedDict):
    """Where the gripper is now, in bins, and how far the fingers are apart."""

    position: list[int]
    width: Annotated[float, Field(description="[m]")]


def bins_of(position: npt.ArrayLike) -> list[int]:
    """Bins of a position (3,) [m, world], cut to the box."""
    parts = [(float(value) - low) / (high - low) for value, low, high in zip(np.asarray(position, dtype=float), LOWER, UPPER, strict=True)]
    return [min(BINS, max(0, round(part * BINS))) for part in parts]


def pose_of(action: Sequence[int]) -> Array:
    """world_T_tcp (4, 4) of the first six numbers: middle of the bins, roll, pitch and yaw about the world's fixed axes.

    0, 60, yaw looks straight down: the tcp's z axis, out of the gripper, is turned over.
    """
    xyz = [low + value / BINS * (high - low) for value, low, high in zip(action[:3], LOWER, UPPER, strict=True)]
    return pose_from_xyz_rpy(xyz, [math.tau * value / TURNS for value in action[3:6]])


@tool(
    group="execution",
    unit="controller_dispatch",
    effects="motion",
    needs=("arm", "gripper"),
    preconditions=("not_stopped",),
    timeout=60.0,
    when_to_use="Only for the baseline without tools: the arm goes to a pose, then the gripper opens or closes.",
    limits="Knows no objects on the desk and runs into them; table, workspace, keep-out zones and speeds are kept as always.",
    examples=[("The gripper above the middle of the desk, open", {"action": [50, 50, 40, 0, 60, 0, 1]})],
    failures=[("Six numbers", {"action": [50, 50, 40, 0, 60, 0]}, "invalid_arguments")],
)
def direct_action(
    ctx: ToolContext,
    action: Annotated[
        list[Annotated[int, Field(ge=0, le=TURNS)]],
        Field(min_length=7, max_length=7, description="bins of x, y, z (0 to 100), roll, pitch, yaw (0 to 120), gripper (1 open, 0 closed)"),
    ],
) -> Acted:
    """Bring the tool centre point to a pose given in bins, then open or close the gripper; no planning around objects."""
    if max(action[:3]) > BINS or action[6] > 1:
        raise DeskhandError("invalid_arguments", "direct_action: x, y, z are 0 to 100 and the gripper is 0 or 1.", retry=True)
    robot, skills = ctx.robot, skill_context(ctx)
    ctx.belief.disturb(pushes=True)
    robot.update_scene(SceneUpdate(replace=()))  # fingers go around objects and touch them
    plan = robot.plan_motion(MotionGoal(poses=(pose_of(action),)))
    report = robot.execute(plan.id, ctx.progress, ctx.cancelled)
    if not report.ok:
        raise ToolError(report.code, report.message)
    gripper = robot.arm.gripper
    skills.grip(gripper.width_max if action[6] else gripper.width_min)
    return Acted(position=bins_of(np.asarray(robot.tcp_pose())[:3, 3]), width=round(skills.width(), 4))
