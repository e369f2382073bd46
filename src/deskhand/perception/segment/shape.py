"""The objects of a view that shape tells apart, whatever their colours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from deskhand.perception.learned.affinities import Evidence
from deskhand.perception.learned.segmenter import Said
from deskhand.perception.rows import lengths, rows_of
from deskhand.perception.segment.attached import join_attached
from deskhand.perception.segment.behind import join_behind
from deskhand.perception.segment.color import printed_parts
from deskhand.perception.segment.convexity import convex_parts
from deskhand.perception.segment.gaps import gap_share
from deskhand.perception.segment.hollows import join_hollows
from deskhand.perception.segment.noise import bend_of, stands_out
from deskhand.perception.segment.revolved import join_revolved
from deskhand.perception.segment.settings import SegmentSettings
from deskhand.perception.segment.voxels import Numbers, Voxels, voxels_of
from deskhand.perception.view import Mask, View

Labels = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Parts:
    """Attributes: ``labels`` (H, W): number of the part of each pixel, 0 for none; by number (P,): ``printed``, which colours do not cut as it is printed or
    one round wall, and ``hollow``; ``sliver``: fewer pixels than a patch has [px].
    """

    labels: Labels
    printed: Mask
    hollow: Mask
    sliver: int


def shape_parts(view: View, settings: SegmentSettings, said: Said | None = None) -> Parts:
    """Parts of what is above the table, without what is only its noise; ``said``: by a learned segmenter."""
    labels = np.zeros(view.objects.shape, np.int32)
    flat = np.flatnonzero(view.objects)
    if len(flat) < 3:
        return Parts(labels, np.zeros(1, bool), np.zeros(1, bool), 0)
    voxels = voxels_of(rows_of(view.points.reshape(-1, 3), flat).astype(float), view.eye, voxel_edge(view, settings))
    gaps = partial(gap_share, view, margin=settings.shape.through * voxels.edge)
    told, trust = (None, 0.0) if said is None else (partial(_told, said, flat, voxels, view.valid.shape), said.trust)
    part = convex_parts(voxels, settings.shape, gaps, told, trust)
    part, shells = join_revolved(voxels, join_attached(voxels, part, settings.attached), settings.revolved)
    revolved = np.isin(part, list(shells))
    part, hollow = join_hollows(voxels, part, shells, view.eye, settings.hollow)
    labels.reshape(-1)[flat] = part[voxels.of] + 1
    printed = printed_parts(view, labels, settings.color)[1:]
    joined = join_behind(view, voxels, part, labels, printed, settings.behind)
    labels.reshape(-1)[flat] = joined[voxels.of] + 1
    is_hollow = np.isin(part, list(hollow))
    sliver = int(0.5 * (settings.shape.patch * voxels.edge * view.frame.intrinsics.fx / view.far) ** 2)
    labels = _above_noise(view, labels, settings)
    return Parts(labels, _of_parts(printed[part] | revolved, joined), _of_parts(is_hollow, joined), sliver)


def learned_parts(view: View, settings: SegmentSettings, said: Said) -> Labels:
    """Parts (H, W) from 1 that a learned segmenter alone tells apart, 0 for none: patches of surface joined by what it says of their borders."""
    labels = np.zeros(view.objects.shape, np.int32)
    flat = np.flatnonzero(view.objects)
    if len(flat) < 3:
        return labels
    voxels = voxels_of(view.points.reshape(-1, 3)[flat].astype(float), view.eye, voxel_edge(view, settings))
    gaps = partial(gap_share, view, margin=settings.shape.through * voxels.edge)
    number = convex_parts(voxels, settings.shape, gaps, partial(_told, said, flat, voxels, view.valid.shape), 1.0)[voxels.of]
    objects = said.objects_at(*np.divmod(flat, view.objects.shape[1]))
    share = np.bincount(number, objects) / np.bincount(number)
    labels.reshape(-1)[flat] = np.where(share[number] > 0.5, number + 1, 0)
    return labels


def _told(said: Said, flat: Numbers, voxels: Voxels, shape: tuple[int, ...], patch: Numbers, borders: Numbers) -> Evidence:
    """What is said of the borders of patches; ``patch`` (M,) of each voxel, ``flat`` (N,) the pixel of each point of the voxels."""
    patches = np.full(shape, -1, np.int64)
    patches.reshape(-1)[flat] = patch[voxels.of]
    return said.evidence(patches, borders)


def _of_parts(voxels: Mask, part: Numbers) -> Mask:
    """By label (P,), which parts have any of these voxels (M,)."""
    result = np.zeros(int(part.max()) + 2, bool)
    result[part[voxels] + 1] = True
    return result


def voxel_edge(view: View, settings: SegmentSettings) -> float:
    """[m], from the noise and the distance of pixels where objects are."""
    shape = settings.shape
    edge = max(shape.voxel_noise * view.noise, shape.voxel_pixels * view.far / view.frame.intrinsics.fx)
    return float(np.clip(edge, shape.voxel_least, shape.voxel_most))


def _above_noise(view: View, labels: Labels, settings: SegmentSettings) -> Labels:
    """The same without parts that are no higher than the table may seem there."""
    bend = bend_of(view.whole, settings.noise)
    objects = np.flatnonzero(labels > 0)
    number, points = labels.reshape(-1)[objects], rows_of(view.points.reshape(-1, 3), objects)
    far = lengths(points - view.eye.astype(np.float32))
    low = points[:, 2] < bend * far**2
    share = np.bincount(number, low) / np.maximum(np.bincount(number), 1)
    low_ones = np.flatnonzero(share > settings.noise.height)
    noise = [each for each in low_ones.tolist() if not stands_out(view, objects[number == each], settings.noise)]
    result: Labels = labels.copy()
    result.reshape(-1)[objects[np.isin(number, noise)]] = 0
    return result
