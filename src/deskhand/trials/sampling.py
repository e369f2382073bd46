"""Samples of a simulated trial at a fixed rate: what physics was at is kept while it runs, and drawn when it is over.

So sampling changes nothing of the trial and takes little of its time, and pictures of attempts that nobody wants are never drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deskhand.geometry import Array
from deskhand.recording.episode.samples import SampleWriter
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.simulation import Simulation


@dataclass(frozen=True)
class _Moment:
    """``configuration`` is what pictures are drawn from; see :class:`deskhand.recording.episode.samples.Sample` for the others."""

    stamp: float
    configuration: Array
    state: Array
    action: Array
    task: str


class Sampler:
    """Keeps a moment of ``simulation`` every 1 / ``rate`` [s] of its time, while its block lasts.

    The due times are multiples of the period: stamps are even, whatever lets time pass, and in how large steps.
    """

    def __init__(self, simulation: Simulation, rate: float) -> None:
        self.simulation, self.rate = simulation, rate
        self._moments: list[_Moment] = []
        self._begun, self._kept, self._task = 0.0, 0, ""

    @property
    def count(self) -> int:
        """How many moments there are."""
        return len(self._moments)

    @contextmanager
    def running(self, task: str) -> Iterator[None]:
        """Keep moments meanwhile; ``task`` is what the robot was told."""
        self._begun, self._kept, self._task = self.simulation.time, 0, task
        self._look()
        self.simulation.watch = self._look
        try:
            yield
        finally:
            self.simulation.watch = None

    def _look(self) -> None:
        simulation = self.simulation
        if simulation.time < self._begun + self._kept / self.rate - 1e-6:
            return
        measured = simulation.joint_state()
        by_name = dict(zip(measured.names, map(float, measured.positions), strict=True))
        gripper = simulation.arm.gripper
        state = np.array([*(by_name[name] for name in simulation.arm.joints), gripper.width_of(simulation.finger_position())])
        joints, finger = simulation.commanded()
        action = np.array([*joints, gripper.width_of(finger)])
        self._moments.append(_Moment(simulation.time, np.array(simulation.data.qpos), state, action, self._task))
        self._kept += 1

    def write(self, folder: Path) -> None:
        """Draw the pictures and write all samples into an episode's folder. The simulation is left as it was."""
        simulation = self.simulation
        camera = simulation.built.spec.camera.frame_id.removesuffix("_color_optical_frame").removesuffix("_optical_frame")
        now, time = np.array(simulation.data.qpos), simulation.time
        try:
            with RgbdRenderer(simulation) as renderer, SampleWriter(folder, simulation.arm.joints, self.rate) as writer:
                for moment in self._moments:
                    simulation.data.qpos[:], simulation.data.time = moment.configuration, moment.stamp
                    writer.add(moment.stamp, moment.state, moment.action, {camera: renderer.render()}, moment.task)
        finally:
            simulation.data.qpos[:], simulation.data.time = now, time
