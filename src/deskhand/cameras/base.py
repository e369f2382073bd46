"""What an RGB-D camera offers: ``Camera`` to the robot, ``RgbdDriver`` to the camera node; one file a vendor beside this one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from deskhand.types import CameraIntrinsics, Depth, Frame, Image

OPTICAL_FRAME = "camera_color_optical_frame"
DROPPED_AT_MOST = 1000  # a larger jump of the frame counter is a counter that began anew


class Camera(Protocol):
    """A camera that gives aligned colour and depth."""

    def capture(self, newer_than: float | None = None) -> Frame:
        """A frame exposed after ``newer_than`` [s] (default: after this call).

        Raises:
            DeskhandError: ``no_frame`` or ``stale_data`` when none came in time.
        """
        ...


@dataclass(frozen=True)
class StreamSettings:
    """What is asked of a camera.

    Attributes:
        width, height: of the colour picture, to which depth is aligned [px].
        rate: [Hz]
        serial: number of the camera; empty: the only one, or the first.
        decimation: depth is read at 1/decimation of its resolution (1: all of it): less noise, and half the work.
        spatial, temporal: smooth depth over neighbours, over exposures. Holes stay holes: grasps are planned on what was seen.
        frame_id: of the optical frame.
    """

    width: int = 640
    height: int = 480
    rate: int = 30
    serial: str = ""
    decimation: int = 2
    spatial: bool = False
    temporal: bool = False
    frame_id: str = OPTICAL_FRAME


@dataclass(frozen=True)
class RgbdImage:
    """A picture as a driver gives it: aligned, rectified.

    Attributes:
        color: (H, W, 3) uint8, RGB. It and ``depth`` may be the driver's own memory, valid until the next ``read``.
        depth: (H, W) uint16 in ``unit``, 0 where the sensor saw nothing.
        unit: of depth [m].
    """

    color: Image
    depth: npt.NDArray[np.uint16]
    unit: float
    intrinsics: CameraIntrinsics

    def metres(self) -> Depth:
        """Depth (H, W) float32 [m], NaN for nothing; a copy."""
        depth: Depth = self.depth.astype(np.float32) * np.float32(self.unit)
        depth[self.depth == 0] = np.nan
        return depth


@dataclass(frozen=True)
class Exposure:
    """That a picture was taken, and how to get it: filtering and aligning are left until somebody wants to see it.

    Attributes:
        stamp: of the exposure [s], system time.
        number: the camera's frame counter; a gap is a dropped frame.
        image: makes the picture; to be called before the next ``read``.
    """

    stamp: float
    number: int
    image: Callable[[], RgbdImage]


class RgbdDriver(Protocol):
    """A vendor's library as a stream of exposures; used by one thread."""

    def connect(self) -> None:
        """Open the camera and let it stream.

        Raises:
            DeskhandError: ``missing_dependency`` without the vendor's library, ``no_frame`` when there is no such camera, ``config_error`` when
                it cannot do what the settings ask.
        """
        ...

    def read(self, timeout: float) -> Exposure:
        """The next exposure, waited for ``timeout`` [s] at most.

        Raises:
            DeskhandError: ``no_frame`` when none came or the camera is gone, ``cancelled`` when a recording is at its end.
        """
        ...

    def recover(self) -> None:
        """Try to get a camera back that went silent; raises as ``connect``."""
        ...

    def close(self) -> None:
        """Let the camera go, within seconds, whatever its library does; harmless when called again."""
        ...


@dataclass
class CameraHealth:
    """What became of the frames.

    Attributes:
        published: handed on.
        dropped: the camera's counter jumped over them.
        stale: thrown away: not newer than the last, or too old.
        reconnects: times that the camera came back.
        error: why no frame comes now; empty when they come.
        max_age: [s] older ones are stale.
    """

    max_age: float = 0.5
    published: int = 0
    dropped: int = 0
    stale: int = 0
    reconnects: int = 0
    error: str = ""
    last_stamp: float = float("-inf")
    _number: int | None = None

    def takes(self, taken: Exposure, now: float) -> bool:
        """Count an exposure and say whether it is to be handed on; ``now`` [s] on the clock of its stamp."""
        gap = 0 if self._number is None else taken.number - self._number - 1
        self._number = taken.number
        if 0 < gap <= DROPPED_AT_MOST:
            self.dropped += gap
        if taken.stamp <= self.last_stamp or now - taken.stamp > self.max_age:
            self.stale += 1
            return False
        self.last_stamp, self.error = taken.stamp, ""
        self.published += 1
        return True

    def lost(self, why: str) -> None:
        """No frame comes, because of ``why``."""
        self.error = why

    def paused(self) -> None:
        """Nobody reads: what the camera's counter passes over meanwhile was not dropped."""
        self._number, self.error = None, ""

    def back(self) -> None:
        """The camera streams again; its counter may begin anew."""
        self.reconnects += 1
        self._number, self.error = None, ""


def within(seconds: float, action: Callable[[], object]) -> bool:
    """Do what may hang in a thread that is left behind after ``seconds``; True when it ended, also by an exception of a library that lost its device."""
    ended = threading.Event()

    def work() -> None:
        try:
            action()
        except RuntimeError:
            pass  # the device is gone: there is nothing left to end
        finally:
            ended.set()

    threading.Thread(target=work, name="camera end", daemon=True).start()
    return ended.wait(seconds)
