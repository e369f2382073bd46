"""From where something was put down straight on to what is picked next; on the way, once the arm does not hide the place, one picture tells what came of it."""

from __future__ import annotations

import logging

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import rotation_angle, transform_points
from deskhand.perception.self_filter import joint_map
from deskhand.perception.track.settings import CHANGE
from deskhand.skills.base import HALTED, REFUSED, UNREACHED, SkillContext
from deskhand.skills.belief import Approached
from deskhand.skills.carry import RISE
from deskhand.skills.grasp_choice import GRASPS, OPEN_ENOUGH, Touch, pregrasp_joints
from deskhand.skills.on_the_way import GRID, first_in_sight, index_now, robot_between
from deskhand.skills.quick_look import Put, judged, untold
from deskhand.types import Grasp, Plan, PlanOptions, Scene, SceneObject

log = logging.getLogger(__name__)

LEFT = 0.35  # [s] of the motion that a picture and what it tells may take
AT_POSE = 0.004  # [m] that the hand may be from where it went, ..
TURNED = 0.03  # .. and [rad]
STAYED = 0.004  # [m] that an object may seem to have moved since the hand went to it


def already_about(ctx: SkillContext, item: SceneObject) -> Grasp | None:
    """The grasp with which the open fingers stand about ``item``, where it was then; None where they do not. Asked once."""
    there, ctx.belief.approached = ctx.belief.approached, None
    if there is None or there.item.id != item.id or np.linalg.norm(there.item.position - item.position) > STAYED:
        return None
    tcp = ctx.robot.tcp_pose()
    off = float(np.linalg.norm(tcp[:3, 3] - there.grasp.pose[:3, 3]))
    return there.grasp if off < AT_POSE and rotation_angle(tcp, there.grasp.pose) < TURNED and ctx.width() > there.grasp.width else None


def go_on(ctx: SkillContext, put: Put, before: Scene, next_object_id: str, touch: Touch) -> Scene | None:
    """Up from where something was ``put`` and on to the best grasp of ``next_object_id``; the hand may ``touch`` what it lets go.

    Returns:
        The scene as a picture on the way has shown it, the arm about the next object. None where that was not to be had: the arm stands where it did, or has
        halted on its way, and a look is needed.
    """
    item = next((other for other in before.objects if other.id == next_object_id and not other.is_container), None)
    why = untold(ctx, put, before) if item is not None else f"there is no {next_object_id}"
    if item is None or why:
        log.info("not straight on to %s: %s", next_object_id, why)
        return None
    try:
        planned = _planned(ctx, before, item, touch)
    except DeskhandError as error:
        if error.code not in UNREACHED | {REFUSED, "no_grasp", "plan_expired"}:
            raise
        log.info("not straight on to %s: %s: %s", item.id, error.code, error)
        return None
    if planned is None:
        return None
    plan, there = planned
    moment = first_in_sight(ctx, plan, transform_points(put.item.pose, GRID * (put.item.size + 2 * CHANGE.beside)), LEFT)
    if moment is None:
        log.info("not straight on to %s: the arm would hide what was put down", item.id)
        return None
    return _go(ctx, put, before, plan, there, moment)


def _planned(ctx: SkillContext, scene: Scene, item: SceneObject, touch: Touch) -> tuple[Plan, Approached] | None:
    """Up, to the pregrasp and on to a grasp as one motion, with the fingers as wide as they are."""
    with ctx.timed("grasping"):
        grasps = ctx.robot.generate_grasps(scene, item.id, GRASPS[0])
    top = ctx.robot.tcp_pose().copy()
    top[2, 3] += RISE
    pairs = (("gripper", item.id),)
    for grasp in grasps:
        if not _open_enough(ctx, grasp, touch):
            continue
        goal = pregrasp_joints(ctx, scene, item, grasp)
        up = ctx.plan_line((top,), PlanOptions(allow=touch, min_fraction=0.5, draft=True))
        try:
            plan = ctx.plan_then_line(goal, grasp.pose, pairs, up.id)
        except DeskhandError as error:
            if error.code not in UNREACHED:
                raise
            log.info("grasp of %s cannot be planned from here: %s: %s", item.id, error.code, error)
            continue
        return plan, Approached(item, grasp)
    log.info("not straight on to %s: no grasp of it can be planned with the fingers as they are", item.id)
    return None


def _open_enough(ctx: SkillContext, grasp: Grasp, touch: Touch) -> bool:
    """Whether the fingers stand wide enough for ``grasp``; they open further where there is room for that."""
    gripper, wanted = ctx.robot.arm.gripper, grasp.opening or ctx.robot.arm.gripper.width_max
    if ctx.width() > wanted - OPEN_ENOUGH:
        return True
    with ctx.timed("planning"):
        contacts = ctx.robot.check_state({**joint_map(ctx.robot.joint_state()), gripper.joint: gripper.position_of(wanted)}).collisions
    names = {name for pair in touch for name in pair}
    if any(not {a, b} & names for a, b, _ in contacts):
        return False
    ctx.grip(wanted)
    return ctx.width() > wanted - OPEN_ENOUGH


def _go(ctx: SkillContext, put: Put, before: Scene, plan: Plan, there: Approached, moment: int) -> Scene | None:
    """Along ``plan``, with a picture from the state ``moment`` on; halted where it does not show what it should."""
    seen: Scene | None = None
    asked = False

    def watch() -> bool:
        nonlocal seen, asked
        if asked or index_now(ctx, plan) < moment:
            return asked and seen is None
        asked = True
        begun = index_now(ctx, plan)
        frame = ctx.robot.observe()
        robot = robot_between(ctx, plan, begun, index_now(ctx, plan), frame)
        seen, why = judged(ctx, put, before, frame, robot, hidden=False)  # what the arm hides now may be where it has fallen
        if seen is None:
            log.info("halted on the way to %s: %s", there.item.id, why)
        return seen is None

    try:
        ctx.execute(plan, watch)
    except DeskhandError as error:
        if (error.code == "cancelled" and not ctx.cancelled()) or error.code in HALTED:
            log.info("not straight on to %s: %s: %s", there.item.id, error.code, error)
            ctx.belief.disturb()
            return None
        raise
    if seen is None:
        return None
    with ctx.timed("planning"):
        ctx.tell_planner(seen)
    ctx.belief.approached = there
    return seen
