"""Containers that an earlier look knew: what fills one may hide so much of its rim that a single look finds none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np

from deskhand.geometry import Array, inverse, transform_points
from deskhand.perception.containers.hollow import Hollow
from deskhand.perception.containers.settings import KNOWN
from deskhand.perception.rows import all_of
from deskhand.perception.segment.segmentation import Segment, make_segment, part_of
from deskhand.perception.view import Indices, Mask, View


def recall(view: View, known: Iterable[Hollow], hollows: list[Hollow], segments: list[Segment]) -> tuple[list[Hollow], list[Segment], list[Hollow]]:
    """What this look finds of the containers of earlier ones.

    Returns:
        ``hollows`` of this look with those of ``known`` that it has missed, or measured otherwise, though their rims are still there; the segments that are
        left; and those of ``known`` of which this look shows nothing, whether they are there or not.
    """
    found, left, unseen = list(hollows), list(segments), []
    for old in known:
        near = [number for number, new in enumerate(found) if np.linalg.norm(old.rim.centre - new.rim.centre) < KNOWN.same]
        if any(_agree(old, found[number]) for number in near):
            continue
        state = look_for(view, old)
        if near:
            new = found[near[0]]
            if state == "there" and _stands_in(view, new, old):
                own, rest = _own(old, left)
                around = ~new.holds(new.segment.points) & (new.segment.points[:, 2] < old.height + KNOWN.margin)
                pixels = np.concatenate([new.segment.pixels[around], *(part.pixels for part in own)])
                if min(len(pixels), (~around).sum()) < KNOWN.scrap:
                    unseen.append(old)
                else:
                    left = rest
                    found[near[0]] = replace(new, segment=part_of(new.segment, ~around)) if around.any() else new
                    found.append(replace(old, segment=make_segment(view, pixels)))
            elif state == "there" and _shown(view, old) > _shown(view, new):  # else it has moved a little
                found[near[0]] = replace(old, segment=new.segment)
            continue
        own, rest = _own(old, left) if state == "there" else ([], left)
        if own:
            left = rest
            found.append(replace(old, segment=make_segment(view, np.concatenate([part.pixels for part in own]))))
        elif state != "gone":
            unseen.append(old)
    return found, left, unseen


def _agree(old: Hollow, new: Hollow) -> bool:
    """Whether two looks have measured the same."""
    sides = np.abs(np.sort(old.rim.size) - np.sort(new.rim.size)).max()
    return bool(np.linalg.norm(old.rim.centre - new.rim.centre) < KNOWN.shift and sides < KNOWN.shift)


def _stands_in(view: View, new: Hollow, old: Hollow) -> bool:
    """Whether a container stands in a lower and wider one, whose rim is seen around it."""
    higher, wider = new.height - old.height, (old.rim.size - new.rim.size).min()
    return bool(higher > KNOWN.near and wider > KNOWN.shift and _shown(view, new) >= KNOWN.there)


def look_for(view: View, old: Hollow) -> Literal["there", "gone", "hidden"]:
    """Whether a container's rim is seen where it was, as far as nothing stands before it."""
    seen, past, count = _spots(view, old)
    if seen + past < KNOWN.enough * count:
        return "hidden"
    return "there" if seen >= KNOWN.there * (seen + past) else "gone"


def _shown(view: View, hollow: Hollow) -> float:
    """Share of a rim that is seen where it should be, of what nothing stands before."""
    seen, past, _ = _spots(view, hollow)
    return seen / max(seen + past, 1)


def _spots(view: View, old: Hollow) -> tuple[int, int, int]:
    """How many spots of a rim are seen where it was, how many are seen past, and of how many."""
    spots = _rim(old)
    depth = view.whole.depth
    pixels = np.round(view.whole.project(spots))
    with np.errstate(invalid="ignore"):
        inside = all_of(pixels >= 1) & (pixels[:, 0] < depth.shape[1] - 1) & (pixels[:, 1] < depth.shape[0] - 1)
    u, v = pixels[inside].astype(int).T
    expected = transform_points(inverse(view.whole.world_T_camera), spots[inside])[:, 2]
    around = [(v + dv, u + du) for dv in (-1, 0, 1) for du in (-1, 0, 1)]
    behind = np.stack([depth[at] - expected for at in around])
    seen = (np.stack([_is_colored(view, old, *at) for at in around]) & (np.abs(behind) < KNOWN.near)).any(axis=0)
    past = ~seen & (behind > KNOWN.near).all(axis=0)
    return int(seen.sum()), int(past.sum()), len(spots)


def _is_colored(view: View, old: Hollow, v: Indices, u: Indices) -> Mask:
    """Which pixels of the whole picture have the container's colour."""
    height, width = view.valid.shape
    row, column = v - view.origin[0], u - view.origin[1]
    part = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    chroma = view.chroma[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]
    return np.asarray(part & (np.linalg.norm(chroma - old.segment.chroma, axis=-1) < KNOWN.color))


def _rim(old: Hollow) -> Array:
    """Spots (N, 3) along the middle of the rim."""
    half = old.rim.size / 2 - old.wall / 2
    if old.round:
        angle = np.arange(0.0, 2 * np.pi, KNOWN.spacing / half[0])
        local = half[0] * np.column_stack([np.cos(angle), np.sin(angle)])
    else:
        x, y = (np.arange(-reach, reach, KNOWN.spacing) for reach in half)
        local = np.vstack(
            [np.column_stack([x, np.full(len(x), sign * half[1])]) for sign in (-1, 1)]
            + [np.column_stack([np.full(len(y), sign * half[0]), y]) for sign in (-1, 1)]
        )
    return np.column_stack([local @ old.rim.rotation.T + old.rim.centre, np.full(len(local), old.height)])


def _own(old: Hollow, segments: list[Segment]) -> tuple[list[Segment], list[Segment]]:
    """What of the segments is its walls and floor, and the rest."""
    own, left = [], []
    for item in segments:
        if np.linalg.norm(item.chroma - old.segment.chroma) > KNOWN.color:
            left.append(item)
            continue
        shell = ~old.holds(item.points, old.wall + KNOWN.margin) | (item.points[:, 2] < old.floor + KNOWN.margin)
        mine = old.holds(item.points, -KNOWN.margin) & (item.points[:, 2] < old.height + KNOWN.margin) & shell
        if mine.sum() >= KNOWN.scrap:
            own.append(part_of(item, mine))
        if (~mine).sum() >= KNOWN.scrap:
            left.append(part_of(item, ~mine) if mine.any() else item)
    return own, left
