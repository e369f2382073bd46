"""Handles of mugs: what lies beside a round open object in one upright plane through its axis, begins at its wall and stands on nothing.

A handle is often another surface to depth (a gap or its own shadow is between the two), another colour, and seen in two pieces of its loop. What it is in spite
of that is where it is: thin, straight out from the axis, no higher than the rim, and its foot is in the air. What stands beside a mug is seen to go down to
the table; where the mug hides the foot, only what has a colour of the mug is a part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.containers.hollow import Hollow
from deskhand.perception.containers.settings import HANDLE
from deskhand.perception.quantiles import quantile
from deskhand.perception.rows import is_among, lengths, rows_of
from deskhand.perception.segment.segmentation import Segment, union_of
from deskhand.perception.support.support import Placed
from deskhand.perception.view import View
from deskhand.perception.visibility import FREE, HIDDEN, States, states


def join_handles(view: View, placed: Sequence[Placed]) -> list[Placed]:
    """The objects, handles joined to the round open objects that they are on; these keep their fit, which is that of the body."""
    owner = {index: index for index in range(len(placed))}
    cups = [index for index, item in enumerate(placed) if item.hollow is not None and item.hollow.round and item.relation != "held"]
    for cup in cups:
        for index in _handles_of(view, placed, cup):
            if owner[index] == index:
                owner[index] = cup
    kept = [index for index in owner if owner[index] == index]
    number = {index: kept.index(body) for index, body in owner.items()}
    whole = []
    for index in kept:
        item = placed[index]
        parts = [placed[other].segment for other, body in owner.items() if body == index != other]
        support = number[item.support] if item.support >= 0 else -1
        support = -1 if support == number[index] else support
        whole.append(replace(item, segment=union_of(item.segment, parts), support=support))
    return whole


def _handles_of(view: View, placed: Sequence[Placed], cup: int) -> list[int]:
    """Which objects are the handle of one, or pieces of it."""
    body = placed[cup]
    hollow = body.hollow
    assert hollow is not None
    may: list[tuple[int, Array]] = []
    for index, item in enumerate(placed):
        if index == cup or item.hollow is not None or item.relation == "held" or len(item.segment) > HANDLE.small * len(body.segment):
            continue
        way, share = hollow.handle_plane(item.segment.points, view.noise)
        if share > HANDLE.within:
            may.append((index, way))
    found: set[int] = set()
    for _, way in may:
        together = [index for index, other in may if float(way @ other) > HANDLE.turned]
        if found.isdisjoint(together) and _is_on(view, placed, cup, together, way):
            found.update(together)
    return sorted(found)


def _is_on(view: View, placed: Sequence[Placed], cup: int, pieces: list[int], way: Array) -> bool:
    """Whether pieces in one plane begin at the wall of a cup and stand on nothing."""
    body = placed[cup]
    assert body.hollow is not None
    hollow, items = body.hollow, [placed[index].segment for index in pieces]
    points = np.concatenate([item.points for item in items])
    own = rows_of(body.segment.points, hollow.handle(body.segment.points))  # the rest of the handle may be the cup's already
    begins = quantile((np.concatenate([points, own])[:, :2] - hollow.rim.centre) @ way, HANDLE.few)
    low = quantile(points[:, 2], HANDLE.few)
    if low < hollow.bottom + HANDLE.above or _is_apart(view, hollow, points, way, begins):
        return False
    below = _below(view, items, points, hollow.bottom, low)
    if len(below) >= HANDLE.least and (below == FREE).mean() >= HANDLE.free:
        return True
    is_hidden = len(below) < HANDLE.least or (below == HIDDEN).mean() >= HANDLE.hidden
    is_carried = any(placed[index].support not in (-1, cup) for index in pieces)
    return bool(is_hidden and not is_carried and all(_has_color_of(view, item, body.segment) for item in items))


def _is_apart(view: View, hollow: Hollow, points: Array, way: Array, begins: float) -> bool:
    """Whether the camera looks through between a wall and where points (N, 3) in one plane begin, so far from the axis [m]."""
    wall = float(hollow.rim.size[0]) / 2
    if begins < wall + HANDLE.gap:
        return False
    between = np.linspace(wall, begins, HANDLE.levels + 2)[1:-1]
    heights = np.linspace(quantile(points[:, 2], HANDLE.few), quantile(points[:, 2], 1 - HANDLE.few), HANDLE.levels)
    places = [[*(hollow.rim.centre + out * way), height] for out in between for height in heights]
    return bool((states(view, np.array(places), HANDLE.above / 2) == FREE).mean() >= HANDLE.free)


def _below(view: View, items: list[Segment], points: Array, bottom: float, low: float) -> States:
    """What the camera says of places straight below the lower half of pieces, down to what the cup stands on; those that the pieces cover are left out."""
    lower = points[points[:, 2] < (low + quantile(points[:, 2], 1 - HANDLE.few)) / 2]
    lower = lower[:: 1 + len(lower) // HANDLE.samples]
    heights = np.linspace(bottom + HANDLE.above / 2, max(bottom, low - HANDLE.above / 2), HANDLE.levels)
    under = np.concatenate([np.column_stack([lower[:, :2], np.full(len(lower), height)]) for height in heights])
    height, width = view.valid.shape
    u, v = np.rint(np.nan_to_num(view.frame.project(under), nan=-1.0)).astype(np.int64).T
    there = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    there[there] = ~is_among(v[there] * width + u[there], np.concatenate([item.pixels for item in items]), height * width)
    return states(view, under[there], HANDLE.above / 2)


def _has_color_of(view: View, item: Segment, body: Segment) -> bool:
    """Whether a piece has a colour that some of a body has."""
    chroma = rows_of(view.chroma.reshape(-1, 3), body.pixels)
    return bool((lengths(chroma - item.chroma) < HANDLE.alike).mean() > HANDLE.some)
