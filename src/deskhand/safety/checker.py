"""Which parts of the arm and of what it holds come how close to what, over many states at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.motion.scene import TABLE, Pairs, PlanningScene, pair, table_object
from deskhand.safety.bodies import Pieces, concatenate, pieces_of, separation
from deskhand.types import CollisionObject

Index = npt.NDArray[np.intp]
DENSE = 300  # more static pieces than this (point clouds) are looked up in a tree
FAR = 0.1  # [m]; clearances are not told apart beyond
BATCH = 2_000_000  # bounds computed at once


@dataclass(frozen=True)
class Bodies:
    """Pieces with the name of the link or object that each belongs to."""

    names: tuple[str, ...]
    pieces: Pieces


@dataclass(frozen=True)
class Near:
    """Pairs that are nearer than the cutoff: state index, names, signed distance [m] (negative: depth)."""

    state: int
    a: str
    b: str
    distance: float


class CollisionChecker:
    """Distances of an arm to a planning scene and to itself. Holds no state but the arm's shapes."""

    def __init__(self, model: RobotModel) -> None:
        self.model = model
        self.arm = model.arm
        links = [link for link in model.links if link in model.shapes]
        parts = {link: pieces_of(model.shapes[link]) for link in links}
        self.robot = Bodies(tuple(link for link in links for _ in range(len(parts[link]))), concatenate([parts[link] for link in links]))
        adjacent = {frozenset((joint.parent, joint.child)) for joint in model.joints.values()}
        self.no_check = frozenset(pair(*p) for p in (adjacent | set(model.allowed_collisions())) if len(p) == 2)

    def static(self, scene: PlanningScene, extra: Iterable[CollisionObject] = ()) -> Bodies:
        """Everything that stands still: table, obstacles, ``extra`` (keep-out zones), in ``world``."""
        items = [table_object(), *scene.obstacles.values(), *extra]
        parts = [pieces_of(item.shapes).moved(item.pose) for item in items]
        return Bodies(tuple(item.id for item, part in zip(items, parts, strict=True) for _ in range(len(part))), concatenate(parts))

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

    def near(
        self, poses: dict[str, Array], scene: PlanningScene, allow: Pairs = frozenset(), extra: tuple[CollisionObject, ...] = (), cutoff: float = 0.005
    ) -> list[Near]:
        """Everything nearer than ``cutoff`` [m], the worst of each pair of names at each state. ``poses``: world_T_link (T, 4, 4)."""
        placed = _Placed(*self.moving(scene), poses)
        static = self.static(scene, extra)
        skip = self.may_touch(scene, allow)
        found = _against(placed, static, _mask(placed.names, static.names, skip), cutoff)
        found.extend(_among(placed, skip, cutoff))
        return found

    def clearance(self, poses: dict[str, Array], scene: PlanningScene, allow: Pairs = frozenset(), extra: tuple[CollisionObject, ...] = ()) -> float:
        """Smallest signed distance [m] of the arm and what it holds to the scene (not to itself); at most 0.1."""
        placed = _Placed(*self.moving(scene), poses)
        static = self.static(scene, extra)
        mask = _mask(placed.names, static.names, self.may_touch(scene, allow))
        best = FAR
        for t, p, s, low in _candidates(placed, static, mask, best):
            order = np.argsort(low)
            for start in range(0, len(order), 256):
                part = order[start : start + 256]
                if low[part[0]] >= best:
                    break
                best = min(best, float(placed.separation(t[part], p[part], static.pieces, s[part]).min()))
        return best

    def outside(self, poses: dict[str, Array], scene: PlanningScene, lower: Array, upper: Array) -> list[tuple[int, str, float]]:
        """(state, name, how far [m]) of links and held objects that leave the box; the base is left out."""
        placed = _Placed(*self.moving(scene), poses)
        result: list[tuple[int, str, float]] = []
        for index, name in enumerate(placed.names):
            if name == self.arm.base_link:
                continue
            reach = placed.extents(index)
            over = np.maximum(lower - (placed.centers[:, index] - reach), placed.centers[:, index] + reach - upper).max(axis=1)
            result.extend((int(t), name, float(over[t])) for t in np.flatnonzero(over > 0))
        return result


class _Placed:
    """Moving pieces at T states: centres (T, P, 3) and rotations (T, P, 3, 3)."""

    def __init__(self, bodies: Bodies, frames: tuple[str, ...], poses: dict[str, Array]) -> None:
        self.names, self.pieces = bodies.names, bodies.pieces
        matrices = np.stack([poses[frame] for frame in frames], axis=1)
        self.rotations = matrices[:, :, :3, :3]
        self.centers = np.einsum("tpij,pj->tpi", self.rotations, self.pieces.centers) + matrices[:, :, :3, 3]

    def generators(self, t: Index, p: Index) -> Array:
        """(M, K, 3) in ``world``."""
        return np.asarray(self.pieces.generators[p] @ np.swapaxes(self.rotations[t, p], 1, 2))

    def extents(self, index: int) -> Array:
        """Half sizes (T, 3) of the axis-aligned box about one piece at every state."""
        turned = self.pieces.generators[index] @ np.swapaxes(self.rotations[:, index], 1, 2)
        return np.asarray(np.abs(turned).sum(axis=1) + self.pieces.radii[index])

    def separation(self, t: Index, p: Index, other: Pieces, s: Index) -> Array:
        """Signed distances (M,) to static pieces."""
        generators = np.concatenate([self.generators(t, p), other.generators[s]], axis=1)
        return separation(self.centers[t, p] - other.centers[s], generators, self.pieces.radii[p] + other.radii[s])


def _mask(moving: tuple[str, ...], static: tuple[str, ...], skip: Pairs) -> npt.NDArray[np.bool_]:
    """(P, S): which are checked."""
    checked = {(a, b): pair(a, b) not in skip for a in set(moving) for b in set(static)}
    return np.array([[checked[a, b] for b in static] for a in moving], dtype=bool).reshape(len(moving), len(static))


def _candidates(placed: _Placed, static: Bodies, mask: npt.NDArray[np.bool_], cutoff: float) -> Iterable[tuple[Index, Index, Index, Array]]:
    """State, moving and static indices and lower bounds of the distance, of those whose bound is below ``cutoff``."""
    states, count = placed.centers.shape[:2]
    bounds = placed.pieces.bounds
    if len(static.names) > DENSE:
        yield from _tree_candidates(placed, static, mask, min(cutoff, 0.05))
        return
    step = max(1, BATCH // max(1, count * len(static.names)))
    for start in range(0, states, step):
        # Balls first, by one matrix product; then the box around the static piece against the ball of the moving one.
        centers = placed.centers[start : start + step].reshape(-1, 3)
        reach = np.tile(bounds, len(centers) // count)[:, None] + static.pieces.bounds + cutoff
        squares = (centers**2).sum(axis=1)[:, None] + (static.pieces.centers**2).sum(axis=1) - 2 * centers @ static.pieces.centers.T
        row, s = np.nonzero((squares < np.maximum(reach, 0) ** 2) & np.tile(mask, (len(centers) // count, 1)))
        t, p = row // count + start, row % count
        low = _outside_box(placed.centers[t, p] - static.pieces.centers[s], static.pieces.frames[s], static.pieces.halves[s])
        low -= static.pieces.radii[s] + bounds[p]
        near = low < cutoff
        yield t[near], p[near], s[near], low[near]


def _tree_candidates(placed: _Placed, static: Bodies, mask: npt.NDArray[np.bool_], cutoff: float) -> Iterable[tuple[Index, Index, Index, Array]]:
    """As :func:`_candidates` for many static pieces: small ones from a tree, the few large ones densely."""
    sizes = static.pieces.bounds
    small = sizes <= 2 * float(np.median(sizes))
    large = np.flatnonzero(~small)
    chosen = np.flatnonzero(small)
    if len(large) and len(large) <= DENSE:
        part = Bodies(tuple(static.names[i] for i in large), _take(static.pieces, large))
        for t, p, s, low in _candidates(placed, part, mask[:, large], cutoff):
            yield t, p, large[s], low
    else:
        chosen = np.arange(len(sizes))
    tree = cKDTree(static.pieces.centers[chosen])
    reach = float(sizes[chosen].max())
    for index in range(placed.centers.shape[1]):
        radius = placed.pieces.bounds[index] + reach + cutoff
        hits = tree.query_ball_point(placed.centers[:, index], radius)
        t = np.repeat(np.arange(len(hits)), [len(hit) for hit in hits])
        if not len(t):
            continue
        s = chosen[np.concatenate([np.asarray(hit, dtype=np.intp) for hit in hits])]
        keep = mask[index, s]
        t, s = t[keep], s[keep]
        frames = (placed.rotations[:, index] @ placed.pieces.frames[index])[t]
        low = _outside_box(static.pieces.centers[s] - placed.centers[t, index], frames, placed.pieces.halves[index])
        low -= placed.pieces.radii[index] + sizes[s]
        near = low < cutoff
        yield t[near], np.full(int(near.sum()), index), s[near], low[near]


def _outside_box(offsets: Array, frames: Array, halves: Array) -> Array:
    """Distances (M,) of points, given from the centres of boxes with axes ``frames`` (M, 3, 3), to those boxes; 0 inside."""
    local = np.abs((offsets[:, None, :] @ frames)[:, 0])
    return np.asarray(np.sqrt((np.maximum(local - halves, 0) ** 2).sum(axis=1)))


def _take(pieces: Pieces, index: Index) -> Pieces:
    return Pieces(pieces.centers[index], pieces.generators[index], pieces.radii[index], pieces.frames[index], pieces.halves[index])


def _against(placed: _Placed, static: Bodies, mask: npt.NDArray[np.bool_], cutoff: float) -> list[Near]:
    worst: dict[tuple[int, str, str], float] = {}
    for t, p, s, _ in _candidates(placed, static, mask, cutoff):
        if not len(t):
            continue
        distances = placed.separation(t, p, static.pieces, s)
        for i in np.flatnonzero(distances < cutoff):
            key = (int(t[i]), placed.names[p[i]], static.names[s[i]])
            worst[key] = min(worst.get(key, np.inf), float(distances[i]))
    return [Near(*key, distance) for key, distance in worst.items()]


def _among(placed: _Placed, skip: Pairs, cutoff: float) -> list[Near]:
    """The arm with itself and with what it holds."""
    names = placed.names
    pairs = [(i, j) for i in range(len(names)) for j in range(i) if names[i] != names[j] and pair(names[i], names[j]) not in skip]
    if not pairs:
        return []
    first, second = np.array(pairs).T
    bounds = placed.pieces.bounds
    offsets = placed.centers[:, first] - placed.centers[:, second]
    t, k = np.nonzero((offsets**2).sum(axis=2) < np.maximum(bounds[first] + bounds[second] + cutoff, 0) ** 2)
    for one, other in ((first, second), (second, first)):
        frames = placed.rotations[t, one[k]] @ placed.pieces.frames[one[k]]
        low = _outside_box(offsets[t, k], frames, placed.pieces.halves[one[k]]) - placed.pieces.radii[one[k]] - bounds[other[k]]
        t, k = t[low < cutoff], k[low < cutoff]
    if not len(t):
        return []
    a, b = first[k], second[k]
    generators = np.concatenate([placed.generators(t, a), placed.generators(t, b)], axis=1)
    distances = separation(placed.centers[t, a] - placed.centers[t, b], generators, placed.pieces.radii[a] + placed.pieces.radii[b])
    worst: dict[tuple[int, str, str], float] = {}
    for i in np.flatnonzero(distances < cutoff):
        key = (int(t[i]), *pair(names[a[i]], names[b[i]]))
        worst[key] = min(worst.get(key, np.inf), float(distances[i]))
    return [Near(*key, distance) for key, distance in worst.items()]
