"""Two solids cannot be in the same place: of two that are, the smaller is a piece of the larger that was taken for an object of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from deskhand.geometry import Array, inverse, transform_points
from deskhand.perception.fit.part_settings import OVERLAP
from deskhand.perception.fit.solid import Solid
from deskhand.perception.rows import all_of
from deskhand.perception.segment.segmentation import Segment, union_of
from deskhand.perception.support.support import Placed
from deskhand.perception.view import Indices

GRID = (np.arange(6) + 0.5) / 6 - 0.5


def without_pieces(placed: Sequence[Placed], segment: Callable[[Indices], Segment]) -> list[Placed]:
    """Objects, pieces joined to what they are pieces of, whose fit stays. Containers keep their solids, and what is held is left as it is.

    ``segment`` makes one of flat pixel indices.
    """
    owner: dict[int, int] = {}
    for index in sorted(range(len(placed)), key=lambda index: (placed[index].hollow is None, -float(np.prod(placed[index].solid.size)))):
        bodies = [other for other, body in owner.items() if other == body]
        owner[index] = next((other for other in bodies if _piece(placed[index], placed[other])), index)
    if all(index == body for index, body in owner.items()):
        return list(placed)
    kept = [index for index in range(len(placed)) if owner[index] == index]
    number = {index: kept.index(body) for index, body in owner.items()}
    whole = []
    for index in kept:
        item, pieces = placed[index], [other for other, body in owner.items() if body == index != other]
        support = number[item.support] if item.support >= 0 else -1
        support = -1 if support == number[index] else support
        parts = [placed[other].segment for other in pieces]
        own = union_of(item.segment, parts) if item.hollow is not None else segment(np.concatenate([part.pixels for part in (item.segment, *parts)]))
        whole.append(replace(item, segment=own if pieces else item.segment, support=support))
    return whole


def _piece(item: Placed, body: Placed) -> bool:
    if item.hollow is not None or "held" in (item.relation, body.relation):
        return False
    if body.hollow is not None:
        walls = item.segment.points[~body.hollow.handle(item.segment.points)]
        return (len(walls) > 0 and body.hollow.shows(walls)) or _on_wall(item.segment, body.solid)
    return shared_volume(item.solid, body.solid) > OVERLAP.shared


def _on_wall(item: Segment, body: Solid) -> bool:
    """Whether what is seen of ``item`` is the outside of an open object: a label on a cup. What lies in it, or stands against it, is not on that surface."""
    local = transform_points(inverse(body.pose), item.points)
    half = np.asarray(body.size, dtype=float) / 2
    within = np.abs(local[:, 2]) < half[2] + OVERLAP.wall
    beyond = np.hypot(local[:, 0], local[:, 1]) - half[:2].mean() if body.shape == "cylinder" else (np.abs(local[:, :2]) - half[:2]).max(axis=1)
    return bool((within & (np.abs(beyond) < OVERLAP.wall)).mean() > OVERLAP.on_wall)


def shared_volume(item: Solid, body: Solid) -> float:
    """Share 0..1 of the box of ``item`` that lies within that of ``body``."""
    grid: Array = np.stack(np.meshgrid(GRID, GRID, GRID, indexing="ij"), axis=-1).reshape(-1, 3) * np.asarray(item.size, dtype=float)
    local = transform_points(inverse(body.pose) @ item.pose, grid)
    return float(all_of(np.abs(local) <= np.asarray(body.size, dtype=float) / 2).mean())
