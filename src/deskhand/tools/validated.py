"""What scenarios have measured of the tools, kept beside them in ``<group>/validation.json`` by ``deskhand tools validate --write``."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from deskhand.etp.card import Card, Scenario

Kept = dict[str, dict[str, dict[str, Any]]]
"""Tool -> scenario -> ``passed``, ``measure``, ``value``."""


def validation_file(group: str) -> Path:
    """Where the results of a group's tools are kept."""
    return Path(__file__).parent / group / "validation.json"


def kept_results(group: str) -> Kept:
    """What is kept of a group; empty when nothing was measured yet."""
    file = validation_file(group)
    kept: Kept = json.loads(file.read_text()) if file.exists() else {}
    return kept


_kept = cache(kept_results)


def with_validation(card: Card) -> Card:
    """``card`` with the scenarios that its tool was measured on."""
    entries = _kept(card.group).get(card.name, {})
    return card.model_copy(update={"validation": tuple(Scenario(name=name, **entry) for name, entry in entries.items())})
