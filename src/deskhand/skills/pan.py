"""Put what is held down on a pan of a balance, seen where it stands; verified by a look: it lies over that pan."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.perception.balance import Balance, Pan, find_balance, follow
from deskhand.perception.fit.pose_verification import evidence_for
from deskhand.skills.base import SkillContext, SkillError, skill
from deskhand.skills.belief import Held
from deskhand.skills.carry import ready
from deskhand.skills.on_pans import is_piece, standing_on
from deskhand.skills.placement_sampling import spots_at, spots_for_pose
from deskhand.skills.presence import levelled
from deskhand.skills.put import Target, put_down
from deskhand.skills.reach import lean_axis, reached
from deskhand.skills.why import distance_from, in_the_way, joined, nearest_free
from deskhand.types import Scene, SceneObject, SkillResult

APART = 0.3  # [s] between the two pictures of a reading
STILL = 0.0006  # [m] by which the pans' difference may change between them while they are at rest: three times what one reading errs by
WAIT = 3.0  # [s] that moving pans are waited for
TRIED = 40  # places at most
GRID = 0.005  # [m] between the places on a pan that are tried
TRAVEL = 0.024  # [m] between both stops of a small balance
LARGE = 0.7  # share of a pan's side beyond which nothing stands on it that is so long and so wide: it is the pan
LOW = 0.015  # [m] below a pan's plate that pieces of a balance reach down to
RIM = 0.005  # [m] that an object keeps from the edge of the pan
BESIDE = 0.006  # [m] between two objects on a pan


def read_pans(ctx: SkillContext, wait: float = WAIT, moves: bool = True) -> tuple[Balance, bool]:
    """The balance as it is seen, and whether it is at rest; a moving one is waited for, ``wait`` [s] at most.

    ``moves``: whether the arm may go out of the way. Raises as find_balance.
    """
    first = measured(ctx, moves)
    deadline = ctx.robot.now() + wait
    while True:
        ctx.check()
        ctx.robot.sleep(APART)
        second = measured(ctx, moves)
        if abs(second.difference - first.difference) <= STILL:
            return second, True
        if ctx.robot.now() > deadline:
            return second, False
        first = second


def measured(ctx: SkillContext, moves: bool = True) -> Balance:
    """The balance in a fresh picture; the arm is taken out of the way when it hides it and ``moves``. One that was seen before is where it was."""
    try:
        return _found(ctx)
    except DeskhandError as error:
        if error.code != "unknown_object" or not moves or ctx.at_home():
            raise
    ctx.go_home()
    return _found(ctx)


def _found(ctx: SkillContext) -> Balance:
    pans = ctx.belief.pans
    with ctx.timed("perception"):
        frame = ctx.robot.observe()
        pans.balance = find_balance(frame) if pans.balance is None else follow(frame, pans.balance)
    return pans.balance


def lying_on(ctx: SkillContext, scene: Scene, balance: Balance) -> dict[str, list[SceneObject]]:
    """Side -> what stands on that pan, seen from here: what was put there and is there still, and what a look shows beside that; it is followed from now on."""
    pans = ctx.belief.pans
    found: dict[str, list[SceneObject]] = {}
    for side in ("left", "right"):
        for item in standing_on(scene, getattr(balance, side), tuple(pans.items)):
            pans.put(_colored(ctx, item), side)
        found[side] = [item for there, item in pans.items.values() if there == side]
    return found


def _colored(ctx: SkillContext, item: SceneObject) -> SceneObject:
    """``item`` in the colour that a picture shows where it stands: a look may have seen it as one with the pan."""
    evidence = evidence_for(levelled(ctx.robot.observe()), item)
    return replace(item, color=evidence.color) if evidence.there and evidence.color else item


def carrying(scene: Scene, pan: Pan) -> tuple[str, ...]:
    """Ids under which a look knows the pan and what is below it: what reaches under its middle and hardly above its rim."""
    return tuple(item.id for item in scene.objects if is_piece(item, pan) and _under(item, pan))


def below(ctx: SkillContext, scene: Scene, pan: Pan) -> tuple[str, ...]:
    """The same for a look that was made before the pan moved: what reaches from below the plate to wherever it was, or is as large as the pan."""
    known = ctx.belief.pans.items

    def part(item: SceneObject) -> bool:
        return is_piece(item, pan) or item.bottom < pan.height - LOW or min(item.size[:2]) > LARGE * pan.side

    return tuple(item.id for item in scene.objects if item.id not in known and not item.is_container and _under(item, pan) and part(item))


def _under(item: SceneObject, pan: Pan) -> bool:
    return _covers(item, pan.centre) or pan.over(float(item.position[0]), float(item.position[1]), -0.02)


def _covers(item: SceneObject, point: tuple[float, float]) -> bool:
    local = item.pose[:3, :3].T @ np.array([*(np.asarray(point) - item.position[:2]), 0.0])
    return bool((np.abs(local[:2]) <= np.asarray(item.size[:2], dtype=float) / 2 + 0.02).all())


@skill
def place_on_pan(ctx: SkillContext, side: str) -> SkillResult:
    """Put the held object on the ``left`` or ``right`` pan, beside what lies there. ``data``: as of :func:`deskhand.skills.put.place_at`, and ``side``.

    Codes: ``unknown_object`` when no balance is seen, ``no_free_space`` when there is no room on the pan, ``place_failed`` when it does not lie on it.
    """
    if side not in ("left", "right"):
        raise DeskhandError("invalid_input", f"a balance has a left and a right pan, not {side!r}.")
    held, scene = ready(ctx, f"place it on the {side} pan")
    target = room_on(ctx, measured(ctx), side, held, scene)
    result = put_down(ctx, held, scene, target)
    now: Pan = getattr(ctx.belief.pans.balance, side)
    position = result.data.get("position")
    if position is None or not now.over(float(position[0]), float(position[1])) or float(position[2]) < now.height:
        raise SkillError("place_failed", f"{held.object.id} does not lie on the {side} pan.", result.data)
    return SkillResult("", f"{held.object.id} lies on the {side} pan", {**result.data, "side": side})


def room_on(ctx: SkillContext, balance: Balance, side: str, held: Held, scene: Scene) -> Target:
    """The first place on the pan where the fingers can open; along the pan's sides where that is what makes room.

    Raises ``no_free_space``: what lies in the way, how much is missing, and where there is room.
    """
    found = _room(ctx, balance, side, held, scene)
    if found is None:
        raise _no_room(ctx, balance, side, held, scene)
    return found


def _room(ctx: SkillContext, balance: Balance, side: str, held: Held, scene: Scene) -> Target | None:
    pan: Pan = getattr(balance, side)
    others, under = standing(ctx, scene, pan, side), below(ctx, scene, pan)
    everything, gripper, axis = ctx.belief.everything(), ctx.robot.arm.gripper, lean_axis(ctx)
    everything = replace(everything, objects=tuple(item for item in everything.objects if item.id not in under))
    for place in free_places(pan, others, held)[:TRIED]:
        ctx.check()
        if spots_at(everything, place, pan.height, held, gripper, limit=1, axis=axis):
            return Target(place, None, pan.height, under, f"the {side} pan", pan=side)
        if held.object.shape == "box" and spots_for_pose(everything, place, pan.yaw, pan.height, held, gripper):
            return Target(place, pan.yaw, pan.height, under, f"the {side} pan", pan=side)
    return None


def standing(ctx: SkillContext, scene: Scene, pan: Pan, side: str) -> list[SceneObject]:
    """What keeps its room on a pan: what is known to stand there, and whatever else a look has shown over it, before the pan moved perhaps."""
    known = ctx.belief.pans.items
    over = [item for item in scene.objects if item.id not in known and pan.over(*map(float, item.position[:2])) and item.top > pan.height + TRAVEL / 2]
    return [item for there, item in known.values() if there == side] + [item for item in over if item.bottom > pan.height - TRAVEL]


def _no_room(ctx: SkillContext, balance: Balance, side: str, held: Held, scene: Scene) -> DeskhandError:
    pan: Pan = getattr(balance, side)
    everything, name = ctx.belief.everything(), held.object.id
    others, under = standing(ctx, scene, pan, side), below(ctx, scene, pan)
    needed = float(np.sort(held.object.size)[1]) + 2 * RIM
    if needed > pan.side:
        why = f"it needs {1000 * needed:.0f} mm and the pan is {1000 * pan.side:.0f} mm wide, {1000 * (needed - pan.side):.0f} mm are missing"
    else:
        best = max(_grid(pan, held), key=lambda place: min((float(distance_from(place[None], item)[0]) for item in others), default=0.0))
        why = in_the_way(everything, best, held.object, under)
        why = why and f"at ({best[0]:.3f}, {best[1]:.3f}), where most is free, {why}"
    other = "right" if side == "left" else "left"
    free = _room(ctx, balance, other, held, scene)
    if free is not None:
        where = f"the nearest place that works is on the {other} pan at ({free.place[0]:.3f}, {free.place[1]:.3f})"
    else:
        table = float(scene.table.pose[2, 3])

        def works(place: Array) -> bool:
            ctx.check()
            return reached(ctx, spots_at(everything, place, table, held, ctx.robot.arm.gripper, limit=1, axis=lean_axis(ctx)))

        where = joined("the other pan has no room either", nearest_free(everything, ctx.robot.arm, np.asarray(pan.centre), held.object, works))
    lie = " and ".join(item.id for item in others)
    text = joined(f"there is no room for {name} and the fingers on the {side} pan" + (f", where {lie} lies" if lie else ""), why, where)
    return DeskhandError("no_free_space", f"{text}.", hint=f"Take {lie} off first." if lie else "")


def _grid(pan: Pan, held: Held) -> list[Array]:
    """Places (x, y) for the held object's middle at which it does not reach over the pan's rim; the middle alone where it always does."""
    reach = pan.side / 2 - float(np.sort(held.object.size)[1]) / 2 - RIM
    steps = np.arange(-reach, reach + 1e-9, GRID) if reach > 0 else np.zeros(1)
    c, s = math.cos(pan.yaw), math.sin(pan.yaw)
    return [np.array([pan.centre[0] + c * a - s * b, pan.centre[1] + s * a + c * b]) for a, b in itertools.product(steps, steps)]


def free_places(pan: Pan, others: list[SceneObject], held: Held) -> list[Array]:
    """Where the held object's middle may go, best first: within the rim, off what lies there; the first to one edge, the next as far from it as it goes."""
    radius = float(np.sort(held.object.size)[1]) / 2
    places = _grid(pan, held)
    if others:

        def gap(place: Array) -> float:
            gaps = [float(np.abs(_turned(place - item.position[:2], pan.yaw)).max()) - radius - float(max(item.size[:2])) / 2 for item in others]
            return min(gaps)

        return sorted((place for place in places if gap(place) >= BESIDE), key=gap, reverse=True)
    reach = pan.side / 2 - radius - RIM
    wish = np.asarray(pan.centre) + max(reach, 0.0) * np.array([-math.sin(pan.yaw), math.cos(pan.yaw)])
    return sorted(places, key=lambda place: float(np.linalg.norm(place - wish)))


def _turned(vector: Array, yaw: float) -> Array:
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([c * vector[0] + s * vector[1], c * vector[1] - s * vector[0]])
