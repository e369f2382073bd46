"""Two solids cannot be in the same place: of two that are, the smaller is a piece of the larger that was taken for an object of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from deskhand.geometry import Array, inverse, transform_points
from deskhand.perception.fit.part_settings import OVERLAP
from deskhand.perception.fit.solid import Solid
from deskhand.perception.rows import all_of
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.support.support import Placed
from deskhand.perception.view import Indices

GRID = (np.arange(6) + 0.5) / 6 - 0.5


def without_pieces(placed: Sequence[Placed], segment: Callable[[Indices], Segment]) -> list[Placed]:
    """Objects, pieces joined to what they are pieces of, whose fit stays. Containers, and what is held, are left as they are.

    ``segment`` makes one of flat pixel indices.
    """
    owner: dict[int, int] = {}
    for index in sorted(range(len(placed)), key=lambda index: -float(np.prod(placed[index].solid.size))):
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
        pixels = np.concatenate([placed[other].segment.pixels for other in (index, *pieces)])
        whole.append(replace(item, segment=segment(pixels) if pieces else item.segment, support=support))
    return whole


def _piece(item: Placed, body: Placed) -> bool:
    if item.hollow is not None or body.hollow is not None or "held" in (item.relation, body.relation):
        return False
    return shared_volume(item.solid, body.solid) > OVERLAP.shared


def shared_volume(item: Solid, body: Solid) -> float:
    """Share 0..1 of the box of ``item`` that lies within that of ``body``."""
    grid: Array = np.stack(np.meshgrid(GRID, GRID, GRID, indexing="ij"), axis=-1).reshape(-1, 3) * np.asarray(item.size, dtype=float)
    local = transform_points(inverse(body.pose) @ item.pose, grid)
    return float(all_of(np.abs(local) <= np.asarray(body.size, dtype=float) / 2).mean())
