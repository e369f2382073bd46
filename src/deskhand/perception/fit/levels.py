"""Objects of one colour on each other: a tall segment is cut at the height where its sides jump, when two solids explain the picture better than one."""

from __future__ import annotations

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.fit.part_settings import LEVELS
from deskhand.perception.fit.solids import Solid, SolidFits, at_height, surface_distance
from deskhand.perception.quantiles import quantile
from deskhand.perception.segment.segmentation import Segment, part_of
from deskhand.perception.segment.slices import round_from
from deskhand.perception.view import View


def stacked_parts(view: View, fits: SolidFits, item: Segment, solid: Solid, depth: int = LEVELS.depth) -> list[Segment]:
    """The objects on each other that a segment is made of, lowest first; itself when it is one. ``solid`` is what it is taken for."""
    support = float(solid.pose[2, 3] - solid.size[2] / 2)
    if depth < 2 or solid.lying or solid.size[2] < LEVELS.two or not fits.is_doubtful(item, solid, LEVELS.doubt):
        return [item]
    whole = fits.explained(item, solid)
    best: tuple[float, list[Segment], list[Solid]] | None = None
    heights, round_up = _jumps(view, item, support), round_from(item.points, support + float(solid.size[2]))
    for height in [*heights, *([] if round_up is None else [round_up])]:
        below = item.points[:, 2] < height + LEVELS.top
        if min(below.sum(), (~below).sum()) < LEVELS.least:
            continue
        parts = [part_of(item, below), part_of(item, ~below)]
        solids = [fits.of(parts[0], support, height), fits.of(parts[1], height)]
        if _is_one(fits, solid, parts, solids):
            continue
        found = [fits.explained(part, fit) for part, fit in zip(parts, solids, strict=True)]
        doubt, wrong = sum(cost for cost, _ in found), sum(pixels for _, pixels in found)
        if (
            doubt < whole[0] - LEVELS.gain
            and wrong < min(whole[1] - LEVELS.gain_share * len(item), LEVELS.still * len(item))
            and (best is None or doubt < best[0])
        ):
            best = doubt, parts, solids
    if best is None:
        return [item]
    return [piece for part, fit in zip(best[1], best[2], strict=True) for piece in stacked_parts(view, fits, part, fit, depth - 1)]


def _is_one(fits: SolidFits, whole: Solid, parts: list[Segment], solids: list[Solid]) -> bool:
    """Whether two parts go on as one: as wide and one axis, or what is seen of the one with fewer points lies on the sides of the other, were that longer.

    Boxes as wide on each other do so too: of these objects must have the size of both together at least as often as that of either.
    """
    few, main = sorted(range(2), key=lambda number: len(parts[number]))
    one, other = solids[main], solids[few]
    if one.shape not in ("cylinder", "box") or one.lying or (one.shape == "box" and not _is_usual(fits, whole, solids)):
        return False
    if other.shape == one.shape and not other.lying and np.linalg.norm(one.pose[:2, 3] - other.pose[:2, 3]) < LEVELS.same:
        wider = np.abs(np.sort(one.size[:2]) - np.sort(other.size[:2])).max()
        if wider < LEVELS.same:
            return True
    endless = at_height(one, float(one.pose[2, 3]) - 1.0, float(one.pose[2, 3]) + 1.0)
    return bool((np.abs(surface_distance(endless, parts[few].points)) < LEVELS.same).mean() > LEVELS.on_sides)


def _is_usual(fits: SolidFits, whole: Solid, solids: list[Solid]) -> bool:
    """Whether objects have the size of a box at least as often as those of its parts."""
    usual = [float(fits.prior(solid.shape, solid.size[None])[0]) for solid in (whole, *solids)]
    return whole.shape == "box" and usual[0] >= max(usual[1:])


def _jumps(view: View, item: Segment, support: float) -> list[float]:
    """Heights [m] at which the outline of a segment, seen from the camera, jumps; the largest jump first."""
    points = item.points
    middle = np.median(points[:, :2], axis=0)
    away = middle - view.eye[:2]
    away = away / max(1e-6, float(np.linalg.norm(away)))
    across, along = (points[:, :2] - middle) @ np.array([away[1], -away[0]]), (points[:, :2] - middle) @ away
    number = np.floor((points[:, 2] - support) / LEVELS.slice).astype(int)
    sides = np.full((max(0, int(number.max())) + 1, 3), np.nan)
    for k in range(len(sides)):
        inside = number == k
        if inside.sum() >= LEVELS.enough:
            sides[k] = quantile(across[inside], 0.04), quantile(across[inside], 0.96), quantile(along[inside], 0.08)
    first, last = int(np.ceil(LEVELS.lowest / LEVELS.slice)), len(sides) - int(np.ceil(LEVELS.lowest / LEVELS.slice))
    jumps = [(_jump(sides, k), support + k * LEVELS.slice) for k in range(first, last + 1)]
    found: list[float] = []
    for size, height in sorted(jumps, reverse=True):
        if size < LEVELS.jump or len(found) == LEVELS.cuts:
            break
        if all(abs(height - other) > 1.5 * LEVELS.slice for other in found):
            found.append(height)
    return found


def _jump(sides: Array, k: int) -> float:
    """[m] between what is just below and just above the lower edge of slice ``k``, more than the sides change there anyway."""
    if k < 2 or k + 1 >= len(sides) or not np.isfinite(sides[k - 2 : k + 2]).all():
        return 0.0
    step = np.abs(sides[k : k + 2].mean(axis=0) - sides[k - 2 : k].mean(axis=0))
    drift = (np.abs(sides[k + 1] - sides[k]) + np.abs(sides[k - 1] - sides[k - 2])) / 2
    return float((step - drift).max())
