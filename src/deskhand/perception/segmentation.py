"""From pixels above the table to segments: pixels that hang together in space and in colour."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from deskhand.geometry import Array
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.view import Indices, Mask, View

_LIGHT_RATIO = 3.0  # more than shading and a cast shadow do to one surface
_SPECK = 14  # [px] fewer than this are mixed pixels of an edge


@dataclass(frozen=True)
class Segment:
    """Pixels of one thing: flat indices (N,) into the picture, their points (N, 3), median chromaticity and lightness.

    ``measured`` (N,) is False where the depth is inferred. ``paint`` are the pixels that tell its colour.
    """

    pixels: Indices
    points: Array
    measured: Mask
    chroma: Array
    light: float
    paint: Indices

    def __len__(self) -> int:
        return len(self.pixels)


def make_segment(view: View, pixels: Indices) -> Segment:
    """The segment of these flat pixel indices."""
    chroma = view.chroma.reshape(-1, 3)[pixels]
    light = view.light.reshape(-1)[pixels]
    points = view.points.reshape(-1, 3)[pixels].astype(float)
    measured = ~view.filled.reshape(-1)[pixels]
    return Segment(pixels, points, measured, np.median(chroma, axis=0).astype(float), float(np.median(light)), pixels)


def segment(view: View, settings: PerceptionSettings) -> list[Segment]:
    """Segments, largest first: parts of things, too, and things of one colour that touch are still one."""
    labels = _absorb_specks(view, components(view, view.things, settings))
    return segments_of(view, labels, _SPECK)


def segments_of(view: View, labels: npt.NDArray[np.int32], min_pixels: int) -> list[Segment]:
    """Segments of a label picture (0: none), largest first."""
    flat = labels.reshape(-1)
    order = np.argsort(flat, kind="stable")
    bounds = np.searchsorted(flat[order], np.arange(1, flat.max() + 2))
    groups = [order[a:b] for a, b in pairwise(bounds) if b - a >= min_pixels]
    return [make_segment(view, pixels) for pixels in sorted(groups, key=len, reverse=True)]


def components(view: View, mask: Mask, settings: PerceptionSettings) -> npt.NDArray[np.int32]:
    """Label picture of pixels of ``mask`` joined by closeness in space and colour; holes in the depth are bridged."""
    rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
    if not len(rows):
        return np.zeros(mask.shape, np.int32)
    part = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    labels = np.zeros(mask.shape, np.int32)
    labels[part] = _components(view.part(part), mask[part], settings)
    return labels


def _components(view: View, mask: Mask, settings: PerceptionSettings) -> npt.NDArray[np.int32]:
    number = np.full(mask.shape, -1, np.int32)
    count = int(mask.sum())
    labels = np.zeros(mask.shape, np.int32)
    number[mask] = np.arange(count, dtype=np.int32)
    empty = ~view.valid & ~view.robot & ~view.filled
    light = np.log(view.light + 12.0)
    pairs = []
    for dv, du in ((0, 1), (1, 0), (1, 1), (1, -1)):
        pairs.append(_join(view, number, light, dv, du, None, settings))
    for step in (2, 3, 4):
        for dv, du in ((0, step), (step, 0)):
            pairs.append(_join(view, number, light, dv, du, empty, settings))
    a, b = (np.concatenate(side) for side in zip(*pairs, strict=True))
    graph = coo_matrix((np.ones(len(a), np.int8), (a, b)), shape=(count, count))
    _, found = connected_components(graph, directed=False)
    labels[mask] = found + 1
    return labels


def _join(
    view: View, number: npt.NDArray[np.int32], light: npt.NDArray[np.float32], dv: int, du: int, bridge: Mask | None, settings: PerceptionSettings
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Pairs of node numbers at pixel offset (dv, du) that belong together; with ``bridge`` all pixels between must be in it."""
    height, width = number.shape
    rows = slice(0, height - dv), slice(dv, height)
    columns = (slice(0, width - du), slice(du, width)) if du >= 0 else (slice(-du, width), slice(0, width + du))
    first, second = (rows[0], columns[0]), (rows[1], columns[1])
    both = (number[first] >= 0) & (number[second] >= 0)
    if bridge is not None:
        for k in range(1, max(dv, du)):
            sv, su = (k, 0) if dv else (0, k)
            both &= bridge[rows[0].start + sv : rows[0].stop + sv, columns[0].start + su : columns[0].stop + su]
    v, u = np.nonzero(both)
    if not len(v):
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    a, b = (v, u + columns[0].start), (v + dv, u + columns[1].start)
    reach = settings.join_distance * (1 if bridge is None else 1.3)
    near = ((view.points[a] - view.points[b]) ** 2).sum(axis=1) < reach**2
    same = ((view.chroma[a] - view.chroma[b]) ** 2).sum(axis=1) < settings.chroma_step**2
    same &= np.abs(light[a] - light[b]) < np.log(_LIGHT_RATIO)
    keep = near & same
    return number[a][keep], number[b][keep]


def _absorb_specks(view: View, labels: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Give the mixed pixels along colour edges to the neighbour that is nearest in space."""
    counts = np.bincount(labels.reshape(-1))
    counts[0] = 0
    for _ in range(3):
        small = (counts[labels] < _SPECK) & (labels > 0)
        if not small.any():
            break
        v, u = np.nonzero(small)
        best = np.full(len(v), 0.012**2, np.float32)
        taken = np.zeros(len(v), np.int32)
        for dv, du in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            nv, nu = np.clip(v + dv, 0, labels.shape[0] - 1), np.clip(u + du, 0, labels.shape[1] - 1)
            other = labels[nv, nu]
            distance = ((view.points[v, u] - view.points[nv, nu]) ** 2).sum(axis=1)
            better = (counts[other] >= _SPECK) & (distance < best)
            best[better], taken[better] = distance[better], other[better]
        changed = taken > 0
        if not changed.any():
            break
        labels[v[changed], u[changed]] = taken[changed]
    return labels


def occluded_share(view: View, pixels: Indices) -> float:
    """Share of a segment's outline that is cut off by something nearer to the camera, by a hole beside it or by the picture's edge."""
    height, width = view.valid.shape
    mask = np.zeros((height, width), np.uint8)
    mask.reshape(-1)[pixels] = 1
    rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
    top, bottom = max(rows[0] - 4, 0), min(rows[-1] + 5, height)
    left, right = max(columns[0] - 4, 0), min(columns[-1] + 5, width)
    part = mask[top:bottom, left:right]
    ring = cv2.dilate(part, np.ones((5, 5), np.uint8)).astype(bool) & ~part.astype(bool)
    depth = np.where(view.valid | view.filled, view.frame.depth, np.inf)[top:bottom, left:right].astype(np.float32)
    own = cv2.erode(np.where(part.astype(bool), depth, np.inf).astype(np.float32), np.ones((5, 5), np.uint8))  # the nearest of its own beside
    cut = ring & (depth < own - 0.008)
    edge = int(part[0].sum()) * (top == 0) + int(part[-1].sum()) * (bottom == height)
    edge += int(part[:, 0].sum()) * (left == 0) + int(part[:, -1].sum()) * (right == width)
    return float((cut.sum() + 4 * edge) / max(1, ring.sum()))
