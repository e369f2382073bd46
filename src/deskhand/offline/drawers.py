"""Putting into drawers, part of the offline brain's script: which drawer is meant, and opening it first where it is shut."""

from __future__ import annotations

from collections.abc import Collection, Generator
from dataclasses import replace
from typing import Any

import numpy as np

from deskhand.language import lexicon as lex
from deskhand.language.drawers import is_drawer
from deskhand.language.intents import Intent, Operate, Place, Ref
from deskhand.language.resolve import Seen, resolve
from deskhand.offline.operating import FIND, TOOLS, handles_meant, operating
from deskhand.offline.script import Call, CallResult
from deskhand.offline.task_executive import TaskExecutive

SAME = 0.03
"""[m] between the handle of what was opened last and the one that is meant now: the same."""
HANDLE = 0.12
"""[m] from the middle of an open drawer beyond half its length at most to its handle."""


def means_a_drawer(place: Place) -> bool:
    """Whether its target is, or may be, a drawer."""
    target = place.target
    if place.relation not in ("in", "auto") or target.id:
        return False
    return bool(target.drawer) or target.kinds == {"cabinet"} or "cabinet" in target.noun.split("_")


def into_drawers(executive: TaskExecutive, tools: Collection[str], answers: list[str], group: list[Intent]) -> Generator[Call, CallResult, list[Intent] | None]:
    """The group with each drawer that something is put into named by the id it has open; opened first where it was shut. None: it could not be."""
    found: list[Intent] = []
    for task in group:
        if not (isinstance(task, Place) and means_a_drawer(task)):
            found.append(task)
            continue
        known = yield from _open(executive, tools, answers, task.target)
        if known is None:
            return None
        found.append(replace(task, target=replace(task.target, id=known)) if known else task)
    return found


def _open(executive: TaskExecutive, tools: Collection[str], answers: list[str], target: Ref) -> Generator[Call, CallResult, str | None]:
    """The id of the drawer that is meant, open; empty where no drawer is, None where it could not be opened."""
    if not (yield from executive.see(f"I look for {target.words}.")):
        return None
    if target.kinds != {"cabinet"} and any(map(_open_box, resolve(target, executive.objects).objects)):
        return ""
    which = target.drawer if target.drawer in lex.WHICH_DRAWER.values() else ""
    ready = list(resolve(target, executive.objects, "into").objects)
    if not which and any(map(is_drawer, ready)):
        return _last_moved(executive, [item for item in executive.objects if is_drawer(item)] if target.kinds else ready)
    for name, what in (FIND, TOOLS["open", "drawer"]):
        if name not in tools and not (yield Call("find_tools", {"query": what}, f"I look for a tool that can {what}.")).ok:
            return ""
    wish = Operate("open", target, "drawer", which=which)
    rows = yield from handles_meant(executive, wish, f"Is {target.words} open?")
    if rows is None:
        return None
    if len(rows) == 1 and (own := drawer_at(rows[0]["position"], executive.objects)):
        return own
    just_now = len(rows) == 1 and any(np.linalg.norm(np.subtract(place, rows[0]["position"])) < SAME for place in executive.moved.values())
    seen = just_now and (yield from executive.look("I opened it; what do I see of it now?"))
    if seen and (own := drawer_at(rows[0]["position"], executive.objects)):
        return own
    if not rows and any(map(is_drawer, ready)):
        return str(next(item["id"] for item in ready if is_drawer(item)))
    if not rows:
        return ""
    before = len(executive.problems)
    yield from operating(executive, tools, answers, wish)
    if len(executive.problems) > before or not (yield from executive.look("Is it open now?")):
        return None
    own = drawer_at(executive.moved.get(target.words, [np.inf] * 3), executive.objects)
    if not own:
        executive.problems.append(("unknown_object", f"I opened {target.words}, and do not see into it."))
        return None
    executive.problems[:] = [each for each in executive.problems if not _is_failed_opening(each[1], which)]  # it is open now
    return own


def _is_failed_opening(problem: str, which: str) -> bool:
    """Whether a problem is that this drawer did not open before; another one may still be shut."""
    act, failed, _ = problem.partition(" failed: ")
    named = {word for word in lex.WHICH_DRAWER.values() if word in act.replace("(", " ").replace(")", " ").split()}
    return bool(failed) and act.startswith("open ") and named == ({which} if which else set())


def _open_box(item: Seen) -> bool:
    return bool(item.get("is_container")) and not is_drawer(item)


def _last_moved(executive: TaskExecutive, drawers: list[Seen]) -> str:
    """Of several that stand open the one that was opened last."""
    last = next(reversed(list(executive.moved.values())), None)
    own = drawer_at(last, drawers) if last is not None else ""
    return own or (str(drawers[0]["id"]) if len(drawers) == 1 else "")


def drawer_at(handle: Any, objects: Collection[Seen]) -> str:
    """The id of the open drawer that a handle at ``handle`` (3,) is on; empty for none."""
    best, least = "", np.inf
    for item in objects:
        if is_drawer(item):
            off = np.subtract(handle, item["position"])
            away = float(np.hypot(off[0], off[1])) - float(max(item["size"][:2])) / 2
            if abs(off[2]) < float(item["size"][2]) and away < min(least, HANDLE):
                best, least = str(item["id"]), away
    return best
