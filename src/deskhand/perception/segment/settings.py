"""What can be set in segmentation by shape; lengths in metres, angles in radians, the rest without units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ShapeSettings:
    """Sizes follow the sensor: a voxel is as large as its noise and its pixels demand, patches and steps are counted in voxels.

    Attributes:
        voxel_noise: edge of a voxel over the standard deviation of the depth there.
        voxel_pixels: edge of a voxel over the distance between neighbouring pixels there.
        voxel_least, voxel_most: bounds of that edge [m].
        patch: distance between the seeds of patches over the edge of a voxel.
        near: weight of places against directions when voxels are shared out over patches.
        rounds: times that they are shared out.
        smooth: concave bends below this belong to one curved surface [rad].
        crease: concave bends from this on separate objects as surely as can be [rad].
        sag: a concave bend is at most so many times that of the way from patch to patch by their border, which noise of directions does not touch.
        along: two patches that face each other over a bend do so across it; directions within this of the bend's line tell nothing [rad].
        step: surfaces that are offset by more than this, in voxels, are separate.
        scrap: a part with fewer voxels than a patch has, times this, belongs to its neighbour.
    """

    voxel_noise: float = 2.5
    voxel_pixels: float = 2.5
    voxel_least: float = 0.003
    voxel_most: float = 0.008
    patch: float = 5.0
    near: float = 2.0
    rounds: int = 4
    smooth: float = float(np.deg2rad(15.0))
    crease: float = float(np.deg2rad(40.0))
    sag: float = 2.0
    along: float = float(np.deg2rad(30.0))
    step: float = 0.7
    scrap: float = 3.0


@dataclass(frozen=True)
class ColorSettings:
    """When colours tell objects apart that shape does not.

    Attributes:
        unlike: neighbouring pixels whose chromaticity differs more than this are unlike ..
        light: .. or whose logarithm of lightness does so.
        printed: a part with more unlike neighbours than this times the root of its pixels is printed, and its colours tell nothing. The borders of a
            few plain objects side by side come to 1 to 8, print to 12 to 80.
        outline: so far from its outline pixels are mixed, and do not count [px].
        enough: a part with fewer pixels inside its outline is taken as plain.
    """

    unlike: float = 0.025
    light: float = 0.15
    printed: float = 10.0
    outline: int = 2
    enough: int = 150
