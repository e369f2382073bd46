"""Stands with pegs, and the rings on these: a level board, thin upright things on it, and about them rings that are told apart by colour and height."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.color import name_color
from deskhand.perception.desk_view import DeskView
from deskhand.types.colors import lab_of

Mask = npt.NDArray[np.bool_]
LEVEL = (0.003, 0.035)  # [m] above the table at which the board of a stand is
FLAT = 0.0035  # [m] that points of a level board lie off it
BOARD = 0.05  # [m] of the shorter side of a board
LONG = 0.08  # [m] of the longer one: two pegs with a ring each
STANDS_OUT = 0.006  # [m] above the board from which on a point is of something on it
APART = 0.012  # [m] between things on a board
FEWEST = 14  # points of a thing on it
FEW = 4  # of a peg above the rings about it: dark ones give little depth
THIN = 0.014  # [m] across, up to which what stands upright is a peg; what is wider is a ring
SLIM = 1.2  # times as high as across a bare peg is at least
LOWEST = 0.012  # [m] above the board that a peg is high
CHROMA = 0.09  # between the shares of the primary colours of points of one ring
WOOD = 0.1  # the same between a ring and the board, at least
DARK = 6.0  # of 255: colours are taken that much lighter, so that the noise of dark ones counts less
MANY = 300  # points of a thing among which its most frequent colour is looked for
SOLID = 22  # points of a ring
FRONT = 0.968  # median distance of the middle half of what is seen of an upright cylinder before its axis, over its radius
EDGE = 0.04  # quantile on either side at which an extent is taken: what is beyond may be noise
SIDE = 0.004  # [m] below the highest point of a ring where its upper side ends
WIDEST = 0.09  # [m] across a ring
SQUAT = 0.75  # times as high as across a ring is at most: a peg with what is seen beside it is higher
LOW = 0.005  # [m] between the upper sides of two rings on a peg at least
UPPER, TOPMOST = 0.85, 0.9  # quantiles of the heights of what is seen of a ring, and of a peg, at which its top is
BESIDE = 0.008  # [m] from the axis within which a peg is seen in a ring's bore


@dataclass(frozen=True)
class Ring:
    """A ring on a peg: its middle (2,) [m, world], its outer diameter, the height of its upper side [m]; ``points`` (N, 3) seen of it."""

    centre: Array
    diameter: float
    top: float
    rgb: tuple[int, int, int]
    points: npt.NDArray[np.float32]

    @property
    def color(self) -> str:
        """Its name."""
        return name_color(np.asarray(self.rgb, dtype=float))

    @property
    def shares(self) -> Array:
        """Of the primary colours (3,), which light and shadow leave about as they are."""
        return np.asarray(_shares(np.asarray(self.rgb, dtype=float)[None])[0])


@dataclass(frozen=True)
class Peg:
    """A peg: its axis (2,) [m, world], the height of its top [m], the rings about it, the lowest first; ``rgb``: its own colour, None where rings hide it."""

    position: Array
    top: float
    rgb: tuple[int, int, int] | None
    rings: tuple[Ring, ...] = ()

    @property
    def lightness(self) -> float:
        """Of CIELAB, 0..100; NaN where it is not seen."""
        return np.nan if self.rgb is None else float(lab_of(np.asarray(self.rgb, dtype=float))[0])


@dataclass(frozen=True)
class PegStand:
    """A board, its upper side ``level`` [m] above the table, with corners (4, 2) [m, world]; its pegs along its longer side."""

    level: float
    corners: Array
    pegs: tuple[Peg, ...]


def find_peg_stands(view: DeskView, known: Sequence[Array] = ()) -> list[PegStand]:
    """Boards with at least one peg that is seen. ``known`` (2,) [m, world]: where pegs were seen before; a dark one gives no depth before a dark ground, and
    rings lie about it all the same.
    """
    measured = view.objects & np.isfinite(view.points).all(axis=-1)
    _, labels = cv2.connectedComponents(view.objects.astype(np.uint8))
    found = []
    for number in np.flatnonzero(np.bincount(labels[measured]) >= 4 * FEWEST):
        stand = _stand(view, (labels == number) & measured, known)
        if stand is not None:
            found.append(stand)
    return found


def _stand(view: DeskView, own: Mask, known: Sequence[Array]) -> PegStand | None:
    points = view.points[own]
    level = _board_level(points)
    if level is None:
        return None
    board = points[np.abs(points[:, 2] - level) < FLAT, :2]
    rectangle = cv2.minAreaRect(board.astype(np.float32))
    if min(rectangle[1]) < BOARD or max(rectangle[1]) < LONG:
        return None
    corners = cv2.boxPoints(rectangle).astype(float)
    high = own & (view.points[..., 2] > level + STANDS_OUT)
    flat = own & (np.abs(view.points[..., 2] - level) < FLAT)
    wood = np.median(_shares(view.frame.color[flat].astype(float)), axis=0)
    pegs = [peg for one in _things(view, high) for peg in _pegs(view, one, level, wood)]
    bare = [peg.top for peg in pegs if peg.top]
    if not bare:
        return None
    top = max(bare)  # rings that lie lower than that, and show no peg, are about none
    hidden = [peg for peg in pegs if not peg.top and (peg.rings[-1].top > top - LOW or any(np.linalg.norm(peg.position - one) < BESIDE for one in known))]
    pegs = [peg for peg in pegs if peg.top] + [replace(peg, top=top) for peg in hidden]
    along = corners[1] - corners[0] if np.linalg.norm(corners[1] - corners[0]) > np.linalg.norm(corners[2] - corners[1]) else corners[2] - corners[1]
    along = along if (along[1], along[0]) > (0.0, 0.0) else -along
    return PegStand(level, corners, tuple(sorted(pegs, key=lambda peg: float(peg.position @ along))))


def _board_level(points: npt.NDArray[np.float32]) -> float | None:
    """The height at which most of the points lie [m]; None where that is no board of a stand."""
    heights = points[(points[:, 2] > LEVEL[0]) & (points[:, 2] < LEVEL[1]), 2]
    if len(heights) < 4 * FEWEST:
        return None
    counts, edges = np.histogram(heights, bins=np.arange(LEVEL[0], LEVEL[1] + 0.001, 0.001))
    near = heights[np.abs(heights - edges[int(np.argmax(np.convolve(counts, np.ones(3), "same")))] - 0.0005) < FLAT]
    return float(np.median(near))


def _things(view: DeskView, high: Mask) -> list[Mask]:
    """What stands on a board: points that lie near each other in the plane."""
    rows, columns = np.nonzero(high)
    cells = np.floor(view.points[rows, columns, :2] / (APART / 4)).astype(int)
    cells -= cells.min(axis=0, initial=0) if len(cells) else 0
    if not len(cells):
        return []
    grid = np.zeros(cells.max(axis=0) + 1, np.uint8)
    grid[cells[:, 0], cells[:, 1]] = 1
    _, labels = cv2.connectedComponents(cv2.morphologyEx(np.pad(grid, 4), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)))
    of = labels[4:-4, 4:-4][cells[:, 0], cells[:, 1]]
    things = []
    for number in range(1, int(labels.max()) + 1):
        if (of == number).sum() >= FEWEST:
            mask = np.zeros_like(high)
            mask[rows[of == number], columns[of == number]] = True
            things.append(mask)
    return things


def rings_among(view: DeskView, own: Mask) -> tuple[Ring, ...]:
    """Rings among pixels (H, W), the lowest first: what is in the gripper and what is about it."""
    own = own & np.isfinite(view.points).all(axis=-1)
    return _rings(view.eye, view.points[own].astype(float), view.frame.color[own].astype(float), None)


def _shares(colors: Array) -> Array:
    """Of each primary colour (N, 3), which light and shadow leave about as they are."""
    return np.asarray((colors + DARK) / (colors + DARK).sum(axis=1, keepdims=True))


def _pegs(view: DeskView, own: Mask, level: float, wood: Array) -> list[Peg]:
    """A thing's peg with its rings, its ``top`` 0 where they hide it, and one beside rings that are about none; ``wood``: the board's colour, as of _shares."""
    points, colors = view.points[own].astype(float), view.frame.color[own].astype(float)
    if float(np.ptp(np.quantile(points[:, :2], [EDGE, 1 - EDGE], axis=0), axis=0).max()) > WIDEST:
        return []
    rings = _rings(view.eye, points, colors, wood)
    if not rings:
        return _bare(view, points, colors, level)
    axis = np.mean([ring.centre for ring in rings], axis=0)
    apart = np.linalg.norm(points[:, :2] - axis, axis=1)
    above = (points[:, 2] > rings[-1].top + STANDS_OUT) & (apart < BESIDE)
    if above.sum() >= FEW:
        if above.sum() >= FEWEST:
            axis, _ = _upright(view.eye, points[above], float(np.quantile(points[above, 2], 0.95)) - SIDE)
        return [Peg(axis, float(np.quantile(points[above, 2], TOPMOST)), _rgb(colors[above]), rings)]
    beside = (apart > BESIDE) & (points[:, 2] > rings[-1].top + STANDS_OUT)
    return [Peg(axis, 0.0, None, rings), *(_bare(view, points[beside], colors[beside], level) if beside.sum() >= FEWEST else [])]


def _bare(view: DeskView, points: Array, colors: Array, level: float) -> list[Peg]:
    """The peg that points (N, 3) are of, if they are."""
    centre, across = _upright(view.eye, points, float(np.quantile(points[:, 2], 0.95)) - SIDE)
    top = float(np.quantile(points[:, 2], TOPMOST))
    return [] if across > THIN or top - level < max(LOWEST, SLIM * across) else [Peg(centre, top, _rgb(colors))]


def _rings(eye: Array, points: Array, colors: Array, wood: Array | None) -> tuple[Ring, ...]:
    """Rings among the points (N, 3) of a thing, whose colours are (N, 3), the lowest first; what is as the board is the peg, or seen beside the rings."""
    shares, seen = _shares(colors), []
    left = np.linalg.norm(shares - wood, axis=1) > WOOD if wood is not None else np.ones(len(points), bool)
    while left.sum() >= SOLID:
        some = shares[left][:: int(left.sum()) // MANY + 1]
        apart = np.linalg.norm(some[:, None] - some[None], axis=2)
        middle = some[int(np.argmax((apart < CHROMA / 2).sum(axis=1)))]
        own = left & (np.linalg.norm(shares - middle, axis=1) < CHROMA)
        left &= ~own
        if own.sum() >= SOLID:
            top = float(np.quantile(points[own, 2], UPPER))
            centre, across = _upright(eye, points[own], top - SIDE)
            seen.append(Ring(centre, across, top, _lit(colors[own]), points[own].astype(np.float32)))
    rings: list[Ring] = []
    for ring in sorted(seen, key=lambda one: -len(one.points)):  # what is seen of one beside most of it is a shade, or noise at its edge
        alone = all(abs(ring.top - other.top) > LOW and np.linalg.norm(ring.centre - other.centre) < BESIDE for other in rings)
        thick = float(np.quantile(ring.points[:, 2], TOPMOST) - np.quantile(ring.points[:, 2], 1 - TOPMOST))
        if THIN < ring.diameter < WIDEST and thick < SQUAT * ring.diameter and alone:
            rings.append(ring)
    return tuple(sorted(rings, key=lambda ring: ring.top))


def _upright(eye: Array, points: Array, side: float) -> tuple[Array, float]:
    """Axis (2,) and diameter [m] of an upright cylinder from the points (N, 3) that are seen of it; those below ``side`` [m] are of its side."""
    middle = points[:, :2].mean(axis=0)
    away = (middle - eye[:2]) / np.linalg.norm(middle - eye[:2])
    across = (points[:, :2] - middle) @ np.array([-away[1], away[0]])
    low, high = np.quantile(across, [EDGE, 1 - EDGE])
    diameter = float(high - low) / (1 - 2 * EDGE)
    along, front = (points[:, :2] - middle) @ away, (points[:, 2] < side) & (np.abs(across - (low + high) / 2) < diameter / 4)
    sides = front.sum() >= FEWEST // 2  # else its upper side alone is seen
    depth = float(np.median(along[front])) + FRONT * diameter / 2 if sides else float(np.quantile(along, [EDGE, 1 - EDGE]).mean())
    return middle + away * depth + np.array([-away[1], away[0]]) * (low + high) / 2, diameter


def _lit(colors: Array) -> tuple[int, int, int]:
    """Of the lighter half: what lies in shadow has no name of its own."""
    light = colors.sum(axis=1)
    return _rgb(colors[light >= np.median(light)])


def _rgb(colors: Array) -> tuple[int, int, int]:
    red, green, blue = (int(value) for value in np.median(colors, axis=0))
    return red, green, blue
