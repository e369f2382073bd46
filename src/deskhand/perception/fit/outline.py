"""Inward corners of a segment's outline: an object that is convex shows none, unless something stands before it."""

from __future__ import annotations

from itertools import combinations

import cv2
import numpy as np

from deskhand.geometry import Array
from deskhand.perception.fit.part_settings import OUTLINE
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.view import Indices, Mask, View

_ROUND = np.ones((3, 3), np.uint8)


def inward_corners(view: View, item: Segment) -> list[Array]:
    """Corners (3, 2): where the outline leaves its convex hull, the corner itself, where it comes back; (row, column) [px], deepest first."""
    width = view.valid.shape[1]
    v, u = np.divmod(item.pixels, width)
    top, left = int(v.min()) - 2, int(u.min()) - 2
    mask = np.zeros((int(v.max()) - top + 3, int(u.max()) - left + 3), np.uint8)
    mask[v - top, u - left] = 1
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, _ROUND)
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    contour = max(contours, key=len)
    indices = cv2.convexHull(contour, returnPoints=False)
    if len(contour) < 12 or len(indices) < 4:
        return []
    defects = cv2.convexityDefects(contour, np.sort(indices, axis=0))
    if defects is None:
        return []
    least = 256 * max(OUTLINE.depth, OUTLINE.deep * np.sqrt(len(item)))
    found = []
    for start, end, far, depth in sorted(defects.reshape(-1, 4), key=lambda defect: -int(defect[3])):
        if depth < least:
            break
        corner = contour.reshape(-1, 2)[[start, far, end], ::-1] + np.array([top, left], float)
        if _is_open(view, item, corner):
            found.append(corner)
    return found[: OUTLINE.most]


def _is_open(view: View, item: Segment, corner: Array) -> bool:
    """True when the desk, or something further away, is seen beside the corner: what touches the object there may also stand before or on it."""
    place = corner[1]
    outward = (corner[0] + corner[2]) / 2 - place
    outward = outward / max(1e-6, float(np.linalg.norm(outward)))
    height, width = view.valid.shape
    v, u = np.rint(place + np.arange(2, 7)[:, None] * outward).astype(int).T
    inside = (v >= 0) & (u >= 0) & (v < height) & (u < width)
    v, u = v[inside], u[inside]
    near = item.pixels[np.argsort(((np.stack(np.divmod(item.pixels, width), axis=1) - place) ** 2).sum(axis=1))[:12]]
    own = float(np.median(view.frame.depth.reshape(-1)[near]))
    beside = view.frame.depth[v, u]
    said = np.isfinite(beside) & ~view.robot[v, u]
    behind = (~view.objects[v, u] & (beside > own - OUTLINE.behind)) | (beside > own + OUTLINE.behind)
    return bool(said.sum() >= 2 and behind[said].mean() > 0.6)


def cuts_at(corners: list[Array], pixels: Indices, width: int) -> list[Mask]:
    """Straight cuts of pixels (N,) in the picture, the shortest ones: from corner to corner, or along the edges that end at one."""
    points = np.stack(np.divmod(pixels, width), axis=1).astype(float)
    lines = [(a[1], b[1] - a[1]) for a, b in combinations(corners, 2)]
    lines += [(corner[1], corner[1] - corner[end]) for corner in corners for end in (0, 2)]
    found = []
    for place, along in lines:
        offset = (points - place) @ np.array([along[1], -along[0]]) / max(1e-6, float(np.linalg.norm(along)))
        found.append((int((np.abs(offset) < 1.0).sum()), offset > 0))
    return [side for _, side in sorted(found, key=lambda cut: cut[0])[: OUTLINE.cuts]]
