"""All kinds of sub-goals, and the case of one for a seed."""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

import numpy as np

from deskhand.bench.toolbench import acts, questions
from deskhand.bench.toolbench.expert import words_for
from deskhand.bench.toolbench.play import Case
from deskhand.bench.tools.drawing import Random
from deskhand.errors import DeskhandError

FAMILIES: tuple[Callable[[Random, str], Case], ...] = (
    acts.tidy, acts.grasp, acts.stack, acts.unstack, acts.beside, acts.push, acts.hand, acts.take_back, acts.away, acts.close,
    questions.weigh, questions.gap, questions.falls, questions.occupied, questions.mapped, questions.moved, questions.pointed, questions.nearest,
    questions.masked, questions.stains, questions.lower_pan, questions.joints, questions.opening, questions.meant, questions.stable,
)  # fmt: skip


def drawn_case(family: Callable[[Random, str], Case], seed: int, words: str = "") -> Case:
    """The case of a family for a seed, in the set of ``words``; where that is empty in those of the seed."""
    return family(np.random.default_rng([seed, crc32(family.__name__.encode())]), words or words_for(seed))


def family_of(name: str) -> Callable[[Random, str], Case]:
    """The family of this name.

    Raises:
        DeskhandError: ``invalid_input`` with those there are.
    """
    for family in FAMILIES:
        if family.__name__ == name:
            return family
    raise DeskhandError("invalid_input", f"there is no family {name!r}; valid: {', '.join(item.__name__ for item in FAMILIES)}.")
