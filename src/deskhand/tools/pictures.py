"""Pictures in the arguments and results of tools: by reference, or a new one of the camera."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

from deskhand.errors import DeskhandError
from deskhand.etp.resources import IMAGE, ResourceRef, Resources
from deskhand.etp.tool import ToolContext
from deskhand.types import Depth, Image

Mask = npt.NDArray[np.bool_]
PictureUri = Annotated[str, Field(min_length=1, max_length=200, description="uri of a colour picture, as capture_rgbd gives it")]
PictureUris = Annotated[
    list[PictureUri], Field(min_length=2, max_length=60, description="uris of colour pictures in the order of time, as capture_rgbd gives them")
]
Box2d = Annotated[list[Annotated[int, Field(ge=0, le=10000)]], Field(min_length=4, max_length=4, description="[left, top, width, height] in the picture [px]")]
Pixel = Annotated[list[Annotated[float, Field(ge=0, le=10000)]], Field(min_length=2, max_length=2, description="[column, row] in the picture [px]")]


def picture(ctx: ToolContext, uri: str) -> Image:
    """The picture (H, W, 3) of a resource; with an empty ``uri`` a new one of the camera.

    Raises:
        DeskhandError: ``unknown_resource``, ``invalid_input`` when it is no picture.
    """
    return stored_picture(ctx.resources, uri) if uri else ctx.robot.observe().color


def stored_picture(resources: Resources, uri: str) -> Image:
    """The picture (H, W, 3) of a resource. Raises ``unknown_resource``, ``invalid_input``."""
    found = resources.get(uri)
    if not found.media_type.startswith("image/"):
        raise DeskhandError("invalid_input", f"{uri} is {found.media_type}, not a picture.", hint="Give the uri of a colour picture.")
    return np.asarray(found.array(), np.uint8)


def stored_pictures(resources: Resources, uris: list[str]) -> list[Image]:
    """Pictures of one size. Raises ``invalid_input`` when their sizes differ."""
    found = [stored_picture(resources, uri) for uri in uris]
    if len({one.shape for one in found}) > 1:
        raise DeskhandError("invalid_input", f"the pictures differ in size: {sorted({one.shape[:2] for one in found})} (height, width).")
    return found


def stored_depth(resources: Resources, uri: str) -> Depth:
    """The depth picture (H, W) [m] of a resource. Raises ``unknown_resource``, ``invalid_input``."""
    array = resources.get(uri).array()
    if array.ndim != 2 or array.dtype.kind != "f":
        raise DeskhandError("invalid_input", f"{uri} is no depth picture (H, W) in metres but {array.shape} of {array.dtype}.")
    return np.asarray(array, np.float32)


def stored_mask(resources: Resources, uri: str, shape: tuple[int, ...]) -> Mask:
    """The mask (H, W) of a resource: a picture that is white where it holds. Raises ``invalid_input`` when it is of another size."""
    mask = stored_picture(resources, uri)[..., 0] > 127
    if mask.shape != shape[:2]:
        raise DeskhandError("invalid_input", f"the mask is {mask.shape} and the picture {shape[:2]} (height, width).")
    return np.asarray(mask)


def put_mask(resources: Resources, mask: Mask, text: str) -> ResourceRef:
    """Keep a mask (H, W) as a picture that is white where it holds."""
    return resources.put(np.where(mask, np.uint8(255), np.uint8(0)), IMAGE, text)


def box_of(mask: Mask) -> list[int]:
    """[left, top, width, height] of a mask's pixels; zeros for an empty one."""
    rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
    if not len(rows):
        return [0, 0, 0, 0]
    return [int(columns[0]), int(rows[0]), int(columns[-1] - columns[0] + 1), int(rows[-1] - rows[0] + 1)]


def check_box(box: list[int], shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Rows and columns of a box within a picture. Raises ``invalid_input`` when nothing of it is."""
    left, top, width, height = box
    rows, columns = slice(top, min(top + height, shape[0])), slice(left, min(left + width, shape[1]))
    if rows.stop - top < 2 or columns.stop - left < 2:
        raise DeskhandError("invalid_input", f"the box {box} has nothing in the picture, which is {shape[1]} x {shape[0]} px (width, height).")
    return rows, columns


def check_pixel(pixel: list[float], shape: tuple[int, ...]) -> tuple[int, int]:
    """Row and column of a pixel. Raises ``invalid_input`` when it is outside the picture."""
    column, row = round(pixel[0]), round(pixel[1])
    if not (0 <= row < shape[0] and 0 <= column < shape[1]):
        raise DeskhandError("invalid_input", f"the pixel {pixel} is outside the picture, which is {shape[1]} x {shape[0]} px (width, height).")
    return row, column
