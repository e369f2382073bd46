"""Questions about the desk: which are asked, and about what."""

from __future__ import annotations

import re
from collections.abc import Sequence

from deskhand.agent.language import lexicon as lex
from deskhand.agent.language.intents import Ask, Ref
from deskhand.agent.language.phrases import at, match, parse_ref
from deskhand.memory.words import about_the_past

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
_COLOR = lex.phrases(
    "what color is, what colour is, what color are, what colour are, which color is, which colour is, what color does, what colour does, "
    "what is the color of, what is the colour of"
)
_CONTENT = lex.phrases(
    "what is, what are, what lies, what lie, what, which things are, which objects are, which object is, which items are, what things are, what objects are"
)


def parse_question(bare: str, sentence: str, marked: bool) -> Ask | None:
    """The question in a sentence (politeness taken off in ``bare``), or None when it is none that can be answered by looking."""
    text = _TELL.sub("", _TELL.sub("", bare))
    told = text != bare
    if _CLEAN.match(text):
        return Ask("clean")
    if _HELD.match(text):
        return Ask("held")
    if about_the_past(text):
        return Ask("memory", words=text)
    words = re.findall(r"[a-z0-9_]+", text)
    if found := _specific(words, marked or told):
        return found
    if _DESCRIBE.match(text) and (words or told):
        return Ask("describe")
    return None


def _specific(words: Sequence[str], marked: bool) -> Ask | None:
    two = " ".join(words[:2])
    if two in {"how many"}:
        return _about("count", words, 2)
    if words[:1] in (["count"],):
        return _about("count", words, 1)
    if two in {"is there", "are there"} or words[:3] in (["do", "we", "have"], ["do", "you", "have"]):
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
    """What is in the bin, what is to the left of the cup, which objects are blue, what is the biggest thing."""
    if length := match(words, start, tuple(lex.BESIDE)):
        near = parse_ref(words, start + length)
        return Ask("exists", Ref("things", count=0), lex.BESIDE[tuple(words[start : start + length])], near[0]) if near and not near[0].table else None
    if at(words, start) in lex.COLORS:
        color = lex.COLORS[words[start]]
        return Ask("exists", Ref(f"{words[start]} things", colors=frozenset((color,)), count=0))
    if words[:2] == ["what", "is"] and at(words, 2) == "the":
        return _about("which", words, 2)
    for phrases, relation in ((lex.IN, "in"), (lex.ON, "on")):
        if length := match(words, start, phrases):
            found = parse_ref(words, start + length)
            if found and not found[0].table:
                return Ask("exists", Ref("things", count=0), relation, found[0])
            return Ask("describe")
    return None


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
    while at(words, i) in {
        "are",
        "is",
        "there",
        "do",
        "you",
        "see",
        "can",
        "that",
        "which",
        "we",
        "have",
        "standing",
        "lying",
        "lie",
        "lies",
        "left",
        "to",
        "does",
        "still",
        "already",
        "drink",
    }:
        if at(words, i) == "to" and at(words, i + 1) == "drink" and ref.anything:  # "anything to drink"
            ref = Ref("something to drink", kinds=lex.KIND_OF["drink"], count=0)
        if match(words, i, tuple(lex.BESIDE)):
            break
        i += 1
    options = [
        (match(words, i, lex.IN), "in"),
        (match(words, i, lex.ON), "on"),
        *((len(phrase), name) for phrase, name in lex.BESIDE.items() if match(words, i, (phrase,))),
    ]
    length, relation = max(options)
    target = parse_ref(words, i + length) if length else None
    rest = words[target[1] if target else i :]
    if (target and any(word not in lex.FILLERS for word in rest)) or (not target and any(word not in lex.FILLERS | set(lex.COLORS) for word in rest)):
        return None
    if target is None and kind == "holds":
        color = lex.COLORS.get(at(words, i))
        return Ask("color", ref, target=Ref(color, colors=frozenset((color,)))) if color else None
    return Ask(kind, ref, relation if target else "", target[0] if target else None)
