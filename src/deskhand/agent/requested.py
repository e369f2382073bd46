"""What the user's own words ask for. A motion about anything else needs the user's yes, whatever text a model may have read in between.

Text on objects, in names, in results of tools or of remote servers can ask a model for anything. The model may obey; the loop does not: it computes from the
words of the user alone which objects may be moved, where to, and what else was asked for. What licenses an act is a *request* (language/requests.py),
with the object in the part of what is acted on; a word that is merely there licenses nothing. The one question that is asked of this module is
:meth:`RequestedActs.missing`.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from deskhand.agent.desk import TaskDesk, position_of
from deskhand.agent.foreign import plain_label
from deskhand.agent.request_matching import ALL, acts_on, asks_for, goes_to, moves, named, sort_of, widened
from deskhand.language import lexicon as lex
from deskhand.language import verbs as vb
from deskhand.language.intents import (
    Act,
    Ask,
    Build,
    Hand,
    Help,
    If,
    Imitate,
    Impossible,
    Insert,
    Intent,
    Leave,
    Operate,
    Pick,
    Place,
    Ref,
    Release,
    Sort,
    Stop,
    Tidy,
    Tower,
    Unclear,
    Undo,
    Wipe,
)
from deskhand.language.requests import BESIDE, INTO, OBJECT, Reading, read
from deskhand.language.resolve import Seen, is_receptacle, kind, name_of, resolve
from deskhand.world.acts import PUTS, announced

FREE = frozenset(("look", "move_home", "put_aside", "stop_motion", "close_gripper"))
"""Motions that need no words: they bring no object anywhere but, safely, out of the hand onto the desk."""
NAMED = frozenset(("pick", "separate"))
"""Motions that are licensed by their object alone."""


class RequestedActs:
    """Of one run; ``instruction`` and whatever the user says later."""

    def __init__(self, instruction: str) -> None:
        self._readings: list[Reading] = [read(instruction)]
        self._granted: set[str] = set()

    def told(self, text: str) -> None:
        """More words of the user: a correction, or an answer, of which a phrase alone is enough."""
        self._readings.append(read(text, answering=True))

    def grant(self, subjects: Iterable[str]) -> None:
        """The user has said yes to these (ids, or tools that are about no object)."""
        self._granted |= set(subjects)

    def missing(self, name: str, arguments: Mapping[str, Any], desk: TaskDesk) -> list[str]:
        """What of a motion the words do not ask for: ids of objects, or the tool's own name; empty when all is asked for."""
        if name in FREE:
            return []
        if name in vb.OPERATING:
            return [] if name in self._granted or self._operates(name, str(arguments.get("object_id", "")), desk) else [name]
        plain, after = announced(name, arguments)
        objects = sorted(desk.about(name, plain))
        targets = [obj for obj in objects if name in PUTS and obj in _strings_of(arguments, "container_id", "target_id", "on")]
        moved = [obj for obj in objects if obj not in targets]
        sort = sort_of(name)
        held = [desk.held] if desk.held and name in (*PUTS, "open_gripper", "handover", "execute_plan", "move_joints") else []
        missing = [obj for obj in moved if not (self._covers(obj, desk, sort) or self._wipes_with(obj, desk))]
        missing += [obj for obj in held if not (self._covers(obj, desk, vb.MOVE) or self._wipes_with(obj, desk))]
        missing += [obj for obj in targets if not self._goes_to(obj, desk.held, desk, beside=name == "place_beside")]
        if not targets and not (name in NAMED or (name == "execute_plan" and objects)) and not self._meant(name, arguments, desk):
            missing.append(name)
        missing += self._missing_after(after, str(arguments.get("object_id", "")), desk) if after is not None else []
        return [item for item in dict.fromkeys(missing) if item not in self._granted]

    def _missing_after(self, call: tuple[str, dict[str, Any]], held: str, desk: TaskDesk) -> list[str]:
        """What the words do not ask for of a call that another one begins with, after which the hand has ``held``."""
        name, arguments = call
        if name in PUTS:
            return [obj for obj in _strings_of(arguments, "container_id") if not self._goes_to(obj, held, desk, beside=False)]
        return [obj for obj in _strings_of(arguments, "object_id") if not self._covers(obj, desk, vb.MOVE)]

    def lets_go(self, desk: TaskDesk) -> bool:
        """Whether the words ask to open a gripper that holds something, or the user has said yes to it."""
        return desk.held in self._granted or self._meant("open_gripper", {}, desk)

    def of_goals(self, goals: list[tuple[str, str]], desk: TaskDesk) -> list[str]:
        """What sub-goals (object, target) bring in that the words do not cover."""
        missing = [obj for obj, _ in goals if not self._covers(obj, desk, vb.MOVE)]
        missing += [target for obj, target in goals if target != "table" and not self._goes_to(target, obj, desk, beside=True)]
        return [item for item in dict.fromkeys(missing) if item not in self._granted]

    def acted_on(self, name: str, desk: TaskDesk) -> bool:
        """Whether a request to move something means the object."""
        return self._acted_on(name, desk, vb.MOVE)

    # ------------------------------------------------------------ objects

    def _covers(self, name: str, desk: TaskDesk, sort: str) -> bool:
        """Asked to be moved (wiped, touched), or lying on or in what is to be moved (it has to leave first)."""
        seen: set[str] = set()
        while name and name not in seen:
            if name in self._granted or self._acted_on(name, desk, sort):
                return True
            if self._kept(name, desk):
                return False
            seen.add(name)
            item = desk.objects.get(name)
            name = str(item.get("support") or "") if item is not None and sort == vb.MOVE else ""
        return False

    def _wipes_with(self, name: str, desk: TaskDesk) -> bool:
        """Whether it is what one wipes with, wiping was asked for, and nothing keeps it where it is: "wipe the stain" names no sponge."""
        item = desk.item(name)
        if item is None or str(item["label"]) not in lex.USES["wipe"] or self._kept(name, desk):
            return False
        return any(request.verb in vb.SORTS[vb.WIPE] for reading in self._readings for request in reading.requests)

    def _acted_on(self, name: str, desk: TaskDesk, sort: str) -> bool:
        """Whether a request acts on the object, and nothing that is at least as exact, and not older, keeps it where it is."""
        item = desk.item(name)
        if item is None:
            return False
        objects = _objects(desk, item)
        asked = [
            (number, found)
            for number, reading in enumerate(self._readings)
            for found in _asked(reading, item, objects, desk.held, sort)
            if name in found or found == ALL
        ]
        kept = self._kept(name, desk)
        return any(all(_weighs_more(number, found, *other) for other in kept) for number, found in asked)

    def _kept(self, name: str, desk: TaskDesk) -> list[tuple[int, frozenset[str]]]:
        """What keeps it where it is: when that was said, and the objects that it means."""
        item = desk.item(name)
        objects = _objects(desk, item) if item is not None else []
        found = [(number, named(words, "", objects, "", False)) for number, reading in enumerate(self._readings) for words in reading.kept]
        return [(number, ids) for number, ids in found if name in ids]

    def _goes_to(self, name: str, moved: str, desk: TaskDesk, beside: bool) -> bool:
        """Whether a request that acts on what is moved brings it there."""
        item, what = desk.item(name), desk.item(moved)
        if name in self._granted:
            return True
        if item is None:
            return False
        free = what is None or moved in self._granted
        objects = _objects(desk, item) + ([what] if what is not None and moved not in desk.objects else [])
        it = moved if what is not None and self._answered(what, objects, desk) else desk.held
        return any(_target(reading, item, objects, None if free else what, it, beside) for reading in self._readings)

    def _answered(self, item: Seen, objects: list[Seen], desk: TaskDesk) -> bool:
        """Whether the user has named the object since the instruction; "it" may then mean it."""
        found = (ids for reading in self._readings[1:] for ids in _asked(reading, item, objects, desk.held, vb.MOVE))
        return any(ids != ALL and item["id"] in ids for ids in found)

    # ------------------------------------------------------------ acts

    def _meant(self, name: str, arguments: Mapping[str, Any], desk: TaskDesk) -> bool:
        """Whether the words ask for a motion that has no target of its own."""
        if name in ("place_at", "place_beside"):
            return _back(arguments, desk) or self._anywhere()
        if name == "open_gripper" and not desk.held:
            return True
        intents = [item for reading in self._readings for intent in reading.intents for item in _flat(intent)]
        acts = {Act: "open_gripper", Hand: "handover", Undo: "undo_last_act", Release: "open_gripper"}
        if any(acts.get(type(item)) == name and not (isinstance(item, Act) and item.tool != name) for item in intents):
            return True
        held = desk.item(desk.held)
        known = _objects(desk, held) if held is not None else []
        return any(asks_for(name, request, known, desk.held) for reading in self._readings for request in reading.requests)

    def _operates(self, name: str, obj: str, desk: TaskDesk) -> bool:
        """Whether the words ask to open, close or turn something that may be the object: a drawer is seldom known to be one by its looks, so that a noun that
        means nothing seen may be it.
        """
        item = desk.item(obj)
        if item is None or obj in self._granted:
            return obj in self._granted
        objects = _objects(desk, item)
        for reading in self._readings:
            for request in reading.requests:
                if request.verb in vb.OPERATING[name] and not self._kept(obj, desk):
                    meant = [named(words, request.verb, objects, desk.held, False) for words in request.of(OBJECT)]
                    if all(not ids or ids == ALL or obj in ids for ids in meant):
                        return True
        return False

    def _anywhere(self) -> bool:
        """Whether a request leaves open where on the desk an object goes, or gives it a place there."""
        for reading in self._readings:
            intents = [item for intent in reading.intents for item in _flat(intent)]
            if any(not isinstance(item, QUIET) and not (isinstance(item, Place) and not item.target.table and item.relation in _ON_IT) for item in intents):
                return True
            if any(
                moves(request) and (request.aside or request.of(BESIDE) or not any(request.goal(words) for words in request.of(INTO)))
                for request in reading.unread
            ):
                return True
        return False


BACK = 0.1
"""So near [m] to where it was taken from an object may always be put back."""
QUIET = (Ask, Help, If, Insert, Leave, Operate, Stop, Act, Wipe, Impossible, Unclear)
"""Intents that bring no object anywhere."""
KNOWN = (Ask, Build, Help, Insert, Leave, Operate, Pick, Place, Release, Stop, Tower, Act, Wipe)
"""Intents whose objects are read below; of others, all phrases in them count."""
_ON_IT = ("in", "on", "auto")


def _objects(desk: TaskDesk, item: Seen) -> list[Seen]:
    """What is on the desk; a label or a colour that is a text, which somebody wrote, names nothing."""
    items = list(desk.objects.values()) if item["id"] in desk.objects else [*desk.objects.values(), item]
    return [{**item, "label": plain_label(item["label"]), "color": item.get("color") and plain_label(item["color"])} for item in items]


def _weighs_more(number: int, asked: frozenset[str], later: int, kept: frozenset[str]) -> bool:
    """Whether what is asked of objects outweighs that others, or the same, stay: the more exact words do, of equal ones the later."""
    if asked == ALL or kept < asked:
        return False
    return asked < kept or number > later


def _asked(reading: Reading, item: Seen, objects: list[Seen], held: str, sort: str) -> Iterator[frozenset[str]]:
    """The sets of objects that the requests act on, as far as they may have to do with this one."""
    for intent in reading.intents if sort == vb.MOVE else ():
        for inner in _flat(intent):
            if isinstance(inner, QUIET):
                continue
            if _general(inner, item, False):
                yield ALL
            yield from (_ids(ref, objects, held) for ref in _refs(inner, False))
    for request in reading.unread if sort == vb.MOVE else reading.requests:
        yield from (named(words, request.verb, objects, held, False) for words in acts_on(request, sort))


def _target(reading: Reading, item: Seen, objects: list[Seen], moved: Seen | None, it: str, beside: bool) -> bool:
    """Whether the object that is moved (None: any) shall go there; ``it`` is what a pronoun means."""
    for intent in reading.intents:
        for inner in _flat(intent):
            if isinstance(inner, QUIET) or (isinstance(inner, Place) and inner.relation not in _ON_IT and not beside):
                continue
            if isinstance(inner, Place) and moved is not None and not any(_in(moved, _ids(ref, objects, it)) for ref in inner.objects):
                continue
            if _general(inner, item, True) or any(_in(item, _ids(ref, objects, it)) for ref in _refs(inner, True)):
                return True
    for request in reading.unread:
        acts = not request.verb or moved is None or any(_in(moved, named(words, request.verb, objects, it, False)) for words in acts_on(request, vb.MOVE))
        if acts and any(_in(item, named(words, request.verb, objects, it, True)) for words in goes_to(request, beside)):
            return True
    return False


def _in(item: Seen, ids: frozenset[str]) -> bool:
    return ids == ALL or item["id"] in ids


def _ids(ref: Ref, objects: list[Seen], held: str) -> frozenset[str]:
    if ref.pronoun:
        return frozenset((held,)) if held else frozenset()
    if (ref.rest or (ref.anything and not (ref.colors or ref.shapes))) and not ref.table:
        return ALL
    return frozenset(str(found["id"]) for found in resolve(widened(ref), objects, "any").objects)


def _flat(intent: Intent) -> Iterator[Intent]:
    """An intent and those inside of it ("if the cup is red, put it …")."""
    yield intent
    for field in dataclasses.fields(intent):
        value = getattr(intent, field.name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Intent):
                yield from _flat(item)


def _general(intent: Intent, item: Seen, target: bool) -> bool:
    """Whether an intent means this object without naming it: tidying means all objects and all containers, building all blocks."""
    if isinstance(intent, Imitate):
        return target or not is_receptacle(item)  # of what is here, the demonstration says
    if target and isinstance(intent, Tidy | Sort):
        return is_receptacle(item)
    if isinstance(intent, Tidy):
        return not intent.scope and not is_receptacle(item)
    if not isinstance(intent, KNOWN) and not any(True for _ in _refs(intent, target)):
        return not is_receptacle(item)  # it names no object, and means whatever is there: "make room in the middle"
    block = kind(item) in ("block", "box") or item.get("shape") == "box"
    return block and not is_receptacle(item) and (isinstance(intent, Build) or (isinstance(intent, Tower) and not intent.objects))


def _refs(intent: Intent, target: bool) -> Iterator[Ref]:
    """Phrases for what may be moved, or for where it may go."""
    if isinstance(intent, Place):
        yield from (intent.target,) if target else intent.objects
    elif isinstance(intent, Tidy):
        yield from intent.scope
    elif isinstance(intent, Tower | Release):
        yield from intent.objects
    elif isinstance(intent, Pick):
        yield intent.item
    elif not isinstance(intent, KNOWN):
        for field in dataclasses.fields(intent):
            value = getattr(intent, field.name)
            yield from (item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, Ref))


def _strings_of(arguments: Mapping[str, Any], *keys: str) -> set[str]:
    values = [arguments.get(key) for key in keys]
    return {str(item) for value in values for item in (value if isinstance(value, list) else [value])}


def _back(arguments: Mapping[str, Any], desk: TaskDesk) -> bool:
    """Whether what is held goes back to about where it was taken from."""
    item, point = desk.objects.get(desk.held), position_of(arguments)
    return item is not None and point is not None and math.dist(point, [float(value) for value in item["position"][:2]]) < BACK


def shown(subjects: list[str], desk: TaskDesk) -> str:
    """Objects for a question to the user: names cut short, for a name may be text that somebody wrote on an object."""
    names = []
    for name in subjects:
        item = desk.item(name)
        said = re.sub(r"[^A-Za-z0-9 _-]", "", name_of(item))[:40] if item else ""
        names.append(f"the {said} ({name[:40]})" if said else name[:40])
    return ", ".join(names)
