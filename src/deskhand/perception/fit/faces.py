"""A face alone is no object: a piece that is one plane, and turns away from its neighbour over an edge that sticks out, is a side of it in another colour.

The pages of a book, the lid of a carton. Surfaces of two objects meet in a groove, in one plane, or one behind the other; an object that stands flush on
another shows its own sides as well as its top. Level pieces are lids, or lie on something: what knows those tells them (parts.py).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.fit.part_settings import FACES
from deskhand.perception.neighbours import nearest
from deskhand.perception.rows import between, highest, lowest, rows_of
from deskhand.perception.segment.hanging import joined
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.segment.settings import SegmentSettings
from deskhand.perception.segment.shape import voxel_edge
from deskhand.perception.segment.voxels import unit, voxels_of
from deskhand.perception.view import View


def join_faces(view: View, segments: list[Segment]) -> list[Segment]:
    """The segments, largest first, with those that are a face of a larger one joined to it; these are whole: what cuts objects would cut them there again."""
    if len(segments) < 2:
        return segments
    edge = voxel_edge(view, SegmentSettings())
    reach = FACES.beside[1] * edge / 2
    reaches = [(lowest(item.points) - reach, highest(item.points) + reach) for item in segments]
    owner = list(range(len(segments)))
    for number in range(len(segments) - 1, 0, -1):
        item, low, high = segments[number], *reaches[number]
        may = [other for other in range(number) if ((low <= reaches[other][1]) & (high >= reaches[other][0])).all()]
        plane = _plane(rows_of(item.points, item.measured), max(FACES.flat, FACES.noise * view.noise)) if may else None
        if plane is None or abs(plane[1][2]) > np.cos(FACES.steep):
            continue
        for other in may:
            if _is_face(view, item, plane, segments[other], edge):
                owner[number] = other
                break
    before = {id(item) for item in segments}
    return [item if id(item) in before else replace(item, whole=True) for item in joined(segments, owner)]


def _plane(points: Array, most: float) -> tuple[Array, Array] | None:
    """Middle and normal (3,) of the plane on which nearly all of these points (N, 3) are, None where there is no such plane."""
    if len(points) < FACES.least:
        return None
    near = points
    for _ in range(3):
        middle = near.mean(axis=0)
        away = near - middle
        normal = np.linalg.eigh(away.T @ away)[1][:, 0]
        off = np.abs((points - middle) @ normal)
        if (off < most).sum() < FACES.least:
            return None
        near = points[off < most]
    return (middle, normal) if (off < most).mean() > FACES.on else None


def _is_face(view: View, item: Segment, plane: tuple[Array, Array], main: Segment, edge: float) -> bool:
    """Whether a flat piece and ``main`` meet all along an edge that sticks out: each is behind the plane of the other there."""
    middle, normal = plane
    normal = normal * np.sign(normal @ (view.eye - middle))
    reach = FACES.beside[1] * edge
    near = between(main.points, lowest(item.points) - reach, highest(item.points) + reach)
    if near.sum() < FACES.least:
        return False
    voxels, own = voxels_of(rows_of(main.points, near), view.eye, edge), rows_of(item.points, item.measured)
    far, closest = nearest(own, voxels.middle, reach)
    beside = (far > FACES.beside[0] * edge) & (far < reach)
    if beside.sum() < FACES.enough:
        return False
    level = (np.abs((voxels.middle - middle) @ normal) < FACES.off * edge) & (voxels.normal @ normal > np.cos(FACES.same))
    if level[(far > edge) & (far < reach)].mean() > FACES.goes_on:
        return False  # it goes on in its plane, as the side of what stands flush on it
    other, place = unit(np.median(voxels.normal[beside], axis=0)), np.median(voxels.middle[beside], axis=0)
    turned = float(normal @ other)
    if not np.cos(FACES.most_turned) < turned < np.cos(FACES.turned):
        return False
    behind = ((voxels.middle[beside] - middle) @ normal < FACES.off * edge).mean(), ((own - place) @ other < FACES.off * edge).mean()
    if min(behind) < FACES.behind:
        return False
    along = unit(np.cross(normal, other))
    border = own[closest[far < FACES.beside[0] * edge]]
    if len(border) < FACES.enough or np.median(np.abs((border - middle) @ normal)) > FACES.flat:
        return False  # the lower side of something flat that lies on it
    longest = max(float(np.ptp(np.quantile(points @ along, (0.05, 0.95)))) for points in (own, main.points))
    return bool(np.ptp(border @ along) > FACES.border * longest)
