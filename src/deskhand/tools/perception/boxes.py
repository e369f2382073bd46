"""Boxes around what is in point clouds, followed through a series of them. Pure: everything comes by reference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array
from deskhand.perception.footprint import tight_rectangle
from deskhand.perception.voxel_downsample import thin
from deskhand.tools.objects import rounded

VOXEL = 0.004  # [m]
NEVER = 1e6


class Box3d(TypedDict):
    """An upright box around a cluster of points."""

    track_id: Annotated[int, Field(description="the same for the same object in all clouds")]
    center: Annotated[list[float], Field(description="[x, y, z] in world [m]")]
    size: Annotated[list[float], Field(description="length, width, height [m]")]
    yaw: Annotated[float, Field(description="turn of its length about world z [rad]")]
    velocity: Annotated[list[float], Field(description="of its centre since the cloud before [m] along x, y, z; zeros at first")]
    points: int


class Boxes3d(TypedDict):
    """Boxes of each cloud."""

    clouds: list[list[Box3d]]
    tracks: Annotated[int, Field(description="how many different objects were seen")]


@dataclass
class _Track:
    number: int
    box: Box3d
    step: Array = field(default_factory=lambda: np.zeros(3))
    missed: int = 0


@tool(
    group="perception",
    unit="segmentation_and_tracking",
    timeout=60.0,
    when_to_use="To get 3-D boxes with tracking ids from point clouds alone, one or a series over time, also of another sensor: what moves, where, how fast.",
    limits="Geometry only, no kinds and no colours: objects that touch are one box. Boxes are upright and only as large as what is seen. At most 40 clouds.",
    examples=[("Track boxes through a series of point clouds", {"clouds": ["deskhand://a", "deskhand://b"]})],
    failures=[("A resource that is no cloud", {"clouds": ["deskhand://gone"]}, "unknown_resource")],
)
def track_boxes_3d(
    ctx: ToolContext,
    clouds: Annotated[
        list[Annotated[str, Field(max_length=200)]], Field(min_length=1, max_length=40, description="uris of clouds (N, 3) in world [m], oldest first")
    ],
    gap: Annotated[float, Field(ge=0.005, le=0.1, description="[m] that points of one object are apart at most")] = 0.012,
    min_points: Annotated[int, Field(ge=4, le=10000, description="smaller clusters are left out")] = 30,
    reach: Annotated[float, Field(ge=0.01, le=0.5, description="[m] that an object's centre may be off from where its motion leads")] = 0.08,
) -> Boxes3d:
    """Find 3-D boxes in point clouds and follow them through the series: centre, size, yaw, velocity and a tracking id that stays."""
    tracks: list[_Track] = []
    result: list[list[Box3d]] = []
    for uri in clouds:
        points = ctx.resources.get(uri).array()
        if points.ndim != 2 or points.shape[1] < 3:
            raise DeskhandError("invalid_input", f"{uri} is no cloud (N, 3) but {points.shape}.")
        boxes = [_box(cluster) for cluster in clusters(points[:, :3], gap, min_points)]
        result.append(_continued(tracks, boxes, reach))
    return Boxes3d(clouds=result, tracks=len(tracks))


def clusters(points: npt.NDArray[np.float32], gap: float, least: int) -> list[npt.NDArray[np.float32]]:
    """Groups (N, 3) of points that hang together, largest first."""
    points = thin(points[np.isfinite(points).all(axis=1)], VOXEL)
    if not len(points):
        return []
    pairs = cKDTree(points).query_pairs(gap, output_type="ndarray")
    graph = coo_matrix((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(len(points), len(points)))
    _, labels = connected_components(graph, directed=False)
    groups = [points[labels == number] for number in np.nonzero(np.bincount(labels) >= least)[0]]
    return sorted(groups, key=len, reverse=True)


def _box(points: npt.NDArray[np.float32]) -> Box3d:
    base = tight_rectangle(points[:, :2].astype(float))
    low, high = np.quantile(points[:, 2], [0.01, 0.99])
    size = [*base.size, high - low]
    return Box3d(
        track_id=0,
        center=rounded([*base.centre, (low + high) / 2]),
        size=rounded(size),
        yaw=round(float(base.yaw), 4),
        velocity=[0.0, 0.0, 0.0],
        points=len(points),
    )


def _continued(tracks: list[_Track], boxes: list[Box3d], reach: float) -> list[Box3d]:
    """Boxes with the ids of the tracks that they go on, by constant velocity and size; new ones begin tracks."""
    cost = np.full((len(tracks), len(boxes)), NEVER)
    for i, track in enumerate(tracks):
        ahead = np.array(track.box["center"]) + track.step * (1 + track.missed)
        for j, box in enumerate(boxes):
            off = float(np.linalg.norm(np.array(box["center"]) - ahead))
            unlike = float(np.abs(np.array(box["size"]) - track.box["size"]).max())
            if off <= reach:
                cost[i, j] = off + 0.5 * unlike
    matched = {int(j): int(i) for i, j in zip(*linear_sum_assignment(cost), strict=True) if cost[i, j] < NEVER}
    for number, track in enumerate(tracks):
        track.missed = 0 if number in matched.values() else track.missed + 1
    result = []
    for j, box in enumerate(boxes):
        if j in matched:
            track = tracks[matched[j]]
            track.step = np.array(box["center"]) - track.box["center"]
            box = Box3d(**{**box, "track_id": track.number, "velocity": rounded(track.step)})
            track.box = box
        else:
            box = Box3d(**{**box, "track_id": len(tracks) + 1})
            tracks.append(_Track(len(tracks) + 1, box))
        result.append(box)
    return result
