"""The simulated RGB-D camera: MuJoCo's picture of the world, seen through a sensor model."""

from __future__ import annotations

import math
import os
from types import TracebackType
from typing import Any

import mujoco
import numpy as np

from deskhand.cameras.config import load_camera
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform
from deskhand.perception.self_filter import joint_map
from deskhand.sim.room import CAMERA, OPTICAL_TO_GL
from deskhand.sim.sensor import DepthSensor
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import CameraSpec
from deskhand.types import CameraIntrinsics, Frame, Image


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


class RgbdRenderer:
    """Renders a camera in a simulation off screen. An OpenGL context belongs to one thread: open, use and close it in the same one.

    ``camera`` is any camera no larger than the world's own, which is the default. The pose that a frame tells is that of the measured joints where the
    arm carries the camera. Use as a context manager, or call ``open`` and ``close``.
    """

    def __init__(self, simulation: Simulation, sensor: DepthSensor | None = None, camera: CameraSpec | None = None) -> None:
        self.simulation = simulation
        self.sensor = sensor or DepthSensor()
        self.camera = camera or simulation.built.spec.camera
        self.intrinsics = intrinsics_of(self.camera)
        links = simulation.built.robot.links
        if self.camera.link and self.camera.link not in links:
            raise DeskhandError("config_error", f"the arm has no link {self.camera.link!r} to carry a camera; it has {', '.join(links)}.")
        self._gl: Any = None
        self._context: Any = None
        self._count = 0
        self._last: Frame | None = None

    def open(self) -> None:
        """Make the OpenGL context.

        Raises:
            DeskhandError: ``missing_dependency`` when the machine cannot render off screen.
        """
        model, camera = self.simulation.model, self.camera
        self._data, self._scene, self._options = mujoco.MjData(model), mujoco.MjvScene(model, maxgeom=2000), mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        self._camera.type, self._camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, model.camera(CAMERA).id
        self._view = mujoco.MjrRect(0, 0, camera.width, camera.height)
        try:
            from mujoco.gl_context import GLContext

            self._gl = GLContext(camera.width, camera.height)
            self._gl.make_current()
            self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        except Exception as error:  # what a missing driver raises differs from one OpenGL platform to another
            raise DeskhandError(
                "missing_dependency",
                f"no off-screen rendering (MUJOCO_GL={os.environ.get('MUJOCO_GL', 'not set')}): {error}.",
                hint="Set MUJOCO_GL=egl and install libegl1 and libgl1-mesa-dri.",
            ) from error
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR

    def close(self) -> None:
        """Give the OpenGL context back."""
        if self._context is not None:
            self._context.free()
        if self._gl is not None:
            self._gl.free()
        self._gl = self._context = None

    def __enter__(self) -> RgbdRenderer:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def render(self) -> Frame:
        """A frame of the world as it is now; where that is the simulation's fault, the one before once more, or one with holes."""
        fault = self.simulation.fault
        if fault is not None and fault.stale() and self._last is not None:
            return self._last
        color, depth, stamp = self.render_true()
        world = self.simulation.built.spec
        rng = np.random.default_rng((world.seed, self._count))
        self._count += 1
        measured = self.sensor.measure(depth, self.intrinsics.fx, rng)
        if fault is not None:
            measured = fault.holed(measured, rng)
        self._last = Frame(_exposed(color, rng), measured, self.intrinsics, self._told_pose(), stamp)
        return self._last

    def _told_pose(self) -> Array:
        """world_T_camera as the robot knows it."""
        if not self.camera.link:
            return self.camera.world_T_camera
        links = self.simulation.built.robot.forward(joint_map(self.simulation.joint_state()))
        return np.asarray(links[self.camera.link] @ self.camera.world_T_camera)

    def _place(self) -> None:
        """Put the model's camera where this one really is."""
        pose = self.camera.world_T_camera
        if self.camera.link:
            body = self._data.body(self.camera.link)
            pose = make_transform(body.xmat.reshape(3, 3), body.xpos) @ pose
        camera = self._camera.fixedcamid
        self._data.cam_xpos[camera], self._data.cam_xmat[camera] = pose[:3, 3], (pose[:3, :3] @ OPTICAL_TO_GL).reshape(-1)
        self.simulation.model.cam_fovy[camera] = math.degrees(self.camera.fovy)

    def render_true(self) -> tuple[Image, np.ndarray[tuple[int, ...], np.dtype[np.float32]], float]:
        """Colour (H, W, 3), true depth (H, W) [m] and time [s], without the sensor."""
        model = self.simulation.model
        color, buffer, stamp = self._draw()
        # the buffer holds 1 at the near plane and 0 at the far one, linear in 1 / depth; rows come bottom up
        near, far = (limit * model.stat.extent for limit in (model.vis.map.znear, model.vis.map.zfar))
        depth = near * far / (near + buffer[::-1].astype(np.float64) * (far - near))
        return np.ascontiguousarray(color[::-1]), depth.astype(np.float32), stamp

    def render_owners(self) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        """Which object of the world each pixel shows (H, W), as its place in ``spec.objects``, -1 for none; for benchmarks."""
        flags = (mujoco.mjtRndFlag.mjRND_SEGMENT, mujoco.mjtRndFlag.mjRND_IDCOLOR)
        for flag in flags:
            self._scene.flags[flag] = 1
        try:
            picture, _, _ = self._draw()
        finally:
            for flag in flags:
                self._scene.flags[flag] = 0
        number = picture[::-1].astype(np.int64) @ [1, 256, 65536]  # 0: nothing, else one more than the place in the drawn scene
        places = {body: place for place, body in enumerate(self.simulation.built.object_bodies)}
        owner = np.full(self._scene.ngeom + 1, -1, np.int64)
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.objtype == mujoco.mjtObj.mjOBJ_GEOM and geom.segid >= 0:
                owner[geom.segid + 1] = places.get(int(self.simulation.model.geom_bodyid[geom.objid]), -1)
        return np.asarray(owner[number])

    def _draw(self) -> tuple[Image, np.ndarray[tuple[int, ...], np.dtype[np.float32]], float]:
        """Colour and depth buffer, rows bottom up, and the time [s]."""
        if self._context is None:
            raise DeskhandError("no_frame", "the camera is not open.")
        model, data, k = self.simulation.model, self._data, self.intrinsics
        stamp = self.simulation.copy_state(data)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        self._place()
        self._gl.make_current()
        mujoco.mjv_updateScene(model, data, self._options, None, self._camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene)
        mujoco.mjr_render(self._view, self._scene, self._context)
        color, buffer = np.empty((k.height, k.width, 3), np.uint8), np.empty((k.height, k.width), np.float32)
        mujoco.mjr_readPixels(color, buffer, self._view, self._context)
        return color, buffer, stamp


def _exposed(color: Image, rng: np.random.Generator) -> Image:
    """Colour with the noise of a sensor, 2 of 255."""
    noise = rng.integers(-3, 4, color.shape, dtype=np.int16)
    return np.asarray(np.clip(color.astype(np.int16) + noise, 0, 255), dtype=np.uint8)
