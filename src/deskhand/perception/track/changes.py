"""What has changed between two depth pictures of a camera that stands still: where something has come, and where something has gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.track.settings import CHANGE
from deskhand.types import Frame

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Backdrop:
    """The desk as it was last seen.

    Attributes:
        depth: (H, W) float32 [m], NaN where nothing was measured, or the robot stood.
        world_T_camera: (4, 4) as the robot takes it to be, before any frame corrects it.
    """

    depth: npt.NDArray[np.float32]
    world_T_camera: Array

    @classmethod
    def of(cls, frame: Frame, robot: Mask) -> Backdrop:
        """What ``frame``, as the camera gave it, shows beside the ``robot`` (H, W)."""
        return cls(np.where(robot, np.nan, frame.depth).astype(np.float32), frame.world_T_camera)

    def updated(self, frame: Frame, robot: Mask, changed: Mask) -> Backdrop:
        """The same with all that ``frame`` shows beside the ``robot``; what it does not show of ``changed`` (H, W) is not known any more."""
        shown = np.isfinite(frame.depth) & ~robot
        depth = np.where(shown, frame.depth, np.where(changed, np.nan, self.depth))
        return Backdrop(depth.astype(np.float32), frame.world_T_camera)

    def is_of(self, frame: Frame) -> bool:
        """Whether ``frame`` is of the same camera at the same place."""
        return self.depth.shape == frame.depth.shape and np.allclose(self.world_T_camera, frame.world_T_camera, atol=CHANGE.still)


@dataclass(frozen=True)
class Changes:
    """Pixels (H, W) at which the camera sees nearer, or farther, than before, and the area (H, W) [m2] that each shows, seen along the line of sight.

    ``likely_nearer``: by less, which is enough to tell where a change is expected.
    """

    nearer: Mask
    farther: Mask
    likely_nearer: Mask
    areas: npt.NDArray[np.float32]

    def area(self, pixels: Mask) -> float:
        """[m2] of some of them."""
        return float(self.areas[pixels].sum())

    def blobs(self, pixels: Mask) -> float:
        """[m2] of the largest connected part of ``pixels``."""
        count, labels = cv2.connectedComponents(pixels.astype(np.uint8), connectivity=4)
        sums = np.bincount(labels.ravel(), weights=np.where(pixels, self.areas, 0.0).ravel(), minlength=count)
        return float(sums[1:].max(initial=0.0))


def changes(before: Backdrop, frame: Frame, robot: Mask) -> Changes | None:
    """What differs from ``before`` in ``frame``, as the camera gave it, where neither shows the ``robot``: by more than the noise of these two pictures.

    None where they are too noisy to tell. Most of what is seen must have stayed: the noise is that of the median pixel, whatever the sensor is.
    """
    difference = frame.depth - before.depth
    known = np.isfinite(difference) & ~robot
    if known.mean() < CHANGE.known:
        return None
    squared = np.square(before.depth)
    noise = 1.4826 * float(np.median(np.abs(difference[known]) / squared[known]))
    if noise > CHANGE.noisy:
        return None
    least = np.maximum(CHANGE.least, CHANGE.times * noise * squared)
    likely = np.maximum(CHANGE.likely_least, CHANGE.likely_times * noise * squared)
    smooth = cv2.medianBlur(np.where(known, difference, 0.0).astype(np.float32), 5)
    k = frame.intrinsics
    areas = (np.nan_to_num(frame.depth) ** 2 / (k.fx * k.fy)).astype(np.float32)
    likely_nearer = _opened(known & (smooth < -likely)) & (np.nan_to_num(difference) < -likely / 2)  # a thin rim before it has not changed
    return Changes(_opened(known & (smooth < -least)), _opened(known & (smooth > least)), likely_nearer, areas)


def _opened(pixels: Mask) -> Mask:
    """Without what is narrower than three pixels."""
    return np.asarray(cv2.morphologyEx(pixels.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)) > 0)


def outline(frame: Frame, corners: Array, grow: float) -> Mask:
    """Pixels (H, W) within the convex outline of points (N, 3) [m, world] as ``frame`` sees them, grown by ``grow`` [m]."""
    mask = np.zeros(frame.depth.shape, np.uint8)
    pixels = frame.project(corners)
    pixels = pixels[np.isfinite(pixels).all(axis=1)]
    if len(pixels) < 3:
        return mask > 0
    cv2.fillConvexPoly(mask, cv2.convexHull(pixels.astype(np.float32)).round().astype(np.int32), 1)
    away = float(np.linalg.norm(np.asarray(corners).mean(axis=0) - frame.world_T_camera[:3, 3]))
    reach = int(np.ceil(grow * frame.intrinsics.fx / max(away, 1e-3)))
    grown = cv2.dilate(mask, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1)))
    return np.asarray(grown > 0)


def within(frame: Frame, outlines: Sequence[Array], grow: float) -> Mask:
    """Pixels (H, W) within any of several :func:`outline`."""
    mask = np.zeros(frame.depth.shape, bool)
    for corners in outlines:
        mask |= outline(frame, corners, grow)
    return mask
