"""Intel RealSense through pyrealsense2 (librealsense). Not yet run on hardware: tested on librealsense's software devices."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from deskhand.cameras.base import Exposure, RgbdImage, StreamSettings, within
from deskhand.cameras.rectify import Rectifier
from deskhand.cameras.stamps import DeviceClock
from deskhand.errors import DeskhandError
from deskhand.types import CameraIntrinsics

STOP_TIME = 3.0  # [s] that a pipeline may take to stop: it can hang when its device is gone
RESET_TIME = 10.0  # [s] that a camera may take to come back after a reset
POLL = 0.1  # [s]
LONGEST_MEMORY = 5  # frames that may be left out before smoothing over time begins anew

log = logging.getLogger(__name__)
Finder = Callable[[Any, str], Any]


def find_device(rs: Any, serial: str) -> Any:
    """The connected device with this serial number (empty: the first), or None."""
    for device in rs.context().query_devices():
        if not serial or device.get_info(rs.camera_info.serial_number) == serial:
            return device
    return None


class RealSense:
    """See RgbdDriver. ``find`` gives the device to open; the default looks at the USB bus."""

    def __init__(self, settings: StreamSettings, find: Finder = find_device, reset_time: float = RESET_TIME) -> None:
        self._settings, self._find, self._reset_time = settings, find, reset_time
        self._rs: Any = None
        self._device: Any = None
        self._pipeline: Any = None
        self._filters: list[Any] = []
        self._filtered = -1  # number of the last frame that went through the filters
        self._clock = DeviceClock()
        self._seen_as: tuple[Any, ...] = ()
        self._rectifier: Rectifier | None = None
        self._held: Any = None  # the frames whose memory was handed out

    def connect(self) -> None:
        """See RgbdDriver."""
        rs = self._library()
        self._device = self._find(rs, self._settings.serial)
        if self._device is None:
            which = f"RealSense {self._settings.serial}" if self._settings.serial else "RealSense"
            raise DeskhandError("no_frame", f"no {which} is connected.", retry=True, hint="Plugged into USB 3? Are its udev rules there (deskhand doctor)?")
        wanted, pipeline, config = self._settings, rs.pipeline(), rs.config()
        pipeline.set_device(self._device)
        config.enable_stream(rs.stream.depth, wanted.width, wanted.height, rs.format.z16, wanted.rate)
        config.enable_stream(rs.stream.color, wanted.width, wanted.height, rs.format.rgb8, wanted.rate)
        try:
            pipeline.start(config)
        except RuntimeError as error:
            raise DeskhandError(
                "config_error",
                f"the RealSense does not stream {wanted.width}x{wanted.height} at {wanted.rate} Hz: {error}.",
                hint="On USB 2 it offers less: use a USB 3 port and cable, or a lower rate.",
            ) from error
        self._pipeline, self._filters, self._seen_as = pipeline, [], ()

    def _library(self) -> Any:
        if self._rs is None:
            try:
                import pyrealsense2
            except ImportError as error:
                raise DeskhandError(
                    "missing_dependency", f"pyrealsense2 cannot be imported: {error}.", hint="pip install pyrealsense2; apt-get install libusb-1.0-0."
                ) from error
            self._rs = pyrealsense2
        return self._rs

    def read(self, timeout: float) -> Exposure:
        """See RgbdDriver."""
        if self._pipeline is None:
            raise DeskhandError("no_frame", "the RealSense is not open.", retry=True)
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            frames = self._wait(left)
            depth = frames.get_depth_frame()
            if depth and frames.get_color_frame():
                return Exposure(self._stamp(depth), depth.get_frame_number(), partial(self._image, frames))
        raise DeskhandError("no_frame", f"no picture from the RealSense within {timeout:g} s.", retry=True)

    def _wait(self, seconds: float) -> Any:
        try:
            came, frames = self._pipeline.try_wait_for_frames(max(1, int(seconds * 1000)))
        except RuntimeError as error:  # what it says differs between versions and systems
            raise DeskhandError("no_frame", f"the RealSense is gone: {error}.", retry=True) from error
        if not came:
            raise DeskhandError("no_frame", "no picture from the RealSense.", retry=True)
        return frames

    def _stamp(self, frame: Any) -> float:
        stamp = float(frame.get_timestamp()) * 1e-3
        if frame.get_frame_timestamp_domain() == self._rs.timestamp_domain.hardware_clock:
            return self._clock.system(stamp, time.time())
        return stamp

    def _image(self, frames: Any) -> RgbdImage:
        number = frames.get_frame_number()
        if not self._filters or not 0 < number - self._filtered <= LONGEST_MEMORY:
            self._filters = _filters(self._rs, self._settings)  # smoothing over time must not mix in what was there long ago
        self._filtered = number
        for block in self._filters:
            frames = block.process(frames).as_frameset()
        depth, color = frames.get_depth_frame(), frames.get_color_frame()
        self._held = frames
        image = RgbdImage(np.asarray(color.get_data()), np.asarray(depth.get_data()), depth.get_units(), self._intrinsics(depth))
        return image if self._rectifier is None else self._rectifier.apply(image)

    def _intrinsics(self, depth: Any) -> CameraIntrinsics:
        """Of the depth as it comes out of the filters: they change its size, and aligning makes it the colour's."""
        k = depth.get_profile().as_video_stream_profile().get_intrinsics()
        seen_as = (k.width, k.height, k.fx, k.fy, k.ppx, k.ppy, k.model, *k.coeffs)
        if seen_as != self._seen_as:
            self._seen_as = seen_as
            self._pinhole = CameraIntrinsics(k.width, k.height, k.fx, k.fy, k.ppx, k.ppy, self._settings.frame_id)
            rectifier = None
            if any(k.coeffs) and k.model != self._rs.distortion.none:
                rectifier = Rectifier(self._pinhole, k.coeffs, inverse=k.model == self._rs.distortion.inverse_brown_conrady)
            self._rectifier = rectifier if rectifier is not None and rectifier.needed else None
        return self._pinhole

    def recover(self) -> None:
        """Close, reset the camera when it still answers, wait until it is back, open it again."""
        device = self._device
        self.close()
        rs = self._library()
        if device is not None:
            try:
                device.hardware_reset()
            except RuntimeError as error:
                log.info("the RealSense cannot be reset: %s", error)
        end = time.monotonic() + self._reset_time
        while self._find(rs, self._settings.serial) is None and time.monotonic() < end:
            time.sleep(POLL)
        self.connect()

    def close(self) -> None:
        """See RgbdDriver."""
        pipeline, self._pipeline, self._held, self._device = self._pipeline, None, None, None
        if pipeline is not None and not within(STOP_TIME, pipeline.stop):
            log.warning("the RealSense's pipeline did not stop within %g s; it is left behind", STOP_TIME)


def _filters(rs: Any, settings: StreamSettings) -> list[Any]:
    """Decimation, smoothing over space and time, and at last aligned to colour. No hole filling.

    Over space it is smoothed in disparity, as librealsense advises. A pixel that is smoothed over time alone stays at its distance: its noise is the same there
    in disparity as in depth, and the two conversions would take a sixth of the node's time.
    """
    blocks: list[Any] = []
    if settings.decimation > 1:
        blocks.append(rs.decimation_filter(float(settings.decimation)))
    smoothing = [*([rs.spatial_filter()] if settings.spatial else []), *([rs.temporal_filter()] if settings.temporal else [])]
    for block in smoothing:
        block.set_option(rs.option.holes_fill, 0)
    if settings.spatial:
        smoothing = [rs.disparity_transform(True), *smoothing, rs.disparity_transform(False)]
    return [*blocks, *smoothing, rs.align(rs.stream.color)]
