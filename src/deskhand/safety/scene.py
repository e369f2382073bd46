"""What is in the way of the arm: plain, immutable data that the planner and the envelope both read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from deskhand.arms.config import ArmConfig
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, check_pose, inverse, make_transform
from deskhand.types import CollisionObject, SceneUpdate, Shape

TABLE = "table"
GRIPPER = "gripper"
MAX_POINTS = 20000
LARGEST = 5.0  # [m]; anything bigger on or beside a desk is a mistake of units
PRIMITIVE_VALUES = {"box": 3, "cylinder": 2, "sphere": 1}

Pairs = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class PlanningScene:
    """Obstacles, what is held, and what may touch. Every other scene has another ``version``, so that plans are known to be of another.

    Attributes:
        obstacles: by id, without the table.
        held: moves with the tcp; its ``pose`` is tcp_T_object.
        allow: sorted pairs of names that may touch.
    """

    obstacles: dict[str, CollisionObject] = field(default_factory=dict)
    held: CollisionObject | None = None
    allow: Pairs = frozenset()
    version: int = 0

    def names(self) -> set[str]:
        """Ids of obstacles, of what is held, and the table."""
        return {*self.obstacles, TABLE} | ({self.held.id} if self.held else set())


def pair(a: str, b: str) -> tuple[str, str]:
    """The two names in a fixed order."""
    return (a, b) if a <= b else (b, a)


def expand_pairs(pairs: Iterable[tuple[str, str]], arm: ArmConfig, links: Iterable[str], scene: PlanningScene) -> Pairs:
    """Pairs with ``gripper`` spelt out as the links of the hand.

    A robot's link may never touch the table, whoever asks; a held object may (that is what putting down is).

    Raises:
        DeskhandError: ``invalid_input`` for a name that is neither link nor object, or for a link with the table.
    """
    links = set(links)
    known = scene.names() | links | {GRIPPER}
    result: set[tuple[str, str]] = set()
    for entry in pairs:
        if len(entry) != 2:
            raise DeskhandError("invalid_input", f"an allowed contact is a pair of names, got {entry!r}.")
        unknown = [name for name in entry if name not in known]
        if unknown:
            raise DeskhandError("invalid_input", f"allowed contact {tuple(entry)}: unknown {unknown}; valid: {', '.join(sorted(known))}.")
        if TABLE in entry and any(name in links | {GRIPPER} for name in entry):
            raise DeskhandError("invalid_input", f"allowed contact {tuple(entry)}: the arm itself may never touch the table.")
        sides = [arm.gripper.links if name == GRIPPER else (name,) for name in entry]
        result.update(pair(a, b) for a in sides[0] for b in sides[1])
    return frozenset(result)


def updated(scene: PlanningScene, update: SceneUpdate, world_T_tcp: Array, arm: ArmConfig, links: Sequence[str]) -> PlanningScene:
    """``scene`` after ``update``, applied as one: replace, add, remove, detach, attach, allow.

    Raises:
        DeskhandError: ``scene_error`` naming what is wrong; nothing has changed then.
    """
    reserved = {TABLE, GRIPPER, "world", "workspace", *links}
    for item in (*(update.replace or ()), *update.add):
        check_object(item, reserved)
    obstacles = dict(scene.obstacles) if update.replace is None else {item.id: item for item in update.replace}
    allow = scene.allow if update.replace is None else frozenset()
    held = scene.held
    obstacles.update({item.id: item for item in update.add})
    if held and held.id in obstacles and update.replace is None and not update.detach:
        raise DeskhandError("scene_error", f"{held.id!r} is held; it cannot be an obstacle too.", hint="Detach it first.")
    if held and not update.detach:
        obstacles.pop(held.id, None)
    for name in update.remove:
        if name not in obstacles:
            raise DeskhandError("scene_error", f"cannot remove {name!r}; obstacles: {', '.join(sorted(obstacles)) or 'none'}.")
        del obstacles[name]
    if update.detach:
        if held is None:
            raise DeskhandError("scene_error", "nothing is attached, so nothing can be detached.")
        obstacles.setdefault(held.id, replace(held, pose=world_T_tcp @ held.pose))
        held = None
    if update.attach:
        if held is not None:
            raise DeskhandError("scene_error", f"{held.id!r} is attached already.", hint="Detach it first.")
        if update.attach not in obstacles:
            raise DeskhandError("scene_error", f"cannot attach {update.attach!r}; obstacles: {', '.join(sorted(obstacles)) or 'none'}.")
        item = obstacles.pop(update.attach)
        held = replace(item, pose=inverse(world_T_tcp) @ item.pose)
    changed = PlanningScene(obstacles, held, allow, scene.version + 1)
    known = changed.names() | set(links)
    allow = frozenset(p for p in allow if set(p) <= known)
    return replace(changed, allow=allow | expand_pairs(update.allow, arm, links, changed))


def same_scene(one: PlanningScene, other: PlanningScene) -> bool:
    """Whether both say the same, whatever their versions."""
    if one.allow != other.allow or one.obstacles.keys() != other.obstacles.keys() or (one.held is None) != (other.held is None):
        return False
    pairs = [(item, other.obstacles[name]) for name, item in one.obstacles.items()]
    if one.held is not None and other.held is not None:
        pairs.append((one.held, other.held))
    return all(_same_object(*items) for items in pairs)


def _same_object(one: CollisionObject, other: CollisionObject) -> bool:
    if one is other:
        return True
    if one.id != other.id or len(one.shapes) != len(other.shapes) or not np.array_equal(one.pose, other.pose):
        return False
    return all(_same_shape(*shapes) for shapes in zip(one.shapes, other.shapes, strict=True))


def _same_shape(one: Shape, other: Shape) -> bool:
    arrays = ((one.pose, other.pose), (one.vertices, other.vertices), (one.faces, other.faces))
    return (one.kind, tuple(one.size)) == (other.kind, tuple(other.size)) and all(np.array_equal(*both) for both in arrays)


def check_object(item: CollisionObject, reserved: Iterable[str] = ()) -> None:
    """Refuse what no planner should be given.

    Raises:
        DeskhandError: ``scene_error`` naming the object and what is wrong with it.
    """
    if not item.id or item.id in set(reserved) or item.id.startswith(("keep_out:", "workspace:")):
        raise DeskhandError("scene_error", f"{item.id!r} cannot be the id of an obstacle: it is empty or reserved.")
    try:
        check_pose(item.pose, f"pose of {item.id}")
        if not item.shapes:
            raise DeskhandError("scene_error", f"{item.id!r} has no shapes.")
        for shape in item.shapes:
            _check_shape(shape, item.id)
    except DeskhandError as error:
        raise DeskhandError("scene_error", error.message, hint=error.hint) from error
    if np.abs(item.pose[:3, 3]).max() > LARGEST:
        raise DeskhandError("scene_error", f"{item.id!r} is {np.abs(item.pose[:3, 3]).max():.3g} m away; more than {LARGEST:g} m is a mistake of units.")


def _check_shape(shape: Shape, owner: str) -> None:
    check_pose(shape.pose, f"pose of a shape of {owner}")
    if np.abs(shape.pose[:3, 3]).max() > LARGEST:
        raise DeskhandError("scene_error", f"a shape of {owner!r} is more than {LARGEST:g} m from its origin.")
    size = np.asarray(shape.size, dtype=float)
    if shape.kind in PRIMITIVE_VALUES:
        if size.shape != (PRIMITIVE_VALUES[shape.kind],):
            raise DeskhandError("scene_error", f"a {shape.kind} of {owner!r} needs {PRIMITIVE_VALUES[shape.kind]} sizes, got {list(shape.size)}.")
    elif shape.kind in ("mesh", "points"):
        vertices = np.asarray(shape.vertices, dtype=float)
        if vertices.ndim != 2 or vertices.shape[1:] != (3,) or not len(vertices) or not np.isfinite(vertices).all() or np.abs(vertices).max() > LARGEST:
            raise DeskhandError("scene_error", f"the {shape.kind} of {owner!r} needs finite vertices (N, 3) within {LARGEST:g} m, got shape {vertices.shape}.")
        if shape.kind == "mesh":
            faces = np.asarray(shape.faces)
            if faces.ndim != 2 or faces.shape[1:] != (3,) or not len(faces) or faces.min() < 0 or faces.max() >= len(vertices):
                raise DeskhandError("scene_error", f"the mesh of {owner!r} needs faces (F, 3) that index its {len(vertices)} vertices.")
            return
        if size.shape != (1,):
            raise DeskhandError("scene_error", f"points of {owner!r} need one size, the voxel's edge, got {list(shape.size)}.")
    else:
        raise DeskhandError("scene_error", f"{owner!r} has a shape of kind {shape.kind!r}; valid: box, cylinder, sphere, mesh, points.")
    if not np.isfinite(size).all() or size.min() <= 1e-5 or size.max() > LARGEST:
        raise DeskhandError("scene_error", f"a {shape.kind} of {owner!r} has sizes {list(shape.size)}; valid: more than 0 and at most {LARGEST:g} m.")


def voxels(shape: Shape) -> tuple[Array, float]:
    """Centres (V, 3), in the shape's frame, and edge [m] of the cubes that stand for a ``points`` or ``mesh`` shape.

    A mesh is sampled on its surface every 2.5 mm into 5 mm cubes (larger ones when that would be more than ``MAX_POINTS``).
    """
    edge = float(shape.size[0]) if shape.kind == "points" else 0.005
    points = np.asarray(shape.vertices, dtype=float)
    if shape.kind == "mesh":
        corners = points[np.asarray(shape.faces)]
        area = float(np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()) / 2
        edge = max(edge, float(np.sqrt(area / MAX_POINTS)))
        points = _surface(corners, edge / 2)
    while True:
        cells = _different(np.floor(points / edge).astype(np.int64))
        if len(cells) <= MAX_POINTS:
            return np.asarray((cells + 0.5) * edge, dtype=float), edge
        edge *= 1.5


def _different(cells: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Each cell (N, 3) once, in the order of its indices; as numpy.unique over rows, which compares them as bytes and takes ten times as long."""
    if not len(cells):
        return cells
    low = cells.min(axis=0)
    span = cells.max(axis=0) - low + 1
    numbers = np.unique(np.ravel_multi_index((cells - low).T, span))
    return np.asarray(np.column_stack(np.unravel_index(numbers, span)) + low, dtype=np.int64)


def padded_voxels(shape: Shape, padding: float) -> tuple[Array, float]:
    """As :func:`voxels`; with a ``padding`` [m] the neighbouring cells too, which is at least that much for paddings up to an edge."""
    centers, edge = voxels(shape)
    if padding > 0:
        steps = np.array(np.meshgrid(*[[-1, 0, 1]] * 3)).reshape(3, -1).T * edge
        cells = _different(np.floor((centers[:, None] + steps).reshape(-1, 3) / edge).astype(np.int64))
        centers = np.asarray((cells + 0.5) * edge, dtype=float)
    return centers, edge


def _surface(corners: Array, spacing: float) -> Array:
    """Points (N, 3) on triangles (F, 3, 3), at most ``spacing`` apart."""
    result = []
    for a, b, c in corners:
        steps = int(np.ceil(max(np.linalg.norm(b - a), np.linalg.norm(c - a), np.linalg.norm(c - b)) / spacing)) + 1
        u, v = np.meshgrid(np.linspace(0, 1, steps + 1), np.linspace(0, 1, steps + 1))
        inside = u + v <= 1 + 1e-9
        result.append(a + u[inside][:, None] * (b - a) + v[inside][:, None] * (c - a))
    return np.concatenate(result)


def table_object() -> CollisionObject:
    """The desk: everything below z = 0, wider than any arm reaches."""
    return CollisionObject(TABLE, (Shape("box", (4.0, 4.0, 0.2)),), make_transform(translation=[0, 0, -0.1]))
