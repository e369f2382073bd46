"""How people ask for the tools, kept beside them: other words in ``words.yaml``, sentences in ``asked.yaml``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from deskhand.etp.card import Card
from deskhand.etp.meaning import SentenceModel, sentence_model
from deskhand.types.yaml_file import read_yaml

WORDS = Path(__file__).with_name("words.yaml")
ASKED = Path(__file__).with_name("asked.yaml")
VECTORS = Path(__file__).with_name("vectors.npz")
"""What the sentence model makes of the cards' passages, so that a first search need not wait; written by ``deskhand tools page``."""

CLASSIFIER = Path(__file__).with_name("classifier.npz")
"""What was learned from the same passages; written with them."""


def installed_model() -> tuple[SentenceModel | None, str]:
    """The sentence model of this machine with all of this that is kept; None and why there is none."""
    return sentence_model(VECTORS, CLASSIFIER)


@cache
def kept_words() -> dict[str, str]:
    """Tool -> words."""
    kept: dict[str, str] = _read(WORDS)
    return kept


@cache
def kept_asked() -> dict[str, list[str]]:
    """Tool -> sentences."""
    kept: dict[str, list[str]] = _read(ASKED)
    return kept


def _read(file: Path) -> Any:
    return read_yaml(file, quick=True)  # 8 ms instead of 70


def with_words(card: Card) -> Card:
    """``card`` with the words and sentences that are kept for it beside those that it brings."""
    words = f"{card.words} {kept_words().get(card.name, '')}".strip()
    return card.model_copy(update={"words": words, "asked": (*card.asked, *kept_asked().get(card.name, ()))})
