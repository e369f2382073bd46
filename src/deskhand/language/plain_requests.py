"""Ways of asking that say the same as a plain one, rewritten into it before an instruction is read: "the smaller of the two cubes", "make it stand on …"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from deskhand.language import lexicon as lex


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(set(words), key=lambda word: (-len(word), word)))


_START = r"(?P<start>(?:^|[.;!,:] ?)(?:(?:and|please|kindly|now|just|so|first|next|ok|okay|well)[ ,]+)*)"
_THE = r"(?:the|that|this)"
_PUT = r"(?:put|place|drop|set|lay|move|bring|throw|toss|stick|pop|deposit|stack)"
_TAKE = r"(?:take|pick up|pick|grab|grasp|fetch|get|lift|carry|bring)"
_DOWN = r"(?:rest|lower|perch|seat|sit|ease|settle|plop|plonk|slot)"
_WHICH = rf"(?:(?:{_any(lex.ORDINALS)}|very) )?(?:{_any((*lex.SIZES, *lex.PLACES))})"
_HOW_MANY = _any((*lex.NUMBERS, *map(str, lex.NUMBERS.values())))
_LOOKS = _any((*lex.COLORS, *lex.SURFACES, *lex.SHADES, *lex.SIZES, *lex.SHAPES))
_VESSEL = _any((*lex.CONTAINER_NOUNS, "box", "bin", "tray", "basket"))
_HOLDING = r"(?:storing|holding|keeping|organi[sz]ing|collecting|containing|sorting|store|hold|keep|organi[sz]e|collect|contain|sort)"
_STATED = _any(("is", "was", "are", "were", "had", "has", "have", "will", "can", "did", "does", *lex.LINKING))
_COMMANDS = r"must|should|not|never|only|stay|stays|leave|keep|except|unless|first|put|place|move|goes|go|belongs?"


def _one_of(found: re.Match[str]) -> str:
    return f"the {found['which']} {found['what']}{lex.singular(found['noun'])}"


def _on_top(found: re.Match[str]) -> str:
    return f"put {_named(found['b'])} on {_named(found['a'])}"


def _named(words: str) -> str:
    """With an article, and with "one" behind an adjective that stands alone."""
    words = words if re.match(r"(?:the|a|an|my|your) ", words) else f"the {words}"
    return f"{words} one" if words.split()[-1] in lex.COLORS or words.split()[-1] in lex.SIZES else words


Plain = str | Callable[[re.Match[str]], str]
_RULES: list[tuple[re.Pattern[str], Plain]] = [
    (re.compile(pattern), plain)
    for pattern, plain in (
        (rf"\b({_LOOKS}), (?=(?:{_LOOKS})\b)", r"\1 "),  # "the silver, shiny box"
        (  # "the box used for storing things": what any is for
            rf"\b(?P<what>{_VESSEL})(?: (?:that|which) is)? (?:used|designed|meant|intended|made) (?:for|to) {_HOLDING} "
            r"(?:(?:various|different|all|the|small|some) )*(?:things|objects|items|stuff|shapes|pieces|toys)\b",
            r"\g<what>",
        ),
        (  # "…, and remember that it may be heavy"
            rf",? (?:and |but )?(?:please )?(?:remember|note|keep in mind|bear in mind|be aware)(?: that)? (?![^.;!]*\b(?:{_COMMANDS})\b)[^.;!]*",
            "",
        ),
        (r"\b(left|right|front|rear|back|far|near|hind|top) most\b", r"\1most"),
        (  # "the smaller (one) of the two cubes"
            rf"\bthe (?P<which>{_WHICH})(?: one)? (?:of|among|out of) (?:all )?(?:the|these|those)(?: (?:{_HOW_MANY}))? "
            r"(?P<what>(?:[a-z]+ ){0,2}?)(?P<noun>[a-z]+s)\b",
            _one_of,
        ),
        (rf"{_START}(?P<what>(?![^,;.:]*\b(?:{_STATED})\b){_THE} [^,;.:]+?), (?P<verb>{_PUT}) (?:it|that one|this one) ", r"\g<start>\g<verb> \g<what> "),
        (rf"{_START}(?P<where>(?:in|into|on|onto) the [^,;.:]+?) with (?P<what>{_THE} [^,;.:]+)", r"\g<start>put \g<what> \g<where>"),
        (
            rf"{_START}(?:make|let|have) (?P<what>(?:{_THE}|it|them)\b[^,;.:]*?) (?:sit|stand|rest|lie|go|be|land|end up) (?=in|on|atop|inside|upon)",
            r"\g<start>put \g<what> ",
        ),
        (
            rf"{_START}(?:can|could|would|may) (?P<what>{_THE} [^,;.:]+?) (?:please )?be (?P<verb>put|placed|moved|set|laid|dropped)"
            r"(?P<where> (?:in|on|into|onto|atop|to|inside)[^,;.:?]*?)(?: please)?(?P<end>\??(?: |$))",
            r"\g<start>\g<what> must be \g<verb>\g<where>\g<end>",
        ),
        (rf"(?P<lead>^|[.;!,:] ?|\band |\bplease ){_DOWN} (?=(?:it|them|this|that|the (?!other|remain))\b)", r"\g<lead>put "),
        (rf"\b(?P<take>{_TAKE} [^,;.:]+?(?:,? and |, | ; ))leave (?=(?:it|them) (?:in|on|inside|at)\b)", r"\g<take>put "),
        (
            r"\b(?:start|begin) with (?P<a>(?:the|a) [^,;.:]+?) (?:as|at|for) the (?:base|bottom|foundation)[ ,;.]*(?:and )?"
            rf"{_PUT} (?P<b>(?:the|a) [^,;.:]+?) on(?: top of)? (?:it|that)\b",
            _on_top,
        ),
        (
            r"\b(?:stack|build|make|pile)\b[^.;:]*?(?::| with) ?(?P<a>[^,:.;]+?) (?:at|on|as) the (?:bottom|base)(?:,? and |, )(?P<b>[^,:.;]+?) "
            r"(?:on(?: the)? top|above)(?: of it)?(?=$|[.;!])",
            _on_top,
        ),
    )
]


def said_plainly(text: str) -> str:
    """``text`` in lower case, contractions written out, with descriptions of shapes rewritten already (shape_words.py)."""
    for pattern, plain in _RULES:
        text = pattern.sub(plain, text)
    return text
