"""Any instruction on any scene file: nothing is known of the goal, so only what is where in the end can be said."""

from __future__ import annotations

from typing import Any

from deskhand.geometry import Array, quaternion_from_matrix
from deskhand.sim.spec import CONTAINER_KINDS, Truth, WorldSpec
from deskhand.tasks.placement import where_is


def first_objects(world: WorldSpec, truth: Truth) -> list[dict[str, Any]]:
    """As :func:`final_objects`, at the start, each with its colour (``rgb``, 0 to 1), and the fixtures of the world after the objects."""
    colors = {item.name: list(item.rgb) for item in world.objects}
    fixtures = [
        {"name": item.name, "kind": item.kind, "size": list(map(float, item.size)), "pose": _pose(item.pose), "where": "table", "rgb": list(item.rgb)}
        for item in world.fixtures
    ]
    return [row | {"rgb": colors[row["name"]]} for row in final_objects(world, truth)] + fixtures


def final_objects(world: WorldSpec, truth: Truth) -> list[dict[str, Any]]:
    """Every object with its name, kind, size [m], pose (``position`` [m], ``orientation`` xyzw, in ``world``) and where it is:
    the name of a container, ``hand``, ``floor`` or ``table``.
    """
    walls = {item.name: item.wall for item in world.objects if item.kind in CONTAINER_KINDS}
    containers = {name: (truth.get(name), wall) for name, wall in walls.items()}
    rows = []
    for item in truth.objects:
        others = {name: value for name, value in containers.items() if name != item.name}
        rows.append(
            {
                "name": item.name,
                "kind": item.kind,
                "size": [round(float(value), 4) for value in item.size],
                "pose": _pose(item.pose),
                "where": where_is(item, others, truth.in_hand),
            }
        )
    return rows


def _pose(pose: Array) -> dict[str, list[float]]:
    return {
        "position": [round(float(value), 4) for value in pose[:3, 3]],
        "orientation": [round(float(value), 5) for value in quaternion_from_matrix(pose[:3, :3])],
    }
