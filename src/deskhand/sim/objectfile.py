"""One object of a scene file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, matrix_from_quaternion, quaternion_from_matrix, rotation_rpy
from deskhand.sim.convex import volume_of
from deskhand.sim.fields import Field
from deskhand.sim.model_file import SUFFIX, load_model
from deskhand.sim.shapes import KNOWN, shape_pieces
from deskhand.sim.spec import CONTAINER_KINDS, KINDS, ObjectSpec
from deskhand.types.meshes import load_mesh

KEYS = ("name", "kind", "mesh", "shape", "size", "color", "colour", "mass", "pose", "wall")
POSE_KEYS = ("x", "y", "z", "yaw", "yaw_deg", "roll", "pitch", "position", "rpy", "quaternion")
LYING = ("pen", "marker")  # laid down unless their pose says how they are turned
ROUND = ("can", "cup", *LYING)
DROP = 0.001  # [m] above the desk at the start
HOLLOW = ("cup", *CONTAINER_KINDS)

SIZES: dict[str, tuple[float, float, float]] = {  # [m]
    "block": (0.035, 0.035, 0.035),
    "ball": (0.04, 0.04, 0.04),
    "cup": (0.042, 0.042, 0.055),
    "can": (0.038, 0.038, 0.065),
    "pen": (0.011, 0.011, 0.14),
    "marker": (0.018, 0.018, 0.12),
    "box": (0.06, 0.032, 0.045),
    "eraser": (0.045, 0.022, 0.014),
    "sponge": (0.075, 0.038, 0.026),
    "bin": (0.17, 0.15, 0.09),
    "tray": (0.20, 0.15, 0.04),
    "box_open": (0.16, 0.16, 0.06),
}
DENSITIES: dict[str, float] = {  # [kg/m^3] of the material, for the hollow kinds of their walls
    "block": 700,
    "ball": 400,
    "cup": 1000,
    "can": 400,
    "pen": 900,
    "marker": 800,
    "box": 250,
    "eraser": 1200,
    "sponge": 80,
    "bin": 1100,
    "tray": 1100,
    "box_open": 1100,
    "mesh": 500,
}
WALLS: dict[str, float] = {"cup": 0.0025}
COLORS: dict[str, tuple[float, float, float]] = {
    "red": (0.78, 0.10, 0.10),
    "green": (0.12, 0.55, 0.20),
    "blue": (0.10, 0.28, 0.75),
    "yellow": (0.93, 0.80, 0.12),
    "orange": (0.93, 0.45, 0.08),
    "purple": (0.47, 0.18, 0.62),
    "pink": (0.93, 0.45, 0.65),
    "brown": (0.40, 0.24, 0.13),
    "black": (0.07, 0.07, 0.08),
    "white": (0.93, 0.93, 0.93),
    "grey": (0.50, 0.50, 0.51),
    "gray": (0.50, 0.50, 0.51),
    "cyan": (0.10, 0.70, 0.75),
    "teal": (0.05, 0.48, 0.48),
    "beige": (0.85, 0.78, 0.62),
}


def object_from(field: Field, before: Sequence[ObjectSpec], folder: Path) -> ObjectSpec:
    """The object that ``field`` says; ``before`` are those read already, whose names are taken.

    Raises:
        DeskhandError: ``scene_file_error``, naming the field.
    """
    field.mapping(KEYS)
    mesh = _mesh_path(field.get("mesh"), folder)
    shape = _shape(field.get("shape"))
    kind = field.get("kind").text("mesh" if mesh or shape else None)
    if kind not in KINDS:
        raise field.get("kind").error(f"there is no kind {kind!r}; valid: {', '.join(KINDS)}")
    if (kind == "mesh") != (mesh is not None or bool(shape)) or (mesh is not None and shape):
        raise field.get("mesh").error("give a mesh file or a shape with kind mesh, and with no other kind")
    names = [item.name for item in before]
    count = sum(name.startswith(f"{kind}_") for name in names) + 1
    name = field.get("name").text(f"{kind}_{count}")
    if name in names:
        raise field.get("name").error(f"{name!r} is used twice")
    size = _mesh_size(field.get("size"), mesh) if mesh else _shape_size(field.get("size"), shape) if shape else _size(field.get("size"), kind)
    wall = field.get("wall").number(WALLS.get(kind, 0.004), low=0.001, high=0.05)
    if (kind in HOLLOW and 2 * wall >= min(size[0], size[1]) * 0.8) or (kind in HOLLOW and wall >= size[2]):
        raise field.get("wall").error(f"{wall:g} m is too thick for a {kind} of {' x '.join(f'{edge:g}' for edge in size)} m")
    mass = field.get("mass").number(_mass(kind, size, wall, shape), low=0.0005, high=10)
    return ObjectSpec(name, kind, size, color_from(field), mass, _pose(field.get("pose"), kind, size), wall, mesh, shape)


def object_to_dict(item: ObjectSpec) -> dict[str, Any]:
    """Plain data that :func:`object_from` turns into the same object."""
    pose = {"position": item.pose[:3, 3].tolist(), "quaternion": quaternion_from_matrix(item.pose).tolist()}
    data: dict[str, Any] = {"name": item.name, "kind": item.kind, "size": list(item.size), "color": list(item.rgb), "mass": item.mass, "pose": pose}
    if item.kind in HOLLOW:
        data["wall"] = item.wall
    if item.mesh is not None:
        data["mesh"] = str(item.mesh)
    if item.shape:
        data["shape"] = item.shape
    return data


def _size(field: Field, kind: str) -> tuple[float, float, float]:
    """One number: every edge, or the diameter of a ball; two: diameter and height of a round object; three: x, y, z."""
    if field.absent:
        return SIZES[kind]
    if not isinstance(field.value, list):
        edge = field.number(None, low=0.003, high=1.0)
        if kind in ROUND or kind in CONTAINER_KINDS:
            raise field.error("must be [diameter, height]" if kind in ROUND else "must be [x, y, z]")
        return (edge, edge, edge)
    values = field.numbers((2, 3) if kind in ROUND else (3,), low=0.003, high=1.0)
    if len(values) == 2:
        return (values[0], values[0], values[1])
    if (kind in ROUND or kind == "ball") and len(set(values[: 3 if kind == "ball" else 2])) > 1:
        raise field.error(f"a {kind} is round: its {'edges' if kind == 'ball' else 'first two edges'} must be equal")
    return (values[0], values[1], values[2])


def _mesh_path(field: Field, folder: Path) -> Path | None:
    if field.absent:
        return None
    path = Path(field.text())
    path = path if path.is_absolute() else folder / path
    if not path.is_file():
        raise field.error(f"there is no file {path}")
    return path.resolve()


def _shape(field: Field) -> str:
    shape = field.text("")
    if shape and shape not in KNOWN:
        raise field.error(f"there is no shape {shape!r}; valid: {', '.join(sorted(KNOWN))}")
    return shape


def _shape_size(field: Field, shape: str) -> tuple[float, float, float]:
    """One number: the longest edge, the others follow; none: the usual size."""
    usual = KNOWN[shape].size
    if isinstance(field.value, list):
        x, y, z = field.numbers((3,), low=0.003, high=1.0)
    else:
        scale = field.number(max(usual), low=0.003, high=1.0) / max(usual)
        x, y, z = (edge * scale for edge in usual)
    try:
        shape_pieces(shape, (x, y, z))
    except DeskhandError as error:
        raise field.error(error.message.rstrip(".")) from error
    return (x, y, z)


def _mesh_size(field: Field, mesh: Path) -> tuple[float, float, float]:
    """One number: the longest edge, the others follow; none: the file is in metres."""
    try:
        vertices = load_model(mesh).vertices if mesh.suffix == SUFFIX else load_mesh(mesh)[0]
    except DeskhandError as error:
        raise field.error(error.message.rstrip(".")) from error
    extent = np.ptp(vertices, axis=0)
    if np.any(extent <= 0):
        raise field.error(f"the mesh {mesh.name} is flat: its extents are {extent.tolist()}")
    if isinstance(field.value, list):
        x, y, z = field.numbers((3,), low=0.003, high=1.0)
        return (x, y, z)
    longest = float(extent.max())
    if field.absent and not 0.003 <= longest <= 1.0:
        raise field.error(f"the mesh {mesh.name} is {longest:g} long, which are no metres; give its size [m]")
    scale = field.number(longest, low=0.003, high=1.0) / longest
    x, y, z = (float(edge) for edge in extent * scale)
    return (x, y, z)


def _mass(kind: str, size: tuple[float, float, float], wall: float, shape: str) -> float:
    x, y, z = size
    if shape:
        volume = sum(map(volume_of, shape_pieces(shape, size)))
    elif kind == "cup":
        volume = math.pi * 0.91 * x * wall * z + math.pi / 4 * (0.82 * x) ** 2 * wall
    elif kind in CONTAINER_KINDS:
        volume = x * y * wall + 2 * (x + y) * wall * (z - wall)
    elif kind == "ball":
        volume = math.pi / 6 * x**3
    else:
        volume = x * y * z * (math.pi / 4 if kind in ROUND else 1.0)
    return max(0.001, round(DENSITIES[kind] * volume, 5))


def color_from(field: Field) -> tuple[float, float, float]:
    """What ``color`` or ``colour`` says: 0..1."""
    color = field.get("color") if field.get("colour").absent else field.get("colour")
    value = color.value
    if color.absent:
        return COLORS["grey"]
    if isinstance(value, str):
        name = value.strip().lower()
        if name.startswith("#") and len(name) == 7:
            try:
                return (int(name[1:3], 16) / 255, int(name[3:5], 16) / 255, int(name[5:7], 16) / 255)
            except ValueError as error:
                raise color.error(f"{value!r} is no #rrggbb") from error
        if name not in COLORS:
            raise color.error(f"there is no colour {value!r}; valid: {', '.join(COLORS)}, #rrggbb, or [r, g, b] from 0 to 1")
        return COLORS[name]
    r, g, b = color.numbers((3,), low=0, high=1)
    return (r, g, b)


def _pose(field: Field, kind: str, size: tuple[float, float, float]) -> Array:
    """world_T_object; what is not given is chosen so that the object lies or stands on the desk."""
    if field.absent:
        raise field.error("is missing; give [x, y], [x, y, yaw] or a mapping")
    if isinstance(field.value, list):
        values = field.numbers((2, 3, 7))
        if len(values) == 7:
            return make_transform(_turned(field, values[3:]), values[:3])
        return _laid(kind, size, values[0], values[1], values[2] if len(values) == 3 else 0.0, None)
    field.mapping(POSE_KEYS)
    if not field.get("position").absent:
        place = field.get("position").numbers((2, 3), low=-2, high=2)
    else:
        place = (field.get("x").number(None, -2, 2), field.get("y").number(None, -2, 2))
        place = place if field.get("z").absent else (*place, field.get("z").number(None, -0.1, 2))
    height = place[2] if len(place) == 3 else None
    rotation = _rotation(field)
    yaw = field.get("yaw").number(math.radians(field.get("yaw_deg").number(0.0)))
    if rotation is None:
        return _laid(kind, size, place[0], place[1], yaw, height)
    return make_transform(rotation, (*place[:2], _resting(rotation, size) if height is None else height))


def _rotation(field: Field) -> Array | None:
    """The full rotation when one is given."""
    if not field.get("quaternion").absent:
        return _turned(field.get("quaternion"), field.get("quaternion").numbers((4,)))
    if not field.get("rpy").absent:
        return rotation_rpy(*field.get("rpy").numbers((3,)))
    if field.get("roll").absent and field.get("pitch").absent:
        return None
    yaw = field.get("yaw").number(math.radians(field.get("yaw_deg").number(0.0)))
    return rotation_rpy(field.get("roll").number(0.0), field.get("pitch").number(0.0), yaw)


def _turned(field: Field, quaternion: Sequence[float]) -> Array:
    try:
        return matrix_from_quaternion(quaternion)
    except DeskhandError as error:
        raise field.error(error.message.rstrip(".")) from error


def _laid(kind: str, size: tuple[float, float, float], x: float, y: float, yaw: float, height: float | None) -> Array:
    rotation = rotation_rpy(0.0, 0.0, yaw)
    if kind in LYING:
        rotation = rotation @ rotation_rpy(0.0, math.pi / 2, 0.0)  # its z, along which it is long, to the x axis
    return make_transform(rotation, (x, y, _resting(rotation, size) if height is None else height))


def _resting(rotation: Array, size: tuple[float, float, float]) -> float:
    return float(np.abs(rotation[2]) @ np.asarray(size) / 2 + DROP)
