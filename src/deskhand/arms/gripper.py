"""Grippers as an arm's file describes them: two fingers that move alike, or one jaw that turns against a fixed one.

Everything above the driver speaks of a width [m] between the pads. What a width is in the driven joint, where what is held then stands in the tcp's
frame, and which room the hand takes, is said here, once for each kind.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array

Floats = npt.NDArray[np.floating[Any]]
Row = tuple[float, float, float, float]
"""A box of a jaw: from and to [m] along the closing direction y, from and to [m] along the approach z."""


@dataclass(frozen=True)
class Boxes:
    """Boxes of one part of the hand in the tcp frame, one a pose: ``centre`` and ``half`` size (M, 3) [m].

    Where ``angle`` (M,) [rad] is given, they are those of a jaw turned by it about the tcp's x axis through ``pivot`` (y, z) [m], seen in the jaw's own
    frame, whose origin is on that axis.
    """

    centre: Floats
    half: Floats
    angle: Array | None = None
    pivot: tuple[float, float] = (0.0, 0.0)

    def take(self, rows: npt.NDArray[np.intp]) -> Boxes:
        """Those of ``rows``."""
        return Boxes(self.centre[rows], self.half[rows], None if self.angle is None else self.angle[rows], self.pivot)

    def seen_from(self, y: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Coordinates y, z (M, N) of the tcp frame in that of the boxes, in their own precision."""
        if self.angle is None:
            return y, z
        cos, sin = (part.astype(y.dtype)[:, None] for part in (np.cos(self.angle), np.sin(self.angle)))
        dy, dz = y - y.dtype.type(self.pivot[0]), z - y.dtype.type(self.pivot[1])
        return dy * cos - dz * sin, dy * sin + dz * cos

    def points(self, points: Array, row: int = 0) -> Array:
        """``points`` (N, 3) of the boxes' frame in the tcp frame, for the pose ``row``."""
        if self.angle is None:
            return points
        cos, sin = math.cos(float(self.angle[row])), math.sin(float(self.angle[row]))
        y, z = points[:, 1], points[:, 2]
        return np.column_stack([points[:, 0], self.pivot[0] + y * cos + z * sin, self.pivot[1] - y * sin + z * cos])


@dataclass(frozen=True, kw_only=True)
class GripperConfig(ABC):
    """What every gripper says. tcp: z forward out of the gripper, y along the closing direction.

    Attributes:
        joint: the driven joint.
        links: links of the hand, which may touch what is grasped.
        width_min, width_max: distances of the pads [m] between which it is used.
        force_max, force_default: of each pad [N].
        speed: of a pad [m/s].
        finger_depth: how far both tips reach beyond ``tcp`` along its z [m].
        finger_length: from the palm to the tips [m].
        finger_thickness: outward of the pad (along tcp y) [m], at the tips.
        finger_breadth: across the pad (along tcp x) [m].
        palm: box (x, y, z) [m] of the hand behind the fingers, for collision tests of grasps.
        mimic: joint that follows the driven one, "" for none.
        fixed_link: link of a jaw that does not move, "" for none.
    """

    joint: str
    links: tuple[str, ...]
    width_min: float
    width_max: float
    force_max: float
    force_default: float
    speed: float
    finger_depth: float
    finger_length: float
    finger_thickness: float
    finger_breadth: float
    palm: tuple[float, float, float]
    mimic: str = ""
    fixed_link: str = ""

    one_sided: ClassVar[bool] = False
    """Whether only one of the jaws moves."""

    @property
    def lever(self) -> float:
        """[m] that a pad moves for 1 rad (or m) of the driven joint: force of a pad [N] times this is the joint's effort [N m or N]."""
        return 1.0

    def position_of(self, width: float) -> float:
        """Position [m or rad] of the driven joint for a distance of the pads [m], clamped to the range."""
        return self.position_at(min(max(width, self.width_min), self.width_max))

    @abstractmethod
    def position_at(self, width: float) -> float:
        """The same for any width, as a servo may report one beyond the range."""

    @abstractmethod
    def width_of(self, position: float) -> float:
        """Distance of the pads [m] for a position of the driven joint [m or rad]."""

    @abstractmethod
    def tcp_offset(self, width: float | Array) -> Array:
        """(3,), or (M, 3) for widths (M,): the middle [m] of something ``width`` wide between closed pads, in the tcp frame.

        The one place that says so: zero for fingers that meet in the tcp. A hand that shall grasp at a pose stands with its tcp at
        ``pose @ translation(-tcp_offset(width))``.
        """

    @abstractmethod
    def pad_faces(self, opened: Array) -> tuple[Array, Array]:
        """Along the tcp's y [m], (M,) each: the lower and the upper pad's face when the pads are ``opened`` (M,) [m] apart."""

    @abstractmethod
    def finger_parts(self, opened: Array) -> list[Boxes]:
        """The fingers when the pads are ``opened`` (M,) [m] apart."""

    def reach_across(self, opened: Array) -> tuple[Array, Array]:
        """Along the tcp's y [m], (M,) each: where the fingers end on both sides, wherever they pass as they close from ``opened`` (M,) [m]."""
        low, high = self.pad_faces(opened)
        return low - self.finger_thickness, high + self.finger_thickness

    def stand_off(self, opened: Array, widths: Array) -> Array:
        """(M,) [m] between the fixed pad and something ``widths`` (M,) wide on the way in; 0 where both pads move to it alike."""
        return np.zeros(np.broadcast(opened, widths).shape)

    def angle(self, width: float | Array) -> Array:
        """[rad] that the pads lean away from each other at a width [m]."""
        return np.zeros(np.shape(width))

    def widest(self, friction: float) -> float:
        """[m] up to which pads with this friction coefficient hold something with parallel sides."""
        return self.width_max

    def tip_reach(self, opened: float | Array) -> Array:
        """How far [m] a tip reaches beyond the tcp along its z at most, as the hand closes from ``opened`` [m]."""
        return np.full(np.shape(opened), self.finger_depth)


@dataclass(frozen=True, kw_only=True)
class ParallelGripper(GripperConfig):
    """Two fingers that move alike: ``joint`` drives one, ``mimic`` follows it. width = 2 * position + width_offset [m]."""

    width_offset: float

    def position_at(self, width: float) -> float:
        """See base."""
        return (width - self.width_offset) / 2

    def width_of(self, position: float) -> float:
        """See base."""
        return 2 * position + self.width_offset

    def tcp_offset(self, width: float | Array) -> Array:
        """See base."""
        return np.zeros((*np.shape(width), 3))

    def pad_faces(self, opened: Array) -> tuple[Array, Array]:
        """See base."""
        return -opened / 2, opened / 2

    def finger_parts(self, opened: Array) -> list[Boxes]:
        """See base."""
        half = np.broadcast_to(np.array([self.finger_breadth, self.finger_thickness, self.finger_length]) / 2, (len(opened), 3))
        centre = np.zeros((len(opened), 3))
        centre[:, 1] = opened / 2 + self.finger_thickness / 2
        centre[:, 2] = self.finger_depth - self.finger_length / 2
        return [Boxes(centre, half), Boxes(centre * np.array([1.0, -1.0, 1.0]), half)]


@dataclass(frozen=True, kw_only=True)
class PivotGripper(GripperConfig):
    """A fixed jaw and one that turns about an axis along the tcp's x: at 0 the pads are parallel, positive positions [rad] open.

    The tcp is rigid to the fixed jaw, wherever the turning one is; the middle between the pads moves with the width (:meth:`tcp_offset`). The width is the
    distance of the two pads along the tcp's y, where they come closest: pads that lean away from each other meet what is flat with the turning pad's inner
    edge, pads that lean towards each other with the tips.

    To grasp, the hand comes down with the fixed pad ``approach_gap`` beside the object, moves over by that gap until the fixed pad touches it, and then
    turns the jaw; to let go it opens and moves back by the gap. So nothing is pushed but by what the look was wrong by. The jaw needs its room on one side
    only.

    Attributes:
        pivot: (y, z) [m] of the jaw's axis in the tcp frame.
        fixed_jaw: boxes of the fixed jaw, rows of (y from, y to, z from, z to) [m] in the tcp frame; the last is its pad, with the face at ``y to``.
        moving_jaw: the same of the turning jaw at position 0, seen from its axis; the last is its pad, with the face at ``y from``.
        approach_gap: [m]
    """

    pivot: tuple[float, float]
    fixed_jaw: tuple[Row, ...]
    moving_jaw: tuple[Row, ...]
    approach_gap: float

    one_sided: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Raises ValueError where the jaws cannot be those of a gripper."""
        for name, rows in (("fixed_jaw", self.fixed_jaw), ("moving_jaw", self.moving_jaw)):
            if not rows or any(len(row) != 4 or row[0] >= row[1] or row[2] >= row[3] for row in rows):
                raise ValueError(f"gripper.{name} must be rows of (y from, y to, z from, z to) [m], from below to")
        if not self.fixed_link:
            raise ValueError("gripper.fixed_link must name the link of the fixed jaw")
        if self.pad_face >= self.pivot[0] + self.moving_jaw[-1][0]:
            raise ValueError("gripper: at position 0 the turning jaw's pad must stand at a greater y than the fixed jaw's")
        if not self._closest(-math.pi / 2) < self.width_min < self.width_max < self._closest(math.pi / 2):
            raise ValueError(f"gripper: the jaw cannot open from {self.width_min} to {self.width_max} m")

    @property
    def pad_face(self) -> float:
        """Y [m] of the fixed pad's face in the tcp frame."""
        return self.fixed_jaw[-1][1]

    @property
    def lever(self) -> float:
        """[m] from the axis to the inner edge of the turning pad."""
        return self.moving_jaw[-1][2]

    def _closest(self, position: float) -> float:
        """[m] between the fixed pad's face and the edge of the turning pad that is nearest to it."""
        face, _, inner, tip = self.moving_jaw[-1]
        reach = inner if position >= 0 else tip
        return self.pivot[0] - self.pad_face + reach * math.sin(position) + face * math.cos(position)

    def width_of(self, position: float) -> float:
        """See base."""
        return self._closest(position)

    def position_at(self, width: float) -> float:
        """See base."""
        face, _, inner, tip = self.moving_jaw[-1]
        apart = width - (self.pivot[0] - self.pad_face)
        reach = inner if apart >= face else tip
        return math.asin(min(max(apart / math.hypot(reach, face), -1.0), 1.0)) - math.atan2(face, reach)

    def tcp_offset(self, width: float | Array) -> Array:
        """See base: the fixed pad stays, so what is held lies half its width beside it."""
        result = np.zeros((*np.shape(width), 3))
        result[..., 1] = self.pad_face + np.asarray(width) / 2
        return result

    def pad_faces(self, opened: Array) -> tuple[Array, Array]:
        """See base."""
        return np.full(len(opened), self.pad_face), self.pad_face + opened

    def finger_parts(self, opened: Array) -> list[Boxes]:
        """See base."""
        angle = self.angle(opened)
        still = [Boxes(*self._box(row, len(opened))) for row in self.fixed_jaw]
        return still + [Boxes(*self._box(row, len(opened)), angle, self.pivot) for row in self.moving_jaw]

    def _box(self, row: Row, count: int) -> tuple[Array, Array]:
        low, high = np.array([-self.finger_breadth / 2, row[0], row[2]]), np.array([self.finger_breadth / 2, row[1], row[3]])
        return np.broadcast_to((low + high) / 2, (count, 3)), np.broadcast_to((high - low) / 2, (count, 3))

    def reach_across(self, opened: Array) -> tuple[Array, Array]:
        """See base: the turning jaw is farthest out where it is open, unless it stands that wide at its axis."""
        angle = self.angle(opened)[:, None, None]
        corners = np.array([[row[1], z] for row in self.moving_jaw for z in row[2:]])[None]
        out = self.pivot[0] + corners[..., :1] * np.cos(angle) + corners[..., 1:] * np.sin(angle)
        return np.full(len(opened), min(row[0] for row in self.fixed_jaw)), np.asarray(out.max(axis=(1, 2)))

    def stand_off(self, opened: Array, widths: Array) -> Array:
        """See base: ``approach_gap``, or half of the room that there is."""
        return np.clip((np.asarray(opened) - np.asarray(widths)) / 2, 0.0, self.approach_gap)

    def angle(self, width: float | Array) -> Array:
        """See base; negative where the tips lean towards each other."""
        return np.asarray(np.vectorize(self.position_at, otypes=[float])(width))

    def widest(self, friction: float) -> float:
        """See base: beyond the friction angle the jaw, wherever it meets an edge, drives the object out."""
        return min(self.width_max, self.width_of(math.atan(friction)))

    def closed_on(self, y: Floats, z: Floats) -> Array:
        """Position [rad] at which the turning jaw meets each point (…) at ``y``, ``z`` [m] of the tcp frame; that of the closed jaw for what it passes."""
        dy, dz = y - self.pivot[0], z - self.pivot[1]
        square = dy * dy + dz * dz
        result = np.full(np.shape(y), self.position_at(self.width_min))
        for face, _, inner, tip in self.moving_jaw:
            # at the angle where the face meets the point, the point lies as far out along the jaw as its distance from the axis says
            along = np.sqrt(np.maximum(square - face * face, 0.0))
            meets = (along >= inner) & (along <= tip)
            result = np.where(meets, np.maximum(result, np.arctan2(dy, dz) - np.arctan2(face, along)), result)
        return np.asarray(result)

    def tip_reach(self, opened: float | Array) -> Array:
        """See base: the turning jaw's tip swings lower than the fixed one, lowest where its corner is straight out from the axis."""
        angle, (inner, outer, _, tip) = self.angle(opened), self.moving_jaw[-1]
        corners = [math.hypot(tip, y) * np.cos(np.minimum(angle + math.atan2(y, tip), 0.0)) for y in (inner, outer)]
        return np.asarray(np.maximum(self.finger_depth, self.pivot[1] + np.maximum(*corners)))


KINDS: dict[str, type[GripperConfig]] = {"parallel": ParallelGripper, "pivot": PivotGripper}


def read_gripper(data: Mapping[str, Any]) -> GripperConfig:
    """The ``gripper`` section of an arm's file; ``kind`` says which of :data:`KINDS` it is, without it ``parallel``.

    Raises:
        TypeError, ValueError: saying what is wrong.
    """
    values = dict(data)
    kind = values.pop("kind", "parallel")
    if kind not in KINDS:
        raise ValueError(f"gripper.kind is {kind!r}; valid: {', '.join(KINDS)}")
    for name in ("links", "palm", "pivot"):
        if name in values:
            values[name] = tuple(values[name])
    for name in ("fixed_jaw", "moving_jaw"):
        if name in values:
            values[name] = tuple(tuple(map(float, row)) for row in values[name])
    return KINDS[kind](**values)
