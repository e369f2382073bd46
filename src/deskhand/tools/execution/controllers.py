"""The controllers themselves: their state, joint trajectories, standing still; and a mobile base."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.outcome import ToolError
from deskhand.etp.tool import ToolContext, tool
from deskhand.skills.robot import MobileBase, OnBase, Robot
from deskhand.tools.objects import number_or_none, rounded
from deskhand.types import ExecutionReport, MotionGoal, PlanOptions

MOVING = 0.01  # [rad/s] above which a joint counts as moving
TICK = 0.05  # [s] between two measurements while standing still
DRIFTED = 0.02  # [rad] that counts as not standing still


class Controller(TypedDict):
    """One controller."""

    name: str
    kind: Annotated[str, Field(description="joint_trajectory or gripper")]
    joints: list[str]
    positions: Annotated[list[float], Field(description="[rad], fingers [m]")]
    velocities: Annotated[list[float], Field(description="[rad/s], fingers [m/s]")]
    efforts: Annotated[list[float] | None, Field(description="[Nm], fingers [N]; null when they are not reported")]
    state: Annotated[str, Field(description="idle, moving, or stopped while a safety stop is latched")]


class Controllers(TypedDict):
    """What drives the robot."""

    controllers: list[Controller]
    age: Annotated[float, Field(description="of the joint state [s]")]
    has_base: Annotated[bool, Field(description="whether there is a mobile base to drive")]


class Moved(TypedDict):
    """What the motion really did."""

    joints: Annotated[dict[str, float], Field(description="measured at the end [rad]")]
    error: Annotated[float, Field(description="largest distance from the last way-point [rad]")]
    duration: Annotated[float, Field(description="[s]")]
    legs: Annotated[int, Field(description="motions, one to each way-point")]
    max_tracking_error: Annotated[float | None, Field(description="[rad]")]


class Held(TypedDict):
    """How still the arm stood."""

    still: Annotated[bool, Field(description=f"true: no joint drifted by more than {DRIFTED} rad")]
    drift: Annotated[float, Field(description="largest distance of a joint from where it stood at the beginning [rad]")]
    hand_drift: Annotated[float, Field(description="the same of the gripper [m]")]
    duration: Annotated[float, Field(description="[s]")]


class Driven(TypedDict):
    """Where the base came to."""

    x: Annotated[float, Field(description="[m] in map")]
    y: Annotated[float, Field(description="[m] in map")]
    yaw: Annotated[float, Field(description="[rad] in map")]
    distance_left: Annotated[float, Field(description="[m] to the goal")]
    duration: Annotated[float, Field(description="[s]")]


@tool(
    group="execution",
    unit="controller_dispatch",
    needs=("arm",),
    when_to_use="To see which controllers drive the robot, what their joints measure (position, speed, effort) and whether they are idle, moving or stopped.",
    limits="The arm's trajectory controller and the gripper's; it reads, and neither loads nor switches controllers.",
    examples=[("List the controllers and their state", {}), ("Is the arm moving at the moment?", {})],
    failures=[("No joint states arrive", {}, "stale_data")],
)
def get_controllers(ctx: ToolContext) -> Controllers:
    """List the controllers of arm and gripper with the measured state of their joints."""
    arm, state = ctx.robot.arm, ctx.robot.joint_state()
    stopped = ctx.robot.safety_status().stopped
    fingers = tuple(name for name in (arm.gripper.joint, arm.gripper.mimic) if name in state.names)
    rows = []
    for name, kind, joints in (("arm_controller", "joint_trajectory", arm.joints), ("gripper_controller", "gripper", fingers)):
        index = [state.names.index(joint) for joint in joints]
        speed = state.velocities[index] if len(state.velocities) == len(state.names) else np.zeros(len(index))
        moving = bool(len(speed)) and float(np.abs(speed).max()) > (MOVING if kind == "joint_trajectory" else MOVING / 10)
        rows.append(
            Controller(
                name=name,
                kind=kind,
                joints=list(joints),
                positions=rounded(state.positions[index]),
                velocities=rounded(speed),
                efforts=rounded(state.efforts[index]) if len(state.efforts) == len(state.names) else None,
                state="stopped" if stopped else "moving" if moving else "idle",
            )
        )
    return Controllers(controllers=rows, age=round(max(0.0, ctx.robot.now() - state.stamp), 3), has_base=_base(ctx.robot) is not None)


@tool(
    group="execution",
    unit="controller_dispatch",
    effects="motion",
    needs=("arm",),
    preconditions=("not_stopped",),
    timeout=180.0,
    when_to_use="To send the arm through joint angles, one way-point after the other: for a posture that no pose of the gripper says, a view of a camera on "
    "the gripper, or a taught path.",
    limits="Each leg is planned free of collision and checked by the safety envelope, so it need not be a straight line in joint space. Moves "
    "the whole arm; fails where "
    "a way-point is out of limits or in collision, having gone through those before it.",
    examples=[
        (
            "Send the arm to these joint angles",
            {"joints": [{"waist": 0.4, "shoulder": -0.6, "elbow": 0.6, "forearm_roll": 0.0, "wrist_angle": 0.9, "wrist_rotate": 0.0}]},
        )
    ],
    failures=[("A joint that the arm does not have", {"joints": [{"tail": 0.0}]}, "invalid_input")],
)
def move_joints(
    ctx: ToolContext,
    joints: Annotated[
        list[dict[str, float]], Field(min_length=1, max_length=20, description="[rad] joint name to angle at each way-point, all joints of the arm")
    ],
    speed_scale: Annotated[float, Field(ge=0.05, le=1.0, description="share of the arm's full speed")] = 0.5,
) -> Moved:
    """Move the arm through joint way-points, each leg planned free of collision and within the safety envelope, watched."""
    arm = ctx.robot.arm
    for number, point in enumerate(joints):
        if set(point) != set(arm.joints) or not all(map(math.isfinite, point.values())):
            raise DeskhandError("invalid_input", f"move_joints: joints[{number}]: give exactly {', '.join(arm.joints)}, each a number.", retry=True)
    reports: list[ExecutionReport] = []
    for number, point in enumerate(joints):
        if ctx.cancelled():
            raise DeskhandError("cancelled", f"cancelled after {number} of {len(joints)} way-points; the arm stands still.")
        ctx.progress(number / len(joints), f"way-point {number + 1}")
        plan = ctx.robot.plan_motion(MotionGoal(joints=point), PlanOptions(speed_scale=speed_scale))
        report = ctx.robot.execute(plan.id, None, ctx.cancelled)
        if not report.ok:
            raise ToolError(report.code, f"way-point {number + 1}: {report.message}", data={"reached": number, "progress": number_or_none(report.progress)})
        reports.append(report)
    measured = ctx.robot.joint_state().of(arm.joints)
    wanted = np.array([joints[-1][name] for name in arm.joints])
    return Moved(
        joints=dict(zip(arm.joints, rounded(measured), strict=True)),
        error=round(float(np.abs(measured - wanted).max()), 5),
        duration=round(sum(float(report.duration) for report in reports), 3),
        legs=len(reports),
        max_tracking_error=number_or_none(max(report.max_tracking_error for report in reports)),
    )


@tool(
    group="execution",
    unit="controller_dispatch",
    needs=("arm",),
    preconditions=("not_stopped",),
    timeout=90.0,
    when_to_use="To wait with the arm standing where it is, for example until glue holds or a person has taken something, and to learn "
    "whether it really stood still.",
    limits="Commands nothing: the controllers hold by themselves between motions. A drift is reported, not corrected.",
    examples=[("Hold still for three seconds", {"seconds": 3.0}), ("Does the arm sag under the load?", {"seconds": 2.0})],
    failures=[("No time at all", {"seconds": 0.0}, "invalid_arguments")],
)
def hold_still(ctx: ToolContext, seconds: Annotated[float, Field(ge=0.1, le=60, description="[s] how long")] = 2.0) -> Held:
    """Hold the arm where it is for a while and measure how still it stands."""
    arm = ctx.robot.arm
    begun, joints, hand = ctx.robot.now(), ctx.robot.joint_state().of(arm.joints), ctx.robot.tcp_pose()[:3, 3]
    drift = away = 0.0
    while (passed := ctx.robot.now() - begun) < seconds:
        if ctx.cancelled():
            raise DeskhandError("cancelled", f"cancelled after {passed:.1f} s.")
        ctx.progress(passed / seconds, f"drift {drift:.4f} rad")
        ctx.robot.sleep(min(TICK, seconds - passed))
        drift = max(drift, float(np.abs(ctx.robot.joint_state().of(arm.joints) - joints).max()))
        away = max(away, float(np.linalg.norm(ctx.robot.tcp_pose()[:3, 3] - hand)))
    return Held(still=drift <= DRIFTED, drift=round(drift, 5), hand_drift=round(away, 5), duration=round(ctx.robot.now() - begun, 3))


@tool(
    group="execution",
    unit="controller_dispatch",
    effects="motion",
    needs=("arm",),
    preconditions=("not_stopped",),
    timeout=600.0,
    when_to_use="To drive a mobile base under the arm to another place in its map, for example to another desk; then look again.",
    limits="Needs a robot with a base and Nav2 (navigate_to_pose); fails with impossible on an arm that is fixed to a desk. Where the desk is after "
    "it, only a new look tells.",
    examples=[("Drive the base to the kitchen table at x 2, y 1.5 facing left", {"x": 2.0, "y": 1.5, "yaw": 1.57})],
    failures=[("The arm stands on a desk and has no base", {"x": 1.0, "y": 0.0}, "impossible")],
)
def navigate_to_goal_pose(
    ctx: ToolContext,
    x: Annotated[float, Field(ge=-1000, le=1000, description="[m] in the frame map")],
    y: Annotated[float, Field(ge=-1000, le=1000, description="[m] in the frame map")],
    yaw: Annotated[float, Field(ge=-3.15, le=3.15, description="[rad] heading about z at the goal, 0 along x of the map")] = 0.0,
) -> Driven:
    """Navigate a mobile base to a goal pose in its map with Nav2, and report where it came to."""
    base = _base(ctx.robot)
    if base is None:
        raise DeskhandError(
            "impossible",
            f"{ctx.robot.arm.name} has no mobile base to drive: nobody serves navigate_to_pose.",
            hint="Start Nav2 for a robot with a base; else work within the arm's reach.",
        )
    report = base.navigate(x, y, yaw, ctx.progress, lambda: ctx.cancelled() or ctx.robot.safety_status().stopped)
    ctx.belief.disturb(pushes=True)
    if report.code:
        raise ToolError(
            report.code, report.message, data={"x": report.x, "y": report.y, "yaw": report.yaw, "distance_left": number_or_none(report.distance_left)}
        )
    return Driven(
        x=round(report.x, 4), y=round(report.y, 4), yaw=round(report.yaw, 4), distance_left=round(report.distance_left, 4), duration=round(report.duration, 2)
    )


def _base(robot: Robot) -> MobileBase | None:
    """The base under the arm, when there is one that takes goals."""
    return robot.mobile_base if isinstance(robot, OnBase) and robot.mobile_base.ready() else None
