"""Answers that set objects against each other: more, larger, nearer, how large, how far, empty or not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from deskhand.language.intents import Ask, Ref
from deskhand.language.resolve import Seen, listing, measure, name_of, resolve

COMPARISONS = frozenset(("more", "larger", "measure", "distance", "nearest", "empty"))
ALIKE = 0.06
"""Share by which sizes may differ that a camera cannot tell apart."""
_MORE = {"volume": ("larger", "smaller"), "height": ("taller", "shorter"), "length": ("longer", "shorter")}


def compared(ask: Ask, objects: Sequence[Seen]) -> str:
    """The answer to a question of one of the kinds :data:`COMPARISONS`."""
    assert ask.about is not None
    if ask.kind == "more":
        return _more(ask, ask.about, objects)
    missing = [ref for ref in (ask.about, ask.target) if ref is not None and not _all(ref, objects)]
    if missing:
        return f"I see no {missing[0].words.removeprefix('the ')}. I see {listing(objects)}."
    if ask.kind == "measure":
        return " ".join(f"{_the(item)} is {_size(item)}." for item in _all(ask.about, objects))
    if ask.kind == "empty":
        return _empty(ask.about, objects)
    assert ask.target is not None
    if ask.kind == "larger":
        return _larger(ask, _all(ask.about, objects)[0], _all(ask.target, objects)[0])
    other = _all(ask.target, objects)[0]
    items = [item for item in _all(ask.about, objects) if item["id"] != other["id"]]
    if not items:
        return f"There is nothing but {_the(other)}."
    if ask.kind == "distance":
        return " ".join(f"{_the(item)} is {100 * _apart(item, other):.0f} cm from {_the(other)}, centre to centre.".capitalize() for item in items)
    found = min(items, key=lambda item: ask.sign * _apart(item, other))
    return f"{_the(found)} is {'nearest to' if ask.sign > 0 else 'farthest from'} {_the(other)}: {100 * _apart(found, other):.0f} cm off.".capitalize()


def _all(ref: Ref, objects: Sequence[Seen]) -> Sequence[Seen]:
    return resolve(ref if ref.size or ref.place else replace(ref, count=0), objects, "any").objects


def _the(item: Seen) -> str:
    return f"the {name_of(item)} ({item['id']})"


def _size(item: Seen) -> str:
    x, y, z = (100 * float(edge) for edge in item["size"])
    return f"{max(x, y):.1f} cm long, {min(x, y):.1f} cm wide and {z:.1f} cm high"


def _apart(item: Seen, other: Seen) -> float:
    return math.dist(item["position"][:2], other["position"][:2])


def _more(ask: Ask, about: Ref, objects: Sequence[Seen]) -> str:
    mine = len(_all(about, objects))
    theirs = ask.number if ask.target is None else len(_all(ask.target, objects))
    assert theirs is not None
    counts = f"I see {mine} ({about.words})" + (f" and {theirs} ({ask.target.words})" if ask.target is not None else "")
    if ask.relation == "which":
        return f"{'As many of both' if mine == theirs else f'More {(about if mine > theirs else ask.target or about).words}'}: {counts}."
    yes = {"more": mine > theirs, "fewer": mine < theirs, "equal": mine == theirs, "at least": mine >= theirs, "at most": mine <= theirs}[ask.relation]
    return f"{'Yes' if yes else 'No'}: {counts}."


def _larger(ask: Ask, item: Seen, other: Seen) -> str:
    mine, theirs = measure(item, ask.relation), measure(other, ask.relation)
    alike = abs(mine - theirs) <= ALIKE * max(mine, theirs)
    word = _MORE[ask.relation][ask.sign < 0]
    sizes = f"{_the(item)} is {_size(item)}, {_the(other)} is {_size(other)}"
    if ask.words == "which":
        if alike:
            return f"They are alike: {sizes}."
        winner, loser = (item, other) if ask.sign * (mine - theirs) > 0 else (other, item)
        return f"{_the(winner).capitalize()} is {word} than {_the(loser)}: {sizes}."
    return f"{'Yes' if ask.sign * (mine - theirs) > 0 and not alike else 'No'}: {sizes}."


def _empty(about: Ref, objects: Sequence[Seen]) -> str:
    ids = {item["id"] for item in _all(about, objects)}
    inside = [item for item in objects if item.get("support") in ids]
    return f"No, there is {listing(inside)} in it." if inside else "Yes, I see nothing in it."
