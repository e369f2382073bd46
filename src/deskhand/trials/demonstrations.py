"""Plays a demonstration in a simulated world and records it: what an unseen expert would do, seen by the robot's own camera while its arm stands still."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np

from deskhand.geometry import Array
from deskhand.perception.demonstration.video import write_video
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.reality.spec import RealitySpec
from deskhand.sim.reality.world import with_reality
from deskhand.sim.simulation import Simulation
from deskhand.tasks.base import Demonstration
from deskhand.types import Frame

LIFT = 0.10  # [m] that things are carried above where they come from and go to
WAY = (0.0, 0.5, 1.0)  # shares of the way at which a picture is taken while something is carried
SETTLE = 1.0  # [s] after something was let go
RESTS = 2  # pictures of what is at rest
APART = 0.1  # [s] between them


def record_demonstration(shown: Demonstration, file: Path, reality: RealitySpec | None) -> int:
    """Write the video of a demonstration; answers how many frames it has.

    Raises:
        DeskhandError: ``invalid_input`` when the world cannot be built, ``internal_error`` when its physics diverges.
    """
    simulation = Simulation(with_reality(shown.world, reality))
    with RgbdRenderer(simulation) as renderer:
        return write_video(file, _played(simulation, renderer, shown), simulation.joint_state())


def _played(simulation: Simulation, renderer: RgbdRenderer, shown: Demonstration) -> Iterator[Frame]:
    yield from _at_rest(simulation, renderer)
    for move in shown.moves:
        start = simulation.truth().get(move.item).pose
        for share in WAY:
            pose = move.pose.copy()
            pose[:3, 3] = start[:3, 3] + share * (move.pose[:3, 3] - start[:3, 3])
            pose[2, 3] = max(start[2, 3], move.pose[2, 3]) + LIFT
            put(simulation, move.item, pose)
            yield renderer.render()
        put(simulation, move.item, move.pose)
        simulation.step(SETTLE)
        yield from _at_rest(simulation, renderer)


def _at_rest(simulation: Simulation, renderer: RgbdRenderer) -> Iterator[Frame]:
    for _ in range(RESTS):
        simulation.step(APART)
        yield renderer.render()


def put(simulation: Simulation, name: str, pose: Array) -> None:
    """An unseen hand puts an object to world_T_object (4, 4)."""
    number = [item.name for item in simulation.built.spec.objects].index(name)
    joint = simulation.model.body_jntadr[simulation.built.object_bodies[number]]
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(pose[:3, :3]).reshape(-1))
    with simulation.lock:
        first, dof = simulation.model.jnt_qposadr[joint], simulation.model.jnt_dofadr[joint]
        simulation.data.qpos[first : first + 7] = [*pose[:3, 3], *quaternion]
        simulation.data.qvel[dof : dof + 6] = 0.0
        mujoco.mj_forward(simulation.model, simulation.data)
