"""From composite spatial phrases to a distribution over places on the desk."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal

import cv2
import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.resources import ARRAY, IMAGE, ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array, inverse, transform_points
from deskhand.tools.looking import last_look
from deskhand.tools.objects import rounded
from deskhand.tools.perception.words import named_by
from deskhand.types import Scene, SceneObject
from deskhand.world.relations import DIRECTIONS, LEAST_OFFSET, NEAR_GAP
from deskhand.world.spatial import footprint

CELL = 0.005  # [m]
SHARP = 3.0  # concentration of directions (von Mises)
AWAY, SPREAD = 0.05, 0.06  # [m] gap to a reference that is most usual, and how far it varies
APART = 0.04  # [m] between places that are told
OFF = 0.007  # [m] by which what a look sees may lie elsewhere: 95 of 100 positions on own desks are within
BETWEEN_WIDTH = 0.35  # of the way between two objects, that a place may be beside it
WORDS = (
    (r"(?:to |on )?(?:the )?left (?:side )?of", "left_of"),
    (r"(?:to |on )?(?:the )?right (?:side )?of", "right_of"),
    (r"in front of|before", "in_front_of"),
    (r"behind|at the back of", "behind"),
    (r"between", "between"),
    (r"far (?:away )?from|away from", "far_from"),
    (r"near(?: to)?|next to|beside|close to|by", "near"),
    (r"on top of|on", "on"),
    (r"inside(?: of)?|into|in", "in"),
)
PlaceRelation = Literal["left_of", "right_of", "in_front_of", "behind", "near", "far_from", "between", "on", "in"]


class PlaceReference(TypedDict):
    """One condition on a place."""

    relation: Annotated[PlaceRelation, Field(description="as seen from the robot; between needs second_id")]
    object_id: Annotated[str, Field(min_length=1, max_length=64, description="id of the reference object")]
    second_id: Annotated[str, Field(max_length=64, description="id of the other object for between, else empty")]


class Place(TypedDict):
    """One place."""

    position: Annotated[list[float], Field(description="[x, y, z] in world [m]; z is the height of what carries it")]
    probability: Annotated[float, Field(description="share of the distribution within 4 cm of it")]


class Places(TypedDict):
    """Where a phrase may mean."""

    places: Annotated[list[Place], Field(description="best first")]
    references: Annotated[list[PlaceReference], Field(description="what was understood")]
    spread: Annotated[float, Field(description="standard deviation of the distribution [m]: how vague the phrase is")]
    heat: Annotated[ResourceRef, Field(description="array (rows along x, columns along y) of probabilities that sum to 1")]
    picture: Annotated[ResourceRef, Field(description="heat map as a picture: away from the robot is up, its left is left")]
    origin: Annotated[list[float], Field(description="[x, y] in world of the array's first cell [m]")]
    cell: Annotated[float, Field(description="[m] that a cell is long")]


@dataclass(frozen=True)
class Grid:
    """Cells of the desk: ``x`` (R, 1), ``y`` (1, C) of their centres [m]."""

    x: Array
    y: Array

    def field(self) -> Array:
        """Centres (R, C, 2)."""
        return np.stack(np.broadcast_arrays(self.x, self.y), axis=-1)


@tool(
    group="perception",
    unit="spatial_grounding",
    preconditions=("scene_known",),
    timeout=20.0,
    when_to_use="To turn a spatial phrase, also a composite one such as 'left of the cup, in front of the box and near block_1', into places on the desk, "
    "with a heat map of how likely each is meant and the best free ones.",
    limits="From the last look. A fixed model of what such words mean to people (direction and distance from each reference, multiplied), not a learned one. "
    "Directions are as seen from the robot: left_of is +y, in_front_of is nearer to it.",
    examples=[
        ("Where is 'left of the cup, in front of the box'?", {"text": "left of the cup and in front of the box"}),
        (
            "A place between two objects with room for something 4 cm wide",
            {"references": [{"relation": "between", "object_id": "block_1", "second_id": "cup_1"}], "room": 0.04},
        ),
    ],
    failures=[
        ("Neither text nor references", {}, "invalid_input"),
        ("A phrase without a relation", {"text": "somewhere nice"}, "not_understood"),
        ("The reference is not on the desk", {"references": [{"relation": "near", "object_id": "ghost_9", "second_id": ""}]}, "unknown_object"),
    ],
)
def ground_place(
    ctx: ToolContext,
    text: Annotated[str, Field(max_length=200, description="the phrase, relations joined by commas or 'and'; empty: references")] = "",
    references: Annotated[list[PlaceReference] | None, Field(min_length=1, max_length=6, description="the conditions; null: text")] = None,
    room: Annotated[float, Field(ge=0, le=0.3, description="[m] width of what shall find room there; 0: occupied places count too")] = 0.03,
    reachable: Annotated[bool, Field(description="only where the arm can put objects down from above")] = False,
    count: Annotated[int, Field(ge=1, le=10, description="how many places to tell")] = 3,
) -> Places:
    """Ground a composite spatial phrase: a probability for every place on the desk, as a heat map, and the best free places."""
    scene = last_look(ctx)
    if bool(text) == (references is not None):
        raise DeskhandError("invalid_input", "ground_place: give either text or references.")
    wanted = references if references is not None else understood(text, scene)
    grid = _grid(scene)
    weight, height = np.ones((len(grid.x), grid.y.shape[1])), 0.0
    carriers: set[str] = set()
    for reference in wanted:
        weight *= likelihood(scene, reference, grid)
        if reference["relation"] in ("on", "in"):
            item = scene.get(reference["object_id"])
            carriers.add(item.id)
            height = item.top if reference["relation"] == "on" else item.bottom + item.wall
    if room:
        weight = weight * _free(scene, grid, room, carriers)
    if reachable:
        least, most = ctx.robot.arm.work_radius
        reach = np.linalg.norm(grid.field() - ctx.robot.arm.world_T_base[:2, 3], axis=-1)
        weight = weight * ((reach >= least) & (reach <= most))
    total = float(weight.sum())
    if total < 1e-9:
        raise DeskhandError("no_free_space", "no place on the desk fits.", hint="Ask for less room or fewer conditions.")
    heat = weight / total
    field = grid.field()
    mean = (heat[..., None] * field).sum(axis=(0, 1))
    spread = float(np.sqrt((heat * ((field - mean) ** 2).sum(axis=-1)).sum()))
    return Places(
        places=_best(heat, field, height, count),
        references=list(wanted),
        spread=round(spread, 4),
        heat=ctx.resources.put(heat.astype(np.float32), ARRAY, f"probabilities of: {text or 'the references'}"),
        picture=ctx.resources.put(_drawn(heat, scene, grid), IMAGE, f"heat map of: {text or 'the references'}"),
        origin=rounded([grid.x[0, 0], grid.y[0, 0]]),
        cell=CELL,
    )


def understood(text: str, scene: Scene) -> list[PlaceReference]:
    """The conditions of a phrase.

    Raises:
        DeskhandError: ``not_understood`` naming the part that is not, ``unknown_object`` when nothing on the desk fits a reference.
    """
    plain = " ".join(text.lower().replace(";", ",").split())
    starts = "|".join(f"(?:{pattern})" for pattern, _ in WORDS)
    parts = [part for part in re.split(rf",\s*(?:and\s+)?|\s+and\s+(?=(?:{starts})\s)", plain) if part]
    result = []
    for part in parts:
        for pattern, relation in WORDS:
            said = re.match(rf"^(?:{pattern})\s+(.+)$", part)
            if said is None:
                continue
            names = re.split(r"\s+and\s+", said[1]) if relation == "between" else [said[1]]
            if relation == "between" and len(names) != 2:
                raise DeskhandError("not_understood", f"{part!r}: between needs two objects, joined by 'and'.")
            ids = [_only(name, scene) for name in names]
            result.append(PlaceReference(relation=relation, object_id=ids[0], second_id=ids[1] if len(ids) > 1 else ""))  # type: ignore[typeddict-item]
            break
        else:
            known = ", ".join(name.replace("_", " ") for _, name in WORDS)
            raise DeskhandError("not_understood", f"{part!r} names no relation to an object; known: {known}.", hint="Say for example 'left of the cup'.")
    if not result:
        raise DeskhandError("not_understood", "the phrase is empty.", hint="Say for example 'left of the cup'.")
    return result


def _only(name: str, scene: Scene) -> str:
    words = re.sub(r"^(?:the|a|an)\s+", "", name.strip())
    found = [item for item in scene.objects if item.id == words] or named_by(name, scene)[0]
    if not found:
        known = ", ".join(item.id for item in scene.objects) or "nothing"
        raise DeskhandError("unknown_object", f"nothing on the desk is {name!r}; seen: {known}.", hint="Use other words, or an id.")
    return found[0].id


def likelihood(scene: Scene, reference: PlaceReference, grid: Grid) -> Array:
    """How well each cell (R, C) meets one condition, 0 to 1.

    A direction counts by the angle to it (von Mises) and by the gap to the reference; composite phrases multiply, as in LINGO-Space (Kim et al. 2024).
    """
    item, relation = scene.get(reference["object_id"]), reference["relation"]
    field = grid.field()
    gap = _distance(item, field)
    if relation in ("on", "in"):
        return np.asarray(gap <= 0, float)
    if relation == "near":
        return np.asarray(np.exp(-np.maximum(0.0, gap) / (NEAR_GAP / 2)) * (gap < 2 * NEAR_GAP))
    if relation == "far_from":
        return np.asarray(1 - np.exp(-np.maximum(0.0, gap) / 0.2))
    if relation == "between":
        return _between(item.position[:2], scene.get(reference["second_id"]).position[:2], field)
    way = np.array(DIRECTIONS[relation])
    offset = field - item.position[:2]
    along = offset @ way
    length = np.maximum(np.linalg.norm(offset, axis=-1), 1e-6)
    angle = np.exp(SHARP * (along / length - 1))
    far = np.exp(-0.5 * ((gap - AWAY) / SPREAD) ** 2) * (gap < 0.5) + 0.02
    return np.asarray(angle * far * ((along >= LEAST_OFFSET) & (length * np.sqrt(np.maximum(0, 1 - (along / length) ** 2)) <= along)))


def _between(a: Array, b: Array, field: Array) -> Array:
    way = b - a
    length = max(float(np.linalg.norm(way)), 1e-6)
    share = (field - a) @ way / length**2
    aside = np.abs((field - a) @ np.array([-way[1], way[0]])) / length**2
    return np.asarray(np.exp(-0.5 * ((share - 0.5) / 0.15) ** 2 - 0.5 * (aside / (BETWEEN_WIDTH / 2)) ** 2) * ((share > 0) & (share < 1)))


def _distance(item: SceneObject, field: Array) -> Array:
    """[m] from the outline of an object, seen from above, to each cell (R, C); negative within."""
    outline = cv2.convexHull(footprint(item).astype(np.float32)).reshape(-1, 2).astype(float)
    edges = np.roll(outline, -1, axis=0) - outline
    relative = field[..., None, :] - outline
    share = np.clip((relative * edges).sum(axis=-1) / np.maximum((edges**2).sum(axis=-1), 1e-12), 0, 1)
    away = np.linalg.norm(relative - share[..., None] * edges, axis=-1).min(axis=-1)
    cross = edges[:, 0] * relative[..., 1] - edges[:, 1] * relative[..., 0]
    inside = (cross >= 0).all(axis=-1) | (cross <= 0).all(axis=-1)
    return np.asarray(np.where(inside, -away, away), float)


def _free(scene: Scene, grid: Grid, room: float, carriers: set[str]) -> npt.NDArray[np.bool_]:
    """Cells (R, C) where something ``room`` [m] wide touches nothing, wherever within ``OFF`` it really is, and does not hang over the edge."""
    field = grid.field()
    free = np.ones(field.shape[:2], bool)
    inside = {item.id for item in scene.objects if item.support in carriers}
    for item in scene.objects:
        if item.id not in carriers and (not carriers or item.id in inside) and item.relation != "held":
            free &= _distance(item, field) > room / 2 + OFF
    half = np.array(scene.table.size) / 2 - room / 2
    local = transform_points(inverse(scene.table.pose), np.concatenate([field, np.zeros((*field.shape[:2], 1))], axis=-1))
    return np.asarray(free & (np.abs(local[..., :2]) <= half).all(axis=-1))


def _grid(scene: Scene) -> Grid:
    half = np.array(scene.table.size) / 2
    centre = scene.table.pose[:2, 3]
    x, y = (np.arange(centre[axis] - half[axis], centre[axis] + half[axis], CELL) + CELL / 2 for axis in (0, 1))
    return Grid(x[:, None], y[None])


def _best(heat: Array, field: Array, height: float, count: int) -> list[Place]:
    near = cv2.boxFilter(heat, -1, (5, 5), normalize=False, borderType=cv2.BORDER_CONSTANT)
    near = np.where(heat > 0, near, 0.0)
    places: list[Place] = []
    while len(places) < count and near.max() > 1e-9:
        row, column = np.unravel_index(int(near.argmax()), near.shape)
        close = np.linalg.norm(field - field[row, column], axis=-1) < APART
        places.append(Place(position=rounded([*field[row, column], height]), probability=round(float(heat[close].sum()), 4)))
        near = np.where(close, 0.0, near)
    return places


def _drawn(heat: Array, scene: Scene, grid: Grid) -> npt.NDArray[np.uint8]:
    """Picture (R, C, 3) with x up and y to the left, objects outlined."""
    shade = np.clip(255 * heat / heat.max(), 0, 255).astype(np.uint8)
    image = cv2.cvtColor(cv2.applyColorMap(shade, cv2.COLORMAP_INFERNO), cv2.COLOR_BGR2RGB)
    for item in scene.objects:
        outline = cv2.convexHull(footprint(item).astype(np.float32)).reshape(-1, 2)
        cells = np.stack([(outline[:, 1] - grid.y[0, 0]) / CELL, (outline[:, 0] - grid.x[0, 0]) / CELL], axis=1)
        cv2.polylines(image, [np.round(cells).astype(np.int32)], True, (200, 200, 200), 1)
    return np.ascontiguousarray(image[::-1, ::-1])
