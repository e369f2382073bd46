"""Putting right by sight what perception found: what objects are, and which segments are one. What was measured stays."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.motion.obstacles import obstacles_from_scene
from deskhand.skills.corrections import Name
from deskhand.tools.looking import last_look
from deskhand.tools.objects import ObjectData, ObjectId, objects_data
from deskhand.tools.pictures import Pixel, check_pixel
from deskhand.types import Scene, SceneUpdate

NEAR = 0.012
"""[m] from the measured points of an object within which a pixel shows it."""
Word = Annotated[str, Field(max_length=32, pattern=r"^[A-Za-z][A-Za-z0-9 _-]*$|^$", description="one to three plain words; empty: as it is")]


class Corrected(TypedDict):
    """The desk as it is taken to be from now on."""

    objects: Annotated[list[ObjectData], Field(description="everything on the desk, as after detect_objects")]
    object_ids: Annotated[list[str], Field(description="ids of what was corrected, as they are now")]


@tool(
    group="cognition",
    unit="scene_graph_and_world_model",
    effects="memory",
    preconditions=("scene_known", "object_known(object_id)"),
    when_to_use="When the picture shows that an object is something else than its label or colour says, or more exactly something: a mug, a screwdriver, "
    "maroon. The next looks keep it.",
    limits="Changes names only: size, shape and place stay as measured. The id stays the same.",
    words="relabel name correct label colour attribute material wrong class misclassified teach",
    asked=(
        "The object labelled block is really a sponge.",
        "Correct the label of an object by what the picture shows.",
        "cup_2 is not red but maroon.",
        "This is my stapler, remember what it is.",
    ),
    examples=[
        ("The picture shows that object_1 is a stapler", {"object_id": "object_1", "label": "stapler"}),
        ("Its colour is wrong", {"object_id": "cup_2", "color": "maroon"}),
    ],
    failures=[("An object that is not known", {"object_id": "cup_99", "label": "mug"}, "unknown_object")],
)
def rename_object(ctx: ToolContext, object_id: ObjectId, label: Word = "", color: Word = "", material: Word = "") -> Corrected:
    """Correct what an object is called, its colour or its material, by what the picture shows."""
    last_look(ctx).get(object_id)
    new = Name(label.strip().lower().replace(" ", "_"), color.strip().lower(), material.strip().lower())
    if new == Name():
        raise DeskhandError("invalid_input", "nothing is corrected: give a label, a color or a material.")
    old = ctx.belief.corrections.names.get(object_id, Name())
    ctx.belief.corrections.names[object_id] = Name(new.label or old.label, new.color or old.color, new.material or old.material)
    return _corrected(ctx, [object_id])


@tool(
    group="cognition",
    unit="scene_graph_and_world_model",
    effects="memory",
    needs=("camera",),
    preconditions=("scene_known", "object_known(object_id)"),
    timeout=20.0,
    when_to_use="When the picture shows that one object of the last look is really several that touch: give a pixel on each of them.",
    limits="The measured points go to the nearest of the pixels' points; at most 6 parts. The parts have new ids, and are kept apart as long as they are "
    "seen so.",
    words="separate segments cut apart two objects seen as one undersegmented touching",
    asked=(
        "block_1 is really two blocks side by side.",
        "One detection covers two objects, cut it apart.",
        "These are three pens, not one object.",
        "Undersegmentation: split the segment at what the image shows.",
    ),
    examples=[("The picture shows two blocks where the look has one", {"object_id": "block_1", "pixels": [[210, 180], [250, 182]]})],
    failures=[("An object that is not known", {"object_id": "cup_99", "pixels": [[10, 10], [20, 20]]}, "unknown_object")],
)
def split_object(
    ctx: ToolContext,
    object_id: ObjectId,
    pixels: Annotated[list[Pixel], Field(min_length=2, max_length=6, description="[column, row] on each of the parts, in a picture as mark_picture gives it")],
) -> Corrected:
    """Say that what was seen as one object is several, by a pixel on each."""
    item = last_look(ctx).get(object_id)
    frame = ctx.robot.observe()
    points = frame.points()
    seeds = []
    for pixel in pixels:
        row, column = check_pixel(pixel, points.shape)
        near = points[max(0, row - 2) : row + 3, max(0, column - 2) : column + 3].reshape(-1, 3)
        near = near[np.isfinite(near).all(axis=1)]
        seed = np.median(near, axis=0) if len(near) else np.full(3, np.inf)
        if not len(item.points) or np.linalg.norm(item.points - seed, axis=1).min() > NEAR:
            raise DeskhandError("invalid_input", f"the pixel {pixel} does not show {object_id}.", hint="Call mark_picture, and give pixels inside its box.")
        seeds.append(np.asarray(seed, dtype=float))
    return _corrected(ctx, list(ctx.belief.corrections.split(item, seeds)))


@tool(
    group="cognition",
    unit="scene_graph_and_world_model",
    effects="memory",
    preconditions=("scene_known",),
    when_to_use="When the picture shows that several objects of the last look are really one object: a cup and its handle, a printed box cut at its label.",
    limits="They must lie within 3 cm of each other. The box of the whole is put around what was measured of the parts. The largest one's id stays.",
    words="join unite group segments one object seen as several oversegmented fragments handle",
    asked=(
        "block_1 and block_2 are one and the same box.",
        "The handle belongs to the cup, join them.",
        "Oversegmentation: unite these fragments.",
        "What was detected as two objects is a single stapler.",
    ),
    examples=[("A cup and its handle", {"object_ids": ["cup_1", "object_2"], "label": "mug"})],
    failures=[("An object that is not known", {"object_ids": ["cup_99", "cup_98"]}, "unknown_object")],
)
def merge_objects(
    ctx: ToolContext,
    object_ids: Annotated[list[ObjectId], Field(min_length=2, max_length=8, description="what is one object")],
    label: Word = "",
) -> Corrected:
    """Say that what was seen as several objects is one."""
    scene = last_look(ctx)
    items = [scene.get(name) for name in dict.fromkeys(object_ids)]
    if len(items) < 2:
        raise DeskhandError("invalid_input", "one object cannot be merged with itself: name two.")
    kept = ctx.belief.corrections.join(items)
    if label:
        ctx.belief.corrections.names[kept] = Name(label.strip().lower().replace(" ", "_"))
    return _corrected(ctx, [kept])


def _corrected(ctx: ToolContext, names: list[str]) -> Corrected:
    """Take the last look anew, corrected, and tell the planner."""
    belief = ctx.belief
    scene: Scene = belief.corrections.apply(last_look(ctx))
    belief.scene = scene
    if belief.memory is not None:
        belief.memory.looked(scene, None)
    ctx.robot.update_scene(SceneUpdate(replace=obstacles_from_scene(scene)))
    return Corrected(objects=objects_data(scene, belief.hidden, ctx.robot.arm), object_ids=names)
