"""What somebody with eyes has put right in what perception found: names, colours, and which segments are one object. Measured geometry stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, convex_gap, convex_hull, inverse, make_transform, transform_points
from deskhand.perception.footprint import tight_rectangle
from deskhand.types import NameCandidate, Scene, SceneObject

MODEL = "model"
"""The source of a label that a model with eyes has given."""
FEWEST = 25
"""Measured points that a part needs; with fewer its extents say little."""
BESIDE = 0.03
"""[m] between segments beyond which they are not one object any more, whatever was said."""


@dataclass(frozen=True)
class Name:
    """What an object is said to be; an empty field leaves what perception says."""

    label: str = ""
    color: str = ""
    material: str = ""


@dataclass(frozen=True)
class Part:
    """A part of a segment that is an object of its own; ``seed`` (3,) [m], in the frame of the segment, is a point on it."""

    id: str
    seed: Array


@dataclass
class Corrections:
    """Of one session.

    Attributes:
        names: id -> what the object is said to be.
        parts: id of a segment -> the objects that it is said to be.
        joined: id -> ids of the segments that are said to be one object with it.
    """

    names: dict[str, Name] = field(default_factory=dict)
    parts: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    joined: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _made: int = 0

    def __bool__(self) -> bool:
        return bool(self.names or self.parts or self.joined)

    def apply(self, scene: Scene) -> Scene:
        """The scene as it is said to be; applied twice it stays the same."""
        if not self:
            return scene
        objects = [part for item in scene.objects for part in self._split(item)]
        for kept, others in self.joined.items():
            objects = _joined(objects, kept, others)
        return replace(scene, objects=tuple(map(self._named, objects)))

    def split(self, item: SceneObject, points: Sequence[Array]) -> tuple[str, ...]:
        """Say that a segment is several objects, each with a point (3,) [m, world] on it; their new ids.

        Raises:
            DeskhandError: ``invalid_input`` when too little was measured of one of them.
        """
        seeds = transform_points(inverse(item.pose), np.asarray(points, dtype=float))
        parts = tuple(Part(f"{item.label}_part_{self._made + number + 1}", seed) for number, seed in enumerate(seeds))
        counts = np.bincount(_nearest(item, parts), minlength=len(parts))
        if (few := int(counts.min())) < FEWEST:
            text = f"only {few} measured points of {item.id} are nearest to point {int(counts.argmin()) + 1}; a part needs {FEWEST}."
            raise DeskhandError("invalid_input", text, hint="Give one point well on each of the objects, as they are seen in the picture.")
        self._made += len(parts)
        self.parts[item.id] = parts
        return tuple(part.id for part in parts)

    def join(self, items: Sequence[SceneObject]) -> str:
        """Say that several segments are one object; the id that it has from now on.

        Raises:
            DeskhandError: ``invalid_input`` when they do not lie beside each other.
        """
        for item in items:
            others = [other for other in items if other.id != item.id]
            if min(_gap(item, other) for other in others) > BESIDE:
                raise DeskhandError("invalid_input", f"{item.id} lies more than {1000 * BESIDE:.0f} mm from the others: they cannot be one object.")
        kept = max(items, key=lambda item: float(np.prod(item.size))).id
        self.joined[kept] = tuple(item.id for item in items if item.id != kept)
        return kept

    def grasped(self, name: str) -> None:
        """An object was taken away: what is left of the segment that it was a part of is the other parts."""
        for segment, parts in list(self.parts.items()):
            if any(part.id == name for part in parts):
                self.parts[segment] = tuple(part for part in parts if part.id != name)
                if not self.parts[segment]:
                    del self.parts[segment]

    def renamed(self, old: str, new: str) -> None:
        """What was known as ``old`` is seen under another id."""
        if old in self.names:
            self.names[new] = self.names.pop(old)

    def _named(self, item: SceneObject) -> SceneObject:
        name = self.names.get(item.id)
        if name is None:
            return item
        if name.label:
            item = replace(item, label=name.label, label_source=MODEL, names=(NameCandidate(name.label, 1.0, MODEL),))
        return replace(item, color=name.color or item.color, material=name.material or item.material)

    def _split(self, item: SceneObject) -> list[SceneObject]:
        parts = self.parts.get(item.id, ())
        if not parts:
            return [item]
        nearest = _nearest(item, parts)
        if len(parts) == 1 or np.bincount(nearest, minlength=len(parts)).min() < FEWEST:  # it is not seen well enough to be told apart now
            return [replace(item, id=parts[0].id)] if len(parts) == 1 else [item]
        return [_part(item, part.id, item.points[nearest == number]) for number, part in enumerate(parts)]


def _nearest(item: SceneObject, parts: Sequence[Part]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For each measured point of a segment the number of the part whose seed is nearest."""
    seeds = transform_points(item.pose, np.array([part.seed for part in parts]))
    return np.asarray(np.linalg.norm(item.points[:, None] - seeds[None], axis=2).argmin(axis=1), dtype=np.int64)


def _part(item: SceneObject, name: str, points: Array) -> SceneObject:
    """A part as an object, from the points that were measured of it."""
    rectangle = tight_rectangle(points[:, :2])
    bottom, top = item.bottom, float(points[:, 2].max())
    pose = make_transform(_about_z(rectangle.yaw), [*rectangle.centre, (bottom + top) / 2])
    size = np.array([*np.maximum(rectangle.size, 0.002), max(top - bottom, 0.002)])
    return replace(item, id=name, pose=pose, size=size, points=points.astype(np.float32), shape="box", is_container=False, wall=0.0, guessed=())


def _joined(objects: Sequence[SceneObject], kept: str, others: Sequence[str]) -> list[SceneObject]:
    """The objects with those of one group as one, where they still lie beside each other."""
    group = [item for item in objects if item.id in (kept, *others)]
    rest = [item for item in objects if item not in group]
    if not group:
        return list(objects)
    if len(group) == 1:
        return [*rest, replace(group[0], id=kept)]
    near = all(min(_gap(item, other) for other in group if other is not item) <= BESIDE for item in group)
    return [*rest, _union(group, kept)] if near else list(objects)


def _union(group: Sequence[SceneObject], name: str) -> SceneObject:
    """One upright box around what was measured of all."""
    first = next((item for item in group if item.id == name), group[0])
    corners = np.concatenate([_corners(item) for item in group])
    rectangle = tight_rectangle(corners[:, :2])
    low, high = float(corners[:, 2].min()), float(corners[:, 2].max())
    lowest = min(group, key=lambda item: item.bottom)
    return replace(
        first,
        id=name,
        pose=make_transform(_about_z(rectangle.yaw), [*rectangle.centre, (low + high) / 2]),
        size=np.array([*rectangle.size, high - low]),
        points=np.concatenate([item.points for item in group]),
        shape="box",
        support=lowest.support,
        relation=lowest.relation,
        guessed=(),
    )


def _corners(item: SceneObject) -> Array:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    return transform_points(item.pose, signs * item.size / 2)


def _gap(a: SceneObject, b: SceneObject) -> float:
    """Between two objects [m], each its outline from above over its height; 0 where they overlap."""
    one, other = _corners(a), _corners(b)
    above = max(one[:, 2].min() - other[:, 2].max(), other[:, 2].min() - one[:, 2].max(), 0.0)
    return float(np.hypot(convex_gap(convex_hull(one[:, :2]), convex_hull(other[:, :2])), above))


def _about_z(yaw: float) -> Array:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
