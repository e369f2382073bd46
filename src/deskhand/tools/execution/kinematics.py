"""Joints for a position of the hand."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.tools.objects import rounded
from deskhand.tools.poses import Approach, TargetPosition, Yaw, hand_poses


class Solution(TypedDict):
    """Joints that bring the hand there."""

    joints: Annotated[dict[str, float], Field(description="[rad]")]
    position_error: Annotated[float, Field(description="[m]")]
    rotation_error: Annotated[float, Field(description="[rad]")]
    collision_free: bool


class Solutions(TypedDict):
    """What was found."""

    solutions: Annotated[list[Solution], Field(description="nearest to the present joints first")]


@tool(
    group="execution",
    unit="inverse_kinematics",
    needs=("arm",),
    timeout=20.0,
    when_to_use="To compute the joint angles for a hand position, or to test whether a point in space can be reached by the hand.",
    limits="Computes only, nothing moves; a solution does not say that a collision-free way leads there (plan_motion does).",
    examples=[("Which joint angles put the hand 20 cm above the middle of the desk?", {"position": [0.0, 0.0, 0.2]})],
)
def solve_ik(ctx: ToolContext, position: TargetPosition, approach: Approach = "down", yaw: Yaw = None) -> Solutions:
    """Solve inverse kinematics: joint angles that bring the hand to a position with the fingers down, tilted or forward."""
    poses = hand_poses(ctx.robot.arm, position, approach, yaw)
    last: DeskhandError | None = None
    for pose in poses:
        try:
            found = ctx.robot.solve_ik(pose)
        except DeskhandError as error:
            if error.code != "no_ik_solution":
                raise
            last = error
            continue
        return Solutions(
            solutions=[
                Solution(
                    joints=dict(zip(ctx.robot.arm.joints, rounded(item.joints), strict=True)),
                    position_error=float(item.position_error),
                    rotation_error=float(item.rotation_error),
                    collision_free=bool(item.collision_free),
                )
                for item in found
            ]
        )
    assert last is not None
    raise DeskhandError("no_ik_solution", f"none of {len(poses)} hands at {position} can be reached ({approach}): {last.message}")
