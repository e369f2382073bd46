"""Whether the card of a tool says all that an agent needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.etp.card import Card
from deskhand.etp.predicates import check_predicates
from deskhand.etp.validation import Schema

MOVES_NEED = frozenset({"arm", "gripper"})


def card_problems(card: Card) -> list[str]:
    """What is wrong with a card, one line each; empty when it is sound."""
    return list(_problems(card))


def _problems(card: Card) -> Iterator[str]:
    try:
        check_predicates(Card.from_json(card.to_json()))
    except DeskhandError as error:
        yield error.message
    if not card.examples:
        yield "no example call"
    for example in card.examples:
        yield from (f"the example {example.arguments} does not fit: {problem}" for problem in Schema(card.input_schema).problems(example.arguments))
        if not example.situation:
            yield f"the example {example.arguments} names no situation"
    for name, schema in card.input_schema.get("properties", {}).items():
        yield from _undescribed(name, schema)
    if card.effects == "motion" and not MOVES_NEED & set(card.needs):
        yield "it moves something, but needs neither arm nor gripper"
    if card.effects == "motion" and "not_stopped" not in card.preconditions:
        yield "it moves something without the precondition not_stopped"
    if card.output_schema.get("type") != "object":
        yield "its result is no object"


def _undescribed(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """Numbers without unit, arguments without description."""
    options = [schema, *schema.get("anyOf", ())]
    text = " ".join(str(option.get("description", "")) for option in options)
    if not text and not any("$ref" in option for option in options):
        yield f"the argument {name} has no description"
    bare = any(option.get("type") == "number" for option in options)
    if bare and "[" not in text and "share" not in text:
        yield f"the argument {name} is a number without a unit in [ ]"
