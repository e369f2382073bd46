"""The planning scene and its changes. SI units; every pose is ``world_T_x``, (4, 4); see geometry.py."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array, identity


@dataclass(frozen=True)
class Shape:
    """Part of a collision object, ``pose`` in the object's frame.

    ``kind`` and ``size``: ``box`` (x, y, z), ``cylinder`` (radius, height; axis z), ``sphere`` (radius,),
    ``mesh`` (``vertices`` (V, 3), ``faces`` (F, 3)), ``points`` (``vertices`` (V, 3), size (voxel edge,)). [m]
    """

    kind: str
    size: tuple[float, ...] = ()
    pose: Array = field(default_factory=identity)
    vertices: Array = field(default_factory=lambda: np.zeros((0, 3)))
    faces: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 3), np.int32))


@dataclass(frozen=True)
class CollisionObject:
    """An obstacle in the planning scene: ``pose`` is world_T_object."""

    id: str
    shapes: tuple[Shape, ...]
    pose: Array = field(default_factory=identity)


@dataclass(frozen=True)
class SceneUpdate:
    """A change of the planning scene, applied as one.

    Attributes:
        replace: when not None, all free obstacles are replaced by these (attached objects stay).
        add: added, or replaced by id.
        remove: ids.
        attach: id of an obstacle that the hand now holds; it moves with ``tcp`` from its present pose.
        detach: let go what is held; it stays as an obstacle where it now is.
        allow: pairs of names (links or object ids) that may touch until the next ``replace``; a held object may always touch the fingers.
    """

    replace: tuple[CollisionObject, ...] | None = None
    add: tuple[CollisionObject, ...] = ()
    remove: tuple[str, ...] = ()
    attach: str = ""
    detach: bool = False
    allow: tuple[tuple[str, str], ...] = ()
