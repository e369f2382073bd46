"""Where an object is, in the picture and in space, and its cut-out picture."""

from __future__ import annotations

import math
from typing import Annotated

import cv2
import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.resources import IMAGE, ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import inverse, transform_points
from deskhand.tools.looking import look
from deskhand.tools.objects import ObjectId, rounded
from deskhand.tools.perception.words import named_by
from deskhand.tools.pictures import Box2d, Mask, box_of, check_box, picture
from deskhand.tools.viewing import desk_view, owners
from deskhand.types import Image, Scene, SceneObject

GREY = 127


class Location(TypedDict):
    """Where one object is."""

    object_id: str
    box: Annotated[list[int], Field(description="[left, top, width, height] in the picture [px]")]
    pixel: Annotated[list[float], Field(description="[column, row] of its centre in the picture [px]")]
    visible: Annotated[float, Field(description="share of the outline of its box in the picture whose pixels show it, 0 to 1")]
    world: Annotated[list[float], Field(description="centre [x, y, z] in world [m]")]
    base: Annotated[list[float], Field(description="centre [x, y, z] in the frame of the arm's base [m]")]
    camera: Annotated[list[float], Field(description="centre [x, y, z] in the camera's optical frame (x right, y down, z forward) [m]")]
    bearing: Annotated[float, Field(description="direction from the arm's base, 0 straight ahead, positive to its left [rad]")]
    distance: Annotated[float, Field(description="from the arm's base along the desk [m]")]
    top: Annotated[float, Field(description="height of its highest point above the table [m]")]


class Locations(TypedDict):
    """All objects that fit, nearest to the arm first."""

    locations: list[Location]


class Crop(TypedDict):
    """A cut-out picture."""

    picture: ResourceRef
    box: Annotated[list[int], Field(description="[left, top, width, height] that it shows of the whole picture [px]")]
    scale: Annotated[float, Field(description="pixels of the cut-out for one of the picture")]


@tool(
    group="perception",
    unit="pose_and_localisation",
    effects="memory",
    needs=("camera",),
    postconditions=("scene_known",),
    timeout=30.0,
    when_to_use="To learn where objects are in every frame at once: in the picture (2-D), in world, base and camera (3-D), how far and which way from the arm.",
    limits="Takes a new look; where an object was at another time tells where_is. The centre of what is partly hidden is estimated.",
    examples=[
        ("2-D and 3-D location of the cup", {"words": "the cup"}),
        ("How far from the arm, and in which direction, is block_1?", {"words": "block_1"}),
    ],
    failures=[("Nothing like it is on the desk", {"words": "a grand piano"}, "object_lost")],
)
def locate_object(ctx: ToolContext, words: Annotated[str, Field(min_length=2, max_length=80, description="id or words, for example 'red block'")]) -> Locations:
    """Locate an object by id or words in a new picture: pixel box and centre, position in world, base and camera frames, distance and bearing."""
    scene, _ = look(ctx)
    found = [item for item in scene.objects if item.id == words] or named_by(words, scene)[0]
    if not found:
        seen = ", ".join(f"{item.id} ({item.color} {item.label})" for item in scene.objects) or "nothing"
        raise DeskhandError("object_lost", f"nothing is seen that {words!r} names; seen: {seen}.", hint="Use other words, or an id.")
    view = desk_view(ctx)
    own = owners(view, scene)
    base_T_world = inverse(ctx.robot.arm.world_T_base)
    locations = []
    for item in found:
        mask = own == [other.id for other in scene.objects].index(item.id)
        base = transform_points(base_T_world, item.position)
        outline = _outline(item, view.frame.project(_corners(item)), mask.shape)
        locations.append(
            Location(
                object_id=item.id,
                box=box_of(mask) if mask.any() else [int(value) for value in item.box2d],
                pixel=rounded(view.frame.project(item.position)[0], 1),
                visible=round(float(mask.sum()) / max(1, int((outline | mask).sum())), 3),
                world=rounded(item.position),
                base=rounded(base),
                camera=rounded(transform_points(inverse(view.frame.world_T_camera), item.position)),
                bearing=round(math.atan2(float(base[1]), float(base[0])), 4),
                distance=round(math.hypot(float(base[0]), float(base[1])), 4),
                top=round(item.top, 4),
            )
        )
    return Locations(locations=sorted(locations, key=lambda where: where["distance"]))


def _corners(item: SceneObject) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    return transform_points(item.pose, signs * item.size / 2)


def _outline(item: SceneObject, pixels: np.ndarray[tuple[int, ...], np.dtype[np.float64]], shape: tuple[int, ...]) -> Mask:
    """Pixels (H, W) that its oriented box covers."""
    picture = np.zeros(shape, np.uint8)
    if np.isfinite(pixels).all():
        cv2.fillConvexPoly(picture, cv2.convexHull(np.round(pixels).astype(np.int32)), 1)
    return picture > 0


@tool(
    group="perception",
    unit="spatial_grounding",
    effects="memory",
    needs=("camera",),
    timeout=30.0,
    when_to_use="To show one object or region large, to a person, a vision model or another tool: its cut-out picture, on request without the rest.",
    limits="Cuts, scales and masks a picture; sees nothing in it. With an object id a new look is taken.",
    examples=[
        ("Zoom in on an object for a closer look at it", {"object_id": "cup_1", "margin": 10, "size": 256}),
        ("Cut a region out of a stored picture", {"box": [100, 80, 200, 150], "picture_uri": "deskhand://c"}),
    ],
    failures=[
        ("Neither object nor box", {}, "invalid_input"),
        ("The box is outside of the picture", {"box": [9000, 0, 10, 10]}, "invalid_input"),
    ],
)
def crop_object(
    ctx: ToolContext,
    object_id: Annotated[str, Field(max_length=64, description="id of the object; empty: box")] = "",
    box: Annotated[Box2d | None, Field(description="[left, top, width, height] of the region [px]; null: object_id")] = None,
    picture_uri: Annotated[str, Field(max_length=200, description="uri of the picture that the box is cut from; empty: a new one")] = "",
    margin: Annotated[int, Field(ge=0, le=500, description="[px] around it that are shown too")] = 8,
    size: Annotated[int, Field(ge=0, le=2000, description="[px] that the longer side shall have; 0: as it is")] = 0,
    alone: Annotated[bool, Field(description="make all grey that is not the object; needs object_id")] = False,
) -> Crop:
    """Cut an object or region out of the picture, enlarged and without its surroundings when asked."""
    if bool(object_id) == (box is not None) or (object_id and picture_uri) or (alone and not object_id):
        raise DeskhandError("invalid_input", "crop_object: give object_id, or box (and picture_uri); alone needs object_id.")
    if object_id:
        image, box = _object_picture(ctx, object_id, alone)
    else:
        image = picture(ctx, picture_uri)
    assert box is not None
    rows, columns = check_box(box, image.shape)
    rows = slice(max(0, rows.start - margin), min(image.shape[0], rows.stop + margin))
    columns = slice(max(0, columns.start - margin), min(image.shape[1], columns.stop + margin))
    part = np.ascontiguousarray(image[rows, columns])
    scale = size / max(part.shape[:2]) if size else 1.0
    if size:
        wanted = max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale))
        part = cv2.resize(part, wanted, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    shown = [columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start]
    return Crop(picture=ctx.resources.put(part, IMAGE, f"cut-out of {object_id or box}"), box=shown, scale=round(scale, 4))


def _object_picture(ctx: ToolContext, object_id: ObjectId, alone: bool) -> tuple[Image, list[int]]:
    """A new picture, and where an object is in it."""
    scene: Scene = look(ctx)[0]
    item = scene.get(object_id)
    view = desk_view(ctx)
    mask = owners(view, scene) == [other.id for other in scene.objects].index(item.id)
    if not mask.any():
        raise DeskhandError("object_lost", f"no pixel of {object_id} is seen.", hint="Look again from where it is seen.")
    image = view.frame.color.copy()
    if alone:
        image[~mask] = GREY
    return image, box_of(mask)
