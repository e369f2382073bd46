"""Depth where the sensor gave none."""

from __future__ import annotations

from typing import Annotated

import cv2
import numpy as np
import numpy.typing as npt
from pydantic import Field
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.resources import DEPTH, ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.tools.pictures import Mask, put_mask, stored_depth, stored_picture
from deskhand.types import Depth, Image

ALIKE = 8.0  # difference of colours, 0 to 255, over which neighbours hold together less and less
LEAST = 1e-4  # that neighbours of other colours still hold together


class FilledDepth(TypedDict):
    """A depth picture with fewer holes."""

    depth: Annotated[ResourceRef, Field(description="depth (H, W) [m]; NaN where nothing near enough was measured")]
    filled: Annotated[ResourceRef, Field(description="picture that is white where depth was inferred, not measured")]
    holes_before: Annotated[float, Field(description="share of pixels without depth, 0 to 1")]
    holes_after: Annotated[float, Field(description="share of pixels without depth, 0 to 1")]


@tool(
    group="perception",
    unit="depth_and_3d_geometry",
    needs=("camera",),
    timeout=60.0,
    when_to_use="To get depth where the sensor has none: beside edges, in shadows of its projector, on dark or shiny objects.",
    limits="Inferred from measured neighbours of like colour along planes, not measured: nothing is known of what a hole hides, and wide holes are guesses. "
    "Not depth from a picture alone: somewhere around a hole the sensor must have seen something.",
    examples=[
        ("Complete the holes of the camera's depth", {}),
        ("Fill a stored depth picture, small holes only", {"depth": "deskhand://d", "color": "deskhand://c", "reach": 10}),
    ],
    failures=[("A depth picture without its colour picture", {"depth": "deskhand://d"}, "invalid_input")],
)
def fill_depth(
    ctx: ToolContext,
    depth: Annotated[str, Field(max_length=200, description="uri of a depth picture, as capture_rgbd gives it; empty: a new one of the camera")] = "",
    color: Annotated[str, Field(max_length=200, description="uri of the colour picture of the same exposure; empty: the camera's")] = "",
    reach: Annotated[int, Field(ge=1, le=200, description="[px] from a measured pixel, beyond which nothing is filled")] = 40,
) -> FilledDepth:
    """Fill the holes of a depth picture from measured neighbours of like colour; says which pixels are inferred."""
    if bool(depth) != bool(color):
        raise DeskhandError("invalid_input", "fill_depth: give depth and color of one exposure, or neither.")
    if depth:
        measured, image = stored_depth(ctx.resources, depth), stored_picture(ctx.resources, color)
    else:
        frame = ctx.robot.observe()
        measured, image = np.asarray(frame.depth, np.float32), frame.color
    if measured.shape != image.shape[:2]:
        raise DeskhandError("invalid_input", f"the depth is {measured.shape} and the picture {image.shape[:2]} (height, width).")
    holes = ~(np.isfinite(measured) & (measured > 0))
    if holes.all():
        raise DeskhandError("no_frame", "the depth picture holds no depth at all.", hint="Is the sensor covered, or too near?")
    away = cv2.distanceTransform(holes.astype(np.uint8), cv2.DIST_L2, 3)
    wanted = holes & (away <= reach)
    full = completed(measured, image, wanted)
    return FilledDepth(
        depth=ctx.resources.put(full, DEPTH, "depth, holes filled"),
        filled=put_mask(ctx.resources, wanted, "where depth is inferred"),
        holes_before=round(float(holes.mean()), 5),
        holes_after=round(float((~np.isfinite(full)).mean()), 5),
    )


def completed(depth: Depth, color: Image, wanted: Mask) -> Depth:
    """``depth`` with the ``wanted`` pixels filled: as smooth in inverse depth, in which planes are linear, as the colour is (Levin et al. 2004)."""
    result = np.where(np.isfinite(depth) & (depth > 0), depth, np.nan).astype(np.float32)
    number = np.full(depth.shape, -1, np.int64)
    number[wanted] = np.arange(int(wanted.sum()))
    known = np.isfinite(result)
    inverse = np.zeros(depth.shape)
    inverse[known] = 1.0 / result[known]
    light = color.astype(np.float32)
    rows, columns, values = [], [], []
    total, right = np.zeros(number.max() + 1), np.zeros(number.max() + 1)
    for a, b in _neighbours(depth.shape):
        weight = np.maximum(np.exp(-((light[a] - light[b]) ** 2).sum(axis=-1) / (2 * ALIKE**2)), LEAST)
        for mine, other, o in ((number[a], number[b], b), (number[b], number[a], a)):
            unknown = (mine >= 0) & (other >= 0)
            rows.append(mine[unknown])
            columns.append(other[unknown])
            values.append(-weight[unknown])
            given = (mine >= 0) & known[o]
            np.add.at(total, mine[unknown], weight[unknown])
            np.add.at(total, mine[given], weight[given])
            np.add.at(right, mine[given], (weight * inverse[o])[given])
    if not len(total):
        return result
    count = np.arange(len(total))
    matrix = coo_matrix((np.concatenate([*values, total + 1e-9]), (np.concatenate([*rows, count]), np.concatenate([*columns, count])))).tocsc()
    solved: npt.NDArray[np.float64] = spsolve(matrix, right)
    result[wanted] = np.where(solved > 1e-3, 1.0 / np.maximum(solved, 1e-3), np.nan)
    return result


def _neighbours(shape: tuple[int, ...]) -> list[tuple[tuple[slice, slice], tuple[slice, slice]]]:
    height, width = shape
    whole_rows, whole_columns = slice(0, height), slice(0, width)
    return [
        ((whole_rows, slice(0, width - 1)), (whole_rows, slice(1, width))),
        ((slice(0, height - 1), whole_columns), (slice(1, height), whole_columns)),
    ]
