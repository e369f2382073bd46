"""An arm of Feetech servos calibrated: settings, homing, ranges, zeros. Before it: feetech_ids.py. After it the gripper's opening: jaw_table.py.

Every value ends up in the servos (kept without power) or in the unit's file. Homing and ranges are those of lerobot, so that either can use what the other
has calibrated: the homing offset puts 2047 where the servo stands in the arm's middle pose; the limits are where the joint's stops are; an angle of 0 is in the
middle between the stops, which is how the arm was designed. A joint without stops has its 0 where the person shows it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deskhand.arms.bus.feetech_setup import FeetechSetup
from deskhand.arms.feetech_ids import GRIPPER, servo_ids
from deskhand.arms.lerobot_file import LARGEST_OFFSET, MotorCalibration
from deskhand.arms.model import RobotModel
from deskhand.arms.operator import Operator
from deskhand.errors import DeskhandError

TURN, HALF = 4096, 2047  # [ticks] one turn, and where homing puts the middle pose
FULL_TURN = (0, 4095)  # [ticks] limits of a joint without stops
SETTINGS = {"mode": 0, "return_delay": 0, "p": 16, "i": 0, "d": 32, "max_acceleration": 254, "acceleration": 254}
GRIPPER_SETTINGS = {"max_torque": 500, "protection_current": 250, "overload_torque": 25}
"""As lerobot sets them."""
MULTI_TURN = 0x10  # of Phase: the position counts on over the turns. UNCONFIRMED
LEAST, MOST = 0.7, 1.35  # of the range that the arm's description has, that a joint must have
EDGE = 12  # [ticks] from 0 or 4095: the joint may have turned over the end
JUMP = TURN // 2  # [ticks] between two readings: it has
OFF_MIDDLE = np.radians(20)  # of the middle pose from the middle of the range: more is another pose, or a stop not reached
STEADY = 6  # [ticks] by which a servo that is held still may move
TRIES = 3  # for a joint's range
POLL = 0.02  # [s] between readings
GROWN = 60  # [ticks] by which a range has grown when it is told


@dataclass(frozen=True)
class Travel:
    """What a joint was moved through by hand [ticks]; ``wrapped`` when it went over 0 or 4095."""

    low: int
    high: int
    wrapped: bool = False

    @property
    def span(self) -> int:
        """[ticks]"""
        return self.high - self.low

    @property
    def middle(self) -> float:
        """[ticks]"""
        return (self.low + self.high) / 2


class FeetechArm:
    """The servos of one arm, and the person who has its joints in hand.

    Args:
        bus: open.
        free: joints that have no stops.
    """

    def __init__(self, model: RobotModel, bus: FeetechSetup, operator: Operator, free: Sequence[str] = ("wrist_roll",)) -> None:
        self.model, self.bus, self.operator, self.free = model, bus, operator, tuple(free)
        self.ids = servo_ids(model.arm)
        self.steps = {joint: model.arm.driver.servos[joint].step for joint in model.arm.joints}

    # ------------------------------------------------------------ settings

    def settings(self) -> dict[str, int]:
        """Write what lerobot sets; each value is read back. The servos let go.

        Raises:
            DeskhandError: ``servo_fault``.
        """
        for name, number in self.ids.items():
            self.bus.set_torque([number], False)
            self.bus.put(number, {**SETTINGS, **(GRIPPER_SETTINGS if name == GRIPPER else {}), "phase": self.bus.get(number, "phase") & ~MULTI_TURN})
        return {**SETTINGS, **GRIPPER_SETTINGS}

    # ------------------------------------------------------------ homing and ranges

    def home(self) -> dict[str, int]:
        """Put 2047 where the servos stand when the person has the arm in its middle pose; the offsets [ticks].

        Raises:
            DeskhandError: ``cancelled`` without the person's yes; ``invalid_input`` when it was not held still.
        """
        if not self.operator.confirm("home.hold", "The servos will LET GO and the arm will fall. Hold it with both hands, now. Are you holding it?"):
            raise DeskhandError("cancelled", "nothing was let go.")
        self.bus.set_torque(self.ids.values(), False)
        for number in self.ids.values():
            self.bus.put(number, {"homing_offset": 0, "min_position": FULL_TURN[0], "max_position": FULL_TURN[1]})
        self.operator.act("home.pose", f"Put the arm into its middle pose and hold it still: {self.pose()}. About right is enough.")
        offsets = {name: _wrapped(round(place) - HALF) for name, place in self.places().items()}
        for name, offset in offsets.items():
            self.bus.put(self.ids[name], {"homing_offset": offset})
        for name, place in self.places().items():
            if abs(place - HALF) > STEADY:
                raise DeskhandError("invalid_input", f"{name} moved while it was homed.", retry=True, hint="Hold the arm still until this step has ended.")
        return offsets

    def pose(self) -> str:
        """The middle pose in words."""
        angles = self.model.arm.named_poses[self.model.arm.driver.reference]
        closing = self.model.tcp_pose(self.model.arm_joints(angles))[:3, 1]
        jaws = "one above the other" if abs(closing[2]) > 0.7 else "side by side"
        return f"upper arm upright, forearm level and straight ahead, gripper straight ahead with its jaws {jaws}, half open"

    def places(self) -> dict[str, float]:
        """[ticks] where the servos stand, held still.

        Raises:
            DeskhandError: ``invalid_input`` naming the joint that was not.
        """
        first = {name: self.bus.place(number) for name, number in self.ids.items()}
        self.bus.sleep(0.2)
        second = {name: self.bus.place(number) for name, number in self.ids.items()}
        for name in self.ids:
            if min(moved := abs(first[name] - second[name]), TURN - moved) > STEADY:
                raise DeskhandError("invalid_input", f"{name} moved while it was read.", retry=True, hint="Hold the arm still.")
        return second

    def ranges(self) -> dict[str, Travel]:
        """Have each joint moved from stop to stop; the stops become the servos' limits.

        Raises:
            DeskhandError: ``invalid_input`` when a range cannot be right after TRIES.
        """
        self.bus.set_torque(self.ids.values(), False)
        travels = {}
        for name, number in self.ids.items():
            if name in self.free:
                travels[name] = Travel(*FULL_TURN)
            else:
                travels[name] = self._range(name)
            self.bus.put(number, {"min_position": travels[name].low, "max_position": travels[name].high})
        return travels

    def _range(self, name: str) -> Travel:
        why = ""
        for _ in range(TRIES):
            travel = self._watched(name, f"{why}Move {name} slowly by hand to one stop, then to the other.")
            why = self.complaint(name, travel)
            if not why:
                return travel
            self.operator.say(f"    {why}")
            why += " Again. "
        raise DeskhandError("invalid_input", why.removesuffix(" Again. "), retry=True, hint="Home the arm again in its middle pose, then the ranges.")

    def _watched(self, name: str, text: str) -> Travel:
        """The travel while the person acts; told as it grows."""
        number, places, failed = self.ids[name], [round(self.bus.place(self.ids[name]))], []
        stop = threading.Event()

        def watch() -> None:
            told = 0
            try:
                while not stop.is_set():
                    places.append(self.bus.get(number, "position"))
                    if (span := max(places) - min(places)) > told + GROWN:
                        told = span
                        self.operator.say(f"    {name}: {min(places)} .. {max(places)}, {self._degrees(name, span):.0f} degrees")
                    self.bus.sleep(POLL)
            except DeskhandError as error:
                failed.append(error)

        watcher = threading.Thread(target=watch, name="range", daemon=True)
        watcher.start()
        try:
            self.operator.act(f"range.{name}", text)
        finally:
            stop.set()
            watcher.join()
        if failed:
            raise failed[0]
        return Travel(min(places), max(places), bool(np.abs(np.diff(places)).max(initial=0) > JUMP))

    def complaint(self, name: str, travel: Travel) -> str:
        """Why a range cannot be right; empty when it can."""
        if travel.wrapped or travel.low < EDGE or travel.high > TURN - 1 - EDGE:
            return f"{name} went over the end of its servo's turn (0 or 4095): it was not near the middle when it was homed."
        turned, least, most = self._degrees(name, travel.span), *(factor * self._described(name) for factor in (LEAST, MOST))
        if turned < least:
            return f"{name} was turned by {turned:.0f} degrees; from stop to stop it has about {self._described(name):.0f}."
        if turned > most:
            return f"{name} was turned by {turned:.0f} degrees; more than {most:.0f} cannot be. Does each servo have its own number?"
        if name == GRIPPER:
            return ""
        off = self._degrees(name, travel.middle - HALF)
        if abs(off) > np.degrees(OFF_MIDDLE):
            return f"the middle of {name}'s range is {off:.0f} degrees from where it was homed: a stop was not reached, or the pose was another."
        low, high = ((end - travel.middle) * self.steps[name] for end in (travel.low, travel.high))
        index = self.model.arm.joints.index(name)
        for pose, angles in self.model.arm.named_poses.items():
            if not min(low, high) <= angles[index] <= max(low, high):
                return f"{name} does not reach {np.degrees(angles[index]):.0f} degrees, which the pose {pose!r} needs; a stop was not reached."
        return ""

    def _degrees(self, name: str, ticks: float) -> float:
        return float(ticks * np.degrees(abs(self.steps.get(name, 2 * np.pi / TURN))))

    def _described(self, name: str) -> float:
        """[degrees] that the arm's description has."""
        lower, upper = self.model.limits[self.model.arm.gripper.joint if name == GRIPPER else name][:2]
        return float(np.degrees(upper - lower))

    # ------------------------------------------------------------ zeros

    def zeros(self, travels: Mapping[str, Travel]) -> dict[str, float]:
        """[ticks] of each joint at angle 0: the middle of its range, or where the person shows it."""
        free = [name for name in self.ids if name in self.free]
        shown: dict[str, float] = {}
        for name in free:
            self.operator.act(
                f"zero.{name}", f"Lay a set square or a spirit level on the gripper, turn {name} until it stands level as in the pose: {self.pose()}. Hold it."
            )
            shown[name] = self.places()[name]
            if (off := abs(self._degrees(name, shown[name] - HALF))) > np.degrees(OFF_MIDDLE):
                raise DeskhandError("invalid_input", f"{name} is {off:.0f} degrees from where it was homed.", retry=True, hint="Home the arm again.")
        return {name: shown.get(name, travels[name].middle) for name in self.model.arm.joints}

    def travels(self) -> dict[str, Travel]:
        """The limits that the servos have now."""
        return {name: Travel(self.bus.get(number, "min_position"), self.bus.get(number, "max_position")) for name, number in self.ids.items()}

    # ------------------------------------------------------------ lerobot

    def calibrations(self) -> dict[str, MotorCalibration]:
        """What the servos have now, as lerobot writes it."""
        offsets = {name: self.bus.get(number, "homing_offset") for name, number in self.ids.items()}
        return {name: MotorCalibration(self.ids[name], 0, offsets[name], travel.low, travel.high) for name, travel in self.travels().items()}

    def take(self, motors: Mapping[str, MotorCalibration]) -> dict[str, Travel]:
        """Have the servos hold a calibration of lerobot, after the person's yes where they hold another.

        Raises:
            DeskhandError: ``cancelled`` without it; ``invalid_input`` when a range cannot be right.
        """
        travels = {name: Travel(motor.range_min, motor.range_max) for name, motor in motors.items()}
        if wrong := [why for name, travel in travels.items() if name not in self.free and (why := self.complaint(name, travel))]:
            raise DeskhandError("invalid_input", " ".join(wrong), hint="Calibrate the arm without the file.")
        different = [name for name, motor in self.calibrations().items() if motor != motors[name]]
        if different:
            if not self.operator.confirm(
                "lerobot.write",
                f"The servos of {', '.join(different)} hold other values than the file: was it made with this arm? "
                "They will LET GO; hold the arm. Write the file's values?",
            ):
                raise DeskhandError("cancelled", "the servos keep their values.")
            self.bus.set_torque(self.ids.values(), False)
            for name in different:
                motor = motors[name]
                self.bus.put(motor.id, {"homing_offset": motor.homing_offset, "min_position": motor.range_min, "max_position": motor.range_max})
        return travels


def _wrapped(offset: int) -> int:
    """Into what the register can hold, by whole turns; the one place opposite is a tick off."""
    offset = (offset + TURN // 2) % TURN - TURN // 2
    return max(offset, -LARGEST_OFFSET)
