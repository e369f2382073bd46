"""What the memory keeps, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from deskhand.geometry import Array
from deskhand.types import SceneObject

Status = Literal["seen", "held", "occluded", "unseen", "vanished"]
"""What is known of an object.

``seen``: by the last look. ``held``: the hand has it. ``occluded``: something hides its place, it is taken to be there still.
``unseen``: not found, and nothing tells why (it was let go and not looked for, or is not told apart from its neighbour).
``vanished``: the camera saw past its place.
"""
EventKind = Literal["added", "moved", "changed", "occluded", "unseen", "vanished", "appeared", "held", "released", "dropped", "placed", "renamed"]
PRESENT: frozenset[str] = frozenset({"seen", "held", "occluded", "unseen"})
"""Statuses of objects that are taken to be somewhere."""


@dataclass(frozen=True)
class Moment:
    """When something was seen or done.

    Attributes:
        id: rises with time, over restarts too.
        session: number of the memory's opening; times of different sessions cannot be compared by ``stamp``.
        stamp: ROS time [s]; simulated time where the clock is.
        wall: Unix time [s].
        kind: ``look``, ``held``, ``released``, ``dropped``, ``placed`` or ``renamed``.
    """

    id: int
    session: int
    stamp: float
    wall: float
    kind: str


@dataclass(frozen=True)
class State:
    """How an object was from ``begun`` until ``ended`` (moments' ids; None: still).

    Attributes:
        object: as it was, without points; ``support`` and ``relation`` say on or in what.
        last: moment of the last look that showed it so.
        confidence: 0..1 that it is so; it falls with every look that cannot confirm it.
    """

    id: int
    object: SceneObject
    status: Status
    begun: int
    last: int
    ended: int | None
    confidence: float

    @property
    def object_id(self) -> str:
        """Its id."""
        return self.object.id


@dataclass(frozen=True)
class Event:
    """A change of one object. ``detail`` holds what is known of it: ``from``, ``to``, ``distance`` [m], ``reason``."""

    id: int
    moment: Moment
    object_id: str
    kind: str
    detail: Mapping[str, Any] = field(default_factory=dict)


def bare(item: SceneObject) -> SceneObject:
    """``item`` without what is not remembered: points and the place in the picture."""
    return replace(item, points=np.zeros((0, 3), np.float32), box2d=(0, 0, 0, 0))


def place_of(item: SceneObject) -> dict[str, Any]:
    """Where an object is, for an event's detail: position [m, world], and on or in what."""
    return {"position": [round(float(v), 4) for v in item.position], "relation": item.relation, "support": item.support}


def distance(a: Array, b: Array) -> float:
    """Of the origins of two poses [m]."""
    return float(np.linalg.norm(a[:3, 3] - b[:3, 3]))
