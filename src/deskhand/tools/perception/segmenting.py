"""Cutting objects out of the picture: by a prompt, or all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import cv2
import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.resources import ARRAY, IMAGE, ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.annotate import annotate
from deskhand.perception.segment.segmentation import components
from deskhand.tools.looking import look
from deskhand.tools.objects import ObjectId, rounded
from deskhand.tools.perception.words import Phrase, named_by
from deskhand.tools.pictures import Box2d, Mask, Pixel, box_of, check_box, check_pixel, put_mask
from deskhand.tools.viewing import SETTINGS, DeskView, desk_view, owners, pasted

Labels = npt.NDArray[np.int32]
ANY_COLOR = 9.0  # difference of chromaticity that nothing has
ROUNDS = 4  # of GrabCut
AROUND = 12  # [px] around a prompt that GrabCut sees as background


class CutOut(TypedDict):
    """One object, cut out."""

    mask: Annotated[ResourceRef, Field(description="picture that is white where the object is")]
    box: Annotated[list[int], Field(description="[left, top, width, height] in the picture [px]")]
    pixels: int
    position: Annotated[list[float] | None, Field(description="middle of its seen points [x, y, z] in world [m]; null without depth")]
    extent: Annotated[list[float] | None, Field(description="extent of its seen points along world x, y, z [m]; null without depth")]
    object_id: Annotated[str, Field(description="object that the text named; empty for other prompts")]


class Instance(TypedDict):
    """One object's part of the label picture."""

    number: Annotated[int, Field(description="its value in the label picture, 1 and up")]
    object_id: str
    label: str
    box: Annotated[list[int], Field(description="[left, top, width, height] [px]")]
    pixels: int


class Instances(TypedDict):
    """All objects of a new look, cut out."""

    instances: list[Instance]
    labels: Annotated[ResourceRef, Field(description="array (H, W) of uint8: 0 for none, else the number of the instance")]
    picture: Annotated[ResourceRef, Field(description="the picture with the objects drawn into it")]


@tool(
    group="perception",
    unit="segmentation_and_tracking",
    effects="memory",
    needs=("camera",),
    timeout=60.0,
    when_to_use="To cut one object out of the picture by pointing at it: a pixel on it, a box around it, or words for it; for parts and for objects that "
    "detect_objects does not tell apart.",
    limits="Classical, no learned model: depth takes what hangs together in space (objects that touch are one), surface stops where the "
    "colour changes, color (GrabCut) parts by colour. Give exactly one of point, box and text. "
    "What has the colour of its surroundings and no edge in depth is not cut well.",
    examples=[
        ("Segment the object at a pixel that somebody clicked", {"point": [320, 240]}),
        ("Get the mask of what is inside a box", {"box": [280, 200, 80, 60], "method": "color"}),
        ("Prompted segmentation by text", {"text": "the red block"}),
    ],
    failures=[
        ("Two prompts at once", {"point": [10, 10], "text": "the cup"}, "invalid_input"),
        ("A pixel outside of the picture", {"point": [9000, 10]}, "invalid_input"),
        ("Nothing stands at the prompt", {"point": [5, 5]}, "object_lost"),
    ],
)
def segment_by_prompt(
    ctx: ToolContext,
    point: Annotated[Pixel | None, Field(description="[column, row] of a pixel on the object [px]; null: another prompt")] = None,
    box: Annotated[Box2d | None, Field(description="[left, top, width, height] around the object [px]; null: another prompt")] = None,
    text: Annotated[Phrase | None, Field(description="words for the object, such as 'the red block'; null: another prompt")] = None,
    method: Annotated[
        Literal["depth", "surface", "color"],
        Field(description="depth: all that hangs together in space; surface: only while the colour stays; color: GrabCut in the picture alone"),
    ] = "depth",
) -> CutOut:
    """Segment what a prompt (a point, a box or words) means: its mask, box, place and extent in space."""
    if sum(prompt is not None for prompt in (point, box, text)) != 1:
        raise DeskhandError("invalid_input", "segment_by_prompt: give exactly one of point, box and text.")
    found = ""
    scene = None
    if text is not None:
        scene, _ = look(ctx)
        objects, _ = named_by(text, scene)
        if not objects:
            seen = ", ".join(item.id for item in scene.objects) or "nothing"
            raise DeskhandError("object_lost", f"nothing is seen that {text!r} names; seen: {seen}.", hint="Use other words, or a point.")
        found = objects[0].id
    view = desk_view(ctx)
    shape = view.objects.shape
    if scene is not None:
        start = owners(view, scene) == [item.id for item in scene.objects].index(found)
    elif point is not None:
        start = _grown(_parts(view, method), check_pixel(point, shape))
    else:
        assert box is not None
        start = _largest(_parts(view, method), check_box(box, shape))
    mask = _grab_cut(view, start, box) if method == "color" else start
    if not mask.any():
        raise DeskhandError("object_lost", "nothing above the table is at the prompt.", hint="Point at an object, or use method color.")
    points = view.points[mask & (view.valid | view.filled)]
    points = points[np.isfinite(points).all(axis=1)]
    place = rounded(np.median(points, axis=0)) if len(points) else None
    extent = rounded(np.ptp(np.quantile(points, [0.01, 0.99], axis=0), axis=0)) if len(points) else None
    words = found or "the prompt"
    return CutOut(
        mask=put_mask(ctx.resources, mask, f"mask of {words}"), box=box_of(mask), pixels=int(mask.sum()), position=place, extent=extent, object_id=found
    )


@tool(
    group="perception",
    unit="segmentation_and_tracking",
    effects="memory",
    needs=("camera",),
    postconditions=("scene_known",),
    timeout=60.0,
    when_to_use="To get the pixels of every object at once (instance segmentation), for example to count, crop, mask out or overlay them.",
    limits="Shows the objects that detect_objects finds; pixels without depth at their edges may be left out. At most 255 objects.",
    examples=[("Instance segmentation of the whole desk", {}), ("Which pixels belong to which object?", {})],
    failures=[("The camera does not see the table", {}, "no_table")],
)
def segment_instances(
    ctx: ToolContext, only: Annotated[list[ObjectId] | None, Field(max_length=255, description="ids to cut out; null: all")] = None
) -> Instances:
    """Segment every object in a new picture: one label picture, and number, id, box and pixels of each."""
    scene, _ = look(ctx)
    wanted = [scene.get(name).id for name in only] if only is not None else [item.id for item in scene.objects]
    view = desk_view(ctx)
    own = owners(view, scene)
    labels = np.zeros(own.shape, np.uint8)
    instances: list[Instance] = []
    for place, item in enumerate(scene.objects):
        mask = own == place
        if item.id in wanted and mask.any():
            labels[mask] = number = len(instances) + 1
            instances.append(Instance(number=number, object_id=item.id, label=item.label, box=box_of(mask), pixels=int(mask.sum())))
    drawn = ctx.resources.put(annotate(view.frame, scene), IMAGE, "the picture with the objects drawn in")
    return Instances(instances=instances, labels=ctx.resources.put(labels, ARRAY, "instances"), picture=drawn)


# ---------------------------------------------------------------- by depth


def _parts(view: DeskView, method: str) -> Labels:
    """Label picture (H, W) of what hangs together, 0 for nothing."""
    settings = SETTINGS if method == "surface" else replace(SETTINGS, chroma_step=ANY_COLOR)
    part = view.part if method == "surface" else replace(view.part, light=np.full_like(view.part.light, 128))
    return pasted(part, components(part, part.objects, settings))


def _grown(labels: Labels, pixel: tuple[int, int]) -> Mask:
    """The part at a pixel, or the one that is most around it, (H, W)."""
    row, column = pixel
    near = labels[max(0, row - 4) : row + 5, max(0, column - 4) : column + 5]
    number = int(labels[row, column]) or int(np.bincount(near.reshape(-1))[1:].argmax() + 1 if near.any() else 0)
    return np.asarray(labels == number) if number else np.zeros(labels.shape, bool)


def _largest(labels: Labels, window: tuple[slice, slice]) -> Mask:
    """The parts in a box that lie in it for the most part, (H, W)."""
    inside = np.zeros(labels.shape, bool)
    inside[window] = True
    whole, within = np.bincount(labels.reshape(-1)), np.bincount(labels[inside], minlength=labels.max() + 1)
    mostly = np.nonzero(within > 0.6 * np.maximum(1, whole))[0]
    return np.asarray(inside & np.isin(labels, mostly[mostly > 0]))


# ---------------------------------------------------------------- by colour


def _grab_cut(view: DeskView, start: Mask, box: list[int] | None) -> Mask:
    """GrabCut (Rother, Kolmogorov and Blake 2004) within a box, or around what depth has found."""
    image = np.ascontiguousarray(view.frame.color[..., ::-1])
    marks = np.full(start.shape, cv2.GC_BGD, np.uint8)
    back, front = np.zeros((1, 65)), np.zeros((1, 65))
    left, top, width, height = box if box is not None else box_of(start)
    if width == 0:
        return start
    if box is None:
        window = slice(max(0, top - AROUND), top + height + AROUND), slice(max(0, left - AROUND), left + width + AROUND)
        marks[window] = cv2.GC_PR_BGD
        marks[start] = cv2.GC_PR_FGD
        marks[cv2.erode(start.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0] = cv2.GC_FGD
    else:
        marks[check_box(box, start.shape)] = cv2.GC_PR_FGD
    cv2.setRNGSeed(0)
    cv2.grabCut(image, marks, None, back, front, ROUNDS, cv2.GC_INIT_WITH_MASK)
    mask = ((marks == cv2.GC_FGD) | (marks == cv2.GC_PR_FGD)).astype(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
    return np.asarray(labels == int(stats[1:, cv2.CC_STAT_AREA].argmax()) + 1) if len(stats) > 1 else np.zeros(start.shape, bool)
