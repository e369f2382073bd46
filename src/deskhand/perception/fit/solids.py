"""The solid that a segment is part of: box, standing, lying or leaning cylinder, sphere; with its support plane known."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.fit.cylinder_fit import leaning, lying, sphere
from deskhand.perception.fit.picture_refinement import Pixels, explains_badly, may_refine, pixels_around, refined, unusual
from deskhand.perception.fit.rod_endpoints import with_ends
from deskhand.perception.fit.settings import SOLIDS
from deskhand.perception.fit.side_view_fit import Prior, completions, from_sides
from deskhand.perception.fit.solid import Solid, surface_distance
from deskhand.perception.fit.tilted_box_fit import tilted
from deskhand.perception.fit.upright_fit import boxes_along_edges, from_top, top_height
from deskhand.perception.footprint import tight_rectangle
from deskhand.perception.rows import all_of
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.view import View
from deskhand.perception.visibility import Taken, free_share, nowhere

__all__ = ["Solid", "SolidFits", "fit_solid", "surface_distance"]
_SPREAD = np.random.default_rng(0).permutation((np.arange(SOLIDS.max_points) + 0.5) / SOLIDS.max_points)  # places of those that are taken, evenly over all


class SolidFits:
    """Fits of one look, each made once: cutting, joining and placing ask for the same ones."""

    def __init__(self, view: View, prior: Prior) -> None:
        self._view, self.prior = view, prior
        self._known: dict[tuple[int, float, float], tuple[Segment, Solid]] = {}
        self._around: dict[int, tuple[Segment, Pixels]] = {}
        self._explained: dict[tuple[int, int], tuple[Segment, Solid, tuple[float, float]]] = {}
        self._whole: dict[tuple[int, int], tuple[Solid, list[Solid], Taken]] = {}

    def of(self, item: Segment, support: float = 0.0, top: float | None = None) -> Solid:
        """The solid of a segment that stands at height ``support`` [m], and ends at ``top`` when something on it tells; as far as it is seen."""
        key = (id(item), round(support, 5), round(top or 0.0, 5))
        if key not in self._known:
            # The segment is kept with its fit, so that its id stays its own.
            self._known[key] = item, fit_solid(self._view, self.prior, item, support, top)
        return self._known[key][1]

    def whole(self, solid: Solid, taken: Taken = nowhere) -> Solid:
        """A solid with what is hidden of it; ``taken`` tells where other objects are, into which it cannot go on."""
        return self._wholes(solid, taken)[0]

    def _wholes(self, solid: Solid, taken: Taken) -> list[Solid]:
        """The same in every way that is about as usual, the likeliest first."""
        key = id(solid), id(taken)
        if key not in self._whole:
            full = [solid]
            if solid.shape == "box":
                full = completions(self._view, solid, self.prior, taken)
            elif solid.lying:
                full = [with_ends(self._view, solid, self.prior, taken)]
            # Both are kept, so that their ids stay their own.
            self._whole[key] = solid, full, taken
        return self._whole[key][1]

    def best(self, item: Segment, solid: Solid, taken: Taken, free: tuple[bool, bool]) -> Solid:
        """The solid of a segment, whole and where it explains the picture best; another shape where the one that it was taken for does so badly.

        ``taken`` tells where other objects are, ``free`` whether its bottom and its top are unsure.
        """
        ways = self._wholes(solid, taken)
        whole = ways[0]
        rare = self._usual(whole) < SOLIDS.rare
        if not may_refine(whole) and (not rare or abs(whole.pose[2, 0]) > SOLIDS.level_axis):
            return whole
        pixels = self._pixels(item)
        best, cost = whole, SOLIDS.unexplained * len(item)
        if may_refine(whole):
            if not rare and not whole.guessed and not any(free) and explains_badly(self._view, pixels, whole) < SOLIDS.explained * len(item):
                return whole
            prior: Prior = partial(self.prior, hidden=True) if whole.guessed else self.prior
            best, cost = min((refined(self._view, pixels, way, prior, free) for way in ways), key=lambda found: found[1])
            rare = self._usual(best) < SOLIDS.rare
        if cost > SOLIDS.unexplained * len(item) or rare:
            support, top = solid.pose[2, 3] - solid.size[2] / 2, solid.pose[2, 3] + solid.size[2] / 2
            for other in self._others(item, best.shape, support, top, rare):
                trial, doubt = refined(self._view, pixels, self.whole(other, taken), self.prior, free)
                if doubt < cost - SOLIDS.better:
                    best, cost = trial, doubt
        if _held(best, item) > _held(whole, item) - SOLIDS.left_out:
            return best
        far_better = may_refine(whole) and cost < min(SOLIDS.unexplained * len(item), SOLIDS.far_better * explains_badly(self._view, pixels, whole))
        return best if far_better else whole

    def is_doubtful(self, item: Segment, solid: Solid, share: float = SOLIDS.unexplained) -> bool:
        """True for a solid that leaves more than ``share`` of its segment unexplained, or of a size that objects seldom have."""
        if not may_refine(solid):
            return True
        seldom = solid.shape != "sphere" and self._usual(solid) < SOLIDS.seldom
        return seldom or explains_badly(self._view, self._pixels(item), solid) > share * len(item)

    def _usual(self, solid: Solid) -> float:
        return float(self.prior(solid.shape, solid.size[None])[0])

    def _pixels(self, item: Segment) -> Pixels:
        key = id(item)
        if key not in self._around:
            self._around[key] = item, pixels_around(self._view, item)
        return self._around[key][1]

    def explained(self, item: Segment, solid: Solid) -> tuple[float, float]:
        """How badly a solid explains the picture of a segment once its sides are moved, [px], with how seldom such a size is, and without."""
        if not may_refine(solid):
            return 2.0 * len(item), 1.0 * len(item)
        key = id(item), id(solid)
        if key not in self._explained:
            best, cost = refined(self._view, self._pixels(item), solid, self.prior, (False, False), rough=True)
            self._explained[key] = item, solid, (cost, cost - unusual(self.prior, best))
        return self._explained[key][2]

    def _others(self, item: Segment, shape: str, support: float, top: float, rare: bool) -> list[Solid]:
        """Solids of other shapes that a segment may be part of; where it is ``rare`` as it is, also boxes of which no side is seen."""
        points = item.points[:: 1 + len(item) // SOLIDS.max_points]
        sides = from_sides(self._view, points, top, support, shape)
        along = boxes_along_edges(points, top, support) if rare and shape != "box" else []
        ball = sphere(points, support) if shape != "sphere" else None
        return [*sides, *along, *([] if ball is None else [ball])]


def fit_solid(view: View, prior: Prior, item: Segment, support: float, top: float | None) -> Solid:
    """The solid on a plane at height ``support`` [m] that explains the segment best.

    Points that are not measured tell where the outline is, but not how the surface is curved.
    """
    points, measured = item.points, item.measured
    if len(points) > SOLIDS.max_points:
        chosen = (_SPREAD * len(points)).astype(np.int64)
        points, measured = points[chosen], measured[chosen]
    whole = points
    points = points[measured] if measured.sum() >= 20 else points
    carries = top is not None
    height = top_height(points[:, 2]) if top is None else top
    band = max(0.003, 2.2 * view.noise)
    plateau = whole[np.abs(whole[:, 2] - height) < band]
    outline = tight_rectangle(points[:, :2])
    rod: Solid | None = None
    is_rod = False
    if not carries and outline.size[0] > SOLIDS.long * outline.size[1] and height - support < SOLIDS.rod_height * outline.size[1] + 0.004:
        rod = lying(points, whole, support, view.eye)
        # Seen from its end a rod could be a narrow box, which objects are not.
        is_rod = rod is not None and rod.error < max(SOLIDS.rod, 1.7 * view.noise) and outline.size[0] > SOLIDS.rod_long * outline.size[1]
        if rod is not None and is_rod and outline.size[1] <= SOLIDS.broad:
            return rod
    standing = from_top(points, plateau, height, support, view.eye)
    if (
        not carries
        and outline.size[1] > SOLIDS.broad
        and standing.shape != "other"
        and standing.flat_top > SOLIDS.whole_top
        and standing.error < max(SOLIDS.good, 1.4 * view.noise)
    ):
        return standing
    if rod is not None and is_rod:
        return rod
    found: list[Solid] = [] if rod is None else [rod]
    ball: Solid | None = None
    if not carries and outline.size[0] < SOLIDS.ball_seen * outline.size[1] and standing.flat_top < SOLIDS.level:
        ball = sphere(points, support)
        ball = ball if ball is not None and ball.error < max(SOLIDS.ball, 1.8 * view.noise) else None
        found += [] if ball is None else [ball]
    doubts = _Doubts(view)
    if ball is None and (
        carries or standing.flat_top < SOLIDS.seen_top or standing.shape == "other" or doubts.of(standing) > max(SOLIDS.poor_top, 1.6 * view.noise)
    ):
        found += from_sides(view, points, height, support)
    if standing.flat_top >= SOLIDS.seen_top or not found:
        found.append(standing)
    best = min(found, key=doubts.of) if len(found) > 1 else found[0]
    if not carries and outline.size[0] > 2.5 * outline.size[1]:
        rod = leaning(points, whole, view.eye)
        if rod is not None and rod.error < SOLIDS.leaning_gain * doubts.of(best):
            return rod
    poor = max(SOLIDS.poor, 2.0 * view.noise)
    if not carries and best is not ball and doubts.of(best) > poor:
        turned = tilted(points, item.points, view.eye, prior)
        if turned is not None and turned.error < min(poor, SOLIDS.tilted_gain * doubts.of(best)) and float(prior("box", turned.size[None])[0]) > SOLIDS.seldom:
            return turned
    return best


class _Doubts:
    """Error [m] of solids, more when the camera looks through where one would be; each is asked for once."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[int, float] = {}

    def of(self, solid: Solid) -> float:
        if id(solid) not in self._known:
            self._known[id(solid)] = _doubt(self._view, solid)
        return self._known[id(solid)]


def _doubt(view: View, solid: Solid) -> float:
    """Error [m] of a solid, more when the camera looks through where it would be."""
    return solid.error + (SOLIDS.seen_through * max(0.0, free_share(view, solid.pose, solid.size) - 0.08) if solid.shape == "box" else 0.0)


def _held(solid: Solid, item: Segment) -> float:
    """Share of the points of a segment that are within a solid, or nearly."""
    points = item.points[:: 1 + len(item) // SOLIDS.max_points] - solid.pose[:3, 3]
    return float(all_of(np.abs(points @ solid.pose[:3, :3]) < solid.size / 2 + SOLIDS.within).mean())


def at_height(solid: Solid, support: float, top: float) -> Solid:
    """The same footprint between other heights [m]."""
    pose: Array = solid.pose.copy()
    pose[2, 3] = (support + top) / 2
    return replace(solid, pose=pose, size=np.array([solid.size[0], solid.size[1], max(0.002, top - support)]))
