"""Which parts of the arm and of what it holds come how close to what, over many states at once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.safety.bodies import concatenate, pieces_of
from deskhand.safety.conservative_advancement import Mask, NearPairs, Static, against, among, near_states
from deskhand.safety.placed import Bodies, Index, Placed
from deskhand.safety.scene import TABLE, Pairs, PlanningScene, pair, table_object
from deskhand.types import CollisionObject

DENSE = 300  # more static pieces than this (point clouds) are looked up in a tree
FAR = 0.1  # [m]; clearances are not told apart beyond
KEPT_SCENES = 4


@dataclass(frozen=True)
class Near:
    """Pairs that are nearer than the cutoff: state index, names, signed distance [m] (negative: depth)."""

    state: int
    a: str
    b: str
    distance: float


class CollisionChecker:
    """Distances of an arm to a planning scene and to itself. Keeps the arm's shapes and those of the newest scenes; safe to use from several threads."""

    def __init__(self, model: RobotModel) -> None:
        self.model = model
        self.arm = model.arm
        links = [link for link in model.links if link in model.shapes]
        parts = {link: pieces_of(model.shapes[link]) for link in links}
        self.robot = Bodies(tuple(link for link in links for _ in range(len(parts[link]))), concatenate([parts[link] for link in links]))
        adjacent = {frozenset((joint.parent, joint.child)) for joint in model.joints.values()}
        self.no_check = frozenset(pair(*p) for p in (adjacent | set(model.allowed_collisions())) if len(p) == 2)
        self._kept: OrderedDict[tuple[int, int], tuple[PlanningScene, tuple[CollisionObject, ...], Static]] = OrderedDict()
        self._lock = threading.Lock()

    def static(self, scene: PlanningScene, extra: tuple[CollisionObject, ...] = ()) -> Static:
        """Everything that stands still: table, obstacles, ``extra`` (keep-out zones), in ``world``."""
        key = (id(scene), id(extra))  # what is kept holds both alive, so that their ids stay their own
        with self._lock:
            if key not in self._kept:
                items = [table_object(), *scene.obstacles.values(), *extra]
                parts = [pieces_of(item.shapes).moved(item.pose) for item in items]
                names = tuple(item.id for item, part in zip(items, parts, strict=True) for _ in range(len(part)))
                self._kept[key] = (scene, extra, Static.of(Bodies(names, concatenate(parts)), DENSE))
                while len(self._kept) > KEPT_SCENES:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key][2]

    def moving(self, scene: PlanningScene) -> tuple[Bodies, tuple[str, ...]]:
        """The arm and what it holds, each piece in the frame of a link, and those links."""
        if scene.held is None:
            return self.robot, self.robot.names
        held = pieces_of(scene.held.shapes).moved(scene.held.pose)
        bodies = Bodies((*self.robot.names, *(scene.held.id for _ in range(len(held)))), concatenate([self.robot.pieces, held]))
        return bodies, (*self.robot.names, *(self.arm.tcp for _ in range(len(held))))

    def may_touch(self, scene: PlanningScene, allow: Pairs) -> Pairs:
        """Pairs that are not checked: by the SRDF, by the scene, by ``allow``, the base with the table, what is held with the hand."""
        pairs = set(self.no_check | scene.allow | allow) | {pair(self.arm.base_link, TABLE)}
        if scene.held:
            pairs |= {pair(scene.held.id, link) for link in (*self.arm.gripper.links, self.arm.tcp)}
        return frozenset(pairs)

    def placed(self, poses: dict[str, Array], scene: PlanningScene) -> Placed:
        """The arm and what it holds at every state; ``poses``: world_T_link (T, 4, 4)."""
        return Placed(*self.moving(scene), poses)

    def near(
        self, poses: dict[str, Array], scene: PlanningScene, allow: Pairs = frozenset(), extra: tuple[CollisionObject, ...] = (), cutoff: float = 0.005
    ) -> list[Near]:
        """Everything nearer than ``cutoff`` [m], the worst of each pair of names at each state. ``poses``: world_T_link (T, 4, 4)."""
        return self.survey(self.placed(poses, scene), scene, allow, extra, cutoff)[0]

    def clearance(self, poses: dict[str, Array], scene: PlanningScene, allow: Pairs = frozenset(), extra: tuple[CollisionObject, ...] = ()) -> float:
        """Smallest signed distance [m] of the arm and what it holds to the scene (not to itself), to half a millimetre; at most 0.1."""
        return self.survey(self.placed(poses, scene), scene, allow, extra, -np.inf, clearance=True)[1]

    def survey(
        self, placed: Placed, scene: PlanningScene, allow: Pairs, extra: tuple[CollisionObject, ...], cutoff: float, clearance: bool = False
    ) -> tuple[list[Near], float]:
        """:meth:`near` and :meth:`clearance` in one; the latter NaN when it is not asked for."""
        static, skip = self.static(scene, extra), self.may_touch(scene, allow)
        outer = NearPairs(cutoff, FAR if clearance else -np.inf)
        against(placed, static, _mask(placed.names, static.bodies.names, skip), outer)
        result = _worst(outer, placed.names, static.bodies.names)
        if cutoff > -np.inf:
            inner = NearPairs(cutoff)
            first, second = _pairs(placed.names, skip)
            among(placed, first, second, inner)
            result += _worst(inner, [placed.names[i] for i in first], [placed.names[i] for i in second])
        return result, outer.best if clearance else float("nan")

    def approaches(self, placed: Placed, scene: PlanningScene, allow: Pairs, names: Collection[str], cutoff: float) -> Mask:
        """(T,): the states at which the arm or what it holds is nearer than ``cutoff`` [m] to an obstacle of ``names`` that it may not touch."""
        if not names:
            return np.zeros(placed.count, dtype=bool)
        static = self.static(scene)
        wanted = np.array([name in names for name in static.bodies.names], dtype=bool)
        return near_states(placed, static, _mask(placed.names, static.bodies.names, self.may_touch(scene, allow)) & wanted, cutoff)

    def outside(self, placed: Placed, lower: Array, upper: Array) -> list[tuple[int, str, float]]:
        """(state, name, how far [m]) of links and held objects that leave the box; the base is left out."""
        arm = np.array([name != self.arm.base_link for name in placed.names])
        reach = placed.bounds[:, None]
        maybe = ((placed.centers - reach < lower) | (placed.centers + reach > upper)).any(axis=2) & arm
        t, p = np.nonzero(maybe)
        if not len(t):
            return []
        centers, extents = placed.centers[t, p], placed.extents(t, p)
        over = np.maximum(lower - (centers - extents), centers + extents - upper).max(axis=1)
        return [(int(t[i]), placed.names[p[i]], float(over[i])) for i in np.flatnonzero(over > 0)]


def _numbered(names: Sequence[str]) -> tuple[list[str], Index]:
    """Different names, and the index of each one's."""
    different = list(dict.fromkeys(names))
    number = {name: index for index, name in enumerate(different)}
    return different, np.array([number[name] for name in names], dtype=np.intp)


def _table(first: Sequence[str], second: Sequence[str], skip: Pairs) -> Mask:
    return np.array([[a != b and pair(a, b) not in skip for b in second] for a in first], dtype=bool).reshape(len(first), len(second))


def _mask(moving: Sequence[str], static: Sequence[str], skip: Pairs) -> Mask:
    """(P, S): which are checked."""
    (a, i), (b, j) = _numbered(moving), _numbered(static)
    return np.asarray(_table(a, b, skip)[i][:, j])


def _pairs(names: Sequence[str], skip: Pairs) -> tuple[Index, Index]:
    """Pairs (K), (K) of moving pieces that are checked."""
    different, index = _numbered(names)
    first, second = np.nonzero(np.tril(_table(different, different, skip)[index][:, index], -1))
    return first, second


def _worst(found: NearPairs, first: Sequence[str], second: Sequence[str]) -> list[Near]:
    """One a state and pair of names."""
    worst: dict[tuple[int, str, str], float] = {}
    for states, p, s, distances in found.parts:
        for t, i, j, distance in zip(states.tolist(), p.tolist(), s.tolist(), distances.tolist(), strict=True):
            key = (t, first[i], second[j])
            worst[key] = min(worst.get(key, np.inf), distance)
    return [Near(*key, distance) for key, distance in worst.items()]
