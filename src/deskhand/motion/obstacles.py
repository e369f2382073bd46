"""Obstacles of the planning scene from what perception saw."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np
from scipy.ndimage import distance_transform_edt
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from deskhand.geometry import Array, cylinder_axis, inverse, make_transform, rotation_about, transform_points
from deskhand.types import CollisionObject, Scene, SceneObject, Shape

MIN_SIZE = 0.004  # [m]; perception's thinnest believable extent
MIN_WALL = 0.003  # [m]
LARGE = 0.12  # [m] of its longer side from which on the arm has to reach over a part of an object, or into it
CELLS = 6  # of the longer side, in which its heights are told apart
FILLED = 0.8  # height of the lowest of these as a share of its box, below which the arm has room in that
ALIKE = 0.01  # [m] that heights of neighbouring cells may differ in one box
UPRIGHT = 0.98  # cosine of its lean from which on its heights are along its own axis
FEW = 60  # points of its cloud that are needed to tell
PROUD = 0.012  # [m] that points must lie outside a container's walls to be of what sticks out, as a handle does
HANDLE = 8  # points of one
FACE = 0.07  # [m] from the side of its box within which the side of a large object is looked for ..
LEVEL = 0.004  # [m] .. in steps ..
SPOT = 0.01  # [m] .. by cells of it that are seen
SIDE = 0.004  # [m2] of them that make one


def obstacles_from_scene(scene: Scene, leave_out: Collection[str] = ()) -> tuple[CollisionObject, ...]:
    """One obstacle an object: containers hollow (walls and a floor), the rest solid; what the gripper holds is left out.

    The table is not among them: the planning scene has it always.
    """
    return tuple(obstacle_from_object(item) for item in scene.objects if item.id not in leave_out and item.relation != "held")


def obstacle_from_object(item: SceneObject) -> CollisionObject:
    """The collision object of one seen object, in its own frame at its pose."""
    size = np.maximum(np.asarray(item.size, dtype=float), MIN_SIZE)
    if item.is_container:
        return CollisionObject(item.id, (*_hollow(item, size), *_sticking_out(item, size)), item.pose)
    if item.shape == "cylinder":
        axis = cylinder_axis(size)
        across = np.delete(size, axis)
        turn = np.eye(3) if axis == 2 else np.roll(np.eye(3), axis + 1, axis=0)  # z of the primitive to the axis of a lying one
        return CollisionObject(item.id, (Shape("cylinder", (float(across.max()) / 2, float(size[axis])), make_transform(turn)),), item.pose)
    if item.shape == "sphere":
        return CollisionObject(item.id, (Shape("sphere", (float(size.max()) / 2,)),), item.pose)
    core, proud = _core(item, size)
    body = _columns(core, np.asarray(core.size, dtype=float)) or (Shape("box", tuple(map(float, core.size))),)
    if core is not item:
        off = inverse(item.pose) @ core.pose
        body = tuple(replace(shape, pose=off @ shape.pose) for shape in body)
    return CollisionObject(item.id, (*body, *proud), item.pose)


def _core(item: SceneObject, size: Array) -> tuple[SceneObject, tuple[Shape, ...]]:
    """A large object without what sticks out of its sides, as handles do, and a box about each of those: above and below them the way is free."""
    same = item if np.array_equal(size, item.size) else replace(item, size=size)
    if abs(float(item.pose[2, 2])) < UPRIGHT or float(size[:2].max()) < LARGE or len(item.points) < FEW:
        return same, ()
    local = transform_points(inverse(item.pose), np.asarray(item.points, dtype=float))
    low, high, proud = -size / 2, size / 2, np.zeros(len(local), bool)
    for axis in (0, 1):
        for sign, edge in ((-1.0, low), (1.0, high)):
            face = _face(sign * local[:, axis], np.delete(local, axis, axis=1), size[axis] / 2)
            if MIN_SIZE / 2 < face < size[axis] / 2 - PROUD:
                edge[axis] = sign * face
                proud |= sign * local[:, axis] > face + PROUD / 2
    if not proud.any():
        return same, ()
    pose = item.pose @ make_transform(translation=(low + high) / 2)
    return replace(item, size=high - low, pose=pose, points=item.points[~proud]), tuple(_boxes(local[proud]))


def _face(out: Array, flat: Array, half: float) -> float:
    """How far out [m] a side is, by the outermost level at which much of it is seen; ``half`` [m], that of the box, where none is seen near that."""
    near = out > half - FACE
    steps = np.floor((half - out[near]) / LEVEL).astype(int)
    cells = np.round(flat[near] / SPOT).astype(int)
    areas = [len(np.unique(cells[np.abs(steps - step) <= 1], axis=0)) for step in range(int(FACE / LEVEL))]
    large = [step for step, area in enumerate(areas) if area * SPOT**2 > SIDE and area > 0.4 * max(areas)]
    if not large or large[0] == 0:
        return half
    return half - (max(range(large[0], min(large[0] + 4, len(areas))), key=areas.__getitem__) + 0.5) * LEVEL


def _boxes(points: Array) -> Iterator[Shape]:
    """A box about each cluster of points (N, 3)."""
    count, labels = connected_components(cKDTree(points).sparse_distance_matrix(cKDTree(points), 2 * PROUD))
    for number in range(count):
        own = points[labels == number]
        if len(own) >= HANDLE:
            low, high = own.min(axis=0), own.max(axis=0)
            yield Shape("box", tuple(map(float, np.maximum(high - low, MIN_SIZE))), make_transform(translation=(low + high) / 2))


def _columns(item: SceneObject, size: Array) -> tuple[Shape, ...]:
    """Boxes up to what is seen of a large object that fills its box badly, as a rack or a hob with a knob does; of cells where nothing is seen the height is
    that of the nearest. None where the box will do.
    """
    upright = abs(float(item.pose[2, 2])) > UPRIGHT
    if not upright or float(size[:2].max()) < LARGE or len(item.points) < FEW:
        return ()
    local = transform_points(inverse(item.pose), np.asarray(item.points, dtype=float)) * [1.0, 1.0, np.sign(item.pose[2, 2])] + size / 2
    count = np.maximum(np.round(size[:2] / size[:2].max() * CELLS).astype(int), 1)
    edges = size[:2] / count
    index = np.clip(np.floor(local[:, :2] / edges).astype(int), 0, count - 1)
    heights = np.full(tuple(count), -1.0)
    np.maximum.at(heights, (index[:, 0], index[:, 1]), np.clip(local[:, 2], MIN_SIZE, size[2]))
    nearest = distance_transform_edt(heights < 0, sampling=edges, return_distances=False, return_indices=True)
    heights = heights[tuple(nearest)]
    if heights.min() > FILLED * size[2]:
        return ()
    shapes = []
    for rows, columns, high in _rectangles(heights):
        low, far = np.array([rows.start, columns.start]) * edges, np.array([rows.stop, columns.stop]) * edges
        middle = np.sign(item.pose[2, 2]) * (high - size[2]) / 2
        shapes.append(Shape("box", (*map(float, far - low), high), make_transform(translation=[*((low + far - size[:2]) / 2), middle])))
    return tuple(shapes)


def _rectangles(heights: Array) -> Iterator[tuple[slice, slice, float]]:
    """Rectangles of cells that are about as high, which together cover all of ``heights`` (R, C), and the height of the highest in each [m]: fewer boxes are
    checked sooner.
    """
    left = np.ones(heights.shape, bool)
    for row, column in np.ndindex(heights.shape):
        if not left[row, column]:
            continue

        def alike(rows: slice, columns: slice, own: float = float(heights[row, column])) -> bool:
            part = heights[rows, columns]
            return bool(left[rows, columns].all() and (np.abs(part - own) < ALIKE).all())

        end, bottom = column + 1, row + 1
        while end < heights.shape[1] and alike(slice(row, bottom), slice(end, end + 1)):
            end += 1
        while bottom < heights.shape[0] and alike(slice(bottom, bottom + 1), slice(column, end)):
            bottom += 1
        rows, columns = slice(row, bottom), slice(column, end)
        left[rows, columns] = False
        yield rows, columns, float(heights[rows, columns].max())


def _sticking_out(item: SceneObject, size: Array) -> tuple[Shape, ...]:
    """A box about what is seen to stick out of each side of a container with flat walls: the handle of a drawer."""
    if item.shape == "cylinder" or not len(item.points):
        return ()
    local = transform_points(inverse(item.pose), np.asarray(item.points, dtype=float))
    shapes = []
    for axis in (0, 1):
        for sign in (-1.0, 1.0):
            own = local[sign * local[:, axis] > size[axis] / 2 + PROUD]
            if len(own) >= HANDLE:
                low, high = own.min(axis=0), own.max(axis=0)
                low[axis], high[axis] = min(low[axis], sign * size[axis] / 2), max(high[axis], sign * size[axis] / 2)
                shapes.append(Shape("box", tuple(map(float, np.maximum(high - low, MIN_SIZE))), make_transform(translation=(low + high) / 2)))
    return tuple(shapes)


def _hollow(item: SceneObject, size: Array) -> tuple[Shape, ...]:
    """Walls and floor: four boxes for a box, twelve about the rim for a round one; open towards +z of the pose."""
    x, y, z = map(float, size)
    wall = max(float(item.wall), MIN_WALL)
    floor = Shape("box", (x, y, wall), make_transform(translation=[0, 0, -z / 2 + wall / 2]))
    if item.shape != "cylinder":
        return (
            floor,
            *(Shape("box", (wall, y, z), make_transform(translation=[side * (x - wall) / 2, 0, 0])) for side in (-1, 1)),
            *(Shape("box", (x, wall, z), make_transform(translation=[0, side * (y - wall) / 2, 0])) for side in (-1, 1)),
        )
    radius, count = max(x, y) / 2, 12
    floor = Shape("cylinder", (radius, wall), floor.pose)
    # Staves whose inner faces touch the inner circle; their outer edges overlap, so the ring has no gap.
    length = 2 * radius * float(np.tan(np.pi / count))
    staves = []
    for angle in np.arange(count) * 2 * np.pi / count:
        c, s = float(np.cos(angle)), float(np.sin(angle))
        pose = make_transform(rotation_about((0, 0, 1), float(angle)), [(radius - wall / 2) * c, (radius - wall / 2) * s, 0])
        staves.append(Shape("box", (wall, length, z), pose))
    return (floor, *staves)
