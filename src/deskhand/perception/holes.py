"""Holes in the upper side of an object, as of a shape sorter: where the level that all else of it has is missing; and which hole a piece fits, how turned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array, inverse, transform_points
from deskhand.perception.closing import directions
from deskhand.perception.color_edges import refined
from deskhand.perception.desk_view import DeskView
from deskhand.perception.outline_library import TURN as TURNED_ALIKE
from deskhand.perception.outline_match import DrawnMatch, match_drawn, outlines_of
from deskhand.types import Frame, SceneObject

Mask = npt.NDArray[np.bool_]
CELL = 0.0005  # [m] of the grid in which holes and pieces are drawn
GRAIN = 2  # cells for each pixel that a camera at usual distance sees
FEWEST = 30  # points of an upper side, below which its outline is not told
SPACING = 0.003  # [m] between measured points of a surface that is seen whole, at most
STANDS = 0.006  # [m] above a thin board from which on something stands on it: more than the noise of the depth, less than pieces stick out of a recess
BIN, MOST = 0.002, 2.0  # [m] of heights that are counted together, and times as many as near the top that make another level the board's
EDGE = 3  # pixels at the robot's outline whose depth is between its own and that of what is behind it
THIN = 0.02  # [m] up to which a board is too thin for more than recesses
NARROW = 0.005  # [m] that what is missing is wide at least
LEVEL = 0.004  # [m] that points of a level upper side lie off it: noise of the depth ..
SHALLOW, LEAST = 0.25, 0.002  # .. of a thin board so much of its thickness, and at least so many metres: a recess of it is hardly deeper than half of that
SMALLEST = 150e-6  # [m2] of a hole
BOARD = 0.3  # share of an upper side that must be seen level
SHARP = 0.01  # of overlap that a turn may be worse by to count e times less in the mean of those about the best
SOLID = 0.04  # of overlap that speaks for a hole of the outline of the solid that the piece is taken for
SNUG = (0.8, 1.05)  # size of a piece over that of its hole, less the slack: a smaller one belongs through another, a larger one does not go through
ROOM = 0.4  # of overlap for each e times smaller or larger than that
OUTLINES_OF = {"box": ("square", "rectangle"), "cylinder": ("circle", "ellipse", "hexagon")}
SLACK = 0.002  # [m] by which holes of toys are wider all round than what goes through them
TURN = np.deg2rad(3.0)  # between the turns that are tried
AS_GOOD = 0.03  # of overlap: turns that fit about as well
APART = np.deg2rad(20.0)  # between turns that are told apart
SAME_AFTER = {name: turn for name, turn in TURNED_ALIKE.items() if name in ("star", "square", "pentagon", "hexagon", "plus")}
SURE = 0.6  # likelihood of an outline from which on it is taken to be as regular as that ..
REGULAR = 0.8  # .. where it overlaps so much with itself so turned: as looks draw it a star by 0.87, a plus by 0.92, but a diamond, as a square, by 0.71


@dataclass(frozen=True)
class Hole:
    """A hole in an upper side.

    Attributes:
        centre: (2,) [m, world]. ``level``: height of the upper side [m].
        area: [m2]. ``mask``: the hole in cells of ``CELL`` along x and y of the world, its middle cell at ``centre``.
        likely: how likely outlines are, likeliest first.
        depth: of a recess in a thin board [m]; NaN: of any other hole, whose ground is not looked for.
    """

    centre: Array
    level: float
    area: float
    mask: Mask
    likely: tuple[tuple[str, float], ...] = ()
    depth: float = np.nan


@dataclass(frozen=True)
class Fit:
    """How a piece goes through a hole: turned by ``turn`` [rad] about the vertical from how it stands; ``overlap``: how well the piece looks like that;
    ``middle`` (2,) [m, world] of its upper side as it stands; ``closing``: directions [rad about the vertical, 0 along x of the world] along which fingers
    that close on it as it stands do not turn it, nor get stuck in it (closing.py).
    """

    hole: Hole
    turn: float
    overlap: float
    middle: Array
    closing: tuple[float, ...] = ()


def holes_in(view: DeskView, item: SceneObject) -> list[Hole]:
    """Holes in the upper side of ``item`` as a whole picture shows it: an arm above it hides some, and stands on none."""
    robot = cv2.dilate(view.robot.astype(np.uint8), np.ones((2 * EDGE + 1, 2 * EDGE + 1), np.uint8)) > 0
    return find_holes(view.points.reshape(-1, 3), item, view.frame, robot.ravel())


def find_holes(points: npt.NDArray[np.float32], item: SceneObject, frame: Frame | None = None, robot: Mask | None = None) -> list[Hole]:
    """Holes in the upper side of ``item``, the largest first; none where too little of that side is level.

    ``points`` (N, 3) [m, world], what a camera sees from above, NaN where it sees nothing; ``frame``: the picture, by whose colours edges are drawn.
    ``robot`` (N,): which of the points are the robot's own.
    """
    size = np.asarray(item.size, dtype=float)
    own_body = np.zeros(len(points), bool) if robot is None else robot
    measured = np.isfinite(points).all(axis=1)
    near, arm = points[measured & ~own_body], points[measured & own_body].astype(float)
    local = transform_points(inverse(item.pose), near.astype(float))
    within = (np.abs(local[:, :2]) < size[:2] / 2).all(axis=1)
    level = _level_of(near[within, 2], item)
    tolerance = float(np.clip(SHALLOW * (level - item.bottom), LEAST, LEVEL))
    flat = near[within & (np.abs(near[:, 2] - level) < tolerance), :2].astype(float)
    if len(flat) < 100:
        return []
    low, high = flat.min(axis=0), flat.max(axis=0)
    shape = np.ceil((high - low) / CELL).astype(int) + 1
    board = np.zeros(shape, np.uint8)
    cells = np.round((flat - low) / CELL).astype(int)
    board[cells[:, 0], cells[:, 1]] = 1
    closed = cv2.morphologyEx(board, cv2.MORPH_CLOSE, _square(SPACING + 2 * CELL * GRAIN))
    hull = np.zeros(shape, np.uint8)
    cv2.fillConvexPoly(hull, cv2.convexHull(np.column_stack([cells[:, 1], cells[:, 0]]).astype(np.int32)), 1)
    if closed.sum() < BOARD * hull.sum():
        return []
    gone = (hull > 0) & (closed == 0)
    thin = level - item.bottom < THIN
    if thin and frame is not None:
        eye = frame.world_T_camera[:3, 3]
        gone &= ~_hidden(near[within & (near[:, 2] > level + STANDS)].astype(float), eye, level, low, shape)
        gone &= ~_shaded(arm[(arm[:, 2] > level) & (arm[:, 2] < eye[2] - STANDS)], eye, level, low, shape)
    missing = cv2.morphologyEx(np.asarray(gone, dtype=np.uint8), cv2.MORPH_OPEN, _square(NARROW))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(missing, connectivity=4)
    rim = cv2.erode(np.pad(hull, 8), _square(NARROW))[8:-8, 8:-8] == 0
    heights = _heights(near[within], low, shape)
    picture = None if frame is None else _seen_from_above(frame, low, shape, level)
    holes = []
    for number in range(1, count):
        own = labels == number
        area = float(stats[number, cv2.CC_STAT_AREA]) * CELL**2
        if area >= SMALLEST and not (own & rim).any() and not (inner := _inner(heights, own, level)) < -tolerance:
            if picture is not None:
                own = refined(picture, own, closed > 0, GRAIN) > 0.5
            middle = np.argwhere(own).mean(axis=0)
            holes.append(replace(_hole(own, middle, low, level, float(own.sum()) * CELL**2), depth=inner if thin else np.nan))
    return sorted(holes, key=lambda hole: -hole.area)


def _hidden(points: Array, eye: Array, level: float, low: Array, shape: Array) -> Mask:
    """Cells over which something stands, ``points`` (N, 3) [m] of it, or that it hides from the camera."""
    hidden = np.zeros(tuple(shape), np.uint8)
    behind = _behind(points, eye, level)
    for start, end in zip(np.round((points[:, :2] - low) / CELL).astype(int), np.round((behind - low) / CELL).astype(int), strict=True):
        cv2.line(hidden, (int(start[1]), int(start[0])), (int(end[1]), int(end[0])), 1, 2 * GRAIN)
    grown = cv2.dilate(cv2.morphologyEx(hidden, cv2.MORPH_CLOSE, _square(SPACING)), _square(SPACING))
    return np.asarray(cv2.morphologyEx(grown, cv2.MORPH_OPEN, _square(NARROW)) > 0)


def _shaded(points: Array, eye: Array, level: float, low: Array, shape: Array) -> Mask:
    """Cells that what is above a board and does not stand on it, the arm, hides from the camera by ``points`` (N, 3) [m] of it."""
    shaded = np.zeros(tuple(shape), np.uint8)
    cells = np.round((_behind(points, eye, level) - low) / CELL).astype(int)
    here = cells[((cells >= 0) & (cells < shape)).all(axis=1)]
    shaded[here[:, 0], here[:, 1]] = 1
    return np.asarray(cv2.dilate(cv2.morphologyEx(shaded, cv2.MORPH_CLOSE, _square(2 * SPACING)), _square(SPACING)) > 0)


def _behind(points: Array, eye: Array, level: float) -> Array:
    """Where (N, 2) [m] the lines of sight through ``points`` (N, 3), lower than the camera, meet a level."""
    return np.asarray(eye[:2] + (points[:, :2] - eye[:2]) * ((eye[2] - level) / (eye[2] - points[:, 2]))[:, None])


def _heights(points: npt.NDArray[np.float32], low: Array, shape: Array) -> npt.NDArray[np.float32]:
    """Of the points that lie over cells the height (*shape,) [m], NaN over others."""
    heights = np.full(tuple(shape), np.nan, np.float32)
    cells = np.round((points[:, :2] - low) / CELL).astype(int)
    here = ((cells >= 0) & (cells < shape)).all(axis=1)
    heights[cells[here, 0], cells[here, 1]] = points[here, 2]
    return heights


def _inner(heights: npt.NDArray[np.float32], own: Mask, level: float) -> float:
    """How deep below a level [m] the middle of a hole is seen; NaN where nothing is. Negative: something stands there."""
    inner = cv2.erode(own.astype(np.uint8), _square(NARROW)) > 0
    seen = heights[inner if np.isfinite(heights[inner]).any() else own]
    return float(level - np.nanmedian(seen)) if np.isfinite(seen).any() else np.nan


def fits(frame: Frame, points: npt.NDArray[np.float32], own: Mask, item: SceneObject, holes: Sequence[Hole], breadth: float = 0.0) -> list[Fit]:
    """Through which holes a piece goes, and how turned: the best hole first, of the turns at which it fits about as well the least first: what looks see
    beside where it is counts twice when it is turned round.

    ``points`` (h, w, 3) and ``own``, which of them show the piece: of the pixels of ``frame``. ``breadth`` [m]: of the pads that shall close on it.
    """
    found = match_drawn(frame, points, own, item.top, [piece_of(hole) for hole in holes], TURN, bottom=item.bottom)
    if not found:
        return []

    def worth(one: DrawnMatch) -> float:
        return _worth(one, item, holes)

    found = sorted(found, key=lambda one: -worth(one))
    best = worth(found[0])
    chosen: list[Fit] = []
    for one in found:
        turn = float((np.pi - one.turn) % (2 * np.pi) - np.pi)
        alike = any(fit.hole is holes[one.number] and abs((fit.turn - turn + np.pi) % (2 * np.pi) - np.pi) < APART for fit in chosen)
        if worth(one) > best - AS_GOOD and not alike:
            near = [other for other in found if other.number == one.number and abs((other.turn - one.turn + np.pi) % (2 * np.pi) - np.pi) < APART / 2]
            weights = np.exp((np.array([other.overlap for other in near]) - one.overlap) / SHARP)
            off = float(weights @ [(other.turn - one.turn + np.pi) % (2 * np.pi) - np.pi for other in near] / weights.sum())
            chosen.append(Fit(holes[one.number], turn - off, one.overlap, one.middle))
    alike_to = [_alike(fit, [other.turn for other in chosen if other.hole is fit.hole]) for fit in chosen]
    upper = upper_outline(points[own], item.top)
    chosen = [replace(fit, closing=directions(piece_of(fit.hole), turns, breadth, upper)) for fit, turns in zip(chosen, alike_to, strict=True)]
    return sorted(chosen, key=lambda fit: (fit.hole is not chosen[0].hole, abs(fit.turn)))


def upper_outline(points: npt.NDArray[np.float32], top: float) -> Array | None:
    """The outline (K, 2) [m, world] of the upper side of a piece whose top is at a height [m], by ``points`` (N, 3) of it; None where hardly any is seen."""
    upper = points[np.isfinite(points).all(axis=1) & (points[:, 2] > top - LEVEL), :2].astype(float)
    if len(upper) < FEWEST:
        return None
    low = upper.min(axis=0) - SPACING
    drawn = np.zeros(np.ceil((upper.max(axis=0) + SPACING - low) / CELL).astype(int) + 1, np.uint8)
    cells = np.round((upper - low) / CELL).astype(int)
    drawn[cells[:, 0], cells[:, 1]] = 1
    contours, _ = cv2.findContours(cv2.morphologyEx(drawn, cv2.MORPH_CLOSE, _square(SPACING)), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    return np.asarray(max(contours, key=len)[:, 0, ::-1] * CELL + low)


def _alike(fit: Fit, turns: Sequence[float]) -> Sequence[float]:
    """Turns [rad] by which the piece looks like its hole: of a star, a square … all, from the mean of those that were found; else those."""
    name, share = fit.hole.likely[0] if fit.hole.likely else ("", 0.0)
    fold = SAME_AFTER.get(name, 0.0)
    if share < SURE or not fold or not _is_regular(fit.hole.mask, fold):
        return turns
    mean = float(np.angle(np.exp(2j * np.pi * np.asarray(turns) / fold).mean())) * fold / (2 * np.pi)
    return [mean + fold * count for count in range(round(2 * np.pi / fold))]


def _is_regular(mask: Mask, fold: float) -> bool:
    """Whether a mask (N, N) looks the same about its middle after turns by ``fold`` [rad]."""
    middle = (len(mask) - 1) / 2
    for count in range(1, round(2 * np.pi / fold)):
        turning = cv2.getRotationMatrix2D((middle, middle), float(np.degrees(fold * count)), 1.0)
        turned = cv2.warpAffine(255 * mask.astype(np.uint8), turning, mask.shape) > 127
        if (turned & mask).sum() < REGULAR * (turned | mask).sum():
            return False
    return True


def worths(frame: Frame, points: npt.NDArray[np.float32], own: Mask, item: SceneObject, holes: Sequence[Hole]) -> Array:
    """How well a piece fits each of the holes (N,), in the turn in which it fits best: its overlap, less what speaks against its size; as :func:`fits`."""
    best = np.zeros(len(holes))
    for one in match_drawn(frame, points, own, item.top, [piece_of(hole) for hole in holes], TURN, bottom=item.bottom):
        best[one.number] = max(best[one.number], _worth(one, item, holes))
    return best


def _worth(one: DrawnMatch, item: SceneObject, holes: Sequence[Hole]) -> float:
    extra = SOLID * sum(share for name, share in holes[one.number].likely if name in OUTLINES_OF.get(item.shape, ()))
    return one.overlap + extra - ROOM * max(0.0, float(np.log(SNUG[0] / one.size)), float(np.log(one.size / SNUG[1])))


def piece_of(hole: Hole) -> Array:
    """The outline of a hole (K, 2) [m] about its middle, without the room that a piece has in it: that of what belongs there."""
    mask = without_slack(hole.mask)
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    longest = max(contours, key=len)[:, 0, ::-1]  # OpenCV tells the column, which is y here, first
    return np.asarray((longest - (np.array(mask.shape) - 1) / 2) * CELL)


def without_slack(mask: Mask) -> Mask:
    """The mask of a hole (N, M), smaller all round by the room that a piece has in it, with a cell more at each border; the same if nothing would be left."""
    whole = np.pad(mask, 1).astype(np.uint8)
    smaller = cv2.erode(whole, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3)), iterations=round(SLACK / CELL))
    return np.asarray((smaller if smaller.any() else whole) > 0)


def _square(side: float) -> npt.NDArray[np.uint8]:
    """A structuring element with an odd side of so many metres."""
    cells = 2 * round(side / CELL / 2) + 1
    return np.ones((cells, cells), np.uint8)


def _seen_from_above(frame: Frame, low: Array, shape: Array, level: float) -> npt.NDArray[np.uint8]:
    """The picture (*shape, 3) as it shows the cells of a level: of a hole, just its outline, whatever is seen through it."""
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]]
    places = np.column_stack([rows.ravel(), columns.ravel(), np.zeros(rows.size)]) * CELL + [*low, level]
    pixels = np.nan_to_num(frame.project(places), nan=-9.0).astype(np.float32).reshape(*shape, 2)
    return np.asarray(cv2.remap(np.asarray(frame.color), pixels[..., 0], pixels[..., 1], cv2.INTER_LINEAR), dtype=np.uint8)


def _hole(own: Mask, middle: Array, low: Array, level: float, area: float) -> Hole:
    mask = _centred(own, middle)
    return Hole(low + middle * CELL, level, area, mask, outlines_of(mask))


def _centred(mask: Mask, centre: Array) -> Mask:
    """A square of odd side about ``centre`` (2,) [cells] that holds all of the mask."""
    cells = np.argwhere(mask) - np.round(centre).astype(int)
    half = int(np.abs(cells).max()) + 1
    square = np.zeros((2 * half + 1, 2 * half + 1), bool)
    square[cells[:, 0] + half, cells[:, 1] + half] = True
    return square


def _level_of(heights: npt.NDArray[np.float32], item: SceneObject) -> float:
    """The height at which most of the points near the top lie [m]; of a board on which things stand, so that these are its top: of most of all points."""
    near = heights[np.abs(heights - item.top) < 2 * LEVEL]
    level = float(np.median(near)) if len(near) else item.top
    counts, edges = np.histogram(heights, np.arange(item.bottom, item.top + 2 * BIN, BIN))
    if not len(counts):
        return level
    most = heights[np.abs(heights - (edges[int(np.argmax(counts))] + BIN / 2)) < BIN]
    lower = float(np.median(most)) if len(most) else level
    return lower if LEAST < lower - item.bottom < THIN and len(most) > MOST * len(near) else level
