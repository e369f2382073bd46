"""Ways of asking that say the same as a plain one, rewritten into it before an instruction is read: "the smaller of the two cubes", "make it stand on …"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from deskhand.language import lexicon as lex


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(set(words), key=lambda word: (-len(word), word)))


_START = r"(?P<start>(?:^|[.;!,:] ?)(?:(?:and|please|kindly|now|just|so|first|next|ok|okay|well)[ ,]+)*)"
_THE = r"(?:the|that|this)"
_PUT = r"(?:put|fit|slot|place|drop|set|lay|move|bring|throw|toss|stick|pop|deposit|stack)"
_TAKE = r"(?:take|pick up|pick|grab|grasp|fetch|get|lift|carry|bring)"
_HAND = r"(?:gripper|hand|arm|fingers|claw|jaws)"
_GRASPED = r"(?:picked up|picked|grasped|grabbed|taken|lifted|got|gripped|seized)"
_GRASPING = r"(?:picking up|picking|grasping|grabbing|taking|lifting|gripping|seizing)"
_OTHERS = (
    r"(?P<rest>(?:any(?:thing)? (?:else|other)|any of the others|the others|the other (?:ones|[a-z]+s)|the rest|everything else|"
    r"other (?:[a-z]+s))(?: of the [a-z]+)?)"
)
_DOWN = r"(?:balance|fit|nestle|mount|rest|lower|perch|seat|sit|ease|settle|plop|plonk|slot)"
_WHICH = rf"(?:(?:{_any(lex.ORDINALS)}|very) )?(?:{_any((*lex.SIZES, *lex.PLACES, *lex.COLORS))})"
_COLOR = _any(lex.COLORS)
_LOOK = _any((*lex.COLORS, *lex.SIZES, *lex.PLACES))
_FIND = r"(?:find|locate|identify|look for|search for|spot|choose|select|pick out|single out|seek(?: out)?)"
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


def _colored(found: re.Match[str]) -> str:
    """With the colour before the noun: "the container that is orange" becomes "the orange container"."""
    looks = next(found[name] for name in ("look", "paint", "own", "named", "of", "in") if found[name])
    return f"{found['the']} {looks} {found['before']}{found['noun']}"


Plain = str | Callable[[re.Match[str]], str]
_RULES: list[tuple[re.Pattern[str], Plain]] = [
    (re.compile(pattern), plain)
    for pattern, plain in (
        (  # a verb, not "the rest"
            r"\b(?P<duty>should|must|shall|has to|have to|needs? to|is to|are to|ought to|will|may|can|would|could|to) rest "
            r"(?=(?:on|upon|atop|in|inside|onto|over)\b)",
            r"\g<duty> sit ",
        ),
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
        (  # "the container that is orange", "the star painted red", "the cube whose color is blue", "the moon of teal color"
            rf"\b(?P<the>the|a|an) (?P<before>(?:[a-z]+ )?)(?P<noun>[a-z]+) (?:(?:(?:that|which) (?:is|are)|being) (?P<look>{_LOOK})(?: in colou?r)?|"
            rf"(?:(?:that|which) (?:is|are) )?(?:painted|colou?red|tinted|dyed) (?:in )?(?P<paint>{_COLOR})|whose colou?r is (?P<own>{_COLOR})|"
            rf"(?:of|in|with|having|(?:that|which) (?:has|have)) (?:a |the )?(?:colou?r (?P<named>{_COLOR})|(?P<of>{_COLOR}) (?:colou?r|tint|hue|tone|"
            rf"paint))|"
            rf"in (?P<in>{_COLOR}))(?=$|[,;.!?]| (?!(?:{_LOOKS}|or)\b)[a-z])",
            _colored,
        ),
        (
            rf"{_START}(?:(?:by )?(?:using|use|with) your {_HAND}(?: to|,|,? and)?|i (?:was )?wonder(?:ing)? (?:if|whether) you (?:could|can|would)|"
            rf"your (?:mission|goal|assignment|"
            r"objective|aim|challenge|duty) (?:is|will be) to|(?:what )?(?:i|we) (?:want|need|would like)(?: you)? to do is(?: to)?|the (?:task|goal|job|"
            r"aim) is to) ",
            r"\g<start>",
        ),
        (  # "among all the shapes, pick …"
            rf"{_START}(?:among|amongst|out of|from|of) (?:all )?(?:of )?(?:the|these|those) (?:shapes|objects|things|items|pieces|toys)(?: (?:on|that|"
            rf"which|you)[^,;.:]*)?, ",
            r"\g<start>",
        ),
        (
            rf"{_START}(?:after|once|when|as soon as) (?:{_GRASPING}|you (?:have )?{_GRASPED}|you are holding) (?P<what>{_THE} [^,;.:]+?), ",
            r"\g<start>pick up \g<what> ; ",
        ),
        (
            r"\b(?:seize|clutch|grip|clasp|retrieve|(?:take|get|grab|catch) hold of|get a hold of|get a grip on) (?=(?:the|it|a|an|that|this|my|your)\b)",
            "take ",
        ),
        (r"(?P<lead>^|[.;!,:] ?|\band )(?:just|simply) (?P<verb>(?!to\b)[a-z]+ (?:the|it|them|a|an|this|that)\b)", r"\g<lead>\g<verb>"),
        (r"\b(?:let|allow) (?P<it>it|them) (?:to )?(?:fall|drop|slide|go)(?: (?:in|inside|there|into it|down))?(?=$|[,;.!?])", r"let go of \g<it>"),
        (
            rf",? without (?:touching|moving|disturbing|displacing|bumping into|knocking over|pushing) {_OTHERS}(?=$|[,;.!?])",
            lambda found: " ; leave everything else" if found["rest"].startswith(("any", "other")) else f" ; leave {found['rest']}",
        ),
        (  # "find the star among all that stuff"
            r"(?P<what>\b(?:the|a) [^,;.:]+?) (?:among|amongst|out of|from) (?:all )?(?:of )?(?:the|these|those|that|this) (?:other )?(?:shapes|objects|"
            r"things|items|"
            r"pieces|toys|stuff|mess|clutter)(?= *(?:$|[,;.]|and\b))",
            r"\g<what>",
        ),
        (rf"{_START}without (?:touching|moving|disturbing|displacing) (?P<what>the [^,;.:]+?), ", r"\g<start>leave \g<what> ; "),
        (r",? without (?:touching|moving|disturbing|displacing) (?P<what>the (?!other|rest)[^,;.:]+?)(?=$|[,;.!?])", r" ; leave \g<what>"),
        (  # "get the star out of the way and into the tray"
            rf"\b(?:{_TAKE}|move) (?P<what>{_THE} [^,;.:]+?) (?:out of|off|away from|from) [^,;.:]+? and (?P<to>(?:in|into|on|onto|over to) {_THE} [^,;.:]+)",
            r"put \g<what> \g<to>",
        ),
        (rf"\blet (?P<what>{_THE} [^,;.:]+?) (?:stay|remain)(?: (?:where it is|there|in place))? and ", r"leave \g<what> ; "),
        (  # "put it on the red cube and leave it there"
            rf"(?P<put>\b{_PUT} [^;.:!?]*?),? and (?:then )?(?:leave|keep|let) (?:it|them) (?:stay |rest |stand |lie )?(?:in |on )?there(?=$|[,;.!?])",
            r"\g<put>",
        ),
        (  # "let go of it once it is inside"
            r"\b(?P<what>let go(?: of it)?|release it|drop it|let it go),? (?:once|when|as soon as) (?:it is|you are) (?:[a-z]+ ){0,4}?[a-z]+(?=$|[,;.!?])",
            r"\g<what>",
        ),
        (  # "find the red star and put it in …": to find it is a part of moving it
            rf"{_START}{_FIND} (?P<what>{_THE} [^,;.:]+?)(?:,| ;|\.)? ?(?:and )?(?:then )?(?P<verb>{_PUT}|{_TAKE}) (?P<it>it|this one|that one)\b",
            r"\g<start>\g<verb> \g<what>",
        ),
        (  # "choose the red container and place the moon in it"
            rf"{_START}{_FIND} (?P<where>{_THE} [^,;.:]+?)(?:,| ;|\.)? ?(?:and )?(?:then )?(?P<verb>{_PUT}) (?P<what>{_THE} [^,;.:]+?) "
            r"(?P<in>inside|in|into|on|onto|on top of|atop) (?:it|there|that one|this one)(?=$|[,;.!?])",
            r"\g<start>\g<verb> \g<what> \g<in> \g<where>",
        ),
        (  # "inside the orange container is where the moon should go"
            rf"{_START}(?P<in>in|inside|into|on|onto|on top of|atop) (?P<where>{_THE} [^,;.:]+?) is where (?P<what>{_THE} [^,;.:]+?) "
            r"(?:(?:should|must|has to|needs to|is (?:supposed|meant|to)(?: to)?|ought to) (?:go|be(?: put| placed)?|end up|land)|goes|belongs)(?=$|[,;.!?])",
            r"\g<start>put \g<what> \g<in> \g<where>",
        ),
        (r"\b(?P<what>put|place|drop|set|lay) (?P<a>[^,;.:]+?) (?:in|inside) there(?=$|[,;.!?])", r"\g<what> \g<a> in it"),
        (
            rf"{_START}(?:whatever (?:else )?(?:you do|happens)|in any case|above all|most importantly|if possible|if you can|when(?:ever)? you can),? ",
            r"\g<start>",
        ),
        (r"\b(stay|stays|remain|remains) (?:put|untouched|in place|unmoved|undisturbed|as (?:it is|they are))\b", r"\1"),
        (
            r",?(?P<and> and)? (?:while )?(?:leave|leaving|keep|keeping) (?P<what>[^,;.:]+?) (?:untouched|undisturbed|unmoved|in place|in peace|be|"
            r"as (?:it is|they are))"
            r"(?=$|[,;.!?])",
            r" ; leave \g<what>",
        ),
        (r"\b(?P<the>the|a|your|my) (?P<side>left|right) hand (?=[a-z])(?!(?:side|half|part|corner|area|region|edge)\b)", r"\g<the> \g<side> "),
        (rf"\b(?:located|situated|positioned|found|placed|standing|lying|sitting) (?=(?:(?:at|on|in|to) the (?:far |very )?(?:{_any(lex.PLACES)})\b))", ""),
        (
            r"\b(?:at|in|to) the (?P<far>far |very )?(?P<side>front|back|rear)(?: side| end| edge| row)?(?: of the (?:desk|table|tabletop))?\b(?! (?:left|"
            r"right))(?= [a-z])",
            r"on the \g<side>",
        ),
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
