"""Actions of a policy made fit to be tried: numbers that are none, places out of bounds and steps that are too long are mended or refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array

TURN = 2 * math.pi
MOST = 1000  # actions that come out


@dataclass(frozen=True)
class ActionLimits:
    """Corners (3,) of the box for positions [m], longest step [m] and turn [rad] from action to action."""

    low: Array
    high: Array
    step: float
    turn: float


@dataclass(frozen=True)
class Mended:
    """What was wrong with action ``index`` and what was done about it."""

    index: int
    problem: str


def sanitized(actions: Sequence[Sequence[float]], start: Array, limits: ActionLimits) -> tuple[list[list[float]], list[Mended]]:
    """Actions (x, y, z, roll, pitch, yaw, gripper; [m], [rad], 0 closed to 1 open), each finite, within bounds and no further from the last than a step.

    ``start`` (6,): where the first step begins. Numbers that are none take the value before; longer steps are cut into equal ones; what repeats is left out.

    Raises:
        DeskhandError: ``limit_exceeded`` when more than :data:`MOST` come out.
    """
    result: list[list[float]] = []
    notes: list[Mended] = []
    last = np.concatenate([start, [math.nan]])
    for index, action in enumerate(actions):
        wanted = np.array(action, float)
        bad = ~np.isfinite(wanted)
        if bad.any():
            notes.append(Mended(index, f"{', '.join(name for name, wrong in zip(NAMES, bad, strict=True) if wrong)} is no number: kept as before"))
            wanted[bad] = last[bad]
        if not np.isfinite(wanted[6]):
            wanted[6] = 1.0
        clipped = np.clip(wanted[:3], limits.low, limits.high)
        if (clipped != wanted[:3]).any():
            notes.append(Mended(index, f"the position {np.round(wanted[:3], 4).tolist()} is out of bounds: cut to {np.round(clipped, 4).tolist()}"))
        if not 0 <= wanted[6] <= 1:
            notes.append(Mended(index, f"the gripper {wanted[6]:g} is not within 0 to 1: cut"))
        wanted[:3], wanted[6] = clipped, float(np.clip(wanted[6], 0, 1))
        wanted[3:6] = last[3:6] + (wanted[3:6] - last[3:6] + math.pi) % TURN - math.pi  # the short way round
        parts = _parts(last, wanted, limits)
        if len(result) + parts > MOST:
            raise DeskhandError(
                "limit_exceeded", f"they become more than {MOST} actions, at action {index}.", hint="Allow longer steps, or give fewer actions."
            )
        if parts > 1:
            notes.append(Mended(index, f"the step is too long: cut into {parts}"))
        if result and np.allclose(wanted, last, atol=1e-9):
            notes.append(Mended(index, "the same as the action before: left out"))
            continue
        for part in range(1, parts + 1):
            step = last[:6] + (wanted[:6] - last[:6]) * part / parts
            result.append([*map(float, step), float(wanted[6] if part == parts or not np.isfinite(last[6]) else last[6])])
        last = wanted
    return result, notes


NAMES = ("x", "y", "z", "roll", "pitch", "yaw", "gripper")


def _parts(last: Array, wanted: Array, limits: ActionLimits) -> int:
    far = float(np.linalg.norm(wanted[:3] - last[:3])) / limits.step
    turned = float(np.abs(wanted[3:6] - last[3:6]).max()) / limits.turn
    return max(1, math.ceil(max(far, turned) - 1e-9))
