"""New labelled scenes: an object of one frame set onto the free table of another, seen from where it was seen, with its shadow in the depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from deskhand.bench.frames.labelled import LabelledFrame
from deskhand.bench.frames.measure import TABLE
from deskhand.bench.frames.plane import PlaneSettings, Region, find_region
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse

Random = np.random.Generator
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PasteSettings:
    """Which objects are taken and where they may stand.

    Attributes:
        most: objects that are pasted into one frame.
        tries: objects and places that are tried for each.
        least: pixels of an object, and of what is seen of it afterwards.
        seen: share of a pasted object that is seen at least, and of each object behind it.
        stands: its lowest points are lower than this [m].
        elevation: the camera may look at it so much steeper or flatter than it did [rad].
        nearer, farther: distance of the camera over that before.
        touch: gap between objects that touch [m].
        apart: gap otherwise, at least [m].
        touching: share of the objects that touch another.
        off: no part of an object is farther from table that was seen [m].
        baseline: between projector and camera, which gives the shadow [m]: Kinect 0.075.
    """

    most: int = 3
    tries: int = 25
    least: int = 400
    seen: float = 0.35
    stands: float = 0.02
    elevation: float = float(np.deg2rad(7.0))
    nearer: float = 0.8
    farther: float = 1.2
    touch: tuple[float, float] = (0.001, 0.006)
    apart: float = 0.015
    touching: float = 0.5
    off: float = 0.12
    baseline: float = 0.075


@dataclass(frozen=True)
class _Source:
    """An object: points (N, 3) above its table, colours (N, 3), the place (2,) of its middle, and the eye (3,) that saw it."""

    points: Array
    colors: npt.NDArray[np.uint8]
    middle: Array
    eye: Array


def paste(frame: LabelledFrame, others: Sequence[LabelledFrame], random: Random, settings: PasteSettings | None = None) -> LabelledFrame:
    """The frame with one to ``most`` objects of others on its table; itself where none fits."""
    use = settings or PasteSettings()
    try:
        region = find_region(frame.depth, frame.intrinsics, PlaneSettings())
    except DeskhandError:
        return frame
    for _ in range(int(random.integers(1, use.most + 1))):
        for _ in range(use.tries):
            source = _source(others[int(random.integers(len(others)))], random, use)
            placed = None if source is None else _placed(frame, region, source, random, use)
            changed = None if source is None or placed is None else _drawn(frame, region, placed, source.colors, use)
            if changed is not None:
                frame = changed
                region = replace(region, points=_points(frame, region))
                break
    return frame


def _source(frame: LabelledFrame, random: Random, settings: PasteSettings) -> _Source | None:
    """An object that stands on the table with nothing before it, in points of four to a pixel."""
    if frame.labels is None:
        return None
    try:
        region = find_region(frame.depth, frame.intrinsics, PlaneSettings())
    except DeskhandError:
        return None
    numbers = [number for number in np.unique(frame.labels) if number > TABLE]
    own = (frame.labels == numbers[int(random.integers(len(numbers)))]) & np.isfinite(frame.depth) if numbers else np.zeros(frame.depth.shape, bool)
    if (
        (own & region.inside).sum() < max(settings.least, 0.9 * own.sum())
        or np.quantile(region.points[own][:, 2], 0.02) > settings.stands
        or _is_cut(frame, own)
    ):
        return None
    v, u = np.nonzero(own)
    k, depth = frame.intrinsics, frame.depth[v, u]
    fine = [((u + du - k.cx) / k.fx * depth, (v + dv - k.cy) / k.fy * depth, depth) for du in (-0.25, 0.25) for dv in (-0.25, 0.25)]
    camera = np.concatenate([np.stack(point, axis=-1) for point in fine]).astype(float)
    pose = region.world_T_camera
    points = camera @ pose[:3, :3].T + pose[:3, 3]
    return _Source(points, np.tile(frame.color[v, u], (4, 1)), points[:, :2].mean(axis=0), pose[:3, 3])


def _is_cut(frame: LabelledFrame, own: Mask) -> bool:
    """Whether something else is before a part of an object's outline, or the picture ends there."""
    if own[0].any() or own[-1].any() or own[:, 0].any() or own[:, -1].any():
        return True
    kernel = np.ones((7, 7), np.uint8)
    ring = cv2.dilate(own.astype(np.uint8), kernel).astype(bool) & ~own
    assert frame.labels is not None
    beside = cv2.erode(np.where(own, frame.depth, np.float32(9)).astype(np.float32), kernel)
    before = ring & (frame.labels > TABLE) & (frame.depth < beside - 0.005)
    return bool(before.sum() > 0.04 * ring.sum())


def _placed(frame: LabelledFrame, region: Region, source: _Source, random: Random, settings: PasteSettings) -> Array | None:
    """Points (N, 3) of the object where it stands on the other table, turned so that the camera sees the side that was seen."""
    assert frame.labels is not None
    known = np.isfinite(frame.depth) & region.inside
    table, objects = region.points[known & (frame.labels == TABLE)][::7], region.points[known & (frame.labels > TABLE)][::5]
    if not len(table):
        return None
    touches = len(objects) > 0 and random.random() < settings.touching
    place = (objects if touches else table)[int(random.integers(len(objects) if touches else len(table))), :2].astype(float)
    gap = float(random.uniform(*settings.touch)) if touches else settings.apart
    eye = region.world_T_camera[:3, 3]
    away = _unit(place - eye[:2])
    direction = np.array([-away[1], away[0]]) * random.choice([-1, 1]) - away * random.uniform(-0.3, 1.0)
    tree = cKDTree(objects[:, :2]) if len(objects) else None
    for _ in range(80):
        points = _moved(source, place, eye)
        nearest = np.inf if tree is None else float(np.min(tree.query(points[::17, :2])[0]))
        if nearest >= gap:
            break
        if not touches:
            return None
        place = place + 0.002 * _unit(direction)
    else:
        return None
    was, now = source.eye - [*source.middle, 0.0], eye - [*place, 0.0]
    steeper = abs(_elevation(was) - _elevation(now))
    ratio = float(np.linalg.norm(now) / np.linalg.norm(was))
    on_table = np.max(cKDTree(table[:, :2]).query(points[::17, :2])[0]) < settings.off
    return points if steeper < settings.elevation and settings.nearer < ratio < settings.farther and on_table else None


def _unit(vector: Array) -> Array:
    """A vector with length 1."""
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9))


def _elevation(way: Array) -> float:
    return float(np.arctan2(way[2], np.linalg.norm(way[:2])))


def _moved(source: _Source, place: Array, eye: Array) -> Array:
    was, now = source.eye[:2] - source.middle, eye[:2] - place
    turn = np.arctan2(now[1], now[0]) - np.arctan2(was[1], was[0])
    c, s = np.cos(turn), np.sin(turn)
    flat = (source.points[:, :2] - source.middle) @ np.array([[c, s], [-s, c]]) + place
    return np.column_stack([flat, source.points[:, 2]])


def _drawn(frame: LabelledFrame, region: Region, points: Array, colors: npt.NDArray[np.uint8], settings: PasteSettings) -> LabelledFrame | None:
    """The frame with these points before what is behind them; None where too little of them, or of an object behind, is seen."""
    k, shape = frame.intrinsics, frame.depth.shape
    camera_T_world = inverse(region.world_T_camera)
    local = points @ camera_T_world[:3, :3].T + camera_T_world[:3, 3]
    u, v = np.rint(k.fx * local[:, 0] / local[:, 2] + k.cx).astype(int), np.rint(k.fy * local[:, 1] / local[:, 2] + k.cy).astype(int)
    if (u < 2).any() or (v < 2).any() or (u >= k.width - 2).any() or (v >= k.height - 2).any():
        return None
    order = np.argsort(-local[:, 2])
    new, paint = np.full(shape, np.inf, np.float32), np.zeros((*shape, 3), np.uint8)
    new[v[order], u[order]], paint[v[order], u[order]] = local[order, 2], colors[order]  # the nearest is written last
    new, paint = _closed(new, paint)
    old = np.where(np.isfinite(frame.depth), frame.depth, np.inf)
    assert frame.labels is not None
    whole, visible = np.isfinite(new), np.isfinite(new) & ((new < old) | (~np.isfinite(old) & (frame.labels <= TABLE)))
    labels = frame.labels.copy()
    before = np.bincount(labels.reshape(-1))
    labels[visible] = len(before)
    after = np.bincount(labels.reshape(-1))[: len(before)]
    hidden = (after < settings.seen * before) & (np.arange(len(before)) > TABLE) & (before > 0)
    if visible.sum() < max(settings.least, settings.seen * whole.sum()) or hidden.any():
        return None
    color = frame.color.copy()
    color[visible] = paint[visible]
    depth = np.where(visible, new, frame.depth).astype(np.float32)
    shadow = _shadow(visible, depth, frame, settings)
    return replace(frame, color=color, depth=np.where(shadow, np.nan, depth).astype(np.float32), labels=np.where(shadow, 0, labels).astype(np.int32))


def _closed(depth: npt.NDArray[np.float32], paint: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
    """The same with pixels filled that no point fell on, though it did on five of those around."""
    there = np.isfinite(depth)
    kernel = np.ones((3, 3), np.float32)
    count = cv2.filter2D(there.astype(np.float32), -1, kernel)
    gap = ~there & (count >= 5)
    mean = cv2.filter2D(np.where(there, depth, 0).astype(np.float32), -1, kernel) / np.maximum(count, 1)
    tint = cv2.filter2D(np.where(there[..., None], paint, 0).astype(np.float32), -1, kernel) / np.maximum(count, 1)[..., None]
    return np.where(gap, mean, depth).astype(np.float32), np.where(gap[..., None], tint, paint).astype(np.uint8)


def _shadow(own: Mask, depth: npt.NDArray[np.float32], frame: LabelledFrame, settings: PasteSettings) -> Mask:
    """What the projector at the right of the camera cannot reach beside an object, on its left: f b (1 / near - 1 / far) pixels wide."""
    result = np.zeros(own.shape, bool)
    f = frame.intrinsics.fx * settings.baseline
    with np.errstate(invalid="ignore", divide="ignore"):
        for step in range(1, 16):
            near = np.full(own.shape, np.nan, np.float32)
            near[:, :-step] = np.where(own[:, step:], depth[:, step:], np.nan)
            result |= ~own & (f * (1 / near - 1 / depth) >= step)
    return result


def _points(frame: LabelledFrame, region: Region) -> npt.NDArray[np.float32]:
    k, pose = frame.intrinsics, region.world_T_camera.astype(np.float32)
    v, u = np.indices(frame.depth.shape, dtype=np.float32)
    camera = np.stack([(u - k.cx) / k.fx * frame.depth, (v - k.cy) / k.fy * frame.depth, frame.depth], axis=-1)
    return np.asarray(camera @ pose[:3, :3].T + pose[:3, 3], dtype=np.float32)
