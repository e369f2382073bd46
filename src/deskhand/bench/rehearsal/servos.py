"""The unit's servos on a bus of their own, with nothing but the arm behind them: for the steps before the robot's nodes run."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from contextlib import suppress

import numpy as np

from deskhand.arms.driver_config import GripperServo, ServoConfig
from deskhand.arms.emulate.bank import Emulator
from deskhand.arms.emulate.choice import make_emulator, standing
from deskhand.arms.emulate.dynamixel import DynamixelEmulator
from deskhand.arms.emulate.line import Line
from deskhand.arms.emulate.servo import Servo
from deskhand.arms.emulate.so101_box import BoxedSo101
from deskhand.arms.model import RobotModel
from deskhand.bench.rehearsal.unit import Unit
from deskhand.errors import DeskhandError
from deskhand.geometry import Array

SAMPLING = 0.05  # [s]
SLOW_HANDS = 1.0  # [s]
PWM_MODE = 16  # of the gripper's servo, in which Interbotix' software leaves it


class Servos(ABC):
    """See the module; in real time, behind a pseudo-terminal that can be pulled out and put in again.

    Attributes:
        emulator: of the bus.
        track: where the joints were (n,) [rad] since somebody last emptied it.
    """

    emulator: Emulator

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.track: list[Array] = []
        self._stop = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="watcher", daemon=True)

    def open(self) -> None:
        """The port appears; harmless when it is there."""
        if self._watcher.ident is None:
            self.emulator.__enter__()
            self._watcher.start()
        assert isinstance(self.emulator.line, Line)
        self.emulator.line.plug()

    def pull(self) -> None:
        """The port goes; the servos keep what they know, and the unit's simulation has it too."""
        assert isinstance(self.emulator.line, Line)
        self.emulator.line.unplug()

    def close(self) -> None:
        """Nothing is left."""
        self._stop.set()
        self.emulator.__exit__()

    def put(self, angles: Array) -> None:
        """Hands move the arm, which has let go, to ``angles`` (n,) [rad].

        Raises:
            DeskhandError: ``internal_error`` when a servo holds: hands would break it.
        """
        for joint, angle in zip(self.unit.truth.joints, angles, strict=True):
            self.turn(joint, float(angle))
        time.sleep(SLOW_HANDS)  # a driver believes a leap only when it has seen it twice

    @abstractmethod
    def turn(self, joint: str, angle: float) -> None:
        """Hands turn a joint that has let go to ``angle`` [rad]; raises as :meth:`put`."""

    @abstractmethod
    def angles(self) -> Array:
        """(n,) [rad] where the joints really are."""

    @abstractmethod
    def opening(self) -> float:
        """[m] that the pads really are apart."""

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLING):
            with suppress(KeyError):  # a servo that is being renamed
                self.track.append(self.angles())


class AssembledServos(Servos):
    """Those of an arm that came put together and numbered: JetArm, WidowX."""

    def __init__(self, unit: Unit, kind: str, port: str) -> None:
        super().__init__(unit)
        arm = unit.truth
        self._by_id = {number: Servo(number, time.monotonic, place) for number, place in standing(arm).items()}
        self.emulator = make_emulator(kind, self._by_id.values(), arm, link=port)
        if isinstance(self.emulator, DynamixelEmulator) and arm.driver.gripper is not None:
            for each in self.emulator.units:
                each.power_up()
            self.emulator.unit(arm.driver.gripper.id)["mode"] = PWM_MODE

    def _of(self, joint: str) -> tuple[ServoConfig, Servo]:
        config = self.unit.truth.driver.servos[joint]
        return config, self._by_id[config.id]

    def turn(self, joint: str, angle: float) -> None:
        """See Servos."""
        config, servo = self._of(joint)
        if servo.torque:
            raise DeskhandError("internal_error", f"hands were to turn {joint}, whose servo holds.")
        servo.shaft.position = config.pulse_of(angle)

    def angles(self) -> Array:
        """See Servos."""
        pairs = [self._of(joint) for joint in self.unit.truth.joints]
        return np.array([config.angle_of(servo.position()) for config, servo in pairs])

    def opening(self) -> float:
        """See Servos."""
        gripper = self._gripper()
        return gripper.width_of(self._by_id[gripper.id].position())

    def _gripper(self) -> GripperServo:
        gripper = self.unit.truth.driver.gripper
        assert gripper is not None
        return gripper


class BoxedServos(Servos):
    """Those of an SO-101 that came as a box of parts."""

    def __init__(self, unit: Unit, port: str) -> None:
        super().__init__(unit)
        self.box = BoxedSo101(RobotModel.load(unit.nominal), unit.seed, link=port)
        self.emulator = self.box.emulator

    def turn(self, joint: str, angle: float) -> None:
        """See Servos."""
        self.box.turn(joint, angle)

    def angles(self) -> Array:
        """See Servos."""
        return np.array([self.box.angle(joint) for joint in self.unit.nominal.joints])

    def opening(self) -> float:
        """See Servos."""
        return self.box.opening()

    def pull(self) -> None:
        """See Servos: the simulated servos tell what these, as they are homed now, tell."""
        super().pull()
        self.unit.found = self.box.truth()


def servos_of(unit: Unit, kind: str, port: str) -> Servos:
    """The servos of a unit, at ``port``."""
    return BoxedServos(unit, port) if kind == "feetech" else AssembledServos(unit, kind, port)
