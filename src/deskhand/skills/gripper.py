"""Open and close the gripper, with the width measured."""

from __future__ import annotations

from deskhand.errors import DeskhandError
from deskhand.skills.base import SkillContext, skill
from deskhand.types import SkillResult

NEARLY = 0.003  # [m]


@skill
def open_gripper(ctx: SkillContext) -> SkillResult:
    """Open all the way; what was held is let go where it is. ``data``: ``width`` [m], ``times``. Codes: ``gripper_failed``."""
    ctx.step(0.0, "open the gripper")
    widest = ctx.robot.arm.gripper.width_max
    ctx.belief.disturb()
    report = ctx.grip(widest)
    if report.width < widest - NEARLY:
        ctx.relax()
        text = f"the fingers opened to {1000 * report.width:.1f} mm, not {1000 * widest:.1f} mm: something beside them stops them"
        raise DeskhandError("gripper_failed", f"{text}. Call move_home, which backs the gripper out the way it came in, then open it.")
    ctx.belief.released(ctx.robot.tcp_pose())
    ctx.detach()
    return SkillResult("", f"open, {1000 * report.width:.0f} mm", {"width": round(report.width, 4)})


@skill
def close_gripper(ctx: SkillContext, force: float | None = None) -> SkillResult:
    """Close until something stops the fingers. ``data``: ``width`` [m], ``stalled`` (something is between them), ``times``."""
    ctx.step(0.0, "close the gripper")
    gripper = ctx.robot.arm.gripper
    if force is not None and not 0 < force <= gripper.force_max:
        raise DeskhandError("invalid_input", f"the force must be above 0 and at most {gripper.force_max:g} N, got {force}.")
    report = ctx.grip(gripper.width_min, force)
    between = report.width > gripper.width_min + NEARLY
    if not between:
        ctx.belief.released(ctx.robot.tcp_pose())
        ctx.detach()
    text = f"closed on something {1000 * report.width:.0f} mm wide" if between else f"closed, {1000 * report.width:.0f} mm, nothing between the fingers"
    return SkillResult("", text, {"width": round(report.width, 4), "stalled": between})
