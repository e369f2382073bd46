"""Drawers, lids and knobs: gripped by their handle and moved the only way they go, a line or an arc; a look tells how far they have gone."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, rotation_about
from deskhand.perception.handles import Handle, handles_in
from deskhand.skills.base import HALTED, SkillContext, skill
from deskhand.skills.handle_moves import ALL, LITTLE, MOST, NEAR, Way, apart_from, move_by_handle, moved_text
from deskhand.types import CollisionObject, Scene, SceneObject, SceneUpdate, Shape, SkillResult

log = logging.getLogger(__name__)

LONGEST = 0.30  # [m]
UPRIGHT = np.deg2rad(80.0)  # of a lid, from which on it is seen to be open; looks err
WIDE_OPEN = np.deg2rad(100.0)  # of a lid: past upright it stays
FALLS = np.deg2rad(80.0)  # by which it may fall on from there
ARC = np.deg2rad(10.0)  # between waypoints
ALONG = (0.5, 0.25, 0.0)  # of a lid's turn, by which the hand turns as well: all of it brings the wrist behind the lid
OFF_MIDDLE = 0.25  # of half the lid, that its handle is off the middle: it is beside the edge that rises
GROWN = 0.02  # [m] that a case is longer with its drawer shut than it seemed behind an open one: by the front
PUSHES = 3  # of a drawer that is farther open than the arm can go with one grip


@skill
def open_drawer(ctx: SkillContext, object_id: str, distance: float = 0.15, near: Array | None = None) -> SkillResult:
    """Pull a drawer of ``object_id`` out by its handle, by ``distance`` [m] or until it stops; ``near`` (3,) [m, world]: which handle; None: the only one.

    ``data``: ``object_id``, ``handle`` (3,) [m, world] where it is now, ``moved`` [m] as a look tells, ``stopped`` (it would go no further, or slipped),
    ``times``.
    Codes: ``already_holding``, ``unknown_object``, ``no_handle``, ``invalid_input``, ``no_grasp``, ``grasp_failed``, ``not_moved``, and those of
    motion and safety.
    """
    return _slide(ctx, "open", object_id, distance, near, 1.0)


@skill
def close_drawer(ctx: SkillContext, object_id: str, distance: float = LONGEST, near: Array | None = None) -> SkillResult:
    """Push a drawer in, held by its handle, until it stops, or by ``distance`` [m]. ``near``, ``data`` and codes as :func:`open_drawer`."""
    before = ctx.scene()
    result = _slide(ctx, "close", object_id, distance, near, -1.0)
    for _ in range(PUSHES - 1):  # the arm may reach a part of the way with one grip
        left = distance - float(result.data["moved"])
        if result.data["stopped"] or left < NEAR or ctx.belief.scene is None:
            break
        handle = np.asarray(result.data["handle"], dtype=float)
        try:
            more = _slide(ctx, "close", _with_handle(ctx.belief.scene, object_id, handle), left, handle, -1.0)
        except DeskhandError as error:
            log.info("no further: %s: %s", error.code, error)
            break
        data = {**more.data, "object_id": object_id, "moved": round(float(result.data["moved"]) + float(more.data["moved"]), 4)}
        result = SkillResult("", moved_text(object_id, data["moved"], "m", bool(data["stopped"])), data)
    _note_shut(ctx, before, object_id, np.asarray(result.data["handle"], dtype=float), bool(result.data["stopped"]))
    return result


def _note_shut(ctx: SkillContext, before: Scene, object_id: str, handle: Array, stopped: bool) -> None:
    """An open drawer that is not seen any more since it was pushed is in what its handle is on now, where it went no further, or that is no longer than before:
    a drawer that stands a little open seems to be a part of its case.
    """
    after = ctx.belief.scene
    if after is None or any(item.id == object_id for item in after.objects) or not any(item.id == object_id and item.is_container for item in before.objects):
        return
    bodies = [item for item in after.objects if apart_from(item, handle) < NEAR and not item.is_container]
    if not bodies:
        return
    body = max(bodies, key=lambda item: float(np.prod(item.size)))
    was = next((item for item in before.objects if item.id == body.id), None)
    if stopped or (was is not None and float((np.sort(body.size[:2]) - np.sort(was.size[:2])).max()) < GROWN):
        ctx.belief.shut[object_id] = body.id


def _slide(ctx: SkillContext, verb: str, object_id: str, distance: float, near: Array | None, sign: float) -> SkillResult:
    if not (np.isfinite(distance) and 0.02 <= distance <= LONGEST):
        raise DeskhandError("invalid_input", f"the distance must be 0.02 to {LONGEST:g} m, got {distance}.")

    def way_of(scene: Scene, handle: Handle) -> Way:
        return Way(lambda amount: make_transform(translation=sign * amount * handle.outward), (distance,), within_reach=MOST if sign > 0 else LITTLE)

    return _from_new_looks(ctx, verb, object_id, near, False, way_of, "m")


@skill
def open_lid(ctx: SkillContext, object_id: str, near: Array | None = None) -> SkillResult:
    """Lift the hinged lid of ``object_id`` by its handle past upright, where it stays. The hinge is taken to be at the edge opposite to the handle.

    ``data`` and codes as :func:`open_drawer`; ``moved``: of the handle along its arc [m]. ``invalid_input``: the handle is in the middle, as on a lid that is
    taken off.
    """
    scene, handle = _begin(ctx, "open", object_id, near, on_top=True)
    edge, turning = _hinge(scene.get(object_id), handle)
    radius = float(np.linalg.norm(np.cross(handle.centre - edge, turning)))

    def at(amount: float) -> Array:
        rotation = rotation_about(turning, amount / radius)
        return make_transform(rotation, edge - rotation @ edge)

    amounts = radius * np.append(np.arange(ARC, WIDE_OPEN, ARC), WIDE_OPEN)
    return move_by_handle(
        ctx,
        scene,
        handle,
        Way(at, tuple(map(float, amounts)), least=radius * UPRIGHT, beyond=radius * FALLS, within_reach=ALL, hand=ALONG, pivot=turning),
        "m",
    )


@skill
def turn_knob(ctx: SkillContext, object_id: str, angle: float, near: Array | None = None) -> SkillResult:
    """Turn a knob on top of ``object_id`` by ``angle`` [rad], turning left from above where it is positive; ``near`` as :func:`open_drawer`.

    ``data`` and codes as :func:`open_drawer`; ``moved`` [rad].
    """
    if not (np.isfinite(angle) and 0.2 <= abs(angle) <= np.pi):
        raise DeskhandError("invalid_input", f"the angle must be 0.2 to 3.1 rad either way, got {angle}.")
    scene, handle = _begin(ctx, "turn", object_id, near, on_top=True)
    sign = float(np.sign(angle))

    def at(amount: float) -> Array:
        rotation = rotation_about([0.0, 0.0, 1.0], sign * amount)
        return make_transform(rotation, handle.centre - rotation @ handle.centre)

    amounts = (*np.arange(2 * ARC, abs(angle), 2 * ARC), abs(angle))
    return move_by_handle(ctx, scene, handle, Way(at, tuple(map(float, amounts)), least=0.2, step=0.1, hand=(1.0,)), "rad")


def _from_new_looks(
    ctx: SkillContext, verb: str, object_id: str, near: Array | None, on_top: bool, way_of: Callable[[Scene, Handle], Way], unit: str
) -> SkillResult:
    """Grip and move a handle; from a new look once more where the hand met something on the way to it, closed on nothing, or
    what should open has not moved.
    """
    scene, handle = _begin(ctx, verb, object_id, near, on_top)
    try:
        return move_by_handle(ctx, scene, handle, way_of(scene, handle), unit)
    except DeskhandError as error:
        if error.code not in HALTED | {"grasp_failed"} | ({"not_moved"} if verb == "open" else set()):
            raise
        log.info("%s once more: %s: %s", verb, error.code, error)
    scene = ctx.look()
    scene, handle = _begin(ctx, verb, _with_handle(scene, object_id, handle.centre), handle.centre, on_top)
    return move_by_handle(ctx, scene, handle, way_of(scene, handle), unit)


def _with_handle(scene: Scene, object_id: str, place: Array) -> str:
    """The id of what a handle at ``place`` (3,) is on, by a new look: the nearest, of what has one."""
    found = [(float(np.linalg.norm(other.centre - place)), item.id) for item in scene.objects for other in handles_in(scene, item)]
    return min(found, default=(0.0, object_id))[1]


# ---------------------------------------------------------------- which handle


def _begin(ctx: SkillContext, verb: str, object_id: str, near: Array | None, on_top: bool) -> tuple[Scene, Handle]:
    """The last look, and the handle; the planner is told of the others, until the next look."""
    if ctx.belief.held is not None:
        raise DeskhandError("already_holding", f"the gripper holds {ctx.belief.held.object.id}.", hint="Place it first.")
    ctx.step(0.0, f"{verb} {object_id}")
    scene = ctx.scene()
    if not len(scene.cloud):
        scene = ctx.look()
    item = scene.get(object_id)
    handles = [handle for handle in handles_in(scene, item) if handle.on_top == on_top]
    if not handles:
        raise DeskhandError("no_handle", f"no handle is seen on {'top' if on_top else 'a side'} of {object_id}.", hint="Look from another side.")
    if near is None and len(handles) > 1:
        places = "; ".join(str(np.round(handle.centre, 3).tolist()) for handle in handles)
        raise DeskhandError("invalid_input", f"{object_id} has {len(handles)} handles, at {places}.", hint="Say which one.")
    chosen = handles[0] if near is None else min(handles, key=lambda handle: float(np.linalg.norm(handle.centre - near)))
    with ctx.timed("planning"):
        ctx.robot.update_scene(SceneUpdate(add=tuple(_obstacle(number, handle) for number, handle in enumerate(handles) if handle is not chosen)))
    return scene, chosen


def _obstacle(number: int, handle: Handle) -> CollisionObject:
    turn = np.column_stack([handle.outward, handle.along, handle.across])
    return CollisionObject(f"{handle.object_id}_handle_{number}", (Shape("box", tuple(map(float, handle.size))),), make_transform(turn, handle.centre))


def _hinge(item: SceneObject, handle: Handle) -> tuple[Array, Array]:
    """A point (3,) [m] of the hinge, and its axis (3,), about which the lid turns left as it opens."""
    off, axis = max(
        ((float((handle.centre - item.position) @ item.pose[:3, axis]), axis) for axis in range(3) if abs(item.pose[2, axis]) < 0.7),
        key=lambda each: abs(each[0]) / item.size[each[1]],
    )
    if abs(off) < OFF_MIDDLE * item.size[axis] / 2:
        raise DeskhandError("invalid_input", f"the handle is in the middle of {item.id}: such a lid is taken off, not turned.", hint="Pick the handle.")
    forth = np.sign(off) * item.pose[:3, axis]
    edge = item.position - forth * item.size[axis] / 2
    edge[2] = float(handle.centre[2] - handle.size[0] / 2)
    return edge, np.cross(forth, [0.0, 0.0, 1.0])
