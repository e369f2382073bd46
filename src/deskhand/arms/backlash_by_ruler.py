"""Measures the play between the encoders of an arm's servos and its links (``backlash``), by a person with a ruler while the arm holds.

No encoder sees this play: the link is pushed to and fro by hand, and the ruler says how far a point of it goes. What the encoder sees meanwhile is no such
play: a servo that yields, and gears before an encoder that sits behind them. The driver makes up for that by itself, so it is taken off.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import numpy as np

from deskhand.arms.driver import ArmDriver
from deskhand.arms.driver_config import MOST_BACKLASH
from deskhand.arms.model import RobotModel
from deskhand.arms.operator import Operator
from deskhand.errors import DeskhandError
from deskhand.geometry import Array

READ = 0.0005  # [m] by which a ruler that is read at both ends of the way is wrong
SHORT = 0.06  # [m] a shorter lever is lengthened with a stick
STICK = 0.10  # [m] from the axis, on a stick
LEAST_LEVER, MOST_LEVER = 0.02, 1.0  # [m] from the axis, of the point that was watched
OTHERS = 0.1  # of the lever: a point that a joint in between moves by more, in the same direction, shows that joint's play too
RESTS = 0.6  # [s] of readings of the arm at rest, before it is pushed
PERIOD = 0.03  # [s] between two readings
WINDOW = 5  # readings whose median is taken: the last bit of an encoder flickers


@dataclass(frozen=True)
class Lever:
    """The point to watch while a joint's link is pushed: ``length`` [m] from the joint's axis; ``where`` in words."""

    length: float
    where: str


@dataclass(frozen=True)
class MeasuredPlay:
    """Of one joint, all [rad]: ``whole`` is what the ruler showed; ``seen`` of it the encoder saw; ``uncertain`` is what the ruler may be wrong by."""

    whole: float
    seen: float
    uncertain: float

    @property
    def backlash(self) -> float:
        """What belongs into the unit's file [rad]; 0 where the ruler cannot tell it from none."""
        unseen = self.whole - self.seen
        return unseen if unseen > self.uncertain else 0.0


def lever_of(model: RobotModel, angles: Array, index: int) -> Lever:
    """The best point to watch for joint ``index``, the arm standing at ``angles`` (n,) [rad].

    It is the farthest from the joint's axis of those places of the arm that no joint in between moves the same way.
    """
    frames = model.forward(model.arm_joints(angles))
    chain = [model.joints[name] for name in model.arm.joints]
    axes = [frames[joint.child][:3, :3] @ joint.axis for joint in chain]
    origins = [frames[joint.child][:3, 3] for joint in chain]
    best = Lever(STICK, "on a stick that is taped or clamped across the part that it turns, at a right angle to the axis")
    longest = SHORT
    for until in range(index + 1, len(chain) + 1):
        point = origins[until] if until < len(chain) else frames[model.arm.tcp][:3, 3]
        way = np.cross(axes[index], point - origins[index])
        length = float(np.linalg.norm(way))
        if length <= longest:
            continue
        shifts = [abs(float(np.cross(axes[other], point - origins[other]) @ way)) / length for other in range(index + 1, until)]
        if max(shifts, default=0.0) <= OTHERS * length:
            longest = length
            best = Lever(length, "at the finger tips" if until == len(chain) else f"at the axis of {chain[until].name}")
    return best


class PlayByRuler:
    """Asks for the play of each joint of an arm that its ``driver`` holds; ``wait`` lets seconds pass."""

    def __init__(self, driver: ArmDriver, operator: Operator, wait: Callable[[float], None] = time.sleep) -> None:
        self._driver, self._arm, self._operator, self._wait = driver, driver.arm, operator, wait

    def run(self) -> dict[str, MeasuredPlay]:
        """By joint.

        Asks ``play.hold``, and for each joint ``play.at.<joint>`` and ``play.way.<joint>`` [mm]. Nothing moves but by the person's finger.

        Raises:
            DeskhandError: ``cancelled`` without the person's yes; ``invalid_input`` for what no play can be.
        """
        if not self._operator.confirm(
            "play.hold",
            "The arm HOLDS, and stays where it is. One link after the other is pushed to and fro with one finger, gently: as far as it goes easily, not "
            "until the servo gives way. A ruler stands beside it. Where a link hangs by its weight, lift it to the other side of its play. Ready?",
        ):
            raise DeskhandError("cancelled", "the play was not measured.", hint="It can be left out: the same command asks again.")
        return {joint: self._joint(index) for index, joint in enumerate(self._arm.joints)}

    def _joint(self, index: int) -> MeasuredPlay:
        joint = self._arm.joints[index]
        angles = np.asarray(self._driver.joint_state().of(self._arm.joints), dtype=float)
        lever = lever_of(self._driver.model, angles, index)
        rests: list[float] = []
        with self._watched(index, rests):
            self._wait(RESTS)
        told = f"{joint}: watch a point {lever.where}. How far is it from the axis of {joint} [mm]"
        length = self._operator.number(f"play.at.{joint}", told, round(1000 * lever.length)) / 1000
        if not LEAST_LEVER <= length <= MOST_LEVER:
            raise DeskhandError("invalid_input", f"{1000 * length:.0f} mm from the axis cannot be.", retry=True, hint="Millimetres, please.")
        pushed: list[float] = []
        with self._watched(index, pushed):
            way = self._operator.number(f"play.way.{joint}", "Push it to and fro. How far does that point go, from one side to the other [mm]", None) / 1000
        whole = way / length
        if not 0 <= whole <= np.radians(MOST_BACKLASH):
            raise DeskhandError(
                "invalid_input",
                f"{1000 * way:.1f} mm at {1000 * length:.0f} mm would be {np.degrees(whole):.1f} degrees of play; 0 to {MOST_BACKLASH:g} can be.",
                hint=f"Millimetres? If {joint} really plays so much, a screw of its horn is loose or its servo is broken: tighten it, and run again.",
            )
        return MeasuredPlay(whole, min(whole, max(0.0, travel(pushed) - travel(rests))), READ / length)

    @contextmanager
    def _watched(self, index: int, angles: list[float]) -> Iterator[None]:
        """What the encoder of joint ``index`` reads until the block ends goes to ``angles`` [rad]."""
        over = threading.Event()

        def watch() -> None:
            while not over.is_set():
                with suppress(DeskhandError):  # the arm is away for a moment
                    angles.append(float(self._driver.joint_state().of(self._arm.joints)[index]))
                over.wait(PERIOD)

        thread = threading.Thread(target=watch, name="play", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def travel(angles: list[float]) -> float:
    """How far [rad] an encoder went between its extremes, single readings that flicker apart."""
    if len(angles) < WINDOW:
        return float(np.ptp(angles)) if angles else 0.0
    return float(np.ptp(np.median(np.lib.stride_tricks.sliding_window_view(np.asarray(angles), WINDOW), axis=1)))
