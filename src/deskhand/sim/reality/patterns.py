"""Procedural desk tops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.sim.reality.spec import TableReality

SIZE = 512  # [px] of a texture
Picture = npt.NDArray[np.uint8]


def table_picture(table: TableReality, extent: tuple[float, float], seed: int) -> Picture:
    """The texture (SIZE, SIZE, 3) of a desk top of ``extent`` (x, y) [m]."""
    makers: dict[str, Callable[[TableReality, tuple[float, float], np.random.Generator], Array]] = {
        "wood": lambda t, e, r: wood(t.rgb, r),
        "plain": lambda t, e, r: _plain(t.rgb, r),
        "oak": lambda t, e, r: wood(t.rgb, r, strength=5.0),
        "check": _check,
        "speckle": _speckle,
    }
    tone = makers[table.pattern](table, extent, np.random.default_rng([seed, 311]))
    return np.asarray(np.clip(255 * tone, 0, 255), dtype=np.uint8)


def wood(rgb: tuple[float, float, float], rng: np.random.Generator, strength: float = 1.0) -> Array:
    """Grain along the second axis of the desk, 0..1 (SIZE, SIZE, 3)."""
    v, u = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    warp = sum(0.010 * np.sin(2 * np.pi * (k * v + rng.random())) / k for k in range(1, 5))
    lines = sum(np.sin(2 * np.pi * (frequency * (u + warp) + rng.random())) / count for count, frequency in enumerate((9, 23, 41, 77), 1))
    fibre = np.repeat(rng.normal(size=(SIZE // 16, SIZE)), 16, axis=0)
    tone = 1 + strength * (0.018 * lines + 0.012 * fibre)
    return np.asarray(np.array(rgb) * tone[..., None])


def _plain(rgb: tuple[float, float, float], rng: np.random.Generator) -> Array:
    return np.asarray(np.array(rgb) * (1 + rng.normal(0, 0.006, (SIZE, SIZE, 1))))


def _check(table: TableReality, extent: tuple[float, float], rng: np.random.Generator) -> Array:
    """Woven stripes both ways (gingham): white, the colour, and half of it where one stripe crosses."""
    v, u = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    stripes = [((axis * size / table.period + rng.random()) % 2 < 1).astype(float) for axis, size in ((u, extent[0]), (v, extent[1]))]
    share = (stripes[0] + stripes[1])[..., None] / 2
    cloth = share * np.array(table.rgb) + (1 - share) * 0.93
    return np.asarray(cloth * (1 + rng.normal(0, 0.02, (SIZE, SIZE, 1))))


def _speckle(table: TableReality, extent: tuple[float, float], rng: np.random.Generator) -> Array:
    """Stone: grains of a lighter and a darker kind."""
    grains = rng.normal(size=(SIZE, SIZE, 1))
    return np.asarray(np.array(table.rgb) * (1 + 0.04 * rng.normal(size=(SIZE, SIZE, 1)) + np.where(grains > 2.0, 0.22, 0) - np.where(grains < -2.0, 0.3, 0)))
