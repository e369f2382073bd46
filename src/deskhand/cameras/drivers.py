"""Camera drivers by name."""

from __future__ import annotations

from pathlib import Path

from deskhand.cameras.base import RgbdDriver, StreamSettings
from deskhand.errors import DeskhandError

DRIVERS = ("realsense", "orbbec", "file")
"""Drivers that the camera node can run; libraries are loaded when a camera is opened."""


def make_driver(name: str, settings: StreamSettings, file: str = "") -> RgbdDriver:
    """A driver, not yet connected; ``file`` is the recording or folder of ``file``.

    Raises:
        DeskhandError: ``config_error`` naming the drivers there are.
    """
    if name == "realsense":
        from deskhand.cameras.realsense import RealSense

        return RealSense(settings)
    if name == "orbbec":
        from deskhand.cameras.orbbec import Orbbec

        return Orbbec(settings)
    if name == "file":
        from deskhand.cameras.recorded import RecordedCamera

        if not Path(file).exists() or not file:
            raise DeskhandError("config_error", f"the recorded camera needs an MCAP file or a folder, got {file!r}.")
        return RecordedCamera(settings, Path(file))
    raise DeskhandError("config_error", f"there is no camera driver {name!r}; valid: {', '.join(DRIVERS)}.")
