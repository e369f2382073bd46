"""Put down what is held: in a container, on another thing, or at a place on the table; verified by a look with the arm out of the way."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.grasping.collision import opening
from deskhand.grasping.generator import MIN_WIDTH_ABOVE
from deskhand.motion.roll import arm_axis
from deskhand.skills.base import HALTED, SkillContext, SkillError, skill
from deskhand.skills.belief import Held
from deskhand.skills.second_look import disturbed, inside_container, same_object
from deskhand.skills.spots import Spot, spots_at, spots_in
from deskhand.types import MotionGoal, Plan, PlanOptions, Scene, SceneObject, SkillResult, moved

log = logging.getLogger(__name__)

TILTS = np.deg2rad([0.0, 20.0, 35.0])  # of the hand, away from the arm's base, when the place cannot be reached from straight above
RISE = 0.09  # [m] after letting go
CLOSE_ENOUGH = 0.03  # [m] between where a thing was put and where it is seen
LOST = 0.010  # [m] that the fingers may have closed since the pick
MISSES = 3  # spots that may be hit on the way down
APART = 0.02  # [m] between one that was hit and the next
UNREACHED = frozenset({"planning_failed", "path_incomplete", "goal_in_collision", "no_ik_solution", "start_in_collision"})


@skill
def place_in(ctx: SkillContext, container_id: str) -> SkillResult:
    """Let the held object down into a container. ``data``: ``object_id``, ``seen_as``, ``position``, ``seen``, ``disturbed``, ``times``.

    The look after it must show the object inside, or, when the walls or the contents hide it, nowhere else.
    Codes: ``not_holding``, ``object_lost``, ``unknown_object``, ``invalid_input`` (not a container), ``no_free_space``,
    ``place_failed`` and those of motion and safety.
    """
    held, scene = _ready(ctx, f"place it in {container_id}")
    container = scene.get(container_id)
    if not container.is_container:
        raise DeskhandError("invalid_input", f"{container_id} is a {container.label}, not a container.", hint="Use place_on, or the id of a container.")
    spot = _carry(ctx, held, lambda tilt: _room_in(ctx, container, tilt), (container_id, *_contents(ctx.belief.everything(), container)))
    _release(ctx, held)
    return _verify_in(ctx, held, scene, container, spot)


@skill
def place_at(ctx: SkillContext, x: float, y: float) -> SkillResult:
    """Put the held object down with its centre at (x, y) [m] of the table, world frame. ``data`` and codes as of :func:`place_in`."""
    held, scene = _ready(ctx, f"place it at ({x:.3f}, {y:.3f})")
    place = np.array([x, y], dtype=float)
    if not np.all(np.isfinite(place)) or np.any(np.abs(place - scene.table.pose[:2, 3]) > np.asarray(scene.table.size) / 2):
        raise DeskhandError("invalid_input", f"({x}, {y}) is not on the table, whose middle is at {np.round(scene.table.pose[:2, 3], 2).tolist()} m.")
    spot = _carry(ctx, held, lambda tilt: _room_at(ctx, place, float(scene.table.pose[2, 3]), f"({x:.3f}, {y:.3f})", tilt), ("table",))
    _release(ctx, held)
    return _verify_at(ctx, held, scene, spot, "table")


@skill
def place_on(ctx: SkillContext, target_id: str) -> SkillResult:
    """Put the held object down on top of another thing, centre over centre. ``data`` and codes as of :func:`place_in`."""
    held, scene = _ready(ctx, f"place it on {target_id}")
    target = scene.get(target_id)
    if target.is_container:
        raise DeskhandError("invalid_input", f"{target_id} is a container.", hint="Use place_in.")
    spot = _carry(ctx, held, lambda tilt: _room_at(ctx, target.position, target.top, f"the top of {target_id}", tilt), (target_id,))
    _release(ctx, held)
    return _verify_at(ctx, held, scene, spot, target_id)


# ---------------------------------------------------------------- steps


def _ready(ctx: SkillContext, what: str) -> tuple[Held, Scene]:
    """What is held, checked by the fingers, and the scene."""
    held = ctx.belief.held
    if held is None:
        raise DeskhandError("not_holding", "the hand is empty.", hint="Pick something first.")
    ctx.step(0.0, f"{what}: {held.object.id}")
    _check_held(ctx, held)
    scene = ctx.belief.scene
    return held, scene if scene is not None else ctx.look()


def _check_held(ctx: SkillContext, held: Held) -> None:
    """Raises ``object_lost`` when the fingers have closed since the pick."""
    width, least = ctx.width(), ctx.robot.arm.gripper.width_min + MIN_WIDTH_ABOVE
    if width < least or width < held.width - LOST:
        ctx.belief.released(dropped=True)
        raise DeskhandError(
            "object_lost",
            f"{held.object.id} was lost: the fingers are {1000 * width:.1f} mm apart, {1000 * held.width:.1f} when it was picked.",
            hint="Look again for where it lies.",
        )


def _contents(scene: Scene, container: SceneObject) -> tuple[str, ...]:
    return tuple(item.id for item in scene.objects if item.id != container.id and (item.support == container.id or inside_container(container, item)))


def _room_in(ctx: SkillContext, container: SceneObject, tilt: float) -> list[Spot]:
    held, arm = ctx.belief.held, ctx.robot.arm
    assert held is not None
    spots = spots_in(ctx.belief.everything(), container, held, arm.gripper, arm.world_T_base[:3, 3], tilt, axis=_lean_axis(ctx))
    if not spots:
        raise DeskhandError("no_free_space", f"there is no room in {container.id} for {held.object.id}.")
    return spots


def _room_at(ctx: SkillContext, place: Array, height: float, name: str, tilt: float) -> list[Spot]:
    held = ctx.belief.held
    assert held is not None
    spots = [] if tilt else spots_at(ctx.belief.everything(), place, height, held, ctx.robot.arm.gripper, axis=_lean_axis(ctx))
    if not spots:
        raise DeskhandError("no_free_space", f"{held.object.id} or the hand would touch something at {name}.", hint="Choose another place.")
    return spots


def _lean_axis(ctx: SkillContext) -> Array | None:
    arm = ctx.robot.arm
    return arm_axis(RobotModel.load(arm)) if arm.free_roll else None


def _carry(ctx: SkillContext, held: Held, room: Callable[[float], list[Spot]], may_touch: tuple[str, ...]) -> Spot:
    """Bring the object to a spot of ``room`` (for a tilt of the hand), another one when it cannot be reached or is hit on the way down.

    After a failure the object is still held, above where it was to go.
    """
    ctx.step(0.2, f"carry {held.object.id}")
    known = {item.id for item in ctx.belief.scene.objects} | {"table"} if ctx.belief.scene else {"table"}
    allow = tuple((held.object.id, name) for name in may_touch if name in known)
    failed: list[Array] = []
    last: DeskhandError | None = None
    for tilt in TILTS:
        try:
            with ctx.timed("planning"):
                spots = room(float(tilt))
        except DeskhandError as error:
            raise last or error from None
        for _ in range(MISSES):
            left = [spot for spot in spots if all(np.linalg.norm(spot.position - place) > APART for place in failed)]
            if not left:
                break
            try:
                spot = _plan_and_go(ctx, held, left, allow, failed)
            except DeskhandError as error:
                last = error
                if error.code in UNREACHED:
                    break
                if error.code not in HALTED:
                    raise
                continue
            return spot
    raise last or DeskhandError("place_failed", f"no place for {held.object.id} could be reached.")


def _plan_and_go(ctx: SkillContext, held: Held, spots: list[Spot], allow: tuple[tuple[str, str], ...], failed: list[Array]) -> Spot:
    """Above the best spot that can be reached, then straight down to it. A spot that is hit on the way goes to ``failed``."""
    above, spot, down = _plan_to(ctx, spots, allow)
    ctx.execute(above)
    _check_held(ctx, held)
    ctx.step(0.5, f"let {held.object.id} down")
    try:
        ctx.execute(down)
    except DeskhandError as error:
        if error.code in HALTED:
            log.info("something is in the way at (%.3f, %.3f): %s: %s", *spot.position, error.code, error)
            failed.append(spot.position)
            ctx.rise(RISE, allow, least=0.1)
        raise
    _check_held(ctx, held)
    return spot


def _plan_to(ctx: SkillContext, spots: list[Spot], allow: tuple[tuple[str, str], ...]) -> tuple[Plan, Spot, Plan]:
    """To above one of ``spots``, and straight down from there."""
    left = list(spots)
    while True:
        ctx.check()
        above = ctx.plan(MotionGoal(poses=tuple(spot.hover for spot in left)), PlanOptions(allow=allow))
        spot = left[above.goal_index]
        try:
            return above, spot, ctx.plan_line((spot.release,), PlanOptions(start=above.end, speed_scale=0.6, allow=allow))
        except DeskhandError as error:
            if error.code not in UNREACHED or len(left) == 1:
                raise
            log.info("cannot go straight down at (%.3f, %.3f): %s: %s", *spot.position, error.code, error)
            left.pop(above.goal_index)


def _release(ctx: SkillContext, held: Held) -> None:
    """Open, tell the planner, rise."""
    ctx.step(0.65, f"let {held.object.id} go")
    ctx.belief.disturb()
    report = ctx.grip(float(opening(held.width, ctx.robot.arm.gripper)))
    if report.width < held.width + 0.002:
        raise DeskhandError("gripper_failed", f"the fingers did not open: {1000 * report.width:.1f} mm apart.")
    ctx.belief.released()
    ctx.detach()
    ctx.rise(RISE, (("gripper", held.object.id),), least=0.2)


# ---------------------------------------------------------------- verification


def _look_after(ctx: SkillContext, held: Held, before: Scene) -> tuple[Scene, SceneObject | None, dict[str, Any]]:
    ctx.step(0.8, "look whether it worked")
    after = ctx.look()
    found = same_object(after, held.object, before)
    data: dict[str, Any] = {"object_id": held.object.id, "seen": found is not None}
    if found is not None:
        data.update(seen_as=found.id, position=[round(float(v), 4) for v in found.position])
    return after, found, data


def _verify_in(ctx: SkillContext, held: Held, before: Scene, container: SceneObject, spot: Spot) -> SkillResult:
    after, found, data = _look_after(ctx, held, before)
    name = held.object.id
    now = same_object(after, container)
    if now is None:
        raise SkillError("place_failed", f"{container.id} is not seen any more after {name} was let go.", data)
    data["disturbed"] = disturbed(before, after, (name, *_contents(before, container)))
    if found is not None and not inside_container(now, found):
        inside = found.support == now.id
        where = f"lies on it, {1000 * (found.bottom - now.top):+.0f} mm from the rim" if inside else f"is seen at {np.round(found.position[:2], 3).tolist()}"
        raise SkillError("place_failed", f"{name} is not in {container.id}: it {where}.", data)
    if found is None:
        if not spot.inside:
            raise SkillError("place_failed", f"{name} did not fit between the walls of {container.id} and is not seen in it.", data)
        rest = spot.release @ held.tcp_T_object
        rest[2, 3] -= spot.fall
        ctx.belief.hide(replace(moved(held.object, rest), support=now.id, relation="in"))
    seen = "seen there" if found else f"let go at {np.round(spot.position, 3).tolist()}, hidden by the walls or the contents, and seen nowhere else"
    return SkillResult("", f"{name} is in {container.id}: {seen}", data)


def _verify_at(ctx: SkillContext, held: Held, before: Scene, spot: Spot, support: str) -> SkillResult:
    after, found, data = _look_after(ctx, held, before)
    name = held.object.id
    data["disturbed"] = disturbed(before, after, (name,))
    if found is None:
        raise SkillError("place_failed", f"{name} is not seen after it was put on {support}.", data)
    off = float(np.linalg.norm(found.position[:2] - spot.position[:2]))
    data["off_by"] = round(off, 4)
    if off > CLOSE_ENOUGH:
        raise SkillError("place_failed", f"{name} was put on {support} but lies {1000 * off:.0f} mm beside the place.", data)
    if support != "table" and not _stands_on(after, before, found, support):
        raise SkillError("place_failed", f"{name} does not stand on {support} but {found.relation} {found.support}.", data)
    return SkillResult("", f"{name} stands on {support}, {1000 * off:.0f} mm off the place", data)


def _stands_on(after: Scene, before: Scene, found: SceneObject, support: str) -> bool:
    """By perception's word, or by height: its underside is at least near the top of what it was put on."""
    return found.support == support or found.bottom > _top(before, support) - 0.008 or found.top > _top(before, support) + 0.5 * float(np.min(found.size))


def _top(scene: Scene, name: str) -> float:
    return scene.get(name).top


def free_place(scene: Scene, held: Held, gripper: Any, near: Array, step: float = 0.03, reach: float = 0.25) -> Array | None:
    """The free place (x, y) on the table nearest to ``near``; None when there is none within ``reach`` [m]."""
    span = np.arange(-reach, reach + 1e-9, step)
    places = np.asarray(near, dtype=float)[:2] + np.column_stack([axis.ravel() for axis in np.meshgrid(span, span)])
    half = np.asarray(scene.table.size) / 2 - 0.05
    places = places[np.all(np.abs(places - scene.table.pose[:2, 3]) < half, axis=1)]
    for place in places[np.argsort(np.linalg.norm(places - np.asarray(near)[:2], axis=1))]:
        if spots_at(scene, place, float(scene.table.pose[2, 3]), held, gripper, limit=1):
            return np.asarray(place)
    return None
