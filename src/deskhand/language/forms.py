"""Sentences that mean something as a whole. To add a phrase, add a pattern to :data:`FORMS`; to add a meaning, add a function in forming.py.

``{object}``, ``{a}``, ``{b}`` in a pattern stand for noun phrases ("the red block left of the cup"); a pattern fits only when they can be read as such.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from deskhand.language import forming
from deskhand.language.forming import Builder
from deskhand.language.intents import Intent, Ref
from deskhand.language.phrases import parse_list

Named = Callable[[Ref], Ref]
"""Says what a pronoun stands for."""

REGION = r"(?P<region>(?:(?:far|front|back|rear|near|upper|lower|left|right|middle|top|bottom) )?(?:left|right|middle|centre|center|front|back|rear))"
PART = r"(?:(?: hand)?(?: side| half| part| corner| area| region))?(?: of (?:the|your|my) (?:desk|table|tabletop|workspace))?"


def parse_forms(sentence: str, named: Named) -> list[Intent] | None:
    """The intents of a sentence that fits a form, or of which each part does ("put the red things on the left and the blue ones on the right")."""
    if (whole := parse_form(sentence, named)) is not None:
        return whole
    parts = [part for part in re.split(r",? and |, ", sentence) if part]
    if not 1 < len(parts) < 5:
        return None
    verb = sentence.split(" ", 1)[0]
    found = [parse_form(part, named) or (parse_form(f"{verb} {part}", named) if number else None) for number, part in enumerate(parts)]
    return [intent for intents in found for intent in intents or ()] if all(found) else None


def parse_form(sentence: str, named: Named) -> list[Intent] | None:
    """The intents of a sentence that fits a form; None when it fits none."""
    for pattern, build in FORMS:
        found = pattern.match(sentence)
        if found is None:
            continue
        slots = {name: parse_list(text) for name, text in found.groupdict().items() if name in ("object", "a", "b") and text is not None}
        if any(not refs for refs in slots.values()):
            continue
        said = {name: tuple(named(ref) for ref in refs) for name, refs in slots.items()}
        if (intent := build(said, found)) is not None:
            return [intent]
    return None


# ---------------------------------------------------------------- the forms themselves


def _compiled(*patterns: str) -> list[re.Pattern[str]]:
    return [re.compile("^" + re.sub(r"\{(\w+)\}", r"(?P<\1>[^;]+?)", pattern) + "$") for pattern in patterns]


_ARRANGE = "(?:sort|group|arrange|order|organi[sz]e|separate|classify|cluster|divide|split|line up|lay out|rank)(?: up| out)?"
_BY = r"(?:by|according to|based on|in order of|after|per)(?: their| its| the)?"
_ATTRIBUTE = r"(?P<by>colou?rs?|kinds?|types?|sorts?|class|category|shapes?|sizes?|heights?|lengths?|volumes?)"
_ROW = r"(?:a|one|the) (?:straight |single |neat |long |nice )*(?:row|line)"
_TAIL = r"(?P<order>(?:,|:| by| from| in order| in (?:in|de)creasing| with| so that| starting| beginning| the \w+est).*)?"
_BOXES = r"(?: (?:in|into|between|among|across) (?:the |different |separate |two |three |own )*(?:(?P<boxes>containers|boxes|bins|trays)|groups|piles))?"
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
        (forming.swap, _compiled(
            r"(?:swap|exchange|switch|trade|interchange)(?: round| around)? (?:(?:the )?(?:positions?|places?|locations?) of )?{a} (?:and|with|for) {b}",
            r"(?:swap|exchange|switch|trade|interchange)(?: round| around)? (?:(?:the )?(?:positions?|places?|locations?) of )?{object}",
            r"(?:let )?{a} and {b} (?:should |shall |must |have to )?(?:swap|exchange|switch|change|trade)(?: their)? (?:positions?|places?)",
        )),
        (forming.undo, _compiled(
            r"(?:undo|reverse|revert|take back|roll back)(?: (?:that|this|it|them|everything|your last (?:step|move|action|task)|"
            r"the last (?:step|move|action|one|thing|task)|what you (?:just )?did|all(?: of (?:it|that))?))?(?: again)?",
            r"take (?:that|it|this|them) back",
            r"(?:put|bring|move|set) {object} back(?: again)?(?: (?:to )?where (?:it|they|that) (?:was|were|came from|belonged|stood|lay)(?: before)?|"
            r" (?:in|to|at) (?:its|their|the) (?:old|original|former|previous) (?:place|places|position|positions|spot))?",
            r"(?:restore|go back to|change it back to|make it) (?:how|as|like|what) it was(?: before)?",
        )),
        (forming.row, _compiled(
            rf"(?:line up|align|queue up) {{object}}(?: in {_ROW})?{_TAIL}",
            rf"line {{object}} up{_TAIL}",
            rf"(?:put|arrange|place|lay|set|bring|line up|lay out|organi[sz]e|sort|order) {{object}} (?:up |out )?(?:in|into|to form|as|on) {_ROW}{_TAIL}",
            rf"(?:form|make|build|create|lay) {_ROW} (?:of|with|from|out of|using) {{object}}{_TAIL}",
            rf"{_ARRANGE} {{object}}(?P<order>(?:,| in order)? from .*)",
            r"put {object} in(?:to)?(?P<order> (?:order|(?:in|de)creasing|(?:as|des)cending).*)",
        )),
        (forming.sort, _compiled(
            rf"{_ARRANGE} {{object}},? {_BY} {_ATTRIBUTE}{_TAIL}{_BOXES}",
            rf"{_ARRANGE} {_BY} {_ATTRIBUTE}{_TAIL}",
            r"(?:put|bring|move|place|gather|collect) {object} (?:of|with) the same (?P<by>colou?r|kind|type|sort|shape) together",
            r"(?:put|bring|move|place|gather|group) (?:the )?same (?P<by>colou?rs?|kinds?|types?|shapes?) together",
        )),
        (forming.separate, _compiled(r"(?:separate|divide|split|part|keep apart) {a} (?:from|and) {b}",)),
        (forming.stack, _compiled(r"(?:stack|pile up|pile) {object}(?: up)?,? with the (?:larg|bigg)(?:est|er)(?: one)? (?:at|on) the (?:bottom|base)",)),
        (forming.closer, _compiled(r"(?:move|put|bring|push|set) {a} (?:closer|nearer) to {b}",)),
        (forming.elsewhere, _compiled(r"(?:move|put|bring|set|place) {object} (?:somewhere else|elsewhere|to another place|out of the way|aside)",)),
        (forming.clear, _compiled(
            rf"(?:make|clear|free|get|leave|create|(?:i|we) need|give me|give us)(?: up| me| us)? {_SPACE}{_FOR}{_THERE}",
                    rf"(?:make|clear|free|get|leave|create|(?:i|we) need|give me|give us)(?: up| me| us)? {_SPACE}{_THERE}{_FOR}",
            rf"{_SPACE}{_FOR}{_THERE}",
            rf"free(?: up)? the {REGION}{PART}(?: for (?P<what>[\w ]+))?",
            rf"clear(?: up| out)? the {REGION}{PART} for (?P<what>[\w ]+)",
                    r"clear(?: up| out)? the (?P<region>middle|centre|center)(?: of (?:the|your|my) (?:desk|table))?",
            rf"move (?:everything|all(?: things)?|things)(?: that is)? (?:out of|away from|from) the {REGION}{PART}"
            r"(?: to the (?P<to>left|right|front|back)(?: side)?)?",
        )),
        (forming.shift, _compiled(
            rf"(?:move|push|shift|slide|nudge|bring|put) {{object}} {_AMOUNT} (?:further |more |farther )?(?:to the |towards? (?:the )?)?"
            rf"(?P<way>left|right|back|backwards?|forwards?|away|closer|you|yourself|me){_TO_ME}",
            rf"(?:move|push|shift|slide|nudge|bring|put) {{object}} (?:further |more |farther )?(?:to the |towards? (?:the )?)?"
            rf"(?P<way>left|right|back|backwards?|forwards?|away|closer){_TO_ME}(?:{_AMOUNT2})?",
        )),
        (forming.refuse("I turn objects about the vertical only"), _compiled(
            r"(?:turn|rotate|flip|tip|tilt|roll) .+ over(?: again)?",
            r"(?:turn|rotate|flip|tip|tilt|roll|put|place|set|lay|stand) .+ (?:upside down|on (?:its|their) (?:sides?|heads?|backs?|ends?))(?: again)?",
        )),
        (forming.turn, _compiled(
            r"(?:turn|rotate) {object}(?: around)?(?: by)?(?: (?P<n>\d+) ?(?:degrees?|deg)| a (?P<part>quarter|half|full) turn)?"
            r"(?: (?P<way>clockwise|counterclockwise|counter clockwise|"
            r"anticlockwise|to the (?:left|right)))?",
        )),
        (forming.move_to, _compiled(
            rf"(?:put|move|place|set|bring|shift|get|lay) {{object}} (?:to|on|onto|in|into|at|over to|towards) (?:the|your|my) {REGION}{PART}",
        )),
        (forming.hand, _compiled(
            r"(?:hand|pass|give|bring|fetch|get|reach)(?: over)? (?:me|us) {object}(?: over)?",
            r"(?:hand|pass|give|bring|hold)(?: over)? {object} (?:over |out )?to (?:me|us)",
            r"hand over {object}",
            r"bring {object} (?:over )?here",
        )),
        (forming.want, _compiled(r"(?:i|we) (?:would like|want|need|would love)(?: to (?:have|get|use))? {object}",)),
        (forming.refuse("that could hurt somebody or break something"), _compiled(
            r"(?:throw|hurl|fling|toss|shoot|launch|catapult) .+ (?:at|against|across|through|around|out of|off|over) .+",
            r"(?:push|knock|sweep|kick|throw|drop|shove|swipe|hit|fling|flick|let) .+ (?:off|over|from|down from|onto the floor|on the floor|to the floor).*",
            r"(?:knock|tip|topple|kick|push|throw) (?:over|down) .+",
            r"(?:stab|hit|punch|strike|slap|poke|attack|hurt|injure|kill|crush|smash|break|destroy|squash|burn) .+",
        )),
        (forming.refuse("the safety limits are not mine to change"), _compiled(
            r".*\b(?:ignore|disable|override|bypass|switch off|turn off|forget|remove|widen|disregard)\b"
            r".*\b(?:safety|limits?|envelope|rules?|approval|stop|protections?)\b.*",
            r".*\bas (?:fast|hard|quick|quickly|strong|strongly) as (?:you can|possible)\b.*",
        )),
    )
    for pattern in patterns
]  # fmt: skip
