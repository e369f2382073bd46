"""A driver on an emulated bus, in a time of their own: a minute on the bus takes a moment, and is the same every time."""

from __future__ import annotations

import numpy as np

from deskhand.arms.bus.base import ServoBus
from deskhand.arms.bus.choice import make_bus
from deskhand.arms.driver import ArmDriver
from deskhand.arms.emulate.bank import make_servos
from deskhand.arms.emulate.choice import BAUDS, check_emulated, make_emulator, standing
from deskhand.arms.emulate.faults import WireFaults
from deskhand.arms.emulate.loop import LoopClock, LoopPort
from deskhand.arms.follower import Follower
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array

ROUND = 0.02  # [s] that the driver's thread takes at least


class Rig:
    """Driver, emulator and their clock; the arm stands at its pose home, its gripper open.

    Attributes:
        port: the loop between them; ``port.faults`` damages what is sent.
    """

    def __init__(self, model: RobotModel, kind: str = "", faults: WireFaults | None = None, hold: bool = True, seed: int = 0) -> None:
        arm = model.arm
        kind = kind or arm.driver.kinds[0]
        check_emulated(arm, kind)
        self.clock = LoopClock()
        self.port = LoopPort(self.clock, faults, BAUDS[kind])
        self.servos = [arm.driver.servos[joint] for joint in arm.joints]
        servos = make_servos(standing(arm), self.clock)
        self.emulator = make_emulator(kind, servos, arm, loop=self.port, sleep=self.clock.sleep, clock=self.clock, seed=seed)
        self.bus: ServoBus = make_bus(arm.driver, kind, self.port, clock=self.clock)
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
