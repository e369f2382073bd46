"""What a person speaks of is mostly there: where "the sponges" are named and nothing is called a sponge, what may be one is taken for it, and that is said."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from deskhand.language.intents import Intent, Leave, Place, Ref, Tidy
from deskhand.language.lexicon import NEAR_COLORS, color_of
from deskhand.language.resolve import LEAST_LIKELY, Seen, beyond_reach, head_fits, inside, is_receptacle, resolve

SAID = 10.0
"""How much more often people name a kind of object where there is one than where there is none: chosen, there is no source."""
LIKELY = 0.5
"""An object is taken for what was named while that is more likely than not."""


@dataclass(frozen=True)
class Supposed:
    """An object that is called otherwise, or has another colour, and is taken for what ``words`` name.

    Attributes:
        changed: what is told of it instead (``label`` or ``color``); empty where it may be that, and others may be too.
        seen_as: its label and colour as they were seen.
        probability: of that name, as the look told it; of a colour NaN, as looks tell but one.
    """

    object_id: str
    words: str
    changed: Mapping[str, str]
    seen_as: tuple[str, str]
    probability: float

    @property
    def text(self) -> str:
        """For people."""
        name = f"the {self.seen_as[1]} {self.seen_as[0]} ({self.object_id})".replace("  ", " ")
        sure = f" (likely by {self.probability:.2f})" if self.probability == self.probability else ""
        return f"{name} is taken for '{self.words}'{sure}" if self.changed else f"{name} may be one of '{self.words}'{sure}"


def rules_of(intents: Sequence[Intent]) -> tuple[tuple[Ref, ...], bool]:
    """The phrases for what shall be moved, where nothing but that is asked for, and whether the words mean all that is there, whatever it is."""
    if not all(isinstance(item, Place | Tidy | Leave) for item in intents):
        return (), False
    refs = tuple(ref for item in intents for ref in (item.objects if isinstance(item, Place) else item.scope if isinstance(item, Tidy) else ()))
    rest = any(ref.rest or (ref.anything and not (ref.colors or ref.shapes or ref.where)) for ref in refs)
    return refs, rest or any(isinstance(item, Tidy) and not (item.scope or item.strict) for item in intents)


def seen_of(refs: Sequence[Ref], objects: Sequence[Seen]) -> set[Ref]:
    """The phrases that something fits."""
    return {ref for ref in refs if _fitting(ref, objects)}


def suppose(refs: Sequence[Ref], anyway: bool, objects: Sequence[Seen], known: Collection[Ref] = ()) -> list[Supposed]:
    """For each phrase of ``refs`` that means all of a kind or colour, where nothing fits it, the objects that may.

    That one is there is by ``SAID`` more likely since it was named (Bayes): with the probabilities p of the names that looks tell, each is what was named by
    ``SAID p / (SAID q + 1 - q)``, q that any of them is. An object that is the only one of another phrase stays that; one that nobody would move but for
    this (``anyway``) needs a name with :data:`LEAST_LIKELY`. "Toys (blocks and balls)" names toys, and says of neither that there is one.
    ``known``: phrases for which a look before has shown something: what is seen no more is hidden.
    """
    named = [ref for ref in dict.fromkeys(refs) if not ref.count and not (ref.rest or ref.pronoun or ref.id or ref.table or ref.container or ref.drawer)]
    plain = [ref for ref in named if (ref.kinds or ref.colors) and not ref.noun and not ref.outline]
    said = [ref for ref in plain if not any(ref is not other and _explains(other, ref) for other in named)]
    free = [item for item in objects if not (is_receptacle(item) or beyond_reach(item) or inside(item, objects))]
    for only in (_fitting(ref, objects) for ref in plain):
        free = [item for item in free if len(only) != 1 or item["id"] != only[0]["id"]]
    found: list[Supposed] = []
    for ref in said:
        if ref not in known and not _fitting(ref, objects):
            left = [item for item in free if all(item["id"] != one.object_id for one in found)]
            found += _by_name(ref, left, objects, anyway) if ref.kinds else _by_color(ref, plain, left, anyway)
    return found


def put(supposed: Mapping[str, Supposed], objects: Sequence[Seen]) -> list[Seen]:
    """The objects as they are taken for, while looks tell of them what they told then."""
    return [{**item, **one.changed} if (one := supposed.get(str(item["id"]))) is not None and seen_as(item) == one.seen_as else item for item in objects]


def seen_as(item: Seen) -> tuple[str, str]:
    """Label and colour."""
    return str(item["label"]), str(item.get("color") or "")


def _explains(other: Ref, ref: Ref) -> bool:
    """Whether ``ref`` is one of the kinds that ``other`` sums up."""
    return bool(ref.kinds) and ref.kinds < other.kinds and ref.colors == other.colors


def _fitting(ref: Ref, objects: Sequence[Seen]) -> tuple[Seen, ...]:
    return resolve(ref, objects, "object").objects


def _by_name(ref: Ref, free: Sequence[Seen], objects: Sequence[Seen], anyway: bool) -> list[Supposed]:
    """Objects for which a name that fits was told."""
    may: list[tuple[float, str, Seen]] = []
    for item in free:
        for other in item.get("names") or ():
            called = {**item, "label": str(other["name"])}
            others = [called if each["id"] == item["id"] else each for each in objects]
            if head_fits(ref, called, "object") and any(each["id"] == item["id"] for each in _fitting(ref, others)):
                may.append((float(other["probability"]), str(other["name"]), item))
                break
    none = 1.0
    for probability, _, _ in may:
        none *= 1.0 - probability
    total = SAID * (1.0 - none) + none
    if SAID * (1.0 - none) / total < LIKELY:
        return []
    sure = [entry for entry in may if SAID * entry[0] / total >= LIKELY and (anyway or entry[0] >= LEAST_LIKELY)]
    if not sure and not anyway:
        return []
    return [Supposed(str(item["id"]), ref.words, {"label": name} if sure else {}, seen_as(item), chance) for chance, name, item in sure or may]


def _by_color(ref: Ref, phrases: Sequence[Ref], free: Sequence[Seen], anyway: bool) -> list[Supposed]:
    """The one object of a colour that light makes of the one that was named, and that nobody named."""
    if not anyway:
        return []
    near = frozenset().union(*(NEAR_COLORS.get(color, frozenset()) for color in ref.colors)) - {color for other in phrases for color in other.colors}
    close = [item for item in free if color_of(str(item.get("color", ""))) in near and _fitting(replace(ref, colors=frozenset(), tint=""), [item])]
    if len(close) != 1:
        return []
    return [Supposed(str(close[0]["id"]), ref.words, {"color": min(ref.colors)}, seen_as(close[0]), float("nan"))]
