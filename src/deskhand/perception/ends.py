"""Where long round things end: as far as the picture shows their colour, and behind what stands before them as far as such things usually are long."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.probes import FREE, HIDDEN, UNKNOWN, Taken, states
from deskhand.perception.sides import Prior
from deskhand.perception.solid import Solid
from deskhand.perception.view import View

_SEARCH = 0.016  # [m] beyond the last measured point
_STEP = 0.001
_UNLIKE = 0.30  # of the logarithm of lightness: more than the grain of a desk, less than a dark tip on it
_UNLIKE_CHROMA = 0.045
_SHADOW = 0.85  # a shadow darkens by less than this logarithm
_LONGEST = 0.16  # [m]
_HIDDEN_STEP = 0.004
_NEARER = 0.003  # [m] something nearer by this stands before it
_SOON = 3  # steps after which what hides it must begin


def with_ends(view: View, solid: Solid, prior: Prior, taken: Taken) -> Solid:
    """A lying or leaning cylinder with its ends moved to where the picture, or what is known of such things, puts them."""
    axis = solid.pose[:3, 0]
    low, high = -solid.size[0] / 2, solid.size[0] / 2
    ends, hidden = [], []
    for sign, end in ((-1.0, low), (1.0, high)):
        behind = _hidden(view, solid, axis * sign, abs(end), taken)
        ends.append(abs(end) if behind > 0 else _colored(view, solid, axis * sign, abs(end)))
        hidden.append(behind)
    guessed: tuple[int, ...] = ()
    room = np.array(hidden)
    if room.sum() > 0.006:
        length = sum(ends)
        values = np.arange(length, max(length, min(length + room.sum(), _LONGEST)) + 0.001, 0.004)
        weights = np.array([prior("cylinder", np.array([value, solid.size[1], solid.size[2]])) for value in values])
        likely = values[weights >= 0.7 * weights.max()] if weights.max() > 0 else values[:1]
        extra = max(0.0, float(likely.mean()) - length)
        ends = [end + extra * part for end, part in zip(ends, room / room.sum(), strict=True)]
        guessed = (0,) if extra > 0.002 else ()
    pose: Array = solid.pose.copy()
    pose[:3, 3] += axis * (ends[1] - ends[0]) / 2
    return replace(solid, pose=pose, size=np.array([sum(ends), solid.size[1], solid.size[2]]), guessed=guessed)


def _colored(view: View, solid: Solid, away: Array, end: float) -> float:
    """Distance [m] from the middle to where the picture no longer differs from the ground beside it; ``end`` when it does not show that."""
    reach = np.arange(end - 0.004, end + _SEARCH, _STEP)
    across = np.cross(away, [0.0, 0.0, 1.0])
    length = float(np.linalg.norm(across))
    if length < 0.3:
        return end
    across /= length
    # The far end is seen over the thing's own top, the near one below it.
    far = float((view.eye - solid.pose[:3, 3]) @ away) < 0
    line = solid.pose[:3, 3] + reach[:, None] * away + np.array([0.0, 0.0, (0.7 if far else -0.5) * solid.size[2] / 2])
    beside = solid.size[1] / 2 + 0.006
    ground = line.copy()
    ground[:, 2] = max(0.0, float(solid.pose[2, 3] - solid.size[2] / 2))
    own, left, right = (_look(view, points) for points in (line, ground + beside * across, ground - beside * across))
    if own is None or left is None or right is None:
        return end
    unlike = np.minimum(_difference(own, left), _difference(own, right)) > 1.0
    if not unlike[:3].any():
        return end
    stop = int(np.argmax(~unlike[3:])) + 3 if not unlike[3:].all() else len(reach)
    # What differs all the way is something else that lies there.
    return float(reach[stop - 1] + _STEP / 2) if stop < len(reach) else end


def _look(view: View, points: Array) -> Array | None:
    """Chromaticity and logarithm of lightness (N, 4) where points fall in the picture; None outside."""
    pixels = view.frame.project(points)
    height, width = view.valid.shape
    if not np.isfinite(pixels).all():
        return None
    u, v = np.rint(pixels).astype(int).T
    if u.min() < 0 or v.min() < 0 or u.max() >= width or v.max() >= height:
        return None
    return np.column_stack([view.chroma[v, u], np.log(view.light[v, u] + 12.0)])


def _difference(own: Array, other: Array) -> Array:
    """Above 1: another surface, not only a shadow on the same."""
    chroma = np.linalg.norm(own[:, :3] - other[:, :3], axis=1) / _UNLIKE_CHROMA
    light = own[:, 3] - other[:, 3]
    return np.asarray(np.maximum(chroma, np.maximum(light / _UNLIKE, -light / _SHADOW)))


def _hidden(view: View, solid: Solid, away: Array, end: float, taken: Taken) -> float:
    """How much further [m] it may go on behind something nearer to the camera."""
    steps = np.arange(0.004, _LONGEST - solid.size[0] / 2, _HIDDEN_STEP)
    if not len(steps):
        return 0.0
    line = solid.pose[:3, 3] + (end + steps)[:, None] * away
    occupied = np.flatnonzero(taken(line))
    steps = steps[: occupied[0]] if len(occupied) else steps
    if not len(steps):
        return 0.0
    points = line[: len(steps)] + np.array([0.0, 0.0, 0.7 * solid.size[2] / 2])
    found = states(view, points, _NEARER)
    begin = np.flatnonzero(found[:_SOON] == HIDDEN)
    if not len(begin) or (found[: begin[0]] == FREE).any():
        return 0.0
    stops = np.flatnonzero((found != HIDDEN) & (found != UNKNOWN))
    stops = stops[stops > begin[0]]
    last = int(stops[0]) if len(stops) else len(steps)
    return float(steps[last - 1]) if last > begin[0] + 1 else 0.0
