"""Whether depth is aligned to colour, told by the pictures alone: where depth jumps, colour should have an edge, and not some pixels beside it.

Depth that is not registered is seen from another place through another lens: a pixel of it lies at ``scale * (pixel - centre) + centre`` and a shift that
falls off with the distance. Such hypotheses are tried against none. A scene that tells nothing is ``unknown``, never an alarm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.types import Depth, Image

Verdict = Literal["registered", "unregistered", "unknown"]
REDUCED = 2  # colour is compared at half its size: a pixel more or less is no matter
JUMP, JUMP_SHARE = 0.015, 0.02  # [m] and of the distance: depth that changes by more is an edge of the nearer object
GAP = 14  # [px] of holes that an edge may have on its far side: what the second eye of a depth camera does not see
INSIDE = 4  # [px] by which the nearer object goes on behind its edge
FEWEST = 120  # edge points, of MOST at most
MOST = 400
SCALES = 1.03 ** np.arange(-11, 12)  # of the two lenses' focal lengths
ACROSS, ALONG = 48, 20  # [px] of shift at the median distance
NEAR = 5.0  # [px] within which a hypothesis says the same as none
APART = 7.0  # [px] by which depth must seem displaced to be called unregistered
SEEN = 0.2  # by which edges of depth must lie on edges of colour more often than anywhere else, in shares of the strongest edges
STRONG, WEAK = 0.92, 0.65  # share of the best hypothesis that none must reach where depth is registered, and may reach at most where it is not

MOST_LOOKS, CONFIRMED = 8, 2  # pictures that are looked at, and that must say the same before depth is refused


@dataclass(frozen=True)
class Registration:
    """What one picture tells.

    Attributes:
        verdict: ``unknown`` when there are too few edges, or colour has none where depth has.
        displaced: [px] by which edges of depth lie beside those of colour, median; NaN where unknown.
        edges: edge points of depth that were looked at.
    """

    verdict: Verdict
    displaced: float
    edges: int

    def words(self) -> str:
        """For people."""
        if self.verdict == "unknown":
            return "the scene does not tell whether depth is aligned to colour"
        if self.verdict == "registered":
            return "depth is aligned to colour"
        return f"edges of depth lie about {self.displaced:.0f} pixels beside those of colour"


def check_registration(color: Image, depth: Depth) -> Registration:
    """Compare edges of ``depth`` (H, W) [m], NaN or 0 for nothing, with those of ``color`` (H, W, 3) RGB."""
    edges = depth_edges(depth)
    if len(edges) < FEWEST:
        return Registration("unknown", float("nan"), len(edges))
    if len(edges) > MOST:
        edges = edges[np.random.default_rng(0).choice(len(edges), MOST, replace=False)]
    shifts, scores = _compare(edges, color_edges(color))
    base = float(np.median(scores))
    none, best = float(scores[shifts <= NEAR].max()) - base, int(scores.argmax())
    seen = float(scores[best]) - base
    if seen < SEEN:
        return Registration("unknown", float("nan"), len(edges))
    if none >= STRONG * seen:
        return Registration("registered", 0.0, len(edges))
    if none <= WEAK * seen and shifts[best] > APART:
        return Registration("unregistered", float(shifts[best]), len(edges))
    return Registration("unknown", float("nan"), len(edges))


class RegistrationWatch:
    """Looks at the first pictures of a camera until one tells that depth is aligned, or two that it is not.

    Args:
        most: pictures that are looked at, when none tells anything.
    """

    def __init__(self, most: int = MOST_LOOKS) -> None:
        self._left, self._against = most, 0
        self.seen = Registration("unknown", float("nan"), 0)

    def look(self, color: Image, depth: Depth) -> None:
        """Look at one more, where it is not known yet.

        Raises:
            DeskhandError: ``config_error`` when depth is not aligned to colour.
        """
        if self._left <= 0 and self.seen.verdict != "unregistered":
            return
        self._left -= 1
        self.seen = check_registration(color, depth)
        if self.seen.verdict == "registered":
            self._left = 0
        if self.seen.verdict == "unregistered":
            self._against, self._left = self._against + 1, max(self._left, 1)
        if self._against >= CONFIRMED and self.seen.verdict == "unregistered":
            raise unregistered(self.seen)


def unregistered(seen: Registration) -> DeskhandError:
    """What is wrong and what to do."""
    return DeskhandError(
        "config_error",
        f"depth is not aligned to colour: {seen.words()}.",
        hint="Switch the camera's depth registration on (depth_registration, align_depth), and give the aligned topic. Nothing can be grasped with it so.",
    )


def depth_edges(depth: Depth) -> Array:
    """(N, 4): column, row [px], distance [m] of points at which something nearer ends, and whether it ends across (0) or along (1) a column."""
    metres = np.nan_to_num(np.asarray(depth, np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    found = []
    for axis, flip in ((0, False), (0, True), (1, False), (1, True)):
        turned = metres if axis == 0 else metres.T
        turned = turned[:, ::-1] if flip else turned
        rows, columns = _ends(turned)
        distance = turned[rows, columns]
        columns = turned.shape[1] - 1 - columns if flip else columns
        u, v = (columns, rows) if axis == 0 else (rows, columns)
        found.append(np.column_stack([u, v, distance, np.full(len(u), axis)]))
    return np.concatenate(found).astype(float)


def _ends(metres: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows and columns at which the next valid pixel to the right, beyond holes, is much farther."""
    height, width = metres.shape
    place = np.where(metres > 0, np.arange(width), width * 2)
    following = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1]  # the first valid column from here on
    following = np.column_stack([following[:, 1:], np.full(height, width * 2)])
    gap = following - np.arange(width)
    farther = np.take_along_axis(metres, np.minimum(following, width - 1).astype(np.int64), axis=1)
    jump = (metres > 0) & (gap <= GAP) & (farther - metres > np.maximum(JUMP, JUMP_SHARE * metres))
    inside = np.zeros_like(metres)
    inside[:, INSIDE:] = metres[:, :-INSIDE]
    jump &= (inside > 0) & (np.abs(inside - metres) < np.maximum(JUMP, JUMP_SHARE * metres) / 2)
    rows, columns = np.nonzero(jump)
    return rows, columns


def color_edges(color: Image) -> npt.NDArray[np.float32]:
    """(2, H / REDUCED, W / REDUCED) strength 0..1 of edges across columns, along columns; 1 for the strongest tenth."""
    small = cv2.resize(np.ascontiguousarray(color), None, fx=1 / REDUCED, fy=1 / REDUCED, interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).astype(np.float32)
    strengths = []
    for order in ((1, 0), (0, 1)):
        slope = np.abs(cv2.Sobel(lab, cv2.CV_32F, *order)).max(axis=2)
        strong = max(float(np.percentile(slope, 90)), 8.0)
        strengths.append(np.minimum(slope / strong, 1.0))
    return np.asarray(strengths, np.float32)


def _compare(edges: Array, strength: npt.NDArray[np.float32]) -> tuple[Array, Array]:
    """Of every hypothesis: by how much it displaces the edges [px], median, and the mean strength of colour's edges there."""
    _, height, width = strength.shape
    u, v, axis = edges[:, 0] / REDUCED, edges[:, 1] / REDUCED, edges[:, 3].astype(np.int64)
    parallax = np.median(edges[:, 2]) / edges[:, 2]
    across, along = np.arange(-(ACROSS // REDUCED), ACROSS // REDUCED + 1), np.arange(-(ALONG // REDUCED), ALONG // REDUCED + 1)
    padded = np.zeros((2, height + 2, width + 2), np.float32)  # what falls outside counts as nothing seen
    padded[:, 1:-1, 1:-1] = strength
    flat = padded.ravel()
    shifts, scores, some = [], [], slice(None, None, max(1, len(u) // 100))  # a hundred points tell how far a hypothesis displaces them
    for scale in SCALES:
        x, y = (u - width / 2) * scale + width / 2, (v - height / 2) * scale + height / 2
        columns = np.clip(np.rint(x[None, :] + across[:, None] * parallax[None, :]).astype(np.int64) + 1, 0, width + 1)
        rows = np.clip(np.rint(y[None, :] + along[:, None]).astype(np.int64) + 1, 0, height + 1)
        aside = (x - u)[some] + across[:, None] * parallax[some]
        moved = np.hypot(aside[:, None], (y - v)[None, None, some] + along[None, :, None])
        place = axis * padded[0].size + rows[None] * (width + 2) + columns[:, None]
        shifts.append(REDUCED * np.median(moved, axis=2).ravel())
        scores.append(flat[place].mean(axis=2).ravel())
    return np.concatenate(shifts), np.concatenate(scores)
