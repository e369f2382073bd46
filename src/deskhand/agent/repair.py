"""Puts right what a model nearly said, where only one object can be meant; numbers are never changed, nothing is ever guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from deskhand.llm.base import Reply, ToolCall

_KEYS = ("id", "object_id", "target_id", "container_id", "on", "object_ids")
_BESIDES = ("table", "gripper", "")
"""What stands in the place of an id and is none."""


class Repairs:
    """Of one run. ``cards`` maps the names of the tools that may be called to their cards; ids are learnt from results."""

    def __init__(self, cards: Mapping[str, Mapping[str, Any]]) -> None:
        self._cards = cards
        self._ids: set[str] = set()

    def heard(self, data: Any) -> None:
        """Ids in the data of a result."""
        if isinstance(data, Mapping):
            if isinstance(data.get("id"), str):
                self._ids.add(data["id"])
            for value in data.values():
                self.heard(value)
        elif isinstance(data, list | tuple):
            for value in data:
                self.heard(value)

    def reply(self, reply: Reply) -> Reply:
        """The reply with its calls put right; text that is nothing but a call as JSON is one."""
        calls = reply.tool_calls
        written = ToolCall("", {}, malformed=reply.text)
        if not calls and _nearest(_reread(written, []).name, self._cards):
            calls = (written,)
        return replace(reply, tool_calls=tuple(self.call(call) for call in calls)) if calls else reply

    def call(self, call: ToolCall) -> ToolCall:
        """The call put right where only one object can be meant; what was done is in its ``repairs``."""
        notes: list[str] = []
        if call.malformed:
            call = _reread(call, notes)
        name = _nearest(call.name, self._cards, typo=True)
        if name and name != call.name:
            notes.append(f"tool {call.name!r} read as {name!r}")
        card = self._cards.get(name or call.name)
        if call.malformed or card is None:
            return replace(call, repairs=tuple(notes)) if notes else call
        arguments = self._object(call.arguments, card["input_schema"], card["input_schema"].get("$defs", {}), "", notes)
        return replace(call, name=name, arguments=arguments, repairs=tuple(notes)) if notes else call

    # ------------------------------------------------------------ arguments

    def _object(self, given: Mapping[str, Any], schema: Mapping[str, Any], definitions: Mapping[str, Any], path: str, notes: list[str]) -> dict[str, Any]:
        properties = schema.get("properties", {})
        out: dict[str, Any] = {}
        for key, value in _renamed(given, schema, path, notes).items():
            where = f"{path}{key}"
            if value is None and key in properties and key not in schema.get("required", ()) and not _allows_null(properties[key]):
                notes.append(f"{where}: null left out")
                continue
            out[key] = self._value(value, _resolved(properties.get(key, {}), definitions), definitions, key, where, notes)
        return out

    def _value(self, value: Any, schema: Mapping[str, Any], definitions: Mapping[str, Any], key: str, where: str, notes: list[str]) -> Any:
        kinds = _kinds(schema)
        if isinstance(value, str):
            fixed = self._text(value, schema, kinds, key)
            if fixed is not value and fixed != value:
                notes.append(f"{where}: {value!r} read as {fixed!r}")
                value = fixed
        elif isinstance(value, float) and value.is_integer() and "integer" in kinds and "number" not in kinds:
            notes.append(f"{where}: {value!r} read as {int(value)}")
            return int(value)
        if isinstance(value, Mapping) and schema.get("properties"):
            return self._object(value, schema, definitions, f"{where}.", notes)
        items = _resolved(schema.get("items", {}), definitions) if isinstance(schema.get("items"), Mapping) else {}
        if isinstance(value, list) and items:
            return [self._value(item, items, definitions, key, f"{where}[{index}]", notes) for index, item in enumerate(value)]
        return value

    def _text(self, value: str, schema: Mapping[str, Any], kinds: set[str], key: str) -> Any:
        if "enum" in schema:
            return _nearest(value, [item for item in schema["enum"] if isinstance(item, str)]) or value
        if "string" in kinds:
            return self._known_id(value) if key in _KEYS or key.endswith("_id") else value
        return _parsed(value, kinds) if kinds else value

    def _known_id(self, value: str) -> str:
        if value in self._ids or value in _BESIDES:
            return value
        return _nearest(value, self._ids, typo=True) or _only_one(value, self._ids) or value


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        found: Mapping[str, Any] = definitions.get(reference.removeprefix("#/$defs/"), {})
        return found
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    return _resolved(choices[0], definitions) if len(choices) == 1 else schema


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    kind = schema.get("type", ())
    return {kind} if isinstance(kind, str) else set(kind)


def _allows_null(schema: Mapping[str, Any]) -> bool:
    return not _kinds(schema) or "null" in _kinds(schema) or any(_allows_null(choice) for choice in schema.get("anyOf", ()))


def _renamed(given: Mapping[str, Any], schema: Mapping[str, Any], path: str, notes: list[str]) -> dict[str, Any]:
    """Names of arguments in another case or spelling; the one left over for the one that is missing, where one name is part of the other."""
    properties = schema.get("properties", {})
    out: dict[str, Any] = {}
    for key, value in given.items():
        name = key if key in properties else _nearest(key, [other for other in properties if other not in given]) or key
        if name != key and name not in out:
            notes.append(f"{path}{key}: read as {name}")
            out[name] = value
        else:
            out[key] = value
    unknown = [key for key in out if key not in properties]
    missing = [key for key in schema.get("required", ()) if key not in out]
    if len(unknown) == 1 and len(missing) == 1 and (_plain(unknown[0]) in _plain(missing[0]) or _plain(missing[0]) in _plain(unknown[0])):
        notes.append(f"{path}{unknown[0]}: read as {missing[0]}")
        out = {missing[0] if key == unknown[0] else key: value for key, value in out.items()}
    return out


def _parsed(value: str, kinds: set[str]) -> Any:
    """A number, truth value, list or object that came as text."""
    try:
        found = json.loads(value.strip().lower() if "boolean" in kinds else value.strip())
    except (ValueError, RecursionError):
        return value
    is_kind = {
        "number": isinstance(found, int | float) and not isinstance(found, bool) and abs(found) < 1e300,
        "integer": isinstance(found, int) and not isinstance(found, bool),
        "boolean": isinstance(found, bool),
        "array": isinstance(found, list),
        "object": isinstance(found, dict),
    }
    return found if any(is_kind.get(kind, False) for kind in kinds) else value


# ---------------------------------------------------------------- names


def _plain(name: str) -> str:
    return re.sub(r"[\s\-_]+", "_", name.strip().strip("`'\"").lower())


def _nearest(name: str, known: Iterable[str], typo: bool = False) -> str:
    """The one known name that is the same but for case and separators, or with ``typo`` but for one letter; empty when there is none, or more than one."""
    names = list(known)
    if name in names:
        return name
    asked = {_plain(name), _plain(re.split(r"[.:/]", name.strip())[-1])} - {""}
    same = [other for other in names if _plain(other) in asked]
    if not same and typo and len(name) >= 4:
        same = [other for other in names if _one_letter_apart(_plain(name), _plain(other))]
    return same[0] if len(same) == 1 else ""


def _one_letter_apart(one: str, other: str) -> bool:
    """One letter too many, missing, wrong, or two swapped; digits must be the same: cup_1 is not cup_2."""
    if re.findall(r"\d+", one) != re.findall(r"\d+", other) or abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    rest, more = one[start:], other[start:]
    return rest[1:] == more[1:] or rest[1:] == more or rest == more[1:] or (rest[:2][::-1] == more[:2] and rest[2:] == more[2:])


def _only_one(label: str, ids: Iterable[str]) -> str:
    """``cup`` for ``cup_1`` where there is no other cup."""
    found = [name for name in ids if re.fullmatch(rf"{re.escape(_plain(label))}_\d+", name)]
    return found[0] if len(found) == 1 else ""


# ---------------------------------------------------------------- text that should have been JSON


def _reread(call: ToolCall, notes: list[str]) -> ToolCall:
    """A call out of text with one JSON object in it and nothing else that looks like one."""
    text = call.malformed
    start = text.find("{")
    if start < 0:
        return call
    try:
        body, end = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        return call
    if not isinstance(body, dict) or "{" in text[start + end :]:
        return call
    if call.name:
        notes.append("arguments: one JSON object among other text")
        return replace(call, arguments=body, malformed="")
    name = body.get("tool", body.get("name"))
    arguments = body.get("arguments", body.get("parameters", {}))
    if isinstance(arguments, str):
        arguments = _parsed(arguments, {"object"})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return call
    notes.append("decision: one JSON object among other text")
    return replace(call, name=name, arguments=arguments, malformed="")
