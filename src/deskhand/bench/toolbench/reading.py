"""Arguments of a tool as an instruction and a history give them: mentioned objects, places, amounts, references to results."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.bench.toolbench.choices import choices_of, chosen
from deskhand.etp.card import Card
from deskhand.language.attributes import attributes_in
from deskhand.language.intents import Place
from deskhand.language.lexicon import COLORS as COLOR_WORDS
from deskhand.language.lexicon import CONTAINER_KINDS, CONTAINER_NOUNS, HYPERNYMS, KIND_OF, KIND_WORDS, SIZES, singular
from deskhand.language.parser import parse
from deskhand.language.requests import read
from deskhand.language.resolve import resolve
from deskhand.language.verbs import DETERMINERS, HAND, MOVE, PUSH, RELEASE, SILENT, SORTS

_NUMBER = r"-?\d+(?:\.\d+)?"
_POINT = re.compile(rf"[(\[]\s*({_NUMBER})\s*,\s*({_NUMBER})\s*(?:,\s*({_NUMBER})\s*)?[)\]]")
_AXES = re.compile(rf"\b([xyz])\s*=?\s*({_NUMBER})")
_PICTURE, _WHOLE = re.compile(r"\b(?:pixel|image|picture|photo|column|row|screen)s?\b"), re.compile(r"(?<![\d.-])\d+(?!\d|\.\d)")
_LENGTH = re.compile(rf"({_NUMBER}) ?(mm|cm|m|milli\w+|centi\w+|met(?:er|re)s?)\b")
_FARTHEST = 3.0  # [m] that a place on a desk is away in any direction: larger numbers are pixels
_METRES = {"mm": 0.001, "mi": 0.001, "cm": 0.01, "ce": 0.01, "m": 1.0, "me": 1.0}  # by the first two letters
_SINGLE = {noun for nouns in (*KIND_WORDS.values(), *HYPERNYMS.values(), CONTAINER_NOUNS) for noun in nouns}
_NOUNS = sorted(_SINGLE | {f"{noun}s" for noun in _SINGLE}, key=lambda noun: -len(noun))
_QUALITIES = sorted({*COLOR_WORDS, *SIZES, "left", "right", "upper", "lower", "top", "bottom"}, key=lambda word: -len(word))
_DESCRIBED = re.compile(
    rf"\b(?P<told>(?:(?:the|an?|that|this|my|your|{'|'.join(map(re.escape, _QUALITIES))})\s+)+)(?P<noun>{'|'.join(map(re.escape, _NOUNS))})\b", re.IGNORECASE
)
"""An object in words: its kind, with what tells it from others."""
_COLORED = re.compile(rf"\b(?:the|an?|that|this|my|your|any|some)\s+((?:(?:{'|'.join(map(re.escape, _QUALITIES))}|\w+)\s+){{1,3}})\w+", re.IGNORECASE)
"""What stands between an article and a noun."""
_EITHER_COLOR = re.compile(
    rf"\b(?:an? )?(?:{'|'.join(map(re.escape, COLOR_WORDS))})(?: one)?(?:, (?:an? )?\w+(?: one)?)*,? or (?:an? )?(?:{'|'.join(map(re.escape, COLOR_WORDS))})\b",
    re.IGNORECASE,
)
"""Colours of which one is asked for: red, yellow or green."""
_VALUES = re.compile(rf"[(\[][^()\[\]a-z]*[)\]]|\b[xyz]\s*=?\s*{_NUMBER}|{_NUMBER}")
_SEEN_KINDS = frozenset(KIND_WORDS)
_CARRIERS = frozenset(noun for kind in CONTAINER_KINDS for noun in KIND_WORDS.get(kind, (kind,)))
_SUBJECTS = r" (?:i|you|u|we|he|she|it|they|one|somebody|someone|anybody|anyone|be|not|do)\b"
_AUXILIARIES, _ADVERBS = {"can"}, r" (?:(?:only|not|just|also|still|never|always|easily|hardly) )?"
_PRONOUNS = {"i", "you", "u", "we", "he", "she", "it", "they", "who", "one", "somebody", "someone", "anybody", "nobody"}
_VERBS = SILENT.union(*SORTS.values(), {"be", "have", "do"})
_FIELDS = {"mass": ("grams", "weight", "kilograms"), "force": ("newtons",), "temperature": ("celsius",)}
_SUPPOSED = re.compile(
    r"^(?:\w+, )?(?:if|suppose|supposing|imagine|assume|assuming|say|what if|were)\b.*\b(?:what|who|which|how|would|does|do|is)\b.*\?$", re.IGNORECASE
)
_WISHED = re.compile(r"\b(?:can|could|would|will|won't|might|may) (?:you|u|we|i|it|the)\b|\bplease\b|\bmind\b", re.IGNORECASE)
_POLITE = re.compile(r"please to\b", re.IGNORECASE)
_PUTTING = {"stand", "sit", "seat", "mount", "install", "lodge", "lean", "hang", "perch", "rest", "suspend", "situate"}
"""VerbNet's classes put-9.1 and put_spatial-9.2, as far as SORTS has them not."""
_HANDLING = _PUTTING.union(*(SORTS[sort] for sort in (MOVE, PUSH, HAND, RELEASE))) - {"give", "order", "rank", "classify"}
_LOWER = r"\b(lowest|bottom|lower(?! (?:its|the|it))|base|underneath|(?:of|from) below|(?:below|beneath)(?! (?:the|it|this|that|a)\b))\b"
_ON_ANOTHER = r"(?:lies|rests|stands|is|sits|borne|carried|supported|held) (?:on|by) (?:the|an) ?other"
_UPPER = rf"\b(upper|on top|topmost|top (?:block|piece|one|thing|layer)|higher|{_ON_ANOTHER})\b"
_TOWARDS = r"\b(?:on|onto|upon|atop|over|in|into|inside|to|of|at|by|beside|alongside|near|behind) (?:(?:the|that|this|my|your) )?"
_NEAREST = re.compile(r"\b(?:smallest|shortest|least|lowest) distance\b|\bleast far\b|\bnot far\b|\bnext (?:neighbou?r|door)\b")
_MOST = re.compile(r"\bmost (near|far|close|high|low|large|small|big)\b")
_BELOW = r"\b(?:bottom|base|below|beneath|under|underneath|lower(?:most)?)\b[^a-z]*(?:(?:is|the|that|this|my|block|a) )*"
"""What stands before the one of two objects that carries the other."""
_BEARS = r"\W+(?:(?:to|shall|should|must|will|can|now) )*(?:carr(?:y|ies)|bears?|supports?|wears?|holds? up|ha(?:s|ve) on top)\W+(?:(?:the|that|this|my|a) )?"
"""What stands between the one of two objects that carries and the one that is carried."""
_SIDES = {"left(?:wards?)?": math.pi / 2, "right(?:wards?)?": -math.pi / 2, "away": 0.0, "towards (?:you|me|the robot)": math.pi}


def arguments_of(card: Card, say: str, history: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Values for what a tool must have, and for what else the words give."""
    known = values_in(say, history)
    fields = card.input_schema.get("properties", {})
    found, required = {name: known[name] for name in fields if name in known}, card.input_schema.get("required", [])
    for name, schema in fields.items():
        if choices_of(schema):
            found.pop(name, None)
            if choice := chosen(schema, _superlatives(say), without_values(say), name in required, len(described(say))):
                found[name] = choice
    if "order" in found and {"limit", "point"} <= set(fields) and "target_id" in known:  # what is the most so, seen from what is named
        target = next(item for item in _objects(history) if item["id"] == known["target_id"])
        found |= {"limit": 1, "point": target["position"], "what": _kind_asked(say, target) or found.get("what", "")}
        found.pop("target", None)
    if "points" in found and "path" in fields:
        found["points"] = known["points"]
    return found


def _superlatives(say: str) -> str:
    """The words with superlatives in one word: the most near is the nearest."""
    return _MOST.sub(lambda found: re.sub(r"e?$", "est", found[1], count=1).replace("bigest", "biggest"), _NEAREST.sub("nearest", say))


def described(say: str) -> list[str]:
    """The objects that words describe, each once."""
    return list(dict.fromkeys(re.sub(r"^(the|an?|that|this|my|your) ", "", found[0].lower()) for found in _DESCRIBED.finditer(say)))


def without_values(say: str) -> str:
    """The words without what tells which objects, places and amounts are meant: what is wanted of whichever."""
    general = _DESCRIBED.sub(lambda found: "the container" if found["noun"].lower() in _CARRIERS else "the object", say)
    return " ".join(_VALUES.sub(" ", general).split())


def _kind_asked(say: str, target: Mapping[str, Any]) -> str:
    """The first kind of objects that words name beside the target; empty for none."""
    words = re.findall(r"[a-z]+", say.lower().replace(f"{target['color']} {target['label']}", "").replace(f"the {target['label']}", ""))
    return next((word for word in words if singular(word) in _SINGLE), "")


def values_in(say: str, history: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Every value that could be meant, by the names that arguments have."""
    found: dict[str, Any] = {}
    place = place_in(say)
    if place:
        if max(map(abs, place)) <= _FARTHEST:
            found |= {"x": place[0], "y": place[1]}
        if len(place) == 3:
            found |= {"position": place, "point": place, "points": [place, *_above(say, place)]}
        else:
            found["pixel"] = [int(value) for value in place]
    if _PICTURE.search(say.lower()) and len(pixel := _WHOLE.findall(say)) == 2:
        found["pixel"] = [int(value) for value in pixel]
    if length := _LENGTH.search(say):
        found["distance"] = float(length[1]) * _METRES[length[2][:2]]
    sides = [(bool(hit["to"]), round(angle, 3)) for word, angle in _SIDES.items() if (hit := _side_in(word, say))]
    if sides:
        found["direction"] = max(sides)[1]  # where it is to go, before how it is
    objects = _objects(history)
    mentioned = mentions(say, objects)
    words = _phrase(say)
    found |= {"text": words, "words": words, "phrase": words, "what": words, "question": say, "instruction": say}
    if mentioned:
        found |= {"object_id": mentioned[0]["id"], "object_ids": [item["id"] for item in mentioned], "removed": [mentioned[0]["id"]]}
        found |= {"target_id": mentioned[-1]["id"], "target": mentioned[-1]["id"]}
        boxes = [item["id"] for item in mentioned if item.get("is_container")]
        found |= {"container_id": boxes[-1]} if boxes else {}
        found |= _roles(say, objects)
    if len(boxes := [item["id"] for item in objects if item.get("is_container")]) == 1:
        found.setdefault("container_id", boxes[0])
    for turn in history:
        data = turn.get("result")
        for name, value in data.items() if isinstance(data, dict) else ():
            if isinstance(value, dict) and "uri" in value:
                found |= {f"{name}_uri": value["uri"], name: value["uri"]}
            elif name == "plan_id":
                found[name] = value
    return found


def _side_in(word: str, say: str) -> re.Match[str] | None:
    """Where words name a side, best with what says that it is gone to."""
    return re.search(rf"(?P<to>\bto (?:the|its|your|my) )\b{word}\b", say) or re.search(rf"(?P<to>(?!))?\b{word}\b", say)


def _roles(say: str, objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is brought to what, where the grammar reads it; else, of two objects, that one goes to the other which only stands behind a word of place."""
    for intent in parse(say).intents:
        if isinstance(intent, Place) and len(intent.objects) == 1:
            moved, target = resolve(intent.objects[0], objects, "any").objects, resolve(intent.target, objects, "any").objects
            if len(moved) == 1 and len(target) == 1:
                return {"object_id": moved[0]["id"], "target_id": target[0]["id"], "target": target[0]["id"]}
    named = {item["id"]: f"{item['color']} {item['label']}" for item in mentions(say, objects)}
    if len(named) == 2:
        (one, its), (two, other) = named.items()
        for carrier, carried, a, b in ((one, two, its, other), (two, one, other, its)):
            if re.search(rf"{_BELOW}{re.escape(a)}", say.lower()) or re.search(rf"{re.escape(a)}{_BEARS}{re.escape(b)}", say.lower()):
                return {"object_id": carried, "target_id": carrier, "target": carrier}
    behind = [name for name, words in named.items() if re.search(rf"{_TOWARDS}{re.escape(words)}", say.lower())]
    if len(named) == 2 and len(behind) == 1:
        return {"object_id": next(name for name in named if name != behind[0]), "target_id": behind[0], "target": behind[0]}
    return {}


def place_in(say: str) -> list[float]:
    """A place in words: (x, y), (x, y, z), or x = …, y = …; empty for none."""
    axes = dict(_AXES.findall(say))
    if {"x", "y"} <= set(axes):
        return [float(axes[axis]) for axis in "xyz" if axis in axes]
    point = _POINT.search(say)
    return [float(value) for value in point.groups() if value is not None] if point else []


def _above(say: str, place: list[float]) -> list[list[float]]:
    length = _LENGTH.search(say)
    raised = re.search(r"\b(above|over|higher|high|up|upwards?)\b", say) and length
    return [[place[0], place[1], round(place[2] + float(length[1]) * _METRES[length[2][:2]], 4)]] if raised and length else []


def _objects(history: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The objects of the last look that is told."""
    for turn in reversed(history):
        data = turn.get("result")
        rows = data.get("objects") if isinstance(data, dict) else None
        if isinstance(rows, list) and rows and isinstance(rows[0], dict) and "position" in rows[0]:
            return [{**row, "id": row.get("id") or row.get("object_id")} for row in rows]
    return []


def mentions(say: str, objects: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The objects that words name, in the order of the words: by colour and label, or by a label that only one has; the upper and the lower one."""
    text, found = say.lower(), []
    labels = [str(item["label"]) for item in objects]
    for item in objects:
        name = f"{item['color']} {item['label']}"
        alone = _alone(str(item["label"]), text) if labels.count(str(item["label"])) == 1 else -1
        where = text.find(name) if name in text else alone
        if where >= 0:
            found.append((where, item))
    for words, wanted in ((_LOWER, False), (_UPPER, True)):
        carried = {item["support"] for item in objects}
        hit = re.search(words, text)
        for item in objects:
            on_another = item["support"] in {other["id"] for other in objects} and item["relation"] == "on"
            if hit and ((wanted and on_another) or (not wanted and item["id"] in carried and not item["is_container"])):
                found.append((hit.start(), item))
    if not found and re.search(r"\bblocks\b", text):
        found = [(number, item) for number, item in enumerate(objects) if item["label"] == "block"]
    return [item for _, item in sorted(found, key=lambda each: each[0])]


def _alone(label: str, text: str) -> int:
    """Where words name an object by its label; -1 where they do not: "Can you …" and "a bird can lift it" name none."""
    for hit in re.finditer(rf" {re.escape(label)}(?!{_SUBJECTS})", text):
        before, after = re.findall(r"[a-z]+", text[: hit.start()]), re.match(rf"{_ADVERBS}([a-z]+)", text[hit.end() :])
        helps = label in _AUXILIARIES and (not before or before[-1] not in DETERMINERS) and after is not None and after[1] in _VERBS
        if not helps and not (label in _AUXILIARIES and before and before[-1] in _PRONOUNS):
            return hit.start()
    return -1


def names_unseen(say: str, history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the words describe an object that the last look does not have: of no such kind, or by a colour that none of its kind has, or, where its kind is
    not known, that nothing has.
    """
    objects, say = _objects(history), _EITHER_COLOR.sub(" ", say)
    seen = {str(item["color"]) for item in objects}
    for words in _COLORED.findall(say.lower()):
        if (colors := {COLOR_WORDS[word] for word in re.findall(r"[a-z]+", words) if word in COLOR_WORDS}) and not colors & seen:
            return True
    kinds = {str(item["label"]) for item in objects} | {str(each["name"]) for item in objects for each in item.get("names") or ()}
    for found in _DESCRIBED.finditer(say):
        noun, colors = singular(found["noun"].lower()), {COLOR_WORDS[word] for word in found["told"].lower().split() if word in COLOR_WORDS}
        meant = KIND_OF.get(noun, frozenset()) & _SEEN_KINDS
        here = [item for item in objects if item["label"] in meant or item["label"] == noun]
        if meant and (not kinds & meant or (colors and here and not colors & {str(item["color"]) for item in here})):
            return True
    return False


def asks_told(say: str, history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the words ask for a field that the last look told of every object: its colour, its shape, its size …"""
    objects = _objects(history)
    fields = set(objects[0]) - {"id", "object_id", "label", "support", "relation", "confidence"} if objects else set()
    words = {singular(word).replace("colour", "color") for word in re.findall(r"[a-z]+", say.lower())}
    return bool(fields & words) or ("color" in fields and bool(_EITHER_COLOR.search(say)))


def unmeasured(say: str, history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the words are about something of an object that no picture tells, as its mass, and that no call has measured of all objects that they name."""
    asked = attributes_in(say)
    if not asked:
        return False
    measured = [turn for turn in history if isinstance(turn.get("result"), dict) and _fields_of(asked) & set(turn["result"])]
    return not measured or not named_in(say, history) <= {told_of(turn) for turn in measured}


def named_in(say: str, history: Sequence[Mapping[str, Any]]) -> set[str]:
    """Ids of the objects that words name."""
    return {str(item["id"]) for item in mentions(say, _objects(history))}


def told_of(turn: Mapping[str, Any]) -> str:
    """The id of the object that a result is about."""
    return str(turn["result"].get("object_id") or turn.get("arguments", {}).get("object_id"))


def _fields_of(attributes: frozenset[str]) -> set[str]:
    """Names of the fields in which results tell attributes: their own, and those of their units."""
    return set(attributes) | {field for attribute in attributes for field in _FIELDS.get(attribute, ())}


def asks_act(say: str) -> bool:
    """Whether the words ask for handling objects: to take, to bring, to stack them."""
    return any(request.verb in _HANDLING for request in read(_POLITE.sub("please", say)).requests)


def supposed(say: str) -> bool:
    """Whether the words ask what would be, as in "If it were gone, what would fall?"."""
    return bool(_SUPPOSED.search(say))


def asks_only(say: str) -> bool:
    """Whether the words are a question that asks for no act: "Could you take it?" asks for one."""
    return say.rstrip().endswith("?") and not _WISHED.search(say) and not asks_act(say)


def _phrase(say: str) -> str:
    """The words between quotes, or the first description of an object."""
    quoted = re.search(r"'([^']+)'", say)
    return quoted[1] if quoted else next(iter(described(say)), say)
