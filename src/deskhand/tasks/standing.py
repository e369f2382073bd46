"""Does a structure stand? The blocks of the ground truth against the plan, wherever on the desk and however turned it was built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from deskhand.geometry import Array
from deskhand.planning.structures import Slot
from deskhand.sim.spec import Truth, TruthObject
from deskhand.tasks.placement import AT_REST

TOLERANCE = 0.010
"""Between the centre of a block and its place in the structure [m]."""
LEVEL = np.deg2rad(8.0)
"""A block that leans by more than this does not stand [rad]."""


@dataclass(frozen=True)
class Fit:
    """``blocks``: name of the block in each slot, empty where none is; ``off`` the largest distance [m] of those that are right."""

    blocks: tuple[str, ...]
    off: float

    @property
    def right(self) -> int:
        """How many slots are filled as they should be."""
        return sum(bool(name) for name in self.blocks)


def heights(slots: Sequence[Slot], edge: float, plank_height: float) -> list[float]:
    """Height [m] of the centre of each slot's block over the desk."""
    tops: list[float] = []
    centres: list[float] = []
    for slot in slots:
        own = plank_height if slot.shape == "plank" else edge
        base = max((tops[below] for below in slot.on), default=0.0)
        centres.append(base + own / 2)
        tops.append(base + own)
    return centres


def best_fit(slots: Sequence[Slot], centres: Sequence[float], truth: Truth, shapes: Mapping[str, str], colors: Mapping[str, str], names: Sequence[str]) -> Fit:
    """The placement of the plan on the desk that most blocks agree with.

    Args:
        slots: the plan.
        centres: height of each slot's centre [m].
        truth: where everything is.
        shapes, colors: of the blocks, by name.
        names: blocks that may be used.
    """
    blocks = [truth.get(name) for name in names if _stands(truth.get(name)) and name not in truth.in_hand]
    wanted = np.array([[slot.x, slot.y, z] for slot, z in zip(slots, centres, strict=True)])
    fits = np.zeros((len(slots), len(blocks)), bool)
    for i, slot in enumerate(slots):
        for j, block in enumerate(blocks):
            right_kind = shapes[block.name] == slot.shape and slot.color in ("", colors[block.name])
            fits[i, j] = right_kind and abs(block.pose[2, 3] - wanted[i, 2]) < TOLERANCE
    places = np.array([block.pose[:3, 3] for block in blocks]).reshape(-1, 3)
    best = Fit(("",) * len(slots), 0.0)
    for turn, shift in _hypotheses(slots, fits, wanted, places, blocks):
        fit = _count(slots, fits, wanted @ turn.T + shift, places, blocks)
        if (fit.right, -fit.off) > (best.right, -best.off):
            best = fit
    return best


def _stands(block: TruthObject) -> bool:
    """At rest, one side level."""
    return block.velocity < AT_REST and float(np.abs(block.pose[2, :3]).max()) > np.cos(LEVEL)


def _hypotheses(slots: Sequence[Slot], fits: Array, wanted: Array, places: Array, blocks: Sequence[TruthObject]) -> list[tuple[Array, Array]]:
    """(rotation about z, shift) that bring two slots, or one where all lie over each other, to blocks that fit them; then the best fit of what agrees."""
    found = []
    pairs = [(a, b) for a, b in permutations(range(len(slots)), 2) if np.hypot(*(wanted[a] - wanted[b])[:2]) > 0.01]
    for a, b in pairs:
        for i in np.nonzero(fits[a])[0]:
            for j in np.nonzero(fits[b])[0]:
                seen, want = (places[j] - places[i])[:2], (wanted[b] - wanted[a])[:2]
                if i == j or abs(np.hypot(*seen) - np.hypot(*want)) > 2 * TOLERANCE:
                    continue
                turn = _turn(float(np.arctan2(seen[1], seen[0]) - np.arctan2(want[1], want[0])))
                middle = (places[i] + places[j]) / 2 - turn @ ((wanted[a] + wanted[b]) / 2)
                found.append((turn, middle * [1, 1, 0]))
    if not pairs:
        found = [(np.eye(3), (places[j] - wanted[i]) * [1, 1, 0]) for i in range(len(slots)) for j in np.nonzero(fits[i])[0]]
    refined = []
    for turn, shift in found:
        fit = _count(slots, fits, wanted @ turn.T + shift, places, blocks)
        chosen = [(i, next(j for j, block in enumerate(blocks) if block.name == name)) for i, name in enumerate(fit.blocks) if name]
        if chosen:
            refined.append(_aligned(wanted[[i for i, _ in chosen]], places[[j for _, j in chosen]], turn))
    return [*found, *refined]


def _turn(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def _aligned(wanted: Array, seen: Array, turn: Array) -> tuple[Array, Array]:
    """Rotation about z and shift of least squares from ``wanted`` to ``seen`` (N, 3); ``turn`` where all lie over each other."""
    a, b = wanted[:, :2] - wanted[:, :2].mean(axis=0), seen[:, :2] - seen[:, :2].mean(axis=0)
    if np.abs(a).max() > 0.005:
        turn = _turn(float(np.arctan2((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum(), (a * b).sum())))
    shift = seen.mean(axis=0) - turn @ wanted.mean(axis=0)
    return turn, shift * [1, 1, 0]


def _count(slots: Sequence[Slot], fits: Array, placed: Array, places: Array, blocks: Sequence[TruthObject]) -> Fit:
    """Each slot with the nearest free block that fits it; one on others counts only when those are right."""
    names = [""] * len(slots)
    off, used = 0.0, set()
    for i, slot in enumerate(slots):
        if any(not names[below] for below in slot.on):
            continue
        near = [(float(np.linalg.norm(places[j] - placed[i])), int(j)) for j in np.nonzero(fits[i])[0] if j not in used]
        near = [item for item in near if item[0] <= TOLERANCE]
        if near:
            distance, j = min(near)
            used.add(j)
            names[i] = blocks[j].name
            off = max(off, distance)
    return Fit(tuple(names), off)
