"""The surface that objects stand on: where it is seen, where it is taken, where it is free."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array

CELL = 0.002  # [m] of the plan
LEVEL = 0.004  # [m] from the surface's height within which a point is of it
FEW = 0.0004  # [m2] smaller pieces are left out
Plan = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SupportSurface:
    """A level surface in plan.

    Attributes:
        height: above the table [m].
        outline: polygon (N, 2) around all that is seen of it, with what stands on it [m, world].
        free: polygons (N, 2) of its free parts, largest first [m, world]; what they go round is joined to the outside by a cut of one cell.
        area, free_area: of both [m2].
        circle: (x, y, radius) of the largest circle that is free [m, world].
        plan: which cells are free (rows along x, columns along y) from ``origin`` (x, y) on, ``CELL`` apart.
    """

    height: float
    outline: Array
    free: tuple[Array, ...]
    area: float
    free_area: float
    circle: tuple[float, float, float]
    plan: Plan
    origin: Array


def find_surface(points: npt.NDArray[np.float32], height: float, above: npt.NDArray[np.float32]) -> SupportSurface | None:
    """The level surface at ``height`` [m] of which ``points`` (N, 3) were seen, with what stands on it, ``above`` (M, 3); None when too little is seen."""
    level = height + float(np.median((points[:, 2] - height)[np.abs(points[:, 2] - height) < 2 * LEVEL])) if len(points) else height
    own = points[np.abs(points[:, 2] - level) < LEVEL]
    if len(own) < 50:
        return None
    origin = np.floor(own[:, :2].min(axis=0) / CELL).astype(int) - 2
    shape = tuple(np.ceil(own[:, :2].max(axis=0) / CELL).astype(int) - origin + 3)
    seen = _closed(_drawn(own, origin, shape), 9)
    taken = _closed(_drawn(above, origin, shape), 7)
    whole = _closed(seen | taken & _near(seen), 17)
    free = _opened(seen & ~taken, 5)
    outline = _polygons(_largest(whole), origin)
    if not outline:
        return None
    pieces = [piece for piece in _polygons(_without_holes(free), origin) if _area(piece) >= FEW]
    distance = cv2.distanceTransform(np.pad(free.astype(np.uint8), 1), cv2.DIST_L2, 5)[1:-1, 1:-1]
    best = np.unravel_index(int(distance.argmax()), distance.shape)
    x, y = (np.array(best) + origin + 0.5) * CELL
    radius = float(max(0.0, (distance.max() - 0.5) * CELL))
    return SupportSurface(
        height, outline[0], tuple(pieces), float(whole.sum()) * CELL**2, float(free.sum()) * CELL**2, (float(x), float(y), radius), free, origin * CELL
    )


def _drawn(points: npt.NDArray[np.float32], origin: npt.NDArray[np.int64], shape: tuple[int, ...]) -> Plan:
    plan = np.zeros(shape, bool)
    cells = np.floor(points[:, :2] / CELL).astype(int) - origin
    inside = ((cells >= 0) & (cells < shape)).all(axis=1)
    plan[tuple(cells[inside].T)] = True
    return plan


def _closed(plan: Plan, side: int) -> Plan:
    wide = np.pad(plan.astype(np.uint8), side)  # else what comes near the edge of the plan grows to it and stays there
    return np.asarray(cv2.morphologyEx(wide, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8))[side:-side, side:-side] > 0)


def _opened(plan: Plan, side: int) -> Plan:
    return np.asarray(cv2.morphologyEx(plan.astype(np.uint8), cv2.MORPH_OPEN, np.ones((side, side), np.uint8)) > 0)


def _near(plan: Plan) -> Plan:
    """Within the hull of what is seen."""
    hull = cv2.convexHull(np.argwhere(plan)[:, ::-1].astype(np.int32))
    return np.asarray(cv2.fillConvexPoly(np.zeros(plan.shape, np.uint8), hull, 1) > 0)


def _largest(plan: Plan) -> Plan:
    count, labels, stats, _ = cv2.connectedComponentsWithStats(plan.astype(np.uint8))
    return np.asarray(labels == 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax())) if count > 1 else plan


def _polygons(plan: Plan, origin: npt.NDArray[np.int64]) -> list[Array]:
    contours, _ = cv2.findContours(plan.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    found = [cv2.approxPolyDP(contour, 1.0, True).reshape(-1, 2)[:, ::-1] for contour in sorted(contours, key=cv2.contourArea, reverse=True)]
    return [(one + origin + 0.5) * CELL for one in found if len(one) >= 3]


def _without_holes(plan: Plan) -> Plan:
    """The plan with a cut from every hole to the outside, so that the outlines of its pieces tell the holes as well."""
    cut: Plan = np.array(plan)
    count, labels = cv2.connectedComponents((~np.pad(plan, 1)).astype(np.uint8), connectivity=4)
    outside = int(labels[0, 0])
    for number in range(1, count):
        if number != outside:
            row, column = np.argwhere(labels[1:-1, 1:-1] == number)[0]  # of its first row: from there to the edge of the plan, whatever lies between
            cut[:row, column] = False
    return cut


def _area(polygon: Array) -> float:
    after = np.roll(polygon, -1, axis=0)
    return abs(float((polygon[:, 0] * after[:, 1] - polygon[:, 1] * after[:, 0]).sum())) / 2
