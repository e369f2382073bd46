"""Sentences that ask for nothing and restrict nothing: what the speaker does, feels or likes, and what there is on the desk."""

from __future__ import annotations

import re

from deskhand.language import lexicon as lex
from deskhand.language.aside_forms import TELLS_WHICH
from deskhand.language.coverage import OPERATORS

_SPEAKER = re.compile(
    r"(?:i|we|my \w+|our \w+|it|this|that|today|yesterday) "
    r"(?:(?:really |also |just |now )?(?:am|are|is|was|were|has|have|had|likes?|loves?|enjoys?|hates?|feels?|thinks?|hopes?)|(?:will|shall) be)\b"
)
_PEOPLE = re.compile(
    r"(?:i|we|he|she|they|people|everybody|everyone|somebody|someone|(?:my|our|his|her|their|the) (?:\w+ )?(?:wife|husband|partner|son|daughter|child|children|"
    r"kids?|boy|girl|baby|mother|father|parents|mum|mom|dad|brother|sister|friends?|guests?|visitors?|neighbou?rs?|boss|colleagues?|teacher|students?|pupils|"
    r"class|team|family|dog|cat))\b"
)
_SCENERY = re.compile(
    r"(?:the|this|my|our|your) (?:desk|table|room|office|kitchen|house|light|workspace|workbench) (?:is|looks|was|has been|gets|got) "
    r"(?:so |very |quite |really |rather |a bit |too )?[a-z]+(?: (?:again|today|now))?"
)
_SEEMING = re.compile(r"(?:the|this|these|those|that) [^,;:]*?\b(?:seems?|looks?|appears?|smells?|sounds?|feels?|might|may|creates?|makes? me)\b")
_GOING = (frozenset(verb[0] for verb in lex.VERBS) | frozenset(("stay", "stays", "remain")) | lex.LINKING) - frozenset(
    ("be", "is", "are", "has", "have", "get", "gets", "come", "comes", "wants", "to")
)
"""Words by which something is brought somewhere: "the cup may go into the tray" is no remark."""
_WISHES = re.compile(r"\b(?:want|wants|need|needs|wish|should|must|shall|would|could|can|to have|have to|has to|you|your|robot|where|belongs?|goes?)\b")
_PLAYTHINGS = frozenset(("toy", "plaything"))
"""What somebody loves or collects in general: no object of the desk is named by it."""
_WHEN = frozenset(("at", "one", "tomorrow", "tonight", "later", "soon", "noon", *lex.NUMBERS, *lex.PLACES))
"""Who says when, or on which side, may restrict what is asked for."""
_EVIDENT = (
    r"(?:as|like) (?:you|we|i|one|everybody|anyone) (?:can |may |might |will |surely |already |have )*(?:see|saw|notice|noticed|know|tell|told|said|"
    r"mentioned)(?: you)?(?: (?:it|there|here|yourself|already|before))?"
)
"""Behind what there is: it tells nothing about it."""
_THERE = re.compile(rf"there (?:is|are) (?P<what>.+?)(?: here)?(?:,? {_EVIDENT})?")


def is_remark(sentence: str) -> bool:
    """True for "I am expecting guests", "it has been a long day": no object is named in it, no place for one, nothing is wished, denied or restricted.
    And for "the cup looks old", "its colour might change": how an object seems, where nothing brings it anywhere.
    """
    words = re.findall(r"[a-z0-9_]+", sentence)
    if _SEEMING.match(sentence):  # how something seems, or might come to be
        return not (_WISHES.search(sentence) or set(words) & (_GOING | OPERATORS))
    if _SCENERY.fullmatch(sentence):
        return not set(words) & (OPERATORS | set(lex.COLORS))
    if TELLS_WHICH.match(sentence):
        return False
    if _WISHES.search(sentence) or not (_SPEAKER.match(sentence) or (_PEOPLE.match(sentence) and not set(words) & (_GOING | _WHEN))):
        return False
    singular = {lex.singular(word) for word in words} - _PLAYTHINGS
    named = singular & (set(lex.KIND_OF) | lex.CONTAINER_NOUNS | lex.TABLE_NOUNS) or set(words) & (set(lex.COLORS) | OPERATORS)
    return not named


def exists(sentence: str) -> str:
    """For "there are two boxes on the desk" what is there, in words; empty for another sentence."""
    found = _THERE.fullmatch(sentence)
    return found["what"] if found and not set(re.findall(r"[a-z]+", sentence)) & OPERATORS else ""
