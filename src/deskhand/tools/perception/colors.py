"""Grounding colours in the picture."""

from __future__ import annotations

from typing import Annotated

import cv2
import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import NotRequired, TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.resources import ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.language.lexicon import color_of
from deskhand.perception.color import lit_color, name_color
from deskhand.perception.view import is_level
from deskhand.tools.objects import ObjectId, rounded
from deskhand.tools.pictures import Mask, box_of, put_mask
from deskhand.tools.viewing import DeskView, desk_view, owners
from deskhand.types import Image, Scene
from deskhand.types.colors import NAMED, PALETTE, lab_of

COLORS = ("red", "orange", "yellow", "green", "cyan", "blue", "purple", "pink", "brown", "black", "grey", "white")
STEP = 8  # of 255: colours that share such a cell share their name
FEWEST = 20  # pixels that tell an object's colour
SPREAD = 15.0  # in CIELAB: what is so much farther from the word is e times less likely meant; a white balance that is off moves colours by about as much
JOIN = 5  # [px] over which parts of one colour are one region


class ColorRegion(TypedDict):
    """A connected part of the picture in the colour."""

    box: Annotated[list[int], Field(description="[left, top, width, height] in the picture [px]")]
    pixels: int
    center: Annotated[list[float], Field(description="[column, row] of its middle [px]")]
    position: Annotated[list[float] | None, Field(description="middle of its seen points [x, y, z] in world [m]; null without depth")]
    rgb: Annotated[list[int], Field(description="its median colour, 0 to 255")]
    object_id: Annotated[str, Field(description="object of the last look that most of it shows; empty for none, or before the first look")]


class RankedColor(TypedDict):
    """How near an object's colour is to the word."""

    object_id: str
    rgb: Annotated[list[int], Field(description="its colour as its level sides show it, 0 to 255")]
    distance: Annotated[float, Field(description="to the word's colour in CIELAB")]
    confidence: Annotated[float, Field(description="0 to 1: that of the candidates this one is meant")]


class ColorRegions(TypedDict):
    """Where a colour is, largest region first."""

    regions: list[ColorRegion]
    mask: Annotated[ResourceRef, Field(description="picture that is white where the colour is")]
    seen: Annotated[dict[str, int], Field(description="pixels of every colour above the table")]
    ranked: NotRequired[Annotated[list[RankedColor], Field(description="the candidates, nearest to the word first")]]
    gap: NotRequired[Annotated[float, Field(description="confidence of the first candidate less that of the second")]]


@tool(
    group="perception",
    unit="detection",
    needs=("camera",),
    timeout=30.0,
    when_to_use="To ground a colour word in the picture: which regions are red, where in the picture and in space, and which objects they belong to; also for "
    "parts of an object, such as the blue lid, and when detect_objects calls the colour something else. With candidates: which of them is meant by a fine word "
    "such as maroon, teal or silver.",
    limits="Names pixels one by one as they are lit: shadows turn dark, highlights white. Regions of one colour that touch are one. Looks only above the table "
    "unless on_table is set.",
    examples=[
        ("Where in the image is something green?", {"color": "green"}),
        ("Ground the colour word red to regions and objects, also stains on the table", {"color": "red", "on_table": True}),
    ],
    failures=[("A word that is no colour", {"color": "fast"}, "invalid_input")],
)
def color_grounding(
    ctx: ToolContext,
    color: Annotated[
        str, Field(min_length=2, max_length=32, description="name of a colour, for example red; mixed names such as crimson count as their basic one")
    ],
    on_table: Annotated[bool, Field(description="also look at the table itself and at what lies flat on it")] = False,
    min_pixels: Annotated[int, Field(ge=4, le=100000, description="smaller regions are left out [px]")] = 60,
    candidates: Annotated[list[ObjectId] | None, Field(max_length=60, description="objects of the last look that are ranked by how well the word fits")] = None,
) -> ColorRegions:
    """Ground a colour word: every region of the picture in that colour, with box, place in space and the object it belongs to, and a mask."""
    name = color_of(color.strip().lower()).replace("gray", "grey")
    if name not in COLORS and color.strip().lower() not in NAMED:
        raise DeskhandError("invalid_input", f"{color!r} is no colour that is known; valid: {', '.join(dict.fromkeys((*COLORS, *PALETTE)))}.")
    view = desk_view(ctx)
    named = named_pixels(view.frame.color)
    where = view.valid | view.filled if on_table else view.objects
    mask = (named == COLORS.index(name)) & where & ~view.robot
    own = owners(view, ctx.belief.scene) if ctx.belief.scene is not None else np.full(mask.shape, -1, np.int32)
    ids = [item.id for item in ctx.belief.scene.objects] if ctx.belief.scene is not None else []
    joined = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((JOIN, JOIN), np.uint8))
    count, labels = cv2.connectedComponents(joined)
    parts = [mask & (labels == number) for number in range(1, count)]
    parts = sorted((part for part in parts if part.sum() >= min_pixels), key=lambda part: -int(part.sum()))
    kept = np.logical_or.reduce(parts) if parts else np.zeros(mask.shape, bool)
    regions = [_region(part, view.frame.color, view.points, own, ids) for part in parts]
    counts = {each: int(((named == number) & view.objects).sum()) for number, each in enumerate(COLORS)}
    result = ColorRegions(regions=regions, mask=put_mask(ctx.resources, kept, f"where it is {name}"), seen={each: n for each, n in counts.items() if n})
    if candidates:
        result["ranked"], result["gap"] = _ranked(color.strip().lower(), view, ctx.belief.scene, own, candidates)
    return result


def _ranked(word: str, view: DeskView, scene: Scene | None, own: npt.NDArray[np.int32], candidates: list[str]) -> tuple[list[RankedColor], float]:
    """Candidates by their distance in CIELAB, and the gap; a word that the palette lacks counts as its basic one."""
    if scene is None:
        raise DeskhandError("precondition_failed", "nobody has looked at the desk yet.", hint="Call detect_objects first.")
    basic = color_of(word)
    prototype = lab_of(NAMED.get(word) or PALETTE["gray" if basic == "grey" else basic])
    places = {item.id: number for number, item in enumerate(scene.objects)}
    found: list[tuple[float, str, npt.NDArray[np.float64]]] = []
    for name in candidates:
        scene.get(name)
        pixels = np.flatnonzero(own == places[name])
        if len(pixels) >= FEWEST:
            rgb = lit_color(view.frame.color.reshape(-1, 3)[pixels], is_level(view.points, pixels))
            found.append((float(np.linalg.norm(lab_of(rgb) - prototype)), name, rgb))
    found.sort(key=lambda one: one[:2])
    weights = np.exp(-np.array([one[0] for one in found]) / SPREAD) if found else np.zeros(0)
    shares = weights / max(float(weights.sum()), 1e-12)
    rows = [
        RankedColor(object_id=name, rgb=[round(float(value)) for value in rgb], distance=round(distance, 1), confidence=round(float(share), 3))
        for (distance, name, rgb), share in zip(found, shares, strict=True)
    ]
    return rows, round(float(shares[0] - shares[1]) if len(shares) > 1 else 1.0, 3)


def named_pixels(color: Image) -> npt.NDArray[np.int8]:
    """Place in :data:`COLORS` of every pixel's colour (H, W)."""
    cells = (cv2.medianBlur(np.ascontiguousarray(color), 5) // STEP).astype(np.int32)
    keys = (cells[..., 0] * 32 + cells[..., 1]) * 32 + cells[..., 2]
    unique, inverse = np.unique(keys, return_inverse=True)
    middle = np.stack([unique // 1024, unique // 32 % 32, unique % 32], axis=1) * STEP + STEP / 2
    numbers = {name: number for number, name in enumerate(COLORS)}
    names = np.array([numbers.get(name_color(rgb), -1) for rgb in middle.astype(float)], np.int8)
    return np.asarray(names[inverse.reshape(keys.shape)])


def _region(part: Mask, color: Image, points: npt.NDArray[np.float32], own: npt.NDArray[np.int32], ids: list[str]) -> ColorRegion:
    rows, columns = np.nonzero(part)
    seen = points[part]
    seen = seen[np.isfinite(seen).all(axis=1)]
    known = own[part]
    known = known[known >= 0]
    most = int(np.bincount(known).argmax()) if len(known) > 0.5 * len(rows) else -1
    return ColorRegion(
        box=box_of(part),
        pixels=len(rows),
        center=[round(float(columns.mean()), 1), round(float(rows.mean()), 1)],
        position=rounded(np.median(seen, axis=0)) if len(seen) else None,
        rgb=[int(value) for value in np.median(color[part], axis=0)],
        object_id=ids[most] if most >= 0 else "",
    )
