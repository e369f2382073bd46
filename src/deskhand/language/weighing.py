"""What shall be weighed, where an instruction asks for it: read as a whole, or not at all."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from deskhand.language.intents import Intent, Ref
from deskhand.language.phrases import parse_whole

SAID = re.compile(r"\b(?:scales?|balance|weigh|weighs|weighed|weighing)\b")
_SCALES = r"(?:the |these |those )?(?:pair of )?(?:scales?|balance)"
_WITH = re.compile(rf",? ?\b(?:(?:by )?(?:using|with|on|by means of|with the help of) {_SCALES}|by weighing(?: them)?)\b")
_USE = re.compile(rf"(?:(?:^|(?<=[.;?] ))(?:please,? )?(?:use|take) {_SCALES}(?: for (?:this|that|it))?(?: to | and |[.;:] ?|$))|^please,? ")
_THAT_ONE = r"(?:it|that one|this one|that|the (?:odd|heavier|lighter|heaviest|lightest)(?: one)?)"
_PUT = rf"[.,;?]? ?(?:and |then |,|; ?)*(?:put|place|drop|bring|lay) {_THAT_ONE} (?:in|into|to|onto|on) (?P<target>the [a-z ]+?)"
_WHICH = r"(?:(?:find out|see|say|tell me|determine|check|work out),? )?which (?:one )?of (?P<things>the [a-z ]+?)"
_COMPARE = re.compile(rf"{_WHICH} (?:is|weighs) (?:the )?(?P<way>heavier|lighter|more|less)(?: one)?{_PUT}")
_ONE = r"(?:exactly |just )?one (?:out )?of (?P<things>the [a-z ]+?) is (?:a little |slightly )?"
_DIFFERS = r"(?P<way>heavier or lighter|lighter or heavier|heavier|lighter) than the (?:others|rest)(?: are)?[.,;:]? ?"
_ODD = re.compile(rf"{_ONE}{_DIFFERS}(?:(?:find|work|make) (?:it|out which(?: one it is| one)?)|which one(?: is it)?){_PUT}")
_MEASURE = re.compile(
    r"(?:(?:find out|tell me|say) )?how (?:many grams|much|heavy) (?:does |is )?(?P<things>the [a-z ]+?)(?: weighs?| is)?[?.,;] ?(?P<known>.+)"
)
_KNOWN = re.compile(r"(?:and )?(?P<thing>the [a-z ]+?) (?:weighs|has|is) (?P<grams>\d+(?:\.\d+)?) ?(?:g|grams?)[.,;]? ?(?=$|and |the |each |every |one |a )")
_WAY = re.compile(r"(?:each|every|one|a) (?:more )?gram (?:more )?[a-z ]*?(?P<far>one|half a|two|\d+(?:\.\d+)?) millimet(?:re|er)s?[a-z ]*[.]? ?")
_FAR = {"one": 1.0, "half a": 0.5, "two": 2.0}


@dataclass(frozen=True)
class Weigh(Intent):
    """Something to be found by weighing.

    Attributes:
        kind: ``compare`` (which of two), ``odd_one`` (which of several differs) or ``measure`` (how many grams).
        things: the candidates. ``target``: where the one that is found goes; None where only an answer is asked for.
        way: ``heavier``, ``lighter``, or empty where nobody knows.
        known: of a measurement the weights, with their grams. ``per_gram``: by how many millimetres a gram makes one pan hang below the other.
    """

    kind: str
    things: Ref
    target: Ref | None = None
    way: str = ""
    known: tuple[tuple[Ref, float], ...] = ()
    per_gram: float = 0.0


def parse_weighing(text: str) -> Weigh | None:
    """What ``text`` (normalised, in lower case) wants weighed; None when it is something else or not wholly understood."""
    if not SAID.search(text):
        return None
    plain = re.sub(r"\s+", " ", _WITH.sub("", _USE.sub("", text))).strip(" .!;,")
    if found := _COMPARE.fullmatch(plain):
        return _found("compare", found, {"more": "heavier", "less": "lighter"}.get(found["way"], found["way"]))
    if found := _ODD.fullmatch(plain):
        return _found("odd_one", found, found["way"] if " or " not in found["way"] else "")
    if found := _MEASURE.fullmatch(plain + "."):
        return _measurement(found)
    return None


def _found(kind: str, found: re.Match[str], way: str) -> Weigh | None:
    things, target = parse_whole(found["things"]), parse_whole(found["target"])
    if things is None or target is None:
        return None
    count = 2 if kind == "compare" else things.count if things.count > 1 else 0
    return Weigh(kind, replace(things, count=count, definite=False), target, way)


def _measurement(found: re.Match[str]) -> Weigh | None:
    thing, known, per_gram, rest = parse_whole(found["things"]), [], 0.0, found["known"]
    while rest.strip(" ."):
        if way := _WAY.match(rest):
            per_gram = _FAR.get(way["far"]) or float(way["far"])
            rest = rest[way.end() :]
        elif weight := _KNOWN.match(rest):
            ref = parse_whole(weight["thing"])
            if ref is None:
                return None
            known.append((ref, float(weight["grams"])))
            rest = rest[weight.end() :]
        else:
            return None
    if thing is None or not known or not per_gram:
        return None
    return Weigh("measure", thing, known=tuple(known), per_gram=per_gram)
