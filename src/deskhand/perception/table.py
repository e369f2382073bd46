"""The desk top: a plane near world z = 0, and the small error of the camera's pose that it reveals."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, rotation_about
from deskhand.perception.look_settings import TABLE
from deskhand.perception.quantiles import median, spread
from deskhand.perception.settings import PerceptionSettings
from deskhand.types import Frame, Table


@dataclass(frozen=True)
class TableFit:
    """The table, and the camera pose for which it lies at z = 0.

    Attributes:
        table: pose and extent of what is seen of it, in the levelled world.
        world_T_camera: levelled: turned about the camera and shifted along z so that the table is the plane z = 0.
        noise: standard deviation [m] of the table's points.
        offset, tilt: what was corrected, [m] at the table's centre and [rad].
        scale: factor for the depth by which part of the offset is explained, see :meth:`levelled`.
    """

    table: Table
    world_T_camera: Array
    noise: float
    offset: float
    tilt: float
    scale: float = 1.0

    def levelled(self, frame: Frame) -> Frame:
        """``frame``, its depth and its pose corrected so that the table is the plane z = 0.

        A table that seems too low or too high means that the camera's height is wrong or that its depth is too long or too short. Which of them matters for
        where objects lie: a depth 0.4 % too long moves what is 0.8 m away by 3 mm along the line of sight, and lifting the camera takes out the vertical
        part alone. So the offset is shared between both by how much each of them is expected to err.
        """
        if self.scale == 1.0:
            return replace(frame, world_T_camera=self.world_T_camera)
        pose = self.world_T_camera.copy()
        pose[2, 3] *= self.scale
        return replace(frame, depth=np.asarray(frame.depth * np.float32(self.scale), dtype=np.float32), world_T_camera=pose)


def fit_table(frame: Frame, settings: PerceptionSettings) -> TableFit:
    """Find the table and level the camera's pose to it.

    The world frame is defined by the table's top, so a plane that is found a little off z = 0 means an extrinsic error of the
    camera; its rotation is taken to be about the camera, which is where small mounting errors are.

    Raises:
        DeskhandError: ``no_table`` when no plane lies within the limits of the settings.
    """
    for stride in (TABLE.stride, TABLE.fine):  # of a small camera, or where little of the table is seen, every few pixels count
        points = _sample(frame, stride)
        near = points[np.abs(points[:, 2]) < settings.max_table_offset + 0.03]
        if len(near) >= TABLE.few:
            break
    if len(near) < TABLE.min_points:
        raise DeskhandError(
            "no_table",
            f"only {len(near)} of {len(points)} depth points lie near world z = 0.",
            hint="Does the camera see the table, is its depth picture filled, and is its pose calibrated?",
        )
    normal, offset = _ransac(near, settings)
    tilted = np.arccos(np.clip(normal[2], -1, 1)) > settings.max_table_tilt
    if tilted and (np.abs(near[:, 2]) < TABLE.band).sum() > TABLE.as_good * (np.abs(near @ normal - offset) < TABLE.band).sum():
        normal, offset = np.array([0.0, 0.0, 1.0]), 0.0  # in clutter other planes have as many points: the camera's pose tells which is the table
    for band in (0.006, 0.004, 0.004):
        distance = near @ normal - offset
        inliers = near[np.abs(distance) < band]
        if len(inliers) < TABLE.min_points:
            raise DeskhandError("no_table", f"the best plane has only {len(inliers)} points.", hint="Is the table in view?")
        normal, offset = _least_squares(inliers)
    noise = 1.4826 * median(np.abs(inliers @ normal - offset))
    tilt = float(np.arccos(np.clip(normal[2], -1, 1)))
    centre = np.array([median(column) for column in inliers.T])
    if tilt > settings.max_table_tilt or abs(centre[2]) > settings.max_table_offset:
        raise DeskhandError(
            "no_table",
            f"the table is found {centre[2] * 1000:.0f} mm above world z = 0, tilted by {np.degrees(tilt):.1f} deg.",
            hint="Calibrate the camera's pose.",
        )
    pose = _level(frame.world_T_camera, normal, offset)
    scale = _scale(float(frame.world_T_camera[2, 3]), float(pose[2, 3]), settings)
    return TableFit(_extent(inliers, frame.world_T_camera, pose), pose, noise, float(centre[2]), tilt, scale)


def _scale(told: float, seen: float, settings: PerceptionSettings) -> float:
    """Factor for the depth, the camera's height above the table being told as ``told`` and seen as ``seen`` [m]."""
    if abs(seen - told) < TABLE.as_it_was:
        return 1.0
    of_scale, of_height = (settings.scale_error * seen) ** 2, settings.height_error**2
    by_depth = (seen - told) / seen * of_scale / (of_scale + of_height)
    most = 2 * settings.scale_error  # what is beyond that is the mount
    return 1.0 - min(max(by_depth, -most), most)


def _sample(frame: Frame, stride: int) -> Array:
    """World points of pixels on a grid, (N, 3)."""
    k = frame.intrinsics
    depth = frame.depth[::stride, ::stride].astype(float)
    v, u = np.mgrid[0 : k.height : stride, 0 : k.width : stride]
    keep = np.isfinite(depth) & (depth > 0)
    z = depth[keep]
    camera = np.column_stack([(u[keep] - k.cx) / k.fx * z, (v[keep] - k.cy) / k.fy * z, z])
    return np.asarray(camera @ frame.world_T_camera[:3, :3].T + frame.world_T_camera[:3, 3])


def _ransac(points: Array, settings: PerceptionSettings) -> tuple[Array, float]:
    random = np.random.default_rng(0)
    subset = points[random.permutation(len(points))[:1500]]
    triples = subset[random.integers(len(subset), size=(TABLE.rounds * 4, 3))]
    normals = np.cross(triples[:, 1] - triples[:, 0], triples[:, 2] - triples[:, 0])
    length = np.linalg.norm(normals, axis=1)
    good = length > 2e-3  # nearly collinear or close triples say nothing
    normals, triples = normals[good] / length[good, None], triples[good]
    normals *= np.where(normals[:, 2:] < 0, -1.0, 1.0)
    level = np.arccos(np.clip(normals[:, 2], -1, 1)) < settings.max_table_tilt + 0.03
    normals, triples = normals[level][: TABLE.rounds], triples[level][: TABLE.rounds]
    if not len(normals):
        raise DeskhandError("no_table", "no level plane was found near world z = 0.", hint="Is the camera's pose calibrated?")
    offsets = np.einsum("ij,ij->i", normals, triples[:, 0])
    inliers = (np.abs(subset @ normals.T - offsets) < TABLE.band).sum(axis=0)
    best = int(np.argmax(inliers))
    return normals[best], float(offsets[best])


def _least_squares(points: Array) -> tuple[Array, float]:
    """Plane z = a x + b y + c as a unit normal and offset, by the normal equations about the middle."""
    middle = points.mean(axis=0)
    near = points - middle
    a, b = np.linalg.solve(near[:, :2].T @ near[:, :2], near[:, :2].T @ near[:, 2])
    normal = np.array([-a, -b, 1.0])
    normal /= np.linalg.norm(normal)
    return normal, float(normal @ middle)


def _level(world_T_camera: Array, normal: Array, offset: float) -> Array:
    axis = np.cross(normal, [0.0, 0.0, 1.0])
    sine = float(np.linalg.norm(axis))
    turn = rotation_about(axis, np.arcsin(min(1.0, sine))) if sine > 1e-9 else np.eye(3)
    origin = world_T_camera[:3, 3]
    height = float(normal @ origin - offset)  # of the camera above the plane, kept by a turn about the camera
    return make_transform(turn @ world_T_camera[:3, :3], [origin[0], origin[1], height])


def _extent(inliers: Array, before: Array, after: Array) -> Table:
    change = after @ np.linalg.inv(before)
    level = inliers @ change[:3, :3].T + change[:3, 3]
    low, high = np.array([spread(column, 0.005, 0.995) for column in level[:, :2].T]).T
    middle = (low + high) / 2
    return Table(make_transform(None, [middle[0], middle[1], 0.0]), (float(high[0] - low[0]), float(high[1] - low[1])))
