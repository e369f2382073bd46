"""What each form of forms.py means: a function for each, from its noun phrases and its match to an intent, or None where it means nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

from deskhand.language import lexicon as lex
from deskhand.language.intents import Clear, Hand, Impossible, Intent, MoveTo, Place, Ref, Row, Shift, Sort, Swap, Tower, Undo

Slots = dict[str, tuple[Ref, ...]]
Builder = Callable[[Slots, "re.Match[str]"], Intent | None]

EVERYTHING = Ref("everything", count=0)
_REGION_WORDS = {
    "far": "front", "upper": "front", "top": "front", "near": "back", "lower": "back", "bottom": "back", "rear": "back", "centre": "middle", "center": "middle",
}  # fmt: skip
SPACES = {"laptop": (0.22, 0.31), "notebook": (0.22, 0.31), "computer": (0.22, 0.31), "keyboard": (0.14, 0.36), "tablet": (0.18, 0.25), "book": (0.22, 0.16),
          "paper": (0.30, 0.21), "plate": (0.22, 0.22), "mug": (0.09, 0.09), "cup": (0.09, 0.09), "phone": (0.16, 0.09), "mouse": (0.12, 0.09)}  # fmt: skip
"""What room objects need that somebody wants to put down, (x, y) [m]."""
STEP = 0.06  # [m] of "a bit to the left"
WAYS = {"left": (0.0, 1.0), "right": (0.0, -1.0), "away": (1.0, 0.0), "forward": (1.0, 0.0), "closer": (-1.0, 0.0), "back": (-1.0, 0.0)}
UNITS = {"c": 0.01, "m": 0.001, "i": 0.0254}


def swap(slots: Slots, found: re.Match[str]) -> Intent | None:
    """Two objects change places."""
    objects = (*slots.get("a", ()), *slots.get("b", ()), *slots.get("object", ()))
    if len(objects) == 2 and objects[0].bare:  # "the red and the blue block"
        objects = (replace(objects[0], kinds=objects[1].kinds, noun=objects[1].noun, bare=False), objects[1])
    if len(objects) == 1 and objects[0].count in (0, 2):
        return Swap((replace(objects[0], count=2),))
    return Swap(objects) if len(objects) == 2 else None


def undo(slots: Slots, found: re.Match[str]) -> Intent:
    """What was moved goes back."""
    objects = tuple(ref for ref in slots.get("object", ()) if not (ref.pronoun or ref.count == 0))
    return Undo(objects, last=bool(re.search(r"\blast (?:step|move|one|thing|action)\b", found.string)))


def sort(slots: Slots, found: re.Match[str]) -> Intent | None:
    """What is alike goes together; by size it is a row."""
    objects, by = slots.get("object", (EVERYTHING,)), found["by"].rstrip("s")
    if by not in ("size", "height", "length", "volume") and found.groupdict().get("order"):
        return None  # "by colour, red in the tray and the others in the bin"
    if found.string.startswith(("order", "rank", "line", "lay")) and by not in ("size", "height", "length", "volume"):
        return None  # an order of colours or kinds that is not said
    if by.startswith("colo"):
        return Sort(objects, "color", bool(found.groupdict().get("boxes")))
    if by in ("size", "height", "length", "volume"):
        order = _order(f"by {by} {found.groupdict().get('order') or ''}")
        return Row(objects, *order) if order else None
    return Sort(objects, "kind", bool(found.groupdict().get("boxes")))


def separate(slots: Slots, found: re.Match[str]) -> Intent | None:
    """Two sorts of objects apart."""
    objects = (*slots["a"], *slots["b"])
    head = next((ref for ref in objects if not ref.bare), None)
    if head is None or any(ref.where or ref.rest for ref in objects):
        return None
    objects = tuple(replace(ref, kinds=head.kinds, noun=head.noun, bare=False, count=0) if ref.bare else ref for ref in objects)
    return Sort(objects, "color" if all(ref.colors for ref in objects) else "kind")


def stack(slots: Slots, found: re.Match[str]) -> Intent:
    """A tower, the biggest at the bottom."""
    return Tower(slots["object"])


def closer(slots: Slots, found: re.Match[str]) -> Intent | None:
    """Next to another object."""
    return Place(slots["a"], "near", slots["b"][0]) if len(slots["b"]) == 1 else None


def elsewhere(slots: Slots, found: re.Match[str]) -> Intent:
    """To another free place."""
    return MoveTo(slots["object"], "")


def row(slots: Slots, found: re.Match[str]) -> Intent | None:
    """A row."""
    order = _order(found.groupdict().get("order") or "")
    return Row(slots.get("object", (EVERYTHING,)), *order) if order else None


_ORDER_WORDS = frozenset(
    [
        "by",
        "in",
        "of",
        "from",
        "to",
        "the",
        "a",
        "with",
        "one",
        "ones",
        "first",
        "last",
        "on",
        "at",
        "left",
        "right",
        "size",
        "height",
        "length",
        "order",
        "and",
        "going",
        "up",
        "down",
        "side",
        "end",
        "row",
        "line",
        "so",
        "that",
        "is",
        "according",
        "their",
        "then",
        "being",
        "beginning",
        "starting",
        "desk",
        "table",
        "increasing",
        "decreasing",
        "ascending",
        "descending",
    ]
)


def _order(text: str) -> tuple[str, bool] | None:
    """Measure and direction of "by height, the tallest on the left"; None when there are words that say something else."""
    if re.fullmatch(r" by colou?r", text):
        return "color", True
    words = re.findall(r"[a-z]+", text)
    if any(word not in _ORDER_WORDS and word not in lex.SIZES for word in words):
        return None
    sizes = [lex.SIZES[word] for word in words if word in lex.SIZES]
    by = next(({"size": "volume", "height": "height", "length": "length"}[word] for word in words if word in ("size", "height", "length")), "")
    by = by or (sizes[0][0] if sizes else "")
    up = sizes[0][1] < 0 if sizes else not {"decreasing", "descending"} & set(words)
    if re.search(r"\b(?:on|at|to) the right\b", text) or (re.search(r"\bright to left\b", text)) or re.search(r"\blast\b", text):
        up = not up
    return by, up


def _region(words: str) -> str:
    """``far left`` -> ``left front``: sides first, then depth."""
    said = [_REGION_WORDS.get(word, word) for word in words.split()]
    return " ".join(sorted(dict.fromkeys(said), key=("left", "right", "middle", "front", "back").index))


def clear(slots: Slots, found: re.Match[str]) -> Intent | None:
    """Room."""
    groups = found.groupdict()
    named = [word for word in (groups.get("what") or "").split() if word not in lex.DEFINITE | {"a", "an"}]
    if len(named) > 1:  # "a huge laptop", "a laptop and a cup": who knows how much that is
        return None
    what = lex.singular(named[0]) if named else ""
    to = groups.get("to")
    return Clear(_region(groups.get("region") or "middle"), SPACES.get(what, (0.20, 0.20)), _region(to) if to else "")


def move_to(slots: Slots, found: re.Match[str]) -> Intent | None:
    """To a part of the desk."""
    if any(ref.where or ref.place for ref in slots["object"]):  # "put the cup into the box on the left"
        return None
    return MoveTo(slots["object"], _region(found["region"]))


def shift(slots: Slots, found: re.Match[str]) -> Intent | None:
    """A little farther."""
    groups = found.groupdict()
    if found.string.startswith(("put", "bring")) and found["way"] in ("away", "back"):  # tidied up, or put back where it was
        return None
    number, unit = groups.get("n") or groups.get("n2"), groups.get("unit") or groups.get("unit2")
    far = STEP
    if number and unit:
        many = lex.NUMBERS.get(number) or (1 if number in ("one", "a", "an") else float(number) if number[0].isdigit() else 0)
        far = many * UNITS[unit[0]]
    several = any(ref.count != 1 for ref in slots["object"])
    if not far or (found.string.startswith("put") and not number and several):  # "put the yellow things left": a side, or a little farther?
        return None
    way = found["way"].split()[0]
    if re.search(r"\b(?:to|from|towards) me$", found.string):  # who stands across from the robot
        way = {"closer": "away", "away": "closer"}.get(way, way)
    x, y = WAYS[{"forwards": "forward", "backwards": "back", "you": "closer", "yourself": "closer", "me": "away"}.get(way, way)]
    return Shift(slots["object"], (x * far, y * far))


def turn(slots: Slots, found: re.Match[str]) -> Intent:
    """Turned about the vertical."""
    angle = math.radians(float(found["n"] or {"half": 180, "full": 360}.get(found["part"] or "", 90)))
    return Shift(slots["object"], turn=-angle if found["way"] in ("clockwise", "right", "to the right") else angle)


def hand(slots: Slots, found: re.Match[str]) -> Intent | None:
    """Held out to the person."""
    return Hand(slots["object"][0]) if len(slots["object"]) == 1 else None


def want(slots: Slots, found: re.Match[str]) -> Intent | None:
    """A wish for an object is a wish to be handed it."""
    item = slots["object"][0]
    plain = len(slots["object"]) == 1 and item.count == 1 and item.kinds and item.where is None
    return Hand(item) if plain else None


def refuse(why: str) -> Builder:
    """What is not done, and why."""
    return lambda _, found: Impossible(found.string, why)
