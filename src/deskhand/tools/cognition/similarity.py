"""How alike two objects or two pictures are."""

from __future__ import annotations

from typing import Annotated

import cv2
import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.resources import ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array, inverse, rotation_about, transform_points
from deskhand.perception.neighbours import nearest
from deskhand.tools.looking import look
from deskhand.tools.objects import ObjectId
from deskhand.tools.pictures import PictureUri, put_mask, stored_pictures
from deskhand.tools.viewing import desk_view, owners
from deskhand.types import Image, SceneObject

COLOR_SCALE = 25.0  # difference in CIE Lab at which colours are called unlike
SHAPE_SCALE = 0.006  # [m] mean distance of the surfaces at which shapes are called unlike
CHANGED = 28  # of 255
SPECK = 40  # [px]
LIT = 0.6  # share of the pixels, from the darkest, that do not tell a colour


class Likeness(TypedDict):
    """How alike two objects are, 1: the same to the camera."""

    similarity: Annotated[float, Field(description="0 to 1: the product of size, shape and color")]
    size: Annotated[float, Field(description="0 to 1: by the ratios of their extents")]
    shape: Annotated[float, Field(description="0 to 1: by the distance of their seen surfaces, laid over each other and brought to one size")]
    color: Annotated[float, Field(description="0 to 1: by the distance of their median colours as people see it")]
    same_kind: Annotated[bool, Field(description="perception calls them the same")]
    reason: str


class LikenessOfMany(TypedDict):
    """One object against others, most alike first."""

    object_ids: list[str]
    likeness: list[Likeness]


class PictureLikeness(TypedDict):
    """How alike two pictures are."""

    ssim: Annotated[float, Field(description="structural similarity, 1 for the same picture")]
    colors: Annotated[float, Field(description="0 to 1: how much their colour histograms share")]
    shift: Annotated[list[float], Field(description="[columns, rows] by which the second is shifted against the first [px]")]
    changed: Annotated[float, Field(description="share of pixels that differ, 0 to 1")]
    regions: Annotated[list[list[int]], Field(description="[left, top, width, height] of what differs, largest first [px]")]
    mask: Annotated[ResourceRef, Field(description="picture that is white where they differ")]


@tool(
    group="cognition",
    unit="representation_and_similarity",
    effects="memory",
    needs=("camera",),
    postconditions=("scene_known",),
    timeout=30.0,
    when_to_use="To find how alike objects are in size, shape and colour: which is most like this one, do two form a pair, is it the same object as before?",
    limits="Compares what one view shows of them; their hidden sides may differ. Fixed measures, no learned embedding; print on them does not count.",
    examples=[
        ("Which objects are most similar to this one?", {"object_id": "block_1"}),
        ("Are these two alike?", {"object_id": "cup_1", "others": ["cup_2"]}),
    ],
    failures=[("The object is not on the desk", {"object_id": "ghost_9"}, "unknown_object")],
)
def compare_objects(
    ctx: ToolContext,
    object_id: ObjectId,
    others: Annotated[list[ObjectId] | None, Field(min_length=1, max_length=100, description="ids to compare it with; null: all others")] = None,
) -> LikenessOfMany:
    """Compare an object with others in size, shape and colour in a new picture, most alike first."""
    scene, _ = look(ctx)
    item = scene.get(object_id)
    chosen = [scene.get(name) for name in others] if others is not None else [other for other in scene.objects if other.id != object_id]
    view = desk_view(ctx)
    own = owners(view, scene)
    places = {other.id: number for number, other in enumerate(scene.objects)}
    lab = cv2.cvtColor(view.frame.color.astype(np.float32) / 255, cv2.COLOR_RGB2Lab)

    def seen_color(obj: SceneObject) -> Array:
        pixels = lab[own == places[obj.id]]
        if not len(pixels):
            return np.full(3, np.nan)
        lit = pixels[pixels[:, 0] >= np.quantile(pixels[:, 0], LIT)]  # sides in the shade are darker, and how much of them is seen differs
        return np.asarray(np.median(lit, axis=0), float)

    mine = seen_color(item)
    pairs = [(other.id, likeness(item, other, mine, seen_color(other))) for other in chosen]
    pairs.sort(key=lambda pair: -pair[1]["similarity"])
    return LikenessOfMany(object_ids=[name for name, _ in pairs], likeness=[like for _, like in pairs])


def likeness(a: SceneObject, b: SceneObject, color_a: Array, color_b: Array) -> Likeness:
    """Of two objects with their median colours in CIE Lab."""
    ratios = np.minimum(np.sort(a.size), np.sort(b.size)) / np.maximum(np.maximum(np.sort(a.size), np.sort(b.size)), 1e-6)
    size = float(ratios.prod())
    off = surface_distance(a, b)
    shape = float(np.exp(-((off / SHAPE_SCALE) ** 2)))
    difference = float(np.linalg.norm((color_a - color_b) * [0.5, 1.0, 1.0])) if np.isfinite([color_a, color_b]).all() else COLOR_SCALE
    color = float(np.exp(-((difference / COLOR_SCALE) ** 2)))
    reason = f"extents by a factor of {1 / max(ratios.min(), 1e-3):.2f}, surfaces {1000 * off:.1f} mm apart, colours {difference:.0f} apart (Lab)."
    return Likeness(
        similarity=round(size * shape * color, 4),
        size=round(size, 4),
        shape=round(shape, 4),
        color=round(color, 4),
        same_kind=a.label == b.label,
        reason=reason,
    )


def surface_distance(a: SceneObject, b: SceneObject) -> float:
    """Mean distance [m], both ways, of the seen points, the second brought to the first's size and to the best of 24 turns about the vertical."""
    p, q = _upright(a), _upright(b)
    if len(p) < 10 or len(q) < 10:
        return 2 * SHAPE_SCALE
    q = q * (np.linalg.norm(a.size) / max(float(np.linalg.norm(b.size)), 1e-6))
    best = np.inf
    for angle in np.arange(24) * 2 * np.pi / 24:
        turned = q @ rotation_about([0, 0, 1], float(angle)).T
        forth, back = nearest(p, turned)[0], nearest(turned, p)[0]
        best = min(best, float((forth.mean() + back.mean()) / 2))
    return best


def _upright(item: SceneObject) -> Array:
    """Seen points (N, 3) about the object's centre, in the axes of its box where that stands upright."""
    points = np.asarray(item.points, float)
    points = points[np.linspace(0, len(points) - 1, min(len(points), 400)).astype(int)] if len(points) else points
    if abs(item.pose[2, 2]) > 0.99:
        return transform_points(inverse(item.pose), points)
    return points - item.position


@tool(
    group="cognition",
    unit="representation_and_similarity",
    timeout=30.0,
    when_to_use="To compare two pictures of one place: what changed between before and after, how similar they are, whether the camera was shifted.",
    limits="Pixels, not meaning: shadows and light count as changes unless they are even. A camera that turned or moved far makes everything differ.",
    examples=[("What changed between the picture before and the picture after?", {"first": "deskhand://a", "second": "deskhand://b"})],
    failures=[("A picture is no longer kept", {"first": "deskhand://gone", "second": "deskhand://b"}, "unknown_resource")],
)
def compare_pictures(
    ctx: ToolContext,
    first: PictureUri,
    second: PictureUri,
    align: Annotated[bool, Field(description="shift the second onto the first before comparing")] = False,
) -> PictureLikeness:
    """Compare two pictures: structural similarity, colours, shift, and the regions that differ."""
    a, b = stored_pictures(ctx.resources, [first, second])
    window = cv2.createHanningWindow((a.shape[1], a.shape[0]), cv2.CV_32F)
    greys = [cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32) for image in (a, b)]
    (dx, dy), response = cv2.phaseCorrelate(greys[0], greys[1], window)
    shift = (dx, dy) if response > 0.05 else (0.0, 0.0)
    if align and shift != (0.0, 0.0):
        b = np.asarray(cv2.warpAffine(b, np.array([[1, 0, -shift[0]], [0, 1, -shift[1]]]), (b.shape[1], b.shape[0]), borderMode=cv2.BORDER_REPLICATE), np.uint8)
    mask = changes(a, b)
    count, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    order = sorted(range(1, count), key=lambda number: -int(stats[number, cv2.CC_STAT_AREA]))
    return PictureLikeness(
        ssim=round(structural_similarity(a, b), 4),
        colors=round(_shared_colors(a, b), 4),
        shift=[round(shift[0], 2), round(shift[1], 2)],
        changed=round(float(mask.mean()), 5),
        regions=[[int(value) for value in stats[number, :4]] for number in order],
        mask=put_mask(ctx.resources, mask, "what differs"),
    )


def changes(a: Image, b: Image) -> npt.NDArray[np.bool_]:
    """Pixels (H, W) that differ, after noise and an even change of light are left out."""
    p, q = (cv2.GaussianBlur(image, (5, 5), 0).astype(np.float32) for image in (a, b))
    q = q + np.median(p - q, axis=(0, 1))
    mask = (np.abs(p - q).max(axis=-1) > CHANGED).astype(np.uint8)
    mask = cv2.morphologyEx(cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)), cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
    large = np.nonzero(stats[:, cv2.CC_STAT_AREA] >= SPECK)[0]
    return np.asarray(np.isin(labels, large[large > 0]))


def structural_similarity(a: Image, b: Image) -> float:
    """Mean SSIM of the lightness (Wang et al. 2004)."""
    x, y = (cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float64) for image in (a, b))

    def mean(image: Array) -> Array:
        return np.asarray(cv2.GaussianBlur(image, (11, 11), 1.5))

    mx, my = mean(x), mean(y)
    vx, vy, cov = mean(x * x) - mx * mx, mean(y * y) - my * my, mean(x * y) - mx * my
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    return float((((2 * mx * my + c1) * (2 * cov + c2)) / ((mx**2 + my**2 + c1) * (vx + vy + c2))).mean())


def _shared_colors(a: Image, b: Image) -> float:
    """Intersection of the histograms of hue and saturation."""
    shares = []
    for image in (a, b):
        histogram = cv2.calcHist([cv2.cvtColor(image, cv2.COLOR_RGB2HSV)], [0, 1], None, [30, 16], [0, 180, 0, 256])
        shares.append(histogram / histogram.sum())
    return float(np.minimum(*shares).sum())
