"""The foreign Panda as a robot of ours: its arm file, the height of what it stands before, its devices."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import yaml

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.arms.model import RobotModel
from deskhand.cameras.base import Camera
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.safety.settings import SafetySettings, load_safety
from deskhand.sim.foreign.devices import ForeignArm, ForeignBody, ForeignCamera, ForeignClock, ForeignGripper
from deskhand.sim.foreign.link import Link
from deskhand.sim.foreign.sensed import SensedCamera
from deskhand.sim.reality.spec import RealitySpec
from deskhand.skills.robot.local import Devices
from deskhand.types import Frame
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

BASE_X = -0.60  # [m] of the base in `world`, whose origin is ours to choose; the height is measured
RANGE = 1.7  # [m] of the camera's depth; farther there is only the room
CELL = 0.002  # [m] of the histogram of heights
BLOCK = 8  # [px] of the sides of blocks
LEVEL = 0.1  # largest slope between blocks that belongs to a level surface
BELOW, ABOVE = -0.20, 0.05  # [m] about the base's foot, between which a surface to work on is looked for
LEAST = 40  # blocks of it

# The simulator's hand differs from the maker's: the flange to the hand, its turn, the fingers and the tool's centre.
HAND = {"hand_length": 0.1065, "hand_yaw": -0.785891, "finger_root": 0.0524, "tcp_length": 0.097}
SPEED, ACCELERATION = 1.2, 5.0  # [rad/s], [rad/s^2] up to which the simulator's joint controller was measured to keep within 0.02 rad of a trajectory
START = [0, -0.161, 0, -2.445, 0, 2.227, 0.785]  # [rad] the arm stands so at the start of every case, and hides nothing
FINGERS = {"finger_depth": 0.0092, "finger_length": 0.0402}


def envelope() -> SafetySettings:
    """The safety envelope, with the room that this arm has: nothing stands around it."""
    return replace(load_safety(), lower=np.array([BASE_X - 0.45, -0.9, -0.005]), upper=np.array([0.5, 0.9, 1.35]))


def write_envelope(folder: Path) -> Path:
    """The safety file of this desk: config/safety.yaml with the workspace of :func:`envelope`."""
    settings, file = envelope(), folder / "safety.yaml"
    data = {**read_yaml(resource_path("config/safety.yaml")), "workspace": {"lower": settings.lower.tolist(), "upper": settings.upper.tolist()}}
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    return file


def arm_file(folder: Path) -> Path:
    """Where :func:`write_arm` puts the arm's file."""
    return folder / "panda_foreign.yaml"


def write_arm(folder: Path, height: float) -> ArmConfig:
    """The arm file of this desk: its base stands ``height`` [m] above what it works on."""
    file = arm_file(folder)
    geometry = ", ".join(f"{name}: {value}" for name, value in HAND.items())
    gripper = ", ".join(f"{name}: {value}" for name, value in FINGERS.items())
    limits = f"max_velocity: {[SPEED] * 7}\nmax_acceleration: {[ACCELERATION] * 7}\nnamed_poses: {{ home: {START} }}\n"
    mount = f"mount: {{ xyz: [{BASE_X}, 0, {height:.5f}], rpy: [0, 0, 0] }}\n"
    file.write_text(f"extends: panda\n{mount}{limits}geometry: {{ {geometry} }}\ngripper: {{ {gripper} }}\n")
    return load_arm(str(file))


def surface_height(frame: Frame) -> float:
    """Height [m], in the frame that ``world_T_camera`` is in, of the level surface that most of the picture shows, near the base's foot.

    Raises:
        DeskhandError: ``no_table`` where there is none.
    """
    blocks = _blocks(np.asarray(frame.points(), float))
    across, down = (blocks[:-2, 2:] - blocks[:-2, :-2]), (blocks[2:, :-2] - blocks[:-2, :-2])
    normal = np.cross(down, across)
    with np.errstate(invalid="ignore", divide="ignore"):
        upright = np.abs(normal[..., 2]) / np.linalg.norm(normal, axis=-1) > 1 - LEVEL**2 / 2
        heights = blocks[1:-1, 1:-1, 2]
        level = heights[upright & (heights > BELOW) & (heights < ABOVE)]
    if len(level) < LEAST:
        raise DeskhandError(
            "no_table", f"only {len(level)} of the picture's blocks show a level surface between {BELOW:g} and {ABOVE:g} m about the base's foot."
        )
    counts, edges = np.histogram(level, np.arange(BELOW, ABOVE + CELL, CELL))
    middle = edges[int(np.argmax(counts))] + CELL / 2
    return float(np.median(level[np.abs(level - middle) < 2 * CELL]))


def _blocks(points: Array) -> Array:
    """Median points (H // BLOCK, W // BLOCK, 3) of a picture's square blocks; NaN where a tenth of a block has no depth: a camera's noise gives neighbouring
    pixels any slope, and blocks little.
    """
    rows, columns = (size // BLOCK for size in points.shape[:2])
    parts = points[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK, 3).swapaxes(1, 2).reshape(rows, columns, BLOCK**2, 3)
    missing = np.isnan(parts[..., 2]).mean(axis=2) > 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # blocks without depth
        middle = np.nanmedian(parts, axis=2)
    return np.asarray(np.where(missing[..., None], np.nan, middle))


class RangedCamera:
    """A camera whose depth ends at ``most`` [m]."""

    def __init__(self, camera: Camera, most: float = RANGE) -> None:
        self._camera, self._most = camera, most

    def capture(self, newer_than: float | None = None) -> Frame:
        """See Camera."""
        frame = self._camera.capture(newer_than)
        return replace(frame, depth=np.where(frame.depth < self._most, frame.depth, np.float32(np.nan)))


@dataclass(frozen=True)
class ForeignParts:
    """Devices of the robot, its arm, and what it is told."""

    devices: Devices
    arm: ArmConfig
    body: ForeignBody
    instruction: str


def measured_arm(link: Link, folder: Path, size: tuple[int, int] = (640, 480), reality: RealitySpec | None = None) -> ArmConfig:
    """The arm behind ``link``, whose case is loaded: its first picture tells how high its base stands above what it works on. The file is in ``folder``.

    ``reality``: errors of its camera; None: the simulator's perfect pictures.
    """
    at_foot = foreign_parts(link, write_arm(folder, 0.0), size, reality)
    return write_arm(folder, -surface_height(at_foot.devices.camera.capture()))


def foreign_parts(link: Link, arm: ArmConfig, size: tuple[int, int] = (640, 480), reality: RealitySpec | None = None) -> ForeignParts:
    """The robot behind ``link``, whose case is loaded, as ``arm`` describes it; ``reality`` as for :func:`measured_arm`."""
    body = ForeignBody(link, arm)
    camera = ForeignCamera(body, RobotModel.load(arm), "agentview", size)
    eye = RangedCamera(camera if reality is None else SensedCamera(camera, reality, size))
    return ForeignParts(Devices(ForeignArm(body), ForeignGripper(body), eye, ForeignClock(body)), arm, body, body.instruction)


def in_world(arm: ArmConfig, base_T_object: Array) -> Array:
    """world_T_object, for the scorer."""
    return np.asarray(arm.world_T_base @ base_T_object)
