"""Moves that touch nothing: look, home, hold out."""

from __future__ import annotations

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform
from deskhand.perception.track.coverage import Coverage
from deskhand.skills.base import HOME, UNREACHED, SkillContext, skill
from deskhand.skills.carry import check_held
from deskhand.skills.view_planning import clear_pose, look_around
from deskhand.types import MotionGoal, Plan, SkillResult

HAND_HEIGHTS = (0.16, 0.12, 0.09)  # [m] over the table
AROUND = 0.10  # [m] around an object that is looked at
HAND_ANGLES = np.deg2rad([0, 15, -15, 30, -30])  # about the base


@skill
def look(ctx: SkillContext, at: str = "", views: int = 3) -> SkillResult:
    """A new scene in the belief, from where most is seen of what the pictures so far do not show.

    A camera on the arm is brought to up to ``views`` reachable views, the best next one each time, and their pictures are made into one scene; with ``at``
    (an id) only what is around that object counts. For a camera that stands still the arm goes to where it hides least of the desk.
    ``data``: ``objects`` (ids), ``stamp`` [s], ``camera`` (``arm`` or ``fixed``), ``views`` (how many), ``unseen`` (share of the space over the desk within
    reach, or around the object, that no picture has shown), ``arm_at``, ``times``. Codes: ``unknown_object``, ``no_ik_solution``, those of looking and motion.
    """
    ctx.step(0.0, f"look at {at}" if at else "look at the desk")
    coverage, mount = Coverage(ctx.robot.arm), ctx.robot.camera_mount()
    if at:
        if ctx.belief.scene is None:
            raise DeskhandError("unknown_object", f"{at} has not been seen yet.", hint="Look at the whole desk first.")
        coverage.around(ctx.belief.scene.get(at).position, AROUND)
    if mount is not None:
        scene, frame, count = look_around(ctx, mount, views, coverage)
        scene, where = ctx.saw(scene, frame), "over the desk"
    else:
        frame = ctx.robot.observe()
        where, joints, hidden = clear_pose(ctx.robot.arm, frame, ctx.robot.joint_state())
        if where == HOME:
            ctx.go_home()
        else:
            ctx.execute(ctx.plan(MotionGoal(joints=joints)))
        scene, count = ctx.look_from_here(), 1
        coverage.look(ctx.robot.observe(), scene.cloud)
        where += f", where it hides {100 * hidden:.0f} % of the desk"
    ctx.belief.fresh = True
    kind = "fixed" if mount is None else "arm"
    text = f"{len(scene.objects)} objects are seen; " + ("the camera stands still" if mount is None else f"the camera on the arm took {count} views")
    text += f"; {100 * coverage.unknown:.0f} % of the space {'around ' + at if at else 'over the desk within reach'} is not seen"
    data = {"objects": [item.id for item in scene.objects], "stamp": scene.stamp, "camera": kind, "views": count}
    return SkillResult("", text, {**data, "unseen": round(coverage.unknown, 3), "arm_at": where})


@skill
def home(ctx: SkillContext) -> SkillResult:
    """To the home pose. ``data``: ``times``."""
    ctx.step(0.0, "move home")
    ctx.go_home()
    return SkillResult("", "the arm is at home", {})


@skill
def handover(ctx: SkillContext) -> SkillResult:
    """Hold what is in the gripper out over the front of the desk, where a person can take it, and keep holding it.

    ``data``: ``object_id``, ``position`` of the gripper [m], ``width`` of the fingers [m], ``times``. Codes: ``not_holding``, ``object_lost``,
    ``no_ik_solution`` and those of motion and safety.
    """
    held = ctx.belief.held
    if held is None:
        raise DeskhandError("not_holding", "the gripper is empty.", hint="Pick something first.")
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
