"""What the network sees of a view: height, distance, directions and colours on a grid with a fixed pitch on the objects."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.perception.view import Floats, View

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class InputSettings:
    """The network is trained with these; a model file tells whether it was made with the same (``version``).

    Attributes:
        version: of the planes.
        pitch: distance of neighbouring pixels of the grid on the objects [m]; a little below the voxels of the segmentation by shape.
        most: pixels of the grid; larger views get a coarser pitch.
        multiple: both sides are multiples of it, as the network halves them so often.
        height, far: [m] that count as 1 in the planes of height and distance.
        beside: pixels of the grid from which directions are told on either side.
    """

    version: int = 1
    pitch: float = 0.0025
    most: int = 320 * 240
    multiple: int = 16
    height: float = 0.1
    far: float = 0.1
    beside: int = 2


@dataclass(frozen=True)
class Inputs:
    """Planes (len(PLANES), H, W) float32 of a grid; ``rows`` (H,) and ``columns`` (W,) of the view that its pixels are, -1 beyond the view."""

    planes: Floats
    rows: Numbers
    columns: Numbers


PLANES = ("objects", "valid", "height", "distance", "across", "along", "up", "red", "green", "blue")
"""Above the table; has depth; height and distance beside the median of the objects, over InputSettings; direction of the surface in the world turned to the
camera (across: to its right, along: away from it); colour -0.5..0.5."""
LIMIT = 3.0  # of height and distance


def inputs_of(view: View, settings: InputSettings, scale: float = 1.0) -> Inputs:
    """The planes of a view; ``scale``: of the pitch, to train on several."""
    depth = view.frame.depth
    middle = float(np.median(depth[view.objects])) if view.objects.any() else 1.0
    step = max(settings.pitch * scale * view.frame.intrinsics.fx / middle, (depth.size / settings.most) ** 0.5)
    rows, columns = (_grid(side, step, settings.multiple) for side in depth.shape)
    v, u = np.maximum(rows, 0)[:, None], np.maximum(columns, 0)[None]
    inside = (rows >= 0)[:, None] & (columns >= 0)[None]
    valid = (view.valid | view.filled)[v, u] & inside
    points = np.where(valid[..., None], view.points[v, u], np.float32(0))
    planes = np.zeros((len(PLANES), *valid.shape), np.float32)
    planes[0], planes[1] = view.objects[v, u] & inside, valid
    planes[2] = np.clip(points[..., 2] / settings.height, -LIMIT, LIMIT)
    planes[3] = np.where(valid, np.clip((depth[v, u] - middle) / settings.far, -LIMIT, LIMIT), 0)
    planes[4:7] = _directions(points, valid, view, settings.beside)
    planes[7:] = np.where(inside, (view.frame.color[v, u].astype(np.float32) / 255 - 0.5).transpose(2, 0, 1), 0)
    return Inputs(planes, rows, columns)


def _grid(side: int, step: float, multiple: int) -> Numbers:
    """Places of a grid's pixels on a side of so many pixels, -1 beyond it."""
    count = max(1, int(side / step))
    places = np.minimum(((np.arange(count) + 0.5) * step).astype(np.int64), side - 1)
    return np.concatenate([places, np.full(-count % multiple, -1, np.int64)])


def _directions(points: Floats, valid: npt.NDArray[np.bool_], view: View, beside: int) -> Floats:
    """Unit normals (3, H, W) towards the camera, 0 where nothing tells them."""
    weight = cv2.blur(valid.astype(np.float32), (3, 3))
    smooth = cv2.blur(points, (3, 3)) / np.maximum(weight, 1e-6)[..., None]
    there = np.pad(weight > 0.3, beside)
    around = np.pad(smooth, ((beside, beside), (beside, beside), (0, 0)))
    far, core = 2 * beside, slice(beside, -beside)
    across, along = around[core, far:] - around[core, :-far], around[far:, core] - around[:-far, core]
    normal = np.cross(along, across)
    known = valid & there[core, far:] & there[core, :-far] & there[far:, core] & there[:-far, core]
    length = np.linalg.norm(normal, axis=-1)
    known &= length > 1e-12
    normal = np.where(known[..., None], normal / np.maximum(length, 1e-12)[..., None], 0)
    normal *= np.sign(np.einsum("ijk,ijk->ij", normal, view.eye.astype(np.float32) - points))[..., None]
    right = view.frame.world_T_camera[:2, 0] / max(float(np.linalg.norm(view.frame.world_T_camera[:2, 0])), 1e-6)
    turned = np.stack([normal[..., 0] * right[0] + normal[..., 1] * right[1], normal[..., 1] * right[0] - normal[..., 0] * right[1], normal[..., 2]])
    return np.asarray(turned, dtype=np.float32)
