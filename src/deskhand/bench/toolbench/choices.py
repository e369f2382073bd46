"""Which of an argument's choices an instruction means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from deskhand.etp.meaning import sentence_model
from deskhand.tools.words import VECTORS

_SUPERLATIVE = re.compile(r"\b[a-z]{3,}est\b")


def choices_of(schema: Mapping[str, Any]) -> list[str]:
    """The words that an argument takes; empty for one that takes any."""
    options = [schema, *schema.get("anyOf", [])]
    return [choice for option in options for choice in option.get("enum", []) if isinstance(choice, str)]


def chosen(schema: Mapping[str, Any], say: str, general: str, needed: bool) -> str:
    """The choice that the words name; else that which a superlative of theirs means; else, where one is ``needed``, that whose description means most nearly
    the same as ``general``, the words without values. Empty for none.
    """
    choices, text = [choice for choice in choices_of(schema) if choice], say.lower()
    if said := [choice for choice in choices if re.search(rf"\b{re.escape(choice.split('_')[0])}\b", text)]:
        return said[0]
    most, ranks = _SUPERLATIVE.findall(text), [choice for choice in choices if _SUPERLATIVE.fullmatch(choice)]
    if most and ranks:
        return _nearest(most[0], ranks, ranks)
    if needed and choices:
        return _nearest(general, choices, [_described(choice, str(schema.get("description", ""))) for choice in choices])
    return ""


def _described(choice: str, description: str) -> str:
    """A choice with what the schema says of it: ``a: …; b, c: …``."""
    for part in description.split(";"):
        names, colon, text = part.partition(":")
        if colon and choice in [name.strip() for name in names.split(",")]:
            return f"{choice}: {text.strip()}"
    return choice.replace("_", " ")


def _nearest(text: str, choices: Sequence[str], described: Sequence[str]) -> str:
    """The choice whose description means most nearly the same; empty without a sentence model."""
    vectors = _vectors((text, *described))
    return choices[int((vectors[1:] @ vectors[0]).argmax())] if vectors is not None else ""


@cache
def _vectors(texts: tuple[str, ...]) -> Any:
    model = sentence_model(VECTORS)[0]
    return None if model is None else model.embed(texts)
