"""Which objects to put on the pans of a balance next, so that the odd one among look-alikes is found in as few weighings as can be."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deskhand.errors import DeskhandError

HEAVIER, LIGHTER = "heavier", "lighter"
LEFT, RIGHT, LEVEL = "left", "right", "level"
Guess = tuple[str, str]
"""An object, and whether it is heavier or lighter than the others."""


@dataclass(frozen=True)
class Weighing:
    """What lay on each pan, and which side was ``left`` or ``right`` lower, or that they were ``level``."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    lower: str


@dataclass(frozen=True)
class Advice:
    """What to weigh next; or, with ``found``, what is known. ``left_over``: guesses that still fit, and ``worst``: how many do after it at the most."""

    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    found: Guess | None = None
    left_over: tuple[Guess, ...] = ()
    worst: int = 0


def guesses(candidates: Sequence[str], odd: str, past: Sequence[Weighing]) -> tuple[Guess, ...]:
    """The guesses that fit all that was weighed; ``odd``: heavier, lighter, or empty where nobody knows.

    Raises:
        DeskhandError: ``invalid_input`` when no guess fits, or what was weighed is no candidate.
    """
    if strange := {name for one in past for name in (*one.left, *one.right)} - set(candidates):
        raise DeskhandError("invalid_input", f"{', '.join(sorted(strange))} was weighed and is no candidate; name all of them.")
    if len(set(candidates)) != len(candidates) or len(candidates) < 2:
        raise DeskhandError("invalid_input", "give at least two candidates, each once.")
    left = [(name, way) for name in candidates for way in ((odd,) if odd else (HEAVIER, LIGHTER))]
    fitting = tuple(guess for guess in left if all(outcome(guess, one.left, one.right) == one.lower for one in past))
    if not fitting:
        raise DeskhandError("invalid_input", "no candidate explains all of these weighings: one was read wrong, or more than one object differs.")
    return fitting


def outcome(guess: Guess, left: Sequence[str], right: Sequence[str]) -> str:
    """Which side is lower if the guess is right, the pans bearing equally many."""
    name, way = guess
    if name in left:
        return LEFT if way == HEAVIER else RIGHT
    if name in right:
        return RIGHT if way == HEAVIER else LEFT
    return LEVEL


def next_weighing(candidates: Sequence[str], odd: str = "", past: Sequence[Weighing] = (), per_pan: int = 4) -> Advice:
    """The weighing whose worst outcome leaves the fewest guesses, with as few objects on the pans as does that; at most ``per_pan`` on each.

    Raises:
        DeskhandError: ``invalid_input`` as :func:`guesses`.
    """
    fitting = guesses(candidates, odd, past)
    names = {name for name, _ in fitting}
    if len(fitting) == 1 or (len(names) == 1 and len(candidates) == 2):
        return Advice(found=fitting[0], left_over=fitting)
    if len(candidates) == 2 and not odd:
        raise DeskhandError("invalid_input", "of two objects a balance tells which is heavier, and not which is the odd one; say heavier or lighter.")
    best: tuple[tuple[int, int, int], tuple[str, ...], tuple[str, ...]] | None = None
    for left, right in _pairs(candidates, fitting, per_pan):
        counts = {LEFT: 0, RIGHT: 0, LEVEL: 0}
        for guess in fitting:
            counts[outcome(guess, left, right)] += 1
        score = (max(counts.values()), len(left), sum(count * count for count in counts.values()))
        if max(counts.values()) < len(fitting) and (best is None or score < best[0]):
            best = score, left, right
    if best is None:
        raise DeskhandError("invalid_input", f"no weighing with {per_pan} on each pan tells these apart.")
    return Advice(best[1], best[2], left_over=fitting, worst=best[0][0])


def _pairs(candidates: Sequence[str], fitting: Sequence[Guess], per_pan: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Pairs of equally large sets for the pans; of objects about which the same is still possible, which one is taken makes no difference."""
    ways: dict[str, set[str]] = {name: set() for name in candidates}
    for name, way in fitting:
        ways[name].add(way)
    classes: dict[tuple[str, ...], list[str]] = {}
    for name in candidates:
        classes.setdefault(tuple(sorted(ways[name])), []).append(name)
    kinds = list(classes.values())
    shares = [[(a, b) for a in range(len(kind) + 1) for b in range(len(kind) + 1 - a)] for kind in kinds]
    for counts in itertools.product(*shares):
        on_left, on_right = sum(a for a, _ in counts), sum(b for _, b in counts)
        if on_left == on_right and 0 < on_left <= per_pan:
            left = tuple(name for kind, (a, _) in zip(kinds, counts, strict=True) for name in kind[:a])
            right = tuple(name for kind, (a, b) in zip(kinds, counts, strict=True) for name in kind[a : a + b])
            yield left, right
