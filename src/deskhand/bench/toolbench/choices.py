"""Which of an argument's choices an instruction means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from deskhand.etp.card import Card
from deskhand.tools.words import installed_model

_SAID = 0.15  # cosine that it counts to be named
_PLACING = {"in", "on", "near", "behind", "under"}
_BEFORE_A_NOUN = r" (?:the|an?|that|this|my|your|its|it)\b"
_SIDE_OF = r"\b{side}\b(?:\W+\w+){{0,2}}?\W+(?:of|from)\b|\b(?:its|your|my) {side}\b"
_OF_ONE = "of one object"
_SUPERLATIVE = re.compile(r"\b[a-z]{3,}est\b")


def choices_of(schema: Mapping[str, Any]) -> list[str]:
    """The words that an argument takes; empty for one that takes any."""
    options = [schema, *schema.get("anyOf", [])]
    return [choice for option in options for choice in option.get("enum", []) if isinstance(choice, str)]


def names_side(card: Card, say: str) -> float:
    """How surely the words name a side of an object, as left of it, that a tool takes: 1 where they say of what, a half where they may mean a direction."""
    sides = {choice.split("_")[0] for schema in card.input_schema.get("properties", {}).values() for choice in choices_of(schema) if choice.endswith("_of")}
    if any(re.search(_SIDE_OF.format(side=side), say.lower()) for side in sides):
        return 1.0
    return 0.5 * any(re.search(rf"\b{side}\b", say.lower()) for side in sides)


def chosen(schema: Mapping[str, Any], say: str, general: str, needed: bool, objects: int = 0) -> str:
    """Of a choice that is ``needed`` that whose description means most nearly the same as ``general``, the words without values; one that is named counts
    more. Of another one that which the words name, or a superlative of theirs means; empty for none. Of several ``objects`` none that is of one.
    """
    choices, text = [choice for choice in choices_of(schema) if choice], say.lower()
    if objects > 1:
        told = str(schema.get("description", ""))
        choices = [choice for choice in choices if _OF_ONE not in _described(choice, told)]
    said = [choice for choice in choices if _says(text, choice.split("_")[0])]
    if needed and choices:
        described = [_described(choice, str(schema.get("description", ""))) for choice in choices]
        return _nearest(general, choices, described, said) or (said[0] if said else "")
    if said:
        return said[0]
    most, ranks = _SUPERLATIVE.findall(text), [choice for choice in choices if _SUPERLATIVE.fullmatch(choice)]
    return _nearest(most[0], ranks, ranks, ()) if most and ranks else ""


def _says(text: str, word: str) -> bool:
    """Whether a text names a choice; one that is a preposition only before what it stands with, as in "in the box"."""
    return bool(re.search(rf"\b{re.escape(word)}\b" + (_BEFORE_A_NOUN if word in _PLACING else ""), text))


def _described(choice: str, description: str) -> str:
    """A choice with what the schema says of it: ``a: …; b, c: …``."""
    for part in description.split(";"):
        names, colon, text = part.partition(":")
        if colon and choice in [name.strip() for name in names.split(",")]:
            return f"{choice}: {text.strip()}"
    return choice.replace("_", " ")


def _nearest(text: str, choices: Sequence[str], described: Sequence[str], said: Sequence[str]) -> str:
    """The choice whose description means most nearly the same, those that are ``said`` first by :data:`_SAID`; empty without a sentence model."""
    vectors = _vectors((text, *described))
    if vectors is None:
        return ""
    alike = vectors[1:] @ vectors[0] + _SAID * np.array([choice in said for choice in choices])
    return choices[int(alike.argmax())]


@cache
def _vectors(texts: tuple[str, ...]) -> Any:
    model = installed_model()[0]
    return None if model is None else model.embed(texts)
