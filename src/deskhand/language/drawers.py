"""Open drawers among what is seen: containers of their own that belong to what they came out of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deskhand.world.relations import Body, gap

TOUCHING = 0.02
"""[m] between the outlines of an open drawer and of what it came out of, at most."""


def is_drawer(item: Mapping[str, Any]) -> bool:
    """Whether it is a drawer that stands open."""
    return bool(item.get("is_container")) and str(item["label"]) == "drawer"


def open_drawers_of(items: Iterable[Mapping[str, Any]], objects: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The open drawers that came out of ``items``: those that touch them."""
    bodies = [item for item in items if not item.get("is_container")]
    return [other for other in objects if is_drawer(other) and any(gap(Body.seen(other), Body.seen(body)) < TOUCHING for body in bodies)]


def touching(drawers: Sequence[Mapping[str, Any]], objects: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What touches open drawers and is none: their case, or their front where a look has cut it off."""
    return [other for other in objects if not is_drawer(other) and any(gap(Body.seen(other), Body.seen(drawer)) < TOUCHING for drawer in drawers)]
