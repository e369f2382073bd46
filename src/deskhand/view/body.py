"""An arm as coloured meshes, a few per link, from its URDF."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from deskhand.arms.model import RobotModel, pose_of_element, shape_of_element
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, transform_points
from deskhand.types import Shape
from deskhand.types.meshes import Faces

log = logging.getLogger(__name__)

PLAIN = (120, 124, 132)
"""RGB of what has no colour."""
DARKEST = 62
"""Of the brightest channel: a black arm shows no shape on a screen."""


@dataclass(frozen=True)
class Mesh:
    """Triangles of one colour: ``vertices`` (V, 3) [m], ``faces`` (F, 3), ``color`` RGB 0..255."""

    vertices: Array
    faces: Faces
    color: tuple[int, int, int]


def body_of(model: RobotModel) -> dict[str, list[Mesh]]:
    """Meshes by link, in the link's frame: what the URDF shows, else what it collides with."""
    root = ElementTree.fromstring(model.urdf)
    colors = {item.attrib["name"]: color for item in root.findall("material") if (color := _color(item)) is not None}
    body: dict[str, list[Mesh]] = {}
    for link in root.findall("link"):
        name = link.attrib["name"]
        try:
            parts = [_mesh(visual, colors) for visual in link.findall("visual")]
        except DeskhandError as error:  # a format that nothing here reads
            log.warning("link %s is shown by its collision shapes: %s", name, error)
            parts = []
        parts = parts or [mesh_of(shape, PLAIN) for shape in model.shapes.get(name, ())]
        if parts:
            body[name] = _joined(parts)
    return body


def mesh_of(shape: Shape, color: tuple[int, int, int]) -> Mesh:
    """A shape as triangles, in the frame that its pose is in.

    Raises:
        DeskhandError: ``invalid_input`` for points, which have no faces.
    """
    import trimesh

    if shape.kind == "box":
        solid = trimesh.creation.box(extents=shape.size)
    elif shape.kind == "cylinder":
        solid = trimesh.creation.cylinder(radius=shape.size[0], height=shape.size[1], sections=32)
    elif shape.kind == "sphere":
        solid = trimesh.creation.icosphere(subdivisions=3, radius=shape.size[0])
    elif shape.kind == "mesh":
        return Mesh(transform_points(shape.pose, shape.vertices), shape.faces, color)
    else:
        raise DeskhandError("invalid_input", f"a shape of kind {shape.kind!r} has no faces.")
    return Mesh(transform_points(shape.pose, solid.vertices), np.asarray(solid.faces, np.int32), color)


def _mesh(visual: ElementTree.Element, colors: dict[str, tuple[int, int, int]]) -> Mesh:
    material = visual.find("material")
    own = None if material is None else _color(material) or colors.get(material.attrib.get("name", ""))
    color = own or PLAIN
    file = visual.find("geometry/mesh")
    if file is None or file.attrib["filename"].lower().endswith(".stl"):
        return mesh_of(shape_of_element(visual), color)
    return _foreign_mesh(visual, file, color)


def _foreign_mesh(visual: ElementTree.Element, element: ElementTree.Element, color: tuple[int, int, int]) -> Mesh:
    """DAE, OBJ, GLB, PLY: whatever trimesh reads here."""
    import trimesh

    path = Path(element.attrib["filename"].removeprefix("file://"))
    try:
        loaded = trimesh.load(path, force="mesh")
    except Exception as error:  # every format's reader has exceptions of its own
        raise DeskhandError("config_error", f"the mesh {path} cannot be read: {error}.") from error
    scale = np.array([float(value) for value in element.attrib.get("scale", "1 1 1").split()])
    return Mesh(transform_points(pose_of_element(visual), np.asarray(loaded.vertices) * scale), np.asarray(loaded.faces, np.int32), color)


def _color(material: ElementTree.Element) -> tuple[int, int, int] | None:
    element = material.find("color")
    if element is None:
        return None
    rgb = np.array([255 * float(value) for value in element.attrib["rgba"].split()[:3]])
    rgb = rgb + max(0.0, DARKEST - float(rgb.max()))
    return (int(rgb[0]), int(rgb[1]), int(rgb[2]))


def _joined(parts: list[Mesh]) -> list[Mesh]:
    """One mesh a colour."""
    joined = []
    for color in dict.fromkeys(part.color for part in parts):
        same = [part for part in parts if part.color == color]
        starts = np.cumsum([0, *(len(part.vertices) for part in same[:-1])])
        faces = np.vstack([part.faces + start for part, start in zip(same, starts, strict=True)]).astype(np.int32)
        joined.append(Mesh(np.vstack([part.vertices for part in same]), faces, color))
    return joined
