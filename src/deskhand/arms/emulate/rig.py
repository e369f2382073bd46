"""A driver on an emulated bus, in a time of their own: a minute on the bus takes a moment, and is the same every time."""

from __future__ import annotations

from typing import Any

import numpy as np

from deskhand.arms.bus.lx16a import LxBus
from deskhand.arms.bus.rrc import RrcBus
from deskhand.arms.driver import ArmDriver
from deskhand.arms.emulate.bank import Emulator
from deskhand.arms.emulate.faults import WireFaults
from deskhand.arms.emulate.loop import LoopClock, LoopPort
from deskhand.arms.emulate.lx16a import LxEmulator
from deskhand.arms.emulate.rrc import RrcEmulator
from deskhand.arms.emulate.servo import Servo
from deskhand.arms.follower import Follower
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array

KINDS = ("hiwonder_rrc", "lx16a")
ROUND = 0.02  # [s] that the driver's thread takes at least


class Rig:
    """Driver, emulator and their clock; the arm stands at its pose home, its gripper open.

    Attributes:
        port: the loop between them; ``port.faults`` damages what is sent.
    """

    def __init__(self, model: RobotModel, kind: str = "hiwonder_rrc", faults: WireFaults | None = None, hold: bool = True, seed: int = 0) -> None:
        self.clock = LoopClock()
        self.port = LoopPort(self.clock, faults, 1_000_000 if kind == "hiwonder_rrc" else 115_200)
        arm, gripper = model.arm, model.arm.driver.gripper
        if gripper is None or kind not in KINDS:
            raise DeskhandError("config_error", f"there is no emulated bus {kind!r} for {arm.name}; there is: {', '.join(KINDS)} (jetarm).")
        self.servos = [arm.driver.servos[joint] for joint in arm.joints]
        positions = {servo.id: servo.pulse_of(angle) for servo, angle in zip(self.servos, arm.named_poses["home"], strict=True)}
        positions[gripper.id] = gripper.ticks_of(arm.gripper.width_max)
        servos = [Servo(number, self.clock, position) for number, position in positions.items()]
        options: dict[str, Any] = {"loop": self.port, "sleep": self.clock.sleep, "clock": self.clock, "seed": seed}
        self.emulator: Emulator = RrcEmulator(servos, **options) if kind == "hiwonder_rrc" else LxEmulator(servos, **options)
        self.bus = RrcBus(self.port, clock=self.clock) if kind == "hiwonder_rrc" else LxBus(self.port, clock=self.clock)
        self.driver = ArmDriver(model, self.bus, self.clock, hold=hold)

    def step(self) -> bool:
        """One round of the driver, at least as long as its thread makes it."""
        began = self.clock()
        there = self.driver.step()
        self.clock.sleep(ROUND - (self.clock() - began))
        return there

    def run(self, seconds: float) -> None:
        """Let it work."""
        end = self.clock() + seconds
        while self.clock() < end:
            self.step()

    def finish(self, follower: Follower, limit: float = 20.0) -> Follower:
        """Until a trajectory has ended."""
        end = self.clock() + limit
        while follower.active and self.clock() < end:
            self.step()
        return follower

    def true_angles(self) -> Array:
        """(n,) [rad] where the servos really stand."""
        return np.array([servo.angle_of(self.emulator.servos[servo.id].position()) for servo in self.servos])
