"""A driver on an emulated bus, in a time of their own: a minute on the bus takes a moment, and is the same every time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from deskhand.arms.bus.base import ServoBus
from deskhand.arms.bus.choice import make_bus
from deskhand.arms.driver import ArmDriver
from deskhand.arms.emulate.choice import BAUDS, check_emulated, make_emulator, standing
from deskhand.arms.emulate.faults import WireFaults
from deskhand.arms.emulate.loop import LoopClock, LoopPort
from deskhand.arms.emulate.reality import IDEAL, ServoReality
from deskhand.arms.emulate.servo import Servo
from deskhand.arms.follower import Follower
from deskhand.arms.gravity import GravityLoad
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array

TICK = 0.0042  # [rad] of servos that move no joint
WEIGH = 0.02  # [s] between two looks at how gravity pulls
ROUND = 0.02  # [s] that the driver's thread takes at least


class Rig:
    """Driver, emulator and their clock; the arm stands at its pose home, its gripper open.

    Attributes:
        port: the loop between them; ``port.faults`` damages what is sent.

    Args:
        reality: what is wrong with the servos; gravity pulls at them as at the masses of the URDF.
    """

    def __init__(
        self, model: RobotModel, kind: str = "", faults: WireFaults | None = None, hold: bool = True, seed: int = 0, reality: ServoReality = IDEAL
    ) -> None:
        arm = model.arm
        kind = kind or arm.driver.kinds[0]
        check_emulated(arm, kind)
        self.clock = LoopClock()
        self.port = LoopPort(self.clock, faults or WireFaults.share(reality.bad_frames, reality.seed), BAUDS[kind])
        self.servos = [arm.driver.servos[joint] for joint in arm.joints]
        pulled = reality.sag or reality.backlash or reality.plays
        self._gravity, self._weighed, self._shares = GravityLoad(model) if pulled else None, float("-inf"), np.zeros(len(arm.joints))
        servos = self._make_servos(standing(arm), reality)
        options = {"loop": self.port, "sleep": self.clock.sleep, "clock": self.clock, "seed": seed, "latency": reality.read_latency}
        self.emulator = make_emulator(kind, servos, arm, **options)
        self.bus: ServoBus = make_bus(arm.driver, kind, self.port, clock=self.clock)
        self.driver = ArmDriver(model, self.bus, self.clock, hold=hold)

    def _make_servos(self, places: Mapping[int, float], reality: ServoReality) -> list[Servo]:
        steps = {servo.id: servo.step for servo in self.servos}
        order = [servo.id for servo in self.servos]

        def load(number: int) -> Callable[[], float]:
            return lambda: self._load(order.index(number)) * float(np.sign(steps[number])) if number in order and self._gravity is not None else 0.0

        made = []
        for number, position in places.items():
            own = reality if number in steps else replace(reality, backlash=0.0, sag=0.0, dead_band=0.0, zero_error=0.0)
            made.append(Servo(number, self.clock, position, reality=own, step=steps.get(number, TICK), load=load(number)))
        return made

    def _load(self, index: int) -> float:
        """Share of the greatest torque of gravity on a joint, as the shafts stand; weighed now and then."""
        if self._gravity is not None and self.clock() - self._weighed > WEIGH:
            self._weighed = self.clock()
            self._shares = self._gravity.shares(np.array([servo.angle_of(self.emulator.servos[servo.id].shaft.position) for servo in self.servos]))
        return float(self._shares[index])

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
        """(n,) [rad] where the joints really stand, beyond the servos' encoders by their play."""
        return np.array([servo.angle_of(self.emulator.servos[servo.id].link()) for servo in self.servos])
