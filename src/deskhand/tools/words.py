"""Other words in which people ask for the tools, kept beside them in ``words.yaml``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from deskhand.etp.card import Card

FILE = Path(__file__).with_name("words.yaml")


@cache
def kept_words() -> dict[str, str]:
    """Tool -> words."""
    kept: dict[str, str] = yaml.safe_load(FILE.read_text())
    return kept


def with_words(card: Card) -> Card:
    """``card`` with the words that are kept for it beside those that it brings."""
    return card.model_copy(update={"words": f"{card.words} {kept_words().get(card.name, '')}".strip()})
