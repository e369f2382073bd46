"""One look compared with the truth: what was found, where, how large, under which name."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from deskhand.bench.perception.truth import TABLE, SeenTruth
from deskhand.geometry import Array
from deskhand.sim.spec import CONTAINER_KINDS
from deskhand.types import Scene, SceneObject

VISIBLE = 0.2
"""An object counts when at least this share of its unoccluded picture is seen."""
REACH, REACH_CONTAINER = 0.02, 0.04
"""Centres further apart than this [m] are not the same object: one is missed, the other a false one."""
_FAR = 1e3
_ROUND = {"ball": 3, "can": 2, "cup": 2, "pen": 2, "marker": 2}  # 3: no axis matters; 2: only the z axis does


def compare(scene: Scene, truth: list[SeenTruth]) -> tuple[list[dict[str, Any]], int]:
    """A row for every object that counts, and how many false objects there are.

    Objects of which too little is seen are asked for by nobody: finding them is neither right nor wrong.
    """
    pairs = match(scene, truth)
    rows = [_row(item, scene.objects[pairs[number]] if number in pairs else None, scene, truth, pairs) for number, item in enumerate(truth)]
    false = len(scene.objects) - len(pairs)
    return [row for row, item in zip(rows, truth, strict=True) if item.visible >= VISIBLE], false


def match(scene: Scene, truth: list[SeenTruth]) -> dict[int, int]:
    """Place in ``truth`` to place in ``scene.objects``, by the smallest sum of distances."""
    if not truth or not scene.objects:
        return {}
    costs = np.full((len(truth), len(scene.objects)), _FAR)
    for i, real in enumerate(truth):
        container = real.item.kind in CONTAINER_KINDS
        for j, found in enumerate(scene.objects):
            distance = float(np.linalg.norm(found.position - real.item.pose[:3, 3]))
            if found.is_container == container and distance < (REACH_CONTAINER if container else REACH):
                costs[i, j] = distance + (0.0 if real.visible >= VISIBLE else REACH)
    return {int(i): int(j) for i, j in zip(*linear_sum_assignment(costs), strict=True) if costs[i, j] < _FAR}


def _row(real: SeenTruth, found: SceneObject | None, scene: Scene, truth: list[SeenTruth], pairs: dict[int, int]) -> dict[str, Any]:
    row: dict[str, Any] = {"name": real.item.name, "kind": real.item.kind, "visible": real.visible, "found": found is not None}
    if found is None:
        return row
    names = {scene.objects[j].id: truth[i].item.name for i, j in pairs.items()} | {TABLE: TABLE}
    return row | {
        "id": found.id,
        "position_error": float(np.linalg.norm(found.position - real.item.pose[:3, 3])),
        "size_error": size_error(real, found),
        "guessed": bool(found.guessed),
        "angle_error": angle_error(real, found),
        "label_right": found.label == real.item.kind,
        "color_right": found.color in real.colors,
        "support_right": found.relation == real.relation and names.get(found.support, "") in real.carried_by,
        "label": found.label,
        "named": found.named,
        "color": found.color,
        "relation": found.relation,
    }


def size_error(real: SeenTruth, found: SceneObject) -> float:
    """Largest difference [m] of an extent, both sorted by length."""
    return float(np.abs(np.sort(real.item.size) - np.sort(found.size)).max())


def angle_error(real: SeenTruth, found: SceneObject) -> float:
    """Angle [rad] between the axes of both boxes, the smallest over all turns that give the same object; 0 for balls."""
    mine, theirs = real.item.pose[:3, :3], found.pose[:3, :3]
    kind = _ROUND.get(real.item.kind, 0)
    if kind == 3:
        return 0.0
    if kind == 2:
        return float(min(_between(mine[:, 2], theirs[:, axis]) for axis in range(3) if _fits(real, found, axis)))
    best = np.pi
    for order in permutations(range(3)):
        if np.abs(np.asarray(real.item.size) - found.size[list(order)]).max() > 0.012 + size_error(real, found):
            continue
        best = min(best, max(_between(mine[:, axis], theirs[:, order[axis]]) for axis in range(3)))
    return float(best)


def _fits(real: SeenTruth, found: SceneObject, axis: int) -> bool:
    """True when the found box is about as long along ``axis`` as the object is along its own."""
    return bool(abs(found.size[axis] - real.item.size[2]) <= np.abs(found.size - real.item.size[2]).min() + 0.012)


def _between(a: Array, b: Array) -> float:
    return float(np.arccos(np.clip(abs(float(a @ b)), 0.0, 1.0)))
