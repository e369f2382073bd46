"""What a picture could tell at best: which objects are visible in it, what each of them stands on. From the simulation; for scoring only."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import mujoco
import numpy as np

from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.reality.edge_objects import EDGE
from deskhand.sim.room import DESK
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import CONTAINER_KINDS, ObjectSpec, TruthObject
from deskhand.tasks.desk_cleaning import settings
from deskhand.tasks.placement import is_inside, outline, tilt
from deskhand.types import Frame

TABLE = "table"
LEANS = np.deg2rad(5.0)
_UPWARD = 0.3  # vertical part of a contact's normal from which it carries
_CONTAINER_COLORS = {"bin": ("black", "grey"), "tray": ("white", "grey"), "box_open": ("brown",)}


@dataclass(frozen=True)
class SeenTruth:
    """One object.

    Attributes:
        visible: pixels that show it, over those that would if nothing stood before it (the outline of its convex hull in the picture).
        colors: names that are right.
        carried_by: names of all that it stands, lies or leans on; ``table`` too.
        relation: ``on``, ``in`` or ``leaning``.
    """

    item: TruthObject
    visible: float
    colors: tuple[str, ...]
    carried_by: tuple[str, ...]
    relation: str


def seen_truth(simulation: Simulation, renderer: RgbdRenderer, frame: Frame) -> list[SeenTruth]:
    """Every object of the world, in the order of its spec."""
    owners = renderer.render_owners()
    truth, specs = simulation.truth(), simulation.built.spec.objects
    carriers = _carriers(simulation)
    boxes = [(truth.get(spec.name), spec.wall) for spec in specs if spec.kind in CONTAINER_KINDS]
    result = []
    for number, spec in enumerate(specs):
        item = truth.get(spec.name)
        area = _whole_area(frame, item)
        visible = float((owners == number).sum()) / area if area > 0 else 0.0
        carried = tuple(sorted(carriers[spec.name]))
        inside = [box.name for box, wall in boxes if box.name != item.name and is_inside(item, box, wall)]
        relation = "in" if inside else "leaning" if TABLE in carried and len(carried) > 1 and _is_tilted(item) else "on"
        result.append(SeenTruth(item, visible, _colors(spec), tuple(inside) if inside else carried, relation))
    return result


def pixels_of_others(simulation: Simulation, renderer: RgbdRenderer) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Pixels (H, W) that show what lies about at the edge of the desk: it is there, but belongs to no task."""
    model = simulation.model
    others = [model.body(body).name.startswith(EDGE) for body in model.geom_bodyid]
    return np.asarray(np.array([*others, False])[renderer.render_geoms()])


def _whole_area(frame: Frame, item: TruthObject) -> float:
    """Pixels of the object's convex outline, within the picture, if nothing stood before it."""
    k = frame.intrinsics
    corners = frame.project(outline(item) if item.kind != "ball" else _sphere_outline(frame, item))
    if not np.isfinite(corners).all():
        return 0.0
    picture = np.zeros((k.height, k.width), np.uint8)
    cv2.fillConvexPoly(picture, cv2.convexHull((corners * 16).astype(np.int32)), 1, shift=4)
    return float(picture.sum())


def _sphere_outline(frame: Frame, item: TruthObject) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Points (N, 3) where the lines of sight touch a ball."""
    camera = frame.world_T_camera[:3, 3]
    away = item.pose[:3, 3] - camera
    distance, radius = float(np.linalg.norm(away)), item.size[0] / 2
    away = away / distance
    first = np.cross(away, [0.0, 0.0, 1.0])
    first /= np.linalg.norm(first)
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)[:, None]
    ring = np.cos(angles) * first + np.sin(angles) * np.cross(away, first)
    return np.asarray(item.pose[:3, 3] - away * radius**2 / distance + ring * radius * np.sqrt(1 - (radius / distance) ** 2))


def _carriers(simulation: Simulation) -> dict[str, set[str]]:
    """What each object rests on, from its contacts."""
    model, data = simulation.model, mujoco.MjData(simulation.model)
    simulation.copy_state(data)
    mujoco.mj_forward(model, data)
    names = {body: item.name for body, item in zip(simulation.built.object_bodies, simulation.built.spec.objects, strict=True)}
    result: dict[str, set[str]] = {name: set() for name in names.values()}
    for contact in data.contact:
        first, second = (names.get(int(model.geom_bodyid[geom]), "") for geom in (contact.geom1, contact.geom2))
        upward = float(contact.frame[2])  # the normal points from the first to the second
        if not first and model.geom(contact.geom1).name == DESK:
            first = TABLE
        elif not second and model.geom(contact.geom2).name == DESK:
            second = TABLE
        if upward > _UPWARD and second in result and first:
            result[second].add(first)
        elif upward < -_UPWARD and first in result and second:
            result[first].add(second)
    return result


def _is_tilted(item: TruthObject) -> bool:
    """True when none of its axes is upright."""
    return bool(np.arccos(np.clip(np.abs(item.pose[2, :3]).max(), 0, 1)) > LEANS) if item.kind != "ball" else tilt(item) < -1


def _colors(spec: ObjectSpec) -> tuple[str, ...]:
    if spec.kind in _CONTAINER_COLORS:
        return _CONTAINER_COLORS[spec.kind]
    palette: dict[str, list[float]] = settings()["colors"]
    return (min(palette, key=lambda name: float(np.abs(np.array(palette[name]) - spec.rgb).sum())),)
