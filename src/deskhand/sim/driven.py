"""The simulated arm behind an emulated servo bus: a driver of real arms moves it, and nothing else can (arms/emulate).

The emulated servos have the profiles; the shafts are the simulated joints, so what the driver reads is what physics made of it. The bus takes its time in
simulated time, and simulated time waits for a driver that a busy machine keeps from asking (:class:`Bus`).
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from deskhand.arms.emulate.choice import check_emulated, make_emulator
from deskhand.arms.emulate.faults import WireFaults
from deskhand.arms.emulate.servo import Servo
from deskhand.geometry import Array
from deskhand.sim.simulation import Simulation

CHUNK = 0.002  # [s] of simulated time at a time
AHEAD = 0.006  # [s] of simulated time without a frame
GONE = 1.0  # [s] of wall time without a frame: nobody drives
POLL = 0.0003  # [s]


class Bus:
    """An emulated bus at ``port`` whose servos are the joints of ``simulation``.

    Raises:
        DeskhandError: ``config_error`` when the arm is not driven so.
    """

    def __init__(self, simulation: Simulation, kind: str, port: str, faults: WireFaults | None = None) -> None:
        arm = simulation.arm
        check_emulated(arm, kind)
        assert arm.driver.gripper is not None
        self._simulation, self._hand = simulation, arm.driver.gripper
        self._configs = [arm.driver.servos[joint] for joint in arm.joints]
        self._servos = [Servo(config.id, self._clock, measured=self._pulse(index)) for index, config in enumerate(self._configs)]
        self._finger = Servo(self._hand.id, self._clock, measured=self._finger_pulse)
        options = {"link": port, "faults": faults, "lock": simulation.lock, "sleep": self._sleep}
        self._emulator = make_emulator(kind, [*self._servos, self._finger], arm, **options)
        self._served, self._served_at, self._until, self._heard = 0, 0.0, 0.0, float("-inf")
        simulation.drive = self._wishes

    def start(self) -> None:
        """The port appears."""
        self._emulator.__enter__()

    def close(self) -> None:
        """The port goes."""
        self._emulator.line.close()

    def gate(self) -> None:
        """Keep simulated time from running ahead of a driver that is there: at most ``AHEAD`` from one of its frames to the next, and what the bus takes."""
        while True:
            now = time.monotonic()
            if self._emulator.served != self._served:
                self._served, self._served_at, self._heard = self._emulator.served, self._simulation.time, now
            if self._simulation.time < max(self._served_at + AHEAD, self._until) or now - self._heard > GONE:
                return
            time.sleep(POLL)

    def _sleep(self, seconds: float) -> None:
        self._until, end = self._simulation.time + seconds, time.monotonic() + GONE
        while self._simulation.time < self._until and time.monotonic() < end:
            time.sleep(POLL)

    def _clock(self) -> float:
        return self._simulation.time

    def _pulse(self, index: int) -> Callable[[], float]:
        return lambda: self._configs[index].pulse_of(self._simulation.joint_position(index))

    def _finger_pulse(self) -> float:
        return self._hand.ticks_of(self._simulation.arm.gripper.width_of(self._simulation.finger_position()))

    def _wishes(self) -> tuple[Array, float]:
        angles = np.array([config.angle_of(servo.wished()) for config, servo in zip(self._configs, self._servos, strict=True)])
        return angles, self._simulation.arm.gripper.position_of(self._hand.width_of(self._finger.wished()))
