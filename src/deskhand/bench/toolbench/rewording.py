"""The same items in other words: whether an answerer knows the words only that it was made with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deskhand.bench.toolbench.expert import WORDINGS
from deskhand.bench.toolbench.families import drawn_case, family_of
from deskhand.bench.toolbench.items import Item
from deskhand.bench.toolbench.need import said_again
from deskhand.errors import DeskhandError


def reworded(items: Sequence[Item], words: str) -> list[Item]:
    """The items, each said in the set of ``words``; desks, histories and labels are the same.

    Raises:
        DeskhandError: ``invalid_input`` for a set that there is not, with those there are.
    """
    if words not in WORDINGS:
        raise DeskhandError("invalid_input", f"there are no words {words!r}; valid: {', '.join(WORDINGS)}.")
    return [replace(item, say=_say(item, words)) for item in items]


def _say(item: Item, words: str) -> str:
    if item.kind == "need":
        return said_again(item.family, item.seed, bool(item.reference["need"]), words)
    return drawn_case(family_of(item.family), item.seed, words).say
