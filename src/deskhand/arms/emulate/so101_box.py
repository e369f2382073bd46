"""An SO-101 as it comes out of its box, emulated, and the person who puts it together: all servos are number 1, their horns sit anyhow.

The person answers by the questions' keys and does to the emulated shafts what hands would do. What the servos really are is known here, so that what a
calibration finds can be held against it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deskhand.arms.bus.feetech import BAUDS
from deskhand.arms.emulate.feetech import FeetechEmulator, FeetechServo
from deskhand.arms.emulate.registers import TURN
from deskhand.arms.emulate.servo import Servo
from deskhand.arms.feetech_ids import GRIPPER, servo_ids
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError

BY_EYE = np.radians(4.0)  # by which a person misses a pose
BY_SQUARE = np.radians(0.15)  # with a set square
READ = 0.00025  # [m] by which a person misreads a caliper
BEYOND = np.radians(1.0)  # by which the stops lie beyond the description's limits, on both sides
SHARE = 6  # pieces of a joint's travel by hand
UNSEEN = 5.0  # [s] without a reading: nobody watches


class BoxedSo101:
    """The servos.

    Args:
        options: of the emulator: ``loop``, ``clock``, ``sleep``, ``link``.

    Attributes:
        emulator: to be entered where it has no loop.
        units: servos by joint, the gripper's last, whatever number they have.
    """

    def __init__(self, model: RobotModel, seed: int = 0, clock: Callable[[], float] = time.monotonic, **options: Any) -> None:
        self.model = model
        self._random = np.random.default_rng(seed)
        self.names = tuple(servo_ids(model.arm))
        self._steps = {joint: model.arm.driver.servos[joint].step for joint in model.arm.joints}
        self._horns = {name: float(self._random.uniform(0, TURN)) for name in self.names}
        self.units: dict[str, FeetechServo] = {}
        for name in self.names:
            low, high = self.stops(name)
            servo = Servo(1, clock, self.shaft(name, (low + high) / 2))
            servo.set_torque(False)
            servo.shaft.stop_low, servo.shaft.stop_high = sorted((self.shaft(name, low), self.shaft(name, high)))
            # one of them was used at another speed before
            self.units[name] = FeetechServo(servo, {"baud": BAUDS.index(500_000)} if name == self.names[1] else {})
        self.emulator = FeetechEmulator(self.units.values(), clock=clock, **options)

    def stops(self, name: str) -> tuple[float, float]:
        """[rad] where the joint's stops are."""
        lower, upper = self.model.limits[self.model.arm.gripper.joint if name == GRIPPER else name][:2]
        return lower - (0.0 if name == GRIPPER else BEYOND), upper + BEYOND

    def shaft(self, name: str, angle: float) -> float:
        """[ticks] of the encoder, before any offset, at an angle [rad]."""
        return self._horns[name] + float(angle) / self._steps.get(name, 2 * np.pi / TURN)

    def angle(self, name: str) -> float:
        """[rad] where the joint really is; the gripper's: its jaw."""
        return (self.units[name].servo.position() - self._horns[name]) * self._steps.get(name, 2 * np.pi / TURN)

    def opening(self) -> float:
        """[m] really between the pads."""
        return self.model.arm.gripper.width_of(self.angle(GRIPPER))

    def turn(self, name: str, angle: float) -> None:
        """Put a joint to an angle [rad] by hand; a servo with torque does not let itself be turned."""
        servo = self.units[name].servo
        if servo.torque:
            raise DeskhandError("internal_error", f"{name} was turned by hand while it held.")
        low, high = self.stops(name)
        with self.emulator.lock:
            servo.shaft.position = self.shaft(name, min(max(angle, low), high))

    def connect(self, names: tuple[str, ...]) -> None:
        """Only these servos are on the cable; whoever was not comes up anew."""
        for name, unit in self.units.items():
            fresh, unit.servo.answers = name in names and not unit.here, name in names
            if fresh:
                unit.power_up()
        self.emulator.renamed()

    def swing(self, name: str, low: float, high: float) -> None:
        """By hand to ``low`` and ``high`` [rad], as slowly as somebody reads it."""
        for angle in np.concatenate([np.linspace(self.angle(name), low, SHARE), np.linspace(low, high, 2 * SHARE)]):
            self.turn(name, float(angle))
            seen, end = self.emulator.served, time.monotonic() + UNSEEN
            while self.emulator.served < seen + 2 and time.monotonic() < end and threading.active_count() > 1:
                time.sleep(0.0002)

    def truth(self) -> dict[str, Any]:
        """What the arm's file would have to say of the servos as they are set now; ``driver`` section."""
        servos = {}
        for name in self.model.arm.joints:
            zero = (self.shaft(name, 0.0) - self.units[name]["homing_offset"]) % TURN
            servos[name] = {"zero": round(zero, 2)}
        jaw = self.units[GRIPPER]
        table = []
        for angle in np.linspace(*self.stops(GRIPPER), 25):
            ticks = (self.shaft(GRIPPER, float(angle)) - jaw["homing_offset"]) % TURN
            table.append([round(float(ticks), 2), round(self.model.arm.gripper.width_of(float(angle)), 5)])
        return {"servos": servos, "gripper": {"table": table}}

    def by_eye(self, most: float = BY_EYE) -> float:
        """[rad] by which a person misses."""
        return float(self._random.uniform(-most, most))

    def misread(self) -> float:
        """[m] by which a person misreads."""
        return float(self._random.uniform(-READ, READ))


class Owner:
    """Answers the questions of the arm's own steps; see deskhand.bringup.first_day.base.Operator.

    Attributes:
        told, asked: what was said, and the keys of what was asked.
        does: actions by key, in place of the usual ones; for what goes wrong.
    """

    def __init__(self, arm: BoxedSo101, does: Mapping[str, Callable[[], None]] | None = None, says: Mapping[str, bool] | None = None) -> None:
        self.arm, self.does, self.says = arm, dict(does or {}), dict(says or {})
        self.told: list[str] = []
        self.asked: list[str] = []

    def say(self, text: str) -> None:
        """See Operator."""
        self.told.append(text)

    def knows(self, key: str) -> bool:
        """Whether a question is for this one."""
        return key.split(".", maxsplit=1)[0] in ("port", "ids", "settings", "home", "range", "zero", "gripper", "check", "lerobot")

    def act(self, key: str, text: str) -> None:
        """See Operator."""
        self.asked.append(key)
        if key in self.does:
            self.does[key]()
            return
        step, _, name = key.partition(".")
        if step == "ids":
            self.arm.connect(self.arm.names if name == "all" else (name,))
        elif key == "home.pose":
            self.pose()
        elif step == "range":
            low, high = self.arm.stops(name)
            self.arm.swing(name, low, high)
        elif key == "check.pose":
            self.pose()
            self.arm.turn(GRIPPER, self.arm.stops(GRIPPER)[0])
        elif step == "zero":
            self.arm.turn(name, self.arm.by_eye(BY_SQUARE))
        elif step != "port":
            raise DeskhandError("internal_error", f"nobody knows what to do about {key!r}: {text}")

    def pose(self) -> None:
        """Put the arm into its middle pose, by eye; the jaw half open."""
        angles = dict(zip(self.arm.model.arm.joints, self.arm.model.arm.named_poses[self.arm.model.arm.driver.reference], strict=True))
        for name in self.arm.names:
            self.arm.turn(name, angles.get(name, sum(self.arm.stops(name)) / 2) + self.arm.by_eye())

    def confirm(self, key: str, _text: str) -> bool:
        """See Operator."""
        self.asked.append(key)
        return self.says.get(key, True)

    def number(self, key: str, text: str, default: float | None) -> float:
        """See Operator."""
        self.asked.append(key)
        if key.startswith("gripper.gap"):
            return round(1000 * (self.arm.opening() + self.arm.misread()), 1)
        if default is None:
            raise DeskhandError("internal_error", f"nobody knows {key!r}: {text}")
        return default

    def choose(self, key: str, _text: str, _options: tuple[str, ...], default: str) -> str:
        """See Operator."""
        self.asked.append(key)
        return default
