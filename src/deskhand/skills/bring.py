"""What the fingers have closed on, brought to where it goes in one motion: up, over and down; that it is held is seen on the way, not standing still."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, transform_points
from deskhand.grasping.collision import released_opening
from deskhand.grasping.generator import support_height
from deskhand.perception.track.presence import seen_at_place
from deskhand.skills.base import EXPIRED, HALTED, REFUSED, UNREACHED, SkillContext
from deskhand.skills.belief import Brought, Held, WayOn
from deskhand.skills.carry import TOUCHED, is_held, settled
from deskhand.skills.grasp_choice import Touch
from deskhand.skills.into import FULL, contents_of, room_for
from deskhand.skills.on_the_way import GRID, first_in_sight, index_now
from deskhand.skills.onward import way_on
from deskhand.skills.placement_sampling import Spot, rest_of
from deskhand.skills.presence import levelled
from deskhand.skills.quick_look import put_of
from deskhand.skills.room import room_in
from deskhand.types import Grasp, MotionGoal, Plan, PlanOptions, Scene, SceneObject, moved

log = logging.getLogger(__name__)

LEFT = 0.15  # share of an object still seen at its place above which the hand holds a part of what was taken for one object
CLEAR = 0.06  # [m] that it has been raised by when it is looked for at its place


@dataclass(frozen=True)
class Then:
    """What comes after a pick: the ``container_id`` that it is put in, and the ``object_id`` of what is picked after that; empty where that is not known."""

    container_id: str = ""
    object_id: str = ""


@dataclass
class _Progress:
    """How it went: ``why`` it was halted, ``looked`` whether its place was seen, empty; the way ``on``, once it has been planned."""

    why: str = ""
    looked: bool = False
    on: WayOn | None = None


@dataclass(frozen=True)
class Course:
    """How ``item`` is brought to a container: its ``grasp``, where it is let go, the way there, the tcp pose (4, 4) at its start, and from which state of the
    way on the arm does not hide where it stood, None for never.
    """

    item: SceneObject
    grasp: Grasp
    spot: Spot
    plan: Plan
    closed_at: Array
    moment: int | None


def course(ctx: SkillContext, scene: Scene, item: SceneObject, grasp: Grasp, width: float, container_id: str, touch: Touch, lift: float) -> Course | None:
    """Up by ``lift`` [m] where it may ``touch`` what it stands among, over the container, and down to where it is let go; None where that cannot be planned.

    ``item`` is between the fingers, or will be when they are ``width`` [m] apart, and the planner has been told so. It plans with the fingers as they stand:
    what is free for open ones is free for closed ones.
    """
    container = next((other for other in scene.objects if other.id == container_id and other.is_container), None)
    if container is None or item.support != "table" or ctx.robot.camera_mount() is not None or any(other.support == item.id for other in scene.objects):
        return None
    held = _held(ctx, item, grasp, width)
    with _holding(ctx, scene, held):
        planned = _planned(ctx, held, container, touch, lift)
    if planned is None:
        return None
    moment = first_in_sight(ctx, planned[1], transform_points(item.pose, GRID * item.size))
    return Course(item, grasp, *planned, ctx.robot.tcp_pose().copy(), moment)


def bring(ctx: SkillContext, scene: Scene, way: Course, width: float, then: Then, lift: float) -> bool | None:
    """Along the course, the fingers ``width`` [m] apart. They and a picture must say all along that it is held. On the way the way on from there is planned.

    Returns:
        Whether a picture has shown that it has left its place. None where the plan holds no more: nothing has moved.

    Raises:
        DeskhandError: ``grasp_failed`` when it is not held; what was in the hand, if anything, is above where it was again, or near that. Those of motion.
    """
    item, progress = way.item, _Progress()
    held = _held(ctx, item, way.grasp, width, way.closed_at)
    with _holding(ctx, scene, held):
        try:
            _go(ctx, way, scene, progress, then)
        except DeskhandError as error:
            if error.code == EXPIRED:
                log.info("%s is not brought to %s in one motion: %s", item.id, then.container_id, error)
                return None
            if error.code not in HALTED and not progress.why:
                raise
            _back(ctx, way.closed_at, lift)
            raise DeskhandError(
                "grasp_failed", f"{item.id} was brought to {then.container_id}, and halted on the way: {progress.why or error.message}"
            ) from error
    ctx.belief.brought = Brought(item.id, then.container_id, way.spot, ctx.robot.tcp_pose().copy(), progress.on)
    return progress.looked


def _held(ctx: SkillContext, item: SceneObject, grasp: Grasp, width: float, closed_at: Array | None = None) -> Held:
    """``item`` between fingers that are ``width`` [m] apart, the tcp where it is, or was when they closed."""
    tcp = ctx.robot.tcp_pose() if closed_at is None else closed_at
    return settled(Held(item, grasp, width, np.linalg.inv(tcp) @ item.pose, item.pose), ctx.robot.arm.gripper)


@contextmanager
def _holding(ctx: SkillContext, scene: Scene, held: Held) -> Iterator[None]:
    """As long as this is believed to be held, and not to stand where it was."""
    belief, before = ctx.belief, ctx.belief.scene
    belief.held = held
    belief.scene = replace(scene, objects=tuple(other for other in scene.objects if other.id != held.object.id))
    try:
        yield
    finally:
        belief.held, belief.scene = None, before


def _planned(ctx: SkillContext, held: Held, container: SceneObject, touch: Touch, lift: float) -> tuple[Spot, Plan] | None:
    everything = ctx.belief.everything()
    if room_in(everything, container).share < FULL:
        return None
    top = ctx.robot.tcp_pose().copy()
    top[2, 3] += lift
    seen = {other.id for other in ctx.belief.scene.objects} if ctx.belief.scene is not None else set()
    allow = tuple((held.object.id, name) for name in (container.id, *contents_of(everything, container)) if name in seen)
    try:
        with ctx.timed("planning"):
            left = room_for(ctx, container, 0.0)
        up = ctx.plan_line((top,), PlanOptions(allow=touch, min_fraction=0.8, draft=True))
        while left:
            with ctx.timed("planning"):
                over = ctx.robot.plan_motion(MotionGoal(poses=tuple(spot.hover for spot in left)), PlanOptions(after=up.id, draft=True))
            spot = left[over.goal_index]
            try:
                return spot, ctx.plan_line((spot.release,), PlanOptions(after=over.id, allow=allow))
            except DeskhandError as error:
                if error.code not in UNREACHED:
                    raise
                left.pop(over.goal_index)
    except DeskhandError as error:
        if error.code not in UNREACHED | {REFUSED, "no_free_space"}:
            raise
        log.info("%s is not brought to %s in one motion: %s: %s", held.object.id, container.id, error.code, error)
    return None


def _go(ctx: SkillContext, way: Course, scene: Scene, progress: _Progress, then: Then) -> None:
    """Along ``way``; halted when the fingers, or a picture of where it was, say that it is not held. What it touches down on just above is where it goes."""
    held = ctx.belief.held
    assert held is not None
    asked, planned = way.moment is None, not then.object_id or ctx.robot.arm.gripper.one_sided

    def watch() -> bool:
        nonlocal asked, planned
        if not is_held(ctx, held):
            progress.why = "the fingers do not stand as they did"
            return True
        if (asked and planned) or ctx.robot.tcp_pose()[2, 3] < way.closed_at[2, 3] + CLEAR:
            return False
        if asked:
            planned = True
            progress.on = _way_on(ctx, way, held, then)
        elif way.moment is not None and index_now(ctx, way.plan) >= way.moment:
            asked = True
            progress.why = _not_gone(ctx, scene, way.item)
            progress.looked = not progress.why
        return bool(progress.why)

    try:
        ctx.execute(way.plan, watch)
    except DeskhandError as error:
        now = ctx.robot.tcp_pose()
        left = float(now[2, 3] - way.spot.release[2, 3])
        if error.code in HALTED and left < TOUCHED and float(np.linalg.norm(now[:2, 3] - way.spot.release[:2, 3])) < TOUCHED:
            log.info("touched down %.0f mm above where it should: %s", 1000 * left, error.code)
            return
        raise
    finally:
        if not ctx.belief.attached:
            ctx.attach(held.object.id, moved(held.object, ctx.robot.tcp_pose() @ held.tcp_T_object))


def _way_on(ctx: SkillContext, way: Course, held: Held, then: Then) -> WayOn | None:
    """On from where it will be let go, planned for a desk on which it lies there."""
    before = ctx.belief.scene
    assert before is not None
    put = put_of(held, rest_of(held, way.spot), before.get(then.container_id))
    opened = released_opening(held.width, ctx.robot.arm.gripper)
    return way_on(ctx, put, before, then.object_id, way.plan.end, way.spot.release, opened)


def _not_gone(ctx: SkillContext, scene: Scene, item: SceneObject) -> str:
    """Why a picture says that not it alone has left its place; empty where it does not."""
    frame = levelled(ctx.robot.observe())
    if seen_at_place(frame, item, support_height(scene, item), LEFT) == "there":
        return f"{item.id} or a part of it is still where it was"
    gone = [
        other.id
        for other in scene.objects
        if other.id != item.id and not other.is_container and seen_at_place(frame, other, support_height(scene, other)) == "gone"
    ]
    return f"{', '.join(gone)} came along, or fell" if gone else ""


def _back(ctx: SkillContext, closed_at: Array, lift: float) -> None:
    """Over where the fingers closed, where there is a way."""
    over = closed_at.copy()
    over[2, 3] += lift
    try:
        ctx.execute(ctx.plan(MotionGoal(poses=(over,))))
    except DeskhandError as error:
        if error.code in ("cancelled", "safety_stop"):
            raise
        log.info("not back over where it was taken from: %s: %s", error.code, error)
