"""Which tools make a state true, by what their cards need and give: the same answer for the same state, without a language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deskhand.etp.card import Card
from deskhand.etp.predicates import parsed

_DEEP = 4  # tools before the one that serves
_EFFECTS = ("none", "memory", "motion")

Unmet = Callable[[Card], Sequence[str]]
"""The preconditions of a card that do not hold now, those about an argument left out."""


@dataclass(frozen=True)
class Way:
    """A tool that makes a state true.

    Attributes:
        before: tools to call first, in their order, so that its preconditions hold.
        missing: preconditions that no tool can make true, as the safety stop.
    """

    tool: str
    before: tuple[str, ...]
    missing: tuple[str, ...]


def ways_to(cards: Sequence[Card], wanted: str, unmet: Unmet) -> list[Way]:
    """The tools whose postconditions have the predicate ``wanted`` (its name), those that can be called at once first, then those that move least.

    Raises:
        DeskhandError: ``config_error`` for a predicate that there is not.
    """
    name, _ = parsed(wanted)
    order = {card.name: card for card in cards}
    found = [_way(cards, card, unmet, (name,)) for card in cards if _gives(card, name)]
    return sorted(found, key=lambda way: (len(way.missing), len(way.before), _moves(order, way), way.tool))


def _gives(card: Card, name: str) -> bool:
    return any(parsed(text)[0] == name for text in card.postconditions)


def _moves(cards: dict[str, Card], way: Way) -> int:
    return sum(_EFFECTS.index(cards[tool].effects) for tool in (*way.before, way.tool))


def _way(cards: Sequence[Card], card: Card, unmet: Unmet, asked: tuple[str, ...]) -> Way:
    before: list[str] = []
    missing: list[str] = []
    for text in unmet(card):
        name = parsed(text)[0]
        best = None
        if name not in asked and len(asked) <= _DEEP:
            givers = [_way(cards, other, unmet, (*asked, name)) for other in cards if _gives(other, name)]
            order = {each.name: each for each in cards}
            best = min((way for way in givers if not way.missing), key=lambda way: (len(way.before), _moves(order, way), way.tool), default=None)
        if best is None:
            missing.append(text)
        else:
            before += [tool for tool in (*best.before, best.tool) if tool not in before]
    return Way(card.name, tuple(before), tuple(missing))
