"""Ways of saying which of several objects is at the bottom of a stack, rewritten into "put B on A": "stack A and then B", "A as the base"."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from deskhand.language import lexicon as lex

_STACK = r"(?:stack|pile|heap)(?: up)?"
_PUT = rf"(?:(?:put|place|set|lay|stand|position|rest|drop|add)|{_STACK})"
_SIDES = r"(?: (?:on|at|to|in) the (?:far |very )?(?:left|right|front|back|rear|middle|cent(?:er|re))(?: side)?)?"
_PLACED = r"on|onto|upon|atop|in|into|inside|under|underneath|below|beneath|over|above|top"
_NO_PART = rf"(?:{_PLACED}|at|and|then|first|second|next|last|followed|it|with|as|by|stack|pile|put|place|order|sequence)"
_THE = r"(?:the|a|an|my|your|our|this|that)"
_TAIL = rf"(?: (?!{_NO_PART}\b)[a-z0-9_']+)"


def _one(name: str, article: str = "") -> str:
    """A phrase for an object: no preposition in it but for the side where it is."""
    return rf"(?P<{name}>{_THE}{article}{_TAIL}{{1,8}}?{_SIDES})"


_END = r"(?= *(?:$|[,;.!?]))"
_IN_ORDER = (
    r"(?:in (?:exactly |just )?(?:sequence|order|succession|(?:this|that|the(?: (?:given|stated|same|named|following|right|above))?) (?:sequence|order|"
    r"succession))"
    r"(?: (?:given|named|stated|mentioned|i (?:said|named|gave|mentioned)))?|one (?:after|on(?: top of)?|upon) (?:the other|another)(?: in (?:this|"
    r"that) order)?)"
)
_THEN = r"(?:(?:,| ;)? ?(?:and )?(?:then|next|after that|afterwards|subsequently|followed by|after it)(?:,? (?:put|place|add|stack|lay|set))?)"
_AFTER = r"(?: (?:second|next|last|after that|afterwards|after it|then|on top(?: of (?:it|that|the first(?: one)?))?|onto it|on it|above it|over it))?"
_ON_IT = r"(?:on(?: the)? top(?: of (?:it|that|this|the first(?: one)?))?|(?:on|onto|over|upon|atop|above) (?:it|that|this)|on top)"
_BASE = r"(?:base|bottom|foundation|basis|lowest (?:one|part|level|piece)|lower one|bottom (?:one|piece|layer|level|part)|support)"
_BELOW = rf"(?:(?:at|on|as|for) (?:the|a|its|your) {_BASE}|underneath|below|beneath|at the foot|lowermost|undermost|bottommost)"
_ABOVE = r"(?:on(?: the)? top(?: of (?:it|that))?|above(?: (?:it|that))?|at the top|over it|uppermost|topmost|as the top(?: one)?|on it)"
_ITEMS = r"(?:objects|shapes|things|pieces|items|blocks|cubes|toys|[a-z]+s)"
_INTRO = (
    rf"(?P<listed>(?:(?:these|those|the following|the|two|three|four|both|them)\b ?)+(?:{_ITEMS} ?)?(?:(?:on|onto) (?:each other|one another) ?)?"
    r"(?:in (?:this|the following|that) (?:order|sequence) ?)?[:,] ?(?:first,? )?)?"
)
_ADJECTIVE = "|".join(sorted({*lex.COLORS, *lex.SIZES, *lex.PLACES}, key=len, reverse=True))
_TOGETHER = (
    r"(?:in|into|to form|to make) (?:a|one) (?:(?:small|little|neat) )?(?:stack|pile|tower)|(?:one )?on(?: top of)? (?:each other|one another|"
    r"the other)"
)


def _stacked(found: re.Match[str]) -> str:
    """``a`` first, then ``b`` on it, and ``c`` on that where it was named."""
    named = [_whole(text) for name in ("a", "b", "c") if (text := found.groupdict().get(name))]
    return " ; ".join(f"put {upper} on {lower}" for lower, upper in pairwise(named))


def _by_marks(found: re.Match[str]) -> str:
    """Rewritten only where words say an order; "stack the blocks, the biggest on top" names one block by what it shall be."""
    if found["comma"] and not any(found[mark] for mark in ("before", "listed", "first", "order")):
        return found[0]
    return _stacked(found) if any(found[mark] for mark in ("before", "listed", "first", "then", "after", "order")) else found[0]


def _told_below(found: re.Match[str]) -> str:
    """As in "stack the red cube and the blue cube with the red one at the bottom": which of both is named again."""
    words = set(found["which"].split()) - {"the", "one", "a", "first", "of", "them"}
    fits = [name for name in ("a", "b") if words and words <= set(found[name].split())]
    if len(fits) != 1:
        return found[0]
    lower = fits[0] if found["below"] else {"a": "b", "b": "a"}[fits[0]]
    upper = {"a": "b", "b": "a"}[lower]
    return f"put {_whole(found[upper])} on {_whole(found[lower])}"


def _whole(words: str) -> str:
    """With an article, and with "one" behind an adjective that stands alone."""
    words = words.strip()
    words = words if re.match(rf"{_THE} ", words) else f"the {words}"
    return f"{words} one" if words.split()[-1] in lex.COLORS or words.split()[-1] in lex.SIZES else words


_Plain = str | Callable[[re.Match[str]], str]


def _each(found: re.Match[str]) -> str:
    """One by one, as in "the red and (the) blue cubes"."""
    noun = lex.singular(found["noun"])
    return f"{found['verb']} the {found['one']} {noun} and the {found['other']} {noun}"


_RULES: list[tuple[re.Pattern[str], _Plain]] = [
    (re.compile(pattern), plain)
    for pattern, plain in (
        (rf"\b(?P<verb>{_STACK}) the (?P<one>{_ADJECTIVE}) and (?:the )?(?P<other>{_ADJECTIVE}) (?P<noun>[a-z]+s)\b", _each),
        (
            rf"\b(?:arrange|put|place|set|assemble|combine|build) (?P<a>{_THE} [^,;.:!?]+?) and (?P<b>{_THE} [^,;.:!?]+?) (?:{_TOGETHER})\b",
            r"stack \g<a> and \g<b>",
        ),
        (  # "I would like to see a tower. Put the blue cube on the red one."
            r"\b(?:i|we) (?:want|wish|would like|would love)(?: to (?:see|have|get))? (?:a|one) (?:(?:small|little|neat|nice|simple|tiny) )*(?:stack|"
            r"pile|tower) ?[.;!:] ?"
            rf"(?=[^.;!]*\b(?:on|onto|atop|upon) (?:top of )?{_THE} )",
            "",
        ),
        (  # "put the blue cube on the red one so that they form a tower"
            r"(?P<put>\bon (?:top of )?[^,;.:!?]+?)(?: :|,? to|,? in order to|,? and)(?: (?:they|both|these|it|you))? (?:will )?(?:form|make|build|"
            r"create|forming|making)s? "
            rf"(?:a|one|the) (?:(?:small|little|neat|nice|simple|two story) )?(?:stack|pile|tower){_END}",
            r"\g<put>",
        ),
        (  # "put the blue cube on the red one, which serves as the base"
            rf",? (?:which|that) (?:serves|acts|is used|stays|remains|is|forms|makes|should be|will be|shall be)(?: as)? (?:the|a|its|your) {_BASE}{_END}",
            "",
        ),
        (  # "put the blue cube on the red one, which should stay where it is"
            rf"(?P<put>\b(?:on|onto|in|into) (?:top of )?{_THE} [^,;.:!?]+?), (?:which|that) (?:should|must|is to|has to|will|shall|can|may) "
            rf"(?:stay|remain|be left)(?: (?:where it is|put|in place|there|as it is|still))?{_END}",
            r"\g<put>",
        ),
        (  # "stack the red cube and the blue cube(,) with the red one at the bottom"
            rf"\b{_STACK} {_one('a')},? and (?:then )?{_one('b')}(?:,? (?:{_IN_ORDER}|{_TOGETHER}))?(?:,? (?:with|keeping|having|so that|such that|where|"
            rf"and|:))*,? (?P<which>{_THE}(?: [a-z]+){{1,5}}?)"
            rf"(?: (?:is|being|goes|comes))? (?:(?P<below>{_BELOW})|{_ABOVE}){_END}",
            _told_below,
        ),
        (  # "(in order,) stack the red cube (first)(,) (and) (then) the blue cube (on it) (in this order)"
            rf"(?P<before>\b{_IN_ORDER},? (?:please )?)?\b{_STACK}:? {_INTRO}{_one('a')}(?P<first> first)?(?:(?P<then>{_THEN})|,? and|(?P<comma>,)) "
            rf"{_one('b')}(?:(?:{_THEN}|,? and) {_one('c')})?(?P<after>{_AFTER})(?P<order>(?:,? (?:and )?{_IN_ORDER})?){_END}",
            _by_marks,
        ),
        (  # "stack them in this order: red cube, blue cube"
            rf"\b{_STACK} {_INTRO.removesuffix('?')}(?P<a>{_THE}?{_TAIL}{{1,6}}?)(?:,? (?:and )?(?:then )?|, ?)(?P<b>{_THE}?{_TAIL}{{1,6}}?){_END}",
            _stacked,
        ),
        (  # "take the red cube as the base and put the blue cube on it", "with the red cube at the bottom, stack the blue cube on top"
            rf"\b(?:(?:take|use|have|keep|leave|let|put|place|set|treat|choose|with|start(?:ing)? with|begin(?:ning)? with|start(?:ing)? from|"
            rf"make) )?{_one('a')}"
            rf"(?: be| is| to be)? (?:{_BELOW}|the {_BASE})(?:,| ;)? ?(?:and )?(?:then |next )?{_PUT} {_one('b')} {_ON_IT}{_END}",
            _stacked,
        ),
        (  # "I want the red cube at the bottom and the blue cube on top of it"
            rf"\b(?:(?:i|we) (?:want|need|would like)(?: to (?:have|see|get))? |(?:it|that|the (?:tower|stack|pile)) (?:should|must|shall|has to|needs "
            rf"to) have )"
            rf"{_one('a')} {_BELOW},? and {_one('b')} {_ON_IT}{_END}",
            _stacked,
        ),
        (  # "a tower: first the red cube, then the blue cube on top of that"
            r"\b(?:(?:i|we) (?:want|need|would like)(?: to (?:have|see))? |build |make )?(?:me )?(?:a|one) (?:\w+ )?(?:tower|stack|pile): (?:first|"
            r"starting with|from) "
            rf"{_one('a')},? (?:and )?(?:then|followed by) {_one('b')}(?: {_ON_IT})?{_END}",
            _stacked,
        ),
        (  # "place the red cube first and then put the blue cube on top of it", "the red cube goes first; the blue cube goes on top of it"
            rf"\b(?:(?:{_PUT}(?: down)?|take) )?{_one('a')}(?: (?:goes|comes|is(?: placed| put)?))? (?:down )?first(?: ?[,;.:])? ?(?:and )?(?:then |"
            rf"next |after that,? )?"
            rf"(?:{_PUT} )?{_one('b')}(?: (?:goes|comes|is(?: placed| put)?))? (?:second|next|{_ON_IT}){_END}",
            _stacked,
        ),
        (  # "starting with the red cube, stack the blue cube onto it"
            rf"\b(?:starting|beginning|start|begin) (?:with|from) {_one('a')}(?:,| ;)? ?(?:and )?(?:then |next )?{_PUT} {_one('b')} {_ON_IT}{_END}",
            _stacked,
        ),
        (  # "a stack: red cube first, blue cube second", "a tower of two: the red cube underneath, the blue cube above"
            r"\b(?:(?:(?:i|we) (?:want|need|would like)(?: to (?:have|see))?|build|make|create|form|construct|set up|assemble) )*(?:(?:a|one|the|me|up|"
            r"small|little|nice|two[ -]?\w*) )*"
            rf"(?:{_STACK}|towers?|column)(?: (?:of|from|out of) (?:two|2|these two)(?: \w+)?)?(?: ?[:,]| with| in which| where| from| of) ?(?:first )?"
            rf"(?P<a>{_THE}?{_TAIL}{{1,6}}?),?(?: is| goes| comes)? (?:first|{_BELOW})(?:,? ?(?:and )?(?:then )?|, ?| ; )(?P<b>{_THE}?{_TAIL}{{1,6}}?),?"
            rf"(?: is| goes| comes)? (?:second|next|last|{_ABOVE}){_END}",
            _stacked,
        ),
        (  # "stack the red cube below the blue one": it bears that one
            rf"\b{_STACK} {_one('a')} (?:under|below|beneath|underneath) {_one('b')}{_END}",
            _stacked,
        ),
    )
]


def stacked_plainly(text: str) -> str:
    """``text`` in lower case, hyphens as spaces, before "then" parts it into sentences."""
    for pattern, plain in _RULES:
        text = pattern.sub(plain, text)
    return text
