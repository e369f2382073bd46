"""Forces: how hard to grip, and where something is touched."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.etp.outcome import ToolError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array
from deskhand.skills.base import HALTED, SkillContext
from deskhand.tools.execution.jacobian import force_at_tcp
from deskhand.tools.looking import last_look, skill_context
from deskhand.tools.objects import ObjectId
from deskhand.tools.poses import hand_poses
from deskhand.types import MotionGoal, PlanOptions

GRAVITY = 9.81  # [m/s2]
STARTS = 0.03  # [m] above where the object is expected
STEP = 0.002  # [m] of a guarded move between two measurements of force
SETTLE = 0.15  # [s] until the joints are at rest and their efforts tell the load
BEYOND = 0.012  # [m] that is gone deeper than expected at most
SLOW = 0.1  # of the full speed
DENSITY = {"sponge": 60.0, "ball": 300.0, "cup": 250.0, "can": 400.0}  # [kg/m3] of the whole outline
USUAL_DENSITY = 600.0  # [kg/m3]


class GripForce(TypedDict):
    """How hard to grip."""

    force: Annotated[float, Field(description="to give to close_gripper, for each finger [N]")]
    needed: Annotated[float, Field(description="without the safety factor [N]")]
    feasible: Annotated[bool, Field(description="false: the gripper cannot press so hard, or the object does not bear it")]
    mass: Annotated[float, Field(description="that was counted with [kg]")]
    reason: str


class Touched(TypedDict):
    """Where the fingers met something."""

    touched: bool
    height: Annotated[float | None, Field(description="of the finger tips above the world origin at contact [m]; null when nothing was met")]
    force: Annotated[float, Field(description="upward on the fingers at the end [N], as the joints' efforts tell")]
    expected: Annotated[float, Field(description="height at which the last look has the top [m]")]
    steps: int


@tool(
    group="execution",
    unit="force_and_compliance",
    needs=("gripper",),
    when_to_use="Before closing on something heavy, slippery or fragile: how hard must the fingers press so that it does not slip, and is "
    "that more than it bears?",
    limits="Two flat pads and dry friction (Coulomb); the mass is guessed from the seen size when it is not given. The gripper's own force limit is respected.",
    examples=[
        ("How much grip force holds a 200 g object with a smooth surface?", {"mass": 0.2, "friction": 0.3}),
        ("Grip force for the sponge without crushing it", {"object_id": "sponge_1", "most_force": 3.0}),
    ],
    failures=[("Neither a mass nor an object is given", {"friction": 0.5}, "invalid_input")],
)
def grip_force(
    ctx: ToolContext,
    mass: Annotated[float | None, Field(gt=0, le=5, description="[kg]; null to guess it from the size of object_id")] = None,
    object_id: Annotated[str, Field(max_length=64, description="id of the object; empty when the mass is given")] = "",
    friction: Annotated[float, Field(ge=0.05, le=2.0, description="coefficient between pad and object, a share: 0.3 smooth, 0.5 usual, 0.9 rubber")] = 0.5,
    acceleration: Annotated[float, Field(ge=0, le=20, description="[m/s2] of the gripper while it carries")] = 2.0,
    safety: Annotated[float, Field(ge=1, le=5, description="factor, a share of what is needed")] = 2.0,
    most_force: Annotated[float | None, Field(gt=0, le=200, description="[N] that the object bears; null: any")] = None,
) -> GripForce:
    """Compute the grip force for a mass and friction: what keeps an object from slipping between two fingers while it is carried."""
    if mass is None and not object_id:
        raise DeskhandError("invalid_input", "grip_force: give mass or object_id.", retry=True)
    weight, note = (mass, "as given") if mass is not None else _guessed(ctx, object_id)
    gripper = ctx.robot.arm.gripper
    needed = weight * (GRAVITY + acceleration) / (2 * friction)  # two pads, each bears mu * F
    most = min(gripper.force_max, most_force if most_force is not None else math.inf)
    force = min(safety * needed, most)
    feasible = needed <= most
    limit = "the gripper" if gripper.force_max <= (most_force or math.inf) else "the object"
    reason = f"{1000 * weight:.0f} g ({note}), friction {friction:g}: {needed:.2f} N needed"
    if not feasible:
        reason += f", but {limit} allows {most:.1f} N"
    elif force < safety * needed:
        reason += f"; limited to the {most:.1f} N that {limit} allows, a factor of {force / needed:.1f} instead of {safety:g}"
    return GripForce(force=round(force, 3), needed=round(needed, 3), feasible=feasible, mass=round(weight, 4), reason=reason)


def _guessed(ctx: ToolContext, object_id: str) -> tuple[float, str]:
    if ctx.belief.scene is None:
        raise DeskhandError(
            "precondition_failed", "grip_force: nobody has looked at the desk yet, so that the mass cannot be guessed.", hint="Call detect_objects first."
        )
    item = ctx.belief.held.object if ctx.belief.held and ctx.belief.held.object.id == object_id else last_look(ctx).get(object_id)
    density = DENSITY.get(item.label, USUAL_DENSITY)
    return float(np.prod(item.size)) * density, f"guessed from its size at {density:.0f} kg/m3"


@tool(
    group="execution",
    unit="force_and_compliance",
    effects="motion",
    needs=("arm", "gripper"),
    preconditions=("not_stopped", "scene_known", "not_holding", "object_known(object_id)"),
    postconditions=("not_holding",),
    timeout=180.0,
    when_to_use="To feel where the top of an object really is, or to press lightly on it: the closed fingers go down until the joints' efforts tell a contact.",
    limits="Needs an arm that reports joint efforts (else impossible). Only onto objects of the last look, not onto the bare table; force to about 1 "
    "N. The fingers rise again.",
    examples=[
        ("Touch the box from above to measure its height", {"object_id": "box_1"}),
        ("Press on the block with 4 N", {"object_id": "block_1", "force": 4.0}),
    ],
    failures=[("An object that is not there", {"object_id": "box_99"}, "unknown_object")],
)
def touch_down(
    ctx: ToolContext,
    object_id: ObjectId,
    force: Annotated[float, Field(ge=1.0, le=8.0, description="[N] upward on the fingers at which the move ends")] = 2.0,
) -> Touched:
    """Move down guarded until the fingers touch an object with a given force, measure the height, and rise again."""
    item = last_look(ctx).get(object_id)
    skill = skill_context(ctx)
    arm = ctx.robot.arm
    if len(ctx.robot.joint_state().efforts) != len(ctx.robot.joint_state().names):
        raise DeskhandError("impossible", f"{arm.name} reports no joint efforts, so that contacts cannot be felt.", hint="Measure with the camera instead.")
    if item.is_container:
        raise DeskhandError("invalid_input", f"touch_down: object_id: {object_id} is a container, open at the top.", retry=True)
    tip = arm.gripper.finger_depth
    skill.step(0.0, "close the fingers")
    skill.grip(arm.gripper.width_min)
    allow = (("gripper", object_id),)
    above = [float(item.position[0]), float(item.position[1]), item.top + tip + STARTS]
    skill.step(0.1, f"go above {object_id}")
    skill.execute(skill.plan(MotionGoal(poses=hand_poses(arm, above, width=arm.gripper.width_min)), PlanOptions(allow=allow)))
    ctx.belief.disturb()
    try:
        touched, felt, steps = _down(skill, item.top + tip - BEYOND, force, allow)
        height = float(ctx.robot.tcp_pose()[2, 3]) - tip
    finally:
        skill.rise(STARTS, allow)
    return Touched(touched=touched, height=round(height, 4) if touched else None, force=round(felt, 2), expected=round(item.top, 4), steps=steps)


def _down(skill: SkillContext, lowest: float, force: float, allow: tuple[tuple[str, str], ...]) -> tuple[bool, float, int]:
    """Step by step until the force upward is ``force`` [N] or the tcp is at ``lowest`` [m]: whether it was felt, the force, the steps."""
    empty = _lift(skill)
    felt, steps = 0.0, 0
    while skill.robot.tcp_pose()[2, 3] > lowest + STEP / 2:
        skill.step(0.2 + 0.6 * min(1.0, steps * STEP / (STARTS + BEYOND)), f"down; {felt:.1f} N")
        pose = skill.robot.tcp_pose().copy()
        pose[2, 3] = max(lowest, pose[2, 3] - STEP)
        plan = skill.plan_line((pose,), PlanOptions(speed_scale=SLOW, allow=allow, max_deviation=0.004))
        report = skill.robot.execute(plan.id, None, skill.cancelled)
        steps += 1
        felt = _lift(skill) - empty
        if felt >= force or report.code in HALTED:
            return True, felt, steps
        if not report.ok:
            raise ToolError(report.code, report.message, data={"force": felt, "steps": steps})
    return False, felt, steps


def _lift(skill: SkillContext) -> float:
    """Upward force [N] that the joints' efforts tell of, the weight of the arm included: only differences at nearly the same joints count."""
    skill.robot.sleep(SETTLE)
    arm, state = skill.robot.arm, skill.robot.joint_state()
    efforts: Array = state.efforts[[state.names.index(name) for name in arm.joints]]
    return -float(force_at_tcp(RobotModel.load(arm), state.of(arm.joints), efforts)[2])
