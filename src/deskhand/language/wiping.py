"""Instructions to wipe a painted or dirty area of the desk, told by its direction, colour, shape or place. Read whole, as those to weigh are."""

from __future__ import annotations

import re
from dataclasses import replace

from deskhand.language import lexicon as lex
from deskhand.language.coverage import OPERATORS, unread
from deskhand.language.intents import Unclear, Wipe
from deskhand.language.remarks import exists, is_remark
from deskhand.language.verbs import words

_WIPING = (
    r"(?:wip(?:e|ed|ing)|scrub(?:bed|bing)?|mop(?:ped|ping)?|rub(?:bed|bing)?|swab|sponge off|polish|wash|clean(?:ed|ing)?|eras(?:e|ed|ing)|"
    r"remove|get rid of)"
)
_ONLY_WIPING = re.compile(r"\b(?:wip|scrub|mop|rub|swab)")
_DIRT = "stains?|spots?|marks?|marking|paint|dirt|spill|smear|smudge|streak|stripe"
_AREA = rf"(?:{_DIRT}|area|patch|region|zone|strip|bar|rectangle|triangle|one)"
_SAYS_DIRT = re.compile(rf"\b(?:{_DIRT}|patch|sponge|painted|horizontal(?:ly)?|vertical(?:ly)?|dirty|colou?red)\b")
_HORIZONTAL, _VERTICAL = "left-right", "front-back"
LIKE = {
    _HORIZONTAL: "horizon|equator|shelf|floor|ceiling|bed|fallen tree|lying tree|log|balance beam|minus sign|hyphen|dash|equals sign|skyline|(?:calm |"
    "still )?(?:sea|water|lake)"
    "|bridge|sleeping (?:cat|dog|person)|belt|crossbar",
    _VERTICAL: "(?:flag ?|telegraph )?pole|(?:tall |standing )?tree(?: trunk)?|lamp ?post|street ?lamp|tower|skyscraper|column|pillar|mast|chimney|"
    "candle|wall|ladder|waterfall"
    "|standing person|exclamation mark|letter i|plumb line|tie|lighthouse",
}
"""Direction of an area on the desk, seen from the robot -> what is known to lie or stand so."""
_SAID = {
    _HORIZONTAL: r"horizontal(?:ly)?|sideways|crosswise|left to right|right to left|across the (?:desk|table)|from side to side|side to side",
    _VERTICAL: r"vertical(?:ly)?|upright|front to back|back to front|lengthwise|towards (?:you|the robot)|away from (?:you|the robot)",
}
_COLOR = "|".join(sorted(lex.COLORS, key=len, reverse=True))
_PLACE = "|".join(sorted(lex.PLACES, key=len, reverse=True))
_SIZE = {"largest": 1, "biggest": 1, "larger": 1, "bigger": 1, "smallest": -1, "smaller": -1}
_ADJECTIVE = (
    rf"(?:horizontal|vertical|upright|painted|marked|colou?red|dirty|stained|long|triangular|rectangular|triangle|rectangle|{_COLOR}|{_PLACE}|"
    rf"{'|'.join(_SIZE)})"
)
_LIKES = "|".join(f"(?:{names})" for names in LIKE.values())
_ALONG = "|".join(f"(?:{names})" for names in _SAID.values())
_BEHIND = (
    rf"(?: (?:that|which))?(?: (?:(?<=that )[a-z]+s|(?<=which )[a-z]+s|is|lies|runs|goes|stretches|extends|points|stands|lying|running|standing|going|"
    rf"pointing|stretching|extending))?"
    rf"(?: (?:straight|out|up|upright|flat|across|down|along))?(?: (?:painted|placed|oriented|aligned|shaped|drawn))?"
    rf"(?: from| in the (?:direction|way) of| along the line of)? (?:(?:{_ALONG})|(?:(?:like|as|parallel to|along) )?(?:an? |the )?(?:surface of (?:an? |"
    rf"the )?)?(?:{_LIKES})(?: does)?|(?:on|at|to|"
    rf"in|to) (?:the|your|my) (?:{_PLACE})(?:(?: hand)? side| end| edge)?(?: of (?:the|my|your) (?:desk|table))?)"
)
_PHRASE = re.compile(rf"\b(?:the|that|this|a) (?P<how>(?:{_ADJECTIVE},? )*)(?P<noun>{_AREA})\b(?P<behind>(?:{_BEHIND})?)")
_ONE_OF = re.compile(
    rf"\b(?P<which>the (?:{_ADJECTIVE},? )+)(?:one )?(?:of|out of|among) (?:the |these |those |your |my )?(?:two |three |both |several )?"
    rf"(?P<kind>(?:{_ADJECTIVE},? )*)(?P<noun>(?:{_DIRT}|area|patch|region|zone|strip|bar|rectangle|triangle))(?:e?s)\b"
)
"""The left one of the two areas."""
_SPONGING = re.compile(
    rf"\b(?:use|take|run|rub|move|pull|apply) (?:the|a|your) sponge (?:on|to|over|along|across|against) (?P<area>(?:the|that|"
    rf"this) (?:{_ADJECTIVE},? )*{_AREA}\b)"
)
"""To bring a sponge over an area is to wipe it."""
_OTHER = re.compile(
    r"[,;]?(?: and| but)?(?: please)? ?(?:leave|leaving|keep|do not (?:wipe|touch|clean)|without (?:wiping|touching)) (?:the )?other(?: one| area| stain)?s?"
    r"(?: (?:as it is|alone|untouched|in peace|be))?"
)
_SPARED = re.compile(
    rf"[,;]?(?: and| but)?(?: please)? ?\b(?:leave|leaving|keep|ignore|skip|do not (?:wipe|touch|clean)|without (?:wiping|touching)) "
    rf"(?P<area>(?:the|that|this) (?!other)(?:{_ADJECTIVE},? )*{_AREA})\b(?: (?:as it is|alone|untouched|in peace|be))?(?=$|[,; ])"
)
_WORDS = words(
    "wipe wiped wiping scrub scrubbed rub rubbed mop mopped swab polish wash clean cleaned erase erased remove with using use take grab pick get "
    "hold fetch grasp lift up the a sponge off away over down it and then until is gone clean has have to be needs need must should can could "
    "would you i want like ought only just on of desk table by from let us please now thoroughly"
)


def parse_wiping(text: str) -> Wipe | Unclear | None:
    """What shall be wiped; None where it asks for something else, unclear where some of its words have no part in what was read."""
    said = re.sub(r"\s+", " ", re.sub(r"(?<=\w)-(?=\w)", " ", text.lower())).strip()
    said = re.sub(r"\b(?:don't|don’t)\b", "do not", said)
    said = _ONE_OF.sub(r"\g<which>\g<kind>\g<noun>", said)
    said = _SPONGING.sub(r"wipe \g<area> with the sponge", said)
    if not re.search(rf"\b{_WIPING}\b", said) or not (_ONLY_WIPING.search(said) or _SAYS_DIRT.search(said)):
        return None
    parts = [part.strip(" ,") for part in re.split(r"[.;!?]\s*", said)]
    asked = " ; ".join(part for part in parts if part and not is_remark(part) and not exists(part))
    rest = re.sub(r"\bthe (?:paint|dirt|marks?) (?:of|on|in|from) (?=the )", "", _OTHER.sub(" ", asked))
    left_out = [one for found in _SPARED.finditer(rest) if (one := _PHRASE.match(found["area"])) is not None]
    rest = _SPARED.sub(" ", rest)
    found = [one for one in _PHRASE.finditer(rest) if one["noun"] != "one" or one["how"]]
    if not found or not re.search(rf"\b{_WIPING}\b", rest):
        return None
    if len(found) > 1:
        return Unclear(text.strip(), "I wipe one area at a time")
    area = found[0]
    if any(_wipe(one) == replace(_wipe(area), words=one[0]) for one in left_out):
        return Unclear(text.strip(), f"it says to wipe {area[0]!r} and to leave it")
    left = [word for word in re.findall(r"[a-z']+", rest[: area.start()] + " " + rest[area.end() :]) if word in OPERATORS - {"only"} or not _known(word)]
    if left:
        return Unclear(text.strip(), unread(left))
    return _wipe(area)


def _known(word: str) -> bool:
    return word in _WORDS or word in lex.FUNCTION_WORDS


def _wipe(area: re.Match[str]) -> Wipe:
    how = f"{area['how']}{area['noun']}{area['behind']}"
    direction = next((name for name in LIKE if re.search(rf"\b(?:{_SAID[name]}|{LIKE[name]})\b", how)), "")
    color = re.search(rf"\b({_COLOR})\b", area["how"])
    place = re.search(rf"\b({_PLACE})\b", re.sub(_ALONG, "", how))
    shape = next((name for name, word in (("triangle", "triang"), ("rectangle", "rectang")) if word in how), "")
    largest = next((sign for word, sign in _SIZE.items() if word in area["how"].split()), 0)
    return Wipe(area[0], direction, lex.COLORS[color[1]] if color else "", shape, lex.PLACES[place[1]] if place else "", largest)
