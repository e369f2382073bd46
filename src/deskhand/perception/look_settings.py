"""What can be set in finding the table, in a look's last steps and in joining several views; lengths in metres, counts and shares without units.

Where a field names no source, its value follows from the noise of the depth (1 to 3 mm, :class:`PerceptionSettings`) or was chosen on rendered scenes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TableSettings:
    """How the table is found.

    Attributes:
        stride: every so many-th pixel in both directions is looked at .
        fine: .. and where those are few, every so many-th.
        band: points that are nearer to a plane support it [m].
        as_good: share of the points of the best plane from which another is as good.
        few: with fewer points near the table more pixels are looked at.
        rounds: planes through three points that are tried.
        min_points: fewer points tell no table.
        as_it_was: a table that is found less far off tells nothing of the scale [m].
    """

    stride: int = 7
    fine: int = 2
    band: float = 0.005
    as_good: float = 0.8
    few: int = 1500
    rounds: int = 60
    min_points: int = 200
    as_it_was: float = 0.0005


@dataclass(frozen=True)
class LookSettings:
    """What counts as partly hidden or held.

    Attributes:
        cut: share of the outline behind something, from which an object counts as partly hidden.
        hidden_doubt: by how much names are less sure of what is all cut off by others.
        held_reach: what is held is nearer to the tcp [m] .
        held_height: .. and its lowest point is higher above the table [m].
        lid: what is nearer to the top of a can may be its lid [m] ..
        side: .. and more pixels below tell its colour [px].
        unmeasured: share of an object's pixels without depth from which its sides are guessed.
        glass: what leaves a hole in the depth and is less than so many times as high as wide is taken for a glass or cup; bottles are taller.
    """

    cut: float = 0.12
    hidden_doubt: float = 0.5
    held_reach: float = 0.03
    held_height: float = 0.02
    lid: float = 0.004
    side: int = 20
    unmeasured: float = 0.6
    glass: float = 2.0


@dataclass(frozen=True)
class ShadeSettings:
    """When an object lies in the shadow of something else. A table keeps 0.4 to 0.7 of its light in a shadow (EN 12464-1, as in config/reality).

    Attributes:
        low: higher objects may reach out of a shadow [m].
        flat: what is nearer to the plane of the table is the table [m].
        mixed: pixels at an object's edge that show both [px].
        beside: the table so far beside them tells what light falls on the object [m] ..
        enough: .. where so many pixels of it are seen [px] ..
        around: .. held against the table so far around it [m].
        lit: quantile of the lightness of that table which is in the light.
        dark: what has less than this share of its lightness is in the shadow ..
        all_sides: .. with this share of what is beside the object ..
        alike: .. where that has the chromaticity of the lit table within this, so that it is no print or cloth on it.
    """

    low: float = 0.025
    flat: float = 0.004
    mixed: int = 2
    beside: float = 0.006
    enough: int = 30
    around: float = 0.15
    lit: float = 0.8
    dark: float = 0.65
    all_sides: float = 0.9
    alike: float = 0.03


@dataclass(frozen=True)
class FusionSettings:
    """When several views show one object, and what its sides are.

    Attributes:
        apart: the centres of one object may be apart by this in two views, at least; half its shorter side for larger objects [m].
        heights: its upper ends may differ by this [m].
        explained: share of an object's points that lie in other objects' boxes, from which it is none of its own.
        margin: they may lie outside by this [m].
        edge: within which points belong to a side [m].
        top: below the top, from which points belong to the sides [m].
        enough: points that tell where a side is.
        voxel: of an object's joined cloud [m].
        cloud: of the scene's [m].
        most: points of an object.
        same: views measured the same object the same when no side differs by more than this factor: pieces of objects are mostly half as long, or less.
        shell: from a container's walls and floor within which points may be theirs [m].
    """

    apart: float = 0.025
    heights: float = 0.02
    explained: float = 0.6
    margin: float = 0.004
    edge: float = 0.006
    top: float = 0.006
    enough: int = 25
    voxel: float = 0.002
    cloud: float = 0.004
    most: int = 4000
    same: float = 1.3
    shell: float = 0.012


TABLE = TableSettings()
LOOK = LookSettings()
SHADE = ShadeSettings()
FUSION = FusionSettings()
