"""From where something is put down straight on to what is picked next; on the way, once the arm does not hide the place, one picture tells what came of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, rotation_angle, transform_points
from deskhand.perception.self_filter import joint_map
from deskhand.perception.track.settings import CHANGE
from deskhand.skills.base import EXPIRED, HALTED, REFUSED, UNREACHED, SkillContext
from deskhand.skills.belief import Approached, WayOn
from deskhand.skills.carry import RISE
from deskhand.skills.grasp_choice import GRASPS, OPEN_ENOUGH, Touch, pregrasp_joints
from deskhand.skills.on_the_way import GRID, first_in_sight, index_now, robot_between
from deskhand.skills.quick_look import Put, judged, untold
from deskhand.types import Grasp, PlanOptions, Scene, SceneObject

log = logging.getLogger(__name__)

LEFT = 0.35  # [s] of the motion that a picture and what it tells may take
AT_POSE = 0.004  # [m] that the hand may be from where it went, ..
TURNED = 0.03  # .. and [rad]
STAYED = 0.004  # [m] that an object may seem to have moved since the hand went to it
ROOM = 0.01  # [m] beside fingers that open further than what they let go asks for: more than looks are wrong by
TRIES = 2  # what gives way to opening fingers may shift the arm from where a plan begins
GIVEN_UP = UNREACHED | {REFUSED, "no_grasp", EXPIRED}
_Apart = Callable[[Grasp], float | None]
"""How far apart [m] the fingers are on the way to a grasp; None where they cannot be as far as it wants."""


def already_about(ctx: SkillContext, item: SceneObject) -> Grasp | None:
    """The grasp with which the open fingers stand about ``item``, where it was then; None where they do not. Asked once."""
    there, ctx.belief.approached = ctx.belief.approached, None
    if there is None or there.item.id != item.id or np.linalg.norm(there.item.position - item.position) > STAYED:
        return None
    tcp = ctx.robot.tcp_pose()
    off = float(np.linalg.norm(tcp[:3, 3] - there.grasp.pose[:3, 3]))
    return there.grasp if off < AT_POSE and rotation_angle(tcp, there.grasp.pose) < TURNED and ctx.width() > there.grasp.width else None


class Onward:
    """From where something was ``put`` up and on to the best grasp of ``next_object_id``, in the scene ``before`` it was put there; ``planned``: how, where
    that is known already.
    """

    def __init__(self, ctx: SkillContext, put: Put, before: Scene, next_object_id: str, planned: WayOn | None = None) -> None:
        self._ctx, self._put, self._before = ctx, put, before
        self._item = _to_be_picked(before, next_object_id)
        self._why = untold(ctx, put, before) if self._item is not None else f"there is no {next_object_id}"
        self._way = planned if planned is not None and planned.there.item.id == next_object_id and not self._why else None
        self.opened = self._way.opened if self._way is not None else 0.0

    def plan(self, touch: Touch, opened: float) -> None:
        """While the fingers open: they will be ``opened`` [m] apart, and may ``touch`` what they let go."""
        self._ctx.detach(self._way.rest if self._way is not None else None)
        if not self._why and self._way is None:
            self._way = self._planned(touch, lambda grasp: opened if opened > _wanted(self._ctx, grasp) - OPEN_ENOUGH else None)

    def go(self, touch: Touch) -> Scene | None:
        """As planned, or planned now that the fingers stand open.

        Returns:
            The scene as a picture on the way has shown it, the arm about the next object. None where that was not to be had: the arm stands where it did, or
            has halted on its way, and a look is needed.
        """
        for _ in range(TRIES):
            if not self._why and self._way is None:
                self._way = self._planned(touch)
            way, self._way = self._way, None
            if self._why or way is None:
                log.info("not straight on: %s", self._why or f"no grasp of {self._item.id if self._item else 'it'} can be planned with the fingers as they are")
                return None
            if way.moment is None:
                log.info("not straight on to %s: the arm would hide what was put down", way.there.item.id)
                return None
            try:
                return _go(self._ctx, self._put, self._before, way)
            except DeskhandError as error:
                if error.code != EXPIRED:
                    raise
                log.info("the way on to %s holds no more: %s", way.there.item.id, error)
                self._ctx.belief.disturb()
        return None

    def _planned(self, touch: Touch, apart: _Apart | None = None) -> WayOn | None:
        """``apart``: of the fingers, once they have opened; None: they stand as they do, and may open further."""
        assert self._item is not None
        ctx = self._ctx
        try:
            return _planned(ctx, self._put, self._before, self._item, touch, apart or (lambda grasp: ctx.width() if _open_enough(ctx, grasp, touch) else None))
        except DeskhandError as error:
            if error.code not in GIVEN_UP:
                raise
            log.info("not straight on to %s: %s: %s", self._item.id, error.code, error)
            return None


def way_on(ctx: SkillContext, put: Put, before: Scene, next_object_id: str, joints: Mapping[str, float], tcp: Array, opened: float) -> WayOn | None:
    """The way on before it is ``put`` down, by a hand that will stand at ``joints``, its ``tcp`` (4, 4) there, the fingers ``opened`` [m] apart, or wider where
    a grasp wants that and nothing is in their way. The planner is told that it lies there. None where none is known.
    """
    item = _to_be_picked(before, next_object_id)
    if item is None or untold(ctx, put, before):
        return None
    touch = (("gripper", put.item.id),)

    def apart(grasp: Grasp) -> float | None:
        wanted = _wanted(ctx, grasp)
        if opened > wanted - OPEN_ENOUGH:
            return opened
        return wanted if _free(ctx, there, wanted, touch, ROOM) else None

    try:
        there = {**joint_map(ctx.robot.joint_state()), **joints}
        ctx.detach(put.item)
        return _planned(ctx, put, before, item, touch, apart, (there, tcp))
    except DeskhandError as error:
        log.info("no way on to %s is planned yet: %s: %s", item.id, error.code, error)
        return None


def _to_be_picked(scene: Scene, object_id: str) -> SceneObject | None:
    return next((other for other in scene.objects if other.id == object_id and not other.is_container), None)


def _planned(
    ctx: SkillContext, put: Put, scene: Scene, item: SceneObject, touch: Touch, apart: _Apart, begin: tuple[Mapping[str, float], Array] | None = None
) -> WayOn | None:
    """Up, to the pregrasp and on to a grasp as one motion, from the joints and the tcp pose of ``begin``, or as the arm stands."""
    with ctx.timed("grasping"):
        grasps = ctx.robot.generate_grasps(scene, item.id, GRASPS[0])
    joints, tcp = begin or (joint_map(ctx.robot.joint_state()), ctx.robot.tcp_pose())
    top, gripper = tcp.copy(), ctx.robot.arm.gripper
    top[2, 3] += RISE
    pairs = (("gripper", item.id),)
    for grasp in grasps:
        if (opened := apart(grasp)) is None:
            continue
        goal = pregrasp_joints(ctx, scene, item, grasp)
        start = {**joints, gripper.joint: float(gripper.position_of(opened))}
        up = ctx.plan_line((top,), PlanOptions(start=start, allow=touch, min_fraction=0.5, draft=True))
        try:
            plan = ctx.plan_then_line(goal, grasp.pose, pairs, up.id)
        except DeskhandError as error:
            if error.code not in UNREACHED:
                raise
            log.info("grasp of %s cannot be planned from here: %s: %s", item.id, error.code, error)
            continue
        corners = transform_points(put.item.pose, GRID * (put.item.size + 2 * CHANGE.beside))
        return WayOn(plan, Approached(item, grasp), first_in_sight(ctx, plan, corners, LEFT), opened, put.item)
    return None


def _wanted(ctx: SkillContext, grasp: Grasp) -> float:
    """How far apart [m] the fingers shall be for it."""
    return float(grasp.opening or ctx.robot.arm.gripper.width_max)


def _open_enough(ctx: SkillContext, grasp: Grasp, touch: Touch) -> bool:
    """Whether the fingers stand wide enough for ``grasp``; they open further where there is room for that."""
    wanted = _wanted(ctx, grasp)
    if ctx.width() > wanted - OPEN_ENOUGH:
        return True
    if not _free(ctx, joint_map(ctx.robot.joint_state()), wanted, touch):
        return False
    ctx.grip(wanted)
    return ctx.width() > wanted - OPEN_ENOUGH


def _free(ctx: SkillContext, joints: Mapping[str, float], width: float, touch: Touch, room: float = 0.0) -> bool:
    """Whether fingers ``width`` [m] apart have at ``joints`` at least ``room`` [m] to all but what they may ``touch``."""
    gripper = ctx.robot.arm.gripper
    with ctx.timed("planning"):
        checked = ctx.robot.check_state({**joints, gripper.joint: gripper.position_of(width)})
    names, fingers = {name for pair in touch for name in pair}, set(gripper.links)
    near = [(a, b) for a, b, distance in checked.near if distance < room and (a in fingers) != (b in fingers)]
    return all({a, b} & names for a, b in [*near, *(pair[:2] for pair in checked.collisions)])


def _go(ctx: SkillContext, put: Put, before: Scene, way: WayOn) -> Scene | None:
    """Along the way, with a picture; halted where that does not show what it should. Raises ``plan_expired`` before anything has moved."""
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
