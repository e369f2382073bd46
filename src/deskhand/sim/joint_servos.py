"""Emulated servos whose shafts are the joints of a simulated arm (sim/driven.py, sim/driven_local.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from deskhand.arms.emulate.reality import IDEAL, ServoReality, load_reality
from deskhand.arms.emulate.servo import Servo
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.sim.simulation import Simulation
from deskhand.sim.slack import ArmSlack
from deskhand.sim.spec import WorldSpec


def servos_of(world: WorldSpec, named: str, seed: int) -> ServoReality:
    """What is wrong with the servos: as ``named`` (a name in config/servos or a file), else as the world's reality says; each ``seed`` draws its own.

    Raises:
        DeskhandError: ``config_error`` saying what is wrong.
    """
    file = named or (world.reality.servos.file if world.reality is not None else "")
    return replace(load_reality(file), seed=seed)


class JointServos:
    """The servos of ``simulation``'s arm; from now on they are what tells its joints where to be.

    Attributes:
        all: the servos, the gripper's last.

    Raises:
        DeskhandError: ``config_error`` when the arm's configuration names no servos.
    """

    def __init__(self, simulation: Simulation, clock: Callable[[], float], reality: ServoReality = IDEAL) -> None:
        arm = simulation.arm
        if arm.driver.gripper is None or set(arm.driver.servos) != set(arm.joints):
            raise DeskhandError("config_error", f"{arm.name} has no servos for its joints and its gripper (driver.servos, driver.gripper in its file).")
        self._simulation, self._hand = simulation, arm.driver.gripper
        self._configs = [arm.driver.servos[joint] for joint in arm.joints]
        self._slack = ArmSlack(simulation, reality)
        steps = [config.step for config in self._configs]
        self._joints = [Servo(config.id, clock, measured=self._pulse(index), reality=reality, step=steps[index]) for index, config in enumerate(self._configs)]
        # a gripper's width is measured in its own ticks: a zero that is off is part of its table
        self._finger = Servo(self._hand.id, clock, measured=self._finger_pulse, reality=replace(reality, zero_error=0.0))
        self.all = [*self._joints, self._finger]
        simulation.drive = self._wishes

    def _pulse(self, index: int) -> Callable[[], float]:
        return lambda: self._configs[index].pulse_of(self._slack.encoder(index))

    def _finger_pulse(self) -> float:
        return self._hand.ticks_of(self._simulation.arm.gripper.width_of(self._simulation.finger_position()))

    def _wishes(self) -> tuple[Array, float]:
        angles = np.array([config.angle_of(servo.wished()) for config, servo in zip(self._configs, self._joints, strict=True)])
        return self._slack.drive(angles), self._simulation.arm.gripper.position_of(self._hand.width_of(self._finger.wished()))
