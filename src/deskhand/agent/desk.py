"""What the loop knows of the desk from the results that came by; never more than the model was told."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from deskhand.etp.base import ToolResult
from deskhand.language.resolve import Seen, held_object, is_receptacle
from deskhand.planning.symbolic import ROLLS, State
from deskhand.world.acts import PUTS
from deskhand.world.model import WorldModel
from deskhand.world.relations import TABLE

NEAR = 0.02
"""A position so near [m] to an object's outline is about that object."""
_NO_OBJECTS = frozenset(("plan_id", "watch_id"))
_ID = re.compile(r"[a-z]+(?:_[a-z]+)*_\d+")


class TaskDesk:
    """What calls and plans are about, in a world that somebody else follows.

    Attributes:
        world: what is where.
    """

    def __init__(self, world: WorldModel | None = None) -> None:
        self.world = world or WorldModel()
        self._plans: dict[str, frozenset[str]] = {}

    @property
    def objects(self) -> dict[str, Seen]:
        """Id -> the object as it was last seen or put."""
        return self.world.objects

    @property
    def held(self) -> str:
        """Id of what the hand holds, or empty."""
        return self.world.held

    @property
    def looked(self) -> bool:
        """Whether anybody has looked."""
        return self.world.looked

    def heard(self, name: str, arguments: Mapping[str, Any], result: ToolResult) -> None:
        """A tool has answered, and the world was told of it: what stored plans are about is remembered."""
        if result.ok and isinstance(result.data, Mapping):
            self._plans |= dict.fromkeys(_plan_ids(result.data), self.about(name, arguments))

    def item(self, name: str) -> Seen | None:
        """An object by its id; what is held and was never seen is made up from its id."""
        return self.objects.get(name) or (held_object(name) if name and name == self.held else None)

    def about(self, name: str, arguments: Mapping[str, Any]) -> frozenset[str]:
        """Ids of the objects that a call of the tool concerns: named, meant by a stored plan, or lying where a position points (not for placing: that
        keeps clear of what is there).
        """
        named = {text for text in _strings(arguments) if text in self.objects or text == self.held}
        named |= {str(value) for key, value in arguments.items() if key not in _NO_OBJECTS and _ID.fullmatch(str(value))}
        for text in _strings(arguments):
            named |= self._plans.get(text, frozenset())
        point = position_of(arguments)
        if point is not None and name not in PUTS:
            named |= {other for other, item in self.objects.items() if not is_receptacle(item) and _within(point, item)}
        return frozenset(named - {TABLE, ""})

    def destination(self, name: str, arguments: Mapping[str, Any]) -> tuple[float, float] | None:
        """Where a call puts down what is held, (x, y) [m, world]; None when nobody can say."""
        if (point := position_of(arguments)) is not None:
            return point
        target = self.objects.get(str(arguments.get("container_id") or arguments.get("target_id") or ""))
        return (float(target["position"][0]), float(target["position"][1])) if target is not None and name in PUTS else None

    def state(self) -> State:
        """The desk as symbols."""
        items = {name: item for name, item in self.objects.items() if name != self.held and item.get("relation") != "held"}
        where = {name: ("in" if item.get("relation") == "in" else "on", str(item.get("support") or TABLE)) for name, item in items.items()}
        round_objects = [name for name, item in items.items() if not item.get("is_container") and (item.get("shape") == "sphere" or item.get("label") in ROLLS)]
        return State(where, self.held, frozenset(name for name, item in items.items() if item.get("is_container")), frozenset(round_objects))


def position_of(arguments: Mapping[str, Any]) -> tuple[float, float] | None:
    """The (x, y) [m, world] that arguments name as ``x`` and ``y`` or as ``position``."""
    position = arguments.get("position")
    x, y = position[:2] if isinstance(position, list | tuple) and len(position) >= 2 else (arguments.get("x"), arguments.get("y"))
    if not isinstance(x, int | float) or not isinstance(y, int | float):
        return None
    return (float(x), float(y)) if math.isfinite(x) and math.isfinite(y) else None


def _plan_ids(data: Any) -> Iterator[str]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key == "plan_id" and isinstance(value, str):
                yield value
            else:
                yield from _plan_ids(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _plan_ids(value)


def radius(item: Seen) -> float:
    """Of the circle around an object's outline [m]."""
    return math.hypot(float(item["size"][0]), float(item["size"][1])) / 2


def _within(point: tuple[float, float], item: Seen) -> bool:
    return math.dist(point, [float(value) for value in item["position"][:2]]) < radius(item) + NEAR


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
