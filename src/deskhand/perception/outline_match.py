"""Which of the usual outlines an upright prism has: the one whose prism would look most like it, over all turns and sizes.

Seen on the plane of its upper side, a prism shows that side, and all places over which it goes as it is drawn down towards the camera: the outline
swept along a line whose length and direction follow from its height and from where the camera stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.color_edges import refined, upper_part
from deskhand.perception.quantiles import quantile
from deskhand.types import Frame

Mask = npt.NDArray[np.bool_]

GRID = 48  # pixels of the square in which outlines are compared
SPREAD = 19.0  # pixels: side of a square as large as what is seen is drawn there
STEP = np.deg2rad(6.0)  # between the turns that are tried
SWEEPS = 0.1  # steps of the sweep's length, over the root of the area of what is seen
FARTHEST = 1.4  # .. and the longest one: beyond it hardly anything of the upper side is seen
FINE = 3  # times as fine outlines are drawn before they are averaged
REFINED, ALIKE = 4, 0.02  # times that the size of a drawing is put right, until its area is so nearly that of what is seen
GROUND = 0.003  # [m] from the table within which a pixel shows that, and a shadow on it if it is dark
LOOKED_UP = 0.001  # [m] between the points by which the area is measured, where there are no more than ..
MOST_CELLS = 150  # .. along a side


@dataclass(frozen=True)
class OutlineMatchSettings:
    """When an outline is believed; shares without units. What names no source was chosen on rendered desks.

    Attributes:
        upper: share that the upper side has in the overlap, beside the whole prism.
        prism: what overlaps no prism by so much is none.
        spread: an outline that overlaps by so much less than another is e times less likely.
        area: what is seen of less than this says nothing [m2].
        lowest: share of an object's points that may lie below where it ends.
        told: outlines that are less likely are not told.
    """

    upper: float = 0.4
    prism: float = 0.55
    spread: float = 0.015
    area: float = 250e-6
    lowest: float = 0.02
    told: float = 0.05


MATCH = OutlineMatchSettings()


@dataclass(frozen=True)
class Match:
    """How likely outlines are, likeliest first; the sum is 1 at most. ``overlap``: of the best one."""

    likely: tuple[tuple[str, float], ...]
    overlap: float


def _regular(sides: int) -> Array:
    angle = 2 * np.pi * np.arange(sides) / sides
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _star(inner: float, points: int = 5) -> Array:
    angle = np.pi * np.arange(2 * points) / points
    return np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(np.arange(2 * points) % 2 == 0, 1.0, inner)[:, None]


def _crescent(far: float, radius: float) -> Array:
    """What a circle of ``radius`` whose middle is ``far`` to the side leaves of the unit circle."""
    x = (1 - radius**2 + far**2) / (2 * far)
    out, back = np.arccos(x), np.arctan2(np.sqrt(1 - x**2), x - far)
    first, second = np.linspace(out, 2 * np.pi - out, 24), np.linspace(2 * np.pi - back, back, 24)
    return np.vstack([np.column_stack([np.cos(first), np.sin(first)]), np.column_stack([far + radius * np.cos(second), radius * np.sin(second)])])


def _box(ratio: float) -> Array:
    return np.array([[-ratio, -1.0], [ratio, -1.0], [ratio, 1.0], [-ratio, 1.0]])


def _ellipse(ratio: float) -> Array:
    return _regular(32) * [ratio, 1.0]


def _plus(arm: float) -> Array:
    corner = np.array([(1.0, -arm), (1.0, arm), (arm, arm)])
    turns = [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in np.pi / 2 * np.arange(4)]
    return np.concatenate([corner @ turn.T for turn in turns])


def _heart() -> Array:
    t = 2 * np.pi * np.arange(40) / 40
    return np.column_stack([16 * np.sin(t) ** 3, 13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)])


def _strokes(*boxes: tuple[float, float, float, float]) -> list[Array]:
    """Rectangles (x, y, width, height) that make up a letter."""
    return [np.array([[x, y], [x + w, y], [x + w, y + h], [x, y + h]]) for x, y, w, h in boxes]


OUTLINES: dict[str, tuple[tuple[Array, ...] | list[Array], ...]] = {
    "circle": ((_regular(32),),),
    "ellipse": tuple((_ellipse(ratio),) for ratio in (1.3, 1.6, 2.0)),
    "square": ((_box(1.0),),),
    "rectangle": tuple((_box(ratio),) for ratio in (1.3, 1.6, 2.0, 2.6, 3.5)),
    "triangle": ((_regular(3),), (_regular(3) * [1.25, 1.0],), (_regular(3) * [1.0, 1.25],)),
    "pentagon": ((_regular(5),),),
    "hexagon": ((_regular(6),),),
    "star": tuple((_star(inner),) for inner in (0.4, 0.5, 0.6)),
    "plus": tuple((_plus(arm),) for arm in (0.28, 0.36)),
    "heart": ((_heart(),),),
    "crescent": tuple((_crescent(far, radius),) for far, radius in ((0.5, 0.8), (0.4, 0.75), (0.6, 0.9))),
    "l_shape": tuple(_strokes((0, 0, 1, width), (0, 0, width, 1)) for width in (0.33, 0.42)),
    "t_shape": tuple(_strokes((0, 1 - width, 1, width), (0.5 - width / 2, 0, width, 1)) for width in (0.3, 0.38)),
    "u_shape": (_strokes((0, 0, 1, 0.3), (0, 0, 0.27, 0.8), (0.73, 0, 0.27, 0.8)),),
}
"""Name to its variants, each the polygons (K, 2) that make it up together."""
TURN = {"circle": STEP, "square": np.pi / 2, "rectangle": np.pi, "ellipse": np.pi, "pentagon": 2 * np.pi / 5, "hexagon": np.pi / 3}
TURN |= {"star": 2 * np.pi / 5, "plus": np.pi / 2}
"""[rad] after which it looks the same; a whole turn for the others."""


def match_outline(
    frame: Frame, points: npt.NDArray[np.float32], own: Mask, top: float, settings: OutlineMatchSettings = MATCH, bottom: float | None = None
) -> Match | None:
    """The outline of an object whose upper side is at ``top`` [m]; None when it is no prism, too small, or seen too much from the side.

    ``points`` (h, w, 3) in the world, NaN where there are none, and ``own``, which of them show the object: of the pixels of ``frame``, by whose colours the
    edges are drawn. ``bottom``: where it ends below [m]; None: where its points end.
    """
    seen = _silhouette(frame, points, own, top, settings, bottom)
    if seen is None:
        return None
    bank = _bank(seen.sweep)
    overlap = _overlap(bank, seen, settings)
    best = {name: float(overlap[bank.names == name].max()) for name in OUTLINES if (bank.names == name).any()}
    shares = _shares(best, settings)
    return Match(shares, max(best.values())) if shares else None


@dataclass(frozen=True)
class DrawnMatch:
    """A prism seen as one of given outlines: which one, by how much that is turned [rad] about the vertical, the overlap, the middle (2,) of its upper side,
    and how large it is over the outline.
    """

    number: int
    turn: float
    overlap: float
    middle: Array
    size: float = 1.0


def match_drawn(
    frame: Frame,
    points: npt.NDArray[np.float32],
    own: Mask,
    top: float,
    outlines: Sequence[Array],
    step: float = STEP,
    settings: OutlineMatchSettings = MATCH,
    bottom: float | None = None,
) -> list[DrawnMatch]:
    """How well a prism of each of the ``outlines`` (K, 2), of any size, would look like the object, in each turn; the best first. As :func:`match_outline`."""
    seen = _silhouette(frame, points, own, top, settings, bottom)
    if seen is None:
        return []
    names, prisms, tops, turns, sizes = [], [], [], [], []
    for number, outline in enumerate(outlines):
        for angle in np.arange(0.0, 2 * np.pi - 1e-9, step):
            drawn = _drawn([outline], float(angle), seen.sweep * SWEEPS * SPREAD)
            if drawn is not None:
                names.append(str(number))
                prisms.append(drawn[0])
                tops.append(drawn[1])
                turns.append(float(angle) + seen.heading)
                sizes.append(drawn[2] * seen.root / SPREAD)
    if not names:
        return []
    overlap = _overlap(Bank(np.array(names), np.array(prisms, np.float32), np.array(tops, np.float32)), seen, settings)
    return [DrawnMatch(int(names[i]), turns[i] % (2 * np.pi), float(overlap[i]), seen.middle, sizes[i]) for i in np.argsort(-overlap)]


@dataclass(frozen=True)
class _Silhouette:
    """What is seen of an object, drawn in the grid with +x towards the camera: all of it and its upper side (GRID²,), steps of sweep,
    heading of +x [rad], the middle (2,) [m] of its upper side, the root of the area [m] of all of it.
    """

    whole: npt.NDArray[np.float32]
    upper: npt.NDArray[np.float32]
    sweep: int
    heading: float
    middle: Array
    root: float


def _silhouette(
    frame: Frame, points: npt.NDArray[np.float32], own: Mask, top: float, settings: OutlineMatchSettings, bottom: float | None = None
) -> _Silhouette | None:
    v, u = np.nonzero(own)
    heights = points[..., 2][own]
    heights = heights[np.isfinite(heights)]
    if len(heights) < 40:
        return None
    if bottom is None:
        bottom = quantile(heights, settings.lowest)
    away = frame.world_T_camera[:3, 3]
    seen = _on_plane(frame, np.column_stack([u, v]), top)
    middle = seen.mean(axis=0)
    slope = (away[:2] - middle) / max(away[2] - top, 1e-6)  # [m] towards the camera for each that a point is lower
    length = (top - bottom) * float(np.hypot(*slope))
    axis = slope / max(float(np.hypot(*slope)), 1e-9)
    turn = np.column_stack([axis, [-axis[1], axis[0]]])
    low, high = seen.min(axis=0) - 0.004, seen.max(axis=0) + 0.004
    cell = max(LOOKED_UP, float((high - low).max()) / MOST_CELLS)
    shape = np.ceil((high - low) / cell).astype(int)
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]]
    plan = np.column_stack([rows.ravel(), columns.ravel()]) * cell + low
    with np.errstate(invalid="ignore"):
        ground = np.abs(points[..., 2]) < GROUND
    soft = refined(frame.color, own, never=cv2.erode(ground.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0)
    shown = plan[_looked_up(frame, soft, plan, top) > 0.5]
    area = len(shown) * cell**2
    if area < settings.area or length > FARTHEST * np.sqrt(area):
        return None
    cells = (np.column_stack([grid.ravel() for grid in np.mgrid[0:GRID, 0:GRID]]) - (GRID - 1) / 2) * np.sqrt(area) / SPREAD
    places = shown.mean(axis=0) + cells @ turn.T
    whole = _looked_up(frame, soft, places, top)
    upper = _looked_up(frame, upper_part(frame.color, soft, np.where(own, points[..., 2], np.nan), top, bottom), places, top)
    centre = upper @ places / max(float(upper.sum()), 1e-6)
    return _Silhouette(whole, upper, round(length / np.sqrt(area) / SWEEPS), float(np.arctan2(axis[1], axis[0])), np.asarray(centre), float(np.sqrt(area)))


def _overlap(bank: Bank, seen: _Silhouette, settings: OutlineMatchSettings) -> Array:
    return np.asarray((1 - settings.upper) * _overlaps(bank.prisms, seen.whole) + settings.upper * _overlaps(bank.tops, seen.upper))


def outlines_of(mask: Mask, settings: OutlineMatchSettings = MATCH) -> tuple[tuple[str, float], ...]:
    """How likely outlines are of a flat shape that is drawn in cells (N, M), likeliest first; empty where it overlaps none by enough."""
    cells = np.argwhere(mask)
    if len(cells) < 40:
        return ()
    grid = (np.column_stack([side.ravel() for side in np.mgrid[0:GRID, 0:GRID]]) - (GRID - 1) / 2) * np.sqrt(len(cells)) / SPREAD
    places = (cells.mean(axis=0) + grid).astype(np.float32)
    drawn = cv2.remap(mask.astype(np.float32), places[:, 1:], places[:, :1], cv2.INTER_LINEAR, borderValue=0).ravel()
    bank = _bank(0)
    overlap = _overlaps(bank.prisms, np.asarray(drawn, np.float32))
    return _shares({name: float(overlap[bank.names == name].max()) for name in OUTLINES if (bank.names == name).any()}, settings)


def _shares(best: dict[str, float], settings: OutlineMatchSettings) -> tuple[tuple[str, float], ...]:
    """Likelihoods of outlines by their overlaps."""
    most = max(best.values())
    if most < settings.prism:
        return ()
    weights = {name: float(np.exp((value - most) / settings.spread)) for name, value in best.items()}
    shares = ((name, weights[name] / sum(weights.values())) for name in sorted(weights, key=lambda name: -weights[name]))
    return tuple(share for share in shares if share[1] >= settings.told)


def _on_plane(frame: Frame, pixels: Array, height: float) -> Array:
    """Where the rays through pixels (N, 2) meet the plane z = ``height``: (N, 2) [m]."""
    k, pose = frame.intrinsics, frame.world_T_camera
    rays = np.column_stack([(pixels[:, 0] - k.cx) / k.fx, (pixels[:, 1] - k.cy) / k.fy, np.ones(len(pixels))]) @ pose[:3, :3].T
    return np.asarray(pose[:2, 3] + rays[:, :2] * ((height - pose[2, 3]) / rays[:, 2])[:, None])


def _looked_up(frame: Frame, picture: npt.NDArray[np.float32], places: Array, height: float) -> npt.NDArray[np.float32]:
    """What a picture shows at places (N, 2) of the plane z = ``height``."""
    pixels = np.nan_to_num(frame.project(np.column_stack([places, np.full(len(places), height)])), nan=-9.0).astype(np.float32)
    return np.asarray(cv2.remap(picture, pixels[:, :1], pixels[:, 1:], cv2.INTER_LINEAR, borderValue=0).ravel())


def _overlaps(drawn: npt.NDArray[np.float32], seen: npt.NDArray[np.float32]) -> Array:
    """Intersection over union of each drawing (N, GRID²) with what is seen (GRID²,), both 0..1."""
    common = drawn @ seen
    return np.asarray(common / np.maximum(drawn.sum(axis=1) + seen.sum() - common, 1e-6))


@dataclass(frozen=True)
class Bank:
    """Every variant in every turn, swept along +x: names (N,), whole drawings and those of upper sides (N, GRID²)."""

    names: npt.NDArray[np.str_]
    prisms: npt.NDArray[np.float32]
    tops: npt.NDArray[np.float32]


@lru_cache(maxsize=24)
def _bank(sweep: int) -> Bank:
    names, prisms, tops = [], [], []
    for name, variants in OUTLINES.items():
        for polygons in variants:
            for angle in np.arange(0.0, TURN.get(name, 2 * np.pi) - 1e-9, STEP):
                drawn = _drawn(polygons, float(angle), sweep * SWEEPS * SPREAD)
                if drawn is not None:
                    names.append(name)
                    prisms.append(drawn[0])
                    tops.append(drawn[1])
    return Bank(np.array(names), np.array(prisms, np.float32), np.array(tops, np.float32))


def _drawn(polygons: Sequence[Array], angle: float, sweep: float) -> tuple[Array, Array, float] | None:
    """A prism with a sweep of so many pixels, and its upper side, in the grid: as large as what is seen is drawn; and how many
    pixels one of its units is then. None when no size makes it so.
    """
    c, s = np.cos(angle), np.sin(angle)
    turned = [polygon @ np.array([[c, s], [-s, c]]) for polygon in polygons]
    corners = np.vstack(turned)
    area, across = _area(polygons), float(np.ptp(corners[:, 1]))
    side, middle, target = GRID * FINE, (corners.min(axis=0) + corners.max(axis=0)) / 2, float(SPREAD**2)
    for _ in range(REFINED):
        scale = (np.sqrt((across * sweep) ** 2 + 4 * area * target) - across * sweep) / (2 * area)  # scale² area + scale across sweep = target
        if scale * np.sqrt(area) < SPREAD / 4:
            return None
        outline = np.zeros((side, side), np.uint8)
        for polygon in turned:
            cv2.fillPoly(outline, [np.round(((polygon - middle) * scale - [sweep / 2, 0.0]) * FINE + side / 2).astype(np.int32)], 1)
        canvas, upper = _swept(outline, round(sweep * FINE)), outline
        drawn = float(canvas.sum()) / FINE**2  # what is hollow sweeps over more than its width
        if abs(drawn / SPREAD**2 - 1) < ALIKE:
            break
        target *= SPREAD**2 / drawn
    small = [cv2.resize(picture.astype(np.float32), (GRID, GRID), interpolation=cv2.INTER_AREA) for picture in (canvas, upper)]
    total, places = float(small[0].sum()), np.arange(GRID)
    u, v = float(small[0].sum(axis=0) @ places) / total, float(small[0].sum(axis=1) @ places) / total
    shift = np.array([[1.0, 0.0, (GRID - 1) / 2 - u], [0.0, 1.0, (GRID - 1) / 2 - v]])
    grids = [cv2.warpAffine(picture, shift, (GRID, GRID)) for picture in small]
    return grids[0].T.ravel(), grids[1].T.ravel(), float(scale)


def _swept(outline: npt.NDArray[np.uint8], length: int) -> npt.NDArray[np.uint8]:
    """Every place that an outline comes over on its way of ``length`` pixels along +x."""
    return np.asarray(cv2.dilate(outline, np.ones((1, length + 1), np.uint8), anchor=(length, 0)), dtype=np.uint8)


def _area(polygons: Sequence[Array]) -> float:
    """Of polygons that may overlap, as drawn."""
    low = np.vstack(list(polygons)).min(axis=0)
    canvas, fine = np.zeros((400, 400), np.uint8), 390 / float(np.ptp(np.vstack(list(polygons)), axis=0).max())
    for polygon in polygons:
        cv2.fillPoly(canvas, [np.round((polygon - low) * fine).astype(np.int32)], 1)
    return float(canvas.sum()) / fine**2
