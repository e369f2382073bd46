"""Stains on the table: paint in cells, each with a spot; a spot is gone when the underside of what the fingers hold passes over it."""

from __future__ import annotations

import mujoco
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.sim.spec import StainSpec

WIPED = 0.003  # [m] above the table up to which an underside takes a spot away
PAINT = 0.0005  # [m] above the table: over the plane that carries its grain
EVERY = 4  # time steps between two looks at what is wiped
BELOW = 0.005  # [m] below the table's top from where undersides are looked for


def cells_of(item: StainSpec) -> list[Array]:
    """The stain cut into about ``spots`` pieces of its area: corners (M, 2) [m, world] of each, counter-clockwise.

    Raises:
        DeskhandError: ``invalid_input`` when the outline is not convex.
    """
    outline = _counter_clockwise(item)
    edges = np.roll(outline, -1, axis=0) - outline
    along = edges[np.argmax(np.linalg.norm(edges, axis=1))]
    along = along / np.linalg.norm(along)
    turn = np.array([along, [-along[1], along[0]]])
    flat = outline @ turn.T
    low, high = flat.min(axis=0), flat.max(axis=0)
    edge = np.sqrt(_area(outline) / item.spots)
    columns, rows = (max(1, round(float(extent) / edge)) for extent in high - low)
    xs, ys = np.linspace(low[0], high[0], columns + 1), np.linspace(low[1], high[1], rows + 1)
    pieces = [_clipped(flat, (xs[i], ys[j]), (xs[i + 1], ys[j + 1])) for i in range(columns) for j in range(rows)]
    return [piece @ turn for piece in pieces if len(piece) >= 3 and _area(piece) > 1e-8]


def _area(corners: Array) -> float:
    x, y = corners[:, 0], corners[:, 1]
    return abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))) / 2


def _counter_clockwise(item: StainSpec) -> Array:
    outline = np.asarray(item.outline, dtype=float)
    edges = np.roll(outline, -1, axis=0) - outline
    turns = edges[:, 0] * np.roll(edges, -1, axis=0)[:, 1] - edges[:, 1] * np.roll(edges, -1, axis=0)[:, 0]
    if len(outline) < 3 or not (np.all(turns > 1e-9) or np.all(turns < -1e-9)):
        raise DeskhandError("invalid_input", f"the outline of {item.name!r} must be convex, of three corners at least, and none of them on a straight line.")
    return outline if turns[0] > 0 else outline[::-1]


def _clipped(corners: Array, low: tuple[float, float], high: tuple[float, float]) -> Array:
    """What of a convex polygon lies in a rectangle (Sutherland and Hodgman, 1974)."""
    for axis in (0, 1):
        for bound, sign in ((low[axis], 1.0), (high[axis], -1.0)):
            inside = sign * (corners[:, axis] - bound)
            kept: list[Array] = []
            for k in range(len(corners)):
                after = (k + 1) % len(corners)
                if inside[k] >= 0:
                    kept.append(corners[k])
                if inside[k] * inside[after] < 0:
                    kept.append(corners[k] + (corners[after] - corners[k]) * inside[k] / (inside[k] - inside[after]))
            if len(kept) < 3:
                return np.zeros((0, 2))
            corners = np.array(kept)
    return corners


def add_stain(spec: mujoco.MjSpec, item: StainSpec) -> None:
    """Paint it on the table; nothing touches it.

    Raises:
        DeskhandError: ``invalid_input`` when its outline is not convex.
    """
    for number, cell in enumerate(cells_of(item)):
        name = _spot(item, number)
        corners = np.vstack([np.column_stack([cell, np.full(len(cell), z)]) for z in (PAINT / 2, PAINT)])
        spec.add_mesh(name=name, uservert=corners.ravel(), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        paint = {"rgba": [*item.rgb, 1], "contype": 0, "conaffinity": 0, "mass": 0, "group": 1}
        spec.worldbody.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, **paint)


def _spot(item: StainSpec, number: int) -> str:
    return f"{item.name}/spot{number}"


class Wiping:
    """What is left of the stains of a model, and how it goes."""

    def __init__(self, model: mujoco.MjModel, stains: tuple[StainSpec, ...]) -> None:
        """``model``: with the stains added."""
        cells = [(item.name, number, cell) for item in stains for number, cell in enumerate(cells_of(item))]
        items = {item.name: item for item in stains}
        self._model, self._names = model, [name for name, _, _ in cells]
        self._geoms = np.array([model.geom(_spot(items[name], number)).id for name, number, _ in cells], dtype=int)
        self._centres = np.array([cell.mean(axis=0) for _, _, cell in cells]).reshape(-1, 2)
        self._areas = np.array([_area(cell) for _, _, cell in cells])
        self._steps = 0

    def left(self) -> dict[str, float]:
        """Of each stain the share of its area that is still there."""
        there = self._there()
        names = np.array(self._names)
        return {name: float(self._areas[(names == name) & there].sum() / self._areas[names == name].sum()) for name in dict.fromkeys(self._names)}

    def step(self, data: mujoco.MjData, held: set[int]) -> None:
        """Take away what lies under the bodies ``held``, whose underside is nearer than ``WIPED``."""
        near = self._there() & np.any([self._below(data, body) for body in held], axis=0) if held else np.zeros(len(self._geoms), bool)
        geom = np.zeros(1, np.int32)
        for spot in np.flatnonzero(near):
            start = np.array([*self._centres[spot], -BELOW])
            away = mujoco.mj_ray(self._model, data, start, np.array([0.0, 0.0, 1.0]), None, False, -1, geom)
            if 0 <= away <= BELOW + WIPED and int(self._model.geom_bodyid[geom[0]]) in held:
                self._model.geom_rgba[self._geoms[spot], 3] = 0.0

    def due(self) -> bool:
        """Whether it is time to look at what is wiped, called once a time step."""
        self._steps += 1
        return self._steps % EVERY == 0 and bool(self._there().any())

    def _there(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        return np.asarray(self._model.geom_rgba[self._geoms, 3] > 0)

    def _below(self, data: mujoco.MjData, body: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Which spots may lie under a body, by the sphere around it."""
        geoms = np.flatnonzero(self._model.geom_bodyid == body)
        centre, radius = data.geom_xpos[geoms], self._model.geom_rbound[geoms]
        apart = np.linalg.norm(self._centres[:, None] - centre[None, :, :2], axis=2)
        return np.asarray(np.any((apart <= radius) & (centre[:, 2] <= radius + WIPED), axis=1))
