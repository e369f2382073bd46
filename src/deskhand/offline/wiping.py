"""Wiping a painted area, part of the offline brain's script: find it, take the sponge, go over it, put the sponge down."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from deskhand.language import lexicon as lex
from deskhand.language.intents import Wipe
from deskhand.language.resolve import Seen, beyond_reach, listing, within_reach
from deskhand.offline.script import Call, Script
from deskhand.offline.task_executive import TaskExecutive

CAPABILITIES = {"find_stains": "find stains and painted areas of the table", "wipe": "wipe an area of the table", "put_aside": "put the held object down"}
"""Tools that it needs, and what they are looked for by."""
TRIES = 2
"""How often an area is gone over."""
BLOCKED = ("path_incomplete", "no_free_space", "goal_in_collision", "start_in_collision", "planning_failed", "no_ik_solution")
"""What says that something is in the way of the sponge or of the arm."""
PARTS = (0.8, 0.65)
"""Shares of an area that are tried where all of it cannot be gone over."""
MOST_LEFT = 0.5
"""Share of an area that may be left where it counts as wiped, as for the skill."""
FULL = 0.75
"""Share of the rectangle around it that an area fills at least that is no triangle, which fills half."""
TOOLS = lex.USES["wipe"]
"""Kinds that one wipes with."""

Stain = dict[str, Any]


def wiping(executive: TaskExecutive, tools: Collection[str], answers: list[str], wish: Wipe) -> Script:
    """Wipe the area; what could not be done is among the problems of the executive."""
    if not (yield from executive.see("I look for something to wipe with.")):
        return
    for tool, does in CAPABILITIES.items():
        if tool not in tools:
            yield Call("find_tools", {"query": does}, f"I look for a tool that can {does}.")
    heard = yield Call("find_stains", {}, "Which areas are painted?")
    if not heard.ok:
        executive.problems.append((heard.code, heard.message))
        return
    found = chosen(wish, heard.data["stains"])
    if len(found) != 1:
        seen = ", ".join(_told(one) for one in heard.data["stains"]) or "none"
        many = f"{len(found)} areas fit" if found else "I see no area that fits"
        executive.problems.append(("unknown_object", f"{many} '{wish.words}'. I see {seen}."))
        return
    sponge = next(iter(within_reach([item for item in executive.objects if str(item["label"]) in TOOLS])), None) or _soft(executive.objects)
    if sponge is None:
        executive.problems.append(("unknown_object", f"I see nothing to wipe with. I see {listing(executive.objects)}."))
        return
    picked = yield Call("pick", {"object_id": str(sponge["id"])}, "I take what wipes.")
    executive.count(picked, "pick")
    if picked.ok:
        yield from _over(executive, answers, found[0])
        down = yield Call("put_aside", {"keep_clear": [found[0]["position"]]}, "I put it down.")
        executive.count(down, "put_aside")


def _over(executive: TaskExecutive, answers: list[str], stain: Stain) -> Script:
    """Go over the area, once more where it is still there; over a part of it where something beside it is in the way."""
    box = [float(value) for value in stain["box"]]
    for number in range(TRIES):
        wiped = yield _wipe(box, f"I wipe {_told(stain)}.")
        if wiped.ok or wiped.code != "wipe_failed" or number + 1 == TRIES:
            break
    left = wiped.data.get("left") if wiped.ok else None
    if wiped.code in BLOCKED:
        for part in parts(box):
            wiped = yield _wipe(part, f"Something is in the way; I wipe a part of {_told(stain)}.")
            if wiped.code not in BLOCKED:
                break
        if wiped.ok:
            heard = yield Call("find_stains", {}, "How much of it is left?")
            left = left_in(box, heard.data["stains"]) / float(stain["area"]) if heard.ok else None
    executive.count(wiped, "wipe")
    if wiped.ok:
        answers.append(f"I wiped {_told(stain)}: " + ("no look showed what is left." if left is None else f"{100 * left:.0f} % of it is left."))
        if left is not None and left > MOST_LEFT:
            executive.problems.append(("wipe_failed", f"{100 * left:.0f} % of {_told(stain)} is left: something is in the way of the rest."))


def _wipe(box: Sequence[float], why: str) -> Call:
    return Call("wipe", dict(zip(("x", "y", "length", "width"), box, strict=True)), why)


def parts(box: Sequence[float]) -> list[list[float]]:
    """Parts of a rectangle (x, y, length, width) [m] that end where it does on one of its shorter sides; the larger ones first."""
    x, y, length, width = box
    found = []
    for share in PARTS:
        off = (1 - share) / 2
        for side in (-1, 1):
            found.append([x, y + side * off * width, length, share * width] if width > length else [x + side * off * length, y, share * length, width])
    return found


def left_in(box: Sequence[float], stains: Sequence[Stain]) -> float:
    """How much [m2] of the stains have their middle in a rectangle."""
    x, y, length, width = box
    return sum(float(one["area"]) for one in stains if abs(one["position"][0] - x) <= length / 2 and abs(one["position"][1] - y) <= width / 2)


def _soft(objects: Sequence[Seen]) -> Seen | None:
    """What may be a sponge by another of its names, the likeliest."""
    named = [(float(name["probability"]), number) for number, item in enumerate(objects) for name in item.get("names", ()) if name["name"] in TOOLS]
    near = [each for each in named if not beyond_reach(objects[each[1]])] or named
    return objects[max(near)[1]] if near else None


def _told(stain: Stain) -> str:
    return " ".join(f"the {stain['color']} area {'from left to right' if stain['direction'] == 'left-right' else stain['direction']}".split())


def chosen(wish: Wipe, stains: Sequence[Stain]) -> list[Stain]:
    """The areas that the words fit: one where they tell it from all others."""
    left = [one for one in stains if wish.direction in ("", one["direction"])]
    left = [one for one in left if wish.shape in ("", "rectangle" if one["area"] > FULL * one["length"] * one["width"] else "triangle")]
    if wish.color:
        left = [one for one in left if lex.color_of(str(one["color"])) == wish.color]
    if wish.place in _SIDES and left:
        axis, sign = _SIDES[wish.place]
        left = [max(left, key=lambda one: sign * one["position"][axis])]
    if wish.largest and left:
        left = [max(left, key=lambda one: wish.largest * one["area"])]
    return left


_SIDES = {"left": (1, 1), "right": (1, -1), "front": (0, 1), "far": (0, 1), "back": (0, -1), "near": (0, -1)}
