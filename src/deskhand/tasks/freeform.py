"""Any instruction on any scene file: nothing is known of the goal, so only what is where in the end can be said."""

from __future__ import annotations

from typing import Any

from deskhand.geometry import quaternion_from_matrix
from deskhand.sim.spec import CONTAINER_KINDS, Truth, WorldSpec
from deskhand.tasks.placement import where_is


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
                "pose": {
                    "position": [round(float(value), 4) for value in item.pose[:3, 3]],
                    "orientation": [round(float(value), 5) for value in quaternion_from_matrix(item.pose[:3, :3])],
                },
                "where": where_is(item, others, truth.in_hand),
            }
        )
    return rows
