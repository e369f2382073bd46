"""What a language model is sent of cards and results: what it needs to call rightly, nothing that no model uses. Calls are checked against the whole card."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

UNUSED = frozenset(("minLength", "maxLength", "title", "additionalProperties", "examples", "pattern"))
"""Keys of a schema that a model learns by an error when it should ever matter."""
USUAL: dict[str, Any] = {"is_container": False, "support": "table", "relation": "on", "note": ""}
"""What goes without saying of an object or a look, and is left out."""
LEFT_OUT = frozenset(("stamp", "free_volume", "duration", "views", "times"))
"""Fields of results that no model uses."""
SURE = 0.7
"""Confidence from which it is left out."""
LONGEST = 120
"""Characters of an argument's description."""


def brief_card(card: Mapping[str, Any]) -> dict[str, Any]:
    """A card as it is sent: what the tool does and what it cannot; when to use it where the summary is short of that."""
    summary, limits = str(card["summary"]), str(card.get("limits") or "")
    return {"name": card["name"], "summary": summary, "limits": _first_sentences(limits, 240), "input_schema": brief_schema(card["input_schema"])}


def brief_schema(schema: Any) -> Any:
    """The schema without what is unused; an argument that may be null is one that can be left out."""
    if isinstance(schema, list):
        return [brief_schema(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept = {key: value for key, value in schema.items() if key not in UNUSED}
    choices = [each for each in kept.get("anyOf", ()) if each != {"type": "null"}]
    if "anyOf" in kept and len(choices) == 1:
        kept = {**choices[0], **{key: value for key, value in kept.items() if key != "anyOf"}}
        kept = {key: value for key, value in kept.items() if key not in UNUSED}
    if "default" in kept and kept["default"] in (None, "", False):
        del kept["default"]
    if isinstance(kept.get("description"), str):
        kept["description"] = _first_sentences(re.sub(r"id of an object as detect_objects gave it.*", "id", kept["description"]), LONGEST)
    return {
        key: {name: brief_schema(each) for name, each in value.items()} if key in ("properties", "$defs") else brief_schema(value)
        for key, value in kept.items()
    }


def brief_data(data: Any) -> Any:
    """A result as it is sent; :func:`whole_object` is the way back for objects."""
    if isinstance(data, Mapping):
        return {str(key): brief_data(value) for key, value in data.items() if not _needless(str(key), value)}
    if isinstance(data, list | tuple):
        return [brief_data(value) for value in data]
    return round(data, 3) if isinstance(data, float) else data


def whole_object(item: Mapping[str, Any]) -> dict[str, Any]:
    """An object of a result with what goes without saying."""
    return {**{key: value for key, value in USUAL.items() if key != "note"}, "yaw": 0.0, "confidence": SURE, **item}


def _needless(key: str, value: Any) -> bool:
    if key in LEFT_OUT or (key in USUAL and value == USUAL[key]):
        return True
    return (key == "confidence" and isinstance(value, float) and value >= SURE) or (key == "yaw" and value == 0)


def _first_sentences(text: str, most: int) -> str:
    """As many whole sentences as fit, at least the first."""
    kept = ""
    for sentence in re.split(r"(?<=[.;]) ", text):
        if kept and len(kept) + len(sentence) > most:
            break
        kept = f"{kept} {sentence}".strip()
    return kept
