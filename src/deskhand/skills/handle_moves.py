"""Handles are gripped and moved the only way they go, a line or an arc; a look tells how far they have gone."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, rotation_angle, transform_points
from deskhand.grasping.generator import MIN_WIDTH_ABOVE
from deskhand.perception.handles import Handle
from deskhand.skills.base import HALTED, HOME, UNREACHED, SkillContext, SkillError
from deskhand.skills.handle_grips import PREGRASP, ROOM, SHORT, HandleGrip, handle_grips
from deskhand.types import MotionGoal, Plan, PlanOptions, Scene, SceneObject, SkillResult

log = logging.getLogger(__name__)

OPENING = 0.024  # [m] that the fingers are open wider than a handle as they come: no more, other handles are near
SLOW = 0.3  # of the full speed
BESIDE = 0.006  # [m] up to which what is seen is near where a point of the handle should be
LEFT = 0.1  # of that, in the mean over its points, by which its old place must be farther from all that is seen
FEWEST, SHARE = 8, 0.3  # points that must be seen where it has gone to, and of those that were
CLOSE = 0.003  # [m] about a handle in which points are its own
NEAR = 0.03  # [m] of the handle: what looks took for an object of its own
SLIPPED = 0.004  # [m] that the fingers may close further
OUT = 0.3  # of the way back out that must be free
TRIES = 30  # ways to grip that are planned
ARM = 0.1  # [m] by which an angle [rad] counts as much as a distance
LITTLE, MOST, ALL = 0.1, 0.4, 0.97  # of the way must be within reach: nobody knows how far to shut; a lid that is not past upright falls shut


@dataclass(frozen=True)
class Way:
    """How a handle goes.

    Attributes:
        at: its world transform (4, 4) after an amount: [m], or [rad] of a knob.
        amounts: of the waypoints; the last is all of it.
        least: what it must move by to have moved, and ``step`` in which looks tell how far.
        beyond: how much further it may go by itself.
        within_reach: share of the way that must be.
        hand: shares of its turn by which the hand may turn as well.
        pivot: (3,) axis about which it turns between the fingers; None: it does not.
    """

    at: Callable[[float], Array]
    amounts: tuple[float, ...]
    least: float = 0.02
    step: float = BESIDE
    beyond: float = 0.0
    within_reach: float = MOST
    hand: tuple[float, ...] = (0.0,)
    pivot: Array | None = None

    def waypoints(self, pose: Array, share: float) -> tuple[Array, ...]:
        """World_T_tcp (4, 4) of a hand at ``pose`` that turns by ``share`` of what it holds."""
        return tuple(self.after(amount, pose, share) for amount in self.amounts)

    def after(self, amount: float, pose: Array, share: float) -> Array:
        """World_T_tcp (4, 4) of that hand after an amount."""
        step = self.at(amount)
        turned = cv2.Rodrigues(share * cv2.Rodrigues(step[:3, :3])[0])[0]
        return make_transform(turned @ pose[:3, :3], transform_points(step, pose[:3, 3][None])[0])

    def gone(self, start: Array, now: Array, share: float) -> float:
        """The amount by which a hand has gone that began at ``start``: of the nearest place on the way."""
        fine = np.linspace(0.0, self.amounts[-1], 200)
        poses = [self.after(float(amount), start, share) for amount in fine]
        return float(fine[int(np.argmin([np.linalg.norm(pose[:3, 3] - now[:3, 3]) + ARM * rotation_angle(pose, now) for pose in poses]))])


def move_by_handle(ctx: SkillContext, scene: Scene, handle: Handle, way: Way, unit: str) -> SkillResult:
    """Grip it, go along the way, let go, look."""
    gripper, allow = ctx.robot.arm.gripper, _touched(scene, handle, way)
    ctx.step(0.15, f"grip the handle of {handle.object_id}")
    grips = handle_grips(handle, gripper, float(scene.table.pose[2, 3]), way.pivot)
    if not grips:
        raise DeskhandError("no_grasp", f"the handle of {handle.object_id} is too wide for the fingers: {1000 * handle.size[2]:.0f} mm.")
    ctx.grip(min(gripper.width_max, min(grip.width for grip in grips) + OPENING))
    above, onto, share = _planned(ctx, [grip for grip in grips if grip.width <= ctx.width() - ROOM], way, allow)
    ctx.execute(above)
    ctx.belief.disturb(pushes=True)
    try:
        ctx.execute(onto)
    except DeskhandError as error:
        if error.code in HALTED:
            back_out(ctx, allow)
        raise
    closed = ctx.grip(gripper.width_min).width
    if closed < gripper.width_min + MIN_WIDTH_ABOVE:
        back_out(ctx, allow)
        raise DeskhandError("grasp_failed", f"nothing is between the fingers where the handle of {handle.object_id} should be.")
    ctx.step(0.4, f"move it by its handle ({1000 * closed:.0f} mm thick)")
    start = ctx.robot.tcp_pose()
    stopped = _follow(ctx, way.waypoints(start, share), allow, lambda: ctx.width() < closed - SLIPPED)
    gone = way.gone(start, ctx.robot.tcp_pose(), share)
    ctx.step(0.7, "let go and look")
    ctx.grip(min(gripper.width_max, closed + OPENING))
    try:
        back_out(ctx, allow)
    except DeskhandError as error:
        if error.code not in HALTED:
            raise
        log.info("not all the way back: %s: %s", error.code, error)  # it has moved all the same, as the look may tell
    return _told(ctx.look(), scene, handle, way, gone, stopped, unit)


def _planned(ctx: SkillContext, grips: list[HandleGrip], way: Way, allow: tuple[tuple[str, str], ...]) -> tuple[Plan, Plan, float]:
    """To before the first grip that can be reached and from which enough of the way can be gone, on to it, and by which share of its turn the hand turns; all
    is planned before anything moves.
    """
    try:
        return _planned_from(ctx, grips, way, allow, PREGRASP)
    except DeskhandError as error:
        unreached(error, "its usual start")
    return _planned_from(ctx, grips, way, allow, SHORT)


def _planned_from(ctx: SkillContext, grips: list[HandleGrip], way: Way, allow: tuple[tuple[str, str], ...], back: float) -> tuple[Plan, Plan, float]:
    """The same, from ``back`` [m] before a grip."""
    left, last = list(grips), DeskhandError("planning_failed", "no way to grip the handle could be planned.")
    while left and len(grips) - len(left) < TRIES:
        above = ctx.plan(MotionGoal(poses=tuple(grip.before(back) for grip in left)))
        grip = left.pop(above.goal_index)
        try:
            onto = ctx.plan_line((grip.pose,), PlanOptions(start=above.end, speed_scale=SLOW, allow=allow))
        except DeskhandError as error:
            last = unreached(error, "a grip")
            continue
        for share in way.hand:
            try:
                poses = way.waypoints(grip.pose, share)
                there = ctx.plan_line(poses, PlanOptions(start=onto.end, speed_scale=SLOW, allow=allow, min_fraction=way.within_reach))
                if way.pivot is not None:  # back by any other way the hand takes the lid along
                    ctx.plan_line((_out(poses[-1]),), PlanOptions(start=there.end, allow=allow, min_fraction=OUT))
                return above, onto, share
            except DeskhandError as error:
                last = unreached(error, "the way from a grip")
    raise last


def unreached(error: DeskhandError, what: str) -> DeskhandError:
    """The error, where another grip may do; else it is raised."""
    if error.code not in UNREACHED:
        raise error
    log.info("not by %s: %s: %s", what, error.code, error)
    return error


def _follow(ctx: SkillContext, waypoints: tuple[Array, ...], allow: tuple[tuple[str, str], ...], slipped: Callable[[], bool]) -> bool:
    """Along the way, or as far as it goes; True when it went no further, or slipped out of the fingers, before its end."""
    try:
        ctx.execute(ctx.plan_line(waypoints, PlanOptions(speed_scale=SLOW, allow=allow, min_fraction=LITTLE)), slipped)
    except DeskhandError as error:
        if error.code not in HALTED and (error.code != "cancelled" or ctx.cancelled()):
            raise
        log.info("it goes no further: %s: %s", error.code, error)
        return True
    return False


def back_out(ctx: SkillContext, allow: tuple[tuple[str, str], ...]) -> None:
    """Out the way the hand came in, or up."""
    now = ctx.robot.tcp_pose()
    for out in (_out(now), make_transform(translation=[0, 0, PREGRASP]) @ now):
        try:
            ctx.execute(ctx.plan_line((out,), PlanOptions(allow=allow, speed_scale=2 * SLOW, min_fraction=OUT)))
            return
        except DeskhandError as error:
            unreached(error, "straight out")
    ctx.execute(ctx.plan(MotionGoal(named=HOME), PlanOptions(allow=allow)))


def _out(pose: Array) -> Array:
    """World_T_tcp (4, 4) back along the approach."""
    return np.asarray(pose @ make_transform(translation=[0, 0, -PREGRASP]))


def _touched(scene: Scene, handle: Handle, way: Way) -> tuple[tuple[str, str], ...]:
    """The gripper may touch what the handle is on, and what looks took for objects of their own that are parts of it: at the handle and within its box, or as
    high, where the handle goes straight into them: the case of a drawer that stands open.
    """
    body = scene.get(handle.object_id)
    ends = [transform_points(way.at(amount), handle.centre[None])[0] for amount in np.linspace(0.0, way.amounts[-1], 20)]
    into = [end for end in ends if float((end - handle.centre) @ handle.outward) < 0] if way.pivot is None else []
    parts = [item.id for item in scene.objects if apart_from(item, handle.centre) < NEAR and apart_from(body, item.position) < NEAR]
    parts += [item.id for item in scene.objects if item.top > handle.centre[2] and any(apart_from(item, end) < NEAR for end in into)]
    return tuple(("gripper", name) for name in {handle.object_id, *parts})


def apart_from(item: SceneObject, place: Array) -> float:
    """Distance [m] of a place (3,) from an object's box."""
    local = np.abs(item.pose[:3, :3].T @ (place - item.position)) - np.asarray(item.size, dtype=float) / 2
    return float(np.linalg.norm(np.maximum(local, 0.0)))


# ---------------------------------------------------------------- what a look says


def _told(after: Scene, before: Scene, handle: Handle, way: Way, longest: float, stopped: bool, unit: str) -> SkillResult:
    """By which amount the handle has gone as is seen, less than the hand where it slipped; whether it has left its place."""
    name, points = handle.object_id, _within(before.cloud, handle, np.eye(4))
    tree = cKDTree(np.asarray(after.cloud, dtype=float) if len(after.cloud) else np.full((1, 3), np.inf))
    steps = np.arange(0.0, longest + way.step + way.beyond, way.step / 4)
    apart = np.array([np.minimum(tree.query(transform_points(way.at(float(step)), points))[0], BESIDE).mean() for step in steps])
    there = np.array([len(_within(after.cloud, handle, way.at(float(step)))) for step in steps])
    gone = (steps >= way.least) & (there >= max(FEWEST, SHARE * len(points)))
    best = int(np.where(gone, apart, np.inf).argmin())
    if not gone[best] or apart[0] < apart[best] + LEFT * BESIDE:
        where = "still seen where it was" if there[0] >= SHARE * len(points) else "not seen where it may have gone"
        data: dict[str, Any] = {"object_id": name, "moved": 0.0, "stopped": stopped}
        raise SkillError("not_moved", f"the handle of {name} is {where} (the hand went {longest:.3g} {unit}).", data)
    moved = float(steps[best])
    place = transform_points(way.at(moved), handle.centre[None])[0]
    data = {"object_id": name, "handle": np.round(place, 4).tolist(), "moved": round(moved, 4), "stopped": stopped}
    return SkillResult("", moved_text(name, moved, unit, stopped), data)


def moved_text(name: str, moved: float, unit: str, stopped: bool) -> str:
    """What is said of a handle that is seen to have gone."""
    return f"the handle of {name} has gone {moved:.2g} {unit}{', and goes no further' if stopped else ''}; it is seen there"


def _within(cloud: npt.NDArray[np.float32], handle: Handle, gone: Array) -> Array:
    """Points (N, 3) that are seen where the outer half of the handle would be after ``gone`` (4, 4)."""
    points = np.asarray(cloud, dtype=float)
    turn = gone[:3, :3] @ np.column_stack([handle.outward, handle.along, handle.across])
    local = (points - transform_points(gone, handle.centre[None])[0]) @ turn - [handle.size[0] / 4, 0.0, 0.0]
    return np.asarray(points[(np.abs(local) <= np.asarray(handle.size) / [4, 2, 2] + CLOSE).all(axis=1)])
