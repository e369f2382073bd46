"""Words for outlines and solids, what they remind of and how they look: rewritten into the plain noun before an instruction is read."""

from __future__ import annotations

import re

OUTLINE_WORDS: dict[str, tuple[str, ...]] = {
    "star": ("star", "pentagram"),
    "crescent": ("crescent", "moon", "crescent moon", "half moon", "sickle"),
    "triangle": ("triangle", "triangular prism", "prism", "triangular block"),
    "circle": ("cylinder", "disc", "disk", "circle"),
    "square": ("square",),
    "heart": ("heart",),
    "plus": ("cross", "plus sign"),
    "hexagon": ("hexagon", "hexagonal prism"),
    "pentagon": ("pentagon", "pentagonal prism"),
}
"""Outline (perception/outline_match.py) -> the nouns for an object that has it."""
OUTLINE_OF = {word: outline for outline, words in OUTLINE_WORDS.items() for word in words}
PLAIN = {"star": "star", "crescent": "crescent", "triangle": "triangle", "circle": "cylinder", "square": "cube", "heart": "heart", "plus": "cross"}
PLAIN |= {"hexagon": "hexagon", "pentagon": "pentagon"}
"""Outline -> the one noun that descriptions are rewritten into."""
REMINDS: dict[str, str] = {
    "star": "starfish|sea star|what twinkles in the night sky|what twinkles at night|a sun with rays",
    "crescent": "banana|croissant|boomerang|sickle|crescent moon|half moon|moon|slice of melon|melon slice|smile",
    "triangle": "tent|(?:slice|piece) of (?:pizza|cake|pie|cheese)|pizza slice|toblerone|roof|sail|tortilla chip|mountain|yield (?:traffic )?sign|"
    "triangle|sandwich cut diagonally|party hat",
    "circle": "(?:tin |soda |drinks? )?can|can of \\w+|drum|barrel|coin|cookie|wheel|tower|tube|log|cylinder|plate|clock face",
    "square": "dice|die|sugar (?:cube|lump)|bouillon cube|rubiks? cube|(?:toy |building )?block|square tile|cube",
    "heart": "heart|valentine",
    "plus": "cross|plus sign|medical cross",
    "hexagon": "honeycomb cell|beehive cell|metal nut|nut|hexagon",
    "pentagon": "house|home plate|pentagon",
}
"""Outline -> what has it, as alternatives of a pattern: everyday examples of pages that teach shapes (enchantedlearning.com, slideplayer.com/slide/2603187, a
worksheet that matches boomerang and starfish) and the dictionary's."""
LOOKS: dict[str, str] = {
    "star": "five (?:sharp )?(?:points|tips|rays|arms)",
    "crescent": "a crescent (?:shape|outline|top)|two (?:tips|horns) and a curve",
    "triangle": "three (?:corners|sides|edges)|a triangular (?:top|face|base|outline|shape)|a triangle on top",
    "circle": "a (?:round|circular) (?:top|base|outline)|a circle on top|no corners|round ends",
    "square": "six (?:equal|square|equal square) (?:faces|sides)|four (?:equal )?(?:corners|sides)|a square (?:top|base|outline)",
    "plus": "four arms",
    "hexagon": "six (?:corners|edges)",
    "pentagon": "five (?:corners|sides|edges)",
}
"""Outline -> what objects with it have, behind "with"."""
_THING = r"(?P<thing>object|thing|item|shape|piece|block|one|toy)s?"
_LIKE = (
    r"(?:(?:that|which) )?(?:is )?(?:shaped|formed|looking) like|(?:that|which) looks like|(?:that|which) resembles|resembling|"
    r"(?:that|which) reminds (?:me )?of|(?:(?:that|which) has|having|with|in|of) the (?:shape|form|look) of|in the shape of"
)
_RULES = [
    *((re.compile(rf"\b{_THING} (?:{_LIKE}) (?:an? |the )?(?:{words})s?\b"), outline) for outline, words in REMINDS.items()),
    *((re.compile(rf"\b{_THING} (?:with|that has|which has|having) (?:{words})\b"), outline) for outline, words in LOOKS.items()),
    *((re.compile(rf"\b(?:{'|'.join(words)}) shaped {_THING}\b"), outline) for outline, words in OUTLINE_WORDS.items()),
    (re.compile(rf"\btriangular {_THING}\b"), "triangle"),
    (re.compile(rf"\bthree (?:sided|cornered) {_THING}\b"), "triangle"),
    (re.compile(rf"\bfive pointed {_THING}\b"), "star"),
    (re.compile(rf"\b(?:cubic|cubical) {_THING}\b"), "square"),
    (re.compile(rf"\bcircular {_THING}\b"), "circle"),
]


def plain_shapes(text: str) -> str:
    """Descriptions rewritten: "the object shaped like a tent" becomes "the triangle"; ``text`` in lower case, hyphens as spaces."""
    for pattern, outline in _RULES:
        text = pattern.sub(PLAIN[outline], text)
    return text
