"""What an arm cannot reach, and how its hand may lean."""

from __future__ import annotations

from collections.abc import Sequence

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.motion.roll import arm_axis
from deskhand.skills.base import SkillContext
from deskhand.skills.placement_sampling import Spot


def lean_axis(ctx: SkillContext) -> Array | None:
    """A point on the axis that an arm's hand can lean away from only; None for an arm whose hand leans any way."""
    arm = ctx.robot.arm
    return arm_axis(RobotModel.load(arm)) if arm.free_roll else None


def reached(ctx: SkillContext, spots: Sequence[Spot]) -> bool:
    """Whether the arm comes to one of the spots."""
    for spot in spots:
        ctx.check()
        try:
            if ctx.robot.solve_ik(spot.release, check_collisions=False):
                return True
        except DeskhandError as error:
            if error.code != "no_ik_solution":
                raise
    return False
