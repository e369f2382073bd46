"""What a real depth camera would measure of a foreign simulator's perfect pictures: our own sensor model on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deskhand.cameras.base import Camera
from deskhand.geometry import inverse
from deskhand.sim.reality.color import ColorCamera
from deskhand.sim.reality.depth import DepthCamera
from deskhand.sim.reality.spec import RealitySpec
from deskhand.sim.reality.world import mount_error
from deskhand.sim.sensor import DepthSensor
from deskhand.types import Frame


class SensedCamera:
    """A camera whose depth, colour and mount have the errors of ``reality``: scale, bend, noise, flying pixels, interference, white balance, exposure. What
    depends on materials, and the offset between depth and colour, is left out: the foreign renderer draws one picture.
    """

    def __init__(self, camera: Camera, reality: RealitySpec, size: tuple[int, int]) -> None:
        """``size``: (width, height) [px]."""
        shape = (size[1], size[0])
        self._camera, self._seed, self._count = camera, reality.seed, 0
        self._depth, self._color = DepthCamera(reality, DepthSensor(), shape), ColorCamera(reality)
        self._told = inverse(mount_error(reality))

    def capture(self, newer_than: float | None = None) -> Frame:
        """See Camera."""
        frame = self._camera.capture(newer_than)
        rng = np.random.default_rng((self._seed, self._count))
        self._count += 1
        depth = self._depth.measure(frame.depth, frame.intrinsics.fx, rng)
        return replace(frame, depth=depth, color=self._color.expose(frame.color, rng), world_T_camera=frame.world_T_camera @ self._told)
