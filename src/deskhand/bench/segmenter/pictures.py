"""Frames of a pile from random places, as a depth camera measures them, with the object of each pixel."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt

from deskhand.bench.segmenter.piles import Pile, make_pile
from deskhand.geometry import Array, look_at
from deskhand.sim.camera import intrinsics_of
from deskhand.sim.drawing import Drawing
from deskhand.sim.reality.color import ColorCamera
from deskhand.sim.reality.depth import DepthCamera, depth_pose, surface_losses
from deskhand.sim.reality.world import mount_error
from deskhand.sim.sensor import DepthSensor
from deskhand.sim.spec import CameraSpec
from deskhand.types import Frame

Owners = npt.NDArray[np.int64]
PICTURES = ((320, 240), (320, 240), (480, 360), (640, 480))
"""Of cameras, drawn."""
FAR = (0.4, 1.2)  # [m] from the middle of the pile
ELEVATION = (math.radians(20.0), math.radians(85.0))
FOV = (0.7, 1.0)  # [rad] vertical


def pile_frames(seed: int, views: int) -> Iterator[tuple[Frame, Owners]]:
    """Frames of the pile of a seed, and the object (H, W) that each pixel shows, -1 for none.

    Raises:
        DeskhandError: ``missing_dependency`` when the machine cannot render off screen.
    """
    random = np.random.default_rng([7002, seed])
    width, height = PICTURES[int(random.integers(len(PICTURES)))]
    camera = CameraSpec(width=width, height=height, fovy=float(random.uniform(*FOV)))
    with tempfile.TemporaryDirectory() as folder:
        pile = make_pile(seed, Path(folder), camera)
    sensor = DepthSensor()
    colors, depths = ColorCamera(pile.reality), DepthCamera(pile.reality, sensor, (height, width))
    losses = np.append(surface_losses(pile.model, pile.reality.depth), np.float32(0.0))
    owners = np.append(pile.owners, -1)
    k = intrinsics_of(camera)
    beside, off = depth_pose(pile.reality, k.fx), mount_error(pile.reality)
    with Drawing(pile.model, width, height) as drawing:
        for number in range(views):
            told = _place(random, pile)
            color, geoms, depth = _drawn(drawing, pile, told @ off, beside, camera.fovy)
            rng = np.random.default_rng([7003, seed, number])
            measured = depths.measure(depth, k.fx, rng, losses[geoms])
            yield Frame(colors.expose(color, rng), measured, k, told, float(number)), owners[geoms]


def _drawn(drawing: Drawing, pile: Pile, real: Array, beside: Array, fovy: float) -> tuple[npt.NDArray[np.uint8], Owners, npt.NDArray[np.float32]]:
    """Colour from where the camera is; geoms and true depth from beside it."""
    drawing.data.qpos[:] = pile.data.qpos
    mujoco.mj_kinematics(pile.model, drawing.data)
    mujoco.mj_camlight(pile.model, drawing.data)
    drawing.place(real, fovy)
    drawing.look()
    color = drawing.color(deep=False)
    drawing.place(real @ beside, fovy)
    drawing.turn()
    return color, drawing.geoms(), drawing.depth()


def _place(random: np.random.Generator, pile: Pile) -> Array:
    """world_T_camera, which looks at a place near the middle of the pile, with a little roll."""
    far, elevation, azimuth = (float(random.uniform(*ends)) for ends in (FAR, ELEVATION, (-math.pi, math.pi)))
    away = np.array([math.cos(azimuth) * math.cos(elevation), math.sin(azimuth) * math.cos(elevation), math.sin(elevation)])
    aim = np.append(pile.middle[:2], 0.0) + np.append(random.uniform(-0.06, 0.06, 2), 0.03)
    pose = look_at(aim + far * away, aim)
    roll = float(random.normal(0.0, 0.06))
    c, s = math.cos(roll), math.sin(roll)
    pose[:3, :3] = pose[:3, :3] @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return pose
