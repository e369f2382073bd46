"""Known shapes laid on what is seen of them, and clouds on clouds: iterative closest point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from deskhand.geometry import Array, inverse, make_transform, rotation_about, transform_points
from deskhand.perception.neighbours import nearest

Blind = Callable[[Array], npt.NDArray[np.bool_]]
SAMPLES = 1500
TRIM = 0.9  # share of the nearest points that count
FAR = 0.008  # [m] beyond which points do not belong together
NEAR = 0.05  # share of the points that may be nearer than what counts as the near side
TURNS = 12  # yaws that are tried
KEPT = 6  # starts that are refined
DIFFERENT = np.deg2rad(12.0)
SLIDES = (0.003, 0.001, 0.0004)  # [m] by which a pose is moved along its axes
SUNK = 0.004  # [m] that a model may lie below what it stands on, by the noise of both


def sampled(vertices: Array, faces: npt.NDArray[np.int32]) -> tuple[Array, Array]:
    """Points (N, 3) spread evenly over triangles, and their normals (N, 3); always the same for the same mesh."""
    a, b, c = (vertices[faces[:, corner]] for corner in range(3))
    across = np.cross(b - a, c - a)
    area = np.linalg.norm(across, axis=1)
    random = np.random.default_rng(0)
    chosen = random.choice(len(faces), SAMPLES, p=area / area.sum())
    u, v = random.random((2, SAMPLES, 1))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    points = a[chosen] + u * (b - a)[chosen] + v * (c - a)[chosen]
    return points, across[chosen] / area[chosen, None]


def register(
    surface: Array, normals: Array, seen: Array, centre: Array, eye: Array, lowest: float, floor: float = 0.0, blind: Blind | None = None
) -> list[tuple[float, Array]]:
    """Poses (cost, world_T_model) that bring a model's surface to the points (N, 3) that the camera at ``eye`` sees of it, best first.

    Iterative closest point, point to plane (Chen and Medioni 1991), from upright and overturned starts all around; only those that look different are kept.
    The cost [m] counts both ways, rms: seen points off the model, and model that should be seen where nothing is; and how deep the model is below the ``floor``
    [m, world], which nothing goes through. ``blind``: which of points (N, 3) lie where the picture measured nothing; that no point is seen there says nothing.
    """

    def cost(points: Array, pose: Array) -> float:
        deep = floor - float(transform_points(pose, surface)[:, 2].min())
        return _cost(surface, normals, points, pose, eye, blind) + max(0.0, deep - SUNK)

    half = (surface.min(axis=0) + surface.max(axis=0)) / 2
    ahead = (centre - eye) * [1.0, 1.0, 0.0]
    ahead /= max(1e-6, float(np.linalg.norm(ahead)))
    nearest_seen = float(np.quantile(seen @ ahead, NEAR))  # the near side is what a camera sees: of the far one the middle may tell too little
    coarse = seen[np.linspace(0, len(seen) - 1, min(len(seen), 250)).astype(int)]
    started = []
    for up in _ups():
        for yaw in np.arange(TURNS) * 2 * np.pi / TURNS:
            turn = rotation_about([0, 0, 1], float(yaw)) @ up
            pose = make_transform(turn, centre - turn @ half)
            pose[:3, 3] += (nearest_seen - float(np.quantile(transform_points(pose, surface) @ ahead, NEAR))) * ahead
            pose[2, 3] += (
                max(0.0, lowest) - float(transform_points(pose, surface)[:, 2].min()) if lowest > 0.02 else -float(transform_points(pose, surface)[:, 2].min())
            )
            pose = icp(surface, normals, coarse, pose, eye, 8)
            started.append((cost(coarse, pose), pose))
    started.sort(key=lambda item: item[0])
    refined = [_slid(icp(surface, normals, seen, pose, eye, 30), lambda pose: cost(seen, pose)) for _, pose in _apart(started)[:KEPT]]
    return _apart(sorted(((cost(seen, pose), pose) for pose in refined), key=lambda item: item[0]))


def _slid(pose: Array, cost: Callable[[Array], float]) -> Array:
    """The pose moved along the model's axes to where it costs least: where no face across an axis is seen, planes do not tell how far it goes along that."""
    best = cost(pose)
    for step in SLIDES:
        for axis in range(3):
            for sign in (1.0, -1.0):
                while (found := cost(moved := pose @ make_transform(None, sign * step * np.eye(3)[axis]))) < best:
                    best, pose = found, moved
    return pose


def _ups() -> list[Array]:
    """Rotations that bring each of the six sides up."""
    half = np.pi / 2
    return [
        np.eye(3),
        rotation_about([1, 0, 0], np.pi),
        rotation_about([1, 0, 0], half),
        rotation_about([1, 0, 0], -half),
        rotation_about([0, 1, 0], half),
        rotation_about([0, 1, 0], -half),
    ]


def _towards(surface: Array, normals: Array, pose: Array, eye: Array) -> Array:
    """Cosine (N,) between the normals of a surface and the direction to the camera: where it is not above 0, the surface faces away."""
    way = eye - transform_points(pose, surface)
    return np.asarray(((normals @ pose[:3, :3].T) * way).sum(axis=1) / np.linalg.norm(way, axis=1))


def icp(surface: Array, normals: Array, seen: Array, pose: Array, eye: Array, rounds: int) -> Array:
    """world_T_model (4, 4), from ``pose`` on: the side of a model's surface (N, 3) that faces the camera at ``eye`` laid on what is seen (M, 3) [m]."""
    for number in range(rounds):
        facing = _towards(surface, normals, pose, eye) > 0
        if facing.sum() < 30:
            return pose
        points, out = transform_points(pose, surface[facing]), normals[facing] @ pose[:3, :3].T
        distance, index = nearest(points, seen)
        limit = max(FAR, np.quantile(distance, TRIM)) if number < rounds // 2 else max(0.004, np.quantile(distance, TRIM))
        kept = distance <= limit
        step, angle = _step(points[index[kept]], seen[kept], out[index[kept]])
        pose = step @ pose
        if angle < 1e-5 and np.linalg.norm(step[:3, 3]) < 1e-6:
            break
    return pose


def _cost(surface: Array, normals: Array, seen: Array, pose: Array, eye: Array, blind: Blind | None) -> float:
    towards = _towards(surface, normals, pose, eye)
    facing = towards > 0
    if facing.sum() < 30:
        return float("inf")
    points = transform_points(pose, surface[facing])
    off = np.minimum(nearest(points, seen)[0], 2 * FAR)
    missed = np.minimum(nearest(seen, points)[0], 2 * FAR)
    if blind is not None:
        missed[blind(points)] = 0.0
    share = towards[facing] / towards[facing].sum()  # a picture shows less of what is turned away from it
    return float(np.sqrt(np.mean(off**2)) + 0.5 * np.sqrt(share @ missed**2))


def _apart(ranked: list[tuple[float, Array]]) -> list[tuple[float, Array]]:
    kept: list[tuple[float, Array]] = []
    for cost, pose in ranked:
        turns = [np.arccos(np.clip((np.trace(inverse(other)[:3, :3] @ pose[:3, :3]) - 1) / 2, -1, 1)) for _, other in kept]
        if all(turn > DIFFERENT for turn in turns):
            kept.append((cost, pose))
    return kept


def register_clouds(source: Array, target: Array, start: Array, reach: float, rounds: int = 60) -> tuple[Array, float, float, Array]:
    """target_T_source (4, 4) that lays one cloud (N, 3) on another (M, 3), from ``start`` on; pairs further apart than ``reach`` [m] do not count.

    Point to plane with the planes of the target's surroundings (Chen and Medioni 1991), the reach closing in on what is left.

    Returns:
        The transform; rms distance [m] of the pairs along the normals; their share of the source; covariance (6, 6) of turn [rad] and shift [m], by the
        curvature of the sum of squares, which is large along what the clouds leave open.
    """
    pose, normals = start.copy(), _normals(target)
    for number in range(rounds):
        moved = transform_points(pose, source)
        limit = max(reach * 0.9**number, reach / 8)
        distance, index = nearest(target, moved, limit)
        kept = np.isfinite(distance)
        if kept.sum() < 12:
            break
        step, angle = _step(moved[kept], target[index[kept]], normals[index[kept]])
        pose = step @ pose
        if angle < 1e-6 and np.linalg.norm(step[:3, 3]) < 1e-7 and limit == reach / 8:
            break
    moved = transform_points(pose, source)
    distance, index = nearest(target, moved, reach / 4)
    kept = np.isfinite(distance)
    if kept.sum() < 12:
        return pose, float("inf"), float(kept.mean()), np.full((6, 6), np.inf)
    p, q, n = moved[kept], target[index[kept]], normals[index[kept]]
    off = ((p - q) * n).sum(axis=1)
    matrix = np.hstack([np.cross(p - p.mean(axis=0), n), n])
    variance = float(off @ off) / max(1, len(off) - 6)
    return pose, float(np.sqrt(np.mean(off**2))), float(kept.mean()), variance * np.linalg.inv(matrix.T @ matrix + 1e-9 * np.eye(6))


def _step(p: Array, q: Array, n: Array) -> tuple[Array, float]:
    """The small motion (4, 4) that brings points to the planes through ``q`` with normals ``n``, all (N, 3); and its angle."""
    middle = p.mean(axis=0)
    matrix = np.hstack([np.cross(p - middle, n), n])
    step = np.linalg.solve(matrix.T @ matrix + 1e-9 * np.eye(6), matrix.T @ ((q - p) * n).sum(axis=1))
    angle = float(np.linalg.norm(step[:3]))
    turn = rotation_about(step[:3], angle) if angle > 1e-12 else np.eye(3)
    return make_transform(turn, middle - turn @ middle + step[3:]), angle


def _normals(cloud: Array, neighbours: int = 12) -> Array:
    """Unit normals (N, 3) of a cloud, by the plane through each point's neighbours; either side."""
    _, index = cKDTree(cloud).query(cloud, k=min(neighbours, len(cloud)))
    around = cloud[index] - cloud[index].mean(axis=1, keepdims=True)
    _, vectors = np.linalg.eigh(np.einsum("nij,nik->njk", around, around))
    return np.asarray(vectors[:, :, 0], float)
