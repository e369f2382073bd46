"""Instructions that a balance answers: the heavier or the odd one, a row by weight, level pans, grams. Read whole: their sentences lean on each other."""

from __future__ import annotations

import re

from deskhand.language import lexicon as lex
from deskhand.language.coverage import unread
from deskhand.language.intents import Ref, Unclear, Weigh
from deskhand.language.phrases import parse_ref, parse_whole
from deskhand.language.verbs import words as words_of

_COLOR = "|".join(sorted(lex.COLORS, key=len, reverse=True))
_WEIGHT = re.compile(
    rf"(?:the |a )?\b(?P<color>{_COLOR}) ?(?P<noun>blocks?|cubes?|bricks?|ones?|weights?|can|box)?(?: (?:is|has|weighs|weighing|with|of|at))?[ :=]*"
    r"(?P<grams>\d+(?:\.\d+)?) ?(?:g|grams?)\b(?: each)?"
)
"""As in "the red block is 10 g"."""
_HEAVIER = re.compile(r"\b(?:heavier|heaviest|weighs? (?:the )?(?:more|most))\b")
_LIGHTER = re.compile(r"\b(?:lighter|lightest|weighs? (?:the )?(?:less|least))\b")
_BALANCE = re.compile(r"\b(?:balance|scales?|pans?)\b")
_LEVEL = re.compile(r"\b(?:level|even|equal|balanced|in(?:to)? balance|in(?:to)? equilibrium)\b")
_GRAMS = re.compile(r"\bhow (?:heavy|many grams?|much)\b|\bgrams?\b|\bweight of\b")
_ROW = re.compile(r"\b(?:row|line|lined|sort|order|rank|arrange)\b")
_BY_WEIGHT = re.compile(r"\b(?:weights?|lightest|heaviest|lighter|heavier|light|heavy)\b")
_ODD = re.compile(
    r"\bdiffers?\b|\bdifferent\b|\bnot (?:weigh|have) the same\b|\bthe same(?: weight)? (?:but|except)\b|\bweigh the same\b|"
    r"\bthan (?:(?:all|any) )?(?:of )?(?:the )?(?:others?|rest)\b|\bodd (?:one|block|object)\b"
)
_ONTO = re.compile(r"\b(?:put|lay|place|set|add|bring) (?P<what>[a-z0-9_ ]+?) on(?:to)? the (?P<side>left|right)\b")
_RISING = re.compile(r"\blight(?:est|er)?(?: \w+)? (?:to|up to|till) (?:the )?heav|\blight(?:est|er) (?:one )?(?:first|(?:at|on) the left)\b")
_FALLING = re.compile(r"\bheav(?:iest|ier|y)(?: \w+)? (?:to|down to|till) (?:the )?light|\bheav(?:iest|ier) (?:one )?(?:first|(?:at|on) the left)\b")
_MOST = re.compile(r"\b(?:at most|no more than|with|within|not more than) (?P<n>\d+|\w+) (?:weighings?|times|readings?)\b")
_INTO = re.compile(r"\b(?:in|into|to|onto|on) (?P<what>(?:the|a|my|your) [a-z_0-9 ]+)")
_OWN = words_of(
    "balance balances scale scales pan pans weigh weighs weighing weighings weighed weight weights heavy heavier heaviest light lighter lightest more most "
    "less least gram grams g level even equal balanced equilibrium same different differ differs odd left right row line order sort rank counterweight side "
    "sides"
)
"""Nouns and adjectives of weighing, which are no objects."""
_WORDS = _OWN | words_of(
    "find out tell tells told say know see use using used take takes taking choose get make makes made keep keeps stay stays stand stands standing is are be "
    "do does has have will shall should may can want need like bring lay lays laying put puts place places placed add set line lined up arrange form compare "
    "compared belong belongs belonging which what who how much many than then so that it its they them one ones two both all each other others rest among "
    "between against exactly not except but apart from by with without in into on onto to at of for as and or the a an i me you these those there first once "
    "again too well end times time help please could would only just also them this any enough wherever whatever such way until too found"
)

_QUANTITIES = words_of("one all each both every")
"""Before "of the blocks": all of those are meant."""


def parse_weighing(text: str) -> Weigh | Unclear | None:
    """What shall be weighed; None where it asks for something else, unclear where some of its words have no part in what was read."""
    said = re.sub(r"\s+", " ", re.sub(r"[’`´]", "'", text.lower())).strip()
    said = re.sub(r"(?<=\d)(?=g\b)", " ", re.sub(r"\bdoes ?n'?o?t\b", "does not", said))
    legend = list(_WEIGHT.finditer(said))
    rest = _WEIGHT.sub(" ", said)
    kind = _kind(rest, bool(legend))
    if not kind:
        return None
    sign = _sign(rest)
    target = _target(rest)
    objects, left = _objects(_MOST.sub(" ", rest), target)
    if kind in ("heaviest", "odd") and target is None and not re.search(r"\b(?:which|what)\b", rest):
        return None
    if not objects:
        return Unclear(text.strip(), "I do not see what shall be weighed")
    if left:
        return Unclear(text.strip(), unread(left))
    weights = tuple((_weight_ref(found), float(found["grams"])) for found in legend)
    most = _MOST.search(rest)
    rising, falling = bool(_RISING.search(rest)), bool(_FALLING.search(rest))
    up = (rising if rising != falling else None) if "left to right" in rest or "left" in rest or "right" in rest else None
    onto = next((found["side"] for found in _ONTO.finditer(rest) if not re.search(r"\bweights?\b", found["what"])), "")
    return Weigh(kind, objects, sign, target if kind in ("heaviest", "odd") else None, weights, onto, up, _number(most["n"]) if most else 0)


def _kind(rest: str, legend: bool) -> str:
    """Which of the kinds of :class:`Weigh` it is, empty for none."""
    compares = bool(_HEAVIER.search(rest) or _LIGHTER.search(rest))
    if _BALANCE.search(rest) and _LEVEL.search(rest):
        return "level"
    if _ODD.search(rest) and (compares or re.search(r"\bweigh", rest)):
        return "odd"
    if _ROW.search(rest) and _BY_WEIGHT.search(rest) and not re.search(r"\b(?:size|height|length|colou?r)\b", rest):
        return "row"
    if compares:
        return "heaviest"
    return "grams" if (_GRAMS.search(rest) or (legend and re.search(r"\bweighs?\b", rest))) and (legend or _BALANCE.search(rest) or "heavy" in rest) else ""


def _sign(rest: str) -> int:
    heavier, lighter = bool(_HEAVIER.search(rest)), bool(_LIGHTER.search(rest))
    return 0 if heavier == lighter else 1 if heavier else -1


def _number(word: str) -> int:
    return int(word) if word.isdigit() else lex.NUMBERS.get(word, 0)


def _weight_ref(found: re.Match[str]) -> Ref:
    noun = found["noun"] or "object"
    noun = "object" if noun.rstrip("s") in ("one", "weight") else noun.rstrip("s")
    ref = parse_whole(f"the {found['color']} {noun}")
    assert ref is not None, found[0]
    return ref


def _target(rest: str) -> Ref | None:
    """The container that the one which is found goes to."""
    for found in _INTO.finditer(rest):
        words = found["what"].split()
        parsed = parse_ref(words, 0)
        if parsed is not None and (parsed[0].container or parsed[0].kinds & (lex.CONTAINER_KINDS | {"box"})):
            return parsed[0]
    return None


def _objects(rest: str, target: Ref | None) -> tuple[tuple[Ref, ...], list[str]]:
    """The objects that it is about, each phrase once, and the words that have no part in anything."""
    words = re.findall(r"[a-z0-9_']+|[,.;:?!]", rest)
    objects: list[Ref] = []
    left: list[str] = []
    i = 0
    while i < len(words):
        found = None if words[i] in _OWN | _QUANTITIES else parse_ref(words, i)
        if found is not None and _is_object(found[0]) and not set(words[i : found[1]]) & _OWN:
            if found[0] != target and all(found[0].words != item.words for item in objects):
                objects.append(found[0])
                left += found[0].unread
            i = found[1]
            continue
        word = words[i]
        if re.match(r"[a-z]", word) and word not in _WORDS and word not in lex.NUMBERS and word not in lex.FUNCTION_WORDS:
            left.append(word)
        i += 1
    return tuple(objects), left


def _is_object(ref: Ref) -> bool:
    return bool(ref.kinds or ref.id or ref.container or (ref.anything and (ref.colors or ref.words.split()[-1:] in (["objects"], ["things"], ["items"]))))
