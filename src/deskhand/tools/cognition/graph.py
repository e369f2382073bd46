"""A hierarchical scene graph: desk, regions, objects; built from the last look and asked in 3-D."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.resources import ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import inverse, transform_points
from deskhand.tools.looking import last_look
from deskhand.tools.objects import rounded
from deskhand.tools.perception.words import named_by
from deskhand.types import Scene, SceneObject
from deskhand.world.relations import RELATIONS, Relation
from deskhand.world.spatial import carriers, footprint_gap, relation_holds

DESK = "desk"
COLUMNS, ROWS = ("left", "middle", "right"), ("front", "centre", "back")
EDGES = ("near", "left_of", "right_of", "in_front_of", "behind")


class Node(TypedDict):
    """The desk, a region of it, or an object."""

    id: str
    level: Annotated[str, Field(description="desk, region or object")]
    parent: Annotated[str, Field(description="id of what holds it: object -> what carries it, or its region; region -> desk; empty for the desk")]
    label: str
    color: str
    center: Annotated[list[float], Field(description="[x, y, z] in world [m]")]
    size: Annotated[list[float], Field(description="extents along its own axes [m]")]


class Edge(TypedDict):
    """A relation between two objects."""

    source: str
    relation: str
    target: str


class Graph(TypedDict):
    """The whole graph."""

    nodes: list[Node]
    edges: Annotated[list[Edge], Field(description="on and in as perception saw them; near, and directions between objects up to 0.3 m apart")]
    resource: Annotated[ResourceRef, Field(description="the same as JSON, to be kept or compared later")]


class Hit(TypedDict):
    """An object that a query found."""

    object_id: str
    label: str
    color: str
    region: str
    center: Annotated[list[float], Field(description="[x, y, z] in world [m]")]
    value: Annotated[float | None, Field(description="what it was ordered by: [m], or volume [cm3]; null without an order")]
    path: Annotated[list[str], Field(description="from the desk down to it")]
    why: Annotated[str, Field(description="what was measured")]


class Hits(TypedDict):
    """What a query found."""

    objects: list[Hit]
    total: Annotated[int, Field(description="how many fit, before the limit")]


@dataclass(frozen=True)
class _Region:
    """A part of the desk."""

    name: str
    low: tuple[float, float]
    high: tuple[float, float]


def regions(scene: Scene) -> list[_Region]:
    """Nine equal parts of the desk's top, as seen from the robot: left is +y, back is +x; in the table's own frame [m]."""
    half = np.array(scene.table.size) / 2
    xs, ys = np.linspace(-half[0], half[0], 4), np.linspace(-half[1], half[1], 4)
    found = []
    for row, depth in enumerate(ROWS):
        for column, side in enumerate(reversed(COLUMNS)):
            low, high = (float(xs[row]), float(ys[column])), (float(xs[row + 1]), float(ys[column + 1]))
            found.append(_Region(f"{depth}_{side}", low, high))
    return found


def region_of(scene: Scene, item: SceneObject) -> str:
    """Name of the region over which an object's centre is."""
    half = np.array(scene.table.size) / 2
    local = transform_points(inverse(scene.table.pose), item.position)[:2]
    row, column = (int(np.clip(3 * (local[axis] + half[axis]) / max(2 * half[axis], 1e-9), 0, 2)) for axis in (0, 1))
    return f"{ROWS[row]}_{COLUMNS[2 - column]}"


@tool(
    group="cognition",
    unit="scene_graph_and_world_model",
    preconditions=("scene_known",),
    timeout=20.0,
    when_to_use="To get the whole scene as a graph for planning or for another program: desk, its nine regions, objects with what carries them, and relations.",
    limits="Of the last look, in the levels desk - region - object (objects in a container are its children); no rooms, no parts. Directions as seen "
    "from the robot.",
    examples=[("Build a hierarchical scene graph of the desk", {}), ("Only what carries what", {"directions": False})],
    failures=[("Nobody has looked yet", {}, "precondition_failed")],
)
def build_scene_graph(
    ctx: ToolContext, directions: Annotated[bool, Field(description="also near and the four directions between objects up to 0.3 m apart")] = True
) -> Graph:
    """Build the hierarchical scene graph of the last look: desk, regions and objects, what carries what, and how objects lie to each other."""
    scene = last_look(ctx)
    nodes = [Node(id=DESK, level="desk", parent="", label=DESK, color="", center=rounded(scene.table.pose[:3, 3]), size=rounded([*scene.table.size, 0.0]))]
    for region in regions(scene):
        middle = transform_points(scene.table.pose, [*(np.array(region.low) + region.high) / 2, 0.0])
        size = [*(np.array(region.high) - region.low), 0.0]
        nodes.append(Node(id=region.name, level="region", parent=DESK, label="region", color="", center=rounded(middle), size=rounded(size)))
    for item in scene.objects:
        nodes.append(
            Node(
                id=item.id,
                level="object",
                parent=_parent(scene, item),
                label=item.label,
                color=item.color,
                center=rounded(item.position),
                size=rounded(item.size),
            )
        )
    edges = [Edge(source=item.id, relation=item.relation, target=item.support) for item in scene.objects if item.support]
    for item in scene.objects if directions else ():
        for other in scene.objects:
            if item.id != other.id and footprint_gap(item, other) < 0.3:
                edges += [Edge(source=item.id, relation=name, target=other.id) for name in EDGES if relation_holds(scene, item, name, other)[0]]
    kept = ctx.resources.put({"stamp": scene.stamp, "nodes": nodes, "edges": edges}, text=f"scene graph at {scene.stamp:.2f} s")
    return Graph(nodes=nodes, edges=edges, resource=kept)


def _parent(scene: Scene, item: SceneObject) -> str:
    known = {other.id for other in scene.objects}
    return item.support if item.support in known else "gripper" if item.relation == "held" else region_of(scene, item)


@tool(
    group="cognition",
    unit="scene_graph_and_world_model",
    preconditions=("scene_known",),
    timeout=20.0,
    when_to_use="To ask the 3-D scene graph for objects by description, region, relation to another object, distance, size or height at once: the "
    "tallest object near the cup, or what in the left part stands on something.",
    limits="Of the last look. All given conditions must hold. Directions as seen from the robot; through means over any number of supports.",
    examples=[
        ("What is the tallest object near the cup?", {"relation": "near", "target": "the cup", "order": "highest", "limit": 1}),
        ("Which red objects are in the left part of the desk?", {"what": "red objects", "region": "left"}),
        ("What is nearest to a point in space?", {"order": "nearest", "point": [0.1, 0.0, 0.0], "limit": 3}),
    ],
    failures=[
        ("Relation without target", {"relation": "near"}, "invalid_input"),
        ("The target is not on the desk", {"relation": "near", "target": "ghost"}, "unknown_object"),
    ],
)
def query_3d_scene_graph(
    ctx: ToolContext,
    what: Annotated[str, Field(max_length=80, description="words for the objects, such as 'red blocks'; empty: any")] = "",
    region: Annotated[Literal["", "left", "middle", "right", "front", "centre", "back"], Field(description="part of the desk, a third of it; empty: all")] = "",
    relation: Annotated[Relation | None, Field(description="how they lie to the target; null: does not matter")] = None,
    target: Annotated[str, Field(max_length=80, description="id or words of the other object, or 'table' with on; empty: none")] = "",
    through: Annotated[bool, Field(description="with on and in: also by way of other objects, as on a stack or in a box in a box")] = False,
    order: Annotated[
        Literal["", "nearest", "farthest", "highest", "lowest", "largest", "smallest"],
        Field(description="nearest, farthest: to point, else to the target, else to the arm's base; highest, lowest: their top; empty: by id"),
    ] = "",
    point: Annotated[
        list[Annotated[float, Field(ge=-2, le=2)]] | None,
        Field(min_length=3, max_length=3, description="[m] [x, y, z] in world for nearest and farthest; null"),
    ] = None,
    limit: Annotated[int, Field(ge=1, le=200, description="objects at most")] = 20,
) -> Hits:
    """Query the 3-D scene graph of the last look by description, region and relation, ordered by distance, height or size."""
    if (relation is None) != (not target):
        raise DeskhandError("invalid_input", "query_3d_scene_graph: relation and target belong together.", hint="Give both or none.")
    scene = last_look(ctx)
    found = list(scene.objects)
    if what:
        named = {item.id for item in described(what, scene)}
        found = [item for item in found if item.id in named]
    if region:
        found = [item for item in found if region in region_of(scene, item).split("_")]
    other = None if not target or target == "table" else _target(target, scene)
    reasons: dict[str, str] = {}
    if relation is not None:
        kept = []
        for item in found:
            holds, reasons[item.id] = _holds(scene, item, relation, other, through)
            kept += [item] if holds and item is not other else []
        found = kept
    origin = np.array(point) if point is not None else other.position if other is not None else ctx.robot.arm.world_T_base[:3, 3]
    values = {item.id: _value(item, order, origin) for item in found}
    found.sort(key=lambda item: (values[item.id] * (-1 if order in ("farthest", "highest", "largest") else 1), item.id))
    hits = [
        Hit(
            object_id=item.id,
            label=item.label,
            color=item.color,
            region=region_of(scene, item),
            center=rounded(item.position),
            value=round(values[item.id], 4) if order else None,
            path=_path(scene, item),
            why=reasons.get(item.id, ""),
        )
        for item in found[:limit]
    ]
    return Hits(objects=hits, total=len(found))


def described(what: str, scene: Scene) -> list[SceneObject]:
    """Every object that words fit, singular or plural."""
    found = [item for item in scene.objects if item.id == what.strip()]
    words = what.strip()
    return found or named_by(words if words.startswith(("all", "every", "the ")) else f"all {words}", scene)[0] or named_by(words, scene)[0]


def _target(words: str, scene: Scene) -> SceneObject:
    found = [item for item in scene.objects if item.id == words] or named_by(words, scene)[0]
    if not found:
        known = ", ".join(item.id for item in scene.objects) or "nothing"
        raise DeskhandError("unknown_object", f"nothing on the desk is {words!r}; seen: {known}.", hint="Use an id or other words.")
    return found[0]


def _holds(scene: Scene, item: SceneObject, relation: str, other: SceneObject | None, through: bool) -> tuple[bool, str]:
    assert relation in RELATIONS
    holds, why = relation_holds(scene, item, relation, other)
    if not holds and through and relation in ("on", "in"):
        name = other.id if other is not None else "table"
        chain = carriers(scene, item)
        if name in [carrier for _, carrier in chain]:
            return True, f"{item.id} is carried by {' on '.join(carrier for _, carrier in chain)}."
    return holds, why


def _value(item: SceneObject, order: str, origin: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    if order in ("nearest", "farthest"):
        return float(np.linalg.norm(item.position - origin))
    if order in ("highest", "lowest"):
        return item.top
    return 1e6 * float(np.prod(item.size)) if order else 0.0


def _path(scene: Scene, item: SceneObject) -> list[str]:
    chain = [name for _, name in reversed(carriers(scene, item)) if any(other.id == name for other in scene.objects)]
    first = scene.get(chain[0]) if chain else item
    return [DESK, region_of(scene, first), *chain, item.id]
