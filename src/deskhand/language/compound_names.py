"""Names of several words in a sentence: "the alphabet soup" is one noun where somebody has taught an object of that name."""

from __future__ import annotations

import re
from collections.abc import Iterable

JOINT = "_"
PACKAGES = ("box", "can", "bottle", "carton", "pack", "packet", "package", "jar", "tin", "tub", "tube", "bag")
"""What goods come in: "the cookies box", "the milk carton" are the cookies and the milk."""


def noun_of(name: str) -> str:
    """One word for a name, as labels have it: ``alphabet soup`` -> ``alphabet_soup``."""
    return JOINT.join(name.lower().split())


def join_names(text: str, names: Iterable[str]) -> str:
    """``text`` with every name of several words in ``names`` written as one word, and names without what the goods come in; longer names first.

    Plurals stay readable: a last "s" is kept; where the name itself has one ("cookies"), "the cookie box" means it, too.
    """
    for name in sorted(names, key=lambda each: -len(each.split())):
        words = name.lower().replace(JOINT, " ").split()
        packed = "" if words[-1] in PACKAGES else r"[\s_-]+(?:" + "|".join(PACKAGES) + r")\b"
        said, noun = r"[\s_-]+".join(map(re.escape, words)), noun_of(" ".join(words))
        single = rf"{said[:-1]}s?" if words[-1].endswith("s") and not words[-1].endswith("ss") else said
        if packed:
            text = re.sub(rf"\b{single}{packed}", noun, text, flags=re.IGNORECASE)
        if len(words) > 1:
            text = re.sub(rf"\b{said}(s?)\b", rf"{noun}\1", text, flags=re.IGNORECASE)
    return text
