"""The colour that an object shows: of the pixels that tell it, as they would be in the light that falls on the table."""

from __future__ import annotations

import cv2
import numpy as np

from deskhand.geometry import Array
from deskhand.perception.color import lit_color, main_color
from deskhand.perception.containers.hollow import Hollow
from deskhand.perception.frame_settings import COLOR_NAMES
from deskhand.perception.look_settings import LOOK, SHADE
from deskhand.perception.quantiles import quantile
from deskhand.perception.rows import lengths, rows_of
from deskhand.perception.support.support import Placed
from deskhand.perception.view import Floats, Indices, View, level_share


def shown_color(view: View, item: Placed, printed: bool) -> Array:
    """RGB (3,) 0..255 of an object; ``printed``: it has many colours, of which the main one counts."""
    paint = item.segment.paint if item.hollow is None else np.concatenate([item.segment.paint, _floor_pixels(view, item.hollow)])
    paint = np.concatenate([paint, _lit_paint(view, item.segment.pixels, paint)])
    level = level_share(view, paint)
    if _has_lid(item) and len(side := _side_of(view, item)) > LOOK.side:
        paint, level = side, np.zeros(len(side), bool)  # lids of cans are metal: the side tells the colour
    colors = view.frame.color.reshape(-1, 3)[paint]
    if printed and len(colors):
        own = main_color(colors)
        colors, level = colors[own], level[own]
    rgb = lit_color(colors, level)
    return np.asarray(rgb * min(shade(view, item.segment.pixels), 255.0 / max(1.0, rgb.max())))


def _lit_paint(view: View, pixels: Indices, paint: Indices) -> Indices:
    """Of an object's ``pixels`` those beside its ``paint`` that show the same paint in the light: the border of a shadow has cut it, and most of it is dark.

    Grey tells nothing here: the pages of a black book are no lit part of its cover.
    """
    others: Indices = np.setdiff1d(pixels, paint)
    if len(others) < COLOR_NAMES.least_lit * len(pixels) or not len(paint):
        return others[:0]
    colors = view.frame.color.reshape(-1, 3)
    own, light = np.median(colors[paint], axis=0), colors[others].sum(axis=1, dtype=float)
    lit: Indices = others[light > COLOR_NAMES.shadow * max(1.0, own.sum())]
    if len(lit) < max(COLOR_NAMES.least_lit * len(pixels), 12):
        return lit[:0]
    dark, bright = ((color + 3.0) / (color + 3.0).sum() for color in (own, np.median(colors[lit], axis=0)))
    alike = np.linalg.norm(dark - bright) < COLOR_NAMES.one_paint and np.linalg.norm(bright - 1 / 3) > COLOR_NAMES.neutral
    return lit[: len(lit) if alike else 0]


def shade(view: View, pixels: Indices) -> float:
    """How many times as bright as round about a low object the table is where light falls on it; 1 where that is so on a side of it.

    An object casts a shadow on one side only: where the table is dark on all sides it lies in that of something else. What is higher may reach out of it.
    """
    points = view.points.reshape(-1, 3)[pixels]
    if quantile(points[:, 2], 0.97) > SHADE.low:
        return 1.0
    width, scale = view.valid.shape[1], view.frame.intrinsics.fx / float(np.median(view.frame.depth.reshape(-1)[pixels]))
    v, u = np.divmod(pixels, width)
    margin = int(SHADE.around * scale) + 1
    window = slice(max(0, int(v.min()) - margin), int(v.max()) + margin + 1), slice(max(0, int(u.min()) - margin), int(u.max()) + margin + 1)
    own = np.zeros(view.valid.shape, np.uint8)
    own.reshape(-1)[pixels] = 1
    with np.errstate(invalid="ignore"):
        table = (np.abs(view.height[window]) < max(SHADE.flat, 3.0 * view.noise)) & view.valid[window] & ~view.objects[window] & ~view.robot[window]
    near, far = (cv2.dilate(own[window], np.ones((2 * reach + 1,) * 2, np.uint8)) > 0 for reach in (SHADE.mixed, SHADE.mixed + 1 + int(SHADE.beside * scale)))
    beside, light, chroma = table & far & ~near, view.light[window], view.chroma[window]
    if beside.sum() < SHADE.enough:
        return 1.0
    lit = quantile(light[table], SHADE.lit)
    in_light = table & (light > SHADE.dark * lit)
    if quantile(light[beside], SHADE.all_sides) > SHADE.dark * lit or _unlike(chroma[beside], chroma[in_light]) > SHADE.alike:
        return 1.0
    return float(lit / max(1.0, float(np.median(light[beside]))))


def _unlike(one: Floats, other: Floats) -> float:
    """How far apart the median chromaticities of pixels (N, 3) and (M, 3) are."""
    return float(np.linalg.norm(np.median(one, axis=0) - np.median(other, axis=0)))


def _has_lid(item: Placed) -> bool:
    """True for standing closed cylinders that are higher than wide."""
    solid = item.solid
    return item.hollow is None and solid.shape == "cylinder" and not solid.lying and bool(solid.size[2] > 1.2 * solid.size[0])


def _side_of(view: View, item: Placed) -> Indices:
    """The pixels of a standing object below its top."""
    pixels = item.segment.pixels
    top = float(item.solid.pose[2, 3] + item.solid.size[2] / 2)
    below = view.height.reshape(-1)[pixels] < top - max(LOOK.lid, 3.0 * view.noise)
    return np.asarray(pixels[below & ~level_share(view, pixels)])


def _floor_pixels(view: View, hollow: Hollow) -> Indices:
    """What is seen of the floor of a container, in its own colour."""
    if not hollow.for_sorting:
        return np.zeros(0, np.int64)
    width = view.valid.shape[1]
    v, u = hollow.segment.pixels // width, hollow.segment.pixels % width
    rows, columns = np.mgrid[v.min() : v.max() + 1 : 2, u.min() : u.max() + 1 : 2]
    near = (rows * width + columns).reshape(-1)
    points = view.points.reshape(-1, 3)[near]
    near = near[(points[:, 2] < hollow.floor + 0.006) & view.valid.reshape(-1)[near] & hollow.holds(points, hollow.wall + 0.008)]
    own = lengths(rows_of(view.chroma.reshape(-1, 3), near) - hollow.segment.chroma) < 0.05
    return np.asarray(near[own])
