"""A map of free, occupied and unknown space that grows with every view."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.resources import ARRAY, POINTS, ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.monitor.cells import CellMonitor
from deskhand.tools.cognition.octree import FREE, FULL, Octree
from deskhand.tools.objects import rounded
from deskhand.tools.viewing import desk_view
from deskhand.tools.watching import watched

NAMES = {0: "unknown", FREE: "free", FULL: "occupied"}
Point = Annotated[list[Annotated[float, Field(ge=-5, le=5)]], Field(min_length=3, max_length=3, description="[x, y, z] in world [m]")]
MapUri = Annotated[str, Field(min_length=1, max_length=200, description="uri of the map")]
REACH = 2.0  # [m] beyond which depth is not trusted to be occupied
STRIDE = 3  # [px] between the rays of a view
TOLD = 100  # cells in one event


class OccupancyMap(TypedDict):
    """An occupancy map after one more view."""

    map: Annotated[ResourceRef, Field(description="the map; give its uri to query_occupancy, or here again with the next view")]
    views: int
    occupied: Annotated[int, Field(description="leaves that are occupied")]
    free: Annotated[int, Field(description="leaves that are free")]
    resolution: Annotated[float, Field(description="edge of a leaf [m]")]


class Occupancy(TypedDict):
    """What a map says of the places that were asked for."""

    states: Annotated[list[str], Field(description="of each point: free, occupied or unknown")]
    probabilities: Annotated[list[float | None], Field(description="of each point that it is occupied; null where unknown")]
    box: Annotated[dict[str, float], Field(description="share of the box that is free, occupied, unknown; empty when no box was given")]
    path: Annotated[str, Field(description="first state on the way along the points that is not free (occupied or unknown), free when all is; empty without")]
    path_blocked_at: Annotated[list[float] | None, Field(description="where [x, y, z] [m]; null when it is free")]
    cells: Annotated[ResourceRef | None, Field(description="points (N, 3): centres of the occupied nodes; null when not asked for")]
    cell: Annotated[float, Field(description="edge of these nodes [m]")]


@tool(
    group="cognition",
    unit="map_3d_and_occupancy",
    needs=("camera",),
    timeout=60.0,
    when_to_use="To map which space is free, occupied or not seen yet, from the depth camera, over one or several views (octree); before moving through "
    "space or to see what is still hidden.",
    limits="The robot is left out as if it were not there. Knows what was seen when it was built: objects that move leave traces until seen again. Depth up "
    "to 2 m from the camera; the map spans 2048 leaves to each side of the world's origin.",
    examples=[
        ("Map the free and the unknown space over the desk", {}),
        ("Add one more view to the map", {"map_uri": "deskhand://m"}),
    ],
    failures=[("The map is no longer kept", {"map_uri": "deskhand://gone"}, "unknown_resource")],
)
def build_occupancy_map(
    ctx: ToolContext,
    map_uri: Annotated[str, Field(max_length=200, description="uri of the map to go on with; empty: a new one")] = "",
    resolution: Annotated[float, Field(ge=0.002, le=0.2, description="[m] edge of a leaf of a new map")] = 0.01,
) -> OccupancyMap:
    """Integrate the camera's depth into an octree of free, occupied and unknown space; a new map or one to go on with."""
    tree = Octree.from_array(ctx.resources.get(map_uri).array()) if map_uri else Octree(resolution)
    view = desk_view(ctx)
    rows = slice(STRIDE // 2, None, STRIDE)
    kept = view.valid[rows, rows]
    tree.integrate(view.points[rows, rows][kept].astype(float), view.eye, REACH, ~view.robot[rows, rows][kept])
    return _map(ctx, tree)


def _map(ctx: ToolContext, tree: Octree) -> OccupancyMap:
    full = int((tree.odds > 0).sum())
    kept = ctx.resources.put(tree.as_array(), ARRAY, f"occupancy map of {tree.views} views")
    return OccupancyMap(map=kept, views=tree.views, occupied=full, free=len(tree.keys) - full, resolution=tree.resolution)


@tool(
    group="cognition",
    unit="map_3d_and_occupancy",
    timeout=30.0,
    when_to_use="To ask an occupancy map whether points, a box or the straight way between points are free, occupied or unknown.",
    limits="Answers from the map alone, as old as its last view; unknown is not free. A path is a line without width: ask a box for room.",
    examples=[
        ("Is this point in space free?", {"map_uri": "deskhand://m", "points": [[0.0, 0.0, 0.2]]}),
        ("How much of the box is unseen?", {"map_uri": "deskhand://m", "low": [-0.1, -0.1, 0.0], "high": [0.1, 0.1, 0.2]}),
        ("Is the straight way between two points free?", {"map_uri": "deskhand://m", "points": [[0.0, 0.0, 0.3], [0.1, 0.0, 0.3]], "path": True}),
    ],
    failures=[("The map is no longer kept", {"map_uri": "deskhand://gone"}, "unknown_resource")],
)
def query_occupancy(
    ctx: ToolContext,
    map_uri: MapUri,
    points: Annotated[list[Point] | None, Field(max_length=1000, description="places to ask for [m]; null: none")] = None,
    path: Annotated[bool, Field(description="also follow the straight lines from point to point")] = False,
    low: Annotated[Point | None, Field(description="[m] corner of a box with the smallest x, y, z; null: none")] = None,
    high: Annotated[Point | None, Field(description="[m] the opposite corner; null: none")] = None,
    level: Annotated[int | None, Field(ge=0, le=8, description="also give the occupied nodes, this many levels above the leaves; null: no")] = None,
) -> Occupancy:
    """Query an occupancy map: the state of points, shares of a box, the first obstacle on a path, occupied nodes at a level."""
    tree = Octree.from_array(ctx.resources.get(map_uri).array())
    if (low is None) != (high is None) or (low is not None and high is not None and any(a >= b for a, b in zip(low, high, strict=True))):
        raise DeskhandError("invalid_input", "query_occupancy: give low and high of the box, low smaller than high, or neither.")
    if path and len(points or ()) < 2:
        raise DeskhandError("invalid_input", "query_occupancy: a path needs at least two points.")
    where = np.array(points or np.zeros((0, 3)), float).reshape(-1, 3)
    states, chances = tree.states(where), tree.probability(where)
    box: dict[str, float] = {}
    if low is not None and high is not None:
        inside = tree.states(_cells(np.array(low), np.array(high), tree.resolution))
        box = {name: round(float((inside == state).mean()), 4) for state, name in NAMES.items()}
    blocked, at = ("", None) if not path else _along(tree, where)
    cells, edge = tree.nodes(level, FULL) if level is not None else (None, 0.0)
    return Occupancy(
        states=[NAMES[int(state)] for state in states],
        probabilities=[None if np.isnan(chance) else round(float(chance), 4) for chance in chances],
        box=box,
        path=blocked,
        path_blocked_at=at,
        cells=ctx.resources.put(cells.astype(np.float32), POINTS, f"occupied nodes of {edge:g} m") if cells is not None else None,
        cell=edge,
    )


class CellEvent(TypedDict):
    """Cells that are not what they were."""

    time: Annotated[float, Field(description="ROS time of the picture [s]")]
    occupied: Annotated[list[list[float]], Field(description="centres [x, y, z] in world [m] of cells that have become occupied; 100 at most")]
    free: Annotated[list[list[float]], Field(description="the same of cells that have become free")]
    total: Annotated[int, Field(description="cells that are occupied now")]


class CellWatch(TypedDict):
    """The last word of the watch."""

    pictures: int
    occupied: Annotated[int, Field(description="cells that were occupied at the end")]


@tool(
    group="cognition",
    unit="map_3d_and_occupancy",
    mode="continuous",
    event=CellEvent,
    needs=("camera",),
    when_to_use="To keep a volume of space under surveillance, such as the path of a coming motion: which cells become occupied and which become free again.",
    limits="Coarse cells; what hides behind something is not seen, and a cell that was occupied stays so until the camera looks through it. The robot's own "
    "body does not count. The first event tells all that is occupied at the beginning.",
    examples=[("Tell me when something gets into the space above the tray", {"low": [0.0, 0.1, 0.03], "high": [0.2, 0.3, 0.25]})],
    failures=[("The corners are swapped", {"low": [0.2, 0.2, 0.2], "high": [0.0, 0.0, 0.0]}, "invalid_input")],
)
def watch_occupancy(
    ctx: ToolContext,
    low: Annotated[Point, Field(description="[m] corner of the volume with the smallest x, y, z")],
    high: Annotated[Point, Field(description="[m] the opposite corner")],
    cell: Annotated[float, Field(ge=0.01, le=0.2, description="[m] edge of a cell")] = 0.03,
) -> CellWatch:
    """Watch a volume of space live: publish which cells have become occupied or free, two pictures after it happened."""
    if any(a >= b for a, b in zip(low, high, strict=True)):
        raise DeskhandError("invalid_input", "watch_occupancy: low must be smaller than high along every axis.")
    monitor = CellMonitor(np.array(low), np.array(high), cell)
    if np.prod(monitor.shape) > 50_000:
        raise DeskhandError("invalid_input", f"the volume holds {int(np.prod(monitor.shape))} cells; at most 50000.", hint="Ask for larger cells.")
    count = 0
    for picture in watched(ctx):
        came, went = monitor.update(picture.sample, picture.eye)
        count += 1
        if len(came) or len(went):
            told = [[rounded(place) for place in places[:TOLD]] for places in (came, went)]
            ctx.publish(CellEvent(time=picture.sample.stamp, occupied=told[0], free=told[1], total=int(monitor.occupied.sum())))
    return CellWatch(pictures=count, occupied=int(monitor.occupied.sum()))


def _cells(low: npt.NDArray[np.float64], high: npt.NDArray[np.float64], step: float) -> npt.NDArray[np.float64]:
    axes = [np.arange(a + step / 2, b, step) if b - a > step else np.array([(a + b) / 2]) for a, b in zip(low, high, strict=True)]
    if np.prod([len(axis) for axis in axes]) > 4_000_000:
        raise DeskhandError("invalid_input", "the box holds more than 4 million leaves.", hint="Ask for a smaller box.")
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def _along(tree: Octree, points: npt.NDArray[np.float64]) -> tuple[str, list[float] | None]:
    for a, b in pairwise(points):
        count = max(2, int(np.linalg.norm(b - a) / (0.5 * tree.resolution)))
        line = a + np.linspace(0, 1, count)[:, None] * (b - a)
        states = tree.states(line)
        bad = np.nonzero(states != FREE)[0]
        if len(bad):
            return NAMES[int(states[bad[0]])], rounded(line[bad[0]])
    return "free", None
