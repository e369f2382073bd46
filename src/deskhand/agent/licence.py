"""What the user's own words cover. A motion about anything else needs the user's yes, whatever text a model may have read in between.

Text on objects, in names, in results of tools or of remote servers can ask a model for anything. The model may obey; the loop does not: it computes from
the words of the user alone, by the grammar of agent/language and else by the words themselves, which things may be moved and where to.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from deskhand.agent.desk import Desk, position_of
from deskhand.agent.language import lexicon as lex
from deskhand.agent.language.intents import Act, Ask, Build, Help, Impossible, Intent, Leave, Pick, Place, Ref, Release, Stop, Tidy, Tower, Unclear
from deskhand.agent.language.parser import parse
from deskhand.agent.language.resolve import Seen, is_receptacle, kind, name_of, resolve
from deskhand.etp.words import near, stems
from deskhand.world.acts import PUTS

FREE = frozenset(("look", "move_home", "put_aside", "stop_motion", "close_gripper"))
"""Motions that need no words: they bring no thing anywhere but, safely, out of the hand onto the desk."""
_ANY_WORDS = (
    "everything anything all things thing objects object items item stuff desk table tidy clean clear mess clutter toys sort biggest smallest largest "
    "tallest heaviest lightest leftmost rightmost nearest farthest build tower pyramid bridge house row arrange organize organise room rest others both"
)
_GENERAL = frozenset(_ANY_WORDS.split())
"""Words that may mean any thing on the desk, in sentences that the grammar does not understand."""
_PLACE_WORDS = (
    "left right middle centre center front back behind beside next near edge corner row line circle tower stack pile build bridge house pyramid make room "
    "space aside down here there away between around arrange sort desk table position place spread swap order square triangle"
)
_SPATIAL = frozenset(_PLACE_WORDS.split())
_ARM = "arm hand gripper finger joint robot wrist elbow shoulder wave point"
_MEANT = {
    "open_gripper": "open release drop let give hand",
    "handover": "hand give pass hold handover",
    "push": "push shove slide move nudge",
    "wipe": "wipe clean dust polish scrub sponge",
    "touch_down": "touch press feel weigh tap",
    "move_joints": _ARM,
    "execute_plan": _ARM,
    "navigate_to_goal_pose": "drive navigate base",
    "undo_last_act": "undo back revert cancel",
}
"""Motions without a thing of their own, and the words that ask for them; for tools that are not here it is the words of their names."""


class Licence:
    """Of one run; ``instruction`` and whatever the user says later."""

    def __init__(self, instruction: str) -> None:
        self._intents: list[Intent] = []
        self._loose: list[str] = []
        self._words: set[str] = set()
        self._granted: set[str] = set()
        self.told(instruction)
        self._open = bool(self._loose)

    def told(self, text: str) -> None:
        """The user's words."""
        self._words |= set(re.findall(r"[a-z0-9_]+", text.lower()))
        intents = parse(text).intents
        self._intents += [inner for item in intents for inner in _flat(item) if not isinstance(inner, Unclear | Impossible)]
        if not intents or any(isinstance(item, Unclear | Impossible) for item in intents):
            self._loose.append(text.lower())

    def grant(self, subjects: Iterable[str]) -> None:
        """The user has said yes to these (ids, or tools that are about no thing)."""
        self._granted |= set(subjects)

    def missing(self, name: str, arguments: Mapping[str, Any], desk: Desk) -> list[str]:
        """What of a motion the words do not cover: ids of things, or the tool's own name; empty when all is covered."""
        if name in FREE:
            return []
        things = sorted(desk.about(name, arguments))
        targets = [thing for thing in things if name in PUTS and thing in _strings_of(arguments, "container_id", "target_id", "on")]
        moved = [thing for thing in things if thing not in targets]
        if name in PUTS or name in ("open_gripper", "handover", "execute_plan", "move_joints"):
            moved += [desk.held] if desk.held else []
        missing = [thing for thing in moved if not self._covers(thing, desk, target=False)]
        missing += [thing for thing in targets if not self._covers(thing, desk, target=True)]
        if not targets and not (name in ("pick", "separate") or (name == "execute_plan" and things)) and not self._meant(name, arguments, desk):
            missing.append(name)
        return [item for item in dict.fromkeys(missing) if item not in self._granted]

    def of_goals(self, goals: list[tuple[str, str]], desk: Desk) -> list[str]:
        """What sub-goals (thing, target) bring in that the words do not cover."""
        missing = [thing for thing, _ in goals if not self._covers(thing, desk, target=False)]
        missing += [target for _, target in goals if target != "table" and not self._covers(target, desk, target=True)]
        return [item for item in dict.fromkeys(missing) if item not in self._granted]

    # ------------------------------------------------------------ things

    def _covers(self, name: str, desk: Desk, target: bool) -> bool:
        """Named by the words, or lying on or in what is (it has to leave first)."""
        seen: set[str] = set()
        while name and name not in seen:
            if name in self._granted or self._named(name, desk, target):
                return True
            seen.add(name)
            item = desk.objects.get(name)
            name = str(item.get("support") or "") if item is not None and not target else ""
        return False

    def _named(self, name: str, desk: Desk, target: bool) -> bool:
        item = desk.thing(name)
        if item is None:
            return False
        objects = list(desk.objects.values()) if name in desk.objects else [*desk.objects.values(), item]
        for intent in self._intents:
            if isinstance(intent, Leave):
                continue
            if _general(intent, item, target):
                return True
            for ref in _refs(intent, target):
                if ref.pronoun:
                    if name == desk.held:
                        return True
                    continue
                if ref.rest or (ref.anything and not (ref.colors or ref.shapes)):
                    return True
                if any(found["id"] == name for found in resolve(_widened(ref), objects, "any").objects):
                    return True
        return any(_speaks_of(text, item) for text in self._loose)

    # ------------------------------------------------------------ acts

    def _meant(self, name: str, arguments: Mapping[str, Any], desk: Desk) -> bool:
        """Whether the words ask for a motion that has no target of its own."""
        if name in ("place_at", "place_beside"):
            return _back(arguments, desk) or self._anywhere()
        if name == "open_gripper" and not desk.held:
            return True
        wanted = set(stems(_MEANT.get(name, name.replace("_", " "))))
        said = set(stems(" ".join(self._words)))
        return bool(said & (wanted if name in _MEANT else wanted | {other for word in wanted for other in near(word)}))

    def _anywhere(self) -> bool:
        """Whether the words leave open where on the desk the held thing goes, or give it a place there."""
        if self._open or self._words & _SPATIAL:
            return True
        return not any(isinstance(item, Place) and not item.target.table for item in self._intents)


BACK = 0.1
"""So near [m] to where it was taken from a thing may always be put back."""
KNOWN = (Ask, Build, Help, Leave, Pick, Place, Release, Stop, Tower, Act)
"""Intents whose things are read below; of others, all phrases in them count."""


def _flat(intent: Intent) -> Iterator[Intent]:
    """An intent and those inside of it ("if the cup is red, put it …")."""
    yield intent
    for field in dataclasses.fields(intent):
        value = getattr(intent, field.name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Intent):
                yield from _flat(item)


def _general(intent: Intent, item: Seen, target: bool) -> bool:
    """Whether an intent means this thing without naming it: tidying means all things and all containers, building all blocks."""
    if isinstance(intent, Tidy):
        return is_receptacle(item) if target else not intent.scope and not is_receptacle(item)
    if not isinstance(intent, KNOWN) and not any(True for _ in _refs(intent, target)):
        return not is_receptacle(item)  # it names no thing, and means whatever is there: "make room in the middle"
    block = kind(item) in ("block", "box") or item.get("shape") == "box"
    return block and not is_receptacle(item) and (isinstance(intent, Build) or (isinstance(intent, Tower) and not intent.things))


def _refs(intent: Intent, target: bool) -> Iterator[Ref]:
    """Phrases for what may be moved, or for where it may go."""
    if isinstance(intent, Place):
        yield from (intent.target,) if target else intent.things
    elif isinstance(intent, Tidy):
        yield from intent.scope
    elif isinstance(intent, Tower | Release):
        yield from intent.things
    elif isinstance(intent, Pick):
        yield intent.thing
    elif not isinstance(intent, KNOWN):
        for field in dataclasses.fields(intent):
            value = getattr(intent, field.name)
            yield from (item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, Ref))


def _widened(ref: Ref) -> Ref:
    """Every thing of that kind and colour: which of them is the biggest or the left one is not settled here."""
    return replace(ref, count=0, size=None, place="", where=None, definite=False)


def _speaks_of(text: str, item: Seen) -> bool:
    """Whether words that the grammar does not understand may mean a thing: its kind, label or id, or words for anything."""
    words = re.findall(r"[a-z0-9_]+", text)
    singles = {lex.singular(word) for word in words} | set(words)
    if singles & _GENERAL or str(item["id"]) in words:
        return True
    if singles & set(str(item["label"]).lower().replace("_", " ").split()):
        return True
    mine = kind(item)
    said = f" {' '.join(lex.singular(word) for word in words)} "
    if any(f" {word} " in said for word in lex.KIND_WORDS.get(mine, ())):
        return True
    return any(mine in kinds and any(f" {word} " in said for word in known) for kinds, known in lex.HYPERNYMS.items())


def _strings_of(arguments: Mapping[str, Any], *keys: str) -> set[str]:
    values = [arguments.get(key) for key in keys]
    return {str(item) for value in values for item in (value if isinstance(value, list) else [value])}


def _back(arguments: Mapping[str, Any], desk: Desk) -> bool:
    """Whether what is held goes back to about where it was taken from."""
    item, point = desk.objects.get(desk.held), position_of(arguments)
    return item is not None and point is not None and math.dist(point, [float(value) for value in item["position"][:2]]) < BACK


def shown(subjects: list[str], desk: Desk) -> str:
    """Things for a question to the user: names cut short, for a name may be text that somebody wrote on a thing."""
    names = []
    for name in subjects:
        item = desk.thing(name)
        said = re.sub(r"[^A-Za-z0-9 _-]", "", name_of(item))[:40] if item else ""
        names.append(f"the {said} ({name[:40]})" if said else name[:40])
    return ", ".join(names)
