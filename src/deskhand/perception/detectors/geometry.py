"""The labels that perception gives by itself, from shape, size and colour, as one more detector: to compare others with."""

from __future__ import annotations

import cv2
import numpy as np

from deskhand.perception.detectors.base import Detection, Mask
from deskhand.perception.pipeline import Perception
from deskhand.types import Frame, SceneObject


class GeometryDetector:
    """Segments and names by ``config/objects.yaml``; every frame is taken for itself. Raises ``no_table`` as perception does."""

    name = "geometry"
    weight = 1.0

    def __init__(self, objects_file: str | None = None) -> None:
        self._objects_file = objects_file

    def detect(self, frame: Frame) -> list[Detection]:
        """See Detector; masks are those of the points that were seen."""
        perception = Perception(objects_file=self._objects_file, detectors=())
        scene = perception.detect(frame)
        assert perception.frame is not None
        found = [Detection(item.label, item.confidence, self.name, _corners(item), _mask(perception.frame, item)) for item in scene.objects]
        return sorted(found, key=lambda item: -item.score)


def _corners(item: SceneObject) -> tuple[float, float, float, float]:
    x, y, width, height = item.box2d
    return float(x), float(y), float(x + width), float(y + height)


def _mask(frame: Frame, item: SceneObject) -> Mask:
    """The pixels between a thing's thinned points, closed up."""
    height, width = frame.depth.shape[:2]
    mask = np.zeros((height, width), np.uint8)
    pixels = np.round(frame.project(item.points)).astype(int)
    inside = (pixels >= 0).all(axis=1) & (pixels[:, 0] < width) & (pixels[:, 1] < height)
    mask[pixels[inside, 1], pixels[inside, 0]] = 1
    return np.asarray(cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8)) > 0)
