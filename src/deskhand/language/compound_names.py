"""Names of several words in a sentence: "the alphabet soup" is one noun where somebody has taught an object of that name."""

from __future__ import annotations

import re
from collections.abc import Iterable

JOINT = "_"


def noun_of(name: str) -> str:
    """One word for a name, as labels have it: ``alphabet soup`` -> ``alphabet_soup``."""
    return JOINT.join(name.lower().split())


def join_names(text: str, names: Iterable[str]) -> str:
    """``text`` with every name of several words in ``names`` written as one word; longer names first. Plurals stay readable: a last "s" is kept."""
    for name in sorted(names, key=lambda each: -len(each.split())):
        words = name.lower().replace(JOINT, " ").split()
        if len(words) > 1:
            pattern = r"\b" + r"[\s_-]+".join(map(re.escape, words)) + r"(s?)\b"
            text = re.sub(pattern, rf"{noun_of(' '.join(words))}\1", text, flags=re.IGNORECASE)
    return text
