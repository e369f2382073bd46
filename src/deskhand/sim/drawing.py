"""A camera of a MuJoCo model, drawn off screen: colours, true depth, and which geom each pixel shows."""

from __future__ import annotations

import math
import os
from types import TracebackType
from typing import Any

import mujoco
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.sim.off_screen import current_gl
from deskhand.sim.room import CAMERA, OPTICAL_TO_GL
from deskhand.types import Image

Picture = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Owners = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
_FLAGS = (mujoco.mjtRndFlag.mjRND_SEGMENT, mujoco.mjtRndFlag.mjRND_IDCOLOR)


class Drawing:
    """Draws the model's camera :data:`CAMERA` from wherever it is put. OpenGL's state belongs to one thread: open, use and close it in the same one.

    Attributes:
        data: the state that is drawn; ``place`` and ``look`` after it changed.
    """

    def __init__(self, model: mujoco.MjModel, width: int, height: int) -> None:
        self.data = mujoco.MjData(model)
        self._model, self._width, self._height = model, width, height
        self._context: Any = None

    def open(self) -> None:
        """Hand the model to the driver.

        Raises:
            DeskhandError: ``missing_dependency`` when the machine cannot render off screen.
        """
        self._scene, self._options = mujoco.MjvScene(self._model, maxgeom=2000), mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        self._camera.type, self._camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, self._model.camera(CAMERA).id
        self._view = mujoco.MjrRect(0, 0, self._width, self._height)
        try:
            current_gl()
            self._context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
        except Exception as error:  # what a missing driver raises differs from one OpenGL platform to another
            raise DeskhandError(
                "missing_dependency",
                f"no off-screen rendering (MUJOCO_GL={os.environ.get('MUJOCO_GL', 'not set')}): {error}.",
                hint="Set MUJOCO_GL=egl and install libegl1 and libgl1-mesa-dri.",
            ) from error
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR

    def close(self) -> None:
        """Give back what the driver holds of the model."""
        if self._context is not None:
            current_gl()
            self._context.free()
        self._context = None

    def __enter__(self) -> Drawing:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether it can draw."""
        return self._context is not None

    def place(self, world_T_camera: Array, fovy: float) -> None:
        """Put the camera there; ``fovy``: vertical field of view [rad]."""
        camera = self._camera.fixedcamid
        self.data.cam_xpos[camera], self.data.cam_xmat[camera] = world_T_camera[:3, 3], (world_T_camera[:3, :3] @ OPTICAL_TO_GL).reshape(-1)
        self._model.cam_fovy[camera] = math.degrees(fovy)

    def look(self) -> None:
        """Take over the state, and where the camera was put."""
        mujoco.mjv_updateScene(self._model, self.data, self._options, None, self._camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene)

    def turn(self) -> None:
        """Take over only where the camera was put."""
        mujoco.mjv_updateCamera(self._model, self.data, self._camera, self._scene)

    def color(self, deep: bool = True) -> Image:
        """Draw it: colour (H, W, 3); ``deep``: the depth is kept, too."""
        current_gl()
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        mujoco.mjr_render(self._view, self._scene, self._context)
        color = np.empty((self._height, self._width, 3), np.uint8)
        if deep:
            self._buffer = np.empty((self._height, self._width), np.float32)
        mujoco.mjr_readPixels(color, self._buffer if deep else None, self._view, self._context)
        return np.ascontiguousarray(color[::-1])

    def depth(self) -> Picture:
        """True depth (H, W) [m] of what was drawn last with its depth."""
        # the buffer holds 1 at the near plane and 0 at the far one, linear in 1 / depth; rows come bottom up
        near, far = (limit * self._model.stat.extent for limit in (self._model.vis.map.znear, self._model.vis.map.zfar))
        return np.asarray(near * far / (near + self._buffer[::-1].astype(np.float64) * (far - near)), dtype=np.float32)

    def geoms(self) -> Owners:
        """Draw which geom each pixel shows (H, W), -1 for none; the depth is that of this picture."""
        for flag in _FLAGS:
            self._scene.flags[flag] = 1
        try:
            picture = self.color()
        finally:
            for flag in _FLAGS:
                self._scene.flags[flag] = 0
        number = (
            picture[..., 0] + (picture[..., 1].astype(np.int64) << 8) + (picture[..., 2].astype(np.int64) << 16)
        )  # 0: nothing, else one more than its place
        shown = np.full(self._scene.ngeom + 1, -1, np.int64)
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.objtype == mujoco.mjtObj.mjOBJ_GEOM and geom.segid >= 0:
                shown[geom.segid + 1] = geom.objid
        return np.asarray(shown[number])
