"""A WidowX 250s of emulated Dynamixel servos, told for good what the vendor tells its arms, and our driver on it, in a time of their own."""

from __future__ import annotations

import pytest

pytest.importorskip("dynamixel_sdk")

import numpy as np

from deskhand.arms.bus.dynamixel import DynamixelBus
from deskhand.arms.config import load_arm
from deskhand.arms.driver import ArmDriver
from deskhand.arms.emulate.dynamixel import DynamixelEmulator, DynamixelServo
from deskhand.arms.emulate.faults import WireFaults
from deskhand.arms.emulate.loop import LoopClock, LoopPort
from deskhand.arms.emulate.servo import Servo
from deskhand.arms.follower import Follower
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.types import Trajectory

ARM = load_arm("wx250s")
MODEL = RobotModel.load(ARM)
HOME = np.array(ARM.named_poses["home"])
OUT = np.array([0.6, 0.1, 0.5, 0.3, 0.9, -0.7])
ROUND = 0.02  # [s]
XL430 = 1060
VENDOR = {  # id: drive mode, secondary id, least and greatest position, as the vendor's wx250s.yaml has them; model
    1: (0, 255, 0, 4095, 1020),
    2: (0, 255, 819, 3345, 1020),
    3: (1, 2, 819, 3345, 1020),
    4: (0, 255, 648, 3094, 1020),
    5: (1, 4, 648, 3094, 1020),
    6: (0, 255, 0, 4095, 1020),
    7: (1, 255, 910, 3447, 1020),
    8: (0, 255, 0, 4095, XL430),
    9: (0, 255, 0, 4095, XL430),
}
TIMED = 4


class Widow:
    """Driver, emulator and their clock; the arm stands at its pose home, its gripper open, all torque off.

    Args:
        timed: the profile velocity is a time, as the vendor's modes.yaml sets it.
    """

    def __init__(self, timed: bool = False, hold: bool = True, faults: WireFaults | None = None) -> None:
        self.clock = LoopClock()
        self.port = LoopPort(self.clock, faults)
        self.joints = [ARM.driver.servos[joint] for joint in ARM.joints]
        ticks = {servo.id: round(servo.pulse_of(angle)) for servo, angle in zip(self.joints, HOME, strict=True)}
        ticks |= {3: ticks[2], 5: ticks[4], 9: round(ARM.driver.gripper.ticks_of(ARM.gripper.width_max))}
        self.units = {}
        for number, (drive, secondary, low, high, model) in VENDOR.items():
            servo = Servo(number, self.clock, encoder(ticks[number], bool(drive & 1)))
            servo.torque, servo.supply = False, 12.0
            settings = {"drive_mode": drive | (TIMED if timed else 0), "secondary_id": secondary, "min_position": low, "max_position": high}
            self.units[number] = DynamixelServo(servo, {**settings, "model": model, "velocity_limit": 131, "return_delay": 0})
        self.emulator = DynamixelEmulator(self.units.values(), loop=self.port, sleep=self.clock.sleep, clock=self.clock)
        self.bus = DynamixelBus(self.port, clock=self.clock, layout=ARM.driver.dynamixel)
        self.driver = ArmDriver(MODEL, self.bus, self.clock, hold=hold)

    def step(self) -> bool:
        began = self.clock()
        there = self.driver.step()
        self.clock.sleep(ROUND - (self.clock() - began))
        return there

    def run(self, seconds: float) -> None:
        end = self.clock() + seconds
        while self.clock() < end:
            self.step()

    def finish(self, follower: Follower, limit: float = 20.0) -> Follower:
        end = self.clock() + limit
        while follower.active and self.clock() < end:
            self.step()
        return follower

    def stands(self, number: int) -> float:
        """[ticks] where a servo really stands, as it counts."""
        position = self.units[number].servo.position()
        return 4096 - position if VENDOR[number][0] & 1 else position

    def true_angles(self) -> Array:
        return np.array([servo.angle_of(self.stands(servo.id)) for servo in self.joints])


def encoder(ticks: float, turned: bool) -> float:
    """Position of the shaft for what the servo says."""
    return 4096 - ticks if turned else ticks


def ramp(start: Array, goal: Array, duration: float) -> Trajectory:
    """From rest to rest, straight."""
    times = np.linspace(0, duration, 25)
    share = (1 - np.cos(np.pi * times / duration)) / 2
    return Trajectory(ARM.joints, times, start + share[:, None] * (goal - start))


def started(timed: bool = False) -> Widow:
    arm = Widow(timed)
    arm.run(0.5)
    assert arm.driver.status().connected, arm.driver.failure
    return arm
