"""Orbbec cameras through pyorbbecsdk2 (imports as ``pyorbbecsdk``). Not yet run on hardware: written against the API of version 2.1.2."""

from __future__ import annotations

import logging
import time
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.cameras.base import Exposure, RgbdImage, StreamSettings, within
from deskhand.cameras.optional_filters import usable
from deskhand.cameras.rectify import Rectifier
from deskhand.cameras.stamps import DeviceClock
from deskhand.errors import DeskhandError
from deskhand.types import CameraIntrinsics, Image

STOP_TIME = 3.0  # [s]
REBOOT_TIME = 15.0  # [s] that a camera may take to come back after a reboot
POLL = 0.2  # [s]
LONGEST_MEMORY = 5  # frames that may be left out before smoothing over time begins anew

USB_DEVICES, MAKER = Path("/sys/bus/usb/devices"), "2bc5"
FILTERS = {"decimation": "DecimationFilter", "spatial": "SpatialAdvancedFilter", "temporal": "TemporalFilter"}
TRIALS = {"decimation": "sdk.DecimationFilter().set_scale_value({scale})", "spatial": "sdk.SpatialAdvancedFilter()", "temporal": "sdk.TemporalFilter()"}
"""What a child process does with each optional filter before it is made here; some builds die of it."""

log = logging.getLogger(__name__)


class Orbbec:
    """See RgbdDriver."""

    def __init__(self, settings: StreamSettings) -> None:
        self._settings = settings
        self._sdk: Any = None
        self._device: Any = None
        self._pipeline: Any = None
        self._filters: list[Any] = []
        self._filtered = -1  # number of the last frame that went through the filters
        self._clock = DeviceClock()
        self._seen_as: tuple[Any, ...] = ()
        self._rectifier: Rectifier | None = None
        self._held: Any = None

    def connect(self) -> None:
        """See RgbdDriver."""
        sdk = self._library()
        self._device = self._find()
        if self._device is None:
            which = f"Orbbec camera {self._settings.serial}" if self._settings.serial else "Orbbec camera"
            if products := orbbec_on_usb():
                raise DeskhandError(
                    "no_frame",
                    f"{', '.join(products)} is connected, but pyorbbecsdk does not find {which}.",
                    retry=True,
                    hint="Its udev rules (deskhand doctor), or another program that has it; and pyorbbecsdk2 knows no older camera (Gemini, Gemini Pro, Dabai, "
                    "Astra, as on a JetArm): those need a ROS node, see docs/cameras.md.",
                )
            raise DeskhandError("no_frame", f"no {which} is connected.", retry=True, hint="Plugged in? Are its udev rules there (deskhand doctor)?")
        try:
            self._pipeline = sdk.Pipeline(self._device)
            self._pipeline.enable_frame_sync()
            self._pipeline.start(self._config())
        except (sdk.OBError, RuntimeError) as error:
            self._pipeline = None
            wanted = self._settings
            raise DeskhandError("config_error", f"the camera does not stream {wanted.width}x{wanted.height} at {wanted.rate} Hz: {error}.") from error
        self._filters, self._seen_as = [], ()

    def _library(self) -> Any:
        if self._sdk is None:
            try:
                import pyorbbecsdk
            except ImportError as error:
                raise DeskhandError(
                    "missing_dependency",
                    f"pyorbbecsdk cannot be imported: {error}.",
                    hint="pip install --no-deps pyorbbecsdk2 (what it asks for besides is for its examples, and would replace numpy and opencv).",
                ) from error
            self._sdk = pyorbbecsdk
        return self._sdk

    def _find(self) -> Any:
        devices = self._sdk.Context().query_devices()
        for index in range(devices.get_count()):
            if not self._settings.serial or devices.get_device_serial_number_by_index(index) == self._settings.serial:
                return devices.get_device_by_index(index)
        return None

    def _config(self) -> Any:
        sdk, wanted, config = self._sdk, self._settings, self._sdk.Config()
        colors = self._pipeline.get_stream_profile_list(sdk.OBSensorType.COLOR_SENSOR)
        depths = self._pipeline.get_stream_profile_list(sdk.OBSensorType.DEPTH_SENSOR)
        config.enable_stream(self._color_profile(colors))
        try:
            config.enable_stream(depths.get_video_stream_profile(wanted.width, wanted.height, sdk.OBFormat.Y16, wanted.rate))
        except (sdk.OBError, RuntimeError):
            config.enable_stream(depths.get_default_video_stream_profile())  # 640x400 or 640x576 on some: aligning makes it the colour's size
        config.set_frame_aggregate_output_mode(sdk.OBFrameAggregateOutputMode.FULL_FRAME_REQUIRE)
        return config

    def _color_profile(self, profiles: Any) -> Any:
        sdk, wanted = self._sdk, self._settings
        problem: Exception | None = None
        for name in ("RGB", "MJPG", "YUYV"):
            try:
                return profiles.get_video_stream_profile(wanted.width, wanted.height, getattr(sdk.OBFormat, name), wanted.rate)
            except (sdk.OBError, RuntimeError) as error:
                problem = error
        raise RuntimeError(f"no colour profile in RGB, MJPG or YUYV ({problem})")

    def _make_filters(self) -> list[Any]:
        """As for every camera here: decimation, smoothing, aligned to colour; no hole filling. What kills a child process is left out; but for the last."""
        sdk, wanted, blocks = self._sdk, self._settings, []
        asked = [name for name, on in (("decimation", wanted.decimation > 1), ("spatial", wanted.spatial), ("temporal", wanted.temporal)) if on]
        for name in usable(sdk.__name__, [(name, TRIALS[name].format(scale=wanted.decimation)) for name in asked]):
            block = getattr(sdk, FILTERS[name])()
            if name == "decimation":
                block.set_scale_value(wanted.decimation)
            blocks.append(block)
        return [*blocks, sdk.AlignFilter(align_to_stream=sdk.OBStreamType.COLOR_STREAM)]

    def read(self, timeout: float) -> Exposure:
        """See RgbdDriver."""
        if self._pipeline is None:
            raise DeskhandError("no_frame", "the Orbbec camera is not open.", retry=True)
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            try:
                frames = self._pipeline.wait_for_frames(max(1, int(left * 1000)))
                depth = frames.get_depth_frame() if frames is not None else None  # None: nothing came
                if depth is not None and frames.get_color_frame() is not None:
                    stamp = self._clock.system(depth.get_timestamp_us() * 1e-6, time.time())
                    return Exposure(stamp, depth.get_index(), partial(self._image, frames))
            except (self._sdk.OBError, RuntimeError) as error:
                raise DeskhandError("no_frame", f"the Orbbec camera is gone: {error}.", retry=True) from error
        raise DeskhandError("no_frame", f"no picture from the Orbbec camera within {timeout:g} s.", retry=True)

    def _image(self, frames: Any) -> RgbdImage:
        number = frames.get_depth_frame().get_index()
        if not self._filters or not 0 < number - self._filtered <= LONGEST_MEMORY:
            self._filters = self._make_filters()  # smoothing over time must not mix in what was there long ago
        self._filtered = number
        try:
            for block in self._filters:
                frames = block.process(frames).as_frame_set()
            depth, color = frames.get_depth_frame(), frames.get_color_frame()
            self._held = frames
            rows = np.frombuffer(depth.get_data(), np.uint16).reshape(depth.get_height(), depth.get_width())
            image = RgbdImage(self._color(color), rows, depth.get_depth_scale() * 1e-3, self._intrinsics(color))
        except (self._sdk.OBError, RuntimeError, AttributeError) as error:  # AttributeError: a filter gave None
            raise DeskhandError("no_frame", f"the camera's picture cannot be aligned: {error}.", retry=True) from error
        return image if self._rectifier is None else self._rectifier.apply(image)

    def _color(self, frame: Any) -> Image:
        return decode_color(np.asarray(frame.get_data()), frame.get_format().name, frame.get_height(), frame.get_width())

    def _intrinsics(self, color: Any) -> CameraIntrinsics:
        profile = color.get_stream_profile().as_video_stream_profile()
        k, d = profile.get_intrinsic(), profile.get_distortion()
        seen_as = (k.width, k.height, k.fx, k.fy, k.cx, k.cy, d.k1, d.k2, d.p1, d.p2, d.k3, d.k4, d.k5, d.k6)
        if seen_as != self._seen_as:
            self._seen_as = seen_as
            self._pinhole = CameraIntrinsics(k.width, k.height, k.fx, k.fy, k.cx, k.cy, self._settings.frame_id)
            inverse = d.model == self._sdk.OBCameraDistortionModel.INVERSE_BROWN_CONRADY
            rectifier = Rectifier(self._pinhole, seen_as[6:], inverse) if any(seen_as[6:]) else None
            self._rectifier = rectifier if rectifier is not None and rectifier.needed else None
        return self._pinhole

    def recover(self) -> None:
        """Close, reboot the camera when it still answers, wait until it is back, open it again."""
        sdk, device = self._library(), self._device
        self.close()
        if device is not None:
            try:
                device.reboot()
            except (sdk.OBError, RuntimeError) as error:
                log.info("the Orbbec camera cannot be rebooted: %s", error)
        end = time.monotonic() + REBOOT_TIME
        while self._find() is None and time.monotonic() < end:
            time.sleep(POLL)
        self.connect()

    def close(self) -> None:
        """See RgbdDriver."""
        pipeline, self._pipeline, self._held, self._device = self._pipeline, None, None, None
        if pipeline is not None and not within(STOP_TIME, pipeline.stop):
            log.warning("the Orbbec pipeline did not stop within %g s; it is left behind", STOP_TIME)


def orbbec_on_usb(devices: Path = USB_DEVICES) -> list[str]:
    """Names of the Orbbec devices on USB, known to the library or not."""
    makers = [device for device in sorted(devices.glob("*/idVendor")) if device.read_text().strip() == MAKER]
    return [product.read_text().strip() if (product := maker.parent / "product").is_file() else "an Orbbec device" for maker in makers]


def decode_color(data: npt.NDArray[np.uint8], encoding: str, height: int, width: int) -> Image:
    """(H, W, 3) RGB of a colour frame's bytes in RGB, BGR, MJPG, YUYV or UYVY.

    Raises:
        DeskhandError: ``no_frame`` for a broken JPEG, ``config_error`` for another encoding.
    """
    if encoding == "RGB":
        return data.reshape(height, width, 3)
    if encoding == "BGR":
        return np.asarray(cv2.cvtColor(data.reshape(height, width, 3), cv2.COLOR_BGR2RGB), np.uint8)
    if encoding == "MJPG":
        picture = cv2.imdecode(data, cv2.IMREAD_COLOR)
        if picture is None:
            raise DeskhandError("no_frame", "the camera sent a broken JPEG.", retry=True)
        return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB), np.uint8)
    codes = {"YUYV": cv2.COLOR_YUV2RGB_YUYV, "YUY2": cv2.COLOR_YUV2RGB_YUYV, "UYVY": cv2.COLOR_YUV2RGB_UYVY}
    if encoding not in codes:
        raise DeskhandError("config_error", f"the camera sends colour as {encoding!r}; understood: RGB, BGR, MJPG, {', '.join(codes)}.")
    return np.asarray(cv2.cvtColor(data.reshape(height, width, 2), codes[encoding]), np.uint8)
