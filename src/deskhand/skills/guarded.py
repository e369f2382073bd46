"""Guarded moves: down, step by step, until the joints' efforts tell that something bears the gripper or what it holds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.motion.jacobian import force_at_tcp
from deskhand.skills.base import HALTED, SkillContext, SkillError
from deskhand.types import PlanOptions

STEP = 0.002  # [m] of a guarded move between two measurements of force
SETTLE = 0.15  # [s] until the joints are at rest and their efforts tell the load
SLOW = 0.1  # of the full speed
OFF = 0.004  # [m] from the straight line


@dataclass(frozen=True)
class Touch:
    """How a guarded move ended: whether something was met, the upward force [N] at the end, and the steps made."""

    touched: bool
    force: float
    steps: int


def feels(ctx: SkillContext) -> bool:
    """Whether the arm tells the efforts of its joints, so that contacts can be felt."""
    state = ctx.robot.joint_state()
    return len(state.efforts) == len(state.names)


def lower_until(ctx: SkillContext, lowest: float, force: float, allow: Collection[tuple[str, str]] = ()) -> Touch:
    """Straight down until the force upward is ``force`` [N] or the tcp is at ``lowest`` [m, world]; the arm stays there.

    ``allow``: pairs of what may touch each other.

    Raises:
        SkillError: with the code of a motion that ended another way.
    """
    empty = lift(ctx)
    begin = float(ctx.robot.tcp_pose()[2, 3])
    felt, steps = 0.0, 0
    while ctx.robot.tcp_pose()[2, 3] > lowest + STEP / 2:
        ctx.step(0.2 + 0.6 * min(1.0, steps * STEP / max(STEP, begin - lowest)), f"down; {felt:.1f} N")
        pose = ctx.robot.tcp_pose().copy()
        pose[2, 3] = max(lowest, pose[2, 3] - STEP)
        plan = ctx.plan_line((pose,), PlanOptions(speed_scale=SLOW, allow=tuple(allow), max_deviation=OFF))
        report = ctx.robot.execute(plan.id, None, ctx.cancelled)
        steps += 1
        felt = lift(ctx) - empty
        if felt >= force or report.code in HALTED:
            return Touch(True, felt, steps)
        if not report.ok:
            raise SkillError(report.code, report.message, {"force": felt, "steps": steps})
    return Touch(False, felt, steps)


def lift(ctx: SkillContext) -> float:
    """Upward force [N] that the joints' efforts tell of, the weight of the arm included: only differences at nearly the same joints count."""
    ctx.robot.sleep(SETTLE)
    arm, state = ctx.robot.arm, ctx.robot.joint_state()
    efforts: Array = state.efforts[[state.names.index(name) for name in arm.joints]]
    return -float(force_at_tcp(RobotModel.load(arm), state.of(arm.joints), efforts)[2])
