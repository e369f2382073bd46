"""What a simulated world consists of, as plain data. Made by tasks (from a seed) and by scene files; read by the builder."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from deskhand.geometry import Array, look_at
from deskhand.sim.fixtures.spec import FixtureSpec
from deskhand.sim.reality.spec import RealitySpec

CONTAINER_KINDS = ("bin", "tray", "box_open")
KINDS = ("block", "ball", "cup", "can", "pen", "marker", "box", "eraser", "sponge", *CONTAINER_KINDS, "mesh")


@dataclass(frozen=True)
class ObjectSpec:
    """An object in the world.

    Attributes:
        name: unique in the world; only the scorer ever sees it.
        kind: one of :data:`KINDS`.
        size: outer extents (x, y, z) [m] in the object's own frame, whose origin is the centre of its bounding box.
            block, box, eraser, sponge: a cuboid; ball: a sphere; can, pen, marker: a cylinder along z;
            cup: a hollow tapered cylinder open at +z; bin, tray, box_open: hollow, open at +z, with ``wall``.
        rgb: 0..1.
        mass: [kg]
        pose: world_T_object at the start (it is let settle).
        wall: thickness of a container's walls and floor [m].
        mesh: OBJ, STL or model file (model_file.py: with print and convex pieces of its own) for kind ``mesh``, scaled to ``size``.
        shape: for kind ``mesh`` without a file: one of :data:`deskhand.sim.shapes.KNOWN`, drawn for ``size``.
    """

    name: str
    kind: str
    size: tuple[float, float, float]
    rgb: tuple[float, float, float]
    mass: float
    pose: Array
    wall: float = 0.004
    mesh: Path | None = None
    shape: str = ""


@dataclass(frozen=True)
class StainSpec:
    """Paint or dirt on the table; see stains.py.

    Attributes:
        name: unique in the world; only the scorer ever sees it.
        outline: corners (N, 2) [m, world] of a convex polygon.
        rgb: 0..1.
        spots: into about how many pieces it is cut, which are wiped away one by one.
    """

    name: str
    outline: Array
    rgb: tuple[float, float, float]
    spots: int = 50


@dataclass(frozen=True)
class CameraSpec:
    """An RGB-D camera: pinhole, ``fovy`` vertical field of view [rad].

    It stands still at ``world_T_camera``; with a ``link`` of the arm it is carried by that, and the pose is link_T_camera.
    """

    world_T_camera: Array = field(default_factory=lambda: look_at((0.58, 0.0, 0.62), (0.03, 0.0, 0.0)))
    width: int = 640
    height: int = 480
    fovy: float = 0.84
    link: str = ""
    frame_id: str = "camera_color_optical_frame"


@dataclass(frozen=True)
class BoardSpec:
    """A calibration board (its name as in calibration/board.py) at world_T_board, or on a ``link`` of the arm at link_T_board; nothing touches it."""

    board: str
    pose: Array
    link: str = ""


@dataclass(frozen=True)
class WorldSpec:
    """A whole world; ``table`` is the (x, y) size [m] of the desk top, centred at the world origin; ``reality``: how it differs from an ideal one."""

    objects: tuple[ObjectSpec, ...]
    arm: str = "wx250s"
    camera: CameraSpec = field(default_factory=CameraSpec)
    table: tuple[float, float] = (0.90, 1.10)
    seed: int = 0
    board: BoardSpec | None = None
    reality: RealitySpec | None = None
    fixtures: tuple[FixtureSpec, ...] = ()
    stains: tuple[StainSpec, ...] = ()


@dataclass(frozen=True)
class TruthObject:
    """Where an object really is; for the scorer only. ``shape``: as of ObjectSpec."""

    name: str
    kind: str
    size: tuple[float, float, float]
    pose: Array
    velocity: float = 0.0
    shape: str = ""


@dataclass(frozen=True)
class Truth:
    """Ground truth at one time; ``in_hand`` names what both fingers touch, or else what is pressed together between them.

    ``joints``: ``fixture/joint`` to where it is [m or rad]. ``spots``: stain to the share of it that is left.
    """

    time: float
    objects: tuple[TruthObject, ...]
    in_hand: tuple[str, ...] = ()
    joints: dict[str, float] = field(default_factory=dict)
    spots: dict[str, float] = field(default_factory=dict)

    def get(self, name: str) -> TruthObject:
        """By name."""
        return next(item for item in self.objects if item.name == name)


def pose_at(x: float, y: float, z: float, yaw: float = 0.0) -> Array:
    """world_T_object, standing, turned by ``yaw`` [rad] about z."""
    pose = np.eye(4)
    c, s = np.cos(yaw), np.sin(yaw)
    pose[:2, :2] = [[c, -s], [s, c]]
    pose[:3, 3] = x, y, z
    return pose
