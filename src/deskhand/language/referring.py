"""What a phrase refers to, when it is ambiguous, and what was nearly meant when it fits nothing."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from deskhand.errors import DeskhandError
from deskhand.language import lexicon as lex
from deskhand.language.intents import Ref
from deskhand.language.phrases import match, parse_ref
from deskhand.language.resolve import Seen, listing, measure, name_of, resolve
from deskhand.types import Scene
from deskhand.world.relations import DIRECTIONS, NEAR_GAP
from deskhand.world.spatial import relation_holds

MOST_WORDS = 40
ALIKE = {"volume": 0.25, "height": 0.08, "length": 0.08}
"""Shares by which objects may differ that a camera cannot tell apart by size."""
_RELATIONS = {**dict.fromkeys(lex.IN, "in"), **dict.fromkeys(lex.ON, "on"), **lex.BESIDE}
_KNOWN = sorted({*lex.KIND_WORDS, *lex.COLORS, *lex.SHAPES, *lex.SIZES})


@dataclass(frozen=True)
class Reading:
    """A phrase: what it describes, and (relation, anchor phrase) that must hold, each a reading of its own."""

    text: str
    ref: Ref
    where: tuple[str, Reading] | None = None


def read_phrase(text: str) -> Reading:
    """The reading of "the small red block left of the bin".

    Raises:
        DeskhandError: ``not_understood`` naming the word from which on it is not.
    """
    words = re.findall(r"[a-z0-9_]+", text.lower())[:MOST_WORDS]
    while words and words[0] in lex.FILLERS and words[0] not in lex.DEFINITE | {"a", "all", "every"}:
        words = words[1:]
    return _read(text, words)


def _read(text: str, words: Sequence[str]) -> Reading:
    found = parse_ref(words, 0)
    if found is None:
        raise DeskhandError("not_understood", f"{text!r} describes no object that I know.", hint="Say it as 'the red block left of the bin', or use an id.")
    ref, end = found
    rest = list(words[end:])
    while rest and rest[0] in ("that", "which", "is", "are", "lies", "lying", "standing", "stands"):
        rest = rest[1:]
    if not rest:
        return Reading(text, ref)
    length = match(rest, 0, tuple(_RELATIONS))
    if not length or len(rest) == length:
        raise DeskhandError(
            "not_understood", f"{text!r}: {' '.join(rest)!r} is not understood.", hint="Relations: in, on, left of, right of, in front of, behind, near."
        )
    relation = _RELATIONS[tuple(rest[:length])]
    if relation not in ("in", "on", "near", *DIRECTIONS):
        raise DeskhandError(
            "not_understood", f"{text!r}: I cannot judge {relation!r}.", hint="Relations: in, on, left of, right of, in front of, behind, near."
        )
    return Reading(text, ref, (relation, _read(" ".join(rest[length:]), rest[length:])))


def fitting(reading: Reading, objects: Sequence[Seen], scene: Scene) -> list[Seen]:
    """All objects that fit, superlatives and relations applied, nearest to the robot first where nothing says otherwise."""
    if reading.where is None:
        return _described(reading.ref, objects)
    relation, anchor = reading.where
    known = {item.id: item for item in scene.objects}
    anchors = [None] if anchor.ref.table else [known[str(item["id"])] for item in fitting(anchor, objects, scene) if item["id"] in known]
    beside = [item for item in objects if item["id"] in known and any(relation_holds(scene, known[str(item["id"])], relation, other)[0] for other in anchors)]
    return _described(reading.ref, beside)


def _described(ref: Ref, objects: Sequence[Seen]) -> list[Seen]:
    """What a description fits; of "the biggest one" also what is as big as far as a camera can tell."""
    if ref.size is None or not ref.count:
        return list(resolve(ref if ref.place else replace(ref, count=0), objects, "any").objects)
    what, sign, _ = ref.size
    found = sorted(resolve(replace(ref, count=0, size=None), objects, "any").objects, key=lambda item: -sign * measure(item, what))
    if len(found) <= ref.count:
        return found
    last = measure(found[ref.count - 1], what)
    return [item for item in found if sign * (measure(item, what) - last) >= -ALIKE[what] * last]


def chosen(reading: Reading, candidates: Sequence[Seen]) -> tuple[list[Seen], bool, str]:
    """The objects that the phrase means, whether it is ambiguous, and why."""
    ref, count = reading.ref, reading.ref.count
    if not candidates:
        return [], False, f"nothing fits {reading.text!r}"
    if count == 0 or len(candidates) <= max(count, 1):
        short = len(candidates) < count
        return (
            list(candidates),
            False,
            f"only {len(candidates)} of {count} are there" if short else "all that fit are meant" if count == 0 else "it is the only one",
        )
    if ref.definite:
        return [], True, f"{len(candidates)} objects fit, and {reading.text!r} means {'one' if count == 1 else count} of them: {listing(candidates)}"
    return list(candidates[:count]), False, f"any will do; taken of {len(candidates)} that fit"


# ---------------------------------------------------------------- asking back


@dataclass(frozen=True)
class Question:
    """What to ask to tell candidates apart: the text, and for each answer the ids that it leaves."""

    attribute: str
    text: str
    answers: dict[str, list[str]]


def best_question(candidates: Sequence[Seen]) -> Question:
    """The question whose answer leaves the fewest candidates on average.

    Raises:
        DeskhandError: ``impossible`` when nothing tells them apart.
    """
    questions = [question for question in _questions(candidates) if len(question.answers) > 1]
    if not questions:
        raise DeskhandError("impossible", f"nothing that can be said tells {listing(candidates)} apart.", hint="Ask for an id, or point at one.")
    return min(questions, key=lambda question: sum(len(ids) ** 2 for ids in question.answers.values()))


def _questions(candidates: Sequence[Seen]) -> Iterator[Question]:
    what = name_of(candidates[0]) if len({name_of(item) for item in candidates}) == 1 else "object"
    for attribute, ask in (("color", f"Which colour does the {what} have"), ("label", "What kind of object is it"), ("support", f"Where does the {what} lie")):
        groups: dict[str, list[str]] = {}
        for item in candidates:
            groups.setdefault(str(item.get(attribute, "")) or "unknown", []).append(str(item["id"]))
        shown = [f"on or in {name}" if attribute == "support" else name.replace("_", " ") for name in groups]
        yield Question(attribute, f"{ask}: {_or(shown)}?", groups)
    ordered = sorted(candidates, key=lambda item: -measure(item, "volume"))
    sizes = [measure(item, "volume") for item in ordered]
    if all(big > 1.3 * small for big, small in pairwise(sizes)):
        names = ["big", "small"] if len(ordered) == 2 else ["biggest", *[f"{_ORDINALS[i]} biggest" for i in range(1, min(len(ordered) - 1, 4))], "smallest"]
        if len(names) == len(ordered):
            yield Question("size", f"Which {what}: the {_or(names)} one?", {name: [str(item["id"])] for name, item in zip(names, ordered, strict=True)})
    for axis, sides in ((1, ("left", "right")), (0, ("back", "front"))):
        placed = sorted(candidates, key=lambda item: -float(item["position"][axis]))
        at = [float(item["position"][axis]) for item in placed]
        if min((a - b for a, b in pairwise(at)), default=0.0) < NEAR_GAP / 2:
            continue
        names = list(sides) if len(placed) == 2 else [f"{sides[0]}most", "middle", f"{sides[1]}most"] if len(placed) == 3 else []
        if names:
            yield Question(
                "place",
                f"Which {what}, seen from the robot: the {_or(names)} one?",
                {name: [str(item["id"])] for name, item in zip(names, placed, strict=True)},
            )


_ORDINALS = ("", "second", "third", "fourth")


def _or(words: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def answered(question: Question, answer: str) -> list[str]:
    """The ids that an answer leaves; empty when it is none of the answers."""
    said = set(re.findall(r"[a-z0-9_]+", answer.lower()))
    for name, ids in sorted(question.answers.items(), key=lambda item: -len(item[0])):
        if set(re.findall(r"[a-z0-9_]+", name.lower().replace("_", " "))) <= said or name.lower() in said:
            return ids
    return []


# ---------------------------------------------------------------- nearly meant


@dataclass(frozen=True)
class Relaxed:
    """Objects that fit when a part of the phrase is let go; ``cost`` says how much was let go."""

    objects: tuple[Seen, ...]
    changed: str
    cost: float


def relaxations(text: str, objects: Sequence[Seen], scene: Scene) -> list[Relaxed]:
    """What fits nearly, the least changed first; nothing twice."""
    found: list[Relaxed] = []
    spelled = _spelled(text)
    try:
        reading = read_phrase(spelled)
    except DeskhandError:
        return []
    if spelled.lower() != text.lower():
        found.append(Relaxed(tuple(fitting(reading, objects, scene)), f"read as {spelled!r}", 0.5))
    for changed, ref, cost in _weaker(reading.ref):
        found.append(Relaxed(tuple(fitting(replace(reading, ref=ref), objects, scene)), changed, cost))
    if reading.where is not None:
        found.append(Relaxed(tuple(fitting(replace(reading, where=None), objects, scene)), f"without 'is {reading.where[0]} {reading.where[1].text}'", 2.5))
    best: list[Relaxed] = []
    seen: set[frozenset[str]] = set()
    for item in sorted(found, key=lambda item: (item.cost, len(item.objects))):
        ids = frozenset(str(one["id"]) for one in item.objects)
        if ids and ids not in seen:
            seen.add(ids)
            best.append(item)
    return best


def _spelled(text: str) -> str:
    """Words that nobody knows, put right where a known one is very near."""

    def right(found: re.Match[str]) -> str:
        word = found[0]
        if len(word) < 4 or word in _KNOWN or lex.singular(word) in _KNOWN or "_" in word or word in lex.FILLERS:
            return word
        near = difflib.get_close_matches(word, _KNOWN, 1, 0.75)
        return near[0] if near else word

    return re.sub(r"[a-z0-9_]+", right, text.lower())


def _weaker(ref: Ref) -> Iterator[tuple[str, Ref, float]]:
    """Descriptions that ask for less, with what was changed and a cost."""
    if ref.colors:
        near = frozenset().union(*(lex.NEAR_COLORS.get(color, frozenset()) for color in ref.colors))
        if near:
            yield f"colour {', '.join(sorted(near))} instead of {', '.join(sorted(ref.colors))}", replace(ref, colors=near), 1.0
        yield "whatever colour", replace(ref, colors=frozenset()), 2.0
    if ref.place:
        yield f"without {ref.place!r}", replace(ref, place="", count=0), 1.5
    if ref.shapes:
        yield "whatever shape", replace(ref, shapes=frozenset()), 1.5
    if ref.noun or ref.kinds:
        if ref.colors or ref.shapes or ref.size:
            yield "whatever kind", replace(ref, noun="", kinds=frozenset()), 3.0
        else:
            yield "objects that nobody has a name for", replace(ref, noun="object", kinds=frozenset()), 3.5
    if ref.id:
        yield f"another {ref.id.rsplit('_', 1)[0]}", replace(ref, id="", noun=ref.id.rsplit("_", 1)[0], count=0), 2.0
