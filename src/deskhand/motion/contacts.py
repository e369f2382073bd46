"""Contacts told from the joints alone: fingers that meet something, let it slip or lose it, and an arm that pushes against something."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from deskhand.geometry import Array

Kind = Literal["touch", "slip", "lost", "released", "stuck", "free"]


@dataclass(frozen=True)
class ContactSettings:
    """When a contact is one. Chosen on simulated arms; no real servo was measured.

    Attributes:
        still: fingers that move slower stand [m/s].
        moving: fingers that close faster are on their way [m/s].
        closed: fingers that are nearer to their stop hold nothing [m].
        slip: what is held has slipped when the fingers come together by more without having opened [m].
        opened: .. and is let go when they open by more [m].
        settle: fingers that have just met something still give way for so long [s].
        load: the arm is loaded when the effort of a joint differs from what it was by more than so many of its deviations ..
        least: .. and by more than this share of the largest effort of all joints.
        lasts: a load is there for so long [s]; ``memory``: it is compared with the efforts since then [s].
        rests: a joint that turned by less while it lasted rests [rad]; ``gives``: under a load it gives way by no more [rad].
        gap: between readings that are farther apart in time [s] nobody knows what the joints did: no speed follows, and no load that lasted.
    """

    still: float = 0.004
    moving: float = 0.008
    closed: float = 0.0025
    slip: float = 0.0015
    opened: float = 0.004
    settle: float = 0.3
    load: float = 8.0
    least: float = 0.25
    lasts: float = 0.16
    memory: float = 1.0
    rests: float = 0.004
    gives: float = 0.1
    gap: float = 0.12


SETTINGS = ContactSettings()


@dataclass(frozen=True)
class Contact:
    """What happened at ``time`` [s]: ``width`` [m] between the pads; ``joint`` that is loaded, for stuck and free."""

    kind: Kind
    time: float
    width: float
    joint: str = ""


class ContactMonitor:
    """Tells contacts from joint states as they come.

    Args:
        width_min: of the closed gripper [m].
        joints: names of the arm's joints, in the order of their positions and efforts. Efforts depend on the pose, so that they count only while the arm
            stands still.
    """

    def __init__(self, width_min: float, joints: tuple[str, ...], settings: ContactSettings = SETTINGS) -> None:
        self._min, self._joints, self._set = width_min, joints, settings
        self._past: deque[tuple[float, float]] = deque()  # time, width
        self._closing = False
        self._held: tuple[float, float] | None = None  # width at which it is held, since when
        self._loads: deque[tuple[float, Array, Array]] = deque()  # time, positions, efforts
        self._rest: tuple[Array, Array] | None = None  # efforts at rest, and what counts as a load on each joint
        self._loaded = ""

    def update(self, time: float, width: float, positions: Array, efforts: Array) -> list[Contact]:
        """What a joint state says; ``efforts`` (n,) may be empty."""
        found = self._fingers(time, width)
        return found + self._arm(time, width, positions, efforts)

    def _fingers(self, time: float, width: float) -> list[Contact]:
        past = self._past
        past.append((time, width))
        while len(past) > 2 and time - past[1][0] >= 0.06:
            past.popleft()
        span = past[-1][0] - past[0][0]
        if span <= 0:
            return []
        if self._held is None and _gap([row[0] for row in past]) > self._set.gap:
            return []
        speed = (past[-1][1] - past[0][1]) / span
        if self._held is None:
            return self._not_holding(time, width, speed)
        return self._holding(time, width)

    def _not_holding(self, time: float, width: float, speed: float) -> list[Contact]:
        if speed < -self._set.moving:
            self._closing = True
        elif speed > self._set.moving:
            self._closing = False
        elif self._closing and abs(speed) < self._set.still:
            self._closing = False
            if width > self._min + self._set.closed:
                self._held = width, time
                return [Contact("touch", time, width)]
        return []

    def _holding(self, time: float, width: float) -> list[Contact]:
        assert self._held is not None
        held, since = self._held
        if width < self._min + self._set.closed:
            self._held = None
            return [Contact("lost", time, width)]
        if width > held + self._set.opened:
            self._held, self._closing = None, False
            return [Contact("released", time, width)]
        if time - since < self._set.settle:
            self._held = min(held, width), since
        elif width < held - self._set.slip:
            self._held = width, time
            return [Contact("slip", time, width)]
        return []

    def _arm(self, time: float, width: float, positions: Array, efforts: Array) -> list[Contact]:
        """A load on the arm while it rests: somebody leans on it, or it leans on something."""
        if len(efforts) != len(self._joints) or not np.isfinite(efforts).all():
            return []
        loads, settings = self._loads, self._set
        loads.append((time, positions, efforts))
        while time - loads[0][0] > settings.memory:
            loads.popleft()
        recent = [row for row in loads if row[0] > time - settings.lasts]
        past = [row for row in loads if row[0] <= time - settings.lasts]
        if not past or time - loads[0][0] < 0.8 * settings.memory or _gap([past[-1][0], *(row[0] for row in recent)]) > settings.gap:
            return []
        if np.ptp([row[1] for row in recent], axis=0).max() > settings.rests:
            self._rest = None if np.abs(positions - past[0][1]).max() > settings.gives else self._rest
            return self._ended(time, width) if self._rest is None else []
        if self._rest is None or not self._loaded:
            if np.ptp([row[1] for row in past], axis=0).max() > settings.rests:
                return []
            before = np.array([row[2] for row in past])
            self._rest = before.mean(axis=0), np.maximum(settings.load * before.std(axis=0), settings.least * np.abs(before).max())
        mean, scale = self._rest
        steps = np.array([row[2] for row in recent]) - mean
        share = np.abs(steps).min(axis=0) * (np.ptp(np.sign(steps), axis=0) == 0) / scale  # as long as it lasts, and to one side
        joint = int(np.argmax(share))
        if self._loaded:
            left = np.abs(steps.mean(axis=0) / scale)
            return self._ended(time, width) if left[self._joints.index(self._loaded)] < 1.0 else []
        if share[joint] <= 1.0:
            return []
        self._loaded = self._joints[joint]
        return [Contact("stuck", time, width, self._loaded)]

    def _ended(self, time: float, width: float) -> list[Contact]:
        joint, self._loaded = self._loaded, ""
        self._loads.clear()
        return [Contact("free", time, width, joint)] if joint else []


def _gap(times: list[float]) -> float:
    """The longest time [s] between two readings."""
    return max((after - before for before, after in pairwise(times)), default=0.0)
