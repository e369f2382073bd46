"""Objects onto the pans of a balance, and what one weighs in the gripper."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array
from deskhand.skills import pan as pans
from deskhand.skills.base import SkillContext
from deskhand.skills.beside import put_aside
from deskhand.skills.pick import pick
from deskhand.skills.put import place_at
from deskhand.tools.acting import outcome, remember_placed
from deskhand.tools.execution.jacobian import force_at_tcp
from deskhand.tools.execution.picking import Placed
from deskhand.tools.looking import last_look, skill_context
from deskhand.tools.objects import ObjectId
from deskhand.types import MotionGoal, PlanOptions

GRAVITY = 9.81  # [m/s2]
SETTLE = 0.4  # [s] until the joints are at rest
READINGS = 10  # of the efforts, each time
EVERY = 0.02  # [s] between them
SWING = 0.015  # [m] up and down, so that what sticks in the joints gives way
SWINGS = 2  # from above and from below
SLOW = 0.2  # of the full speed


@tool(
    group="execution",
    unit="grasping",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=("holding", "not_stopped"),
    postconditions=("not_holding", "scene_known"),
    timeout=240.0,
    when_to_use="To lay the held object on a pan of a balance (scales), in order to weigh it or to level the pans; pick it first, read_balance afterwards.",
    limits="The pan gives way under it. Two small objects find room on a pan of 84 mm. Fails with unknown_object when no balance is seen, "
    "no_free_space when the pan is full, place_failed when it lies elsewhere.",
    examples=[("Put what you hold on the left side of the scales", {"side": "left"})],
    failures=[("The gripper is empty", {"side": "right"}, "precondition_failed")],
)
def place_on_pan(
    ctx: ToolContext, side: Annotated[Literal["left", "right"], Field(description="of the balance, as the robot sees it: left has the greater y")]
) -> Placed:
    """Lay the held object on the left or right pan of a balance, beside what lies there, and verify by a look that it lies on it."""
    held = ctx.belief.held
    data = outcome(pans.place_on_pan(skill_context(ctx), side))
    if held is not None:
        remember_placed(ctx, held.object.id, float(held.object.size[2]), "on", f"the {side} pan", data)
    return data  # type: ignore[return-value]


class Weight(TypedDict):
    """What an object weighs."""

    object_id: str
    grams: float
    sigma: Annotated[
        float, Field(description="standard deviation of grams, by the spread of swings from above and below; what sticks in the joints comes on top [g]")
    ]


@tool(
    group="execution",
    unit="force_and_compliance",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=("not_holding", "not_stopped", "scene_known", "object_known(object_id)"),
    postconditions=("not_holding",),
    timeout=300.0,
    when_to_use="To know what an object weighs in grams where there is no balance: it is lifted and put back, and the joints' efforts with it and without "
    "it are compared.",
    limits="Needs an arm that reports joint efforts (else impossible, which is so of bus servos). A balance is more exact: friction in the joints is not told.",
    examples=[("How many grams does the can weigh, by feel?", {"object_id": "can_1"})],
    failures=[("An object that is not there", {"object_id": "can_99"}, "unknown_object")],
)
def weigh_in_hand(ctx: ToolContext, object_id: ObjectId) -> Weight:
    """Lift an object, put it back, and tell its weight by the joints' efforts with it and without it, at the same joints."""
    last_look(ctx).get(object_id)
    skill, arm = skill_context(ctx), ctx.robot.arm
    state = ctx.robot.joint_state()
    if len(state.efforts) != len(state.names):
        why = f"{arm.name} reports no joint efforts, so that nothing can be weighed in the gripper."
        raise DeskhandError("impossible", why, hint="Use a balance: place_on_pan, read_balance.")
    picked = outcome(pick(skill, object_id))
    held = ctx.belief.held
    assert held is not None
    joints = dict(zip(arm.joints, map(float, ctx.robot.joint_state().of(arm.joints)), strict=True))
    name = held.object.id
    skill.step(0.4, f"feel what {name} weighs")
    loaded = _upward(skill, name)
    if held.object.support == "table":
        outcome(place_at(skill, float(held.picked_from[0, 3]), float(held.picked_from[1, 3])))
    else:
        outcome(put_aside(skill))
    skill.step(0.8, "the same without it")
    skill.execute(skill.plan(MotionGoal(joints=joints)))
    empty = _upward(skill, name)
    grams = 1000 * float(loaded.mean() - empty.mean()) / GRAVITY
    sigma = 1000 * float(np.hypot(_spread(loaded), _spread(empty))) / GRAVITY
    return Weight(object_id=str(picked.get("object_id", object_id)), grams=round(grams, 1), sigma=round(sigma, 1))


def _spread(forces: Array) -> float:
    """Standard deviation [N] of the mean over swings from above and below."""
    return float(np.std(forces.reshape(-1, 2).mean(axis=1), ddof=1)) / math.sqrt(SWINGS)


def _upward(skill: SkillContext, name: str) -> Array:
    """Upward force (2 SWINGS,) [N] that the joints' efforts give the tcp, where it is now, the weight of the arm and of what it holds included.

    It is come to as often from above as from below: what sticks in the joints bears the load in part, and the other way round then.
    """
    here = skill.robot.tcp_pose().copy()
    forces = []
    for swing in range(2 * SWINGS):
        away = here.copy()
        away[2, 3] += SWING if swing % 2 else -SWING
        for pose in (away, here):
            skill.execute(skill.plan_line((pose,), PlanOptions(speed_scale=SLOW, allow=(("gripper", name),))))
        skill.robot.sleep(SETTLE)
        forces.append(np.mean([_force(skill) for _ in range(READINGS)]))
    return np.asarray(forces)


def _force(skill: SkillContext) -> float:
    skill.check()
    skill.robot.sleep(EVERY)
    arm, state = skill.robot.arm, skill.robot.joint_state()
    efforts = state.efforts[[state.names.index(name) for name in arm.joints]]
    return float(force_at_tcp(RobotModel.load(arm), state.of(arm.joints), efforts)[2])
