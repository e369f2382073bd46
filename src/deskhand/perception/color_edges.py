"""Where surfaces end by the colours of the picture: finer than by depth, whose edges fray by a pixel or more.

What lies well inside a mask and what lies around it say which colours the object and its surroundings have; a pixel near the edge belongs to the side whose
colours it has. Where both have the same colours the mask stays as it is. In the same way an upper side is told from what is below it, by its light.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
Soft = npt.NDArray[np.float32]

UNKNOWN = 1e-4
"""Density of a colour that neither side has."""


@dataclass(frozen=True)
class ColorEdgeSettings:
    """How far a mask is believed, and how alike colours are. Chosen on rendered desks.

    Attributes:
        fine: times as fine as the picture edges are drawn.
        inside: within the edge of a mask from here on all is the object's [px].
        outside: beyond it from here on nothing is [px].
        around: beyond it up to here colours of the surroundings are taken [px].
        samples: colours of either side, at most.
        fewest: of either side, below which colours say nothing.
        width: of the bell about each of them, noise and shading of one surface [CIELAB].
        holds: log likelihood for each pixel that the mask has or lacks: decides where both sides have the same colours.
        same_light: ``width`` for the upper side, which is one surface.
        high, low: shares of the height below the top within which, and beyond which, a point surely is, or is not, of the upper side.
        border: the share up to which it is where colours say nothing.
        depth: log likelihood for a share of the height, and ``depth_most`` at most.
        most: of what is wider or longer than this the edges stay as they are: that they fray matters little there [px].
        alike: colours of one box of this edge count as one [CIELAB].
    """

    fine: int = 3
    inside: float = 1.5
    outside: float = 4.0
    around: float = 12.0
    samples: int = 300
    fewest: int = 8
    width: float = 7.0
    holds: float = 0.25
    same_light: float = 4.0
    high: float = 0.1
    low: float = 0.35
    border: float = 0.2
    depth: float = 8.0
    depth_most: float = 1.5
    most: int = 100
    alike: float = 1.5


EDGES = ColorEdgeSettings()


def refined(
    color: npt.NDArray[np.uint8],
    mask: Mask,
    around: Mask | None = None,
    grain: int = 1,
    settings: ColorEdgeSettings = EDGES,
    never: Mask | None = None,
) -> Soft:
    """How much of each pixel (H, W) a mask covers, 0 to 1, with its edge where the colours change.

    ``color`` (H, W, 3) RGB; ``around``: where colours of the surroundings may be taken; ``grain``: pixels of this picture for each that a camera saw;
    ``never``: what is surely none of it, as the table that bears its shadow.
    """
    soft = mask.astype(np.float32)
    rows, columns = np.nonzero(mask)
    if len(rows) < settings.fewest or _side(rows, columns) > settings.most * grain:
        return soft
    window = _window(rows, columns, int(settings.around * grain) + 1)
    shape, fine = soft[window].shape, max(1, settings.fine // grain)
    large = (shape[1] * fine, shape[0] * fine)
    lab = cv2.resize(_lab(color[window]), large, interpolation=cv2.INTER_LINEAR)
    within = cv2.resize(soft[window], large, interpolation=cv2.INTER_LINEAR) > 0.5
    near = _signed(within) / (fine * grain)
    outer = (near < -settings.outside) & (near > -settings.around)
    if around is not None:
        outer &= cv2.resize(around[window].astype(np.uint8), large, interpolation=cv2.INTER_NEAREST) > 0
    own, rest = _samples(lab[near > settings.inside], settings.samples), _samples(lab[outer], settings.samples)
    if min(len(own), len(rest)) < settings.fewest:
        return soft
    band = (near >= -settings.outside) & (near <= settings.inside)
    says = _leans(lab[band], own, rest, settings.width, settings.alike) + settings.holds * near[band]
    edge = within.copy()
    edge[band] = says > 0
    if never is not None:
        edge &= within | (cv2.resize(never[window].astype(np.uint8), large, interpolation=cv2.INTER_NEAREST) == 0)
    soft[window] = _shrunk(_with_core(_smooth(edge, settings), near > settings.inside), shape)
    return soft


def upper_part(
    color: npt.NDArray[np.uint8], whole: Soft, heights: npt.NDArray[np.float32], top: float, bottom: float, settings: ColorEdgeSettings = EDGES
) -> Soft:
    """How much of each pixel (H, W) shows the upper side of an object that covers ``whole`` and reaches from ``bottom`` to ``top`` [m].

    ``heights`` (H, W) [m] of what is seen, NaN where unknown. Where light and depth do not tell it from the sides, what depth alone says.
    """
    inside = whole > 0.5
    with np.errstate(invalid="ignore"):
        level = ((top - heights) / max(top - bottom, 0.01)).astype(np.float32)
        upper, lower = (inside & (_signed(inside) > 1) & side for side in (level < settings.high, level > settings.low))
        alone = np.asarray(whole * (level < settings.border), dtype=np.float32)
    rows, columns = np.nonzero(inside)
    if min(int(upper.sum()), int(lower.sum())) < settings.fewest or _side(rows, columns) > settings.most:
        return alone
    window = _window(rows, columns, 3)
    shape = whole[window].shape
    large = (shape[1] * settings.fine, shape[0] * settings.fine)
    colors = _lab(color[window])
    own, rest = (_samples(colors[side[window]], settings.samples) for side in (upper, lower))
    deep, drawn = (
        cv2.resize(picture, large, interpolation=cv2.INTER_LINEAR)
        for picture in (np.where(np.isfinite(level[window]), level[window], settings.border).astype(np.float32), whole[window])
    )
    flat = cv2.resize(colors, large, interpolation=cv2.INTER_LINEAR).reshape(-1, 3)
    says = _leans(flat, own, rest, settings.same_light, settings.alike).reshape(deep.shape)
    says += np.clip((settings.border - deep) * settings.depth, -settings.depth_most, settings.depth_most)
    core = cv2.resize(upper[window].astype(np.uint8), large, interpolation=cv2.INTER_NEAREST) > 0
    result = np.zeros_like(whole)
    result[window] = _shrunk(_with_core(_smooth((says > 0) & (drawn > 0.5), settings), core), shape)
    return result


def _window(rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], margin: int) -> tuple[slice, slice]:
    low = [max(0, int(side.min()) - margin) for side in (rows, columns)]
    return slice(low[0], int(rows.max()) + margin + 1), slice(low[1], int(columns.max()) + margin + 1)


def _lab(color: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(color).astype(np.float32) / 255.0, cv2.COLOR_RGB2LAB), dtype=np.float32)


def _signed(mask: Mask) -> npt.NDArray[np.float32]:
    """Distance [px] from the edge, positive inside."""
    inside, outside = (cv2.distanceTransform(side.astype(np.uint8), cv2.DIST_L2, 5) for side in (mask, ~mask))
    return np.asarray(inside - outside, dtype=np.float32)


def _samples(colors: npt.NDArray[np.float32], most: int) -> npt.NDArray[np.float32]:
    """At most so many of the colours (N, 3), evenly over them."""
    return np.asarray(colors[np.linspace(0, len(colors) - 1, min(most, len(colors))).astype(int)], dtype=np.float32)


def _side(rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> int:
    """The longer side of the box about pixels."""
    return int(max(np.ptp(rows), np.ptp(columns))) + 1


def _leans(colors: npt.NDArray[np.float32], own: npt.NDArray[np.float32], rest: npt.NDArray[np.float32], width: float, alike: float) -> npt.NDArray[np.float64]:
    """Log likelihood (N,) that colours (N, 3) are of the samples ``own`` rather than ``rest``; of each box of ``alike`` its middle is judged."""
    boxes, place = np.unique(np.round(colors / alike).astype(np.int32), axis=0, return_inverse=True)
    middles = (boxes * alike).astype(np.float32)
    leans = np.log(_density(middles, own, width)) - np.log(_density(middles, rest, width))
    return np.asarray(leans[place.reshape(-1)], dtype=np.float64)


def _density(colors: npt.NDArray[np.float32], samples: npt.NDArray[np.float32], width: float) -> npt.NDArray[np.float64]:
    """How usual colours (N, 3) are among samples (K, 3): mean of bells about these, and a little for what was not met."""
    apart = (colors**2).sum(axis=1)[:, None] + (samples**2).sum(axis=1)[None] - 2 * colors @ samples.T
    return np.asarray(np.exp(-np.maximum(apart, 0.0) / (2 * width**2)).mean(axis=1) + UNKNOWN, dtype=np.float64)


def _smooth(mask: Mask, settings: ColorEdgeSettings) -> Mask:
    return np.asarray(cv2.medianBlur(mask.astype(np.uint8), settings.fine) > 0)


def _with_core(mask: Mask, core: Mask) -> Mask:
    """The parts of a mask that hang together with its core."""
    _, labels = cv2.connectedComponents(mask.astype(np.uint8), connectivity=4)
    kept = np.unique(labels[core & mask])
    return np.asarray(mask & np.isin(labels, kept[kept > 0]))


def _shrunk(mask: Mask, shape: tuple[int, ...]) -> Soft:
    return np.asarray(cv2.resize(mask.astype(np.float32), (shape[1], shape[0]), interpolation=cv2.INTER_AREA), dtype=np.float32)
