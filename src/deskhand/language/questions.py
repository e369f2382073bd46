"""Questions about the desk: which are asked, and about what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from deskhand.language import lexicon as lex
from deskhand.language.coverage import unread_of_question
from deskhand.language.intents import Ask, Ref
from deskhand.language.past.words import about_the_past
from deskhand.language.phrases import at, match, parse_ref, parse_whole, second_of, side_of, where_phrase
from deskhand.language.verbs import words as words_of

_TELL = re.compile(
    r"^(?:(?:tell|show) (?:me|us)|say|report|describe to me|look at the (?:desk|table) and (?:tell me|say)|look and (?:tell me|say)|i would like to know|"
    r"do you know|(?:can|could) you (?:tell me|say)|(?:(?:can|could) you )?(?:see|check|find out|look) (?=if |whether ))\s*(?:if |whether |please )?"
)
_DESCRIBE = re.compile(
    r"^(?:what(?: all)?(?: can| do)? (?:you )?(?:see|have|recogni[sz]e|detect)(?: (?:there|now|here|on|in front of) ?.*)?|"
    r"what (?:is|are|lies|lie) (?:there|here)?(?: all)? ?(?:on|around|in front of)?(?: the| your| my)? ?(?:desk|table|tabletop|table top|workspace|you)?"
    r"(?: right now| now)?|"
    r"(?:describe|list|name|look at|inspect|scan|examine|survey)(?: me)?(?: the| all| all the| every| everything| what you see| your)*"
    r" ?(?:desk|table|scene|objects?|things?|items?|workspace|surroundings|contents)?(?: (?:that )?(?:you )?(?:can )?(?:see|on|in|there|are).*)?|"
    r"(?:which|what) (?:objects?|things?|items?|stuff)(?: (?:do|can) you see| are| is| lie| have).*|look(?: around)?(?: at (?:the )?(?:desk|table))?|"
    r"everything (?:that )?(?:you )?(?:see|is there|is on the (?:desk|table))|what you (?:can )?see(?: .*)?)$"
)
_CLEAN = re.compile(r"^is (?:the|my|your) (?:desk|table) (?:clean|empty|tidy|clear|messy|dirty)(?: now| yet| already)?$")
_HELD = re.compile(
    r"^(?:what (?:are you|is the (?:robot|gripper|hand|arm)) (?:holding|carrying|grasping)|what is in (?:your|the) (?:hand|gripper)|"
    r"are you (?:holding|carrying) (?:anything|something))(?: now| right now)?$"
)
_USE = re.compile(r"^what (?:can|could) (?:i|we|you|one) (?P<use>\w+)(?: with| from)?$")
_COLOR = lex.phrases(
    "what colors are, what colours are, which colors are, which colours are, what color is, "
    "what colour is, what color are, what colour are, which color is, which colour is, what color does, what colour does, "
    "what is the color of, what is the colour of"
)
_CONTENT = lex.phrases(
    "what is, what are, what lies, what lie, what, which things are, which objects are, which object is, which items are, what things are, what objects are"
)


def parse_question(bare: str, sentence: str, marked: bool) -> Ask | None:
    """The question in a sentence (politeness taken off in ``bare``), or None when it is none that can be answered by looking, or a word of it has no part."""
    text = _TELL.sub("", _TELL.sub("", bare))
    asked = _question(text, marked, text != bare)
    return asked if asked is None or not unread_of_question(text, asked) else None


def _question(text: str, marked: bool, told: bool) -> Ask | None:
    if _CLEAN.match(text):
        return Ask("clean")
    if _HELD.match(text):
        return Ask("held")
    if (use := _USE.match(text)) and use["use"] in lex.USES:
        return Ask("exists", Ref(f"something to {use['use']}", kinds=lex.USES[use["use"]], count=0))
    if compared := _compared(text):
        return compared
    if about_the_past(text):
        return Ask("memory", words=text)
    words = re.findall(r"[a-z0-9_]+", text)
    if found := _specific(words, marked or told):
        return found
    if _DESCRIBE.match(text) and (words or told):
        return Ask("describe")
    return None


_AT = "(?:in|on|inside)"
_COMPARE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), kind)
    for kind, patterns in (
        ("more", (
            r"(?:are there|do (?:you|we|i) (?:see|have)|there are) (?P<rel>more|fewer|less|as many) (?P<a>.+?) (?:than|as) (?P<b>.+)",
            r"(?:are there|do (?:you|we|i) (?:see|have)|there (?:are|is)) "
            r"(?P<n>\w+) and (?P<rel>more|fewer|less) (?P<a>.+)",
            r"(?:are there|do (?:you|we|i) (?:see|have)|there (?:are|is)) "
            r"(?P<rel>more than|fewer than|less than|at least|at most|exactly|only) (?P<n>\w+) (?P<a>.+)",
            r"(?:what|which) (?:are|is) there more(?: of)?,? (?P<a>.+?) and (?P<b>.+)",
            r"(?:are there )?(?P<rel>more|fewer|less) (?P<a>.+?) and (?P<b>.+)",
        )),
        ("larger", (
            r"(?:which|what)(?: one| of them| thing)? (?:is|are) (?:the )?(?P<size>\w+)(?: one)?[ ,:]+(?P<a>.+?) and (?P<b>.+)",
            r"(?:is|are) (?P<a>.+?) (?P<size>\w+) than (?P<b>.+)",
        )),
        ("which", (r"(?:which|what) (?P<a>.+?) (?:is|are) (?:the )?(?P<size>\w+?(?:est|st))(?: one)?(?: (?:here|on the desk))?",)),
        ("measure", (r"how (?P<size>big|large|tall|high|long|wide|small|short) (?:is|are) (?P<a>.+)",)),
        ("distance", (r"how far(?: away)? (?:is|are) (?P<a>.+?) (?:away )?(?:from|and) (?P<b>.+)",)),
        ("nearest", (
            r"(?:which|what)(?: (?P<a>.+?))? (?:is|are|stands|lies) (?:the )?"
                r"(?P<sign>nearest|closest|next|farthest|furthest)(?: one)?(?: away)? (?:to|from) (?P<b>.+)",
        )),
        ("where", (rf"(?:is|are) (?P<a>.+?) (?P<places>{_AT} .+ and {_AT} .+)",)),
        ("empty", (r"(?:is|are) (?P<a>.+?) (?P<neg>not )?empty", r"is there nothing (?:in|inside) (?P<a>.+)")),
        ("exists", (r"(?:what|which things?|who) (?:is|are|lies|lie|stands) (?P<between>between .+)",)),
    )
    for pattern in patterns
)  # fmt: skip
_SIGNS = {"less": "fewer", "less than": "fewer", "fewer than": "fewer", "more than": "more", "as many": "equal", "exactly": "equal", "only": "equal"}


def _compared(text: str) -> Ask | None:
    """Questions that set objects against each other, or one against a number."""
    for pattern, kind in _COMPARE:
        if (found := pattern.fullmatch(text.strip())) and (ask := _comparison(kind, found.groupdict(), text)) is not None:
            return ask
    return None


def _comparison(kind: str, said: dict[str, str | None], text: str) -> Ask | None:
    if said.get("between"):
        words = str(said["between"]).split()[1:]
        found = parse_ref(words, 0)
        ref, end = second_of(words, *found) if found else (None, 0)
        return Ask("exists", Ref("objects", count=0), "between", ref) if ref is not None and end == len(words) else None
    about = parse_whole(str(said["a"])) if said.get("a") else Ref("objects", count=0)
    target = parse_whole(str(said["b"])) if said.get("b") else None
    if about is None or (said.get("b") and target is None):
        return None
    if target is not None and target.bare and target.place:  # "furthest to the left"
        return None
    if target is not None and target.bare:  # "the red block or the blue one"
        target = replace(target, kinds=about.kinds, noun=about.noun, container=about.container)
    if kind in ("larger", "distance", "nearest") and target is not None and (target.count != 1 or (kind == "larger" and about.count != 1)):
        return None  # with several, which of them?
    if kind == "where":  # "is the pen in the tray or on the desk?"
        places = str(said["places"])
        read = all(_holder(part.split()) for part in re.split(rf" and (?={_AT} )", places))
        return Ask("where", about, words=places) if read else None
    if kind == "more":
        number = str(said.get("n") or "")
        if number and not (number.isdigit() or number in lex.NUMBERS or number == "one"):
            return None
        relation = str(said.get("rel") or "which")
        if number and relation in ("more", "fewer", "less"):  # "two or more"
            relation = "at least" if relation == "more" else "at most"
        return Ask(
            "more", about, _SIGNS.get(relation, relation), target, text, (lex.NUMBERS.get(number) or int(number.replace("one", "1"))) if number else None
        )
    if kind == "which":
        return Ask("which", replace(about, size=lex.SIZES[str(said["size"])], count=1)) if said["size"] in lex.SIZES else None
    if kind in ("larger", "measure"):
        size = _SIZE_WORDS.get(str(said["size"])) or lex.SIZES.get(str(said["size"]))
        if size is None:
            return None
        relation = "which" if text.startswith(("which", "what")) else ""
        return Ask(kind, about, size[0], target, relation, sign=size[1])
    sign = -1 if said.get("sign") in ("farthest", "furthest") else 1
    return Ask(kind, about, "", target, text, sign=sign, negated=bool(said.get("neg")))


def _holder(words: Sequence[str]) -> bool:
    """Whether it is "in the tray" or "on the desk", and no more."""
    found = where_phrase(words, 0)
    return found is not None and found[1] == len(words) and found[0][0] in ("in", "on")


_SIZE_WORDS = {"high": ("height", 1, False), "higher": ("height", 1, True), "longer": ("length", 1, True), "shorter": ("height", -1, True),
               "wide": ("length", 1, False), "shortest": ("height", -1, True)}  # fmt: skip


def parse_condition(text: str) -> Ask | None:
    """What must be so: "there is a cup", "the tray is empty", "there are more than two blocks", "you see no ball", "the cup is in the tray"."""
    text = re.sub(r"\bor\b", "and", text.strip(" ,"))
    if re.search(r"\bnone\b", text):
        return None
    found = re.fullmatch(r"(there (?:is|are)|(?:you|i|we) (?:can )?(?:see|find|have)) (?:no|not (?:a|an|any)|nothing)\b ?(.*)", text)
    if found:
        ask = parse_question(f"is there {'a' if found[2] else 'something'} {found[2]}".strip(), text, True)
        return replace(ask, negated=not ask.negated) if ask else None
    if text.startswith(("there is ", "there are ")):
        asked = f"{text.split()[1]} there {text.split(' ', 2)[2]}"
    elif found := re.fullmatch(r"(?:you|i|we) (?:can )?(?:see|find|have)(?: got)? (.+)", text):
        asked = f"is there {found[1]}"
    elif found := re.fullmatch(r"(.+?) (is|are) (not )?(.+)", text):
        ask = parse_question(f"{found[2]} {found[1]} {found[4]}", text, True)
        return replace(ask, negated=ask.negated != bool(found[3])) if ask else None
    else:
        return None
    return parse_question(asked, text, True)


def _specific(words: Sequence[str], marked: bool) -> Ask | None:
    two = " ".join(words[:2])
    if two in {"how many"}:
        return _about("count", words, 2)
    if words[:1] in (["count"],):
        return _about("count", words, 1)
    if two in {"is there", "are there"} or words[:3] in (["do", "we", "have"], ["do", "you", "have"], ["do", "i", "have"]):
        return _about("exists", words, 3 if words[0] == "do" else 2)
    if start := match(words, 0, (("do", "you", "see"), ("can", "you", "see"), ("you", "see"), ("see",), ("there", "is"), ("there", "are"))):
        return _about("exists", words, start)
    if two in {"where is", "where are"} or words[:1] in (["find"], ["locate"]):
        return _about("where", words, 2 if words[0] == "where" else 1)
    if start := match(words, 0, _COLOR):
        return _about("color", words, start)
    if start := match(words, 0, _CONTENT):
        return _contents(words, start)
    if words[:1] == ["which"]:
        start = 1
        return _about("which", words, start)
    if words[:1] in (["is"], ["are"]) and (marked or len(words) > 3):
        return _about("holds", words, 1)
    return None


def _contents(words: Sequence[str], start: int) -> Ask | None:
    """What is in the bin, what is to the left of the cup, which objects are blue, what is the biggest object."""
    if side := side_of(words, start):  # "what is on the left?"
        return Ask("exists", Ref(" ".join(("objects", *words[start : side[1]])), place=side[0], count=0))
    if length := match(words, start, tuple(lex.BESIDE)):
        near = parse_ref(words, start + length)
        return Ask("exists", Ref("objects", count=0), lex.BESIDE[tuple(words[start : start + length])], near[0]) if near and not near[0].table else None
    if at(words, start) in lex.COLORS:
        color = lex.COLORS[words[start]]
        return Ask("exists", Ref(f"{words[start]} objects", colors=frozenset((color,)), count=0))
    if words[:2] == ["what", "is"] and at(words, 2) == "the":
        return _about("which", words, 2)
    for phrases, relation in ((lex.IN, "in"), (lex.ON, "on")):
        if length := match(words, start, phrases):
            found = parse_ref(words, start + length)
            if found and found[0].bare:
                return None
            if found and not found[0].table:
                return Ask("exists", Ref("objects", count=0), relation, found[0])
            return Ask("describe")
    return None


_BEFORE_PLACE = words_of("are is there do you see can that which we have standing lying lie lies left to does still already")


def _about(kind: str, words: Sequence[str], start: int) -> Ask | None:
    if kind == "which" and match(words, start, (("is", "the"), ("are", "the"), ("one", "is"), ("of", "the"))):
        start += 1 + (words[start] == "one")
    found = parse_ref(words, start)
    if found is None and at(words, start) in {"anything", "something"}:
        found = Ref("anything", count=0), start + 1
    if found is None:
        noun = at(words, start)
        if not noun or noun in lex.FILLERS or noun in lex.LINKING:
            return None
        found = Ref(noun, noun=lex.singular(noun), count=0), start + 1
    ref, i = found
    while kind in {"count", "exists", "where"} and at(words, i) == "and" and ref.kinds and (more := parse_ref(words, i + 1)) and more[0].kinds:
        if replace(ref, words="", kinds=more[0].kinds, place=more[0].place, where=more[0].where, count=1, definite=False) != replace(
            more[0], words="", count=1, definite=False
        ):
            return None  # "red cups and green cans"
        ref, i = replace(more[0], kinds=ref.kinds | more[0].kinds, words=f"{ref.words} and {more[0].words}", count=0), more[1]  # "cups and cans on the left"
    while at(words, i) in _BEFORE_PLACE:
        if match(words, i, tuple(lex.BESIDE)):
            break
        i += 1
    if side := side_of(words, i):  # "how many are on the left?"
        ref, i = replace(ref, place=side[0], words=" ".join((ref.words, *words[i : side[1]]))), side[1]
        if kind == "holds":
            return None
    options = [
        (match(words, i, lex.IN), "in"),
        (match(words, i, lex.ON), "on"),
        *((len(phrase), name) for phrase, name in lex.BESIDE.items() if match(words, i, (phrase,))),
    ]
    length, relation = max(options)
    target = parse_ref(words, i + length) if length else None
    if target and target[0].bare:
        return None
    if target and target[0].table and target[0].excluded:  # "how many things are on the desk that are not blocks?"
        ref, target = replace(ref, excluded=(*ref.excluded, *target[0].excluded)), (replace(target[0], excluded=()), target[1])
    rest = words[target[1] if target else i :]
    if (target and any(word not in lex.FILLERS for word in rest)) or (not target and any(word not in lex.FILLERS | set(lex.COLORS) for word in rest)):
        return None
    if kind == "holds":
        return _holds(words[start], ref, lex.COLORS.get(at(words, i), ""), relation, target[0] if target else None)
    if kind == "which" and target is None and (color := lex.COLORS.get(at(words, i))):  # "which cup is red?"
        return Ask(kind, replace(ref, colors=ref.colors | {color}, count=0, words=f"{ref.words} {words[i]}"))
    if kind == "exists" and ref.count > 1 and not ref.definite:  # "are there two balls?"
        near = replace(ref, count=0, where=(relation, target[0])) if target else replace(ref, count=0)
        return Ask("more", near, "at least", None, "", ref.count)
    return Ask(kind, ref, relation if target else "", target[0] if target else None)


def _holds(first: str, ref: Ref, color: str, relation: str, target: Ref | None) -> Ask | None:
    """Whether objects have a colour or a place: all of them, or, as in "are any of the balls blue?", one at least."""
    if first in lex.NUMBERS or (target is None and not color):  # "are two of the balls blue?": exactly, or at least?
        return None
    if first in ("any", "some", "one", "a", "an", "anything", "something"):
        colors = frozenset((color,)) if target is None else ref.colors
        return Ask("exists", replace(ref, count=0, colors=colors, words=f"{ref.words} {color}".strip()), relation if target else "", target)
    return Ask("holds", ref, relation, target) if target else Ask("color", ref, target=Ref(color, colors=frozenset((color,))))
