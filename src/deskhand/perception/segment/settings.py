"""What can be set in segmentation by shape; lengths in metres, angles in radians, the rest without units."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class VoxelSettings:
    """How voxels are found.

    Attributes:
        table: a grid with fewer cells is looked up in a table, which is faster and takes 5 bytes a cell (100 MB at most); larger ones are sorted.
    """

    table: int = 20_000_000


VOXELS = VoxelSettings()


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
        neck: evidence for one object, in pairs of neighbouring voxels, over the root of the voxels of the smaller part, below which they hang together by
            noise only. Parts that share a side of a square have about 3.
        through: the camera looks through between two voxels where it sees what is farther behind the way between them, in voxels.
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
    neck: float = 0.5
    through: float = 1.5
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


@dataclass(frozen=True)
class HollowSettings:
    """When parts make an open object together. Counts are voxels, shares are of lengths, areas or counts.

    Attributes:
        least: a part of the shell has as many.
        gap: parts are beside each other that are no farther apart than this share of their length.
        most: parts beside one that are tried with it.
        level: tops differ by less than this share of the height.
        band: height of the rim as a share of what is seen of the object.
        rim: as many make a rim.
        sectors, around: the rim has points in such a share of so many directions from its middle.
        inner, lid: within the rim's outline, shrunk to a share, is less than this share of the rim's points.
        beyond, within: what is below the rim lies, but for a handle, within its outline, grown by a share.
        facing, inside: the normals of a share of it are towards its middle, seen from above, as the cosine of the angle.
        meets: the ground of an object meets its walls in as many places, or, where they are not seen to meet, is lower.
        wall: its outside goes round its inside no farther off than this share of the width .
        aside: .. and with its middle no farther from that of the inside.
    """

    least: int = 40
    gap: float = 0.15
    most: int = 4
    level: float = 0.12
    band: float = 0.12
    rim: int = 20
    sectors: int = 16
    around: float = 0.75
    inner: float = 0.7
    lid: float = 0.15
    beyond: float = 0.1
    within: float = 0.85
    facing: float = 0.5
    inside: float = 0.1
    meets: int = 5
    wall: float = 0.25
    aside: float = 0.2


@dataclass(frozen=True)
class RevolvedSettings:
    """When two walls are the outside and the inside of one open round object.

    Attributes:
        steep: normals so far from upright, or farther, are of walls [rad].
        least: voxels of a wall.
        gap: walls are beside each other that are no farther apart than this share of their width.
        rounds: of the fit of the axis.
        off: normals meet the axis that are turned off it by less [rad]: noise of normals of 25 neighbours, and out-of-roundness.
        round: so much of each wall does.
        voxels: radii follow the height up to so many voxels ..
        flat: .. and a wall that is off a plane by less than this share of that is flat.
        profile: degree of the radius over the height.
        apart: heights at which both walls are seen may miss each other by this share of the radius.
        wall: thickest wall, as a share of the radius.
        slope: where they miss each other, the radius changes by this share of the gap at most.
        band: parts on the wall are off it by less, in voxels ..
        lies: .. with this share of their voxels.
    """

    steep: float = float(np.deg2rad(30.0))
    least: int = 30
    gap: float = 0.5
    rounds: int = 6
    off: float = float(np.deg2rad(25.0))
    round: float = 0.7
    voxels: float = 1.5
    flat: float = 0.7
    profile: int = 2
    apart: float = 0.8
    wall: float = 0.25
    slope: float = 0.7
    band: float = 2.5
    lies: float = 0.8


@dataclass(frozen=True)
class AttachedSettings:
    """When a part hangs on another.

    Attributes:
        small: its voxels as a share of the other's at most.
        gap: what is no farther away touches a part that nothing else touches, in voxels.
        alone: share of what it touches that is the other.
        foot: share of it that is lower than where it ends below, and higher than where it ends above.
        above: it ends so far above the table at least, in voxels.
        side: it meets the other between this share of its height and what this share leaves.
    """

    small: float = 0.25
    gap: float = 4.0
    alone: float = 0.8
    foot: float = 0.05
    above: float = 3.0
    side: float = 0.8


@dataclass(frozen=True)
class BehindSettings:
    """When parts on both sides of something are one object.

    Attributes:
        least: voxels of a part.
        faces: flat sides of a part that are looked at.
        least_face: share of a part that a side has.
        same: normals of one side differ by less [rad].
        parallel: sides in one plane are turned to each other by less [rad].
        off: and are off each other's plane by less, in voxels ..
        slant: .. or as a share of their distance.
        share: so much of both parts is in common planes.
        reach: parts that are farther apart are two objects [m].
        hidden: share of the way between them that is behind something.
    """

    least: int = 25
    faces: int = 3
    least_face: float = 0.2
    same: float = float(np.deg2rad(20.0))
    parallel: float = float(np.deg2rad(12.0))
    off: float = 2.0
    slant: float = 0.06
    share: float = 0.4
    reach: float = 0.25
    hidden: float = 0.7


@dataclass(frozen=True)
class NoiseSettings:
    """How the noise of a frame is told by its table.

    Attributes:
        stride: every so many-th pixel in both directions is looked at.
        least: fewer points below the table tell nothing.
        deepest: what is farther below it is something else [m].
        share: of the points below the table that are less below it, over the square of the distance.
        usual, tail: a smaller share, and how many times as far below the table noise is for the larger at most: 2.0 of a normal distribution, 2.0 to 3.8 in the
            frames of mOSD and of 6-DoF GraspNet, 10 to 13 where 3 % of the points are of something else.
        margin: what seems to stand on the table is noise up to so many times that.
        height: share of an object's points that are lower than its height.
        seen: fewer pixels stand out of nothing [px].
        gap, ring: what is beside an object begins so far from it, and is so wide [px].
        step, steps: it is higher than that by this [m], and by so many times the noise of the depth ..
        color, light: .. and their chromaticities are so far apart, or one is so many times lighter.
    """

    stride: int = 4
    least: int = 200
    deepest: float = 0.015
    share: float = 0.98
    usual: float = 0.75
    tail: float = 4.0
    margin: float = 2.0
    height: float = 0.9
    seen: int = 40
    gap: int = 3
    ring: int = 8
    step: float = 0.004
    steps: float = 3.0
    color: float = 0.1
    light: float = 2.0


@dataclass(frozen=True)
class HangingSettings:
    """When a segment rests on nothing and hangs on its neighbour.

    Attributes:
        small: its pixels as a share of the other's at most.
        touch: what is no farther away touches it.
        contact: so many of its points must touch the other.
        foot: share of it that is lower than where it ends below, and higher than where it ends above.
        above: it ends so far above the table at least ..
        share: .. and so many times its own height as seen: a camera that looks down at 45 degrees sees a ball or a can that lies from 0.17 on.
        share_apart: the same where the two are also separate by shape.
        rod: what is longer than so many times its width is a rod, by the spread of its points.
        under, free: so far under its lower outline the camera looks through this share of it.
        side: what lies on another meets it below what this share of its own height leaves.
    """

    small: float = 0.35
    touch: float = 0.006
    contact: int = 5
    foot: float = 0.02
    above: float = 0.008
    share: float = 0.25
    share_apart: float = 0.42
    rod: float = 5.0
    under: float = 0.006
    free: float = 0.5
    side: float = 0.85


@dataclass(frozen=True)
class CoaxialSettings:
    """When a piece is on the axis of a round object. Radii and lengths are along or from that axis, counts are voxels.

    Attributes:
        touch: what is no farther away touches it [m].
        small: pixels of the piece over those of the object, at most.
        least: fewer voxels tell no axis.
        rounds: of the fit of the axis.
        off: normals miss the axis by less [rad] ..
        round, piece: .. with this share of the voxels of the object, and of the piece, of which less is seen.
        steep: normals so far from across the axis, or nearer, are of a side [rad].
        side: a piece of which less is side is a flat end.
        rim: share of the points that may lie farther out.
        long, longest: length of the object over its radius; a wine bottle (75 by 300 mm) has 8, a new pencil 50.
        sectors: directions about the axis that are told apart ..
        some, curved: .. of which such a share has at least this share of the normals; half of a cylinder is seen at most, a box has two or three faces.
        slices: parts of the length in which the object has one radius each ..
        uneven: .. with this standard deviation at most, over the largest radius.
        slice: voxels of such a part of a piece.
        neck: width of what is above over that of what narrows to it, at most.
    """

    touch: float = 0.006
    small: float = 0.6
    least: int = 30
    rounds: int = 6
    off: float = float(np.deg2rad(20.0))
    round: float = 0.9
    piece: float = 0.7
    steep: float = float(np.deg2rad(60.0))
    side: float = 0.5
    rim: float = 0.05
    long: float = 1.5
    longest: float = 7.5
    sectors: int = 24
    some: float = 0.04
    curved: float = 0.25
    slices: int = 6
    uneven: float = 0.12
    slice: int = 12
    neck: float = 0.8


@dataclass(frozen=True)
class SegmentSettings:
    """Of all stages of segmentation."""

    shape: ShapeSettings = field(default_factory=ShapeSettings)
    hollow: HollowSettings = field(default_factory=HollowSettings)
    revolved: RevolvedSettings = field(default_factory=RevolvedSettings)
    attached: AttachedSettings = field(default_factory=AttachedSettings)
    behind: BehindSettings = field(default_factory=BehindSettings)
    color: ColorSettings = field(default_factory=ColorSettings)
    noise: NoiseSettings = field(default_factory=NoiseSettings)
    hanging: HangingSettings = field(default_factory=HangingSettings)
    coaxial: CoaxialSettings = field(default_factory=CoaxialSettings)
