"""Two solids cannot be in the same place: of two that are, the smaller is a piece of the larger that was taken for an object of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array, inverse, transform_points
from deskhand.types import SceneObject

SHARED = 0.6
"""Share of an object's volume within another's, from which it is a piece of that."""
GRID = (np.arange(6) + 0.5) / 6 - 0.5

Indices = npt.NDArray[np.int64]


def without_pieces(objects: Sequence[SceneObject], pixels: Sequence[Indices]) -> tuple[list[SceneObject], list[Indices]]:
    """Objects and their pixels, pieces joined to what they are pieces of. Containers, and what is held, are left as they are."""
    kept = sorted(range(len(objects)), key=lambda index: -float(np.prod(objects[index].size)))
    whole: dict[int, tuple[SceneObject, Indices]] = {}
    for index in kept:
        item = objects[index]
        owner = next((other for other, (body, _) in whole.items() if _piece(item, body)), None)
        if owner is None:
            whole[index] = (item, pixels[index])
            continue
        body, own = whole[owner]
        whole[owner] = (replace(body, points=np.vstack([body.points, item.points])), np.concatenate([own, pixels[index]]))
    order = sorted(whole)
    return [whole[index][0] for index in order], [whole[index][1] for index in order]


def _piece(item: SceneObject, body: SceneObject) -> bool:
    if item.is_container or body.is_container or "held" in (item.relation, body.relation):
        return False
    return shared_volume(item, body) > SHARED


def shared_volume(item: SceneObject, body: SceneObject) -> float:
    """Share 0..1 of the box of ``item`` that lies within that of ``body``."""
    grid: Array = np.stack(np.meshgrid(GRID, GRID, GRID, indexing="ij"), axis=-1).reshape(-1, 3) * np.asarray(item.size, dtype=float)
    local = transform_points(inverse(body.pose) @ item.pose, grid)
    return float((np.abs(local) <= np.asarray(body.size, dtype=float) / 2).all(axis=1).mean())
