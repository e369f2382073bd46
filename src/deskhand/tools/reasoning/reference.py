"""What structure a reference picture shows: every known structure is held against its depth, and the one that explains it is read with its colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, make_transform, rotation_about, transform_points
from deskhand.perception.fit.pose_verification import evidence_for
from deskhand.perception.picture import picture_from
from deskhand.perception.pipeline import Perception
from deskhand.perception.voxel_downsample import thin
from deskhand.planning.structures import LEAST, MOST, NAMES, Blocks, Slot, structure
from deskhand.types import Frame, JointState, SceneObject

TOP = 0.006  # [m] below the highest point that belongs to the top
YAWS = np.deg2rad(np.arange(-90, 90, 6))
FINE = np.deg2rad(np.arange(-4, 5, 2))
OUTSIDE = 0.007  # [m] that a point may lie outside the box that explains it
GOOD = 0.72  # score of an explanation that is believed
JOINED = 0.012  # [m] between points of one object
FEWEST = 12  # points of an object
HIGHEST = 0.26  # [m]
LEVEL = 0.35  # share of an edge that the height may differ from a structure's


@dataclass(frozen=True)
class Reading:
    """A structure, where it stands in the picture, and how well it explains it (0..1)."""

    name: str
    slots: tuple[Slot, ...]
    boxes: tuple[SceneObject, ...]
    score: float


def read_reference(
    data: bytes, path: str, like: Frame, sizes: Blocks, model: RobotModel | None = None, joints: JointState | None = None
) -> tuple[tuple[Slot, ...], str]:
    """The plan of the structure in a picture from the robot's own camera, and what was seen in words.

    Args:
        data: content of the picture's file, see perception/picture.py; ``path`` is its name, for messages.
        like: a frame of the camera that took it.
        sizes: of the blocks, as the copy is taken to be built of the same.
        model, joints: the robot, taken to stand in the picture as it does now: it is left out.

    Raises:
        DeskhandError: ``invalid_input`` when the picture cannot be read or shows no structure that is known.
    """
    frame = picture_from(data, path, like)
    eyes = Perception()
    scene = eyes.detect(frame, model, joints)
    assert eyes.frame is not None
    groups = _groups(np.asarray(scene.cloud, dtype=float), sizes.edge)
    if not groups:
        raise DeskhandError("invalid_input", f"the picture {path} shows an empty desk.")
    ground = float(scene.table.pose[2, 3])
    best = max((reading for cloud in groups for reading in _readings(eyes.frame, cloud, ground, sizes)), key=lambda reading: reading.score, default=None)
    if best is None or best.score < GOOD:
        close = f" (nearest: a {best.name}, {best.score:.0%})" if best else ""
        raise DeskhandError("invalid_input", f"I cannot tell which structure the picture {path} shows{close}; known: {', '.join(NAMES)}.")
    colors = [evidence_for(eyes.frame, box, best.boxes) for box in best.boxes]
    slots = tuple(replace(slot, color=seen.color) for slot, seen in zip(best.slots, colors, strict=True))
    said = ", ".join(slot.color or "hidden" for slot in slots)
    return slots, f"the picture shows a {best.name} of {len(slots)} blocks: {said}"


def _groups(cloud: Array, edge: float) -> list[Array]:
    """The points (N, 3) of each group of objects that may be a structure: apart from others by a block's ``edge`` [m] or more, no higher than structures are.

    The arm, which may be in the picture, is higher; other objects on the desk are groups of their own.
    """
    if not len(cloud):
        return []
    cloud = np.concatenate([cloud[near] for near in _linked(cloud, JOINED) if len(near) >= FEWEST and cloud[near, 2].max() < HIGHEST] or [cloud[:0]])
    return [cloud[near] for near in _linked(cloud, edge)] if len(cloud) else []


def _linked(cloud: Array, distance: float) -> list[npt.NDArray[np.int64]]:
    """Indices of the points (N, 3) that hang together over gaps of up to ``distance`` [m], largest first."""
    flat = thin(cloud, distance / 3)
    pairs = cKDTree(flat).query_pairs(distance, output_type="ndarray")
    count, label = connected_components(coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(flat), len(flat))), directed=False)
    owner = label[cKDTree(flat).query(cloud)[1]]
    return sorted((np.flatnonzero(owner == number) for number in range(count)), key=len, reverse=True)


def _readings(frame: Frame, cloud: Array, ground: float, sizes: Blocks) -> Iterator[Reading]:
    high = float(np.quantile(cloud[:, 2], 0.995))
    top = cloud[cloud[:, 2] > high - TOP]
    middle = (top[:, :2].min(axis=0) + top[:, :2].max(axis=0)) / 2
    for name, slots in _candidates(sizes):
        boxes = _boxes(slots, sizes, (float(middle[0]), float(middle[1])), 0.0, ground)
        if abs(max(box.top for box in boxes) - high) > LEVEL * sizes.edge:
            continue
        rough = max(YAWS, key=lambda yaw: _score(frame, cloud, _boxes(slots, sizes, middle, float(yaw), ground), quick=True))
        yaws = [float(rough + fine) for fine in FINE]
        scores = [_score(frame, cloud, _boxes(slots, sizes, middle, yaw, ground)) for yaw in yaws]
        best = int(np.argmax(scores))
        yield Reading(name, slots, tuple(_boxes(slots, sizes, middle, yaws[best], ground)), scores[best])


def _candidates(sizes: Blocks) -> Iterator[tuple[str, tuple[Slot, ...]]]:
    for name in NAMES:
        if name in LEAST:
            for count in range(LEAST[name], MOST[name] + 1):
                yield name, structure(name, sizes, count)
        else:
            for blocks in {sizes, Blocks(sizes.edge)}:
                yield name, structure(name, blocks)


def _boxes(slots: Sequence[Slot], sizes: Blocks, middle: Sequence[float] | Array, yaw: float, ground: float) -> list[SceneObject]:
    """The blocks of a structure as objects at their poses in ``world``."""
    turn = rotation_about([0, 0, 1], yaw)
    tops: list[float] = []
    boxes = []
    for number, slot in enumerate(slots):
        size = np.full(3, sizes.edge) if slot.shape == "cube" or sizes.plank is None else np.array([sizes.plank[0], sizes.edge, sizes.plank[1]])
        base = max((tops[below] for below in slot.on), default=ground)
        x, y = turn[:2, :2] @ [slot.x, slot.y] + np.asarray(middle)
        pose = make_transform(rotation_about([0, 0, 1], yaw + slot.yaw), [x, y, base + size[2] / 2])
        tops.append(base + float(size[2]))
        boxes.append(SceneObject(f"place_{number}", "block", "", "box", size, pose, np.zeros((0, 3), np.float32), 1.0))
    return boxes


def _score(frame: Frame, cloud: Array, boxes: Sequence[SceneObject], quick: bool = False) -> float:
    """Share of the points that lie in the boxes, and unless ``quick`` times the share of the boxes' visible faces that the depth agrees with."""
    inside = np.zeros(len(cloud), bool)
    for box in boxes:
        inside |= np.all(np.abs(transform_points(inverse(box.pose), cloud)) <= np.asarray(box.size) / 2 + (0.003 if quick else OUTSIDE), axis=1)
    explained = float(inside.mean())
    if quick or explained < 0.5 * GOOD:
        return explained
    found = [evidence_for(frame, box, boxes) for box in boxes]
    seen = sum(item.seen for item in found)
    return explained * sum(item.seen * item.share for item in found) / max(1, seen)
