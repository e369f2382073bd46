"""Put what is held down beside another object, or aside, where there is room: the places are found by what is seen and what the arm reaches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.skills.base import SkillContext, SkillError, skill
from deskhand.skills.belief import Held
from deskhand.skills.carry import ready
from deskhand.skills.placement_sampling import spots_at, spots_for_pose
from deskhand.skills.push import reach_along
from deskhand.skills.put import Target, put_down
from deskhand.skills.reach import lean_axis, reached
from deskhand.skills.why import distance_from, in_the_way, joined
from deskhand.types import Scene, SceneObject, SkillResult
from deskhand.world.level import level
from deskhand.world.relations import DIRECTIONS, LEAST_OFFSET

ALONG = (0.0, 0.012, 0.024)  # [m] farther off, where the very place is taken or out of reach
ACROSS = (0.0, 0.012, -0.012, 0.024, -0.024)  # [m] to the side of it
GRID = 0.03  # [m] between places aside
AMPLE = 0.06  # [m] of room beyond which more is no better
EDGE = 0.05  # [m] of the table that stays free
TRIED = 12  # places that the arm is asked for


@skill
def place_beside(ctx: SkillContext, target_id: str, side: str = "near", gap: float = 0.02) -> SkillResult:
    """Put the held object down on the table ``left_of``, ``right_of``, ``behind`` or ``in_front_of`` another object (``near``: any of these), ``gap`` [m] off.

    Sides go along sides where both have some. Where the very place is taken or out of reach it is up to 24 mm farther off or to the side.
    ``data``: as of place_at, and ``side``, ``gap`` [m] as seen from above, ``yaw`` [rad] or None. Codes: ``not_holding``, ``object_lost``,
    ``unknown_object``, ``invalid_input``, ``no_free_space``, ``place_failed`` and those of motion and safety.
    """
    held, scene = ready(ctx, f"place it {side.replace('_', ' ')} {target_id}")
    if side not in (*DIRECTIONS, "near") or not 0.0 <= gap <= 0.2:
        raise DeskhandError("invalid_input", f"side must be one of {', '.join((*DIRECTIONS, 'near'))} and gap 0 to 0.2 m, got {side!r} and {gap}.")
    target = scene.get(target_id)
    if target.id == held.object.id:
        raise DeskhandError("invalid_input", f"{target_id} is what the gripper holds.")
    lies = level(target.pose, target.size)
    yaw = lies.yaw if held.object.shape == target.shape == "box" and lies.straight else None
    with ctx.timed("planning"):
        found = _beside(ctx, held, scene, target, [side] if side in DIRECTIONS else list(DIRECTIONS), gap, yaw)
    if found is None:
        raise _no_room_beside(ctx, held, scene, target, side, gap, yaw)
    chosen, place = found
    result = put_down(ctx, held, scene, Target(place, yaw, float(scene.table.pose[2, 3]), (), f"{chosen.replace('_', ' ')} {target_id}"))
    way = _way(chosen)
    off = np.append(np.asarray(result.data["position"])[:2] - target.position[:2], 0.0)
    along, across = float(off @ way), float(abs(off @ [-way[1], way[0], 0.0]))
    data = {**result.data, "side": chosen, "gap": round(along - reach_along(target, way) - _half_held(held, way, yaw), 4), "yaw": yaw}
    if along < LEAST_OFFSET or across > along:
        raise SkillError("place_failed", f"{held.object.id} does not stand {chosen.replace('_', ' ')} {target_id}.", data)
    return SkillResult("", f"{held.object.id} stands {chosen.replace('_', ' ')} {target_id}, {1000 * data['gap']:.0f} mm off it", data)


@skill
def put_aside(ctx: SkillContext, keep_clear: Sequence[tuple[float, float]] = ()) -> SkillResult:
    """Put the held object down on the table where there is room within reach, away from places (x, y) [m] to ``keep_clear``. As place_at."""
    held, scene = ready(ctx, "put it aside")
    height = float(scene.table.pose[2, 3])
    with ctx.timed("planning"):
        for place in free_places(ctx.belief.everything(), held, ctx.robot.arm.world_T_base[:2, 3], ctx.robot.arm.work_radius, keep_clear)[:TRIED]:
            spots = spots_at(ctx.belief.everything(), place, height, held, ctx.robot.arm.gripper, axis=lean_axis(ctx))
            if reached(ctx, spots):
                break
        else:
            raise _no_room_aside(ctx, held, keep_clear)
    return put_down(ctx, held, scene, Target(place, None, height, (), f"({place[0]:.3f}, {place[1]:.3f})"))


def free_places(scene: Scene, held: Held, base: Array, reach: tuple[float, float], keep_clear: Sequence[tuple[float, float]] = ()) -> list[Array]:
    """Places (x, y) on the table for what is held, best first: with room around them, at a comfortable reach. ``base`` (x, y) and ``reach`` [m] of the arm."""
    places, room, score = _with_room(scene, held, base, reach, keep_clear)
    return [places[index] for index in np.argsort(-score, kind="stable") if room[index] > 0]


def _with_room(scene: Scene, held: Held, base: Array, reach: tuple[float, float], keep_clear: Sequence[tuple[float, float]]) -> tuple[Array, Array, Array]:
    """Places (N, 2) on the table within reach, the room (N,) [m] that what is held would have around it there, and how good each is."""
    most = reach[1]
    span = np.arange(-most, most + 1e-9, GRID)
    places = np.asarray(base) + np.column_stack([axis.ravel() for axis in np.meshgrid(span, span)])
    radius = np.linalg.norm(places - base, axis=1)
    half = np.asarray(scene.table.size) / 2 - EDGE
    on_table = np.all(np.abs(places - scene.table.pose[:2, 3]) < half, axis=1)
    keep = on_table & (radius > reach[0]) & (radius < most) & (places[:, 0] > base[0])
    places, radius = places[keep], radius[keep]
    room = np.full(len(places), AMPLE + 1.0)
    for item in scene.objects:
        if item.relation != "held" and item.id != held.object.id:
            room = np.minimum(room, distance_from(places, item))
    for x, y in keep_clear:
        room = np.minimum(room, np.hypot(places[:, 0] - x, places[:, 1] - y) - GRID)
    room -= float(np.hypot(*np.sort(held.object.size)[1:])) / 2
    score = np.minimum(room, AMPLE) - 0.1 * np.abs(radius - (reach[0] + most) / 2)
    return places, room, score


def _no_room_beside(ctx: SkillContext, held: Held, scene: Scene, target: SceneObject, side: str, gap: float, yaw: float | None) -> DeskhandError:
    """What stands on that side, and which other side is free."""
    way = _way(side) if side in DIRECTIONS else np.zeros(3)
    off = reach_along(target, way) + gap + _half_held(held, way, yaw) if side in DIRECTIONS else 0.0
    place = (target.position + off * way)[:2]
    others = [other for other in DIRECTIONS if other != side] if side in DIRECTIONS else []
    found = _beside(ctx, held, scene, target, others, gap, yaw)
    elsewhere = f"{found[0].replace('_', ' ')} it there is room" if found else "no other side has room either" if others else ""
    why = joined(in_the_way(ctx.belief.everything(), place, held.object, (target.id,)) if others else "", elsewhere)
    text = f"there is no free place within reach {side.replace('_', ' ')} {target.id}" + (f": {why}" if why else "")
    return DeskhandError("no_free_space", f"{text}.", hint="Choose another side, or make room first.")


def _no_room_aside(ctx: SkillContext, held: Held, keep_clear: Sequence[tuple[float, float]]) -> DeskhandError:
    """How much the best place lacks, and what stands there."""
    scene, arm = ctx.belief.everything(), ctx.robot.arm
    places, room, _ = _with_room(scene, held, arm.world_T_base[:2, 3], arm.work_radius, keep_clear)
    text = f"there is no free place on the desk within reach for {held.object.id}"
    if not len(room):
        return DeskhandError("no_free_space", f"{text}: no part of the desk that is seen is within reach.")
    best = int(np.argmax(room))
    at = f"the most room is at ({places[best][0]:.3f}, {places[best][1]:.3f})"
    lacks = f"{at}, where {1000 * -room[best]:.0f} mm are missing" if room[best] <= 0 else f"{at}, and the arm cannot let it down there"
    return DeskhandError("no_free_space", f"{text}: {joined(lacks, in_the_way(scene, places[best], held.object))}.", hint="Move something off the desk first.")


def _beside(ctx: SkillContext, held: Held, scene: Scene, target: SceneObject, sides: Sequence[str], gap: float, yaw: float | None) -> tuple[str, Array] | None:
    """The first side and place that is free and within reach, the very place first."""
    everything, gripper, height = ctx.belief.everything(), ctx.robot.arm.gripper, float(scene.table.pose[2, 3])
    half = np.asarray(scene.table.size) / 2
    for along in ALONG:
        for across in ACROSS:
            for side in sides:
                way = _way(side)
                off = reach_along(target, way) + gap + along + _half_held(held, way, yaw)
                place = (target.position + off * way + across * np.array([-way[1], way[0], 0.0]))[:2]
                if (np.abs(place - scene.table.pose[:2, 3]) > half).any():
                    continue
                if yaw is None:
                    spots = spots_at(everything, place, height, held, gripper, axis=lean_axis(ctx))
                else:
                    spots = spots_for_pose(everything, place, yaw, height, held, gripper)
                if reached(ctx, spots):
                    return side, place
    return None


def _way(side: str) -> Array:
    return np.array([*DIRECTIONS[side], 0.0])


def _half_held(held: Held, way: Array, yaw: float | None) -> float:
    """Half extent [m] along a direction (3,) of what is held once it stands: its longer side along ``yaw``, or however it may be turned."""
    up = int(np.argmax(np.abs(held.object.pose[2, :3])))
    long, short = sorted((float(size) for axis, size in enumerate(held.object.size) if axis != up), reverse=True)
    if yaw is None:
        return long / 2
    return float(np.abs([np.cos(yaw) * way[0] + np.sin(yaw) * way[1], np.cos(yaw) * way[1] - np.sin(yaw) * way[0]]) @ [long, short]) / 2
