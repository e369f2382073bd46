"""Frames of simple solids on a table without a simulator: exact depth, printed or plain surfaces, the noise of a sensor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deskhand.geometry import make_transform
from deskhand.types import CameraIntrinsics, Frame

INTRINSICS = CameraIntrinsics(640, 480, 525.0, 525.0, 319.5, 239.5)
TABLE_COLOR = (205, 190, 175)


@dataclass(frozen=True)
class Box:
    """An upright box: middle of its foot (x, y, z) and size [m], turned by yaw [rad]; ``print`` > 0: patches of random colours so large [m]."""

    foot: tuple[float, float, float]
    size: tuple[float, float, float]
    yaw: float = 0.0
    color: tuple[int, int, int] = (180, 40, 40)
    print: float = 0.0

    def hit(self, eye, rays):
        turn = np.array([[np.cos(self.yaw), np.sin(self.yaw), 0], [-np.sin(self.yaw), np.cos(self.yaw), 0], [0, 0, 1]])
        middle = np.add(self.foot, (0, 0, self.size[2] / 2))
        begin, way = turn @ (eye - middle), rays @ turn.T
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (-np.array(self.size) / 2 - begin) / way, (np.array(self.size) / 2 - begin) / way
        near, far = np.minimum(one, other).max(axis=-1), np.maximum(one, other).min(axis=-1)
        return np.where((near < far) & (near > 0), near, np.inf)

    def paint(self, points, random):
        if not self.print:
            return np.broadcast_to(self.color, points.shape)
        palette = random.integers(20, 236, (4096, 3))
        cell = np.floor(points / self.print).astype(int) @ np.array([73, 179, 283])
        return palette[cell % len(palette)]


@dataclass(frozen=True)
class Bowl:
    """A half sphere that is open above, standing on its lowest point: middle on the table, radius and wall [m]."""

    middle: tuple[float, float]
    radius: float
    wall: float = 0.004
    color: tuple[int, int, int] = (60, 140, 150)

    def hit(self, eye, rays):
        centre = np.array([*self.middle, self.radius])
        return np.minimum(self._sphere(eye, rays, centre, self.radius, first=True), self._sphere(eye, rays, centre, self.radius - self.wall, first=False))

    def _sphere(self, eye, rays, centre, radius, first):
        a, b, c = (rays**2).sum(axis=-1), rays @ (eye - centre), ((eye - centre) ** 2).sum() - radius**2
        root = np.sqrt(np.maximum(b * b - a * c, 0))
        t = (-b - root if first else -b + root) / a
        height = eye[2] + t * rays[..., 2]
        return np.where((b * b > a * c) & (height < centre[2]), t, np.inf)

    def paint(self, points, random):
        return np.broadcast_to(self.color, points.shape)


def cast(*solids, seed=0, distance=0.8, noise=0.0012, bend=0.0):
    """A frame of the table z = 0 seen from 40 degrees above, ``distance`` [m] from its middle, and the labels (H, W): 0 table, 1.. the solids.

    ``noise``: standard deviation of the depth over the square of the depth [1/m]; ``bend``: the same of a slow wave.
    """
    random = np.random.default_rng(seed)
    tilt = np.deg2rad(40.0)
    forward, right = np.array([np.cos(tilt), 0, -np.sin(tilt)]), np.array([0.0, -1.0, 0.0])
    rotation = np.stack([right, np.cross(forward, right), forward], axis=1)
    eye = -distance * forward
    k = INTRINSICS
    v, u = np.mgrid[0 : k.height, 0 : k.width]
    rays = np.stack([(u - k.cx) / k.fx, (v - k.cy) / k.fy, np.ones(u.shape)], axis=-1) @ rotation.T
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        hits = np.stack([np.where(rays[..., 2] < 0, -eye[2] / rays[..., 2], np.inf), *(solid.hit(eye, rays) for solid in solids)])
    labels, depth = hits.argmin(axis=0), hits.min(axis=0)
    color = np.broadcast_to(TABLE_COLOR, (*depth.shape, 3)).astype(float)
    points = eye + rays * np.where(np.isfinite(depth), depth, 1.0)[..., None]
    for number, solid in enumerate(solids, start=1):
        own = labels == number
        color[own] = solid.paint(points[own], random)
    color += random.normal(0, 3, color.shape)
    depth = depth + noise * depth**2 * random.normal(size=depth.shape) + bend * depth**2 * np.sin(u / 35.0) * np.sin(v / 25.0)
    depth[~(depth < 1.6)] = np.nan
    frame = Frame(np.clip(color, 0, 255).astype(np.uint8), depth.astype(np.float32), k, make_transform(rotation, eye), 0.0)
    return frame, np.where(np.isfinite(depth), labels, 0).astype(np.int32)
