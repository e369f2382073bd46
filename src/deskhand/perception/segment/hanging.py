"""What hangs beside another object in the air is a part of it: handles, necks and caps of bottles that lie, whatever their colour.

An object alone rests on something. A piece that ends above the table, meets its neighbour at its side and below which the camera looks through rests on
nothing, so it is held by that neighbour. Pieces of rods are left out: pens lean, and lie across what is lower.
"""

from __future__ import annotations

import cv2
import numpy as np
from scipy.spatial import cKDTree

from deskhand.geometry import Array
from deskhand.perception.quantiles import quantile
from deskhand.perception.rows import between, highest, is_among, lowest, rows_of
from deskhand.perception.segment.segmentation import Segment, union_of
from deskhand.perception.segment.settings import HangingSettings
from deskhand.perception.view import View
from deskhand.perception.visibility import FREE, states


def join_hanging(view: View, segments: list[Segment], settings: HangingSettings) -> list[Segment]:
    """The segments, largest first, with those that hang joined to what holds them."""
    owner = list(range(len(segments)))
    for number in range(len(segments) - 1, 0, -1):
        item = segments[number]
        low, high = quantile(item.points[:, 2], settings.foot), quantile(item.points[:, 2], 1 - settings.foot)
        if low < settings.above or is_rod(item, settings.rod) or not _in_the_air(view, item, low, high, settings):
            continue
        smaller = [other for other in range(number) if len(item) < settings.small * len(segments[other])]
        may = [other for other in smaller if low >= _least(item, segments[other], settings) * (high - low)]
        meets = {other: _meets(item, segments[other], settings.touch) for other in may}
        held = {other: places for other, places in meets.items() if len(places) >= settings.contact}
        if not held:
            continue
        to = max(held, key=lambda other: len(held[other]))
        # What lies on something meets it where it is lowest, and its middle is over it: else it would fall.
        at_side = (float(np.median(held[to])) - low) / max(high - low, 1e-6) >= 1 - settings.side
        if at_side or not _over(item, segments[to]):
            owner[number] = to
    return joined(segments, owner)


def _in_the_air(view: View, item: Segment, low: float, high: float, settings: HangingSettings) -> bool:
    """Whether the camera looks through under its lower outline."""
    lower = item.points[item.points[:, 2] < (low + high) / 2]
    under = lower[:: 1 + len(lower) // 300] - [0.0, 0.0, settings.under]
    height, width = view.valid.shape
    u, v = np.rint(view.frame.project(under)).astype(np.int64).T
    there = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    there[there] = ~is_among(v[there] * width + u[there], item.pixels, height * width)
    found = states(view, under[there], settings.under / 2)
    return len(found) >= settings.contact and bool((found == FREE).mean() >= settings.free)


def _least(item: Segment, other: Segment, settings: HangingSettings) -> float:
    """How far above the table it must end, over its height as seen: less where shape takes both for one, and only their colours differ."""
    return settings.share if item.part == other.part > 0 else settings.share_apart


def is_rod(item: Segment, thin: float) -> bool:
    """Whether it is long and thin: a piece of a pen that leans or lies across is no handle."""
    away = item.points - item.points.mean(axis=0)
    middle, long = np.sqrt(np.maximum(np.linalg.eigvalsh(away.T @ away / max(1, len(away) - 1))[1:], 1e-12))
    return bool(long > thin * middle)


def _over(item: Segment, other: Segment) -> bool:
    """Whether the middle of what is seen of it lies over what is seen of another."""
    outline = cv2.convexHull(other.points[:, :2].astype(np.float32))
    x, y = map(float, item.points[:, :2].mean(axis=0))
    return cv2.pointPolygonTest(outline, (x, y), False) >= 0


def _meets(item: Segment, other: Segment, touch: float) -> Array:
    """Heights [m] of the points of ``item`` that another segment touches."""
    near = between(other.points, lowest(item.points) - touch, highest(item.points) + touch)
    if not near.any():
        return np.zeros(0)
    distance, _ = cKDTree(rows_of(other.points, near)).query(item.points, distance_upper_bound=touch)
    return np.asarray(item.points[np.isfinite(distance), 2])


def joined(segments: list[Segment], owner: list[int]) -> list[Segment]:
    """What the segments are, largest first, when each belongs to the one whose number its owner is."""
    whole = [
        union_of(main, [segments[other] for other in range(len(segments)) if other != number and _root(owner, other) == number])
        for number, main in enumerate(segments)
        if owner[number] == number
    ]
    return sorted(whole, key=len, reverse=True)


def _root(owner: list[int], number: int) -> int:
    while owner[number] != number:
        number = owner[number]
    return number
