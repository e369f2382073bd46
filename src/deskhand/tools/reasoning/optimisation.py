"""Which object where, in what order, how packed and how stacked: the best under constraints."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import NotRequired, TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.planning.symbolic import ROLLS
from deskhand.tools.looking import last_look
from deskhand.tools.objects import ObjectId
from deskhand.tools.reasoning.optimal import assigned, best_tower, ordered, packed
from deskhand.types import Scene, SceneObject
from deskhand.world.spatial import carriers

FILL = 0.6  # share of a container's volume that loose objects can take
UNPLACED = 100.0  # [m] of way that leaving an object out is worth

Ids = Annotated[list[ObjectId], Field(min_length=1, max_length=30, description="ids of the objects, each once")]


class PlaceData(TypedDict):
    """A container that objects may go into."""

    container_id: ObjectId
    labels: NotRequired[Annotated[list[str], Field(description="kinds that may go there; left out: all")]]
    colors: NotRequired[Annotated[list[str], Field(description="colours that may go there; left out: all")]]
    most: NotRequired[Annotated[int, Field(ge=0, le=100, description="how many objects at most")]]


class Assignment(TypedDict):
    """One object and where it goes."""

    object_id: str
    container_id: str
    distance: Annotated[float, Field(description="[m]")]


class Assigned(TypedDict):
    """Which object goes where."""

    assignments: list[Assignment]
    left_out: Annotated[list[str], Field(description="ids for which no allowed place has room")]
    total: Annotated[float, Field(description="way of all objects together [m]")]
    optimal: Annotated[bool, Field(description="false: the time was up, there may be better")]


class Job(TypedDict):
    """A pick and where the object goes."""

    object_id: ObjectId
    target_id: NotRequired[Annotated[str, Field(max_length=64, description="container or object; left out: the gripper is free again where it picked")]]


class Order(TypedDict):
    """The order of picks."""

    order: list[str]
    way: Annotated[float, Field(description="of the gripper [m], from where it is through all picks and places")]
    way_as_given: Annotated[float | None, Field(description="of the order in which the jobs were given [m]; null when that order is not possible")]
    optimal: bool
    because: Annotated[list[str], Field(description="what must come before what, and why")]


class PackedItem(TypedDict):
    """A place in the container."""

    object_id: str
    x: Annotated[float, Field(description="[m] world x of its centre")]
    y: Annotated[float, Field(description="[m] world y of its centre")]
    yaw: Annotated[float, Field(description="turn of its longer side about world z [rad]")]


class Packing(TypedDict):
    """Objects side by side on a container's floor."""

    items: list[PackedItem]
    left_out: Annotated[list[str], Field(description="ids that do not fit beside the others")]
    filled: Annotated[float, Field(description="share of the floor that is taken")]
    optimal: bool


class Stack(TypedDict):
    """An order from the bottom up."""

    order: Annotated[list[str], Field(description="ids, the lowest first")]
    margin: Annotated[float, Field(description="[rad] that the tower may lean before its weakest joint opens")]
    height: Annotated[float, Field(description="[m]")]
    refused: Annotated[dict[str, str], Field(description="ids that can carry nothing or stand on nothing, with why")]


@tool(
    group="reasoning",
    unit="optimisation_under_constraints",
    preconditions=("scene_known",),
    timeout=30.0,
    when_to_use="To decide which object goes into which container when there are several of both, by rules on kinds or colours, limited room, and short ways.",
    limits="Assigns only (mixed-integer programming); plan_task or pick and place_in carry it out. Room is counted by volume, as loose filling.",
    examples=[
        (
            "Distribute the objects over two bins: red ones into the first, at most three in each",
            {"object_ids": ["block_1", "pen_1"], "places": [{"container_id": "bin_1", "colors": ["red"], "most": 3}, {"container_id": "bin_2", "most": 3}]},
        )
    ],
    failures=[("A place that is no container", {"object_ids": ["block_1"], "places": [{"container_id": "block_1"}]}, "invalid_input")],
)
def assign_places(
    ctx: ToolContext, object_ids: Ids, places: Annotated[list[PlaceData], Field(min_length=1, max_length=10, description="containers and their rules")]
) -> Assigned:
    """Assign objects to containers under constraints on kind, colour, count and room, with the shortest way in all."""
    scene = last_look(ctx)
    items = [scene.get(name) for name in dict.fromkeys(object_ids)]
    boxes = [scene.get(place["container_id"]) for place in places]
    for box in boxes:
        if not box.is_container:
            raise DeskhandError("invalid_input", f"assign_places: places: {box.id} is no container.", retry=True)
    cost = np.array([[_cost(item, box, place) for box, place in zip(boxes, places, strict=True)] for item in items])
    load = np.array([float(np.prod(item.size)) for item in items])
    room = np.array([_room(scene, box, {item.id for item in items}) for box in boxes])
    where, optimal = assigned(cost, load, room, [place.get("most", len(items)) for place in places], UNPLACED)
    rows = [
        Assignment(object_id=item.id, container_id=boxes[j].id, distance=round(float(cost[i, j]), 4))
        for i, (item, j) in enumerate(zip(items, where, strict=True))
        if j >= 0
    ]
    return Assigned(
        assignments=rows,
        left_out=[item.id for item, j in zip(items, where, strict=True) if j < 0],
        total=round(sum(row["distance"] for row in rows), 4),
        optimal=optimal,
    )


def _cost(item: SceneObject, box: SceneObject, place: PlaceData) -> float:
    """Way [m], inf where the object may not or cannot go."""
    if item.is_container or item.id == box.id:
        return math.inf
    if (place.get("labels") and item.label not in place["labels"]) or (place.get("colors") and item.color not in place["colors"]):
        return math.inf
    if sorted(item.size)[1] > max(box.size[:2]) - 2 * box.wall or min(item.size) > min(box.size[:2]) - 2 * box.wall:
        return math.inf
    return float(np.linalg.norm(item.position[:2] - box.position[:2]))


def _room(scene: Scene, box: SceneObject, moved: set[str]) -> float:
    """Volume [m3] that is left in a container for loose objects."""
    content = sum(float(np.prod(item.size)) for item in scene.objects if item.id not in moved and ("in", box.id) in carriers(scene, item))
    return max(0.0, FILL * float(np.prod(np.asarray(box.size) - [2 * box.wall, 2 * box.wall, box.wall])) - content)


@tool(
    group="reasoning",
    unit="optimisation_under_constraints",
    preconditions=("scene_known",),
    timeout=30.0,
    when_to_use="Before picking several objects one after the other: in which order is the way of the gripper shortest, and what must go first "
    "because something lies on it?",
    limits="Counts straight ways of the gripper, not motions around obstacles. What lies on an object comes before it.",
    examples=[
        (
            "In which order should I clear these into the bin?",
            {"jobs": [{"object_id": "block_1", "target_id": "bin_1"}, {"object_id": "pen_1", "target_id": "bin_1"}]},
        ),
        (
            "Shortest tour over three objects, the pen before the cup",
            {"jobs": [{"object_id": "cup_1"}, {"object_id": "pen_1"}, {"object_id": "can_1"}], "before": [["pen_1", "cup_1"]]},
        ),
    ],
    failures=[
        (
            "Two objects that must each come before the other",
            {"jobs": [{"object_id": "block_1"}, {"object_id": "block_3"}], "before": [["block_1", "block_3"], ["block_3", "block_1"]]},
            "impossible",
        )
    ],
)
def order_picks(
    ctx: ToolContext,
    jobs: Annotated[list[Job], Field(min_length=1, max_length=16, description="what is picked and where it goes")],
    before: Annotated[
        list[Annotated[list[str], Field(min_length=2, max_length=2)]] | None, Field(max_length=40, description="pairs [a, b] of ids: a must be picked before b")
    ] = None,
) -> Order:
    """Order picks so that the gripper's way is shortest and nothing is taken from under another object."""
    scene = last_look(ctx)
    items = [scene.get(job["object_id"]) for job in jobs]
    names = [item.id for item in items]
    if len(set(names)) < len(names):
        raise DeskhandError("invalid_input", "order_picks: jobs: an object is named twice.", retry=True)
    picks = np.array([item.position for item in items])
    places = np.array([scene.get(job["target_id"]).position if job.get("target_id") else item.position for job, item in zip(jobs, items, strict=True)])
    must = dict.fromkeys(((a, b) for a, b in before or ()), "as asked")
    must |= {(item.id, below): "it lies on it" for item in items for _, below in carriers(scene, item) if below in names}
    unknown = [name for pair in must for name in pair if name not in names]
    if unknown:
        raise DeskhandError("invalid_input", f"order_picks: before: {', '.join(unknown)} is in no job.", retry=True)
    first = np.linalg.norm(picks - ctx.robot.tcp_pose()[:3, 3], axis=1)
    cost = np.linalg.norm(places[:, None] - picks[None], axis=2)
    own = float(np.linalg.norm(places - picks, axis=1).sum())
    order, way, optimal = ordered(cost, first, [(names.index(a), names.index(b)) for a, b in must])
    possible = all(names.index(a) < names.index(b) for a, b in must)
    given = float(first[0] + sum(cost[i, i + 1] for i in range(len(items) - 1))) + own
    return Order(
        order=[names[i] for i in order],
        way=round(way + own, 4),
        way_as_given=round(given, 4) if possible else None,
        optimal=optimal,
        because=[f"{a} before {b}: {why}" for (a, b), why in must.items()],
    )


@tool(
    group="reasoning",
    unit="optimisation_under_constraints",
    preconditions=("scene_known", "object_known(container_id)"),
    timeout=30.0,
    when_to_use="To pack objects tidily side by side on the floor of a container or tray, and to see what fits: gives a place and a turn for each.",
    limits="One layer of footprints, straight or turned by a quarter; place_in drops objects where there is room and cannot keep to these "
    "places exactly, on a tray "
    "place_at with on can. Best within six seconds.",
    examples=[("Pack these three objects into the tray without overlap", {"object_ids": ["block_1", "eraser_1", "sponge_1"], "container_id": "tray_1"})],
    failures=[("What shall be packed into is no container", {"object_ids": ["block_1"], "container_id": "block_2"}, "invalid_input")],
)
def pack_container(
    ctx: ToolContext,
    object_ids: Annotated[list[ObjectId], Field(min_length=1, max_length=8, description="ids of the objects, each once")],
    container_id: ObjectId,
    gap: Annotated[float, Field(ge=0.0, le=0.05, description="[m] between objects and to the walls")] = 0.005,
) -> Packing:
    """Pack objects side by side into a container: as much as fits, with a place and a turn for each."""
    scene = last_look(ctx)
    box = scene.get(container_id)
    if not box.is_container:
        raise DeskhandError("invalid_input", f"pack_container: container_id: {container_id} is no container.", retry=True)
    items = [scene.get(name) for name in dict.fromkeys(object_ids)]
    lying = [_footprint(item) for item in items]
    floor = (float(box.size[0]) - 2 * box.wall, float(box.size[1]) - 2 * box.wall)
    found, optimal = packed(lying, floor, gap)
    turn = math.atan2(float(box.pose[1, 0]), float(box.pose[0, 0]))
    c, s = math.cos(turn), math.sin(turn)
    result = []
    for one in found:
        along = lying[one.index][0] >= lying[one.index][1]
        yaw = turn + (0.0 if along != one.turned else math.pi / 2)
        x, y = float(box.position[0]) + c * one.x - s * one.y, float(box.position[1]) + s * one.x + c * one.y
        result.append(PackedItem(object_id=items[one.index].id, x=round(x, 4), y=round(y, 4), yaw=round(math.remainder(yaw, math.pi), 4)))
    inside_ids = {item["object_id"] for item in result}
    area = sum(lying[i][0] * lying[i][1] for i, item in enumerate(items) if item.id in inside_ids)
    return Packing(
        items=result, left_out=[item.id for item in items if item.id not in inside_ids], filled=round(area / (floor[0] * floor[1]), 4), optimal=optimal
    )


def _footprint(item: SceneObject) -> tuple[float, float]:
    """Edges [m] of the upright box around it, along its own axes as it lies."""
    up = int(np.argmax(np.abs(item.pose[2, :3])))
    a, b = (float(item.size[k]) for k in range(3) if k != up)
    return a, b


@tool(
    group="reasoning",
    unit="optimisation_under_constraints",
    preconditions=("scene_known",),
    timeout=20.0,
    when_to_use="Before stacking different objects on each other: in which order does the tower stand firmest, and which objects can carry nothing?",
    limits="Centres over each other and equal density are assumed; the sizes are those that were seen. For blocks in named structures use plan_structure.",
    examples=[("Which order makes the most stable stack of these boxes?", {"object_ids": ["box_1", "block_1", "eraser_1"]})],
    failures=[("Only one of them can be stacked", {"object_ids": ["ball_1", "block_1"]}, "impossible")],
)
def stacking_order(ctx: ToolContext, object_ids: Ids) -> Stack:
    """Find the order in which objects stack most stably, from the bottom up, and how far the tower may lean."""
    scene = last_look(ctx)
    items = [scene.get(name) for name in dict.fromkeys(object_ids)]
    refused = {item.id: why for item in items if (why := _unstackable(item))}
    good = [item for item in items if item.id not in refused]
    if len(good) < 2:
        raise DeskhandError("impossible", f"at most one of these can be stacked: {'; '.join(f'{name}: {why}' for name, why in refused.items())}.")
    levels = [(min(_footprint(item)) / 2, float(item.top - item.bottom), float(np.prod(item.size))) for item in good]
    order, margin = best_tower(levels)
    return Stack(order=[good[i].id for i in order], margin=round(margin, 4), height=round(sum(level[1] for level in levels), 4), refused=refused)


def _unstackable(item: SceneObject) -> str:
    if item.is_container:
        return "a container"
    if item.shape == "sphere" or item.label in ROLLS:
        return "it rolls"
    if item.shape == "cylinder" and abs(item.pose[2, 2]) < 0.9:
        return "it lies on its side and rolls"
    return "its top is not flat" if item.shape == "other" else ""
