"""Actions of a policy, mended before they are tried."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import rpy_from_rotation
from deskhand.safety.sanitize import ActionLimits, sanitized
from deskhand.safety.settings import load_safety

Action = Annotated[
    list[Annotated[float | None, Field(description="null: as before")]],
    Field(min_length=7, max_length=7, description="[x, y, z, roll, pitch, yaw, gripper]: [m] and [rad] in world, gripper 0 closed to 1 open"),
]


class MendedAction(TypedDict):
    """What was wrong with one action."""

    index: Annotated[int, Field(description="of the action as it was given, from 0")]
    problem: str


class SanitizedActions(TypedDict):
    """Actions that may be tried."""

    actions: Annotated[list[list[float]], Field(description="[x, y, z, roll, pitch, yaw, gripper] each; long steps are cut into several")]
    mended: list[MendedAction]


@tool(
    group="execution",
    unit="closed_loop_recovery",
    needs=("arm",),
    timeout=10.0,
    when_to_use="Before raw actions of a policy or a language model are executed, or after some were refused: cut them to the workspace, repair "
    "missing numbers, split "
    "leaps.",
    limits="Looks at numbers alone: what is in the way, and whether the arm reaches it, say plan_motion and path_feasibility. The envelope holds all the same.",
    examples=[
        ("Clean up the end-effector actions that the policy gave", {"actions": [[0.1, 0.0, 0.9, 3.14, 0.0, 0.0, 1.0], [0.1, 0.0, None, 3.14, 0.0, 0.0, 0.0]]})
    ],
    failures=[("An action of six numbers", {"actions": [[0, 0, 0.2, 0, 0, 0]]}, "invalid_arguments")],
)
def sanitize_actions(
    ctx: ToolContext,
    actions: Annotated[list[Action], Field(min_length=1, max_length=200, description="poses of the tool centre point, one after the other")],
    step: Annotated[float, Field(gt=0.001, le=1.0, description="[m] longest way from one action to the next")] = 0.1,
    turn: Annotated[float, Field(gt=0.01, le=3.2, description="[rad] largest turn from one action to the next")] = 0.6,
    height: Annotated[float, Field(ge=0.0, le=0.5, description="[m] above the table that the tool centre point keeps")] = 0.005,
) -> SanitizedActions:
    """Sanitize raw end-effector actions: numbers that are none, out of bounds, too long steps and repeats are mended and told."""
    safety, pose = load_safety(), ctx.robot.tcp_pose()
    low = np.array([*safety.lower[:2], max(float(safety.lower[2]), height)])
    start = np.concatenate([pose[:3, 3], rpy_from_rotation(pose[:3, :3])])
    given = [[float("nan") if value is None else value for value in action] for action in actions]
    done, notes = sanitized(given, start, ActionLimits(low, np.asarray(safety.upper, float), step, turn))
    return SanitizedActions(
        actions=[[round(value, 5) for value in action] for action in done], mended=[MendedAction(index=note.index, problem=note.problem) for note in notes]
    )
