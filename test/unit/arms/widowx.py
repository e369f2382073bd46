"""A WidowX 250s of emulated Dynamixel servos and our driver on it, in a time of their own: what the tests of it share."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("dynamixel_sdk")

from deskhand.arms.bus.dynamixel import DynamixelBus
from deskhand.arms.emulate.dynamixel import TIME_BASED, DynamixelEmulator, DynamixelServo
from deskhand.arms.emulate.rig import Rig
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.types import Trajectory

MODEL = RobotModel.load("wx250s")
ARM = MODEL.arm
HOME = np.array(ARM.named_poses["home"])
OUT = np.array([0.6, 0.1, 0.5, 0.3, 0.9, -0.7])
NUMBERS = range(1, 10)


class Widow(Rig):
    """As it stands after the supply was switched on: nothing holds. ``timed``: profile velocities are times, as the vendor's software leaves its arms."""

    emulator: DynamixelEmulator
    bus: DynamixelBus

    def __init__(self, timed: bool = True, hold: bool = True) -> None:
        super().__init__(MODEL, "dynamixel", hold=hold)
        for number in NUMBERS:
            self.unit(number).power_up()
            self.unit(number)["drive_mode"] = self.unit(number)["drive_mode"] & ~TIME_BASED | (TIME_BASED if timed else 0)

    def unit(self, number: int) -> DynamixelServo:
        return self.emulator.unit(number)


def started(timed: bool = True) -> Widow:
    """With the arm taken."""
    arm = Widow(timed)
    assert arm.step(), arm.driver.failure
    return arm


def ramp(start: Array, goal: Array, duration: float) -> Trajectory:
    """From rest to rest in ``duration`` [s], by a cosine."""
    times = np.linspace(0, duration, 41)
    share = (1 - np.cos(np.pi * times / duration)) / 2
    speed = np.pi / duration * np.sin(np.pi * times / duration) / 2
    way = goal - start
    return Trajectory(ARM.joints, times, start + share[:, None] * way, speed[:, None] * way, np.zeros((0, len(way))))
