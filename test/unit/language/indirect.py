"""Runs the sentences of indirect_wordings.yaml and says what came of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from deskhand.language.intents import Ask, Intent, Leave, Place, Ref
from deskhand.language.parser import parse, understood

CASES: dict[str, list[dict[str, str]]] = yaml.safe_load((Path(__file__).parent / "indirect_wordings.yaml").read_text())
RIGHT, REFUSED, WRONG = "right", "refused", "silently wrong"
_SAID_ONLY = ("words", "definite", "unread", "stage", "bare")


def classify(case: Mapping[str, str]) -> str:
    """``right`` where a sentence is read as the plain one that it means (of "": as no act), ``refused`` where it is not read, or as a question."""
    said = parse(case["say"])
    if not understood(said):
        return RIGHT if not case["means"] else REFUSED
    if case["means"] and not _acts(said.intents):
        return REFUSED  # taken for a question
    return RIGHT if _acts(said.intents) == (_acts(parse(case["means"]).intents) if case["means"] else set()) else WRONG


def _acts(intents: Iterable[Intent]) -> set[Any]:
    return {_plain(item) for item in intents if not isinstance(item, Leave | Ask)}


def _plain(value: Any) -> Any:
    """Without the words, and without what says that an object is on the desk."""
    if isinstance(value, Ref) and value.where is not None and value.where[1].table:
        value = dataclasses.replace(value, where=None)
    if isinstance(value, Place) and value.relation == "auto" and value.target.container:
        value = dataclasses.replace(value, relation="in")
    if dataclasses.is_dataclass(value):
        return type(value).__name__, tuple(_plain(getattr(value, item.name)) for item in dataclasses.fields(value) if item.name not in _SAID_ONLY)
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value
