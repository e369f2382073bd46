"""What kind of shape an outline is: round, with so many corners, convex or not."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array


@dataclass(frozen=True)
class OutlineClassSettings:
    """Where one class ends and the next begins; shares without units. What names no source was chosen on drawn outlines.

    Attributes:
        smooth: side of the median that takes the noise of its edge away [px].
        corner: an outline is drawn by straight lines that miss it by no more than this share of its length.
        round: share of the ellipse in its smallest box that a round one fills; in its box a regular hexagon fills 0.955.
        circle: shorter over longer axis from which an ellipse is a circle; ``square`` the same of sides.
        convex: share of its hull that a convex outline fills.
        angle: cosine of the angle between sides below which they stand upright on each other.
        hole: share of the outline that a hole takes at least.
    """

    smooth: int = 5
    corner: float = 0.028
    round: float = 0.967
    circle: float = 0.86
    square: float = 0.86
    convex: float = 0.93
    angle: float = 0.22
    hole: float = 0.04


OUTLINES = OutlineClassSettings()


@dataclass(frozen=True)
class Outline:
    """Its ``kind``, ``corners`` (N, 2) of its polygon, whether it has a ``hole``, the share of its hull that is ``filled``, ``sides`` of its box."""

    kind: str
    corners: Array
    hole: bool
    filled: float
    sides: tuple[float, float]


def classify(mask: npt.NDArray[np.bool_], settings: OutlineClassSettings = OUTLINES) -> Outline | None:
    """The largest outline of a mask (H, W) in an undistorted view; corners and sides in pixels. None when it is too small to say."""
    smooth = cv2.medianBlur(np.pad(mask.astype(np.uint8), 4), settings.smooth)
    contours, levels = cv2.findContours(smooth, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    if not contours:
        return None
    areas = [cv2.contourArea(contour) for contour in contours]
    outer = [index for index in range(len(contours)) if levels[0][index][3] < 0]
    best = max(outer, key=lambda index: areas[index])
    contour, area = contours[best], areas[best]
    if area < 60 or len(contour) < 16:
        return None
    holes = sum(areas[index] for index in range(len(contours)) if levels[0][index][3] == best)
    hull = cv2.convexHull(contour)
    filled = area / max(cv2.contourArea(hull), 1.0)
    polygon = cv2.approxPolyDP(contour, settings.corner * cv2.arcLength(contour, True), True).reshape(-1, 2).astype(float)
    box = cv2.minAreaRect(contour)
    sides = max(box[1]) + 1.0, min(box[1]) + 1.0  # contours run through the middles of pixels
    kind = _convex(contour, polygon, area, sides, settings) if filled >= settings.convex else _hollow(polygon, filled, settings)
    return Outline(kind, polygon - 4, holes > settings.hole * area, float(filled), sides)


def _convex(contour: Array, polygon: Array, area: float, sides: tuple[float, float], settings: OutlineClassSettings) -> str:
    ratio = sides[1] / sides[0]
    ellipse = area / (np.pi / 4 * (sides[0] - 1) * (sides[1] - 1))
    corners = len(polygon)
    box = area / ((sides[0] - 1) * (sides[1] - 1))
    if corners > 4 and abs(ellipse - 1) < 1 - settings.round and box < 0.86:
        return "circle" if ratio >= settings.circle else "ellipse"
    if corners == 3:
        return "triangle"
    if corners == 4 or box > 0.93:
        steps = np.roll(polygon, -1, axis=0) - polygon
        steps = steps / np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1e-9)
        square_on = corners != 4 or np.abs((steps * np.roll(steps, -1, axis=0)).sum(axis=1)).max() < settings.angle
        if square_on:
            return "square" if ratio >= settings.square else "rectangle"
        parallel = sum(abs(float(steps[i] @ steps[i + 2])) > 1 - settings.angle / 4 for i in (0, 1))
        return {2: "parallelogram", 1: "trapezium"}.get(parallel, "quadrilateral")
    return {5: "pentagon", 6: "hexagon", 8: "octagon"}.get(corners, "circle" if corners > 8 else "polygon")


def _hollow(polygon: Array, filled: float, settings: OutlineClassSettings) -> str:
    """Kinds that are not convex, by how many of their corners turn inward."""
    a, b, c = np.roll(polygon, 1, axis=0), polygon, np.roll(polygon, -1, axis=0)
    turns = (b - a)[:, 0] * (c - b)[:, 1] - (b - a)[:, 1] * (c - b)[:, 0]
    area = float((polygon[:, 0] * c[:, 1] - polygon[:, 1] * c[:, 0]).sum())
    inward = int((turns * area < 0).sum())
    corners = len(polygon)
    if corners == 12 and inward == 4:
        return "cross"
    if inward >= 4 and corners == 2 * inward:
        return "star"
    if corners == 6 and inward == 1:
        return "l_shape"
    if corners == 8 and inward == 2:
        steps = [index for index in range(8) if turns[index] * area < 0]
        return "u_shape" if steps[1] - steps[0] in (1, 7) else "t_shape"
    return "other"
