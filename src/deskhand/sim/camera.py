"""The simulated RGB-D camera: MuJoCo's picture of the world, seen through a sensor model."""

from __future__ import annotations

import math
from types import TracebackType
from typing import Any

import mujoco
import numpy as np

from deskhand.cameras.config import load_camera
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform
from deskhand.perception.self_filter import joint_map
from deskhand.sim.drawing import Drawing, Owners, Picture
from deskhand.sim.reality.color import ColorCamera, noisy
from deskhand.sim.reality.depth import DepthCamera, depth_pose, surface_losses
from deskhand.sim.reality.world import mount_error
from deskhand.sim.sensor import DepthSensor
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import CameraSpec
from deskhand.types import CameraIntrinsics, Depth, Frame, Image


def intrinsics_of(camera: CameraSpec) -> CameraIntrinsics:
    """Pinhole model of the picture: square pixels, principal point in the middle; pixel centres at whole numbers."""
    focal = camera.height / 2 / math.tan(camera.fovy / 2)
    return CameraIntrinsics(camera.width, camera.height, focal, focal, (camera.width - 1) / 2, (camera.height - 1) / 2, camera.frame_id)


def mounted(name_or_file: str, arm: str = "") -> CameraSpec:
    """A simulated camera as a file of ``config/cameras`` mounts it, on the world or on a link of the arm; ``arm`` (its name) for the one that it has itself.

    Raises:
        DeskhandError: ``config_error``; see load_camera.
    """
    mount = load_camera(name_or_file, arm)
    return CameraSpec(mount.pose, link="" if mount.parent == "world" else mount.parent, frame_id=mount.child)


OTHER_NOISE = 1_000_000  # pictures that no simulation takes
STEADY = 0.2  # [s] between two pictures, up to which the camera is taken to have moved evenly from one to the other


class RgbdRenderer:
    """Renders a camera in a simulation off screen. OpenGL's state belongs to one thread: open, use and close it in the same one.

    ``camera`` is any camera no larger than the world's own, which is the default. The pose that a frame tells is that of the measured joints where the
    arm carries the camera. Where the world has a reality, the camera really is where that says, and what it measures is as that says. Use as a context
    manager, or call ``open`` and ``close``.
    """

    def __init__(self, simulation: Simulation, sensor: DepthSensor | None = None, camera: CameraSpec | None = None) -> None:
        self.simulation = simulation
        self.sensor = sensor or DepthSensor()
        self.camera = camera or simulation.built.spec.camera
        self.intrinsics = intrinsics_of(self.camera)
        links = simulation.built.robot.links
        if self.camera.link and self.camera.link not in links:
            raise DeskhandError("config_error", f"the arm has no link {self.camera.link!r} to carry a camera; it has {', '.join(links)}.")
        self._drawing = Drawing(simulation.model, self.camera.width, self.camera.height)
        self._count = 0
        self._last: Frame | None = None
        self._reality = simulation.built.spec.reality
        self._off = np.eye(4) if self._reality is None else mount_error(self._reality)
        self._before: tuple[float, Array] | None = None
        if self._reality is not None:
            focal = self.intrinsics.fx
            self._color_camera = ColorCamera(self._reality)
            self._depth_camera = DepthCamera(self._reality, self.sensor, (self.camera.height, self.camera.width))
            self._color_T_depth = depth_pose(self._reality, focal)
            self._losses = surface_losses(simulation.model, self._reality.depth)
        self._depth_apart = self._reality is not None and (self._reality.depth.registration > 0 or bool(self._losses.any()))

    def open(self) -> None:
        """Hand the model to the driver.

        Raises:
            DeskhandError: ``missing_dependency`` when the machine cannot render off screen.
        """
        self._drawing.open()

    def close(self) -> None:
        """Give back what the driver holds of the model."""
        self._drawing.close()

    def __enter__(self) -> RgbdRenderer:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def snapshot(self) -> tuple[Any, ...]:
        """What the next picture depends on besides the world: its noise, the pictures before it, where the camera was knocked to."""
        return self._count, self._last, self._before, self._off.copy()

    def restore(self, snapshot: tuple[Any, ...], noise: int = 0) -> None:
        """Go on from what :meth:`snapshot` gave; with another ``noise`` (0 or more) the same pictures come with other noise."""
        count, self._last, self._before, off = snapshot
        self._count, self._off = count + noise * OTHER_NOISE, off.copy()

    def render(self) -> Frame:
        """A frame of the world as it is now; where that is the simulation's fault, the one before once more, or one with holes."""
        fault = self.simulation.fault
        if fault is not None and fault.stale() and self._last is not None:
            return self._last
        stamp = self._update()
        color = self._drawing.color(deep=not self._depth_apart)
        rng = np.random.default_rng((self.simulation.built.spec.seed, self._count))
        self._count += 1
        measured, exposed = self._measure(color, stamp, rng)
        if fault is not None:
            measured = fault.holed(measured, rng)
        self._last = Frame(exposed, measured, self.intrinsics, self._told_pose(), stamp)
        return self._last

    def _measure(self, color: Image, stamp: float, rng: np.random.Generator) -> tuple[Depth, Image]:
        """Depth and colour as the sensors give them of what was just drawn."""
        focal = self.intrinsics.fx
        if self._reality is None:
            return self.sensor.measure(self._drawing.depth(), focal, rng), noisy(color, rng)
        loss = None
        if self._depth_apart:
            geoms = self._draw_geoms(self._color_T_depth)
            loss = np.append(self._losses, np.float32(0.0))[geoms]  # -1: nothing is there
        measured = self._depth_camera.measure(self._drawing.depth(), focal, rng, loss)
        return measured, self._color_camera.expose(color, rng, self._motion(measured, stamp))

    def _motion(self, depth: Depth, stamp: float) -> Array | None:
        """How fast the picture moves over the sensor (2,) [px/s] where the arm carries the camera."""
        if not self.camera.link or self._reality is None or self._reality.color.shutter <= 0:
            return None
        pose, before = self._real_pose(), self._before
        self._before = stamp, pose
        if before is None or not 0 < stamp - before[0] < STEADY:
            return None
        now_T_then = np.linalg.inv(pose) @ before[1]
        middle = np.array([0.0, 0.0, float(np.nanmedian(depth)), 1.0])
        moved = now_T_then @ middle
        return np.asarray(-self.intrinsics.fx * (moved[:2] / moved[2]) / (stamp - before[0]))

    def _told_pose(self) -> Array:
        """world_T_camera as the robot knows it."""
        if not self.camera.link:
            return self.camera.world_T_camera
        links = self.simulation.built.robot.forward(joint_map(self.simulation.joint_state()))
        return np.asarray(links[self.camera.link] @ self.camera.world_T_camera)

    def _real_pose(self) -> Array:
        """world_T_camera as it is."""
        pose = self.camera.world_T_camera
        if self.camera.link:
            body = self._drawing.data.body(self.camera.link)
            pose = make_transform(body.xmat.reshape(3, 3), body.xpos) @ pose
        return np.asarray(pose @ self._off)

    def render_true(self) -> tuple[Image, Picture, float]:
        """Colour (H, W, 3), true depth (H, W) [m] and time [s], without the sensors."""
        stamp = self._update()
        return self._drawing.color(), self._drawing.depth(), stamp

    def render_owners(self) -> Owners:
        """Which object of the world each pixel shows (H, W), as its place in ``spec.objects``, -1 for none; for benchmarks."""
        geoms = self.render_geoms()
        places = {body: place for place, body in enumerate(self.simulation.built.object_bodies)}
        owner = [places.get(int(body), -1) for body in self.simulation.model.geom_bodyid]
        return np.asarray(np.array([*owner, -1], np.int64)[geoms])

    def render_geoms(self) -> Owners:
        """Which geom of the model each pixel shows (H, W), -1 for none; for benchmarks."""
        self._update()
        return self._draw_geoms(np.eye(4))

    def _update(self) -> float:
        """Take over the state of the world; returns its time [s]."""
        if not self._drawing.is_open:
            raise DeskhandError("no_frame", "the camera is not open.")
        model, data = self.simulation.model, self._drawing.data
        stamp = self.simulation.copy_state(data)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        self._drawing.place(self._real_pose(), self.camera.fovy)
        self._drawing.look()
        return stamp

    def _draw_geoms(self, real_T_other: Array) -> Owners:
        """Draw the same state from ``real_T_other``, beside where the camera is: the geom that each pixel shows (H, W), -1 for none."""
        self._drawing.place(self._real_pose() @ real_T_other, self.camera.fovy)
        self._drawing.turn()
        return self._drawing.geoms()
