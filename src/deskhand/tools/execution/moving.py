"""Plain motions of arm and gripper, and the stop."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from deskhand.etp.outcome import ToolError
from deskhand.etp.tool import ToolContext, tool
from deskhand.skills import gripper as fingers
from deskhand.skills import move
from deskhand.tools.acting import outcome
from deskhand.tools.looking import skill_context
from deskhand.tools.objects import number_or_none


class Executed(TypedDict):
    """What the motion really did."""

    duration: Annotated[float, Field(description="[s]")]
    max_tracking_error: Annotated[float | None, Field(description="[rad]")]
    final_error: Annotated[float | None, Field(description="[rad]")]


class Moved(TypedDict):
    """The motion ended where it should."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    message: str


class Fingers(TypedDict):
    """The gripper as measured."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    message: str
    width: Annotated[float, Field(description="distance of the pads [m]")]


class Stopped(TypedDict):
    """The stop is latched."""

    stopped: bool
    message: str


@tool(
    group="execution",
    unit="controller_dispatch",
    effects="motion",
    needs=("arm",),
    preconditions=("not_stopped",),
    timeout=120.0,
    when_to_use="To run a trajectory that plan_motion made, by its plan_id.",
    limits="Each plan runs once; it is refused with plan_expired when the joints or the scene changed since. Watched: stops on tracking error or stall.",
    examples=[("Carry out the planned trajectory", {"plan_id": "plan_1"})],
    failures=[("No such plan was made", {"plan_id": "plan_none"}, "unknown_plan")],
)
def execute_plan(ctx: ToolContext, plan_id: Annotated[str, Field(min_length=1, max_length=64, description="as plan_motion gave it")]) -> Executed:
    """Execute a stored plan: the arm moves along it, watched, and the measured outcome is reported."""
    report = ctx.robot.execute(plan_id, ctx.progress, ctx.cancelled)
    if not report.ok:
        raise ToolError(report.code, report.message, data={"progress": number_or_none(report.progress)})
    return Executed(
        duration=round(float(report.duration), 3), max_tracking_error=number_or_none(report.max_tracking_error), final_error=number_or_none(report.final_error)
    )


@tool(
    group="execution",
    unit="trajectory_generation",
    effects="motion",
    needs=("arm",),
    preconditions=("not_stopped",),
    postconditions=("at_home",),
    timeout=120.0,
    when_to_use="To bring the arm back to its rest pose: out of the camera's view before a look, after a failure, and at the end of a task.",
    limits="What is held is carried along.",
    examples=[("Retract the arm out of the camera's view", {})],
    failures=[("A safety stop is latched", {}, "safety_stop")],
)
def move_home(ctx: ToolContext) -> Moved:
    """Move the arm home, free of collision, out of the camera's view of the desk."""
    return outcome(move.home(skill_context(ctx)))  # type: ignore[return-value]


@tool(
    group="execution",
    unit="force_and_compliance",
    effects="motion",
    needs=("gripper",),
    preconditions=("not_stopped",),
    postconditions=("not_holding",),
    timeout=30.0,
    when_to_use="To let go of everything in the gripper and open the fingers wide, for example to recover after a failed grasp.",
    limits="What is held falls where it is: use place_in, place_on or place_at to put objects down.",
    examples=[("Open the fingers and let go", {})],
    failures=[("A safety stop is latched", {}, "safety_stop")],
)
def open_gripper(ctx: ToolContext) -> Fingers:
    """Open the gripper all the way; whatever it holds is let go."""
    return outcome(fingers.open_gripper(skill_context(ctx)))  # type: ignore[return-value]


@tool(
    group="execution",
    unit="force_and_compliance",
    effects="motion",
    needs=("gripper",),
    preconditions=("not_stopped",),
    timeout=30.0,
    when_to_use="To close the fingers with a limited force until something stops them, for example to feel whether something is between them.",
    limits="Does not make sure that an object is held; use pick for that.",
    examples=[("Squeeze the fingers shut gently", {"force": 2.0})],
    failures=[("A force below zero", {"force": -1.0}, "invalid_arguments")],
)
def close_gripper(
    ctx: ToolContext, force: Annotated[float | None, Field(gt=0, le=100, description="[N] at most; null for the gripper's default")] = None
) -> Fingers:
    """Close the gripper with a limited force and measure how far the fingers came."""
    return outcome(fingers.close_gripper(skill_context(ctx), force))  # type: ignore[return-value]


@tool(
    group="execution",
    unit="closed_loop_recovery",
    effects="memory",
    timeout=10.0,
    when_to_use="At once when something goes wrong or somebody is in the way: an emergency stop from software. It works while other tools run.",
    limits="The stop is latched: only the operator can release it. No hardware emergency stop.",
    examples=[("Stop immediately, a hand is in the way", {"reason": "a hand is in the way"}), ("Stop", {})],
    lenient=True,
)
def stop_motion(ctx: ToolContext, reason: Annotated[str, Field(max_length=200, description="why, for the record; may be left out")] = "") -> Stopped:
    """Stop the arm immediately and latch the stop until the operator releases it."""
    reason = reason.strip() or "no reason given"
    ctx.robot.stop(reason)
    status = ctx.robot.safety_status()
    return Stopped(stopped=status.stopped, message=f"stopped: {status.reason or reason}")
