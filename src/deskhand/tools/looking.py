"""A fresh look at the desk, as every tool that needs one takes it."""

from __future__ import annotations

from deskhand.etp.tool import ToolContext
from deskhand.motion.obstacles import obstacles_from_scene
from deskhand.skills.base import SkillContext
from deskhand.tools.look_notes import IN_THE_WAY, ON_THE_ARM
from deskhand.types import Scene, SceneUpdate


def skill_context(ctx: ToolContext) -> SkillContext:
    """What a skill gets from a tool call."""
    return SkillContext(ctx.robot, ctx.belief, ctx.progress, ctx.cancelled)


def look(ctx: ToolContext) -> tuple[Scene, str]:
    """A new picture, remembered and told to the planner; the arm stays where it is.

    Returns:
        The scene, and a note for the caller where the look may be incomplete, else empty.
    """
    scene = ctx.belief.look(ctx.robot)
    ctx.robot.update_scene(SceneUpdate(replace=obstacles_from_scene(scene)))
    if ctx.robot.camera_mount() is not None:
        ctx.belief.disturb()
        return scene, ON_THE_ARM
    if skill_context(ctx).out_of_view():
        return scene, ""
    ctx.belief.disturb()  # the arm may hide objects: the next skill looks again from home
    return scene, IN_THE_WAY


def last_look(ctx: ToolContext) -> Scene:
    """The last scene; tools that use it have the precondition ``scene_known``."""
    assert ctx.belief.scene is not None
    return ctx.belief.scene
