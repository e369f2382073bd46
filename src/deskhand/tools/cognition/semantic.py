"""A map of what is where that grows with every look."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.resources import POINTS, ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.tools.cognition.mapping import MapUri, Point
from deskhand.tools.looking import look
from deskhand.tools.objects import rounded
from deskhand.tools.perception.words import named_by
from deskhand.tools.viewing import DeskView, desk_view, owners
from deskhand.types import Scene, SceneObject, Table

VOXEL = 0.005  # [m]


class SemanticMap(TypedDict):
    """A semantic map after one more look."""

    map: Annotated[ResourceRef, Field(description="the map; give its uri to query_semantic_map, or here again with the next look")]
    looks: int
    objects: Annotated[int, Field(description="different objects in it")]
    voxels: int


class MappedObject(TypedDict):
    """One object in the map."""

    object_id: str
    label: str
    color: str
    center: Annotated[list[float], Field(description="of its voxels [x, y, z] in world [m]")]
    low: Annotated[list[float], Field(description="corner of its voxels [m]")]
    high: Annotated[list[float], Field(description="opposite corner [m]")]
    voxels: int
    votes: Annotated[float, Field(description="share of the looks at its voxels that agree it is this object")]
    seen: Annotated[int, Field(description="looks that showed it")]


class SemanticAnswer(TypedDict):
    """What a query found, most voxels first."""

    objects: list[MappedObject]
    points: Annotated[ResourceRef | None, Field(description="points (N, 3) in world [m]: voxels of all that was found; null when nothing was")]


@tool(
    group="cognition",
    unit="map_3d_and_occupancy",
    effects="memory",
    needs=("camera",),
    postconditions=("scene_known",),
    timeout=60.0,
    when_to_use="To build up a queryable 3-D map of what is where from RGB-D looks: each voxel remembers which object it showed; add looks over time.",
    limits="Holds seen surfaces, not what is behind them. An object that moved leaves its old voxels until a later look sees through them.",
    examples=[("Start a semantic 3-D map", {}), ("Add a look to the semantic map", {"map_uri": "deskhand://s"})],
    failures=[("The map is no longer kept", {"map_uri": "deskhand://gone"}, "unknown_resource")],
)
def build_semantic_map(
    ctx: ToolContext, map_uri: Annotated[str, Field(max_length=200, description="uri of the map to go on with; empty: a new one")] = ""
) -> SemanticMap:
    """Take a look and fuse it into a 3-D semantic map of voxels that vote for the object they show."""
    data = _semantic(ctx.resources.get(map_uri).json() if map_uri else {"looks": 0, "objects": {}, "voxels": {}})
    scene, _ = look(ctx)
    view = desk_view(ctx)
    own = owners(view, scene)
    data["looks"] += 1
    voxels: dict[str, dict[str, int]] = data["voxels"]
    for key in _seen_through(view.points, view.valid & ~view.objects, view, voxels):
        del voxels[key]
    for number, item in enumerate(scene.objects):
        entry = data["objects"].setdefault(item.id, {"seen": 0})
        entry.update(label=item.label, color=item.color, shape=item.shape, container=bool(item.is_container), seen=entry["seen"] + 1)
        cells = np.unique(np.floor(view.points[(own == number) & view.valid] / VOXEL).astype(int), axis=0)
        for cell in cells:
            votes = voxels.setdefault(",".join(map(str, cell)), {})
            votes[item.id] = votes.get(item.id, 0) + 1
    kept = ctx.resources.put(data, text=f"semantic map of {data['looks']} looks")
    return SemanticMap(map=kept, looks=data["looks"], objects=len(_objects(data)), voxels=len(voxels))


def _seen_through(points: npt.NDArray[np.float32], beyond: npt.NDArray[np.bool_], view: DeskView, voxels: dict[str, dict[str, int]]) -> list[str]:
    """Keys of voxels behind which the camera now sees the table or other objects: nothing is there any more."""
    if not voxels:
        return []
    keys = list(voxels)
    centres = (np.array([[int(v) for v in key.split(",")] for key in keys]) + 0.5) * VOXEL
    pixels = view.frame.project(centres)
    height, width = beyond.shape
    inside = np.isfinite(pixels).all(axis=1) & (pixels >= 0).all(axis=1) & (pixels[:, 0] <= width - 1) & (pixels[:, 1] <= height - 1)
    column, row = np.round(np.where(inside[:, None], pixels, 0)).astype(int).T
    there = points[row, column]
    farther = np.linalg.norm(there - view.eye, axis=1) > np.linalg.norm(centres - view.eye, axis=1) + VOXEL
    return [key for key, gone in zip(keys, inside & farther, strict=True) if gone]


@tool(
    group="cognition",
    unit="map_3d_and_occupancy",
    timeout=30.0,
    when_to_use="To ask a semantic 3-D map what objects of a kind are where, what is at a point or within a box, with their voxels.",
    limits="Answers from the map alone, as old as its last look.",
    examples=[
        ("Where in the 3-D map are the blocks?", {"map_uri": "deskhand://s", "words": "all blocks"}),
        ("What object is at this point in space?", {"map_uri": "deskhand://s", "near": [0.0, 0.1, 0.02], "radius": 0.03}),
    ],
    failures=[("The map is no longer kept", {"map_uri": "deskhand://gone"}, "unknown_resource")],
)
def query_semantic_map(
    ctx: ToolContext,
    map_uri: MapUri,
    words: Annotated[str, Field(max_length=80, description="for the objects, such as 'all red blocks', or an id; empty: any")] = "",
    near: Annotated[Point | None, Field(description="[m] middle of a ball in which they are; null: anywhere")] = None,
    radius: Annotated[float, Field(gt=0, le=5, description="[m] of this ball")] = 0.05,
    order: Annotated[Literal["voxels", "distance"], Field(description="most voxels first, or nearest to near")] = "voxels",
) -> SemanticAnswer:
    """Query a semantic 3-D map by words and place: which objects are there, where, how large, how sure, and their voxels."""
    data = _semantic(ctx.resources.get(map_uri).json())
    if order == "distance" and near is None:
        raise DeskhandError("invalid_input", "query_semantic_map: order distance needs near.")
    owned = _objects(data)
    found: list[MappedObject] = []
    shown: list[npt.NDArray[np.float64]] = []
    wanted = _named(words, data, owned)
    for name, (centres, votes) in owned.items():
        inside = np.ones(len(centres), bool) if near is None else np.linalg.norm(centres - np.array(near), axis=1) <= radius
        if name not in wanted or not inside.any():
            continue
        entry = data["objects"][name]
        half = VOXEL / 2
        found.append(
            MappedObject(
                object_id=name,
                label=entry["label"],
                color=entry["color"],
                center=rounded((centres.min(axis=0) + centres.max(axis=0)) / 2),
                low=rounded(centres.min(axis=0) - half),
                high=rounded(centres.max(axis=0) + half),
                voxels=len(centres),
                votes=round(float(votes.mean()), 3),
                seen=int(entry["seen"]),
            )
        )
        shown.append(centres[inside])
    key = (lambda item: -item["voxels"]) if order == "voxels" else (lambda item: float(np.linalg.norm(np.array(item["center"]) - np.array(near))))
    points = ctx.resources.put(np.concatenate(shown).astype(np.float32), POINTS, "voxels that were found") if shown else None
    return SemanticAnswer(objects=sorted(found, key=key), points=points)


def _semantic(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict) or set(data) != {"looks", "objects", "voxels"}:
        raise DeskhandError("invalid_input", "this resource is no semantic map.", hint="Give the map that build_semantic_map made.")
    result: dict[str, Any] = json.loads(json.dumps(data))
    return result


def _objects(data: dict[str, Any]) -> dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """Voxel centres (N, 3) and shares of votes (N,) of every object."""
    cells: dict[str, list[list[float]]] = {}
    shares: dict[str, list[float]] = {}
    for key, votes in data["voxels"].items():
        name = max(votes, key=lambda each: votes[each])
        cells.setdefault(name, []).append([(int(v) + 0.5) * VOXEL for v in key.split(",")])
        shares.setdefault(name, []).append(votes[name] / sum(votes.values()))
    return {name: (np.array(cells[name]), np.array(shares[name])) for name in cells}


def _named(words: str, data: dict[str, Any], owned: dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]) -> set[str]:
    """Ids that words name; all for empty words."""
    if not words or words in owned:
        return {words} if words else set(owned)
    objects = []
    for name, (centres, _) in owned.items():
        entry, pose = data["objects"][name], np.eye(4)
        pose[:3, 3] = (centres.min(axis=0) + centres.max(axis=0)) / 2
        size = np.ptp(centres, axis=0) + VOXEL
        objects.append(
            SceneObject(name, entry["label"], entry["color"], entry["shape"], size, pose, np.zeros((0, 3), np.float32), 1.0, is_container=entry["container"])
        )
    return {item.id for item in named_by(words, Scene(tuple(objects), Table(np.eye(4), (1.0, 1.0)), 0.0))[0]}
