"""What can be built with blocks, said once for those who ask for it, build it and judge it: which block goes where, on which others.

A plan of a structure has its own frame: x and y [m] on the desk, the origin under its middle. Heights follow from the blocks that are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot
from typing import Any

from deskhand.errors import DeskhandError

GAP = 0.006
"""Between blocks side by side [m]: no more than it takes to put one down without touching the next."""
NAMES = ("row", "tower", "bridge", "pyramid", "house")
PYRAMIDS = (3, 6, 10)
"""Blocks of pyramids with two, three and four rows."""
LEAST, MOST = {"row": 2, "tower": 2}, {"row": 8, "tower": 8}
_SPEC_KEYS = {"structure", "count", "colors", "blocks"}
_BLOCK_KEYS = {"color", "shape", "on", "at", "yaw"}
SHAPES = ("cube", "plank")


@dataclass(frozen=True)
class Slot:
    """A place for one block.

    Attributes:
        x, y: of its centre [m].
        on: indices of the slots that carry it; empty for the desk.
        shape: ``cube`` or ``plank``, which lies flat, its long side along ``yaw``.
        yaw: [rad]
        color: wanted colour name, empty for any.
    """

    x: float
    y: float
    on: tuple[int, ...] = ()
    shape: str = "cube"
    yaw: float = 0.0
    color: str = ""


@dataclass(frozen=True)
class Blocks:
    """The blocks at hand: ``edge`` of the cubes [m], ``plank`` (length, height) [m] or None where there is none."""

    edge: float
    plank: tuple[float, float] | None = None


def structure(name: str, blocks: Blocks, count: int = 0, colors: Sequence[str] = ()) -> tuple[Slot, ...]:
    """The plan of a named structure; ``colors`` in the order of the slots: from the bottom up, in a row from left to right (+y to -y).

    Raises:
        DeskhandError: ``invalid_input`` when there is no such structure, with the ones there are.
    """
    if name not in NAMES:
        raise DeskhandError("invalid_input", f"I know no structure {name!r}; known: {', '.join(NAMES)}.")
    if count and name in LEAST and not LEAST[name] <= count <= MOST[name]:
        raise DeskhandError("invalid_input", f"a {name} has {LEAST[name]} to {MOST[name]} blocks, not {count}.")
    usual = PYRAMIDS[1] if name == "pyramid" else max(3, len(colors))
    slots = {"row": _row, "tower": _tower, "bridge": _bridge, "pyramid": _pyramid, "house": _house}[name](blocks, count or usual)
    if count and len(slots) != count:
        takes = f"a pyramid takes {', '.join(map(str, PYRAMIDS[:-1]))} or {PYRAMIDS[-1]}" if name == "pyramid" else f"this {name} takes {len(slots)}"
        raise DeskhandError("invalid_input", f"{takes} blocks, not {count}.")
    if len(colors) > len(slots):
        raise DeskhandError("invalid_input", f"{len(colors)} colours for {len(slots)} blocks.")
    return tuple(replace(slot, color=color) for slot, color in zip(slots, [*colors, *[""] * len(slots)], strict=False))


def _row(blocks: Blocks, count: int) -> list[Slot]:
    pitch = blocks.edge + GAP
    return [Slot(0.0, ((count - 1) / 2 - i) * pitch) for i in range(count)]


def _tower(_blocks: Blocks, count: int) -> list[Slot]:
    return [Slot(0.0, 0.0, (i - 1,) if i else ()) for i in range(count)]


def _bridge(blocks: Blocks, _count: int) -> list[Slot]:
    if blocks.plank is None:
        half = 0.7 * blocks.edge
        return [Slot(0.0, half), Slot(0.0, -half), Slot(0.0, 0.0, (0, 1))]
    half = (blocks.plank[0] - blocks.edge) / 2
    return [Slot(0.0, half), Slot(0.0, -half), Slot(0.0, 0.0, (0, 1), "plank", 1.5707963)]


def _pyramid(blocks: Blocks, count: int) -> list[Slot]:
    """Rows that are one block shorter each, as many as ``count`` blocks make."""
    pitch = blocks.edge + GAP
    rows = max(range(2, len(PYRAMIDS) + 2), key=lambda number: -abs(number * (number + 1) // 2 - count))
    slots: list[Slot] = []
    for length in range(rows, 0, -1):
        below = len(slots) - length - 1
        slots += [Slot(0.0, ((length - 1) / 2 - i) * pitch, (below + i, below + i + 1) if length < rows else ()) for i in range(length)]
    return slots


def _house(blocks: Blocks, count: int) -> list[Slot]:
    if blocks.plank is None:
        half = (blocks.edge + GAP) / 2
        walls = [Slot(0.0, half), Slot(0.0, -half), Slot(0.0, half, (0,)), Slot(0.0, -half, (1,))]
        return [*walls, Slot(0.0, 0.0, (2, 3))]
    return [*_bridge(blocks, count), Slot(0.0, 0.0, (2,))]


def footprint(slots: Sequence[Slot], blocks: Blocks) -> tuple[float, float]:
    """Extents (x, y) [m] of a structure on the desk, about its origin."""
    half = [0.0, 0.0]
    for slot in slots:
        long = blocks.plank[0] if slot.shape == "plank" and blocks.plank else blocks.edge
        reach = long / 2 if slot.shape == "plank" else blocks.edge / 2
        half = [max(half[0], abs(slot.x) + (reach if abs(slot.yaw) < 0.8 else blocks.edge / 2)), max(half[1], abs(slot.y) + reach)]
    return 2 * half[0], 2 * half[1]


def levels(slots: Sequence[Slot]) -> list[int]:
    """The level of each slot, 0 for those on the desk."""
    result: list[int] = []
    for slot in slots:
        result.append(1 + max((result[below] for below in slot.on), default=-1))
    return result


# ---------------------------------------------------------------- plans as data


def from_spec(data: Any, blocks: Blocks) -> tuple[Slot, ...]:
    """The plan that plain data (from JSON or YAML) says.

    Either ``{"structure": name, "count": n, "colors": [...]}``, or ``{"blocks": [{"at": [x, y], "on": [i, …], "color", "shape", "yaw"}, …]}``: ``at`` [m]
    may be left out on what ``on`` names, then it is over their middle; ``on`` counts blocks of the list from 0.

    Raises:
        DeskhandError: ``invalid_input`` naming the field and what is valid.
    """
    if not isinstance(data, Mapping) or not ({"structure", "blocks"} & set(data)):
        raise DeskhandError("invalid_input", "a plan is a mapping with 'structure' (a name) or 'blocks' (a list).")
    if unknown := set(data) - _SPEC_KEYS:
        raise DeskhandError("invalid_input", f"unknown fields {sorted(map(str, unknown))} in the plan; valid: {', '.join(sorted(_SPEC_KEYS))}.")
    colors = data.get("colors") or []
    if not isinstance(colors, list) or not all(isinstance(color, str) for color in colors):
        raise DeskhandError("invalid_input", "colors must be a list of colour names.")
    if "structure" in data:
        count = data.get("count") or (len(colors) if data["structure"] in LEAST else 0)
        if not isinstance(count, int):
            raise DeskhandError("invalid_input", f"count must be a whole number, got {count!r}.")
        return structure(str(data["structure"]), blocks, count, [color.lower() for color in colors])
    items = data["blocks"]
    if not isinstance(items, list) or not 1 <= len(items) <= 20:
        raise DeskhandError("invalid_input", "blocks must be a list of 1 to 20 blocks.")
    slots: list[Slot] = []
    for number, item in enumerate(items):
        slots.append(_slot(number, item, slots))
    x, y = (sum(values) / len(slots) for values in zip(*((slot.x, slot.y) for slot in slots), strict=True))
    return tuple(replace(slot, x=slot.x - x, y=slot.y - y) for slot in slots)


def _slot(number: int, item: Any, before: Sequence[Slot]) -> Slot:
    where = f"blocks[{number}]"
    if isinstance(item, Mapping) and True in item:
        item = {("on" if key is True else key): value for key, value in item.items()}  # YAML takes a bare "on" for true
    if not isinstance(item, Mapping) or set(item) - _BLOCK_KEYS:
        raise DeskhandError("invalid_input", f"{where} must be a mapping with {', '.join(sorted(_BLOCK_KEYS))}.")
    on = item.get("on", [])
    on = [on] if isinstance(on, int) and not isinstance(on, bool) else on
    if not isinstance(on, list) or not all(isinstance(below, int) and 0 <= below < number for below in on):
        raise DeskhandError("invalid_input", f"{where}.on must name earlier blocks by number (0 to {number - 1}), got {item.get('on')!r}.")
    shape = item.get("shape", "cube")
    if shape not in SHAPES:
        raise DeskhandError("invalid_input", f"{where}.shape must be one of {', '.join(SHAPES)}, got {shape!r}.")
    at = item.get("at")
    if at is None and on:
        at = [sum(before[below].x for below in on) / len(on), sum(before[below].y for below in on) / len(on)]
    numbers = [*(at if isinstance(at, list) else []), item.get("yaw", 0.0)]
    if len(numbers) != 3 or not all(isinstance(value, int | float) and abs(value) < 10 for value in numbers):
        raise DeskhandError("invalid_input", f"{where}.at must be [x, y] in metres and yaw in radians, got {item.get('at')!r} and {item.get('yaw')!r}.")
    return Slot(float(numbers[0]), float(numbers[1]), tuple(on), shape, float(numbers[2]), str(item.get("color") or "").lower())


def to_spec(slots: Sequence[Slot]) -> dict[str, Any]:
    """Plain data that :func:`from_spec` reads back."""
    items = []
    for slot in slots:
        item: dict[str, Any] = {"at": [round(slot.x, 4), round(slot.y, 4)]}
        item |= {"on": list(slot.on)} if slot.on else {}
        item |= {"shape": slot.shape, "yaw": round(slot.yaw, 4)} if slot.shape != "cube" else {}
        items.append(item | ({"color": slot.color} if slot.color else {}))
    return {"blocks": items}


def span(slots: Sequence[Slot]) -> float:
    """Largest distance [m] of a slot from the origin."""
    return max(hypot(slot.x, slot.y) for slot in slots)
