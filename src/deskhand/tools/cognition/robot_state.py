"""What the robot knows of itself."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.tools.looking import skill_context
from deskhand.tools.objects import rounded


class RobotState(TypedDict):
    """The arm and gripper as measured."""

    joints: Annotated[dict[str, float], Field(description="measured joint positions [rad]")]
    tcp_position: Annotated[list[float], Field(description="point between the finger tips in world [m]")]
    gripper_width: Annotated[float, Field(description="distance of the finger pads [m]")]
    holding: Annotated[str | None, Field(description="id of the held object, null when the gripper is empty")]
    at_home: bool
    stopped: Annotated[bool, Field(description="true: a safety stop is latched and nothing can move")]
    stop_reason: str


@tool(
    group="cognition",
    unit="physical_and_contact_state",
    needs=("arm",),
    when_to_use="To check joint angles, where the gripper is, how far the gripper is open, what it holds, and whether the robot is stopped.",
    limits="holding is what the robot believes after its own picks and places.",
    examples=[("How far open is the gripper, and what does it hold?", {}), ("Why does nothing move: is the robot stopped?", {})],
    failures=[("An argument is given although it takes none", {"verbose": True}, "invalid_arguments")],
)
def get_robot_state(ctx: ToolContext) -> RobotState:
    """Get the measured state of the robot: joint angles, pose, gripper opening, held object, and whether it is stopped."""
    arm, joints, status = ctx.robot.arm, ctx.robot.joint_state(), ctx.robot.safety_status()
    held = ctx.belief.held
    return RobotState(
        joints=dict(zip(arm.joints, rounded(joints.of(arm.joints)), strict=True)),
        tcp_position=rounded(ctx.robot.tcp_pose()[:3, 3]),
        gripper_width=round(arm.gripper.width_of(float(joints.of([arm.gripper.joint])[0])), 4),
        holding=held.object.id if held else None,
        at_home=skill_context(ctx).at_home(),
        stopped=status.stopped,
        stop_reason=status.reason,
    )
