"""From the intents of an instruction and what is seen to sub-goals: which object shall be on or in which."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deskhand.language.intents import Leave, Place, Ref, Release, Tidy, Tower
from deskhand.language.resolve import (
    Referents,
    Seen,
    beyond_reach,
    container_of,
    inside,
    is_receptacle,
    listing,
    measure,
    name_of,
    order_near,
    resolve,
)
from deskhand.world.level import TURNED, heading_error
from deskhand.world.relations import SIDEWAYS, TABLE, Body, stands_beside

EXACT = 0.010
"""An object may be so far [m] from the position that a goal names."""
USED = 0.5
"""Share of the room in a container that objects fill when they are put in one by one."""
NEVER = {"under": "under", "between": "between"}


@dataclass(frozen=True)
class Goal:
    """``object_id`` shall be ``on``, ``in`` or beside (world/relations.py) ``target_id``, an id or ``table``; with ``position`` its centre at (x, y) [m],
    with ``yaw`` the heading of its longer side so [rad].
    """

    object_id: str
    relation: str
    target_id: str
    position: tuple[float, float] | None = None
    yaw: float | None = None

    def to_json(self) -> dict[str, Any]:
        """As a sub-goal of a plan."""
        data: dict[str, Any] = {"object_id": self.object_id, "relation": self.relation, "target_id": self.target_id}
        return data | ({"position": list(self.position)} if self.position else {}) | ({"yaw": self.yaw} if self.yaw is not None else {})

    def condition(self) -> dict[str, Any]:
        """As a condition of ``check_goal``."""
        return self.to_json() | ({"beside": True} if self.relation in SIDEWAYS else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Goal:
        """From a sub-goal, or a condition of ``check_goal``."""
        position, yaw = data.get("position"), data.get("yaw")
        return cls(
            str(data["object_id"]), str(data.get("relation", "on")), str(data.get("target_id", TABLE)),
            (float(position[0]), float(position[1])) if position else None, None if yaw is None else float(yaw),
        )  # fmt: skip


@dataclass
class Goals:
    """What has to be done, what was assumed, and what cannot be done and why (code, text)."""

    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    free: set[str] = field(default_factory=set)
    """Objects that may go into any container (nobody said which)."""
    unsettled: str = ""
    """Why the words cannot mean what is seen, so that nothing of them shall be done."""
    words: dict[str, str] = field(default_factory=dict)
    """The phrases that mean one object each, by that object."""
    stages: dict[str, int] = field(default_factory=dict)
    """Of objects whose turn was said; lower ones come first."""


def satisfied(goal: Goal, objects: Sequence[Seen]) -> bool:
    """True when the last look already shows it."""
    for item in objects:
        if item["id"] == goal.object_id:
            if goal.yaw is not None and (item.get("yaw") is None or heading_error(item["size"], float(item["yaw"]), goal.yaw) > TURNED):
                return False
            if goal.relation in SIDEWAYS:
                beside = goal.position is None or math.dist(goal.position, item["position"][:2]) < EXACT
                return beside and any(other["id"] == goal.target_id and stands_beside(Body.seen(item), Body.seen(other), goal.relation) for other in objects)
            there = goal.position is None or math.dist(goal.position, item["position"][:2]) < EXACT
            if goal.relation == "in" and container_of(item, objects) == goal.target_id:
                return there  # on other objects in it, too
            return there and str(item.get("support", TABLE)) == goal.target_id
    return False


Task = Place | Tidy | Leave | Tower | Release


def make_goals(tasks: Sequence[Task], objects: Sequence[Seen], kept: frozenset[str] = frozenset()) -> Goals:
    """Sub-goals for a group of intents that belong together (rules, exceptions and "the rest" see each other)."""
    out = Goals()
    left = set(kept)
    for task in tasks:
        if isinstance(task, Leave):
            left |= {item["id"] for ref in task.objects if not ref.rest for item in resolve(ref, objects, "any").objects}
    places = [task for task in tasks if isinstance(task, Place)]
    alone = len(places) + sum(isinstance(task, Tidy) for task in tasks) == 1
    named: dict[str, Goal] = {}
    for general in (False, True):  # what is named comes first; "everything" and "the rest" take what remains
        for place in places:
            for ref in place.objects:
                if _general(ref) == general:
                    _place(ref, place, objects, left, named, out, alone and len(place.objects) == 1)
    for task in tasks:
        if isinstance(task, Tidy) and not (task.strict and places):
            _tidy(task, objects, left, named, out)
        elif isinstance(task, Tower):
            _tower(task, objects, left, named, out)
        elif isinstance(task, Release):
            _release(task, objects, named, out)
    out.goals = list(named.values())
    return out


def _one(ref: Ref) -> bool:
    return ref.definite and ref.count == 1 and not (ref.pronoun or ref.rest or ref.id or ref.bare)


def _general(ref: Ref) -> bool:
    return ref.rest or (ref.anything and not (ref.colors or ref.shapes or ref.size or ref.place or ref.where) and ref.count == 0)


def _place(ref: Ref, place: Place, objects: Sequence[Seen], left: set[str], named: dict[str, Goal], out: Goals, alone: bool) -> None:
    if place.relation in NEVER:
        known = "I can put them in a container, on another object, beside one, or on the desk."
        out.problems.append(("impossible", f"I cannot put objects {NEVER[place.relation]} others; {known}"))
        return
    another = ref.count and not (ref.definite or ref.id)  # "one block here, another one there"
    found = resolve(ref, [item for item in objects if item["id"] not in named] if another else objects, "object")
    items = [item for item in found.objects if item["id"] not in left]
    if _general(ref):
        items = [item for item in items if item["id"] not in named]
        if items and all(beyond_reach(item) for item in items):
            if not named:
                _beyond(items, out)
            return
    if found.note:
        out.notes.append(found.note)
    if found.missing and ref.anything and ref.count == 0 and ref.where is not None:
        out.notes.append(f"there is nothing {ref.where[0].replace('at', 'in')} {ref.where[1].words}")
    elif found.missing and not _general(ref):
        _missing(ref, found, objects, out, forgiven=ref.count == 0 and not alone)
    for item in items:
        target = _target(place, item, objects, out)
        if target is None:
            left.update(str(each["id"]) for each in items)  # what the words name is not "the rest", though nobody sees where it shall go
            return
        relation, target_id = target
        before = named.get(item["id"])
        if before is not None and before.target_id != target_id:
            out.problems.append(
                ("impossible", f"the {name_of(item)} ({item['id']}) cannot be both {before.relation} {before.target_id} and {relation} {target_id}.")
            )
            continue
        if before is not None and _one(ref) and out.words.get(item["id"], ref.words) != ref.words:
            out.unsettled = f"'{out.words[item['id']]}' and '{ref.words}' are two, and I see but {listing([item])}."
        if _one(ref):
            out.words[item["id"]] = ref.words
        named[item["id"]] = Goal(item["id"], relation, target_id)
        out.stages[item["id"]] = place.stage


def _beyond(objects: Sequence[Seen], out: Goals) -> None:
    """All that is left to be meant is out of reach."""
    out.problems.append(("impossible", f"all that lies there is beyond the arm's reach: {listing(objects)}."))


def _missing(ref: Ref, found: Referents, objects: Sequence[Seen], out: Goals, forgiven: bool) -> None:
    words = ref.words if ref.where is None else f"{ref.words} {ref.where[0].replace('at', 'in').replace('_', ' ')} {ref.where[1].words}"
    number = f"only {len(found.objects)} of '{words}'" if found.objects else f"no '{words.removeprefix('the ').removeprefix('all ')}'"
    if found.objects and ref.count > 1:
        out.unsettled = f"I see {number}. I see {listing(objects)}."
    if forgiven:
        out.notes.append(f"I see {number}")
    else:
        out.problems.append(("unknown_object", f"I see {number}. I see {listing(objects)}."))


def _target(place: Place, item: Seen, objects: Sequence[Seen], out: Goals) -> tuple[str, str] | None:
    ref = place.target
    if place.relation in SIDEWAYS:
        beside = resolve(ref, [other for other in objects if other["id"] != item["id"]], "any")
        if not beside.objects or ref.table:
            _missing(ref, beside, objects, out, forgiven=False)
            return None
        if beside.note and beside.note not in out.notes:
            out.notes.append(beside.note)
        return place.relation, str(order_near(beside.objects, item)[0]["id"])
    if ref.table:
        return "on", TABLE
    others = [other for other in objects if other["id"] != item["id"]]
    into = (
        resolve(replace(ref, count=0) if ref.container and not ref.colors else ref, others, "into")
        if place.relation != "on" or not _only_onto(ref, others)
        else Referents((), missing=True)
    )
    found = into if into.objects else resolve(ref, others, "any")
    if not found.objects:
        _missing(ref, found, objects, out, forgiven=False)
        return None
    if found.note and found.note not in out.notes:
        out.notes.append(found.note)
    container = next((other for other in order_near(found.objects, item) if other.get("is_container")), None)
    if container is not None and (place.relation != "on" or is_receptacle(container)):
        return "in", str(container["id"])
    target = found.objects[0]
    if place.relation == "in":
        containers = listing(other for other in objects if other.get("is_container"))
        text = f"the {name_of(target)} ({target['id']}) is not open at the top; nothing can be put in it. Containers here: {containers}."
        out.problems.append(("impossible", text))
        return None
    return "on", str(target["id"])


def _only_onto(ref: Ref, objects: Sequence[Seen]) -> bool:
    """True when "on the box" can mean a closed one."""
    return any(not item.get("is_container") for item in resolve(replace(ref, count=0), objects, "any").objects)


def _tidy(task: Tidy, objects: Sequence[Seen], left: set[str], named: dict[str, Goal], out: Goals) -> None:
    """Each object that nobody placed goes into the nearest container, evenly filled when several are near."""
    containers = [item for item in objects if is_receptacle(item)]
    items = [item for item in objects if not is_receptacle(item) and not inside(item, objects)]
    if task.scope:
        wanted: set[str] = set()
        for ref in task.scope:
            found = resolve(ref, objects, "object")
            wanted |= {item["id"] for item in found.objects}
            if found.missing:
                _missing(ref, found, objects, out, forgiven=False)
        items = [item for item in items if item["id"] in wanted]
    items = [item for item in items if item["id"] not in left and item["id"] not in named]
    if items and all(beyond_reach(item) for item in items):
        if not named:
            _beyond(items, out)
        return
    items = [item for item in items if not beyond_reach(item)]
    if items and not containers:
        out.problems.append(("impossible", f"there is no container on the desk to tidy objects into. I see {listing(objects)}."))
        return
    room = {item["id"]: USED * float(item.get("free_volume", measure(item, "volume"))) for item in containers}
    for item in sorted(items, key=lambda obj: -measure(obj, "volume")):
        near = order_near(containers, item)
        best = next((c for c in near if measure(item, "volume") <= room[c["id"]]), near[0])
        room[best["id"]] -= measure(item, "volume")
        named[item["id"]] = Goal(item["id"], "in", best["id"])
        out.free.add(item["id"])


def _tower(task: Tower, objects: Sequence[Seen], left: set[str], named: dict[str, Goal], out: Goals) -> None:
    """Biggest at the bottom, unless the order was said; what cannot carry anything (balls) is refused by the verifier."""
    items: list[Seen] = []
    for ref in task.objects:
        found = resolve(ref, objects, "object")
        if found.missing:
            _missing(ref, found, objects, out, forgiven=False)
        items += [item for item in found.objects if item["id"] not in left and item not in items]
    if not task.ordered:
        items.sort(key=lambda item: (-measure(item, "volume"), str(item["id"])))
    if len(items) < 2 and not out.problems:
        out.problems.append(("impossible", f"a tower needs two objects; I found {listing(items)}."))
    for above, below in zip(items[1:], items, strict=False):
        named[above["id"]] = Goal(above["id"], "on", below["id"])


def _release(task: Release, objects: Sequence[Seen], named: dict[str, Goal], out: Goals) -> None:
    for ref in task.objects:
        found = resolve(ref, objects, "any") if not ref.pronoun else Referents(tuple(item for item in objects if item.get("support") == "gripper"))
        for item in found.objects:
            named[item["id"]] = Goal(item["id"], "on", TABLE)
        if found.missing:
            _missing(ref, found, objects, out, forgiven=False)
