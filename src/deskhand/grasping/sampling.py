"""Antipodal grasp candidates: pairs of surface samples that face each other, and ways to approach each pair."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from deskhand.arms.gripper import GripperConfig
from deskhand.geometry import Array
from deskhand.perception.fit.surface import Surface

FRICTION = 0.62  # coefficient that grasps must hold with; rubber pads have more
TILTS = np.deg2rad([0.0, 15.0, -15.0, 30.0, -30.0, 45.0, -45.0])  # about the closing axis
MAX_TILT = np.deg2rad(50.0)  # of the approach from straight down
STRAIGHTEST = 0.1  # [rad] of friction margin that a pair of a simple solid may have less than its best
STRAIGHT_ENOUGH = 0.4  # the same of objects with many parts
PAIRS = (90, 130)  # at most, of a simple solid and of others
RETRACTED = 0.005  # [m] that the hand also stays back, for walls that lean and for what widens below
NEARLY_SQUARE = np.deg2rad(15.0)  # of a closing axis to the plane in which a five-joint arm tilts its hand
MIN_GRIP = 0.0012  # [m] a contact must lie at least so far inside the finger tips

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Candidates:
    """Hand poses with the geometry of their contacts; arrays have one row a candidate.

    Attributes:
        poses: (M, 4, 4) world_T_tcp.
        contacts: (M, 2, 3) in ``world``.
        widths: (M,) distance of the contacts along the closing axis [m].
        margins: (M,) friction margin [rad].
        opened: (M,) distance of the pads on the way in [m]; empty until the collision test has chosen it.
    """

    poses: Array
    contacts: Array
    widths: Array
    margins: Array
    opened: Array = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.poses)

    def take(self, rows: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Candidates:
        """The candidates of ``rows`` (indices or a mask)."""
        opened = self.opened[rows] if len(self.opened) else self.opened
        return Candidates(self.poses[rows], self.contacts[rows], self.widths[rows], self.margins[rows], opened)


def antipodal_pairs(surface: Surface, narrowest: float, widest: float) -> tuple[Array, Array, Array]:
    """Pairs (P, 2, 3) of samples that two pads can hold, closing axes (P, 3) and friction margins (P,) [rad].

    A pair is kept when the line through it lies within the friction cone of both normals; of pairs that lie near each
    other the one with the larger margin.
    """
    points, normals = surface.points, surface.normals
    first, second = np.nonzero(np.triu(normals @ normals.T < -0.7, 1))
    apart = points[second] - points[first]
    distance = np.linalg.norm(apart, axis=1)
    near = (distance >= narrowest) & (distance <= widest)
    first, second, apart, distance = first[near], second[near], apart[near], distance[near]
    axis = apart / np.maximum(distance, 1e-9)[:, None]
    # pads press from outside: against the outward normals
    cosine = np.minimum(-np.einsum("ij,ij->i", axis, normals[first]), np.einsum("ij,ij->i", axis, normals[second]))
    margin = np.arctan(FRICTION) - np.arccos(np.clip(cosine, -1.0, 1.0))
    good = np.flatnonzero((margin > 0) & (np.abs(axis[:, 2]) <= np.sin(MAX_TILT)))
    # flat pads turn a pair that they do not meet squarely: skew pairs only where there is nothing straighter
    good = good[margin[good] >= margin[good].max(initial=0.0) - (STRAIGHTEST if surface.simple else STRAIGHT_ENOUGH)]
    good = good[np.argsort(-margin[good], kind="stable")]
    centre = (points[first[good]] + points[second[good]]) / 2
    heading = np.abs(axis[good])  # a pair and its mirror image are the same
    key = np.round(np.column_stack([centre / 0.006, heading / 0.25])).astype(np.int64)
    _, unique = np.unique(key, axis=0, return_index=True)
    good = good[np.sort(unique)]
    limit = PAIRS[0 if surface.simple else 1]
    if len(good) > limit:  # spread over the object rather than the best corner of it
        good = good[np.linspace(0, len(good) - 1, limit).astype(int)]
    pairs = np.stack([points[first[good]], points[second[good]]], axis=1)
    return pairs, axis[good], margin[good]


def hand_poses(pairs: Array, axes: Array, margins: Array, gripper: GripperConfig, floor: float, tip_clearance: float, base: Array | None = None) -> Candidates:
    """Candidates that approach each pair from above, tilted up to 50 degrees; finger tips stay ``tip_clearance`` above ``floor`` [m].

    The middle between the pads comes to the middle of the contacts, or as much behind it as the floor asks, while the pads still hold; for thin
    objects half the tip clearance will do. Of a jaw that turns, the friction margin is also what its lean leaves.
    ``base``: a point on the axis of an arm that tilts its hand only towards and away from it.
    """
    rows, y, z, margins = _tilted(axes, margins) if base is None else _in_plane(pairs.mean(axis=1) - base, axes, margins)
    keep = -z[:, 2] >= np.cos(MAX_TILT) - 1e-9
    rows, y, z, margins = rows[keep], y[keep], z[keep], margins[keep]
    contacts = pairs[rows]
    centre = contacts.mean(axis=1)
    # the lowest corner of a tip: its end, and half the breadth when the hand is tilted about the closing axis
    x = np.cross(y, z)
    widths = np.abs(np.einsum("ij,ij->i", contacts[:, 1] - contacts[:, 0], y))
    lowest = centre[:, 2] + gripper.tip_reach(widths) * z[:, 2] - gripper.finger_breadth / 2 * np.abs(x[:, 2])
    most = gripper.finger_depth - MIN_GRIP
    back = np.clip((floor + tip_clearance - lowest) / -z[:, 2], 0.0, most)
    holds = lowest - back * z[:, 2] >= floor + 0.6 * tip_clearance - 1e-9
    poses = np.tile(np.eye(4), (len(rows), 1, 1))
    poses[:, :3, 0], poses[:, :3, 1], poses[:, :3, 2] = x, y, z
    poses[:, :3, 3] = centre - back[:, None] * z - gripper.tcp_offset(widths)[:, 1:2] * y
    margins = np.minimum(margins, np.arctan(FRICTION) - np.maximum(gripper.angle(widths), 0.0))
    return Candidates(poses, contacts, widths, margins).take(holds & (margins > 0))


def retracted(candidates: Candidates, gripper: GripperConfig) -> Candidates:
    """The candidates and the same with the gripper a little further back, where the pads still hold."""
    poses = candidates.poses.copy()
    poses[:, :3, 3] -= RETRACTED * poses[:, :3, 2]
    depth = np.einsum("ij,ij->i", candidates.contacts.mean(axis=1) - poses[:, :3, 3], poses[:, :3, 2])
    return joined([candidates, replace(candidates, poses=poses).take(depth <= gripper.finger_depth - MIN_GRIP)])


def _tilted(axes: Array, margins: Array) -> tuple[Rows, Array, Array, Array]:
    """Every closing axis with every tilt about it: rows of ``axes``, closing axes, approach axes, margins."""
    y = np.repeat(axes, len(TILTS), axis=0)
    tilt = np.tile(TILTS, len(axes))[:, None]
    down = np.array([0.0, 0.0, -1.0])
    steepest = down - y * (y @ down)[:, None]
    length = np.linalg.norm(steepest, axis=1)
    steepest = steepest / np.maximum(length, 1e-9)[:, None]
    z = np.cos(tilt) * steepest + np.sin(tilt) * np.cross(y, steepest)
    rows = np.repeat(np.arange(len(axes)), len(TILTS))
    keep = length > 0.3
    return rows[keep], y[keep], z[keep], margins[rows[keep]]


def _in_plane(outward: Array, axes: Array, margins: Array) -> tuple[Rows, Array, Array, Array]:
    """As :func:`_tilted`, with approach axes in the vertical plane of ``outward`` (P, 3), the way from the arm's base to each pair.

    Of the directions across a closing axis one lies in that plane. Where the closing axis is nearly square to the plane it is turned square,
    at the cost of friction margin, and the gripper may tilt about it.
    """
    radial = outward * [1.0, 1.0, 0.0]
    radial = radial / np.maximum(np.linalg.norm(radial, axis=1), 1e-9)[:, None]
    square = np.cross([0.0, 0.0, 1.0], radial)
    across = np.cross(axes, square)
    length = np.linalg.norm(across, axis=1)
    one = np.flatnonzero(length > np.sin(NEARLY_SQUARE) / 2)
    z = across[one] / length[one, None]
    z = np.where(z[:, 2:] > 0, -z, z)
    along = np.einsum("ij,ij->i", axes, square)
    off = np.arccos(np.clip(np.abs(along), 0.0, 1.0))
    many = np.flatnonzero((off < NEARLY_SQUARE) & (margins > off))
    rows = np.repeat(many, len(TILTS))
    tilt = np.tile(TILTS, len(many))[:, None]
    tilted = np.cos(tilt) * np.array([0.0, 0.0, -1.0]) + np.sin(tilt) * radial[rows]
    turned = square[rows] * np.sign(along[rows])[:, None]
    return (
        np.concatenate([one, rows]),
        np.concatenate([axes[one], turned]),
        np.concatenate([z, tilted]),
        np.concatenate([margins[one], margins[rows] - off[rows]]),
    )


def turned_into_plane(poses: Array, base: Array) -> Array:
    """``poses`` (M, 4, 4), turned about the vertical by the little that brings a leaning approach into the vertical plane through ``base``."""
    outward, lean = poses[:, :2, 3] - base[:2], poses[:, :2, 2]
    leans = np.linalg.norm(lean, axis=1) > 1e-3
    cross, dot = lean[:, 0] * outward[:, 1] - lean[:, 1] * outward[:, 0], np.einsum("ij,ij->i", lean, outward)
    angle = np.where(leans, np.arctan2(cross * np.sign(dot), np.abs(dot)), 0.0)
    turn = np.tile(np.eye(3), (len(poses), 1, 1))
    turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
    result = poses.copy()
    result[:, :3, :3] = turn @ poses[:, :3, :3]
    return np.asarray(result)


def joined(parts: list[Candidates]) -> Candidates:
    """All of several, in order."""
    columns = ("poses", "contacts", "widths", "margins", "opened")
    return Candidates(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))


def diverse_order(poses: Array, scores: Array, limit: int, apart: float = 0.009, turned: float = 0.3, mirrored: bool = True) -> list[int]:
    """Rows by falling score, near repeats (within ``apart`` [m] and ``turned`` [rad]) put behind all others; at most ``limit``.

    ``mirrored``: the gripper turned by half a turn about its approach is a repeat.
    """
    order = np.argsort(-scores, kind="stable")[: 4 * limit]
    places, axes = poses[order, :3, 3], poses[order, :3, :3]
    near = np.square(places[:, None] - places[None]).sum(axis=-1) < apart**2
    # the trace of the turn between two hands, and between one and the other turned by half a turn about its approach
    x, y, z = (axes[:, :, k] @ axes[:, :, k].T for k in range(3))
    alike = near & ((np.abs(x + y) if mirrored else x + y) + z > 1 + 2 * np.cos(turned))
    chosen: list[int] = []
    repeats: list[int] = []
    for row in range(len(order)):
        if len(chosen) >= limit:
            break
        (repeats if alike[row, chosen].any() else chosen).append(row)
    return [int(order[row]) for row in (chosen + repeats)[:limit]]
