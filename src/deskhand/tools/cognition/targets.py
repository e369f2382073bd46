"""Space-time memory of a target: where it has been, how long, how visible, and where to look for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array
from deskhand.language.past.telling import listing
from deskhand.language.past.words import kinds_of
from deskhand.tools.cognition.recall import memory_of
from deskhand.tools.objects import rounded
from deskhand.world.history.records import State

SAME = 0.03  # [m] within which two places are one
LEFT = 0.05  # share of belief that is left for places that were never seen


class Stay(TypedDict):
    """A time over which a target stayed so."""

    start: Annotated[float, Field(description="ROS time [s]")]
    end: Annotated[float, Field(description="ROS time [s]; of the last stay: now")]
    status: Annotated[str, Field(description="seen, held, occluded, unseen or vanished")]
    position: Annotated[list[float], Field(description="[x, y, z] in world [m]")]
    support: str


class KnownPlace(TypedDict):
    """A place where the target has been."""

    position: Annotated[list[float], Field(description="[x, y, z] in world [m]")]
    support: str
    visits: int
    seconds: Annotated[float, Field(description="how long it was there in all [s]")]
    last: Annotated[float, Field(description="ROS time at which it was last there [s]")]
    probability: Annotated[float, Field(description="that it is there now, 0 to 1")]


class TargetMemory(TypedDict):
    """One target over space and time."""

    object_id: str
    status: str
    stays: Annotated[list[Stay], Field(description="oldest first")]
    places: Annotated[list[KnownPlace], Field(description="where to look for it, likeliest first")]
    elsewhere: Annotated[float, Field(description="probability that it is at none of these places")]
    travelled: Annotated[float, Field(description="length of its way from place to place [m]")]
    in_view: Annotated[float, Field(description="share of the time since it was first seen in which it was in view")]
    text: str


@dataclass
class _Place:
    position: Array
    support: str
    visits: int = 0
    seconds: float = 0.0
    last: float = 0.0
    weight: float = 0.0


@tool(
    group="cognition",
    unit="spatio_temporal_state",
    timeout=20.0,
    when_to_use="When the target is no longer in view or keeps moving: where it has been and for how long, how much it moved, and where to look for it first.",
    limits="From looks and the robot's own actions of this session; nothing is looked at. Probabilities are a model: belief in the last place fades and "
    "goes to places where it stayed long and lately.",
    examples=[
        ("The target is no longer in view: where should I look first?", {"target": "the red block"}),
        ("Space-time track of one object", {"target": "block_1", "half_life": 120}),
    ],
    failures=[("Such an object was never seen", {"target": "ghost_9"}, "unknown_object")],
)
def target_memory(
    ctx: ToolContext,
    target: Annotated[str, Field(min_length=1, max_length=64, description="id or words, for example 'red pen'")],
    half_life: Annotated[float, Field(ge=1, le=86400, description="[s] after which an earlier stay counts half")] = 300.0,
) -> TargetMemory:
    """Tell the space-time memory of a target: its stays, places with dwell times, and a probability for where it is now."""
    memory = memory_of(ctx)
    now_state = memory.state(target) if target in memory.ids() else _named(memory.states_now(), target)
    name = now_state.object_id
    history = [state for state in memory.history(name) if memory.moment(state.begun).session == memory.session]
    now = memory.now()
    stays = [
        Stay(
            start=memory.moment(state.begun).stamp,
            end=now if state.ended is None else memory.moment(state.ended).stamp,
            status=state.status,
            position=rounded(state.object.position),
            support=state.object.support,
        )
        for state in history
    ]
    places = _places(stays, now, half_life)
    current = history[-1]
    sure = current.confidence if current.status in ("seen", "held", "occluded") else 0.0 if current.status == "vanished" else 0.5 * current.confidence
    rest = sum(place.weight for place in places) or 1.0
    here = np.array(stays[-1]["position"])
    told = []
    for place in places:
        chance = (1 - sure) * (1 - LEFT) * place.weight / rest
        mine = float(np.linalg.norm(place.position - here)) < SAME
        chance = chance + sure if mine and current.status != "vanished" else chance * (0.1 if mine else 1.0)
        told.append(
            KnownPlace(
                position=rounded(place.position),
                support=place.support,
                visits=place.visits,
                seconds=round(place.seconds, 3),
                last=round(place.last, 3),
                probability=round(float(min(1.0, chance)), 4),
            )
        )
    told.sort(key=lambda place: -place["probability"])
    seen = sum(stay["end"] - stay["start"] for stay in stays if stay["status"] == "seen")
    whole = max(now - stays[0]["start"], 1e-9)
    way = sum(math.dist(a["position"], b["position"]) for a, b in pairwise(stays))
    return TargetMemory(
        object_id=name,
        status=current.status,
        stays=stays,
        places=told,
        elsewhere=round(max(0.0, 1 - sum(place["probability"] for place in told)), 4),
        travelled=round(way, 4),
        in_view=round(min(1.0, seen / whole), 4),
        text=_text(name, current, told, now),
    )


def _named(states: list[State], words: str) -> State:
    kinds = kinds_of(words)
    found = [state for state in states if kinds.fits(state.object)]
    if not found:
        known = listing(state.object for state in states)
        raise DeskhandError("unknown_object", f"I have never seen such an object ({words}); known: {known}.", hint="Use an id or other words.")
    return max(found, key=lambda state: state.last)


def _places(stays: list[Stay], now: float, half_life: float) -> list[_Place]:
    """Places of the stays, those nearer than 3 cm to each other as one, weighed by how long and how lately it was there."""
    places: list[_Place] = []
    before: _Place | None = None
    for stay in stays:
        if stay["status"] in ("held", "vanished"):
            before = None
            continue
        position = np.array(stay["position"])
        place = next((one for one in places if float(np.linalg.norm(one.position - position)) < SAME), None)
        if place is None:
            place = _Place(position, stay["support"])
            places.append(place)
        place.visits += place is not before
        place.seconds += stay["end"] - stay["start"]
        place.last = max(place.last, stay["end"])
        place.weight += (1.0 + stay["end"] - stay["start"]) * 0.5 ** ((now - stay["end"]) / half_life)
        before = place
    return places


def _text(name: str, current: State, places: list[KnownPlace], now: float) -> str:
    first = f"{name} is {current.status}"
    if not places:
        return f"{first}."
    best = places[0]
    x, y, _ = best["position"]
    ago = now - best["last"]
    return (
        f"{first}; likeliest at x {x:.3f}, y {y:.3f} on {best['support']} ({best['probability']:.0%}), last there {ago:.0f} s ago; {len(places)} known places."
    )
