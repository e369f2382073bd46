"""Following points and masks through pictures over time. Pure: everything comes by reference."""

from __future__ import annotations

from typing import Annotated

import cv2
import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.resources import ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.monitor.points import PointTracker
from deskhand.tools.objects import rounded
from deskhand.tools.pictures import Box2d, Mask, PictureUris, Pixel, box_of, check_box, put_mask, stored_mask, stored_pictures
from deskhand.types import Image

OTHER = 0.75  # distance of colour histograms from which it is not the target any more


class TrackedPoint(TypedDict):
    """One point through all pictures."""

    pixels: Annotated[list[list[float]], Field(description="[column, row] in each picture [px]; where it is hidden: the last one seen")]
    visible: Annotated[list[bool], Field(description="false: hidden or lost in that picture")]


class TrackedPoints(TypedDict):
    """Points through a stream of pictures."""

    points: list[TrackedPoint]


class MaskedPicture(TypedDict):
    """The target in one picture."""

    mask: ResourceRef
    box: Annotated[list[int], Field(description="[left, top, width, height] [px]; zeros when it is lost")]
    pixels: int
    lost: bool


class SegmentedVideo(TypedDict):
    """The target in every picture, the first one included."""

    pictures: list[MaskedPicture]


@tool(
    group="perception",
    unit="segmentation_and_tracking",
    timeout=60.0,
    when_to_use="To follow single points, such as a corner, a handle or a grasp point, through a series of pictures, knowing when they are hidden.",
    limits="Optical flow (Lucas and Kanade) checked forth and back and against the first appearance: points need texture or a corner; a hidden point is taken "
    "up again only near where it was last seen, and not after it turned much. Pictures of one size, with small motion from one to the next.",
    examples=[
        (
            "Track two pixels through a video and tell when they are occluded",
            {"pictures": ["deskhand://a", "deskhand://b"], "points": [[320, 240], [100, 80]]},
        )
    ],
    failures=[("A point outside of the picture", {"pictures": ["deskhand://a", "deskhand://b"], "points": [[9000, 1]]}, "unknown_resource")],
)
def track_points(
    ctx: ToolContext,
    pictures: PictureUris,
    points: Annotated[list[Pixel], Field(min_length=1, max_length=200, description="[column, row] of each point in the first picture [px]")],
) -> TrackedPoints:
    """Track points of the first picture through the others: pixel in each, and whether it is visible there or occluded."""
    images = stored_pictures(ctx.resources, pictures)
    height, width = images[0].shape[:2]
    outside = [point for point in points if not (point[0] <= width - 1 and point[1] <= height - 1)]
    if outside:
        raise DeskhandError("invalid_input", f"the points {outside} are outside the picture, which is {width} x {height} px.")
    tracker = PointTracker(images[0], points)
    tracks = [TrackedPoint(pixels=[], visible=[]) for _ in points]
    for number, image in enumerate(images):
        if number:
            tracker.update(image)
        for track, pixel, visible in zip(tracks, tracker.pixels, tracker.visible, strict=True):
            track["pixels"].append(rounded(pixel, 2))
            track["visible"].append(bool(visible))
    return TrackedPoints(points=tracks)


@tool(
    group="perception",
    unit="segmentation_and_tracking",
    timeout=120.0,
    when_to_use="To follow one target through a series of pictures from its mask or box in the first: video object segmentation.",
    limits="Classical: dense optical flow carries the mask, colours and shape (GrabCut) refine it. One target; small motion from one picture to the next; it "
    "is told lost when little of it is left, and is then not looked for again.",
    examples=[
        ("Segment the target in every frame of a video from a first box", {"pictures": ["deskhand://a", "deskhand://b"], "box": [280, 200, 80, 60]}),
        ("Propagate a mask through later pictures", {"pictures": ["deskhand://a", "deskhand://b"], "mask": "deskhand://m"}),
    ],
    failures=[("Neither mask nor box", {"pictures": ["deskhand://a", "deskhand://b"]}, "invalid_input")],
)
def segment_video(
    ctx: ToolContext,
    pictures: PictureUris,
    mask: Annotated[str, Field(max_length=200, description="uri of the target's mask in the first picture, as segment_by_prompt gives it; empty: box")] = "",
    box: Annotated[Box2d | None, Field(description="[left, top, width, height] around the target in the first picture [px]; null: mask")] = None,
) -> SegmentedVideo:
    """Segment one target through a video from its mask or box in the first picture: a mask for every picture, and when it is lost."""
    if (not mask) == (box is None):
        raise DeskhandError("invalid_input", "segment_video: give exactly one of mask and box.")
    images = stored_pictures(ctx.resources, pictures)
    if box is not None:
        start = np.zeros(images[0].shape[:2], bool)
        start[check_box(box, start.shape)] = True
        current = _refined(images[0], start, start, 0)
    else:
        current = stored_mask(ctx.resources, mask, images[0].shape)
    size, colors = int(current.sum()), _colors(images[0], current)
    flow = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    result, lost = [_masked(ctx, current, 0, size == 0)], size == 0
    for number in range(1, len(images)):
        before, after = (cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) for image in images[number - 1 : number + 1])
        if not lost:
            carried = _carried(flow, before, after, current)
            current = _refined(images[number], carried, carried, 6)
            lost = int(current.sum()) < 0.1 * size or _unlike(colors, _colors(images[number], current)) > OTHER
        if lost:
            current = np.zeros_like(current)
        result.append(_masked(ctx, current, number, lost))
        ctx.progress(number / len(images), f"picture {number + 1} of {len(images)}")
    return SegmentedVideo(pictures=result)


def _colors(image: Image, mask: Mask) -> npt.NDArray[np.float32]:
    """Histogram of the colours under a mask."""
    histogram = cv2.calcHist([image], [0, 1, 2], mask.astype(np.uint8), [8, 8, 8], [0, 256, 0, 256, 0, 256])
    return np.asarray(cv2.GaussianBlur(histogram.reshape(64, 8), (3, 3), 0) / max(1.0, float(histogram.sum())), np.float32)


def _unlike(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> float:
    """Bhattacharyya distance of two histograms, 0 to 1."""
    return float(cv2.compareHist(a, b, cv2.HISTCMP_BHATTACHARYYA))


def _masked(ctx: ToolContext, mask: Mask, number: int, lost: bool) -> MaskedPicture:
    return MaskedPicture(mask=put_mask(ctx.resources, mask, f"the target in picture {number + 1}"), box=box_of(mask), pixels=int(mask.sum()), lost=lost)


def _carried(flow: cv2.DISOpticalFlow, before: Image, after: Image, mask: Mask) -> Mask:
    """The mask as the flow from ``after`` back to ``before`` finds it."""
    back = flow.calc(after, before, None)
    rows, columns = np.mgrid[0 : mask.shape[0], 0 : mask.shape[1]].astype(np.float32)
    moved = cv2.remap(mask.astype(np.float32), columns + back[..., 0], rows + back[..., 1], cv2.INTER_LINEAR)
    return np.asarray(moved > 0.5)


def _refined(image: Image, guess: Mask, within: Mask, band: int) -> Mask:
    """The guess as GrabCut draws its outline, changed only ``band`` [px] around its edge; with 0 anywhere within."""
    if not guess.any():
        return guess
    marks = np.full(guess.shape, cv2.GC_BGD, np.uint8)
    if band:
        kernel = np.ones((2 * band + 1, 2 * band + 1), np.uint8)
        marks[cv2.dilate(guess.astype(np.uint8), kernel) > 0] = cv2.GC_PR_BGD
        marks[guess] = cv2.GC_PR_FGD
        marks[cv2.erode(guess.astype(np.uint8), kernel) > 0] = cv2.GC_FGD
    else:
        marks[within] = cv2.GC_PR_FGD
    rows, columns = np.nonzero(guess)
    margin = 40
    window = slice(max(0, rows.min() - margin), rows.max() + margin), slice(max(0, columns.min() - margin), columns.max() + margin)
    part, colors = marks[window].copy(), np.ascontiguousarray(image[window][..., ::-1])
    if not (part == cv2.GC_BGD).any() and not (part == cv2.GC_PR_BGD).any():
        return guess
    cv2.setRNGSeed(0)
    cv2.grabCut(colors, part, None, np.zeros((1, 65)), np.zeros((1, 65)), 3, cv2.GC_INIT_WITH_MASK)
    result = np.zeros_like(guess)
    result[window] = (part == cv2.GC_FGD) | (part == cv2.GC_PR_FGD)
    return result
