"""Numbered marks in a picture, for a model with eyes: a box or the outline of each object, and the axes of the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.types import Frame, Image, SceneObject

COLORS = ((230, 60, 60), (40, 170, 60), (50, 90, 230), (230, 160, 20), (170, 60, 200), (20, 180, 190), (240, 90, 170), (120, 90, 40))
AXES = (((0.1, 0.0, 0.0), (220, 30, 30), "x"), ((0.0, 0.1, 0.0), (30, 160, 30), "y"), ((0.0, 0.0, 0.1), (40, 70, 220), "z"))
"""Their ends [m, world], colours (RGB) and names."""
FONT, SCALE = cv2.FONT_HERSHEY_SIMPLEX, 0.4


@dataclass(frozen=True)
class Mark:
    """An object with its number and its box [left, top, width, height] in the picture [px]."""

    number: int
    item: SceneObject
    box: tuple[int, int, int, int]


def box_in(frame: Frame, item: SceneObject) -> tuple[int, int, int, int] | None:
    """The box (left, top, width, height) [px] around an object in a picture; None where it is not in it."""
    pixels = _pixels(frame, item)
    if len(pixels) == 0:
        return None
    height, width = frame.color.shape[:2]
    low = np.clip(np.floor(pixels.min(axis=0)), 0, (width - 1, height - 1)).astype(int)
    high = np.clip(np.ceil(pixels.max(axis=0)), 0, (width - 1, height - 1)).astype(int)
    if (high - low).min() < 1:
        return None
    return int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1])


def draw_marks(image: Image, frame: Frame, marks: Sequence[Mark], outlines: bool, ids: bool = True) -> None:
    """Draw into a picture (H, W, 3): the box of each mark, or the outline of what was measured of its object; its number, and with ``ids`` its id, above it."""
    for mark in marks:
        color = COLORS[mark.number % len(COLORS)]
        left, top, width, height = mark.box
        if outlines:
            hull = cv2.convexHull(_pixels(frame, mark.item).astype(np.float32)).astype(np.int32)
            cv2.polylines(image, [hull], True, color, 1, cv2.LINE_AA)
        else:
            cv2.rectangle(image, (left, top), (left + width, top + height), color, 1)
    taken: list[tuple[int, int, int, int]] = []
    for mark in sorted(marks, key=lambda each: each.box[1]):
        _caption(image, mark, taken, ids)


def draw_axes(image: Image, frame: Frame) -> None:
    """Draw the axes of the world, 10 cm long, where their origin is in the picture."""
    start = frame.project([0.0, 0.0, 0.0])[0]
    for end, color, name in AXES:
        tip = frame.project(end)[0]
        if np.isfinite([*start, *tip]).all():
            a, b = (tuple(int(value) for value in np.clip(point, -5000, 5000)) for point in (start, tip))
            cv2.arrowedLine(image, a, b, color, 2, cv2.LINE_AA, tipLength=0.15)
            cv2.putText(image, name, (b[0] + 3, b[1] - 3), FONT, SCALE, color, 1, cv2.LINE_AA)


def _pixels(frame: Frame, item: SceneObject) -> npt.NDArray[np.float64]:
    """Pixels (N, 2) of what was measured of an object, of its box where nothing was."""
    points = item.points
    if len(points) == 0:
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
        points = (signs * item.size / 2 @ item.pose[:3, :3].T + item.pose[:3, 3]).astype(np.float32)
    pixels = frame.project(points)
    return np.asarray(pixels[np.isfinite(pixels).all(axis=1)], dtype=float)


def _caption(image: Image, mark: Mark, taken: list[tuple[int, int, int, int]], ids: bool) -> None:
    """Number and id, beside each other's captions."""
    text = f"{mark.number} {mark.item.id}" if ids else str(mark.number)
    (width, height), _ = cv2.getTextSize(text, FONT, SCALE, 1)
    x = int(np.clip(mark.box[0], 1, max(1, image.shape[1] - width - 2)))
    y = int(np.clip(mark.box[1] - 4, height + 3, image.shape[0] - 4))
    for _ in range(12):
        if all(x + width < a or x > c or y < b or y - height > d for a, b, c, d in taken):
            break
        y = max(height + 3, y - height - 4)
    taken.append((x, y - height, x + width, y))
    cv2.rectangle(image, (x - 2, y - height - 2), (x + width + 2, y + 3), (255, 255, 255), -1)
    color = tuple(int(0.7 * value) for value in COLORS[mark.number % len(COLORS)])
    cv2.putText(image, text, (x, y), FONT, SCALE, color, 1, cv2.LINE_AA)
