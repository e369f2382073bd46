"""Opening and closing drawers, opening lids, turning knobs, part of the offline brain's script: which handle is meant, then the tool that moves it."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from typing import Any

import numpy as np

from deskhand.language.drawers import is_drawer, open_drawers_of, touching
from deskhand.language.intents import Operate
from deskhand.language.resolve import Seen, resolve
from deskhand.offline.script import Call, CallResult, Script
from deskhand.offline.task_executive import TaskExecutive

TOOLS = {
    ("open", "drawer"): ("open_drawer", "pull a drawer open by its handle"),
    ("close", "drawer"): ("close_drawer", "push a drawer shut by its handle"),
    ("open", "lid"): ("open_lid", "open the hinged lid of a box"),
    ("close", "lid"): ("close_lid", "close the hinged lid of a box"),
    ("turn", "knob"): ("turn_knob", "turn a knob"),
}
"""What an act needs, and what it is looked for by."""
FIND = ("find_handles", "find the handles of drawers, lids and knobs")
MIDDLE = 0.35
"""How far off the middle of its side, as a share of half that side, the handle of a knob may be; that of a lid is farther."""
PLAINLY = 1.2
"""How many times farther than all else on top a knob sticks out that needs no more words."""

ONE_LID = 0.10
"""[m] between upper edges of what two objects of a look are told to have: a lid may be seen as a part of several."""
LOOKS = 2
"""How often it is looked for a handle: a small one is not seen in every look."""

Row = dict[str, Any]


def operating(executive: TaskExecutive, tools: Collection[str], answers: list[str], wish: Operate) -> Script:
    """Open, close or turn it; what could not be done is among the problems of the executive."""
    if (wish.act, wish.part) not in TOOLS:
        executive.problems.append(("impossible", f"I have no tool to {wish.act} a {wish.part}."))
        return
    if not (yield from executive.look(f"I look for {wish.item.words}.")):
        return
    tool, does = TOOLS[wish.act, wish.part]
    for name, what in (FIND, (tool, does)):
        if name not in tools:
            yield Call("find_tools", {"query": what}, f"I look for a tool that can {what}.")
    if (wish.act, wish.part) == ("close", "lid"):
        yield from _closing(executive, answers, wish)
        return
    found = yield from handles_meant(executive, wish, f"By what is {wish.item.words} moved?")
    if found is None:
        return
    if len(found) != 1:
        places = "; ".join(f"on {row['object_id']} at {row['position']}" for row in found)
        many = f"{len(found)} handles may be meant ({places}): say which, as top, middle or bottom" if found else "I see no handle that may be meant"
        executive.problems.append(("unknown_object", f"{many} by '{wish.item.words}'."))
        return
    arguments = {"object_id": found[0]["object_id"], "handle": found[0]["position"]}
    if wish.distance:
        arguments["distance"] = wish.distance
    tries = [{**arguments, "angle": round(angle, 3)} for angle in ((wish.angle, -wish.angle) if wish.either else (wish.angle,))]
    for attempt in tries if wish.part == "knob" else [arguments]:
        moved = yield Call(tool, attempt, f"I {wish.act} it by the handle at {found[0]['position']}.")
        if moved.ok or moved.code != "not_moved":
            break
    executive.touched()
    told = wish.which and wish.which not in wish.item.words.split()
    executive.count(moved, f"{wish.act} {wish.item.words}{f' ({wish.which})' if told else ''}")
    if moved.ok:
        executive.moved[wish.item.words] = moved.data["handle"]
        answers.append(_told(wish, moved.data))


def handles_meant(executive: TaskExecutive, wish: Operate, thought: str) -> Generator[Call, CallResult, list[Row] | None]:
    """The handles that the words may mean, from a second look where the first shows none; None where that failed, which is among the problems."""
    found: list[Row] = []
    for look in range(LOOKS):
        heard = yield Call("find_handles", {}, thought)
        if not heard.ok:
            executive.problems.append((heard.code, heard.message))
            return None
        found = chosen(wish, heard.data["handles"], executive.objects, executive.moved.get(wish.item.words))
        if found or look == LOOKS - 1 or not (yield from executive.look("I see no handle that may be meant; I look again.")):
            break
    return found


def _closing(executive: TaskExecutive, answers: list[str], wish: Operate) -> Script:
    """Of lids that stand open the one that is meant: of what is called so, or has that colour; the only one."""
    heard = yield Call("find_handles", {}, f"Does the lid of {wish.item.words} stand open?")
    if not heard.ok:
        executive.problems.append((heard.code, heard.message))
        return
    lids = heard.data["open_lids"]
    named = {str(item["id"]) for item in resolve(wish.item, executive.objects, "any").objects}
    like = {str(item["id"]) for item in executive.objects if not wish.item.colors or item.get("color") in wish.item.colors}
    left = [lid for lid in lids if lid["object_id"] in named] or [lid for lid in lids if lid["object_id"] in like]
    far = {str(item["id"]) for item in executive.objects if item.get("beyond_reach")}
    left = [lid for lid in left if lid["object_id"] not in far] or left  # nobody asks the arm for what it cannot reach where it can reach one
    first = left[0] if left else None
    if first is None or any(float(np.linalg.norm(np.subtract(lid["edge"], first["edge"]))) > ONE_LID for lid in left):
        many = f"{len(left)} lids stand open: say which" if left else "I see no lid that stands open"
        executive.problems.append(("unknown_object", f"{many}, for '{wish.item.words}'."))
        return
    shut = yield Call("close_lid", {"object_id": first["object_id"]}, f"I push the lid of {wish.item.words} over.")
    executive.touched()
    executive.count(shut, f"close {wish.item.words}")
    if shut.ok:
        answers.append(f"The lid of {wish.item.words} is shut.")


def _told(wish: Operate, data: Row) -> str:
    if wish.part == "knob":
        return f"I turned the knob of {wish.item.words} by {float(data['moved']):.1f} rad."
    name, far = " ".join(f"{wish.which} {wish.part}".split()), f"{100 * float(data['moved']):.0f} cm"
    if wish.act == "close":
        return f"I pushed the {name} in by {far}{', as far as it goes' if data['stopped'] else ''}."
    return f"The {name} has come open: its handle went {far}."


def chosen(wish: Operate, rows: Sequence[Row], objects: Sequence[Seen], moved: Sequence[float] | None = None) -> list[Row]:
    """The handles that the words may mean: one where they tell it from all others; ``moved``: where the one is that was moved before."""
    sides = [row for row in rows if row["side"] == ("side" if wish.part == "drawer" else "top")]
    meant = resolve(wish.item, objects, "any").objects
    named = {str(item["id"]) for item in meant}
    left = [row for row in sides if row["object_id"] in named]
    if wish.part == "drawer" and all(map(is_drawer, meant)) and (wish.act == "open" or wish.which):  # the others of that cabinet are shut
        left = []
    elif wish.part == "drawer" and meant:
        also = {str(item["id"]) for item in open_drawers_of(meant, objects)}
        left += [row for row in sides if row["object_id"] in also - named]
    if not left and wish.act == "close" and meant and all(map(is_drawer, meant)):  # one that stands open is known, and nothing elsewhere is its handle
        near = {str(item["id"]) for item in touching(meant, objects)}
        left = [row for row in sides if row["object_id"] in near]
    elif not left:  # a drawer is seldom known to be one by its looks
        like = {str(item["id"]) for item in objects if not wish.item.colors or item.get("color") in wish.item.colors}
        left = [row for row in sides if row["object_id"] in like and (wish.part == "drawer" or (row["off_middle"] < MIDDLE) == (wish.part == "knob"))]
    if len(meant) == 1 and wish.act == "close" and is_drawer(meant[0]) and len(left) > 1 and (case := touching(meant, objects)):
        body = max(case, key=lambda item: float(np.prod(item["size"])))["position"]  # it is on the front, and farthest from the case
        left = [max(left, key=lambda row: float(np.linalg.norm(np.subtract(row["position"][:2], body[:2]))))]
    if moved is not None and len(left) > 1 and not wish.which:
        return [min(left, key=lambda row: float(np.linalg.norm(np.subtract(row["position"], moved))))]
    if wish.part == "knob" and len(left) > 1:
        first, second = sorted(left, key=lambda row: -row["size"][0])[:2]
        if first["size"][0] > PLAINLY * second["size"][0]:
            return [first]
    if wish.which and left:
        heights = sorted(left, key=lambda row: -row["position"][2])
        if wish.which == "middle":
            return [heights[len(heights) // 2]] if len(heights) % 2 else heights
        return [heights[0 if wish.which == "top" else -1]]
    return left
