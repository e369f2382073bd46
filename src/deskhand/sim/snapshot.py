"""A simulation at one moment, to go on from again: as often as one likes, and in another simulation of the same world."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array

CHANGING = ("actuator_forcerange", "geom_friction", "geom_rgba", "body_mass", "body_inertia")
"""What of a model changes while it is at work: the gripper's force, a slip, stains that are wiped off, loads that are exchanged."""
SIZES = ("nq", "nv", "nu", "nbody", "ngeom")


@dataclass(frozen=True)
class SimulationSnapshot:
    """One moment of a simulation; it never changes.

    Attributes:
        data: all of the physics, contacts and warm start included, so that it goes on bit by bit as it did.
        model: what of the model changes at work, by name.
        devices: servos, gripper, the trajectory under way and the fault, by the simulation's names of them.
        sizes: of the model, to tell another world.
    """

    data: mujoco.MjData
    model: dict[str, Array]
    devices: dict[str, Any]
    sizes: tuple[int, ...]


def take(model: mujoco.MjModel, data: mujoco.MjData, devices: dict[str, Any]) -> SimulationSnapshot:
    """Copy it all."""
    changing = {name: np.array(getattr(model, name)) for name in CHANGING}
    return SimulationSnapshot(copy.copy(data), changing, copy.deepcopy(devices), _sizes(model))


def put_back(snapshot: SimulationSnapshot, model: mujoco.MjModel, data: mujoco.MjData) -> dict[str, Any]:
    """Make ``model`` and ``data`` what they were; copies of the devices.

    Raises:
        DeskhandError: ``invalid_input`` when the snapshot is of another world.
    """
    if snapshot.sizes != _sizes(model):
        raise DeskhandError("invalid_input", f"this snapshot is of another world: its model has {_shown(snapshot.sizes)}, this one {_shown(_sizes(model))}.")
    mujoco.mj_copyData(data, model, snapshot.data)
    for name, value in snapshot.model.items():
        getattr(model, name)[:] = value
    return copy.deepcopy(snapshot.devices)


def _sizes(model: mujoco.MjModel) -> tuple[int, ...]:
    return tuple(int(getattr(model, name)) for name in SIZES)


def _shown(sizes: tuple[int, ...]) -> str:
    return ", ".join(f"{name} {size}" for name, size in zip(SIZES, sizes, strict=True))
