"""What the hand let go keeps its id, under whatever id perception sees it next: on its side, half hidden in a container, it looks like another object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from deskhand.geometry import Array
from deskhand.types import Scene, SceneObject

BESIDE = 0.05  # [m] beyond its own length that an object which was let go may roll or tip
LARGER = 1.4  # times its sides: more is not that object; a view may show less of it
EDGE = 0.006  # [m] the same, for small ones


@dataclass(frozen=True)
class _Loose:
    item: SceneObject
    place: Array


@dataclass
class KnownAgain:
    """Of one session.

    Attributes:
        names: perception's id -> the id under which the hand had it.
        seen: all ids that looks have shown.
    """

    names: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    _loose: list[_Loose] = field(default_factory=list)  # let go since a look, or before the newest
    _looked: bool = False

    def let_go(self, item: SceneObject, place: Array) -> None:
        """``item`` left the hand with its centre at ``place`` (3,) [m, world]."""
        self.taken()
        self._loose = [*(loose for loose in self._loose if loose.item.id != item.id), _Loose(item, np.asarray(place, dtype=float).copy())]
        self._looked = False

    def taken(self) -> None:
        """The hand has something else: what it let go before the newest look is where that has shown it, or stays unseen."""
        if self._looked:
            self._loose = []

    def forget(self) -> None:
        """What the hand let go is not to be known again by what comes to light."""
        self._loose = []

    def enclosed(self, name: str) -> None:
        """What the hand let go is where no look shows it: nothing that comes to light is it."""
        self._loose = [one for one in self._loose if one.item.id != name]

    def apply(self, scene: Scene) -> Scene:
        """The scene with the ids that are known; applied twice it stays the same."""
        shown = {item.id for item in scene.objects}
        for new in [new for new, old in self.names.items() if new in shown and old in shown]:
            del self.names[new]  # it is there after all
        for loose in self._loose:
            if not shown & self._called(loose.item.id):
                found = _newcomer(loose, scene.objects, self.seen | set(self.names))
                if found is not None:
                    self.names[found.id] = loose.item.id
        self.seen |= shown
        self._looked = True
        objects = tuple(replace(item, id=self.names.get(item.id, item.id), support=self.names.get(item.support, item.support)) for item in scene.objects)
        return replace(scene, objects=objects)

    def _called(self, name: str) -> set[str]:
        """All ids under which a look may show what is known as ``name``."""
        return {name, *(new for new, old in self.names.items() if old == name)}


def _newcomer(loose: _Loose, objects: Sequence[SceneObject], seen: set[str]) -> SceneObject | None:
    """What no look has shown before, below where the hand let go, of the same name, or not larger than what it let go; the nearest, its own name first."""
    reach = BESIDE + float(np.max(loose.item.size))
    most = LARGER * np.sort(loose.item.size) + EDGE
    come = [
        (item.label != loose.item.label, float(np.linalg.norm(item.position[:2] - loose.place[:2])), item)
        for item in objects
        if item.id not in seen and item.relation != "held" and (item.label == loose.item.label or _may_be(item, loose.item, most))
    ]
    near = [each for each in come if each[1] < reach]
    return min(near, key=lambda each: each[:2])[2] if near else None


def _may_be(item: SceneObject, held: SceneObject, most: Array) -> bool:
    """Whether what is seen of ``item`` is no larger than it, and no container that it was none of."""
    return (held.is_container or not item.is_container) and bool((np.sort(item.size) <= most).all())
