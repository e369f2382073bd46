"""Where long round objects end: as far as the picture shows their colour, and behind what stands before them as far as such objects usually are long."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.fit.settings import ROD_ENDS
from deskhand.perception.fit.side_view_fit import Prior
from deskhand.perception.fit.solid import Solid
from deskhand.perception.view import Mask, View
from deskhand.perception.visibility import FREE, HIDDEN, SEEN, UNKNOWN, Taken, states


def with_ends(view: View, solid: Solid, prior: Prior, taken: Taken) -> Solid:
    """A lying or leaning cylinder with its ends moved to where the picture, or what is known of such objects, puts them."""
    solid = _as_thick(view, solid) if abs(solid.pose[2, 0]) > ROD_ENDS.leans else solid
    axis = solid.pose[:3, 0]
    low, high = -solid.size[0] / 2, solid.size[0] / 2
    ends, hidden = [], []
    for sign, end in ((-1.0, low), (1.0, high)):
        seen = _colored(view, solid, axis * sign, abs(end), taken)
        behind = _hidden(view, solid, axis * sign, abs(end), taken) if seen is None else 0.0
        if behind > 0:
            seen = _beyond(view, solid, axis * sign, abs(end), behind, taken)
        hidden.append(behind if seen is None else 0.0)
        ends.append(_above_table(solid, sign, abs(end) if seen is None else seen))
    guessed: tuple[int, ...] = ()
    room = np.array(hidden)
    if room.sum() > 0.006:
        length = sum(ends)
        values = np.arange(length, max(length, min(length + room.sum(), ROD_ENDS.longest)) + 0.001, 0.004)
        weights = prior("cylinder", np.column_stack([values, np.full((len(values), 2), solid.size[1])]))
        likely = values[weights >= 0.7 * weights.max()] if weights.max() > 0 else values[:1]
        extra = max(0.0, float(likely.mean()) - length)
        ends = [end + extra * part for end, part in zip(ends, room / room.sum(), strict=True)]
        guessed = (0,) if extra > 0.002 else ()
    pose: Array = solid.pose.copy()
    pose[:3, 3] += axis * (ends[1] - ends[0]) / 2
    return replace(solid, pose=pose, size=np.array([sum(ends), solid.size[1], solid.size[2]]), guessed=guessed)


def _as_thick(view: View, solid: Solid) -> Solid:
    """A leaning cylinder as thick as the picture shows it where what is beside it looks otherwise: of its surface too little is seen to tell."""
    axis, radius = solid.pose[:3, 0], float(solid.size[1]) / 2
    toward = view.eye - solid.pose[:3, 3]
    side = np.cross(axis, toward)
    if np.linalg.norm(side) < 0.3 * np.linalg.norm(toward):
        return solid
    side /= np.linalg.norm(side)
    toward = np.cross(side, axis)
    places, across = solid.size[0] * np.linspace(-0.35, 0.35, ROD_ENDS.slices), np.arange(-2.0 * radius, 2.0 * radius, ROD_ENDS.fine)
    line = solid.pose[:3, 3] + places[:, None, None] * axis + across[:, None] * side
    looks = _look(view, line.reshape(-1, 3))
    if looks is None:
        return solid
    rows = looks.reshape(ROD_ENDS.slices, len(across), 4)
    own = np.median(rows[:, np.abs(across) < 0.4 * radius].reshape(-1, 4), axis=0)[None]
    widths = []
    for row in rows:
        other = np.flatnonzero(_difference(row, own) > 1.0)
        low, high = other[across[other] < 0], other[across[other] > 0]
        if len(low) and len(high):
            widths.append((across[high[0]] - across[low[-1]], (across[high[0]] + across[low[-1]]) / 2))
    if len(widths) < ROD_ENDS.slices // 3:
        return solid
    width, shift = np.median(widths, axis=0)
    width += ROD_ENDS.edges * float(np.linalg.norm(view.eye - solid.pose[:3, 3])) / view.frame.intrinsics.fx
    if not 0.6 * radius < width / 2 < 1.5 * radius:
        return solid
    pose: Array = solid.pose.copy()
    pose[:3, 3] += shift * side + (radius - width / 2) * toward
    return replace(solid, pose=pose, size=np.array([solid.size[0], width, width]))


def _above_table(solid: Solid, sign: float, end: float) -> float:
    """Distance [m] from the middle to an end, no further than to where a leaning object meets the table."""
    down = -sign * float(solid.pose[2, 0])
    if down < ROD_ENDS.leans:
        return end
    lowest = solid.size[1] / 2 * float(np.sqrt(max(0.0, 1.0 - down**2)))
    return float(min(end, max(float(solid.size[0]) / 4, (float(solid.pose[2, 3]) - lowest + ROD_ENDS.sunk) / down)))


def _colored(view: View, solid: Solid, away: Array, end: float, taken: Taken) -> float | None:
    """Distance [m] from the middle to where the picture no longer shows the object or its tip but what is beyond; None when it does not show that."""
    if np.hypot(*away[:2]) < 0.3:
        return None
    point = solid.pose[:3, 3] + end * away
    ground = _ground(view, solid, point)
    # The far end is seen over the object's own top, the near one below it.
    up = 1.0 if float((view.eye - solid.pose[:3, 3]) @ away) < 0 else -1.0
    reach = np.arange(end - ROD_ENDS.back, end + ROD_ENDS.search, ROD_ENDS.step)
    line = solid.pose[:3, 3] + reach[:, None] * away
    rise = up * _rise(solid)
    tip_line = line + ROD_ENDS.tip_edge * rise
    body, tip = _look(view, line + ROD_ENDS.body_edge * rise), _look(view, tip_line)
    if ground is None or body is None or tip is None:
        return None
    own = np.median(body[:3], axis=0)[None]
    is_body = (_difference(body, own) < 1.0) & (_difference(body, ground) > 1.0)
    if not is_body[0]:
        return None
    first = int(np.argmin(is_body)) if not is_body.all() else len(reach)
    at_tip, touching = states(view, tip_line, ROD_ENDS.nearer), states(view, tip_line, ROD_ENDS.touches)
    free = at_tip == FREE
    is_ground = (_difference(tip, ground) < 1.0) | (free & np.append(free[1:], True))
    is_other = taken(line - [0.0, 0.0, 0.25 * solid.size[2]])
    edge = int(solid.size[2] / 2 / ROD_ENDS.step) if solid.size[2] < ROD_ENDS.tipped else 0
    last = _tip_end(tip, own, is_ground | is_other, first, edge)
    # What differs from the ground all the way is something else that lies there, and what is nearer stands before the end.
    beyond = slice(last, last + ROD_ENDS.mixed)
    open_ground = is_ground[beyond] & (at_tip[beyond] != HIDDEN)
    if open_ground.any() and open_ground.mean() > 0.7:
        return float(reach[last - 1] + ROD_ENDS.step / 2)
    tip_end = _seen_tip(tip, body, own, touching == SEEN, is_ground, first, first + edge + ROD_ENDS.mixed)
    if tip_end is not None:
        return float(reach[tip_end - 1] + ROD_ENDS.step / 2)
    last = _tip_end(tip, own, is_ground | is_other, first, edge, one_color=True)
    # It touches another object, or one is seen behind its end: what is seen beyond it is not nearer than it would be.
    there = touching[last : last + ROD_ENDS.mixed]
    return float(reach[last - 1] + ROD_ENDS.step / 2) if len(there) == ROD_ENDS.mixed and (there != HIDDEN).all() and (there != UNKNOWN).any() else None


def _rise(solid: Solid) -> Array:
    """From the axis to the highest line along the surface, (3,) [m]."""
    axis = solid.pose[:3, 0]
    upward = np.array([0.0, 0.0, 1.0]) - axis[2] * axis
    return np.asarray(upward / np.linalg.norm(upward) * solid.size[2] / 2)


def _tip_end(tip: Array, own: Array, beyond: Mask, first: int, edge: int, one_color: bool = False) -> int:
    """Number of the step at which an object ends whose body does so at ``first``: a tip of another colour may go on from there.

    ``tip`` (N, 4) is how the line along it looks, ``own`` (1, 4) its body; ``beyond`` (N,) says where the ground or another known object is.
    ``edge``: how many steps of the tip the edge of the body may hide; ``one_color``: what is unlike where the tip begins is no more of it.
    """
    unlike = _difference(tip, own) > 1.0
    goes_on = ~beyond & unlike
    begin = max(0, first - 2)
    before = unlike[first : first + edge]
    shown = first + (int(np.argmax(before)) if before.any() else 0)
    begins = np.flatnonzero(goes_on[begin : shown + ROD_ENDS.mixed])  # where the body ends its colour is mixed with what is beyond
    if not len(begins):
        return first
    begin += int(begins[0])
    beyond[1:-1] &= beyond[:-2] | beyond[2:]  # a glint where the tip begins is a step wide
    goes_on = ~beyond
    if one_color and begin + 1 < len(tip):
        color = np.median(tip[begin + 1 : begin + ROD_ENDS.mixed], axis=0)[None]
        goes_on &= _difference(tip, color) < 1.0
    ends = np.flatnonzero(~goes_on[begin + 2 :])
    return min(len(tip), begin + 2 + int(ends[0])) if len(ends) else len(tip)


def _seen_tip(tip: Array, body: Array, own: Array, seen: Mask, ground: Mask, first: int, shown: int) -> int | None:
    """Number of the step at which a tip of one colour ends that begins between the steps ``first`` and ``shown``; None where none is seen.

    It is where the object would be (``seen`` (N,)), with no ``ground`` (N,) before it, and thinner than its body: further out (``body`` (N, 4)) its
    colour is not seen beside all of it.
    """
    begin = max(0, first - 2)
    unlike = np.flatnonzero(_difference(tip[begin:shown], own) > 1.0)
    if not len(unlike):
        return None
    begin += int(unlike[0])
    longest, where = 0, begin
    for k in range(begin, min(begin + ROD_ENDS.mixed + 2, len(tip))):
        same = _apart(tip[k:], tip[k : k + 1]) < ROD_ENDS.one_color
        length = len(same) if same.all() else int(np.argmin(same))
        if length > longest:
            longest, where = length, k
    part = slice(where, where + longest)
    if not ROD_ENDS.shortest_tip <= longest <= ROD_ENDS.longest_tip or where + longest >= len(tip) or seen[part].mean() < ROD_ENDS.tip_seen:
        return None
    if ground[begin:where].sum() > 1 or ground[part].mean() > 0.5:  # a glint where the tip begins is a step wide
        return None
    beside = _apart(body[part], np.median(tip[part], axis=0)[None]) < 1.0
    return where + longest if beside.mean() < ROD_ENDS.tip_thin else None


def _beyond(view: View, solid: Solid, away: Array, end: float, room: float, taken: Taken) -> float | None:
    """Distance [m] from the middle to where an object ends that is hidden for ``room`` [m] and comes to light again; None when it does not.

    What comes to light is unlike the ground until that is seen again, and as long as a tip at least, or of the object's own colour.
    """
    begin = end + room - ROD_ENDS.hidden_step
    reach = np.arange(begin, min(begin + ROD_ENDS.reappears, ROD_ENDS.longest - solid.size[0] / 2), ROD_ENDS.step)
    if len(reach) < 2 * ROD_ENDS.mixed or np.hypot(*away[:2]) < 0.3:
        return None
    line = solid.pose[:3, 3] + reach[:, None] * away
    rise = _rise(solid)
    high, low = line + ROD_ENDS.body_edge * rise, line + ROD_ENDS.tip_edge * rise
    ground, own = (
        _ground(view, solid, line[len(line) // 2]),
        _look(view, solid.pose[:3, 3] + (end - np.arange(0.004, ROD_ENDS.back, ROD_ENDS.step))[:, None] * away),
    )
    body, tip = _look(view, high), _look(view, low)
    if ground is None or own is None or body is None or tip is None:
        return None
    above, beside = states(view, high, ROD_ENDS.nearer), states(view, low, ROD_ENDS.nearer)
    shows = np.zeros(len(line), bool)
    for look, there in ((body, above), (tip, beside)):
        shows |= (there != HIDDEN) & (there != FREE) & (_difference(look, ground) > 1.0)
    is_ground = (_difference(tip, ground) < 1.0) | (beside == FREE)
    others = np.flatnonzero(taken(line))
    stop = int(others[0]) if len(others) else len(line)
    first = int(np.argmax(shows)) if shows.any() else stop
    last = first + int(np.argmax(is_ground[first:])) if is_ground[first:].any() else stop
    beyond = slice(last, last + ROD_ENDS.mixed)
    if last + ROD_ENDS.mixed > stop or not is_ground[beyond].all() or (beside[beyond] == HIDDEN).any():
        return None
    is_own = bool((_difference(body[first:last], np.median(own, axis=0)[None]) < 1.0).any())
    return float(reach[last - 1] + ROD_ENDS.step / 2) if last - first >= (2 if is_own else 3) else None


def _ground(view: View, solid: Solid, point: Array) -> Array | None:
    """How what is below an object looks (1, 4) around its end, None where little of it is seen."""
    pixel = view.frame.project(point[None])[0]
    if not np.isfinite(pixel).all():
        return None
    u, v = np.rint(pixel).astype(int)
    part = slice(max(0, v - ROD_ENDS.window), max(0, v + ROD_ENDS.window + 1)), slice(max(0, u - ROD_ENDS.window), max(0, u + ROD_ENDS.window + 1))
    with np.errstate(invalid="ignore"):
        below = view.points[part][..., 2] < max(0.0, float(point[2]) - 0.5 * solid.size[2]) + ROD_ENDS.on_ground
    if below.sum() < ROD_ENDS.enough:
        return None
    colors = np.column_stack([view.chroma[part][below], np.log(view.light[part][below] + 12.0)])
    return np.asarray(np.median(colors, axis=0)[None].astype(float))


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
    chroma = np.linalg.norm(own[:, :3] - other[:, :3], axis=1) / ROD_ENDS.unlike_chroma
    light = own[:, 3] - other[:, 3]
    return np.asarray(np.maximum(chroma, np.maximum(light / ROD_ENDS.unlike, -light / ROD_ENDS.shadow)))


def _apart(one: Array, other: Array) -> Array:
    """The same, with a shadow as different as what is dark."""
    chroma = np.linalg.norm(one[:, :3] - other[:, :3], axis=1) / ROD_ENDS.unlike_chroma
    return np.asarray(np.maximum(chroma, np.abs(one[:, 3] - other[:, 3]) / ROD_ENDS.unlike))


def _hidden(view: View, solid: Solid, away: Array, end: float, taken: Taken) -> float:
    """How much further [m] it may go on behind something nearer to the camera."""
    steps = np.arange(0.004, ROD_ENDS.longest - solid.size[0] / 2, ROD_ENDS.hidden_step)
    if not len(steps):
        return 0.0
    line = solid.pose[:3, 3] + (end + steps)[:, None] * away
    occupied = np.flatnonzero(taken(line))
    steps = steps[: occupied[0]] if len(occupied) else steps
    if not len(steps):
        return 0.0
    points = line[: len(steps)] + np.array([0.0, 0.0, 0.7 * solid.size[2] / 2])
    found = states(view, points, ROD_ENDS.nearer)
    begin = np.flatnonzero(found[: ROD_ENDS.soon] == HIDDEN)
    if not len(begin) or (found[: begin[0]] == FREE).any():
        return 0.0
    stops = np.flatnonzero((found != HIDDEN) & (found != UNKNOWN))
    stops = stops[stops > begin[0]]
    last = int(stops[0]) if len(stops) else len(steps)
    return float(steps[last - 1]) if last > begin[0] + 1 else 0.0
