"""The table of a frame whose camera pose nobody knows, and the region in which methods are compared."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform
from deskhand.types import CameraIntrinsics, Depth

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int32]


@dataclass(frozen=True)
class PlaneSettings:
    """How the table is found and which pixels count.

    Attributes:
        reach: pixels farther away do not count [m].
        margin: the region goes on so far beyond the seen table, because objects at its edge hide it [m].
        below, above: heights over the table between which pixels count [m].
        band: points nearer to a plane support it [m].
        under: points farther than this below a plane speak against it [m].
        trials: planes that are tried.
        sample: points that they are tried on.
    """

    reach: float = 1.1
    margin: float = 0.15
    below: float = 0.03
    above: float = 0.6
    band: float = 0.008
    under: float = 0.03
    trials: int = 500
    sample: int = 6000


@dataclass(frozen=True)
class Region:
    """``world_T_camera`` (4, 4) puts the table at z = 0, ``points`` (H, W, 3) [m] are in that world, ``inside`` (H, W) is what counts."""

    world_T_camera: Array
    points: Floats
    inside: Mask


def find_region(depth: Depth, intrinsics: CameraIntrinsics, settings: PlaneSettings) -> Region:
    """The table in ``depth`` (H, W) [m], NaN for holes, as the plane with most points on it, next to none below it, and the camera above it.

    Raises:
        DeskhandError: ``no_table`` when no plane is found.
    """
    camera = camera_points(depth, intrinsics)
    near = np.isfinite(depth) & (depth <= settings.reach)
    sample = camera[::3, ::3][near[::3, ::3]].astype(float)
    normal, offset, middle, inliers = _plane(sample, settings)
    right = np.array([0, 0, 1.0]) - normal * normal[2]
    right /= np.linalg.norm(right)
    rotation = np.stack([right, np.cross(normal, right), normal])
    origin = -rotation @ middle
    origin[2] = -offset
    points = camera @ rotation.T.astype(np.float32) + origin.astype(np.float32)
    outline = _grown(cv2.convexHull((inliers @ rotation.T + origin)[:, :2].astype(np.float32))[:, 0], settings.margin)
    inside = np.zeros(depth.shape, bool)
    v, u = np.nonzero(near)
    height = points[v, u, 2]
    inside[v, u] = _within(outline, points[v, u, :2]) & (height > -settings.below) & (height < settings.above)
    return Region(make_transform(rotation, origin), points, inside)


def camera_points(depth: Depth, intrinsics: CameraIntrinsics) -> Floats:
    """Points (H, W, 3) [m] in the camera's optical frame."""
    k = intrinsics
    v, u = np.indices(depth.shape, dtype=np.float32)
    return np.stack([(u - k.cx) / k.fx * depth, (v - k.cy) / k.fy * depth, depth], axis=-1).astype(np.float32)


def _plane(points: Array, settings: PlaneSettings) -> tuple[Array, float, Array, Array]:
    """Unit normal (3,) towards the camera, offset [m] (normal . point), middle (3,), and the points (M, 3) of the plane."""
    if len(points) < 3:
        raise DeskhandError("no_table", f"only {len(points)} points have a depth within {settings.reach:g} m.", hint="Is the depth in millimetres?")
    random = np.random.default_rng(0)
    some = points[random.permutation(len(points))[: settings.sample]]
    best, found = -np.inf, None
    for _ in range(settings.trials):
        corners = some[random.integers(len(some), size=3)]
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        length = np.linalg.norm(normal)
        if length < 1e-4:  # nearly collinear
            continue
        normal, offset = _towards_camera(normal / length, corners[0])
        height = some @ normal - offset
        score = float((np.abs(height) < settings.band).sum() - 2 * (height < -settings.under).sum())
        if score > best:
            best, found = score, (normal, offset)
    if found is None:
        raise DeskhandError("no_table", "no plane was found in the depth.")
    normal, offset = found
    for _ in range(5):
        inliers = points[np.abs(points @ normal - offset) < settings.band]
        middle = inliers.mean(axis=0)
        normal, offset = _towards_camera(np.linalg.svd(inliers - middle, full_matrices=False)[2][2], middle)
    return normal, offset, middle, inliers


def _towards_camera(normal: Array, point: Array) -> tuple[Array, float]:
    offset = float(normal @ point)
    return (-normal, -offset) if offset > 0 else (normal, offset)


def _grown(outline: Floats, margin: float) -> Floats:
    """An outline (N, 2) with its corners ``margin`` [m] farther from its middle."""
    middle = outline.mean(axis=0)
    away = outline - middle
    return np.asarray(middle + away * (1 + margin / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-6)))


def _within(outline: Floats, places: Floats) -> Mask:
    """Which places (N, 2) are within a convex outline (M, 2)."""
    following = np.roll(outline, -1, axis=0)
    turn = np.sign((outline[:, 0] * following[:, 1] - outline[:, 1] * following[:, 0]).sum())
    good = np.ones(len(places), bool)
    for corner, edge in zip(outline, following - outline, strict=True):
        good &= turn * (edge[0] * (places[:, 1] - corner[1]) - edge[1] * (places[:, 0] - corner[0])) >= 0
    return good
