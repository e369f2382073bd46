"""Noun phrases: "all the small red blocks", "the leftmost cup", "everything else", "block_2"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from deskhand.language import lexicon as lex
from deskhand.language.intents import Ref
from deskhand.language.shape_words import OUTLINE_OF
from deskhand.language.verbs import words as words_of

SEPARATORS = frozenset((",", ";", ".", ":", "!", "?", "and", "then", "(", ")"))
_ID = re.compile(r"[a-z]+(?:_[a-z]+)*_\d+$")
CUBES = frozenset(("cube", "dice", "die"))
"""Of the words for blocks those that say that all sides are equal."""
_MASS = frozenset(("stuff", "stationery", "drinkware", "crockery", "clutter", "mess", "tableware", "dishware"))
_NOT_NOUNS = lex.LINKING | lex.PRONOUNS | lex.DEFINITE | frozenset(word for verb in lex.VERBS for word in verb) - {"box", "bin", "stack", "pile", "can"}
_PREPOSITIONS = frozenset(words[0] for words in (*lex.IN, *lex.ON, *lex.TO, *lex.FROM, *lex.BESIDE)) | {
    "except",
    "excluding",
    "besides",
    "without",
    "but",
    "not",
}


def match(words: Sequence[str], i: int, phrases: Sequence[tuple[str, ...]]) -> int:
    """Length of the longest phrase that stands at ``i``, 0 for none."""
    return max((len(phrase) for phrase in phrases if tuple(words[i : i + len(phrase)]) == phrase), default=0)


def at(words: Sequence[str], i: int) -> str:
    """The word at ``i``, empty past the end."""
    return words[i] if i < len(words) else ""


def parse_ref(words: Sequence[str], start: int) -> tuple[Ref, int] | None:
    """The noun phrase that begins at ``start`` and the index behind it, or None."""
    for special in (_whole, _identifier, _pronoun, _part_of):
        if found := special(words, start):
            return found
    return _phrase(words, start)


def _part_of(words: Sequence[str], start: int) -> tuple[Ref, int] | None:
    """For "the top layer of the cabinet" the cabinet, and the index behind: objects are known, their parts are not, but for which drawer is meant. "The top
    drawer" alone is that of any cabinet.
    """
    i = start + (at(words, start) in lex.DEFINITE)
    j = i + (at(words, i) in lex.PART_PLACES)
    if at(words, j) not in lex.PARTS:
        return None
    drawer = lex.WHICH_DRAWER.get(at(words, i), "any") if at(words, j) in lex.DRAWERS else ""
    if at(words, j + 1) in ("of", "in") and (found := parse_ref(words, j + 2)) is not None and not found[0].table:
        return replace(found[0], words=" ".join(words[start : found[1]]), drawer=drawer), found[1]
    if at(words, j) != "drawer" or j == start or at(words, j + 1) in ("of", "in"):
        return None
    return Ref(" ".join(words[start : j + 1]), kinds=frozenset(("cabinet",)), definite=True, drawer=drawer), j + 1


def parse_whole(text: str) -> Ref | None:
    """The noun phrase that ``text`` is, with what says where the object is ("the block left of the cup"); None when it is more, or none."""
    words = re.findall(r"[a-z0-9_]+", text.lower())
    found = placed_ref(words, 0)
    rest = words[found[1] :] if found else []
    return found[0] if found and all(word in _BEHIND for word in rest) and rest[-1:] not in (["the"], ["a"], ["at"], ["of"]) else None


_BEHIND = words_of("please too also now here there again back up over together carefully gently quickly")
"""Words behind a phrase that say nothing of it."""


def parse_list(text: str) -> tuple[Ref, ...]:
    """The noun phrases of "the cup, the pen and the ball"; empty when a part of it is none."""
    whole = parse_whole(text)
    if whole is not None:
        return (whole,)
    refs = [parse_whole(part) for part in re.split(r"\s*,\s*(?:and )?|\s+and\s+", text) if part.strip()]
    if any(ref is None for ref in refs):
        return ()
    out: list[Ref] = []
    for index, ref in enumerate(ref for ref in refs if ref is not None):
        head = next((other for other in refs[index + 1 :] if other is not None and not other.bare), None) if ref.bare else None
        out.append(replace(ref, kinds=head.kinds, noun=head.noun, container=head.container) if head is not None else ref)
    return tuple(out)


_WHERE = {**dict.fromkeys(lex.IN, "in"), **dict.fromkeys(lex.ON, "on"), **dict.fromkeys(lex.FROM, "at"), **lex.BESIDE}


def placed_ref(words: Sequence[str], start: int) -> tuple[Ref, int] | None:
    """A noun phrase and what behind it says where the object is, and the index behind both."""
    found = parse_ref(words, start)
    if found is None:
        return None
    ref, end = found
    if where := where_phrase(words, end):
        return replace(ref, where=where[0], words=" ".join(words[start : where[1]])), where[1]
    return ref, end


def where_phrase(words: Sequence[str], start: int) -> tuple[tuple[str, Ref], int] | None:
    """As in "(that is) to the left of the cup", "between the can and the cup": the relation and what it refers to, and the index behind it."""
    i = start
    while at(words, i) in _RELATIVE:
        i += 1
    length = match(words, i, tuple(_WHERE))
    found = parse_ref(words, i + length) if length else None
    if found is None:
        return None
    relation = _WHERE[tuple(words[i : i + length])]
    ref, end = second_of(words, *found) if relation == "between" else found
    return (relation, ref), end


_RELATIVE = frozenset(("that", "which", "is", "are", "lies", "lying", "standing", "stands", "sits", "sitting", "located", "lie", "stand"))


def second_of(words: Sequence[str], ref: Ref, end: int) -> tuple[Ref, int]:
    """Behind "between the can": "and the cup" belongs to it."""
    if ref.count == 1 and at(words, end) == "and" and (other := parse_ref(words, end + 1)):
        return replace(ref, second=other[0], words=" ".join((ref.words, "and", other[0].words))), other[1]
    return ref, end


# ---------------------------------------------------------------- fixed phrases

_REST = lex.phrases(
    "everything else, anything else, all else, all the rest, the rest, rest, the others, all others, others, all the others, what is left, whatever is left, "
    "the remainder, whatever remains, what remains, everything that is left, everything left"
)
_ALL = lex.phrases("everything, anything, every thing, all of it, all of them, all of these, all of those, the lot, them all, it all, each of them, something")


def _whole(words: Sequence[str], start: int) -> tuple[Ref, int] | None:
    if length := match(words, start, _REST):
        end = start + length
        if at(words, end) == "of" and ((of := parse_ref(words, end + 1)) is None or of[0].count):
            return None  # "what is left of the cup"
        if at(words, end) == "of" and of:  # "the rest of the blocks"
            return replace(of[0], words=" ".join(words[start : of[1]]), rest=True, count=0), of[1]
        return _post(Ref(" ".join(words[start:end]), count=0, rest=True), words, start, end)
    if length := match(words, start, _ALL):
        ref = Ref(" ".join(words[start : start + length]), count=int(words[start] == "something" and at(words, start + length) == "to"))
        end = start + length
        while (word := at(words, end)) in lex.COLORS or word in lex.SHAPES:  # "everything red"
            ref = _adjective(ref, word)
            end += 1
        return _post(ref, words, start, end)
    if at(words, start) == "all" and (at(words, start + 1) in {"", *SEPARATORS, *lex.LINKING} or at(words, start + 1) in _PREPOSITIONS):
        return Ref("all", count=0), start + 1
    return None


def _identifier(words: Sequence[str], start: int) -> tuple[Ref, int] | None:
    i = start + (at(words, start) in {"the", "object"})
    if _ID.match(at(words, i)):
        return Ref(words[i], id=words[i], definite=True), i + 1
    if at(words, i) in lex.KIND_WORDS and at(words, i + 1).isdigit():  # "block 2"
        return Ref(" ".join(words[i : i + 2]), id=f"{words[i]}_{words[i + 1]}", definite=True), i + 2
    return None


def _pronoun(words: Sequence[str], start: int) -> tuple[Ref, int] | None:
    word, after = at(words, start), at(words, start + 1)
    ends = after in SEPARATORS or after in _PREPOSITIONS or after in lex.LINKING or after in lex.FILLERS or after in {"", "down", "away", "up"}
    if word in {"those", "these"} and side_of(words, start + 1):  # "the blocks on the left in the bin and those on the right in the tray"
        return _post(Ref(word, count=0, bare=True, definite=True), words, start, start + 1)
    if word in {"it", "them", "they"} or (word in lex.PRONOUNS and ends):
        return Ref(word, count=0, pronoun=True, definite=True), start + 1
    return None


# ---------------------------------------------------------------- the general phrase


def _adjective(ref: Ref, word: str) -> Ref:
    if word in lex.COLORS or word in lex.LIKE_COLORS:
        color = lex.COLORS.get(word) or lex.LIKE_COLORS[word]
        return replace(ref, colors=ref.colors | {color}, tint=word if not ref.colors else "")
    if word in lex.SHAPES:
        return replace(ref, shapes=ref.shapes | lex.SHAPES[word])
    if word in lex.SIZES:
        return replace(ref, size=lex.SIZES[word])
    return replace(ref, place=both_places(ref.place, lex.PLACES[word])) if word in lex.PLACES else ref


def both_places(one: str, other: str) -> str:
    """``back`` and ``right`` are ``back right``, of two on one axis the later holds."""
    sides = [next((place for place in (other, one) if place in axis), "") for axis in lex.SIDES]
    return " ".join(sides) if all(sides) else other


def _quantity(words: Sequence[str], i: int) -> tuple[dict[str, Any], int]:
    """Determiners and numbers: what they say and the index behind them; ``unread``: what of it decides nothing."""
    said: dict[str, Any] = {}
    unread: list[str] = []
    while True:
        word = at(words, i)
        if word in {"all", "every", "each", "both", "any", "various"} or (word == "whole" and said):
            said |= {"count": 0 if word != "both" else 2}
        elif word in lex.DEFINITE:
            said |= {"definite": True}
        elif word in {"a", "an", "another"}:
            said |= {"count": 1, "other": word == "another"}
        elif word in {"some", "several", "of", "other", "remaining"} and (said or word in {"some", "several", "other", "remaining"}):
            said |= {"rest": True, "count": said.get("count", 1)} if word in {"other", "remaining"} else {}
            unread += [word] if word in {"some", "several"} or at(words, i - 1) == "every" else []  # how many? "every other"
        elif word == "one" and at(words, i + 1) in {"of", *lex.COLORS, *lex.KIND_WORDS}:
            said |= {"count": 1, "picked": True}
        elif word in lex.NUMBERS or (word.isdigit() and 0 < int(word) < 100):
            unread += [word] if "number" in said or at(words, i - 1) in {"every", "each"} else []  # "two of the three", "every two"
            said |= {"count": lex.NUMBERS.get(word) or int(word), "number": True}
        else:
            return said | {"unread": tuple(unread)}, i
        i += 1


def _noun(words: Sequence[str], i: int, determined: bool) -> tuple[Ref, int, bool] | None:
    """The head noun at ``i``: a Ref with its kinds, the index behind it, and whether it is plural."""
    for length in (3, 2, 1):
        chunk = list(words[i : i + length])
        if len(chunk) < length or any(word in SEPARATORS for word in chunk):
            continue
        last = lex.singular(chunk[-1])
        text = " ".join([*chunk[:-1], last])
        plural = last != chunk[-1] or last in _MASS
        if text == "can" and not determined and not plural and at(words, i + 1) in {"you", "i", "we", "be", "not"}:
            continue
        if text in lex.TABLE_NOUNS:
            return Ref("", table=True), i + length, False
        if text in lex.ANYTHING:
            return Ref(""), i + length, plural
        if text in lex.CONTAINER_NOUNS:
            return Ref("", container=True), i + length, plural
        if text in lex.KIND_OF:
            return Ref("", kinds=lex.KIND_OF[text], outline="square" if text in CUBES else ""), i + length, plural
        if determined and text in OUTLINE_OF:
            return Ref("", noun=text.replace(" ", "_"), outline=OUTLINE_OF[text]), i + length, plural
    word = at(words, i)
    if word in {"one", "ones"} and determined:
        return Ref("", bare=True), i + 1, word == "ones"
    if (
        determined
        and word.replace("_", "").isalpha()
        and word not in SEPARATORS
        and word not in _PREPOSITIONS
        and word not in _NOT_NOUNS
        and word not in lex.FILLERS
    ):
        return Ref("", noun=lex.singular(word)), i + 1, lex.singular(word) != word
    return None


def _phrase(words: Sequence[str], start: int) -> tuple[Ref, int] | None:
    said, i = _quantity(words, start)
    head = i
    described = Ref("")
    unread = list(said["unread"])
    while True:
        word = at(words, i)
        compound = any(
            " ".join(words[i : i + n]) in lex.KIND_OF or " ".join([*words[i : i + n - 1], lex.singular(at(words, i + n - 1))]) in lex.KIND_OF
            for n in (2, 3)
            if i + n <= len(words)
        )
        known = word in lex.COLORS or word in lex.SHAPES or word in lex.SIZES or (word in lex.PLACES and (i > start))
        if (shade := f"{word} {at(words, i + 1)}") in lex.COLORS:  # "dark blue"
            described = _adjective(described, shade)
            unread += [word] if word in lex.SHADES else []
            i += 2
            continue
        if word in lex.LIKE_COLORS and at(words, i + 1) in {"coloured", "colored"}:
            described = _adjective(described, word)
            i += 2
            continue
        if word in lex.ORDINALS and (at(words, i + 1) in {*lex.SIZES, *lex.PLACES} or (i > start and _noun(words, i + 1, False))):
            said["nth"] = lex.ORDINALS[word]
            unread += [word] if at(words, i - 1) in {"every", "each"} else []
            i += 1
            continue
        material = word in lex.MATERIALS and bool(_noun(words, i + 1, False) or at(words, i + 1) in {*lex.COLORS, *lex.SIZES, *lex.SHAPES})
        if i > head and (word in lex.NUMBERS or word.isdigit()) and "count" not in said:  # "the biggest two"
            said |= {"count": lex.NUMBERS.get(word) or int(word), "number": True}
            i += 1
            continue
        if compound or not (
            known or material or (word == "most" and i > start and at(words, i + 1) in lex.PLACES) or (word in {"coloured", "colored"} and i > head)
        ):
            break
        described = _adjective(described, word) if known else described
        named = f"{word} {lex.singular(at(words, i + 1))}" in lex.CONTAINER_NOUNS  # "the open box"
        unread += [word] if material and not known and not named and word not in lex.DECORATION else []
        i += 1
    determined = i > start
    found = _noun(words, i, determined)
    if found is None:
        if i == head or described == Ref(""):
            return None
        found = Ref("", bare=True), i, False  # "the red and the blue block"
    noun, end, plural = found
    if noun.noun in {"side", "half", "part", "corner"} and described.place:  # "the left side of the desk": what lies there
        end += 3 if tuple(words[end : end + 2]) == ("of", "the") and at(words, end + 2) in lex.TABLE_NOUNS else 0
        return Ref(" ".join(words[start:end]), place=described.place, count=0), end
    ref = replace(
        noun,
        words=" ".join(words[start:end]),
        colors=described.colors,
        tint=described.tint,
        shapes=described.shapes,
        size=described.size,
        place=described.place,
        definite=bool(said.get("definite")),
        rest=bool(said.get("rest")),
    )
    ref = replace(ref, count=_count(said, plural, ref))
    shaded = ref.definite and ref.count == 1 and bool(ref.colors)  # "the dark blue block": where two are blue, it asks
    ref = replace(ref, nth=int(str(said.get("nth", 1))), unread=tuple(word for word in unread if not (shaded and word in lex.SHADES | lex.SURFACES)))
    if said.get("picked") and plural:
        ref = replace(ref, count=1)
    return _post(ref, words, start, end)


def _count(said: dict[str, object], plural: bool, ref: Ref) -> int:
    if "number" in said or said.get("picked"):
        return int(str(said["count"]))
    if said.get("count") == 2:
        return 2
    if plural or said.get("count") == 0:
        return 0
    return 1


def _post(ref: Ref, words: Sequence[str], start: int, end: int) -> tuple[Ref, int]:
    """What follows the noun and belongs to it: "on the left", "that is red", "closest to the robot"."""
    if (at(words, end) == "to" and at(words, end + 1) in lex.USES) or (
        at(words, end) in {"that", "which"} and at(words, end + 2) in {"can", "could"} and at(words, end + 3) in lex.USES
    ):  # "something to write with", "things that I can drink from"
        i = end + (1 if words[end] == "to" else 3)
        good = lex.USES[words[i]]
        if fitting := good if ref.anything else ref.kinds & good:  # "the cup that I can write with" is none
            ref, end = replace(ref, kinds=fitting), i + 1 + (at(words, i + 1) in {"with", "from"})
    while True:
        i = end
        if at(words, i) in {"that", "which", "who"} and at(words, i + 1) in {"is", "are", "looks", "look"}:
            i += 2
        relative = i > end
        if at(words, i) == "not" and relative and at(words, i + 1) in lex.COLORS:
            bad = Ref(at(words, i + 1), colors=frozenset((lex.COLORS[at(words, i + 1)],)), count=0)
            ref, end = replace(ref, excluded=(*ref.excluded, bad)), i + 2
        elif relative and at(words, i) == "not" and (what := _phrase(words, i + 1)) and (what[0].kinds or what[0].container) and not what[0].rest:
            one = what[0]  # "that is not a block" leaves out all blocks
            ref, end = replace(ref, excluded=(*ref.excluded, one if one.definite else replace(one, count=0, words=f"no {one.words}"))), what[1]
        elif relative and (at(words, i) in lex.COLORS or at(words, i) in lex.SHAPES or at(words, i) in lex.SIZES):
            ref, end = _adjective(ref, at(words, i)), i + 1
        elif side := side_of(words, i):
            ref, end = replace(ref, place=both_places(ref.place, side[0])), side[1]
        elif relative and ref.where is None and not ref.table and (where := where_phrase(words, i)):
            ref, end = replace(ref, where=where[0]), where[1]
        else:
            return replace(ref, words=" ".join(words[start:end])), end


def side_of(words: Sequence[str], i: int) -> tuple[str, int] | None:
    """For "on the left (side)", "in the middle (of the desk)", "closest to you": the place and the index behind, or None."""
    if at(words, i) in {"closest", "nearest", "farthest", "furthest", "near", "close", "far"} and at(words, i + 1) in {"to", "from", "away"}:
        j = i + 2 + (at(words, i + 1) == "away" and at(words, i + 2) == "from")
        j += at(words, j) == "the"
        if at(words, j) in {"you", "robot", "yourself", "arm"}:
            return lex.PLACES[at(words, i)], j + 1
    if at(words, i) not in {"on", "at", "in", "to", "from"}:
        return None
    j = i + 1 + (at(words, i + 1) in {"the", "your", "my"})
    if at(words, j) in lex.TABLE_NOUNS and lex.PLACES.get(at(words, j + 1)) == "middle":  # "from table center", "in the desk's middle"
        return "middle", j + 2
    far = at(words, i + 2) in {"far", "very", "extreme"} and at(words, i + 3) in lex.PLACES  # "on the far left"
    if at(words, i + 1) not in {"the", "your", "my"} or at(words, i + 2 + far) not in lex.PLACES:
        return None
    j = i + 3 + far
    if at(words, j) in {"side", "hand", "half", "part"}:
        j += 1 + (at(words, j) == "hand" and at(words, j + 1) == "side")
    if at(words, j) == "of" and at(words, j + 1) in {"the", "your"} and at(words, j + 2) in lex.TABLE_NOUNS:
        j += 3
    if at(words, j) in lex.PLACES and at(words, j + 1) != "of":  # "in the front left tray"
        return None
    if at(words, j) in SEPARATORS or at(words, j) == "" or at(words, j) in _PREPOSITIONS - {"by"} or at(words, j) in lex.LINKING:
        return lex.PLACES[at(words, i + 2 + far)], j
    return None
