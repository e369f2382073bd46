"""Whether a depth picture shows an object where it was, or where it would be: there, gone, or hidden."""

from __future__ import annotations

from typing import Literal

import numpy as np

from deskhand.geometry import Array, inverse, transform_points
from deskhand.perception.fit.pose_verification import compare
from deskhand.perception.track.settings import PRESENCE
from deskhand.types import Frame, SceneObject

Seen = Literal["there", "gone", "hidden"]


def seen_at_place(frame: Frame, item: SceneObject, support: float, most: float = 0.5, lifted: float = np.inf) -> Seen:
    """Whether more than the share ``most`` of ``item`` is still seen where it was: its points against the depth picture.

    ``lifted`` [m]: how far it was lifted, where it was; a tall object then still fills the upper part of its place, which tells nothing.

    A point is gone when the camera now sees further, towards the support at height ``support`` [m] or to what stands right
    behind the point; it is hidden when something stands in front of it.
    """
    points, gap = _upper(frame, item, support, lifted)
    return _seen(compare(frame, points)[0], gap, most)


def way_apart(frame: Frame, item: SceneObject, support: float) -> Array:
    """Horizontal direction (3,) from what is left of ``item`` at its place to what has gone from there; zero where that cannot be told."""
    points, gap = _upper(frame, item, support)
    share = compare(frame, points)[0] / gap
    seen = np.isfinite(share) & (share > PRESENCE.hidden)
    gone, left = points[seen & (share > PRESENCE.gone)], points[seen & (share <= PRESENCE.gone)]
    if min(len(gone), len(left)) < PRESENCE.least:
        return np.zeros(3)
    away = (gone.mean(axis=0) - left.mean(axis=0)) * [1.0, 1.0, 0.0]
    return np.asarray(away / max(float(np.linalg.norm(away)), 1e-9))


def _upper(frame: Frame, item: SceneObject, support: float, lifted: float = np.inf) -> tuple[Array, Array]:
    """The upper points (N, 3) of ``item`` below where it hangs when ``lifted``, and how much further (N,) [m] the camera sees where each has gone."""
    points = np.asarray(item.points, dtype=float)
    hangs = item.bottom + max(lifted, 0.0)
    points = points[(points[:, 2] > support + PRESENCE.upper * (min(item.top, hangs) - support)) & (points[:, 2] <= hangs)] if len(points) else points
    depth = transform_points(inverse(frame.world_T_camera), points)[:, 2]
    gap = np.clip((points[:, 2] - support) * depth / np.maximum(frame.world_T_camera[2, 3] - points[:, 2], 1e-6), 1e-4, PRESENCE.behind)
    return points, gap


def seen_lifted(frame: Frame, item: SceneObject, lifted: float) -> Seen:
    """Whether ``item`` is seen higher by ``lifted`` [m]: the gripper took it along."""
    points = np.add(item.points, [0.0, 0.0, lifted])
    return _seen(compare(frame, points)[0], np.full(len(points), PRESENCE.behind))


def _seen(behind: Array, gap: Array, most: float = 0.5) -> Seen:
    """What the points say: there when more than the share ``most`` of those seen are.

    ``behind`` (N,) [m]: how much further the camera sees than each, ``gap`` (N,): how much that is where it is gone.
    """
    share = behind / gap
    seen = np.isfinite(share) & (share > PRESENCE.hidden)
    if seen.sum() < max(PRESENCE.least, PRESENCE.least_share * np.isfinite(share).sum()):
        return "hidden"
    return "gone" if np.quantile(share[seen], most) > PRESENCE.gone else "there"
