"""Drawers and lids: gripped by their handle and moved the only way they go, a line or an arc; pushed shut by it; a look tells whether it moved."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import cv2
import numpy as np

from deskhand.arms.gripper import GripperConfig
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, rotation_about, rotation_angle, transform_points
from deskhand.grasping.generator import MIN_WIDTH_ABOVE
from deskhand.perception.handles import Handle, find_handles
from deskhand.skills.base import HALTED, HOME, UNREACHED, SkillContext, SkillError, skill
from deskhand.types import CollisionObject, MotionGoal, Plan, PlanOptions, Scene, SceneObject, SceneUpdate, Shape, SkillResult

log = logging.getLogger(__name__)

PREGRASP = 0.07  # [m] back along the approach
ROOM, OPENING = 0.006, 0.024  # [m] that the fingers are open wider than a handle, at least, and as they come
BEHIND = 0.004  # [m] beside a finger that goes behind a bar
UP = 0.75  # of a lid's handle, at which it is gripped: the lid turns towards the fingers
ALONG = (0.5, 0.25, 0.0)  # of the lid's turn, by which the hand turns as well: all of it brings the wrist behind the lid
TIPS = 0.003  # [m] between the finger tips and the side that the handle is on, or the table
TILTS = np.deg2rad([90.0, 75.0, 60.0, 45.0, 30.0, 0.0])  # of the approach from straight down, towards straight in
SLOW = 0.3  # of the full speed
LEAST = 0.02  # [m] that it must have moved
LONGEST = 0.30  # [m]
WIDE_OPEN = np.deg2rad(100.0)  # of a lid: past upright it stays
ARC = np.deg2rad(10.0)  # between waypoints
OFF_MIDDLE = 0.25  # of half the lid, that its handle is off the middle: it is beside the edge that rises
SHARE = 0.3  # of a handle's points, that must be seen where it has gone to; as many may be left where it was
BESIDE = 0.006  # [m] about a handle in which its points are looked for
NEAR = 0.03  # [m] of the handle: what looks took for an object of its own
SLIPPED = 0.004  # [m] that the fingers may close further
MOST, ALL = 0.4, 0.97  # shares of the way that must be within reach: a drawer may open a little, a lid that is not past upright falls shut
TRIES = 6  # ways to grip that are planned


@dataclass(frozen=True)
class _Grip:
    """A way to grip a handle: ``pose`` world_T_tcp (4, 4), and the handle's extent [m] between the fingers."""

    pose: Array
    width: float

    @property
    def before(self) -> Array:
        """world_T_tcp (4, 4) from where the hand comes straight in."""
        return np.asarray(self.pose @ make_transform(translation=[0, 0, -PREGRASP]))


@skill
def open_drawer(ctx: SkillContext, object_id: str, distance: float = 0.15, near: Array | None = None) -> SkillResult:
    """Pull a drawer of ``object_id`` out by its handle, by ``distance`` [m] or until it stops; ``near`` (3,) [m, world]: which handle; None: the only one.

    ``data``: ``object_id``, ``handle`` (3,) [m, world] where it is now, ``moved`` [m], ``stopped`` (it would go no further), ``times``.
    Codes: ``already_holding``, ``unknown_object``, ``no_handle``, ``invalid_input``, ``no_grasp``, ``grasp_failed``, ``not_moved``, and those of
    motion and safety.
    """
    _check_distance(distance)
    scene, handle = _begin(ctx, object_id, near, "open", on_top=False)
    way = [make_transform(translation=handle.outward * distance)]
    return _by_the_handle(ctx, scene, handle, way, lambda moved: make_transform(translation=handle.outward * moved))


@skill
def open_lid(ctx: SkillContext, object_id: str, near: Array | None = None) -> SkillResult:
    """Lift the hinged lid of ``object_id`` by its handle past upright, where it stays. The hinge is taken to be at the edge opposite to the handle.

    ``data`` and codes as :func:`open_drawer`; ``moved``: of the handle along its arc [m]. ``invalid_input``: the handle is in the middle, as on a lid that is
    taken off.
    """
    scene, handle = _begin(ctx, object_id, near, "open", on_top=True)
    turn = _hinge(scene.get(object_id), handle)
    angles = np.append(np.arange(ARC, WIDE_OPEN, ARC), WIDE_OPEN)
    radius = float(np.linalg.norm(transform_points(turn(np.pi), handle.centre[None])[0] - handle.centre)) / 2
    return _by_the_handle(ctx, scene, handle, [turn(float(angle)) for angle in angles], lambda moved: turn(moved / radius), whole=True)


@skill
def close_drawer(ctx: SkillContext, object_id: str, distance: float = LONGEST, near: Array | None = None) -> SkillResult:
    """Push a drawer in by its handle until it stops, or by ``distance`` [m]. ``near``, ``data`` and codes as :func:`open_drawer`."""
    _check_distance(distance)
    scene, handle = _begin(ctx, object_id, near, "close", on_top=False)
    moved, stopped = _push(ctx, scene, handle, distance)
    return _told(ctx.look(), scene, handle, lambda gone: make_transform(translation=-handle.outward * gone), moved, stopped)


# ---------------------------------------------------------------- which handle


def _check_distance(distance: float) -> None:
    if not (np.isfinite(distance) and LEAST <= distance <= LONGEST):
        raise DeskhandError("invalid_input", f"the distance must be {LEAST:g} to {LONGEST:g} m, got {distance}.")


def _begin(ctx: SkillContext, object_id: str, near: Array | None, verb: str, on_top: bool) -> tuple[Scene, Handle]:
    if ctx.belief.held is not None:
        raise DeskhandError("already_holding", f"the gripper holds {ctx.belief.held.object.id}.", hint="Place it first.")
    ctx.step(0.0, f"{verb} {object_id}")
    scene = ctx.scene()
    item = scene.get(object_id)
    if not len(scene.cloud):
        scene = ctx.look()
        item = scene.get(object_id)
    handles = [handle for handle in find_handles(scene.cloud, item, max(0.0, item.bottom)) if handle.on_top == on_top]
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
    """Until the next look."""
    turn = np.column_stack([handle.outward, handle.along, handle.across])
    return CollisionObject(f"{handle.object_id}_handle_{number}", (Shape("box", tuple(map(float, handle.size))),), make_transform(turn, handle.centre))


def _hinge(item: SceneObject, handle: Handle) -> Callable[[float], Array]:
    """The turn (4, 4) of the lid, by an angle [rad] that opens it."""
    reach = [(float((handle.centre - item.position) @ item.pose[:3, axis]), axis) for axis in range(3) if abs(item.pose[2, axis]) < 0.7]
    off, axis = max(reach, key=lambda each: abs(each[0]) / item.size[each[1]])
    if abs(off) < OFF_MIDDLE * item.size[axis] / 2:
        raise DeskhandError("invalid_input", f"the handle is in the middle of {item.id}: such a lid is taken off, not turned.", hint="Pick the handle.")
    forth = np.sign(off) * item.pose[:3, axis]
    edge = item.position - forth * item.size[axis] / 2
    edge[2] = float(handle.centre[2] - handle.size[0] / 2)
    turning = np.cross(forth, [0.0, 0.0, 1.0])

    def turn(angle: float) -> Array:
        rotation = rotation_about(turning, angle)
        return make_transform(rotation, edge - rotation @ edge)

    return turn


# ---------------------------------------------------------------- gripping and moving


def grips(handle: Handle, gripper: GripperConfig, floor: float, pivot: Array | None = None) -> Iterator[_Grip]:
    """Ways to grip a handle: hands that come from above, straight in, or between, closing over its thinner way first; along ``pivot`` (3,) only, where it has
    to turn between the fingers.
    """
    thick = float(handle.size[2])
    rod = float(handle.size[0]) - handle.gap if handle.gap else float(handle.size[0])
    deep = max(float(handle.size[0]) - rod / 2, gripper.finger_depth + TIPS) if handle.gap else float(handle.size[0]) * (UP if handle.on_top else 0.5)
    down = np.array([0.0, 0.0, -1.0])
    for tilt in (0.0,) if handle.on_top else TILTS:
        approach = np.cos(tilt) * down - (0.0 if handle.on_top else np.sin(tilt)) * handle.outward
        for across, width in _closings(handle, approach, thick, rod, gripper):
            if width > gripper.width_max - ROOM or (pivot is not None and abs(across @ pivot) < 0.9):
                continue
            from_side = max(deep, TIPS + gripper.finger_depth * float(-approach @ handle.outward))
            middle = handle.centre + handle.outward * (from_side - float(handle.size[0]) / 2)
            for sign in (1.0, -1.0):
                turn = np.column_stack([np.cross(sign * across, approach), sign * across, approach])
                pose = make_transform(turn, middle - turn @ gripper.tcp_offset(width))
                lowest = float(pose[2, 3] + gripper.finger_depth * approach[2])
                pose[2, 3] += max(0.0, floor + TIPS - lowest)
                yield _Grip(pose, width)


def _closings(handle: Handle, approach: Array, thick: float, rod: float, gripper: GripperConfig) -> Iterator[tuple[Array, float]]:
    """Unit vectors (3,) along which fingers that come along ``approach`` may close, and how wide [m] the handle is there."""
    for closing, width in ((handle.across, thick), (handle.along, float(handle.size[1]))):
        if abs(closing @ approach) < 0.1:
            yield closing, width
    around = np.cross(approach, handle.along)
    behind = (gripper.finger_thickness + BEHIND) * abs(float(around @ handle.outward))
    if handle.gap > behind > 0.1 * BEHIND and np.linalg.norm(around) > 0.9:  # a rod is as thick from everywhere
        yield around / np.linalg.norm(around), rod


def _by_the_handle(ctx: SkillContext, scene: Scene, handle: Handle, way: Sequence[Array], gone: Callable[[float], Array], whole: bool = False) -> SkillResult:
    """Grip it, go along ``way`` (world transforms (4, 4) of it), let go, look. ``gone``: its transform after so many metres; ``whole``: all the way or none."""
    gripper, allow = ctx.robot.arm.gripper, _touched(scene, handle)
    ctx.step(0.15, f"grip the handle of {handle.object_id}")
    axis = cv2.Rodrigues(way[-1][:3, :3])[0].ravel()
    pivot = axis / np.linalg.norm(axis) if np.linalg.norm(axis) > 1e-6 else None
    candidates = list(grips(handle, gripper, float(scene.table.pose[2, 3]), pivot))
    if not candidates:
        raise DeskhandError("no_grasp", f"the handle of {handle.object_id} is too wide for the fingers, {1000 * handle.size[2]:.0f} mm.")
    ctx.grip(min(gripper.width_max, min(grip.width for grip in candidates) + OPENING))  # no wider: other handles are near
    candidates = [grip for grip in candidates if grip.width <= ctx.width() - ROOM]
    _, above, onto, turns = _planned(ctx, candidates, way, allow, ALL if whole else MOST)
    ctx.execute(above)
    ctx.belief.disturb(pushes=True)
    ctx.execute(onto)
    closed = ctx.grip(gripper.width_min, gripper.force_max)
    if closed.width < gripper.width_min + MIN_WIDTH_ABOVE:
        _back(ctx, allow)
        raise DeskhandError("grasp_failed", f"nothing is between the fingers where the handle of {handle.object_id} should be.")
    ctx.step(0.4, f"move it by its handle ({1000 * closed.width:.0f} mm thick)")
    start = ctx.robot.tcp_pose()
    stopped = _follow(ctx, _waypoints(start, way, turns), allow, lambda: ctx.width() < closed.width - SLIPPED)
    moved = _along(start, ctx.robot.tcp_pose(), way)
    ctx.step(0.7, "let go and look")
    ctx.grip(min(gripper.width_max, closed.width + OPENING))
    _back(ctx, allow)
    return _told(ctx.look(), scene, handle, gone, moved, stopped)


def _planned(
    ctx: SkillContext, candidates: list[_Grip], way: Sequence[Array], allow: tuple[tuple[str, str], ...], share: float
) -> tuple[_Grip, Plan, Plan, float]:
    """The first grip that can be reached and from which ``share`` of the way can be gone; all planned before anything moves."""
    left, last = list(candidates), DeskhandError("no_grasp", "no way to grip the handle could be planned.")
    while left and len(candidates) - len(left) < TRIES:
        above = ctx.plan(MotionGoal(poses=tuple(grip.before for grip in left)))
        chosen = above.goal_index
        try:
            onto = ctx.plan_line((left[chosen].pose,), PlanOptions(start=above.end, speed_scale=SLOW, allow=allow))
            turns = _turns(ctx, left[chosen].pose, way, PlanOptions(start=onto.end, speed_scale=SLOW, allow=allow, min_fraction=share))
            return left[chosen], above, onto, turns
        except DeskhandError as error:
            if error.code not in UNREACHED:
                raise
            last = error
            log.info("not by grip %d: %s: %s", chosen, error.code, error)
            left.pop(chosen)
    raise last


def _turns(ctx: SkillContext, pose: Array, way: Sequence[Array], options: PlanOptions) -> float:
    """By which share of its turn the hand can turn with what it moves; the first of :data:`ALONG` for which there is a path."""
    straight = all(rotation_angle(step, np.eye(3)) < 1e-6 for step in way)
    for share in (0.0,) if straight else ALONG:
        try:
            ctx.plan_line(_waypoints(pose, way, share), options)
            return share
        except DeskhandError as error:
            if error.code not in UNREACHED or straight or share == ALONG[-1]:
                raise
    raise AssertionError("unreachable")


def _waypoints(pose: Array, way: Sequence[Array], turns: float = 0.0) -> tuple[Array, ...]:
    """World_T_tcp (4, 4) along the way; the hand turns by the share ``turns`` of what it holds, which turns between the fingers by the rest."""
    poses = []
    for step in way:
        moved = pose.copy()
        moved[:3, 3] = transform_points(step, pose[:3, 3][None])[0]
        moved[:3, :3] = _part(step[:3, :3], turns) @ pose[:3, :3]
        poses.append(moved)
    return tuple(poses)


def _part(rotation: Array, share: float) -> Array:
    """(3, 3): the same axis, a share of the angle."""
    return np.asarray(cv2.Rodrigues(share * cv2.Rodrigues(rotation)[0])[0])


def _follow(ctx: SkillContext, waypoints: tuple[Array, ...], allow: tuple[tuple[str, str], ...], slipped: Callable[[], bool] = lambda: False) -> bool:
    """Along the way, or as far as it goes; True when it went no further, or slipped out of the fingers, before its end."""
    try:
        plan = ctx.plan_line(waypoints, PlanOptions(speed_scale=SLOW, allow=allow, min_fraction=0.3))
        ctx.execute(plan, slipped)
    except DeskhandError as error:
        if error.code not in HALTED and (error.code != "cancelled" or ctx.cancelled()):
            raise
        log.info("it goes no further: %s: %s", error.code, error)
        return True
    return False


def _along(start: Array, now: Array, way: Sequence[Array]) -> float:
    """How far [m] along the polyline of ``way`` the tcp has come, by the nearest place on it."""
    corners = np.array([start[:3, 3], *(pose[:3, 3] for pose in _waypoints(start, way))])
    fine = np.concatenate([np.linspace(a, b, 50) for a, b in pairwise(corners)])
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(fine, axis=0), axis=1))])
    return float(lengths[int(np.linalg.norm(fine - now[:3, 3], axis=1).argmin())])


def _push(ctx: SkillContext, scene: Scene, handle: Handle, distance: float) -> tuple[float, bool]:
    """With closed fingers against the handle, inwards; how far [m] it went, and whether it stopped by itself."""
    gripper, allow = ctx.robot.arm.gripper, _touched(scene, handle)
    ctx.grip(gripper.width_min)
    pushes = [
        replace(grip, pose=make_transform(translation=handle.outward * _clear(gripper)) @ grip.pose)
        for grip in grips(handle, gripper, float(scene.table.pose[2, 3]))
    ]
    _, above, onto, _ = _planned(ctx, pushes, [make_transform(translation=-handle.outward * LEAST)], allow, MOST)
    ctx.execute(above)
    ctx.belief.disturb(pushes=True)
    ctx.execute(onto)
    ctx.step(0.4, f"push {handle.object_id} shut")
    start = ctx.robot.tcp_pose()
    stopped = _follow(ctx, _waypoints(start, [make_transform(translation=-handle.outward * distance)]), allow)
    moved = max(0.0, float((start[:3, 3] - ctx.robot.tcp_pose()[:3, 3]) @ handle.outward) - _clear(gripper))
    _back(ctx, allow)
    return moved, stopped


def _clear(gripper: GripperConfig) -> float:
    return gripper.finger_breadth / 2 + ROOM


def _back(ctx: SkillContext, allow: tuple[tuple[str, str], ...]) -> None:
    """Out the way the hand came in, or up."""
    now = ctx.robot.tcp_pose()
    up = make_transform(translation=[0, 0, PREGRASP]) @ now
    for out in (now @ make_transform(translation=[0, 0, -PREGRASP]), up):
        try:
            ctx.execute(ctx.plan_line((out,), PlanOptions(allow=allow, speed_scale=2 * SLOW, min_fraction=0.3)))
            return
        except DeskhandError as error:
            if error.code not in UNREACHED:
                raise
            log.info("not out that way: %s: %s", error.code, error)
    ctx.execute(ctx.plan(MotionGoal(named=HOME), PlanOptions(allow=allow)))


def _touched(scene: Scene, handle: Handle) -> tuple[tuple[str, str], ...]:
    """The gripper may touch what the handle is on, and what looks took its parts for."""
    near = [item.id for item in scene.objects if float(np.linalg.norm(item.position - handle.centre)) < NEAR]
    return tuple(("gripper", name) for name in {handle.object_id, *near})


# ---------------------------------------------------------------- what a look says


def _points_of(cloud: Array, handle: Handle, gone: Array) -> int:
    """Points that are seen where the handle would be after ``gone`` (4, 4)."""
    back = transform_points(np.linalg.inv(gone), np.asarray(cloud, dtype=float)) - handle.centre
    axes = np.column_stack([handle.outward, handle.along, handle.across])
    local = np.abs(back @ axes)
    half = np.asarray(handle.size) / 2 + BESIDE
    half[0] = handle.size[0] / 4 + BESIDE  # without the side that it is on
    return int((local - [handle.size[0] / 4, 0.0, 0.0] <= half).all(axis=1).sum())


def _told(after: Scene, before: Scene, handle: Handle, gone: Callable[[float], Array], longest: float, stopped: bool) -> SkillResult:
    """How far the handle has gone by what is seen, ``longest`` [m] at most: it may have slipped; whether it has left its place."""
    name, were = handle.object_id, _points_of(before.cloud, handle, np.eye(4))
    steps = np.arange(0.0, longest + BESIDE, BESIDE)
    seen = [_points_of(after.cloud, handle, gone(float(step))) for step in steps]
    far = seen[int(np.ceil(LEAST / BESIDE)) :]
    if not far or max(far) < SHARE * were or max(far) <= seen[0]:
        there = seen[0] >= SHARE * were
        raise SkillError(
            "not_moved",
            f"the handle of {name} is {'still seen where it was' if there else 'not seen where it may have gone'} (the hand went {1000 * longest:.0f} mm).",
            {"object_id": name, "moved": 0.0, "stopped": stopped},
        )
    best = [step for step, count in zip(steps, seen, strict=True) if step >= LEAST and count > 0.9 * max(far)]
    moved = float(np.mean(best))
    place = transform_points(gone(moved), handle.centre[None])[0]
    data: dict[str, Any] = {"object_id": name, "handle": np.round(place, 4).tolist(), "moved": round(moved, 4), "stopped": stopped}
    return SkillResult("", f"the handle of {name} has gone {1000 * moved:.0f} mm{', and goes no further' if stopped else ''}; it is seen there", data)
