"""Instructions to build with blocks: a structure by name, a plan as JSON or YAML in the text or in a file, or a picture of a copy."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from deskhand.language import lexicon as lex
from deskhand.language.coverage import unread
from deskhand.language.intents import Build
from deskhand.language.verbs import words
from deskhand.types.yaml_file import parse_yaml

_VERB = re.compile(r"\b(?:build|make|construct|erect|assemble|stack|pile|put|place|arrange|line|copy|reproduce|rebuild|form|set|create|lay)\b")
_MAKE = re.compile(r"\b(?:build|make|construct|erect|assemble|form|create|stack|pile|arrange|set up|put up)\b")
_FILE = re.compile(r"(?:^|[\s\"'`(])((?:[~./\w-]|\\ )[^\s\"'`(),;]*\.(png|json|ya?ml))\b", re.IGNORECASE)
_NAMES = {
    "pyramid": r"\bpyramids?\b",
    "bridge": r"\bbridges?\b|\barch(?:way)?\b",
    "house": r"\bhouses?\b|\bhut\b",
    "row": r"\brow\b|\bline up\b|\bstraight line\b|\bin (?:a )?line\b|\bside by side\b",
    "tower": r"\btowers?\b|\bcolumn\b|\binto a (?:stack|pile)\b",
}
_SORTED = re.compile(r"\b(?:small|bigg|large?|tall|high|short|long)(?:er|est|st)\b|\b(?:by|of|in) (?:size|height|length|colou?r)\b")
"""A row in an order of sizes is no structure: it is laid out (forms.py)."""
_BLOCKS = re.compile(r"\b(?:blocks?|cubes?|bricks?)\b")
_HIGH = re.compile(r"\b(?:blocks?|cubes?|bricks?|levels?|storeys?|stories) (?:high|tall)\b|\bof (?:the )?(?:blocks?|cubes?|bricks?)\b")
_DOWNWARDS = re.compile(r"\b(?:from )?(?:the )?top to (?:the )?bottom\b|\btop(?:most)? first\b|\bstarting (?:at|from) the top\b")
_LEFTWARDS = re.compile(r"\b(?:from )?right to left\b")
_BOTTOM = r"(?:at|on|as|for) the (?:bottom|base|foot)|\blowest\b|\bunderneath\b|\bbottom (?:block|one|cube)\b"
_TOP = r"(?:on|at) (?:the )?top\b(?! of)|\buppermost\b|\bhighest\b|\btop (?:block|one|cube)\b"
_COLOR = re.compile(r"\b(" + "|".join(sorted(lex.COLORS, key=len, reverse=True)) + r")\b")
_NUMBER = re.compile(r"(?<!-)\b(\d+|" + "|".join(lex.NUMBERS) + r")\b(?= (?:\w+ ){0,2}(?:blocks?|cubes?|bricks?|levels?|storeys?|stories|high\b|tall\b))")
_NOUNS = re.compile(r"\b(pyramid|bridge|house|tower|row)\b")
_AT_MOST = {"bridge": 3, "house": 5}
"""Blocks of the structures whose size is not said."""
_LEVELS = re.compile(r" (?:\w+ ){0,2}(?:levels?|storeys?|stories|rows?|high|tall)\b")


def parse_building(text: str) -> Build | None:
    """What shall be built; None when the text asks for something else."""
    lower = text.lower()
    if not _VERB.search(lower):
        return None
    if found := _FILE.search(text):
        return Build(text.strip(), file=found[1])
    plan, error = _inline(text)
    if plan is not None or error:
        return Build(text.strip(), plan=plan, unclear=error)
    name = _named(lower)
    if name is None:
        return None
    number = _NUMBER.search(lower)
    count = 0 if number is None else int(lex.NUMBERS.get(number[1], 0) or number[1])
    if name == "pyramid" and number is not None and _LEVELS.match(lower, number.end()):
        count = count * (count + 1) // 2
    colors, unclear = _order(lower, name, count)
    if name in _AT_MOST:
        unclear, count = unclear or (f"a {name} that I know takes no {count} blocks; say it as a plan" if count > _AT_MOST[name] else ""), 0
    if left := _unread(lower):
        unclear = unread(left)
    if len(set(_NOUNS.findall(lower))) > 1:
        unclear = "it names more than one structure; ask for one after the other"
    return Build(text.strip(), name, count or (len(colors) if name in ("row", "tower") and len(colors) > 1 else 0), colors, unclear=unclear)


_WORDS = words(
    "build make construct erect assemble form create stack pile put place set lay arrange line up out block blocks cube cubes brick bricks plank planks "
    "toy pyramid bridge arch archway house hut row tower towers column level levels storey storeys stories story high tall long straight side by roof "
    "ceiling wall walls pillar pillars beam across from to top topmost uppermost bottom base foot lowest highest underneath left right first then "
    "starting at on in into onto of with for as using the a an one ones and order this it is that are be all each other together next touching single "
    "same please could can would you i we want need like me us now there here your my"
)
"""All words that an instruction to build by name may have, beside numbers and colours."""


def _unread(lower: str) -> list[str]:
    """The words that have no part in what was read."""
    text = re.sub(r"\b(?:like this|side by side)\b", " ", lower)
    said = re.findall(r"[^\W\d_]+", text)
    return [word for word in said if word not in _WORDS and word not in lex.COLORS and word not in lex.NUMBERS and word not in lex.FUNCTION_WORDS]


def _named(lower: str) -> str | None:
    for name, pattern in _NAMES.items():
        if re.search(pattern, lower):
            if name == "tower" and not (_BLOCKS.search(lower) and (_NUMBER.search(lower) or len(_COLOR.findall(lower)) > 1)):
                return None  # towers of whatever there is are stacked one on the other
            if name not in ("row", "tower") and not _MAKE.search(lower):
                return None
            if name == "row" and (not _BLOCKS.search(lower) or _SORTED.search(lower)):
                return None
            return name
    return None


def _inline(text: str) -> tuple[Any, str]:
    """A plan in the text, as JSON or as YAML after the first line; and why it cannot be read."""
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        try:
            return json.loads(text[start : end + 1]), ""
        except json.JSONDecodeError:
            try:
                return parse_yaml(text[start : end + 1]), ""
            except yaml.YAMLError as error:
                return None, f"the plan is neither JSON nor YAML: {str(error).splitlines()[0]}"
    found = re.search(r"^(?:structure|blocks):", text, re.MULTILINE)
    if found:
        try:
            return parse_yaml(text[found.start() :].strip().removesuffix("```")), ""
        except yaml.YAMLError as error:
            return None, f"the plan is no YAML: {str(error).splitlines()[0]}"
    return None, ""


def _order(lower: str, name: str, count: int) -> tuple[tuple[str, ...], str]:
    """Wanted colours from the bottom up (a row: from left to right), empty strings for any; and what is not clear about them."""
    said = [(found.start(), lex.COLORS[found[1]]) for found in _COLOR.finditer(lower)]
    if not said:
        return (), ""
    colors = [color for _, color in said]
    if name == "row":
        return tuple(colors[::-1] if _LEFTWARDS.search(lower) else colors), ""
    if name != "tower":
        return (), f"I cannot tell which block of the {name} shall be {colors[0]}; say it as a plan"
    bottom, top = _at(lower, said, _BOTTOM), _at(lower, said, _TOP)
    if len(colors) > 2 and bottom is not None and colors.count(colors[bottom]) > 1 and bottom == len(colors) - 1 and colors[0] == colors[bottom]:
        colors, bottom = colors[:-1], 0  # "red, blue and green, with red at the bottom"
    if _DOWNWARDS.search(lower) or (bottom is not None and bottom == len(colors) - 1 > 0) or (top == 0 and len(colors) > 1):
        colors = colors[::-1]
    elif len(colors) == 1 and top == 0 and bottom is None:
        return (*[""] * ((count or 3) - 1), colors[0]), ""
    elif len(colors) == 2 and bottom == 0 and top == 1 and count > 2:
        return (colors[0], *[""] * (count - 2), colors[1]), ""
    if count and len(colors) > count:
        return (), f"{len(colors)} colours are named for {count} blocks"
    return tuple(colors), ""


def _at(lower: str, said: list[tuple[int, str]], pattern: str) -> int | None:
    """Index of the colour that a phrase like "at the bottom" belongs to: the one before it in its clause, else the one after it."""
    found = re.search(pattern, lower)
    if found is None:
        return None
    clause = max(lower.rfind(mark, 0, found.start()) for mark in ",.;:(") + 1
    before = [index for index, (start, _) in enumerate(said) if clause <= start < found.start()]
    after = [index for index, (start, _) in enumerate(said) if start >= found.start()]
    return before[-1] if before else after[0] if after else None
