"""From where something was put down straight on to what is picked next; on the way, once the arm does not hide the place, one picture tells what came of it."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import rotation_angle, transform_points
from deskhand.perception.self_filter import joint_map
from deskhand.perception.track.settings import CHANGE
from deskhand.skills.base import EXPIRED, HALTED, REFUSED, UNREACHED, SkillContext
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


class Onward:
    """From where something was ``put`` up and on to the best grasp of ``next_object_id``, in the scene ``before`` it was put there."""

    def __init__(self, ctx: SkillContext, put: Put, before: Scene, next_object_id: str) -> None:
        self._ctx, self._put, self._before = ctx, put, before
        self._item = next((other for other in before.objects if other.id == next_object_id and not other.is_container), None)
        self._why = untold(ctx, put, before) if self._item is not None else f"there is no {next_object_id}"
        self._course: _Course | None = None

    def plan(self, touch: Touch, opened: float) -> None:
        """While the fingers open: they will be ``opened`` [m] apart, and may ``touch`` what they let go."""
        if not self._why:
            self._course = self._planned(touch, opened)

    def go(self, touch: Touch) -> Scene | None:
        """As planned, or planned now that the fingers stand open.

        Returns:
            The scene as a picture on the way has shown it, the arm about the next object. None where that was not to be had: the arm stands where it did, or
            has halted on its way, and a look is needed.
        """
        if not self._why and self._course is None:
            self._course = self._planned(touch)
        if self._why or self._course is None:
            log.info("not straight on: %s", self._why or f"no grasp of {self._item.id if self._item else 'it'} can be planned with the fingers as they are")
            return None
        if self._course.moment is None:
            log.info("not straight on to %s: the arm would hide what was put down", self._course.there.item.id)
            return None
        return _go(self._ctx, self._put, self._before, self._course)

    def _planned(self, touch: Touch, opened: float | None = None) -> _Course | None:
        """``opened``: the fingers will be so far apart [m]; None: they stand as they do, and may open further."""
        assert self._item is not None
        try:
            return _planned(self._ctx, self._put, self._before, self._item, touch, opened)
        except DeskhandError as error:
            if error.code not in UNREACHED | {REFUSED, "no_grasp", EXPIRED}:
                raise
            log.info("not straight on to %s: %s: %s", self._item.id, error.code, error)
            return None


@dataclass(frozen=True)
class _Course:
    """The way there, what it is about, and from which state of the way on a picture shows what was put down, None for never."""

    plan: Plan
    there: Approached
    moment: int | None


def _planned(ctx: SkillContext, put: Put, scene: Scene, item: SceneObject, touch: Touch, opened: float | None) -> _Course | None:
    """Up, to the pregrasp and on to a grasp as one motion."""
    with ctx.timed("grasping"):
        grasps = ctx.robot.generate_grasps(scene, item.id, GRASPS[0])
    top, gripper = ctx.robot.tcp_pose().copy(), ctx.robot.arm.gripper
    top[2, 3] += RISE
    pairs = (("gripper", item.id),)
    for grasp in grasps:
        if not (_open_enough(ctx, grasp, touch) if opened is None else opened > _wanted(ctx, grasp) - OPEN_ENOUGH):
            continue
        goal = pregrasp_joints(ctx, scene, item, grasp)
        start = None if opened is None else {**joint_map(ctx.robot.joint_state()), gripper.joint: float(gripper.position_of(opened))}
        up = ctx.plan_line((top,), PlanOptions(start=start, allow=touch, min_fraction=0.5, draft=True))
        try:
            plan = ctx.plan_then_line(goal, grasp.pose, pairs, up.id)
        except DeskhandError as error:
            if error.code not in UNREACHED:
                raise
            log.info("grasp of %s cannot be planned from here: %s: %s", item.id, error.code, error)
            continue
        corners = transform_points(put.item.pose, GRID * (put.item.size + 2 * CHANGE.beside))
        return _Course(plan, Approached(item, grasp), first_in_sight(ctx, plan, corners, LEFT))
    return None


def _wanted(ctx: SkillContext, grasp: Grasp) -> float:
    """How far apart [m] the fingers shall be for it."""
    return float(grasp.opening or ctx.robot.arm.gripper.width_max)


def _open_enough(ctx: SkillContext, grasp: Grasp, touch: Touch) -> bool:
    """Whether the fingers stand wide enough for ``grasp``; they open further where there is room for that."""
    gripper, wanted = ctx.robot.arm.gripper, _wanted(ctx, grasp)
    if ctx.width() > wanted - OPEN_ENOUGH:
        return True
    with ctx.timed("planning"):
        contacts = ctx.robot.check_state({**joint_map(ctx.robot.joint_state()), gripper.joint: gripper.position_of(wanted)}).collisions
    names = {name for pair in touch for name in pair}
    if any(not {a, b} & names for a, b, _ in contacts):
        return False
    ctx.grip(wanted)
    return ctx.width() > wanted - OPEN_ENOUGH


def _go(ctx: SkillContext, put: Put, before: Scene, way: _Course) -> Scene | None:
    """Along the way, with a picture; halted where that does not show what it should."""
    plan, there, moment = way.plan, way.there, way.moment
    assert moment is not None
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
        if (error.code == "cancelled" and not ctx.cancelled()) or error.code in HALTED or error.code == EXPIRED:
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
