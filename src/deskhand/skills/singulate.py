"""Slide an object out from beside its neighbours, so that the fingers find room at it: two pens side by side leave none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.skills.base import UNREACHED, SkillContext, SkillError, skill
from deskhand.skills.change_detection import disturbed, same_object
from deskhand.skills.push import BEHIND, CLEAR, LONGEST, reach_along, stroke
from deskhand.types import Scene, SceneObject, SkillResult

ROOM = 0.010  # [m] beside the free part, beyond the finger that goes there, and at both ends of it
SPARE = 0.002  # [m] between the fingers and others on the way
TOUCHES = 0.004  # [m] that measured boxes of objects side by side may overlap
COVERED = (1.0, 0.5, 0.3)  # share of the object's width that the fingers push at: all, or beside its neighbour a part
ENOUGH = 0.6  # of the way
LONG = 3.0  # times as long as wide from which an object is turned
TURN = 0.035  # [m] that one end is pushed
TURNED = np.deg2rad(8.0)


@dataclass(frozen=True)
class _Way:
    """``direction`` (3,) in which ``pushed`` shall go by ``distance`` [m]; the fingers push ``aside`` [m] of its middle, to the left of the way."""

    pushed: SceneObject
    direction: Array
    distance: float
    aside: float

    @property
    def left(self) -> Array:
        """Across the way."""
        return np.array([-self.direction[1], self.direction[0], 0.0])


@skill
def separate(ctx: SkillContext, object_id: str) -> SkillResult:
    """Push ``object_id`` along one of its sides out from between what lies beside it, until the fingers fit to a part of it.

    Where that part would lie out of reach, the one object that lies beside it is pushed out instead. Where the arm reaches neither end of a long object, one
    end is pushed against what lies along it, which turns both: that may part them, or bring the ends to where it reaches. Success when a look finds what was
    pushed so far on its way, or turned. ``data``: ``object_id``, ``pushed`` (its id, or that of what lay beside it), ``moved`` [m] and ``turned`` [rad] of
    what was pushed, ``position`` of the object, ``disturbed``, ``times``.
    Codes: ``already_holding``, ``unknown_object``, ``invalid_input``, ``no_free_space`` (no way out), ``place_failed``, ``object_lost``, and those of
    motion and safety.
    """
    if ctx.belief.held is not None:
        raise DeskhandError("already_holding", f"the gripper holds {ctx.belief.held.object.id}.", hint="Place it first.")
    ctx.step(0.0, f"separate {object_id}")
    scene = ctx.scene()
    item = scene.get(object_id)
    if not _lies_flat(item):
        raise DeskhandError("invalid_input", f"{object_id} does not lie flat on the table; only such objects are pushed.")
    beside = neighbours(ctx, scene, item)
    if not beside:
        raise DeskhandError("invalid_input", f"nothing lies close beside {object_id}.", hint="Pick it.")
    ctx.step(0.2, "close the fingers")
    ctx.grip(ctx.robot.arm.gripper.width_min)
    ctx.step(0.35, f"come down at the end of {object_id}")
    way: _Way | None = None
    try:
        way = _push_out(ctx, scene, item, beside)
    except DeskhandError as error:
        if error.code not in UNREACHED or not _turn(ctx, scene, item, beside):
            raise
    ctx.step(0.8, "look how far it went")
    after = ctx.look()
    found = same_object(after, item)
    pushed = way.pushed if way else item
    gone = found if pushed is item else same_object(after, pushed)
    if found is None or gone is None:
        lost = object_id if found is None else pushed.id
        raise SkillError("object_lost", f"{lost} is not seen after the push.", {"object_id": lost})
    moved = float((gone.position - pushed.position) @ way.direction) if way else float(np.linalg.norm((found.position - item.position)[:2]))
    turned = float(np.arccos(min(1.0, abs(float(_lengthwise(gone)[0] @ _lengthwise(pushed)[0])))))
    data: dict[str, object] = {"object_id": found.id, "pushed": gone.id, "moved": round(moved, 4), "turned": round(turned, 3)}
    data |= {"position": [round(float(value), 4) for value in found.position], "disturbed": disturbed(scene, after, (object_id, pushed.id))}
    if way and moved < ENOUGH * way.distance:
        raise SkillError("place_failed", f"{pushed.id} went {1000 * moved:.0f} mm of {1000 * way.distance:.0f} mm.", data)
    if not way and turned < TURNED:
        raise SkillError("place_failed", f"{object_id} was pushed at its end, but turned by {np.degrees(turned):.0f} degrees only.", data)
    done = f"pushed out by {1000 * moved:.0f} mm" if way else f"pushed at its end and turned by {np.degrees(turned):.0f} degrees"
    return SkillResult("", f"{pushed.id} was {done}" + ("" if pushed is item else f"; the end of {object_id} is free"), data)


def neighbours(ctx: SkillContext, scene: Scene, item: SceneObject) -> list[SceneObject]:
    """Objects, and walls of containers, so close beside ``item`` that no finger fits between, or the palm where they are higher than fingers are long."""
    gripper = ctx.robot.arm.gripper
    containers = [other.id for other in scene.objects if other.is_container]
    found = []
    for other in scene.objects:
        if other.id == item.id or other.relation == "held" or (other.relation == "in" and other.support in containers):
            continue
        gaps = [abs(float((other.position - item.position) @ axis)) - reach_along(item, axis) - reach_along(other, axis) for axis in _axes(item)]
        above = other.top > item.bottom + gripper.finger_length
        if max(gaps) < (max(gripper.palm[:2]) / 2 if above else gripper.finger_thickness + ROOM):
            found.append(other)
    return found


def _push_out(ctx: SkillContext, scene: Scene, item: SceneObject, beside: list[SceneObject]) -> _Way:
    """The shortest push that frees a part of it within reach, or that is nearest to reach, and can be planned."""
    gripper = ctx.robot.arm.gripper
    half = max(gripper.finger_thickness + gripper.width_min / 2, gripper.finger_breadth / 2)
    needed = gripper.finger_breadth + 2 * ROOM
    directions = [sign * axis for axis in _axes(item) for sign in (1.0, -1.0)]
    ways = [way for direction in directions for way in _ways(scene, item, _beyond(item, beside, direction, needed), direction, half)]
    alone = beside[0] if len(beside) == 1 and _lies_flat(beside[0]) else None
    if alone is not None:
        ways += [way for direction in directions for way in _ways(scene, alone, _past(item, alone, direction, needed), direction, half)]
    low, high = ctx.robot.arm.work_radius
    base = ctx.robot.arm.world_T_base[:2, 3]

    def off(way: _Way) -> float:
        """[m] that the middle of the part that comes free lies out of reach."""
        end = reach_along(item, way.direction) - gripper.finger_breadth
        free = item.position + ((way.distance + end) if way.pushed is item else -end) * way.direction
        radius = float(np.linalg.norm(free[:2] - base))
        return max(low - radius, radius - high, 0.0)

    near = " and ".join(other.id for other in beside[:3])
    last = DeskhandError("no_free_space", f"{item.id} cannot be pushed out beside {near}: every way out ends at something else.", hint=f"Move {near} first.")
    for way in sorted(ways, key=lambda way: (off(way), way.pushed is not item, way.distance, abs(way.aside))):
        behind = reach_along(way.pushed, way.direction)
        start = way.pushed.position - way.direction * (behind + BEHIND + half) + way.left * way.aside
        end = way.pushed.position + way.direction * (way.distance - behind - half) + way.left * way.aside
        try:
            stroke(ctx, scene, way.pushed, [start], end, way.direction)
            return way
        except DeskhandError as error:
            if error.code not in UNREACHED:
                raise
            last = error
    raise last


def _lies_flat(item: SceneObject) -> bool:
    return not item.is_container and item.support == "table" and item.relation != "leaning"


def _beyond(item: SceneObject, beside: list[SceneObject], direction: Array, needed: float) -> float:
    """How far [m] it goes until ``needed`` [m] of it are beyond what lies beside it."""
    reach = reach_along(item, direction)
    return max(_span(other, item, direction)[1] for other in beside) + min(needed, 2 * reach) - reach


def _past(item: SceneObject, other: SceneObject, direction: Array, needed: float) -> float:
    """How far [m] ``other`` goes until ``needed`` [m] of the item lie behind it."""
    reach = reach_along(item, direction)
    return min(needed, 2 * reach) - reach - _span(other, item, direction)[0]


def _turn(ctx: SkillContext, scene: Scene, item: SceneObject, beside: list[SceneObject]) -> bool:
    """Whether one end of a long object was pushed against what lies along it."""
    gripper = ctx.robot.arm.gripper
    half = max(gripper.finger_thickness + gripper.width_min / 2, gripper.finger_breadth / 2)
    along, across = _lengthwise(item)
    if reach_along(item, along) < LONG * reach_along(item, across):
        return False
    lever = reach_along(item, along) - half
    for other in beside:
        direction = across if (other.position - item.position) @ across > 0 else -across
        side = np.array([-direction[1], direction[0], 0.0])
        thick = reach_along(item, direction)
        for end in (lever, -lever):
            first, last = -thick - BEHIND - 2 * half, thick + TURN + 2 * reach_along(other, direction) + CLEAR
            free = True
            for third in scene.objects:
                if third.id in (item.id, other.id) or third.relation == "held":
                    continue
                low, high = _span(third, item, direction)
                left, right = _span(third, item, side)
                free &= high < first or low > last or right < end - half - CLEAR or left > end + half + CLEAR
            if not free:
                continue
            start = item.position - direction * (thick + BEHIND + half) + side * end
            try:
                stroke(ctx, scene, item, [start], start + direction * (BEHIND + TURN), direction, (other,))
                return True
            except DeskhandError as error:
                if error.code not in UNREACHED:
                    raise
    return False


def _ways(scene: Scene, item: SceneObject, distance: float, direction: Array, half: float) -> list[_Way]:
    """Of pushes by ``distance`` [m] in ``direction`` with fingers ``half`` [m] wide to each side: those that meet nothing else."""
    way = _Way(item, direction, max(distance, 0.01), 0.0)
    behind, across, distance = reach_along(item, direction), reach_along(item, way.left), way.distance
    boxes = [_span(other, item, direction) + _span(other, item, way.left) for other in scene.objects if other.id != item.id and other.relation != "held"]
    ahead = any(
        low > behind - TOUCHES and low < behind + distance + CLEAR and left < across - TOUCHES and right > TOUCHES - across for low, _, left, right in boxes
    )
    if distance > LONGEST or ahead:
        return []
    found = []
    for covered in COVERED:
        for side in (1.0, -1.0):
            aside = side * max(0.0, across + half - 2 * across * covered) if covered < 1.0 else 0.0
            first, last = -behind - BEHIND - 2 * half - SPARE, distance - behind + SPARE
            free = all(high < first or low > last or right < aside - half - SPARE or left > aside + half + SPARE for low, high, left, right in boxes)
            if free:
                found.append(_Way(item, direction, distance, aside))
    return found[:1]


def _axes(item: SceneObject) -> list[Array]:
    """Horizontal directions (3,) along its sides."""
    level = [axis * [1.0, 1.0, 0.0] for axis in np.asarray(item.pose[:3, :3]).T]
    first = max(level, key=lambda axis: float(np.linalg.norm(axis)))
    first = first / np.linalg.norm(first)
    return [first, np.array([-first[1], first[0], 0.0])]


def _lengthwise(item: SceneObject) -> list[Array]:
    """The same, the one along its length first."""
    return sorted(_axes(item), key=lambda axis: -reach_along(item, axis))


def _span(other: SceneObject, item: SceneObject, axis: Array) -> tuple[float, float]:
    """From where to where [m] along ``axis``, as seen from the middle of ``item``."""
    middle, reach = float((other.position - item.position) @ axis), reach_along(other, axis)
    return middle - reach, middle + reach
