"""Let what is held down into a container; verified by a look with the arm out of the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, transform_points
from deskhand.skills.base import SkillContext, SkillError, skill
from deskhand.skills.belief import Held
from deskhand.skills.carry import carry, ready, release
from deskhand.skills.change_detection import disturbed, inside_container, newcomer, same_object, stray
from deskhand.skills.into import FULL, brought_to, contents_of, room_for
from deskhand.skills.onward import Onward
from deskhand.skills.placement_sampling import Spot, rest_of
from deskhand.skills.quick_look import Put, put_of, quick_look
from deskhand.skills.room import room_in
from deskhand.skills.why import other_container
from deskhand.types import Scene, SceneObject, SkillResult, moved
from deskhand.world.relations import BELOW_RIM

NEW = 0.008  # [m] that the surface at a place has risen by when something has come there
INNER = 0.7  # share of its sides
NEAR = 0.05  # [m] beyond its own length that an object which was let go may roll or tip


@skill
def place_in(ctx: SkillContext, container_id: str, next_object_id: str = "") -> SkillResult:
    """Let the held object down into a container, and go on to ``next_object_id``, if that is given and can be.

    ``data``: ``object_id``, ``seen_as``, ``position``, ``seen``, ``disturbed``,
    ``free_volume`` [m3] and ``free_share``: the room that is left in the container, ``times``.

    The look after it must show the object inside, or, when the walls or the contents hide it, nowhere else.
    Codes: ``not_holding``, ``object_lost``, ``unknown_object``, ``invalid_input`` (not a container), ``no_free_space``,
    ``place_failed`` and those of motion and safety.
    """
    held, scene = ready(ctx, f"place it in {container_id}")
    container = scene.get(container_id)
    if not container.is_container:
        raise DeskhandError("invalid_input", f"{container_id} is a {container.label}, not a container.", hint="Use place_on, or the id of a container.")
    room = room_in(ctx.belief.everything(), container)
    if room.share < FULL:
        raise DeskhandError("no_free_space", _full(ctx, container, room.share, held), hint="Use another container.")
    slipped, seen = False, None
    try:
        if (brought := brought_to(ctx, held, container)) is not None:
            spot, planned = brought.spot, brought.on
        else:
            touched = (container_id, *contents_of(ctx.belief.everything(), container))
            spot, planned = carry(ctx, held, lambda tilt: room_for(ctx, container, tilt), touched), None
        put = put_of(held, rest_of(held, spot), container)
        seen = release(ctx, held, onward=Onward(ctx, put, scene, next_object_id, planned) if next_object_id else None)
    except DeskhandError as error:
        fallen = _fallen(ctx, held, container) if error.code == "object_lost" else None
        if fallen is None:
            raise
        spot, slipped = fallen, True
    return _verify_in(ctx, held, scene, container, spot, slipped, seen)


def _fallen(ctx: SkillContext, held: Held, container: SceneObject) -> Spot | None:
    """Where it slipped from the hand, when that was above the container: it may have come to where it should. None anywhere else."""
    tcp = ctx.robot.tcp_pose()
    pose = tcp @ held.tcp_T_object
    local = transform_points(inverse(container.pose), pose[:3, 3])
    if (np.abs(local[:2]) > np.asarray(container.size[:2], dtype=float) / 2 - container.wall).any():
        return None
    return Spot(tcp, tcp, pose[:2, 3], 0.0, max(0.0, moved(held.object, pose).bottom - container.bottom - container.wall))


def _full(ctx: SkillContext, container: SceneObject, share: float, held: Held) -> str:
    scene = ctx.belief.everything()
    volume = 1e6 * float(np.prod(held.object.size))
    names = ", ".join(contents_of(scene, container))
    left = 1e6 * room_in(scene, container).volume
    return (
        f"{container.id} is full: {100 * share:.0f} % of it is free, {left:.0f} cm3, and {held.object.id} takes {volume:.0f} cm3"
        f"{f'; in it: {names}' if names else ''}; {other_container(scene, container)}."
    )


def look_after(
    ctx: SkillContext, held: Held, before: Scene, rest: Array, put: Put | None = None, seen: Scene | None = None
) -> tuple[Scene, SceneObject | None, dict[str, Any]]:
    """The scene now, what was put down in it (None: not seen), and what to tell about it. It should have come to rest at the pose ``rest`` (4, 4).

    ``put``: what one picture should show, where that may tell as much as a look; ``seen``: what one has shown.
    """
    ctx.step(0.8, "look whether it worked")
    after = seen or (quick_look(ctx, put, before) if put is not None else None) or ctx.look()
    found = same_object(after, held.object, before) or newcomer(after, before, rest[:3, 3], NEAR + float(max(held.object.size)))
    data: dict[str, Any] = {"object_id": held.object.id, "seen": found is not None}
    if found is not None:
        data.update(seen_as=found.id, position=[round(float(v), 4) for v in found.position])
    return after, found, data


def _verify_in(ctx: SkillContext, held: Held, before: Scene, container: SceneObject, spot: Spot, slipped: bool, seen: Scene | None) -> SkillResult:
    rest = rest_of(held, spot)
    after, found, data = look_after(ctx, held, before, rest, None if slipped else put_of(held, rest, container), seen)
    name = held.object.id
    now = same_object(after, container)
    if now is None:
        raise SkillError("place_failed", f"{container.id} is not seen any more after {name} was let go.", data)
    data["disturbed"] = disturbed(before, after, (name, *contents_of(before, container)))
    if found is not None and not inside_container(now, found):
        inside = found.support == now.id
        where = f"lies on it, {1000 * (found.bottom - now.top):+.0f} mm from the rim" if inside else f"is seen at {np.round(found.position[:2], 3).tolist()}"
        raise SkillError("place_failed", f"{name} is not in {container.id}: it {where}.", data)
    if found is None:
        if slipped and (other := stray(after, before, replace(held.object, pose=rest))) is not None:
            where = f"{other.id}, as large as it, has come to lie at {np.round(other.position[:2], 3).tolist()}"
            raise SkillError("object_lost", f"{name} slipped from the fingers above {container.id} and is not seen in it; {where}.", data, hint="Look again.")
        if not spot.inside:
            raise SkillError("place_failed", f"{name} did not fit between the walls of {container.id} and is not seen in it.", data)
        ctx.belief.hide(replace(moved(held.object, rest), support=now.id, relation="in"))
    if (found is None or found.id != name) and (over := _above_rim(before, after, now, moved(held.object, rest))) > 0:
        raise SkillError("place_failed", f"{name} is not in {container.id}: it lies on what is there, {1000 * over:.0f} mm too high.", data)
    room = room_in(ctx.belief.everything(), now)
    data.update(free_volume=round(room.volume, 7), free_share=round(room.share, 3))
    where = "seen there" if found else f"let go at {np.round(spot.position, 3).tolist()}, hidden by the walls or the contents, and seen nowhere else"
    return SkillResult("", f"{name} is in {container.id}: {where}; {100 * room.share:.0f} % of {container.id} is free", data)


def _above_rim(before: Scene, after: Scene, container: SceneObject, item: SceneObject) -> float:
    """How far [m] the underside of ``item`` is above where it would be in ``container``, by the height of what has newly come to its place; 0 for nothing."""
    then, now = (_top_at(scene, item) for scene in (before, after))
    if now - then < NEW:
        return 0.0
    return max(0.0, now - (item.top - item.bottom) - (container.top - BELOW_RIM))


def _top_at(scene: Scene, item: SceneObject) -> float:
    """Height [m] of what is seen over the inner part of where ``item`` lies."""
    local = transform_points(inverse(item.pose), np.asarray(scene.cloud, dtype=float))
    reach = np.asarray(item.size, dtype=float) / 2 * INNER
    level = np.abs(item.pose[2, :3]) < 0.7
    heights = np.asarray(scene.cloud, dtype=float)[(np.abs(local) < reach)[:, level].all(axis=1), 2]
    return float(np.quantile(heights, 0.8)) if len(heights) else 0.0
