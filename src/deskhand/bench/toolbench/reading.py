"""Arguments of a tool as an instruction and a history give them: mentioned objects, places, amounts, references to results."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.etp.card import Card
from deskhand.language.lexicon import COLORS as COLOR_WORDS
from deskhand.language.lexicon import CONTAINER_KINDS, CONTAINER_NOUNS, HYPERNYMS, KIND_WORDS, SIZES

_NUMBER = r"-?\d+(?:\.\d+)?"
_POINT = re.compile(rf"[(\[]\s*({_NUMBER})\s*,\s*({_NUMBER})\s*(?:,\s*({_NUMBER})\s*)?[)\]]")
_AXES = re.compile(rf"\b([xyz])\s*=?\s*({_NUMBER})")
_PIXEL = re.compile(rf"column ({_NUMBER}),? (?:and )?row ({_NUMBER})")
_LENGTH = re.compile(rf"({_NUMBER}) ?(mm|cm|m)\b")
_METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0}
COLORS = ("red", "green", "blue", "yellow", "orange", "white", "black", "brown", "grey", "purple")
_NOUNS = sorted({noun for nouns in (*KIND_WORDS.values(), *HYPERNYMS.values(), CONTAINER_NOUNS) for noun in nouns}, key=lambda noun: -len(noun))
_QUALITIES = sorted({*COLOR_WORDS, *SIZES, "left", "right", "upper", "lower", "top", "bottom"}, key=lambda word: -len(word))
_DESCRIBED = re.compile(
    rf"\b(?P<told>(?:(?:the|an?|that|this|my|your|{'|'.join(map(re.escape, _QUALITIES))})\s+)+)(?P<noun>{'|'.join(map(re.escape, _NOUNS))})\b", re.IGNORECASE
)
"""An object in words: its kind, with what tells it from others."""
_VALUES = re.compile(rf"[(\[][^()\[\]a-z]*[)\]]|\b[xyz]\s*=?\s*{_NUMBER}|{_NUMBER}")
_CARRIERS = frozenset(noun for kind in CONTAINER_KINDS for noun in KIND_WORDS.get(kind, (kind,)))
_SIDES = {"left": math.pi / 2, "right": -math.pi / 2, "away": 0.0, "towards": math.pi}


def arguments_of(card: Card, say: str, history: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Values for what a tool must have, and for what else the words give."""
    known = values_in(say, history)
    fields = card.input_schema.get("properties", {})
    found = {name: known[name] for name in fields if name in known}
    for name, schema in fields.items():
        choices = _choices(schema)
        if choices:
            said = [choice for choice in choices if choice and re.search(rf"\b{re.escape(choice.split('_')[0])}\b", say.lower())]
            if said:
                found[name] = said[0]
            elif name in found and found[name] not in choices:
                del found[name]
    if "points" in found and "path" in fields:
        found["points"] = known["points"]
    return found


def described(say: str) -> list[str]:
    """The objects that words describe, each once."""
    return list(dict.fromkeys(re.sub(r"^(the|an?|that|this|my|your) ", "", found[0].lower()) for found in _DESCRIBED.finditer(say)))


def without_values(say: str) -> str:
    """The words without what tells which objects, places and amounts are meant: what is wanted of whichever."""
    general = _DESCRIBED.sub(lambda found: "the container" if found["noun"].lower() in _CARRIERS else "the object", say)
    return " ".join(_VALUES.sub(" ", general).split())


def _choices(schema: Mapping[str, Any]) -> list[str]:
    options = [schema, *schema.get("anyOf", [])]
    return [choice for option in options for choice in option.get("enum", []) if isinstance(choice, str)]


def values_in(say: str, history: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Every value that could be meant, by the names that arguments have."""
    found: dict[str, Any] = {}
    place = place_in(say)
    if place:
        found |= {"x": place[0], "y": place[1]}
        if len(place) == 3:
            found |= {"position": place, "point": place, "points": [place, *_above(say, place)]}
        else:
            found["pixel"] = [int(value) for value in place]
    if pixel := _PIXEL.search(say):
        found["pixel"] = [int(float(value)) for value in pixel.groups()]
    if length := _LENGTH.search(say):
        found["distance"] = float(length[1]) * _METRES[length[2]]
    for word, angle in _SIDES.items():
        if re.search(rf"\b{word}\b", say):
            found["direction"] = round(angle, 3)
    objects = _objects(history)
    mentioned = mentions(say, objects)
    words = _phrase(say)
    found |= {"text": words, "words": words, "phrase": words, "what": words, "question": say, "instruction": say}
    if mentioned:
        found |= {"object_id": mentioned[0]["id"], "object_ids": [item["id"] for item in mentioned], "removed": [mentioned[0]["id"]]}
        found |= {"target_id": mentioned[-1]["id"], "target": mentioned[-1]["id"]}
        boxes = [item["id"] for item in mentioned if item.get("is_container")]
        found |= {"container_id": boxes[-1]} if boxes else {}
    for turn in history:
        data = turn.get("result")
        for name, value in data.items() if isinstance(data, dict) else ():
            if isinstance(value, dict) and "uri" in value:
                found |= {f"{name}_uri": value["uri"], name: value["uri"]}
            elif name == "plan_id":
                found[name] = value
    return found


def place_in(say: str) -> list[float]:
    """A place in words: (x, y), (x, y, z), or x = …, y = …; empty for none."""
    axes = dict(_AXES.findall(say))
    if {"x", "y"} <= set(axes):
        return [float(axes[axis]) for axis in "xyz" if axis in axes]
    point = _POINT.search(say)
    return [float(value) for value in point.groups() if value is not None] if point else []


def _above(say: str, place: list[float]) -> list[list[float]]:
    length = _LENGTH.search(say)
    raised = re.search(r"\b(above|higher)\b", say) and length
    return [[place[0], place[1], round(place[2] + float(length[1]) * _METRES[length[2]], 4)]] if raised and length else []


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
        where = text.find(name) if name in text else text.find(f" {item['label']}") if labels.count(str(item["label"])) == 1 else -1
        if where >= 0:
            found.append((where, item))
    for words, wanted in ((r"\b(lowest|bottom|lower)\b", False), (r"\b(upper|on top|topmost)\b", True)):
        carried = {item["support"] for item in objects}
        hit = re.search(words, text)
        for item in objects:
            on_another = item["support"] in {other["id"] for other in objects} and item["relation"] == "on"
            if hit and ((wanted and on_another) or (not wanted and item["id"] in carried and not item["is_container"])):
                found.append((hit.start(), item))
    if not found and re.search(r"\bblocks\b", text):
        found = [(number, item) for number, item in enumerate(objects) if item["label"] == "block"]
    return [item for _, item in sorted(found, key=lambda each: each[0])]


def names_unseen(say: str, history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the words describe an object by colour and kind that the last look does not have."""
    seen = {f"{item['color']} {item['label']}" for item in _objects(history)}
    described = re.findall(rf"\b({'|'.join(COLORS)}) ([a-z]+)\b", say.lower())
    kinds = {str(item["label"]) for item in _objects(history)} | {"block"}
    return any(f"{color} {kind}" not in seen for color, kind in described if kind in kinds)


def _phrase(say: str) -> str:
    """The words between quotes, or the first description of an object."""
    quoted = re.search(r"'([^']+)'", say)
    if quoted:
        return quoted[1]
    noun = re.search(r"\bthe ((?:[a-z]+ )?(?:block|can|box|cup|bin))\b", say)
    return noun[1] if noun else say
