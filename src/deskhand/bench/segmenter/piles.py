"""Random objects dropped on a random desk: boxes, cans, cups, pens, generated shapes and bodies of random families, by a seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np

from deskhand.bench.foreign.made import FAMILIES, made_parts
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, rotation_rpy
from deskhand.sim.convex import volume_of
from deskhand.sim.model_file import ModelFile, Part, save_model
from deskhand.sim.objects import add_object
from deskhand.sim.reality.file import load_reality
from deskhand.sim.reality.spec import ClutterReality, RealitySpec
from deskhand.sim.room import add_room
from deskhand.sim.shapes import SHAPES
from deskhand.sim.spec import CameraSpec, ObjectSpec, WorldSpec

Random = np.random.Generator
TIMESTEP = 0.004  # [s]
SETTLE = 300  # steps that a pile is let fall for
DENSITY = 300.0  # [kg/m^3]
PUSHED = 150  # .. of which at first all are pushed together, so that they touch side by side
PUSH = (0.0, 0.8)  # force towards the middle over the weight
MANY = 12  # objects of a pile, at most
ROWS = 0.4  # share of the piles in which sides are parallel
UPRIGHT, LYING = 0.6, 0.3  # shares of the objects that are dropped upright, and on a side; the others fall anyhow
RANGES: dict[str, tuple[tuple[float, float], tuple[float, float], tuple[float, float]]] = {
    "box": ((0.03, 0.20), (0.02, 0.16), (0.02, 0.24)),
    "block": ((0.02, 0.09), (0.02, 0.09), (0.02, 0.09)),
    "can": ((0.035, 0.11), (0.0, 0.0), (0.04, 0.20)),
    "cup": ((0.05, 0.12), (0.0, 0.0), (0.05, 0.13)),
    "ball": ((0.03, 0.10), (0.0, 0.0), (0.0, 0.0)),
    "pen": ((0.008, 0.014), (0.0, 0.0), (0.10, 0.17)),
    "marker": ((0.014, 0.024), (0.0, 0.0), (0.09, 0.15)),
    "sponge": ((0.06, 0.12), (0.03, 0.08), (0.02, 0.04)),
    "tray": ((0.12, 0.26), (0.10, 0.20), (0.02, 0.06)),
    "bin": ((0.10, 0.22), (0.10, 0.18), (0.06, 0.12)),
}
"""Extents [m] of things that people have on desks: from a pen to a carton of cereals."""
BOOK = ((0.10, 0.24), (0.08, 0.18), (0.008, 0.04))
SOURCES = ("plain", "made", "made", "shape")


@dataclass(frozen=True)
class Pile:
    """Objects at rest.

    Attributes:
        model, data: of MuJoCo.
        owners: (ngeom,) the object of each geom, from 0; -1 for desk and room.
        reality: of its table, light and sensors.
        middle: (3,) [m] of the objects.
    """

    model: mujoco.MjModel
    data: mujoco.MjData
    owners: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    reality: RealitySpec
    middle: Array


def make_pile(seed: int, folder: Path, camera: CameraSpec) -> Pile:
    """The pile of a seed; ``folder``: for the model files of its bodies; ``camera``: the largest picture that will be drawn."""
    random = np.random.default_rng([7001, seed])
    name = "mild" if random.random() < 0.5 else "hard"
    reality = load_reality(name, seed)
    assert reality is not None
    reality = replace(reality, clutter=ClutterReality())
    items = _dropped(random, folder, seed)
    side = float(random.uniform(0.8, 1.4))
    world = WorldSpec(tuple(items), camera=camera, table=(side, side), seed=seed, reality=reality)
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.integrator = TIMESTEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.visual.map.znear, spec.visual.map.zfar, spec.stat.extent = 0.02, 20.0, 1.0
    add_room(spec, world)
    for item in items:
        add_object(spec, item, reality)
    try:
        model = spec.compile()
    except ValueError as error:
        raise DeskhandError("internal_error", f"pile {seed} cannot be built: {error}") from error
    data = mujoco.MjData(model)
    bodies = {model.body(item.name).id: number for number, item in enumerate(items)}
    _settle(model, data, list(bodies), float(random.uniform(*PUSH)))
    owners = np.array([bodies.get(int(body), -1) for body in model.geom_bodyid], np.int64)
    places = data.xpos[list(bodies)]
    there = places[(np.abs(places[:, :2]) < side / 2 - 0.05).all(axis=1) & (places[:, 2] > 0)]
    middle = there.mean(axis=0) if len(there) else np.zeros(3)
    return Pile(model, data, owners, reality, np.asarray(middle))


def _settle(model: mujoco.MjModel, data: mujoco.MjData, bodies: list[int], push: float) -> None:
    """Let them fall, pushed together at first by ``push`` of their weight."""
    mujoco.mj_kinematics(model, data)
    for _ in range(PUSHED // 10):
        flat = data.xpos[bodies][:, :2]
        way = flat.mean(axis=0) - flat
        way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 0.02)
        data.xfrc_applied[bodies, :2] = push * 9.81 * model.body_mass[bodies][:, None] * way
        mujoco.mj_step(model, data, 10)
    data.xfrc_applied[:] = 0.0
    mujoco.mj_step(model, data, SETTLE - PUSHED)


def _dropped(random: Random, folder: Path, seed: int) -> list[ObjectSpec]:
    """Objects above each other where they would overlap, each within a drawn distance of the middle."""
    count, spread = int(random.integers(1, MANY + 1)), float(random.uniform(0.02, 0.16))
    rows = float(random.uniform(-np.pi, np.pi)) if random.random() < ROWS else None
    middle = random.uniform(-0.1, 0.1, 2)
    dropped: list[tuple[Array, float, float]] = []  # place, top and half width of each
    items: list[ObjectSpec] = []
    for number in range(count):
        item = _object(random, folder, f"item{number}", seed)
        rotation = _turned(random, rows)
        half = np.abs(rotation) @ np.asarray(item.size) / 2
        place, wide = middle + random.uniform(-spread, spread, 2), float(np.linalg.norm(half[:2]))
        lift = max((top + 0.003 for other, top, width in dropped if np.linalg.norm(place - other) < wide + width), default=0.001)
        items.append(replace(item, pose=make_transform(rotation, (*place, lift + float(half[2])))))
        dropped.append((place, lift + 2 * float(half[2]), wide))
    return items


def _turned(random: Random, rows: float | None) -> Array:
    """World_R_object; ``rows``: the one direction of all sides [rad]."""
    way, yaw = random.random(), float(random.uniform(-np.pi, np.pi))
    if rows is not None:
        yaw = rows + np.pi / 2 * int(random.integers(4))
    if way < UPRIGHT:
        return rotation_rpy(0.0, 0.0, yaw)
    if way < UPRIGHT + LYING:
        return rotation_rpy(0.0, 0.0, yaw) @ rotation_rpy(*(float(np.pi / 2 * turn) for turn in random.permutation([0, 1, 0])))
    return rotation_rpy(*map(float, random.uniform(-np.pi, np.pi, 3)))


def _object(random: Random, folder: Path, name: str, seed: int) -> ObjectSpec:
    """One object at the origin."""
    source = SOURCES[int(random.integers(len(SOURCES)))]
    if source == "made":
        return _made(random, folder, name, seed)
    if source == "shape":
        shape = sorted(SHAPES)[int(random.integers(len(SHAPES)))]
        scale = float(random.uniform(0.8, 2.2))
        x, y, z = (edge * scale for edge in SHAPES[shape].size)
        return _spec(random, name, "mesh", (x, y, z), shape=shape)
    kind = list(RANGES)[int(random.integers(len(RANGES)))]
    book = kind == "box" and random.random() < 0.3
    x, y, z = (float(random.uniform(*ends)) for ends in (BOOK if book else RANGES[kind]))
    if kind == "ball":
        y = z = x
    elif y == 0.0:
        y = x
    return _spec(random, name, kind, (x, y, z), wall=float(random.uniform(0.002, 0.006)))


def _made(random: Random, folder: Path, name: str, seed: int) -> ObjectSpec:
    """A body of a random family, once or twice as large as those are."""
    family = sorted(FAMILIES)[int(random.integers(len(FAMILIES)))]
    parts, hulls = made_parts(family, int(random.integers(1 << 30)))
    scale = float(random.uniform(0.8, 1.8))
    everything = np.vstack([part.vertices for part in parts])
    middle = (everything.min(axis=0) + everything.max(axis=0)) / 2
    parts = [Part((part.vertices - middle) * scale, part.faces, part.rgb, part.picture, repeat=part.repeat, uniform=part.uniform) for part in parts]
    hulls = [(hull - middle) * scale for hull in hulls]
    mass = max(0.01, DENSITY * sum(map(volume_of, hulls)))
    path = folder / f"{seed}_{name}.npz"
    model = ModelFile(tuple(parts), tuple(hulls), mass, np.eye(3)[None], np.ones(1))
    save_model(model, path)
    return ObjectSpec(name, "mesh", model.size, (0.5, 0.5, 0.5), mass, np.eye(4), mesh=path)


def _spec(random: Random, name: str, kind: str, size: tuple[float, float, float], wall: float = 0.004, shape: str = "") -> ObjectSpec:
    r, g, b = map(float, random.uniform(0.04, 0.96, 3) if random.random() < 0.6 else np.full(3, random.uniform(0.04, 0.96)))
    return ObjectSpec(name, kind, size, (r, g, b), max(0.01, DENSITY * float(np.prod(size)) * 0.7), np.eye(4), wall=wall, shape=shape)
