"""The state of objects from how they move over a few looks, and what they do to each other meanwhile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array
from deskhand.tools.looking import look
from deskhand.tools.objects import ObjectId, rounded
from deskhand.types import Scene, SceneObject
from deskhand.world.spatial import footprint_gap

STILL = 0.004  # [m] that an object at rest may seem to move between looks
TOUCH = 0.006  # [m] gap of objects that touch
CLOSING = 0.01  # [m] that a gap must change by over the time watched


class MovingObject(TypedDict):
    """One object over the time watched."""

    object_id: str
    state: Annotated[
        str, Field(description="still; moving; started or stopped (moving in the later or the earlier half only); lifted or fell; appeared or gone; held")
    ]
    speed: Annotated[float, Field(description="mean speed while it was seen [m/s]")]
    heading: Annotated[float | None, Field(description="direction of its motion about world z, 0 along +x [rad]; null when it is still")]
    displacement: Annotated[list[float], Field(description="from first to last sight [x, y, z] [m]")]
    path: Annotated[list[list[float]], Field(description="[time, x, y, z] at each look that showed it [s, m]")]


class Interaction(TypedDict):
    """What one object did to another, from when until when."""

    subject: str
    relation: Annotated[str, Field(description="touching, approaching, leaving, on or in")]
    object: str
    start: Annotated[float, Field(description="ROS time [s]")]
    end: Annotated[float, Field(description="ROS time [s]")]


class MotionStates(TypedDict):
    """Everything over the time watched."""

    objects: Annotated[list[MovingObject], Field(description="those that move first")]
    interactions: list[Interaction]
    seconds: Annotated[float, Field(description="from the first to the last look [s]")]


@tool(
    group="cognition",
    unit="spatio_temporal_state",
    effects="memory",
    needs=("camera",),
    postconditions=("scene_known",),
    timeout=120.0,
    when_to_use="To find out what is moving right now, how fast and which way, whether something rolls, falls, starts or stops, and which objects "
    "approach, touch or leave each other meanwhile.",
    limits="Takes looks over a short time; what happens between two of them is missed; what is too fast to be matched shows as gone and appeared. "
    "Motion below 4 mm from look to look counts as still. What happened earlier tells object_history.",
    examples=[
        ("Is anything on the desk moving right now?", {}),
        ("Does the ball roll towards the cup?", {"only": ["ball_1", "cup_1"], "looks": 5, "interval": 0.2}),
    ],
    failures=[("The camera does not see the table", {}, "no_table")],
)
def observe_motion(
    ctx: ToolContext,
    looks: Annotated[int, Field(ge=2, le=20, description="how many looks")] = 4,
    interval: Annotated[float, Field(ge=0.05, le=5, description="[s] of ROS time between looks")] = 0.3,
    only: Annotated[list[ObjectId] | None, Field(max_length=50, description="ids to tell of; null: all")] = None,
) -> MotionStates:
    """Watch the desk over several looks: the motion state of every object, its speed and path, and who approaches, touches or leaves whom."""
    scenes: list[Scene] = []
    for number in range(looks):
        if number:
            ctx.robot.sleep(interval)
        scenes.append(look(ctx)[0])
        ctx.progress((number + 1) / looks, f"look {number + 1} of {looks}")
        if ctx.cancelled():
            break
    names = list(dict.fromkeys(item.id for scene in scenes for item in scene.objects))
    names = [name for name in names if only is None or name in only]
    objects = [_object(name, scenes) for name in names]
    objects.sort(key=lambda obj: (obj["state"] == "still", -obj["speed"], obj["object_id"]))
    return MotionStates(objects=objects, interactions=_interactions(names, scenes), seconds=round(scenes[-1].stamp - scenes[0].stamp, 3))


def _at(scene: Scene, name: str) -> SceneObject | None:
    return next((item for item in scene.objects if item.id == name), None)


def _object(name: str, scenes: Sequence[Scene]) -> MovingObject:
    seen = [(scene.stamp, item) for scene in scenes if (item := _at(scene, name)) is not None]
    path = np.array([[stamp, *item.position] for stamp, item in seen])
    steps = np.linalg.norm(np.diff(path[:, 1:], axis=0), axis=1) > STILL
    whole = path[-1, 1:] - path[0, 1:]
    speed = float(np.linalg.norm(np.diff(path[:, 1:], axis=0), axis=1)[steps].sum() / max(path[-1, 0] - path[0, 0], 1e-6)) if steps.any() else 0.0
    moved = bool(steps.any()) and float(np.linalg.norm(whole)) > STILL
    state = _state(name, scenes, seen[-1][1], steps, whole)
    return MovingObject(
        object_id=name,
        state=state,
        speed=round(speed, 4),
        heading=round(math.atan2(float(whole[1]), float(whole[0])), 4) if moved else None,
        displacement=rounded(whole),
        path=[rounded(row) for row in path],
    )


def _state(name: str, scenes: Sequence[Scene], last: SceneObject, steps: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], whole: Array) -> str:
    if last.relation == "held":
        return "held"
    if _at(scenes[0], name) is None:
        return "appeared"
    if _at(scenes[-1], name) is None:
        return "gone"
    if not steps.any():
        return "still"
    if abs(float(whole[2])) > max(3 * STILL, float(np.linalg.norm(whole[:2]))):
        return "lifted" if whole[2] > 0 else "fell"
    half = (len(steps) + 1) // 2
    if len(steps) > 1 and not steps[:half].any():
        return "started"
    return "stopped" if len(steps) > 1 and not steps[half:].any() else "moving"


def _interactions(names: Sequence[str], scenes: Sequence[Scene]) -> list[Interaction]:
    result: list[Interaction] = []
    for a, b in combinations(names, 2):
        both = [(scene.stamp, p, q) for scene in scenes if (p := _at(scene, a)) is not None and (q := _at(scene, b)) is not None]
        if len(both) < 2:
            continue
        gaps = [footprint_gap(p, q) for _, p, q in both]
        level = [min(p.top, q.top) > max(p.bottom, q.bottom) - TOUCH for _, p, q in both]
        touching = [gap < TOUCH and side and p.relation != "in" and q.relation != "in" for gap, side, (_, p, q) in zip(gaps, level, both, strict=True)]
        result += _runs(a, "touching", b, [stamp for stamp, _, _ in both], touching)
        paths = [np.array([item[index].position[:2] for item in both]) for index in (1, 2)]  # type: ignore[union-attr]
        ways = [float(np.linalg.norm(path[-1] - path[0])) for path in paths]
        if max(ways) > 2 * STILL and abs(gaps[-1] - gaps[0]) > CLOSING:
            subject, other = (a, b) if ways[0] >= ways[1] else (b, a)
            word = "approaching" if gaps[-1] < gaps[0] else "leaving"
            result.append(Interaction(subject=subject, relation=word, object=other, start=both[0][0], end=both[-1][0]))
    for name in names:
        for word in ("on", "in"):
            for carrier in dict.fromkeys(item.support for scene in scenes if (item := _at(scene, name)) is not None and item.relation == word):
                stamps = [scene.stamp for scene in scenes]
                holds = [(item := _at(scene, name)) is not None and item.relation == word and item.support == carrier for scene in scenes]
                result += _runs(name, word, carrier, stamps, holds)
    return result


def _runs(subject: str, relation: str, other: str, stamps: Sequence[float], holds: Sequence[bool]) -> list[Interaction]:
    """One interaction for every time that it held without a break."""
    result: list[Interaction] = []
    begun = None
    for stamp, now in zip(stamps, holds, strict=True):
        if now:
            begun = stamp if begun is None else begun
            last = stamp
        elif begun is not None:
            result.append(Interaction(subject=subject, relation=relation, object=other, start=begun, end=last))
            begun = None
    if begun is not None:
        result.append(Interaction(subject=subject, relation=relation, object=other, start=begun, end=last))
    return result
