"""Sentences that mean something as a whole. To add a phrase, add a pattern to a line of :data:`FORMS`; to add a meaning, add a line and its function.

``{thing}``, ``{a}``, ``{b}`` in a pattern stand for noun phrases ("the red block left of the cup"); a pattern fits only when they can be read as such.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from deskhand.agent.language import lexicon as lex
from deskhand.agent.language.intents import Clear, Hand, Impossible, Intent, MoveTo, Ref, Row, Shift, Sort, Swap, Undo
from deskhand.agent.language.phrases import parse_list

Named = Callable[[Ref], Ref]
"""Says what a pronoun stands for."""
Slots = dict[str, tuple[Ref, ...]]
Builder = Callable[[Slots, "re.Match[str]"], Intent | None]

EVERYTHING = Ref("everything", count=0)
REGION = r"(?P<region>(?:(?:far|front|back|rear|near|upper|lower|left|right|middle|top|bottom) )?(?:left|right|middle|centre|center|front|back|rear))"
PART = r"(?:(?: hand)?(?: side| half| part| edge| end| corner| area| region))?(?: of (?:the|your|my) (?:desk|table|tabletop|workspace))?"
_REGION_WORDS = {
    "far": "front", "upper": "front", "top": "front", "near": "back", "lower": "back", "bottom": "back", "rear": "back", "centre": "middle", "center": "middle",
}  # fmt: skip
SPACES = {"laptop": (0.22, 0.31), "notebook": (0.22, 0.31), "computer": (0.22, 0.31), "keyboard": (0.14, 0.36), "tablet": (0.18, 0.25), "book": (0.22, 0.16),
          "paper": (0.30, 0.21), "plate": (0.22, 0.22), "mug": (0.09, 0.09), "cup": (0.09, 0.09), "phone": (0.16, 0.09), "mouse": (0.12, 0.09)}  # fmt: skip
"""What room things need that somebody wants to put down, (x, y) [m]."""
STEP = 0.06  # [m] of "a bit to the left"
WAYS = {"left": (0.0, 1.0), "right": (0.0, -1.0), "away": (1.0, 0.0), "forward": (1.0, 0.0), "closer": (-1.0, 0.0), "back": (-1.0, 0.0)}
UNITS = {"c": 0.01, "m": 0.001, "i": 0.0254}


def parse_form(sentence: str, named: Named) -> list[Intent] | None:
    """The intents of a sentence that fits a form; None when it fits none."""
    for pattern, build in FORMS:
        found = pattern.match(sentence)
        if found is None:
            continue
        slots = {name: parse_list(text) for name, text in found.groupdict().items() if name in ("thing", "a", "b") and text is not None}
        if any(not refs for refs in slots.values()):
            continue
        said = {name: tuple(named(ref) for ref in refs) for name, refs in slots.items()}
        if (intent := build(said, found)) is not None:
            return [intent]
    return None


# ---------------------------------------------------------------- what each form means


def _swap(slots: Slots, found: re.Match[str]) -> Intent | None:
    things = (*slots.get("a", ()), *slots.get("b", ()), *slots.get("thing", ()))
    if len(things) == 1 and things[0].count in (0, 2):
        return Swap((replace(things[0], count=2),))
    return Swap(things) if len(things) == 2 else None


def _undo(slots: Slots, found: re.Match[str]) -> Intent:
    things = tuple(ref for ref in slots.get("thing", ()) if not (ref.pronoun or ref.count == 0))
    return Undo(things, last=bool(re.search(r"\blast (?:step|move|one|thing|action)\b", found.string)))


def _sort(slots: Slots, found: re.Match[str]) -> Intent | None:
    things, by = slots.get("thing", (EVERYTHING,)), found["by"].rstrip("s")
    if by.startswith("colo"):
        return Sort(things, "color")
    if by in ("size", "height", "length", "volume"):
        order = _order(f"by {by} {found.groupdict().get('order') or ''}")
        return Row(things, *order) if order else None
    return Sort(things, "kind")


def _row(slots: Slots, found: re.Match[str]) -> Intent | None:
    order = _order(found.groupdict().get("order") or "")
    return Row(slots.get("thing", (EVERYTHING,)), *order) if order else None


_ORDER_WORDS = frozenset(
    [
        "by",
        "in",
        "of",
        "from",
        "to",
        "the",
        "a",
        "with",
        "one",
        "ones",
        "first",
        "last",
        "on",
        "at",
        "left",
        "right",
        "size",
        "height",
        "length",
        "order",
        "and",
        "going",
        "up",
        "down",
        "side",
        "end",
        "row",
        "line",
        "so",
        "that",
        "is",
        "according",
        "their",
        "then",
        "being",
        "beginning",
        "starting",
        "desk",
        "table",
        "increasing",
        "decreasing",
        "ascending",
        "descending",
    ]
)


def _order(text: str) -> tuple[str, bool] | None:
    """Measure and direction of "by height, the tallest on the left"; None when there are words that say something else."""
    words = re.findall(r"[a-z]+", text)
    if any(word not in _ORDER_WORDS and word not in lex.SIZES for word in words):
        return None
    sizes = [lex.SIZES[word] for word in words if word in lex.SIZES]
    by = next(({"size": "volume", "height": "height", "length": "length"}[word] for word in words if word in ("size", "height", "length")), "")
    by = by or (sizes[0][0] if sizes else "")
    up = sizes[0][1] < 0 if sizes else not {"decreasing", "descending"} & set(words)
    if re.search(r"\b(?:on|at|to) the right\b", text) or (re.search(r"\bright to left\b", text)) or re.search(r"\blast\b", text):
        up = not up
    return by, up


def _region(words: str) -> str:
    """``far left`` -> ``left front``: sides first, then depth."""
    said = [_REGION_WORDS.get(word, word) for word in words.split()]
    return " ".join(sorted(dict.fromkeys(said), key=("left", "right", "middle", "front", "back").index))


def _clear(slots: Slots, found: re.Match[str]) -> Intent:
    groups = found.groupdict()
    what = lex.singular((groups.get("what") or "").split(" ")[-1])
    to = groups.get("to")
    return Clear(_region(groups.get("region") or "middle"), SPACES.get(what, (0.20, 0.20)), _region(to) if to else "")


def _move_to(slots: Slots, found: re.Match[str]) -> Intent:
    return MoveTo(slots["thing"], _region(found["region"]))


def _shift(slots: Slots, found: re.Match[str]) -> Intent | None:
    groups = found.groupdict()
    if found.string.startswith(("put", "bring")) and found["way"] in ("away", "back"):  # tidied up, or put back where it was
        return None
    number, unit = groups.get("n") or groups.get("n2"), groups.get("unit") or groups.get("unit2")
    far = STEP
    if number and unit:
        far = float(lex.NUMBERS.get(number, 0) or (1 if number in ("one", "a", "an") else number)) * UNITS[unit[0]]
    way = found["way"].split()[0]
    x, y = WAYS[{"forwards": "forward", "backwards": "back", "you": "closer", "yourself": "closer", "me": "away"}.get(way, way)]
    return Shift(slots["thing"], (x * far, y * far))


def _turn(slots: Slots, found: re.Match[str]) -> Intent:
    angle = math.radians(float(found["n"] or 90))
    return Shift(slots["thing"], turn=-angle if found["way"] in ("clockwise", "right", "to the right") else angle)


def _hand(slots: Slots, found: re.Match[str]) -> Intent | None:
    return Hand(slots["thing"][0]) if len(slots["thing"]) == 1 else None


def _refuse(why: str) -> Builder:
    return lambda _, found: Impossible(found.string, why)


# ---------------------------------------------------------------- the forms themselves


def _compiled(*patterns: str) -> list[re.Pattern[str]]:
    return [re.compile("^" + re.sub(r"\{(\w+)\}", r"(?P<\1>[^;]+?)", pattern) + "$") for pattern in patterns]


_ARRANGE = "(?:sort|group|arrange|order|organi[sz]e|separate|classify|cluster|divide|split|line up|lay out|rank)(?: up| out)?"
_BY = r"(?:by|according to|based on|in order of|after|per)(?: their| its| the)?"
_ATTRIBUTE = r"(?P<by>colou?rs?|kinds?|types?|sorts?|class|category|shapes?|sizes?|heights?|lengths?|volumes?)"
_ROW = r"(?:a|one|the) (?:straight |single |neat |long |nice )*(?:row|line)"
_TAIL = r"(?P<order>(?:,|:| by| from| in order| in (?:in|de)creasing| with| so that| starting| beginning| the \w+est).*)?"
_UNIT = r"(?:cm|centimet(?:er|re)s?|mm|millimet(?:er|re)s?|inch(?:es)?)"
_A_BIT = r"a (?:little )?(?:bit|little)|a little|slightly"
_AMOUNT = rf"(?:{_A_BIT}|some|(?P<n>\d+(?:\.\d+)?|[a-z]+) ?(?P<unit>{_UNIT}))"
_AMOUNT2 = rf"(?: by| for)? (?:{_A_BIT}|(?P<n2>\d+(?:\.\d+)?|[a-z]+) ?(?P<unit2>{_UNIT}))"
_FOR = r"(?: for (?P<what>[\w ]+?))?"
_THERE = rf"(?: (?:in|on|at|to) the {REGION}{PART})?"
_TO_ME = r"(?: (?:to|from|towards) (?:you|me|the robot|yourself))?"
_SPACE = r"(?:some |a little |a bit of |enough |more |free )*(?:room|space|place|a space|an area|a spot|a place)"

FORMS: list[tuple[re.Pattern[str], Builder]] = [
    (pattern, build)
    for build, patterns in (
        (_swap, _compiled(
            r"(?:swap|exchange|switch|trade|interchange)(?: round| around)? (?:(?:the )?(?:positions?|places?|locations?) of )?{a} (?:and|with|for) {b}",
            r"(?:swap|exchange|switch|trade|interchange)(?: round| around)? (?:(?:the )?(?:positions?|places?|locations?) of )?{thing}",
            r"(?:let )?{a} and {b} (?:should |shall |must |have to )?(?:swap|exchange|switch|change|trade)(?: their)? (?:positions?|places?)",
        )),
        (_undo, _compiled(
            r"(?:undo|reverse|revert|take back|roll back)(?: (?:that|this|it|them|everything|your last (?:step|move|action|task)|"
            r"the last (?:step|move|action|one|thing|task)|what you (?:just )?did|all(?: of (?:it|that))?))?(?: again)?",
            r"take (?:that|it|this|them) back",
            r"(?:put|bring|move|set) {thing} back(?: again)?(?: (?:to )?where (?:it|they|that) (?:was|were|came from|belonged|stood|lay)(?: before)?|"
            r" (?:in|to|at) (?:its|their|the) (?:old|original|former|previous) (?:place|places|position|positions|spot))?",
            r"(?:restore|go back to|change it back to|make it) (?:how|as|like|what) it was(?: before)?",
        )),
        (_sort, _compiled(
            rf"{_ARRANGE} {{thing}},? {_BY} {_ATTRIBUTE}{_TAIL}",
            rf"{_ARRANGE} {_BY} {_ATTRIBUTE}{_TAIL}",
            r"(?:put|bring|move|place|gather|collect) {thing} (?:of|with) the same (?P<by>colou?r|kind|type|sort|shape) together",
            r"(?:put|bring|move|place|gather|group) (?:the )?same (?P<by>colou?rs?|kinds?|types?|shapes?) together",
        )),
        (_row, _compiled(
            rf"(?:line up|align|queue up) {{thing}}(?: in {_ROW})?{_TAIL}",
            rf"line {{thing}} up{_TAIL}",
            rf"(?:put|arrange|place|lay|set|bring|line up|lay out|organi[sz]e|sort|order) {{thing}} (?:up |out )?(?:in|into|to form|as|on) {_ROW}{_TAIL}",
            rf"(?:form|make|build|create|lay) {_ROW} (?:of|with|from|out of|using) {{thing}}{_TAIL}",
            rf"{_ARRANGE} {{thing}}(?P<order>(?:,| in order)? from .*)",
            r"put {thing} in(?:to)?(?P<order> (?:order|(?:in|de)creasing|(?:as|des)cending).*)",
        )),
        (_clear, _compiled(
            rf"(?:make|clear|free|get|leave|create|(?:i|we) need|give me|give us)(?: up| me| us)? {_SPACE}{_FOR}{_THERE}",
            rf"{_SPACE}{_FOR}{_THERE}(?: please)?",
            rf"free(?: up)? the {REGION}{PART}(?: for (?P<what>[\w ]+))?",
            rf"clear(?: up| out)? the {REGION}{PART} for (?P<what>[\w ]+)",
            rf"move (?:everything|all(?: things)?|things)(?: that is)? (?:out of|away from|from) the {REGION}{PART}"
            r"(?: to the (?P<to>left|right|front|back)(?: side)?)?",
        )),
        (_shift, _compiled(
            rf"(?:move|push|shift|slide|nudge|bring|put) {{thing}} {_AMOUNT} (?:further |more |farther )?(?:to the |towards? (?:the )?)?"
            rf"(?P<way>left|right|back|backwards?|forwards?|away|closer|you|yourself|me){_TO_ME}",
            rf"(?:move|push|shift|slide|nudge|bring|put) {{thing}} (?:further |more |farther )?(?:to the |towards? (?:the )?)?"
            rf"(?P<way>left|right|back|backwards?|forwards?|away|closer){_TO_ME}(?:{_AMOUNT2})?",
        )),
        (_turn, _compiled(
            r"(?:turn|rotate) {thing}(?: around)?(?: by)?(?: (?P<n>\d+) ?(?:degrees?|deg))?(?: (?P<way>clockwise|counterclockwise|counter clockwise|"
            r"anticlockwise|to the (?:left|right)))?",
        )),
        (_move_to, _compiled(
            rf"(?:put|move|place|set|bring|shift|get|lay) {{thing}} (?:to|on|onto|in|into|at|over to|towards) (?:the|your|my) {REGION}{PART}",
        )),
        (_hand, _compiled(
            r"(?:hand|pass|give|bring|fetch|get|reach)(?: over)? (?:me|us) {thing}(?: over)?",
            r"(?:hand|pass|give|bring|hold)(?: over)? {thing} (?:over |out )?to (?:me|us)",
            r"hand over {thing}",
        )),
        (_refuse("that could hurt somebody or break something"), _compiled(
            r"(?:throw|hurl|fling|toss|shoot|launch|catapult) .+ (?:at|against|across|through|around|out of|off|over) .+",
            r"(?:push|knock|sweep|kick|throw|drop|shove|swipe|hit|fling|flick|let) .+ (?:off|over|from|down from|onto the floor|on the floor|to the floor).*",
            r"(?:stab|hit|punch|strike|slap|poke|attack|hurt|injure|kill|crush|smash|break|destroy|squash|burn) .+",
        )),
        (_refuse("the safety limits are not mine to change"), _compiled(
            r".*\b(?:ignore|disable|override|bypass|switch off|turn off|forget|remove|widen|disregard)\b"
            r".*\b(?:safety|limits?|envelope|rules?|approval|stop|protections?)\b.*",
            r".*\bas (?:fast|hard|quick|quickly|strong|strongly) as (?:you can|possible)\b.*",
        )),
    )
    for pattern in patterns
]  # fmt: skip


def forms_of(sentences: Sequence[str], named: Named) -> list[Intent] | None:
    """The first reading of a sentence in its variants (as said, without politeness)."""
    return next((found for sentence in sentences if (found := parse_form(sentence, named)) is not None), None)
