"""Moves that touch nothing: look, home, hold out."""

from __future__ import annotations

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform
from deskhand.skills.base import SkillContext, skill
from deskhand.skills.carry import UNREACHED, check_held
from deskhand.types import MotionGoal, Plan, SkillResult

HAND_HEIGHTS = (0.16, 0.12, 0.09)  # [m] over the table
HAND_ANGLES = np.deg2rad([0, 15, -15, 30, -30])  # about the base


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


@skill
def handover(ctx: SkillContext) -> SkillResult:
    """Hold what is in the hand out over the front of the desk, where a person can take it, and keep holding it.

    ``data``: ``object_id``, ``position`` of the hand [m], ``width`` of the fingers [m], ``times``. Codes: ``not_holding``, ``object_lost``,
    ``no_ik_solution`` and those of motion and safety.
    """
    held = ctx.belief.held
    if held is None:
        raise DeskhandError("not_holding", "the hand is empty.", hint="Pick something first.")
    ctx.step(0.0, f"hold {held.object.id} out")
    check_held(ctx, held)
    base, most = ctx.robot.arm.world_T_base[:3, 3], ctx.robot.arm.work_radius[1]
    ctx.execute(_held_out(ctx, base, 0.9 * most))
    check_held(ctx, held)
    where = [round(float(value), 4) for value in ctx.robot.tcp_pose()[:3, 3]]
    return SkillResult("", f"{held.object.id} is held out at {where}", {"object_id": held.object.id, "position": where, "width": round(ctx.width(), 4)})


def _held_out(ctx: SkillContext, base: Array, reach: float) -> Plan:
    """To a pose before the arm, looking down, as high as it reaches there."""
    last: DeskhandError | None = None
    for height in HAND_HEIGHTS:
        poses = []
        for angle in HAND_ANGLES:
            out = np.array([np.cos(angle), np.sin(angle), 0.0])
            for side in (1.0, -1.0):
                across = side * np.array([-out[1], out[0], 0.0])
                turn = np.column_stack([np.cross(across, [0.0, 0.0, -1.0]), across, [0.0, 0.0, -1.0]])
                poses.append(make_transform(turn, [*(base + reach * out)[:2], height]))
        try:
            return ctx.plan(MotionGoal(poses=tuple(poses)))
        except DeskhandError as error:
            if error.code not in UNREACHED:
                raise
            last = error
    assert last is not None
    raise last
