"""How the tool base is made up: tools by group and unit, how they run, what they do, how they were measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from deskhand.etp.card import UNITS, Card


def stats_of(cards: Iterable[Card]) -> dict[str, Any]:
    """Counts as plain JSON data; ``scenarios`` that were kept with the cards, and how many of them passed.

    ``units`` has every unit there is, those without a tool too.
    """
    cards = list(cards)
    per_unit = Counter[tuple[str, str]]((card.group, card.unit) for card in cards)
    needs = Counter(need for card in cards for need in card.needs)
    scenarios = [scenario for card in cards for scenario in card.validation]
    return {
        "tools": len(cards),
        "groups": {group: sum(card.group == group for card in cards) for group in UNITS},
        "units": [{"group": group, "unit": unit, "tools": per_unit[group, unit]} for group, units in UNITS.items() for unit in units],
        "modes": _counts(card.mode for card in cards),
        "effects": _counts(card.effects for card in cards),
        "needs": {**dict(sorted(needs.items())), "nothing": sum(not card.needs for card in cards)},
        "isolated": sum(card.isolated for card in cards),
        "sources": _counts(card.source for card in cards),
        "scenarios": len(scenarios),
        "passed": sum(scenario.passed for scenario in scenarios),
        "unmeasured": sorted(card.name for card in cards if not card.validation),
    }


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
