"""The JetArm's driver on an emulated controller, in a time of its own."""

from __future__ import annotations

import itertools

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
from deskhand.types import Trajectory

MODEL = RobotModel.load("jetarm")
ARM = MODEL.arm
HOME, START = (np.array(ARM.named_poses[name]) for name in ("home", "start"))
SERVOS = [ARM.driver.servos[joint] for joint in ARM.joints]
GRIPPER = ARM.driver.gripper
assert GRIPPER is not None


class Rig:
    """Driver, emulator and their clock."""

    def __init__(self, kind: str = "hiwonder_rrc", faults: WireFaults | None = None, hold: bool = True, seed: int = 0) -> None:
        self.clock = LoopClock()
        self.port = LoopPort(self.clock, faults, 1_000_000 if kind == "hiwonder_rrc" else 115_200)
        positions = {servo.id: servo.pulse_of(angle) for servo, angle in zip(SERVOS, HOME, strict=True)} | {GRIPPER.id: 200.0}
        servos = [Servo(number, self.clock, position) for number, position in positions.items()]
        options = {"loop": self.port, "sleep": self.clock.sleep, "clock": self.clock, "seed": seed}
        self.emulator: Emulator = RrcEmulator(servos, **options) if kind == "hiwonder_rrc" else LxEmulator(servos, **options)
        self.bus = (RrcBus if kind == "hiwonder_rrc" else LxBus)(self.port, clock=self.clock)
        self.driver = ArmDriver(MODEL, self.bus, self.clock, hold=hold)

    def step(self) -> bool:
        """One round of the driver, at least as long as its thread makes it."""
        began = self.clock()
        there = self.driver.step()
        self.clock.sleep(0.02 - (self.clock() - began))
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

    def true_angles(self) -> np.ndarray:
        """(5,) [rad] where the servos really stand."""
        return np.array([servo.angle_of(self.emulator.servos[servo.id].position()) for servo in SERVOS])


def smooth(points: list[np.ndarray], seconds: float, count: int = 25) -> Trajectory:
    """Through points, at rest at each, ``seconds`` from one to the next."""
    times, positions, velocities = [0.0], [points[0]], [np.zeros(len(ARM.joints))]
    for index, (start, end) in enumerate(itertools.pairwise(points)):
        for s in np.linspace(0, 1, count + 1)[1:]:
            times.append((index + s) * seconds)
            positions.append(start + (10 * s**3 - 15 * s**4 + 6 * s**5) * (end - start))
            velocities.append((30 * s**2 - 60 * s**3 + 30 * s**4) / seconds * (end - start))
    return Trajectory(ARM.joints, np.array(times), np.array(positions), np.array(velocities), np.zeros((0, len(ARM.joints))))


OUT = START + np.array([0.6, 0.2, 0, 0, 0.5])
