"""From a question in words to a typed one. A small grammar, no model: "the cup that was left of the box before", "where did I last see the red pen"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from deskhand.errors import DeskhandError
from deskhand.language import lexicon as lex
from deskhand.language.intents import Ref
from deskhand.language.past.query import Kinds, Query, When
from deskhand.language.phrases import at, match, parse_ref

QuestionKind = Literal["where", "which", "support", "events"]
EXAMPLES = (
    "where did I last see the red pen",
    "the cup that was left of the box before",
    "what was on the desk first",
    "what was in the bin before you picked up the sponge",
    "what was the cup on at the start",
    "what happened to block_1",
    "what did you move last",
)


@dataclass(frozen=True)
class Question:
    """A question, understood.

    Attributes:
        kind: ``where`` objects are or were, ``which`` objects fit, on or in what they were (``support``), or what happened (``events``).
        query: the objects it is about, and when. ``events``: which kinds of events count. ``order``: ``first`` or ``last`` of them only.
    """

    kind: QuestionKind
    query: Query
    events: frozenset[str] = frozenset()
    order: Literal["", "first", "last"] = ""


_VERBS: tuple[tuple[str, frozenset[str]], ...] = (
    ("picked up, picked, pick up, pick, taken, took, take, grasped, grasp, grabbed, grab, held, hold, lifted, lift", frozenset({"held"})),
    ("placed, place, put down, put away, put, set down, released, release, laid down", frozenset({"placed", "released"})),
    ("moved, move, pushed, push, shifted, shift", frozenset({"moved", "placed"})),
    ("dropped, drop, lost, lose", frozenset({"dropped"})),
    ("vanished, vanish, disappeared, disappear, removed, remove, gone, missing", frozenset({"vanished"})),
    ("added, add, appeared, appear, new, came", frozenset({"added", "appeared"})),
    ("hidden, covered, occluded", frozenset({"occluded"})),
)
_EVENTS = {verb: kinds for verbs, kinds in _VERBS for verb in verbs.split(", ")}
_VERB = "|".join(sorted(_EVENTS, key=len, reverse=True))
_BE = "is|are|was|were|has been|have been|had been|got|has|have|had|did|does|do"
_WHO = r"(?:you|i|we|they|he|she|someone|somebody|the robot|the arm)"
_PAST = re.compile(r"\b(was|were|did|had|stood|lay|used)\b")
_NUMBER = {word: n for n, word in enumerate(("zero", "one", *lex.NUMBERS))} | {
    "a": 1,
    "an": 1,
    "half a": 0.5,
    "twenty": 20,
    "thirty": 30,
}
_UNIT = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}
_AGO = re.compile(rf"\b(\d+(?:\.\d+)?|{'|'.join(sorted(_NUMBER, key=len, reverse=True))}) ({'|'.join(_UNIT)})s? (?:ago|earlier)\b")
_BY_WHOM = re.compile(rf"\b(before|after|when) {_WHO} ({_VERB}) (.+)$")
_HAPPENED = re.compile(rf"\b(before|after|when) (.+?) (?:(?:{_BE}) )?({_VERB})$")
_WORDS: tuple[tuple[str, str], ...] = (
    ("first", r"(?:at |in )?(?:the )?(?:very )?(?:first|start|beginning)|originally|initially|to begin with|at the outset"),
    ("last", r"last|the last time|most recently|lately|latest"),
    ("before", r"before(?: that| this| then)?|earlier|previously|beforehand|formerly|back then|a while ago|until (?:recently|now)"),
    ("ever", r"ever|at any time|so far"),
    ("now", r"now|right now|currently|at the moment|at present|still|by now"),
)
_START = re.compile(r"^(?:please |(?:can|could|do) you (?:tell me|say|know|remember|recall) |tell me |(?:find|show|give|recall|remember)(?: me)? |do i know )+")
_WHERE = re.compile(
    rf"^where (?:(?:{_BE}) )?(?:{_WHO} )?(?:(?:see|saw|seen|find|found|put|leave|left) )?(?P<ref>.+?)"
    r"(?: (?:been|be|go|gone|lie|lying|stand|standing|seen|kept))?$"
)
_DID = re.compile(rf"^(?:what|which(?: (?P<noun>\w+))?)(?: (?:thing|object)s?)? (?:did|have|has) {_WHO} ({_VERB})$")
_WAS = re.compile(rf"^(?:what|which(?: (?P<noun>\w+))?|who)(?: (?:{_BE}))?(?: been)? ({_VERB})$")
_CHANGES = re.compile(r"^what(?: all)?(?: has| have| was| is)? (?:changed|happened|been going on|different|new)(?: on the (?:desk|table))?$")
_FATE = re.compile(r"^what (?:has |have |did )?(?:happened|happen|became|become) (?:to|of|with) (?P<ref>.+)$|^(?:the )?history of (?P<other>.+)$")
_TIME_OF = re.compile(
    rf"^(?:when|how often|how many times) (?:(?:{_BE}) )?(?:(?P<who>{_WHO}) (?P<act>{_VERB}) (?P<what>.+)|(?P<ref>.+?) (?:been )?(?P<verb>{_VERB}))$"
)
_WHETHER = re.compile(rf"^(?:was|were|has|have|did) (?:(?P<who>{_WHO}) (?P<act>{_VERB}) (?P<what>.+)|(?P<ref>.+?) (?:been )?(?P<verb>{_VERB}))$")
_SUPPORT = re.compile(rf"^(?:what|on what|in what|which \w+) (?:(?:{_BE}) )?(?P<ref>.+?) (?:(?:lying|standing|placed|put) )?(?:on|in|on top of)$")
_WHICH = re.compile(r"^(?:what|who)(?: all)? (?:is|are|was|were|lay|lies|stood|stands|used to be)(?: there)? (?P<rest>.+)$")
_RELATIVE = re.compile(
    r"^(?:which (?:of )?|what )?(?P<ref>.+?) (?:that |which |who )?(?:is|are|was|were|lay|lies|stood|stands|used to be|has been|had been) (?P<rest>.+)$"
)


def parse(text: str, now: float) -> Question:
    """The question; ``now`` is ROS time [s], for "ten seconds ago".

    Raises:
        DeskhandError: ``not_understood``, with questions that are.
    """
    plain = " ".join(re.findall(r"[a-z0-9_.']+", text.lower().replace("’", "'"))).rstrip(".")
    plain = _START.sub("", plain.replace("where's", "where is").replace("what's", "what is").replace("on top of", "on"))
    when, rest = _time(plain, now)
    found = _events(rest, when) or _support(rest, when, plain) or _where(rest, when, plain) or _which(rest, when, plain)
    if found is None:
        raise DeskhandError("not_understood", f"the question {text!r} was not understood.", hint=f"Questions that are: {'; '.join(EXAMPLES)}.")
    return found


_ASKS = re.compile(r"^(?:what|which|who|where|when|how often|how many times|was|were|did|has|have)\b")
_OF_THE_PAST = re.compile(r"\b(?:was|were|did|had|stood|lay|used to|ago|earlier|before|previously|(?:has|have) (?:\w+ ){0,4}(?:been|changed|happened))\b")


def about_the_past(text: str) -> bool:
    """Whether ``text`` is a question about the past that :func:`parse` understands."""
    if not (_ASKS.match(text) and _OF_THE_PAST.search(text)):
        return False
    try:
        parse(text, 0.0)
    except DeskhandError:
        return False
    return True


def kinds_of(text: str) -> Kinds:
    """What words like "the red pen", or an id, name.

    Raises:
        DeskhandError: ``not_understood``.
    """
    found = _kinds(text.strip().lower())
    if found is None:
        raise DeskhandError("not_understood", f"{text!r} names no object.", hint="Give an id, or words like 'red pen'.")
    return found


# ---------------------------------------------------------------- time


def _time(text: str, now: float) -> tuple[When | None, str]:
    """What the question says of time, and the rest of it."""
    if ago := _AGO.search(text):
        number = _NUMBER.get(ago[1])
        seconds = (float(ago[1]) if number is None else number) * _UNIT[ago[2]]
        return When("at", stamp=now - seconds), _without(text, ago)
    for pattern, verb, item in ((_BY_WHOM, 2, 3), (_HAPPENED, 3, 2)):
        if (said := pattern.search(text)) and said.start() > 0 and (of := _kinds(said[item])) is not None:
            return When("before_event" if said[1] == "before" else "after_event", events=_EVENTS[said[verb]], of=of), _without(text, said)
    for kind, words in _WORDS:
        if said := re.search(rf"\b(?:{words})$", text):
            return When(kind), _without(text, said)  # type: ignore[arg-type]
    if said := re.search(
        r"\b(?:last|first) (?=see|saw|seen|pick|put|place|move|take|grasp|drop|hold|held)|\b(?:now|currently|still|originally|initially|previously) ", text
    ):
        kind = {"last": "last", "first": "first", "now": "now", "currently": "now", "still": "now", "previously": "before"}.get(said[0].strip(), "first")
        return When(kind), _without(text, said)  # type: ignore[arg-type]
    return None, text


def _without(text: str, said: re.Match[str]) -> str:
    return " ".join((text[: said.start()] + text[said.end() :]).split())


def _tense(text: str) -> When:
    return When("before") if _PAST.search(text) else When("now")


# ---------------------------------------------------------------- forms


def _events(text: str, when: When | None) -> Question | None:
    order: Literal["", "first", "last"] = when.kind if when is not None and when.kind in ("first", "last") else ""
    window = when if when is not None and when.kind in ("at", "before_event", "after_event") else When("ever")
    if _CHANGES.match(text):
        return Question("events", Query(when=window), order=order)
    if said := _FATE.match(text):
        return _about(said["ref"] or said["other"], window, frozenset(), order)
    for pattern in (_DID, _WAS):
        if said := pattern.match(text):
            what = _kinds(said["noun"]) if said["noun"] else Kinds()
            return Question("events", Query(what, when=window), _EVENTS[said[2]], order) if what is not None else None
    for pattern in (_TIME_OF, _WHETHER):
        if said := pattern.match(text):
            return _about(said["what"] or said["ref"], window, _EVENTS[said["act"] or said["verb"]], order)
    return None


def _about(words: str, when: When, events: frozenset[str], order: Literal["", "first", "last"]) -> Question | None:
    what = _kinds(words)
    return Question("events", Query(what, when=when), events, order) if what is not None else None


def _support(text: str, when: When | None, whole: str) -> Question | None:
    if (said := _SUPPORT.match(text)) and (what := _kinds(said["ref"])) is not None:
        return Question("support", Query(what, when=when or _tense(whole)))
    if said := re.match(rf"^what (?:{_BE}) (?:under|below|beneath|underneath) (?P<ref>.+)$", text):
        what = _kinds(said["ref"])
        return Question("support", Query(what, when=when or _tense(whole))) if what is not None else None
    return None


def _where(text: str, when: When | None, whole: str) -> Question | None:
    said = _WHERE.match(text)
    if said is None:
        return None
    saw = re.search(r"\b(see|saw|seen)\b", text) is not None
    if when is None:
        when = When("last") if saw else _tense(whole)
    query = _object(said["ref"].split())
    return Question("where", replace(query, when=when, seen=saw or when.kind == "before")) if query is not None else None


def _which(text: str, when: When | None, whole: str) -> Question | None:
    when = when or _tense(whole)
    if said := _WHICH.match(text):
        words = said["rest"].split()
        if relation := _relation(words):
            return Question("which", Query(Kinds(), *relation, when=when))
    query = _object(text.split())
    return Question("which", replace(query, when=when)) if query is not None else None


# ---------------------------------------------------------------- noun phrases


def _object(words: Sequence[str]) -> Query | None:
    """A noun phrase, with "that was left of the box"."""
    text = " ".join(words)
    said = _RELATIVE.match(text)
    if said and (what := _kinds(said["ref"])) is not None and (relation := _relation(said["rest"].split())):
        return Query(what, *relation)
    for i in range(1, len(words)):  # "the cup left of the box"
        if (relation := _relation(words[i:])) and (what := _kinds(" ".join(words[:i]))) is not None:
            return Query(what, *relation)
    what = _kinds(text)
    return Query(what) if what is not None else None


_RELATIONS: dict[tuple[str, ...], str] = {
    **{phrase: name for phrase, name in lex.BESIDE.items() if name in ("left_of", "right_of", "in_front_of", "behind", "near")},
    **dict.fromkeys(lex.IN, "in"),
    **dict.fromkeys(lex.ON, "on"),
}


def _relation(words: Sequence[str]) -> tuple[str, Kinds | None] | None:
    """(relation, target) of "left of the box"; the target None is the table."""
    length = match(words, 0, tuple(_RELATIONS))
    if not length:
        return None
    relation = _RELATIONS[tuple(words[:length])]
    if at(words, length) in lex.TABLE_NOUNS or at(words, length + 1) in lex.TABLE_NOUNS:
        return ("on", None) if relation == "on" else None
    target = _kinds(" ".join(words[length:]))
    return (relation, target) if target is not None else None


def _kinds(text: str) -> Kinds | None:
    """What a noun phrase names; None when it is none, or says more than the memory can ask."""
    words = text.split()
    if text in {"it", "them"} or not words:
        return None
    if text in {"anything", "everything", "something", "things", "objects"}:
        return Kinds()
    found = parse_ref(words, 0) or parse_ref(["the", *words], 0)
    if found is None:
        return None
    ref, end = found
    if end not in (len(words), len(words) + 1) or ref.table or ref.pronoun or ref.rest or ref.size or ref.place or ref.excluded:
        return None
    return _of(ref)


def _of(ref: Ref) -> Kinds:
    labels = ref.kinds or (frozenset({ref.noun}) if ref.noun else frozenset())
    ids = frozenset({ref.id}) if ref.id else frozenset()
    shapes = frozenset(shape for name in ref.shapes for shape in lex.SOLIDS.get(name, (name,)))
    return Kinds(ids, labels, ref.colors, shapes, True if ref.container else None)
