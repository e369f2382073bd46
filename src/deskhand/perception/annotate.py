"""The picture with what was found drawn into it, for people and reports."""

from __future__ import annotations

import cv2
import numpy as np

from deskhand.types import Frame, Image, Scene, SceneObject

_EDGES = ((0, 1), (1, 3), (3, 2), (2, 0), (4, 5), (5, 7), (7, 6), (6, 4), (0, 4), (1, 5), (2, 6), (3, 7))
_COLORS = ((230, 60, 60), (40, 170, 60), (50, 90, 230), (230, 160, 20), (170, 60, 200), (20, 180, 190), (240, 90, 170), (120, 90, 40))
_FONT = cv2.FONT_HERSHEY_SIMPLEX


def annotate(frame: Frame, scene: Scene) -> Image:
    """(H, W, 3) RGB: oriented boxes, ids, colours and what lies where. ``frame`` carries the levelled camera pose."""
    picture = frame.color.copy()
    drawn = [(item, _COLORS[i % len(_COLORS)]) for i, item in enumerate(sorted(scene.objects, key=lambda o: o.id))]
    for item, color in drawn:
        _box(picture, frame, item, color)
    taken: list[tuple[int, int, int, int]] = []
    for item, color in sorted(drawn, key=lambda pair: float(pair[0].position[0])):
        _caption(picture, frame, item, color, taken)
    return np.asarray(picture, dtype=np.uint8)


def _box(picture: Image, frame: Frame, item: SceneObject, color: tuple[int, int, int]) -> None:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    corners = frame.project(signs * item.size / 2 @ item.pose[:3, :3].T + item.pose[:3, 3])
    if not np.isfinite(corners).all():
        return
    for a, b in _EDGES:
        cv2.line(picture, _pixel(corners[a]), _pixel(corners[b]), color, 1, cv2.LINE_AA)


def _pixel(point: np.typing.NDArray[np.float64]) -> tuple[int, int]:
    x, y = np.clip(point, -5000, 5000)
    return round(float(x)), round(float(y))


def _caption(picture: Image, frame: Frame, item: SceneObject, color: tuple[int, int, int], taken: list[tuple[int, int, int, int]]) -> None:
    place = "" if (item.support, item.relation) == ("table", "on") else f" {item.relation} {item.support}"
    text = f"{item.id} {item.color}{place}"
    (width, height), _ = cv2.getTextSize(text, _FONT, 0.38, 1)
    top = item.position.copy()
    top[2] = item.top
    anchor = frame.project(top)[0]
    if not np.isfinite(anchor).all():
        return
    x = int(np.clip(anchor[0] - width / 2, 1, picture.shape[1] - width - 1))
    y = int(np.clip(anchor[1] - 10, height + 3, picture.shape[0] - 4))
    for _ in range(12):
        if all(x + width < a or x > c or y < b or y - height > d for a, b, c, d in taken):
            break
        y = max(height + 3, y - height - 4)
    taken.append((x, y - height, x + width, y))
    cv2.rectangle(picture, (x - 2, y - height - 2), (x + width + 2, y + 3), (255, 255, 255), -1)
    cv2.putText(picture, text, (x, y), _FONT, 0.38, tuple(int(0.7 * c) for c in color), 1, cv2.LINE_AA)
