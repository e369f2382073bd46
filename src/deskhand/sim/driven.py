"""The simulated arm behind an emulated servo bus: a driver of real arms moves it, and nothing else can (arms/emulate).

The emulated servos have the profiles; the shafts are the simulated joints, so what the driver reads is what physics made of it. The bus takes its time in
simulated time, and simulated time waits for a driver that a busy machine keeps from asking (:class:`Bus`).
"""

from __future__ import annotations

import time
from typing import Any

from deskhand.arms.emulate.choice import check_emulated, make_emulator
from deskhand.arms.emulate.faults import WireFaults
from deskhand.arms.emulate.reality import IDEAL, ServoReality
from deskhand.sim.joint_servos import JointServos
from deskhand.sim.simulation import Simulation

CHUNK = 0.002  # [s] of simulated time at a time
AHEAD = 0.006  # [s] of simulated time without a frame
LOST = 0.1  # [s] of wall time without a frame: one may have been lost, and the driver waits for it; time goes on no faster than on the wall
GONE = 1.0  # [s] of wall time without a frame: nobody drives
POLL = 0.0003  # [s]


class Bus:
    """An emulated bus at ``port`` whose servos are the joints of ``simulation``.

    Raises:
        DeskhandError: ``config_error`` when the arm is not driven so.
    """

    def __init__(self, simulation: Simulation, kind: str, port: str, faults: WireFaults | None = None, reality: ServoReality = IDEAL) -> None:
        arm = simulation.arm
        check_emulated(arm, kind)
        self._simulation = simulation
        servos = JointServos(simulation, self._clock, reality)
        options: dict[str, Any] = {"link": port, "lock": simulation.lock, "sleep": self._sleep, "clock": self._clock, "latency": reality.read_latency}
        self._emulator = make_emulator(kind, servos.all, arm, faults=faults or WireFaults.share(reality.bad_frames, reality.seed), **options)
        self._served, self._served_at, self._until, self._heard = 0, 0.0, 0.0, float("-inf")

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
            if now - self._heard > LOST:
                time.sleep(CHUNK)
                return
            time.sleep(POLL)

    def _sleep(self, seconds: float) -> None:
        until, end = self._simulation.time + seconds, time.monotonic() + GONE
        self._until = max(self._until, until)
        while self._simulation.time < until and time.monotonic() < end:
            time.sleep(POLL)

    def _clock(self) -> float:
        return self._simulation.time
