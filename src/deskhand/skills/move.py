"""Moves that touch nothing: look, home."""

from __future__ import annotations

from deskhand.skills.base import SkillContext, skill
from deskhand.types import SkillResult


@skill
def look(ctx: SkillContext) -> SkillResult:
    """Arm out of the camera's view, a new picture, a new scene in the belief. ``data``: ``objects`` (ids), ``stamp`` [s], ``times``."""
    ctx.step(0.0, "look at the desk")
    scene = ctx.look()
    return SkillResult("", f"{len(scene.objects)} things are seen", {"objects": [item.id for item in scene.objects], "stamp": scene.stamp})


@skill
def home(ctx: SkillContext) -> SkillResult:
    """To the home pose. ``data``: ``times``."""
    ctx.step(0.0, "move home")
    ctx.go_home()
    return SkillResult("", "the arm is at home", {})
