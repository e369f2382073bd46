"""From a rule in words, or a formula, to temporal logic over the steps of a plan (see temporal.py): a small grammar of the usual patterns.

Patterns after Dwyer, Avrunin and Corbett, "Patterns in property specifications for finite-state verification", 1999; words grounded in the objects
of the last look first and lifted back, as Lang2LTL does it (Liu et al. 2023), without a language model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from deskhand.errors import DeskhandError
from deskhand.language.phrases import parse_ref
from deskhand.language.resolve import Seen, is_receptacle, resolve
from deskhand.planning.temporal import Formula, parse_formula, shown

FORMS = (
    "never E; E before F; do not F until E; after E always F; right after E F; E at most N times; do not E while F; start with E; end with E; at some point E"
)
ACTS = "pick x, put x in y, put x away, push x, touch x, hold x, carry x over y, go home, look"
_FORMULA = re.compile(r"[!&|()<>~]|\b[XNFGUWR]\b")
_NUMBERS = {"once": 1, "twice": 2, "one": 1, "two": 2, "three": 3, "four": 4}
_ACTS = (
    (r"(?:pick(?:ing|ed)?(?: up)?|grasp(?:ing|ed)?|grab(?:bing|bed)?|tak(?:e|ing)|lift(?:ing|ed)?)", "pick"),
    (r"(?:touch(?:ing|ed)?|mov(?:e|ing|ed)|handl(?:e|ing|ed))", "touch"),
    (r"(?:push(?:ing|ed)?|shov(?:e|ing|ed))", "push"),
    (r"(?:hold(?:ing)?|carry(?:ing)?|carries)", "holding"),
)
_PUT = r"(?:put(?:ting)?|plac(?:e|ing|ed)|stack(?:ing|ed)?|drop(?:ping|ped)?|set(?:ting)?|lay(?:ing)?)(?: down)?"
_PLACE = re.compile(rf"{_PUT} (?P<what>.+?) (?P<how>into|in|onto|on top of|on) (?P<to>.+)")
_OVER = re.compile(
    r"(?:lift|carry|mov|bring|hold|swing|pass|tak)(?:e|ing)? (?P<what>.+?) (?:over|above|across) (?P<to>.+)"
    r"|(?:be|being|go|going|pass|passing|fly|flying) (?:over|above) (?P<below>.+)"
)
_AWAY = re.compile(
    r"(?:put|tid(?:y|ied)|stow|clear)(?:ting|ing)? (?:away (?P<a>.+)|(?P<b>.+?) away)"
    r"|(?P<c>.+?) (?:is|are|being|must be|should be|has to be|have to be) (?:put|tidied|stowed|cleared) away"
)
_ANYTHING = frozenset(("anything", "something", "a thing", "things", "any thing", "stuff", "objects", "an object", "any object"))
_ELSE = frozenset(("anything else", "everything else", "something else", "any other thing", "any other object", "other things", "all else"))
_IS = re.compile(r"(?P<what>.+?) (?:is|are|lies|lie|being) (?P<how>inside|in|on top of|on) (?P<to>.+)")
_FIXED = (
    (r"(?:go(?:ing)?|mov(?:e|ing)|return(?:ing)?|driv(?:e|ing)) (?:back )?home|(?:be |being )?at home", "move_home"),
    (r"look(?:ing)?(?: (?:again|at the (?:desk|table)|around))?|tak(?:e|ing) a (?:new )?picture|detect(?:ing)?(?: (?:the )?objects)?", "detect_objects"),
    (r"open(?:ing)? the (?:gripper|hand|fingers)", "open_gripper"),
    (r"clos(?:e|ing) the (?:gripper|hand|fingers)", "close_gripper"),
    (r"check(?:ing)?(?: the)? goals?|verif(?:y|ying)(?: the (?:goal|result))?", "check_goal"),
    (r"wip(?:e|ing)(?: .*)?", "wipe"),
    (r"plac(?:e|ing) (?:it|something|anything)|put(?:ting)? (?:it|something|anything) down", "place"),
    (r"pick(?:ing)?(?: up)? (?:something|anything)", "pick"),
    (r"hold(?:ing)? (?:something|anything)", "holding"),
)  # fmt: skip


@dataclass(frozen=True)
class Rule:
    """``text`` as given; ``note``: what was assumed in reading it."""

    text: str
    formula: Formula
    note: str = ""


def read_rule(text: str, objects: Sequence[Seen] = (), every: bool = False) -> Rule:
    """A formula, or a sentence of one of the :data:`FORMS`, about the ``objects`` of the last look.

    With ``every`` "the cup" is every cup there is, not the nearest.

    Raises:
        DeskhandError: ``invalid_input`` for what looks like a formula and is none, ``not_understood`` for other texts.
    """
    if _FORMULA.search(text) or re.fullmatch(r"\s*[a-z_0-9]+\s*", text):
        return Rule(text, parse_formula(text))
    notes: list[str] = []
    if every:
        objects = EveryOne(objects)
    sentence = re.sub(r"\s+", " ", text.lower().strip(" .!")).replace("don't", "do not").replace("must not", "do not").replace(",", " ")
    sentence = re.sub(r"\s+", " ", sentence)
    for pattern, build in _PATTERNS:
        found = re.fullmatch(pattern, sentence)
        if found:
            said = {name: value for name, value in found.groupdict().items() if value}
            parts = {name: value if name == "n" else _event(value, objects, notes) for name, value in said.items() if value not in _ELSE}
            parts |= {name: _others(parts, objects) for name, value in said.items() if value in _ELSE}
            return Rule(text, parse_formula(build(parts)), "; ".join(dict.fromkeys(notes)))
    return Rule(text, parse_formula(f"F {_event(sentence, objects, notes)}"), "; ".join(["read as: at some point", *dict.fromkeys(notes)]))


class EveryOne(tuple[Seen, ...]):
    """Objects of which a definite phrase means all that fit."""

    __slots__ = ()


def _others(parts: dict[str, str], objects: Sequence[Seen]) -> str:
    """Touching any object that the other events of the rule do not name; containers are no such objects."""
    named = set(re.findall(r"[a-z_]+_\d+", " ".join(parts.values())))
    others = [str(item["id"]) for item in objects if item["id"] not in named and not is_receptacle(item)]
    return _any(f"touch({name})" for name in others) if others else "false"


def _at_most(parts: dict[str, str]) -> str:
    event, count = parts["e"], _NUMBERS.get(parts["n"]) or int(parts["n"])
    formula = f"G !{event}"
    for _ in range(min(count, 20)):
        formula = f"(!{event} W ({event} & N ({formula})))"
    return formula


_PATTERNS: tuple[tuple[str, Callable[[dict[str, str]], str]], ...] = (
    (r"(?:do not|never|avoid) (?P<e>.+?) (?:while|when) (?P<f>.+)", lambda p: f"G !({p['e']} & {p['f']})"),
    (r"while (?P<f>.+?) (?:do not|never|avoid) (?P<e>.+)", lambda p: f"G !({p['e']} & {p['f']})"),
    (r"(?:do not|never|only) (?P<f>.+?) (?:until|before|after|unless) (?P<e>.+)", lambda p: f"!{p['f']} W {p['e']}"),
    (r"(?P<e>.+?) (?:must|has to|should)? ?(?:come|happen|be done)s? before (?P<f>.+)", lambda p: f"!{p['f']} W {p['e']}"),
    (r"(?:you )?(?:always |first )?(?:must )?(?P<e>.+?) before (?:you )?(?P<f>.+)", lambda p: f"!{p['f']} W {p['e']}"),
    (r"(?:right|immediately|directly) after (?P<e>.+?) (?:always |you must |must )(?P<f>.+)", lambda p: f"G({p['e']} -> X {p['f']})"),
    (r"(?:always )?(?P<f>.+?) (?:right|immediately|directly) after (?P<e>.+)", lambda p: f"G({p['e']} -> X {p['f']})"),
    (
        r"(?:after|whenever|once|if|every time) (?P<e>.+?) (?:always |then |you must |must |eventually )+(?P<f>.+?)(?: afterwards| later)?",
        lambda p: f"G({p['e']} -> F {p['f']})",
    ),
    (r"(?:do )?(?P<f>.+?) after (?P<e>.+)", lambda p: f"F({p['e']} & X F {p['f']})"),
    (r"(?P<e>.+?) (?:at most|no more than) (?P<n>once|twice|\d{1,2}|one|two|three|four)(?: times?)?", _at_most),
    (r"(?:do not|never|avoid) (?P<e>.+)", lambda p: f"G !{p['e']}"),
    (r"(?P<e>.+?) (?:must|may|should|shall) never (?:happen|occur)", lambda p: f"G !{p['e']}"),
    (r"(?:first|start (?:with|by)|begin (?:with|by)) (?P<e>.+)", lambda p: p["e"]),
    (r"(?:finally|at the end|end (?:with|by)|finish (?:with|by)|lastly) (?P<e>.+)", lambda p: f"F({p['e']} & !X true)"),
    (r"(?:always|at all times) (?P<e>.+)", lambda p: f"G {p['e']}"),
    (r"(?:eventually|at some point|sometime|make sure to|you must|must) (?P<e>.+)", lambda p: f"F {p['e']}"),
)  # fmt: skip


def _event(words: str, objects: Sequence[Seen], notes: list[str]) -> str:
    """A formula for an act or a state in words."""
    words = words.strip().removeprefix("you ").removeprefix("to ").strip()
    for pattern, atom in _FIXED:
        if re.fullmatch(pattern, words):
            return atom
    if found := _AWAY.fullmatch(words):
        return _any(f"place_in({item})" for item in _ids(found["a"] or found["b"] or found["c"], objects, notes))
    if found := _OVER.fullmatch(words):
        below = _ids(found["to"] or found["below"], objects, notes)
        carried = [""] if not found["what"] or found["what"] in _ANYTHING else [f"{item}," for item in _ids(found["what"], objects, notes)]
        return _any(f"over({item}{target})" for item in carried for target in below)
    if found := _PLACE.fullmatch(words):
        tool = "place_in" if found["how"] in ("in", "into") else "place"
        items, targets = _ids(found["what"], objects, notes), _ids(found["to"], objects, notes)
        if tool == "place_in":
            return _any(f"place_in({item},{target})" for item in items for target in targets)
        return _any(f"(place({item}) & on({item},{target}))" for item in items for target in targets)
    for pattern, name in _ACTS:
        if found := re.fullmatch(f"{pattern} (?P<what>.+)", words):
            return _any(f"{name}({item})" for item in _ids(found["what"], objects, notes))
    if found := _IS.fullmatch(words):
        relation = "in" if found["how"] in ("in", "inside") else "on"
        return _any(f"{relation}({item},{target})" for item in _ids(found["what"], objects, notes) for target in _ids(found["to"], objects, notes))
    raise DeskhandError("not_understood", f"{words!r} is no act or state that I know.", hint=f"Rules: {FORMS}. Acts: {ACTS}.")


def _any(atoms: object) -> str:
    return "(" + " | ".join(atoms) + ")"  # type: ignore[arg-type]


def _ids(words: str, objects: Sequence[Seen], notes: list[str]) -> list[str]:
    """Ids that a noun phrase names; the phrase itself when it is an id."""
    words = words.strip()
    if words in ("the table", "the desk", "table"):
        return ["table"]
    bare = words.removeprefix("the ")
    if re.fullmatch(r"[a-z]+(?:_[a-z]+)*_\d+", bare):
        return [bare]
    said = re.findall(r"[a-z0-9_]+", words)
    found = parse_ref(said, 0)
    if found is None or found[1] < len(said):
        raise DeskhandError("not_understood", f"{words!r} names no object that I know.", hint="Use an id such as block_1, or words such as 'the red block'.")
    ref = replace(found[0], count=0) if isinstance(objects, EveryOne) and not found[0].size else found[0]
    resolved = resolve(ref, objects, "any")
    if not resolved.objects:
        raise DeskhandError("unknown_object", f"I see no {bare!r}.", hint="Look first, or use an id.")
    names = [str(item["id"]) for item in resolved.objects]
    notes.append(f"{words!r} is {', '.join(names)}")
    if resolved.note:
        notes.append(resolved.note)
    return names


def formula_text(rule: Rule) -> str:
    """The rule's formula as text."""
    return shown(rule.formula)
