"""How an object on the desk looks in the arguments and results of tools."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field
from typing_extensions import NotRequired, TypedDict

from deskhand.arms.config import ArmConfig
from deskhand.skills.corrections import MODEL
from deskhand.skills.room import room_in
from deskhand.types import Scene, SceneObject
from deskhand.world.level import level
from deskhand.world.relations import Body

TOLD = 0.1
"""Names that are less likely are not told."""
MOST_NAMES = 4
ObjectId = Annotated[str, Field(min_length=1, max_length=64, description="id of an object as detect_objects gave it, for example block_1")]
Meters = Annotated[float, Field(description="[m]")]
Position = Annotated[list[float], Field(min_length=3, max_length=3, description="[x, y, z] in world [m]: x away from the robot, y to its left, z up")]


class NameData(TypedDict):
    """A name that an object may have."""

    name: str
    probability: Annotated[float, Field(description="0 to 1")]
    source: Annotated[str, Field(description="who says so: taught by a person, a detector, geometry (shape and size alone)")]


class ObjectData(TypedDict):
    """One object; positions in world: x away from the robot, y to its left, z up."""

    id: Annotated[str, Field(description="stable; what other tools take as object_id")]
    label: Annotated[str, Field(description="kind, for example block, cup, bin; object when unknown")]
    color: str
    shape: Annotated[str, Field(description="box, cylinder, sphere or other")]
    size: Annotated[list[float], Field(description="as it lies [m]: along its yaw, across it, height")]
    position: Annotated[list[float], Field(description="centre [x, y, z] in world [m]")]
    yaw: Annotated[float, Field(description="heading of its longer side about world z [rad]; opposite headings are the same, as place_at takes it")]
    is_container: Annotated[bool, Field(description="open at the top, objects can be put in")]
    support: Annotated[str, Field(description="id of what it lies on or in, or table, or gripper")]
    relation: Annotated[str, Field(description="on, in, leaning or held: how it is borne by its support")]
    confidence: Annotated[float, Field(description="0 to 1 that it is one whole object of this size")]
    label_source: NotRequired[Annotated[str, Field(description="model, where rename_object gave the label")]]
    names: NotRequired[Annotated[list[NameData], Field(description="where the label is not the only name that fits, or not geometry's: all, likeliest first")]]
    beyond_reach: NotRequired[Annotated[bool, Field(description="true of what lies too far off to be grasped: everything and all do not mean it")]]
    free_volume: NotRequired[Annotated[float, Field(description="of a container: room that is left above its contents and below its rim [m3]")]]
    free_share: NotRequired[Annotated[float, Field(description="of a container: that room as a share of all it holds when empty")]]


def object_data(item: SceneObject, arm: ArmConfig | None = None) -> ObjectData:
    """``item`` for a result; with ``arm`` also whether it lies beyond its reach."""
    lies = level(item.pose, item.size)
    data = ObjectData(
        id=item.id,
        label=item.label,
        color=item.color,
        shape=item.shape,
        size=rounded(lies.size),
        position=rounded(item.position),
        yaw=round(lies.yaw, 4),
        is_container=bool(item.is_container),
        support=item.support,
        relation=item.relation,
        confidence=round(float(item.confidence), 3),
    )
    told = [name for name in item.names if name.probability >= TOLD][:MOST_NAMES]
    if len(told) > 1 or any(name.source != "geometry" for name in told):
        data["names"] = [NameData(name=name.name, probability=round(float(name.probability), 2), source=name.source) for name in told]
    if item.label_source == MODEL:
        data["label_source"] = MODEL
    if arm is not None and Body.of(item).spine_distance(arm.world_T_base[:2, 3]) > arm.work_radius[1] + arm.gripper.finger_breadth / 2:
        data["beyond_reach"] = True
    return data


def objects_data(scene: Scene, hidden: Sequence[SceneObject] = (), arm: ArmConfig | None = None) -> list[ObjectData]:
    """All objects of a scene, containers last and with the room in them; ``hidden``: what is known to lie where it is not seen; ``arm``: see object_data."""
    whole = replace(scene, objects=(*scene.objects, *hidden))
    return [
        {**object_data(item, arm), **_room(whole, item)} if item.is_container else object_data(item, arm)  # type: ignore[typeddict-item]
        for item in sorted(scene.objects, key=lambda item: (item.is_container, item.id))
    ]


def _room(scene: Scene, container: SceneObject) -> dict[str, float]:
    room = room_in(scene, container)
    return {"free_volume": round(room.volume, 7), "free_share": round(room.share, 3)}


def rounded(values: Any, digits: int = 4) -> list[float]:
    """A vector as plain floats."""
    return [round(float(value), digits) for value in np.asarray(values, dtype=float).ravel()]


def number_or_none(value: Any, digits: int = 4) -> float | None:
    """A float for JSON; None where it is not known (NaN)."""
    number = float(value)
    return round(number, digits) if math.isfinite(number) else None


def plain(value: Any) -> Any:
    """Measured data of a skill as JSON: arrays as lists, unknown (NaN) as None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return number_or_none(value, 6)
    return int(value) if isinstance(value, np.integer) else value
