"""What can be set in cutting a picture by colours and slices; lengths in metres, pixels as px, shares without units.

Where a field names no source, its value follows from the noise of the depth (1 to 3 mm, :class:`PerceptionSettings`) or was chosen on rendered scenes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ColorCutSettings:
    """When a segment is cut by its colours.

    Attributes:
        light_ratio: lightness of two objects differs by this factor: more than shading and a cast shadow do to one surface.
        colored: pixels of one colour at least, for a segment to be cut [px].
        two_colors: between the chromaticities of two objects; a dark side of one object is up to 0.10 from its top.
        sliver: a piece with a smaller share of the largest piece of a colour is a sliver.
        stray: the same of the largest connected piece, for strays.
        near: about a piece within which a sliver of it lies [m].
        speck: fewer pixels than this are mixed pixels of an edge [px].
    """

    light_ratio: float = 3.0
    colored: int = 60
    two_colors: float = 0.13
    sliver: float = 0.2
    stray: float = 0.02
    near: float = 0.01
    speck: int = 14


@dataclass(frozen=True)
class SliceSettings:
    """Where a round object ends and what carries it begins, by level slices.

    Attributes:
        slice: height of a slice [m] .
        enough: .. and the pixels that it needs [px].
        round: rms off a circle of a round slice at most .. [m].
        not_round: .. and of another at least [m].
        flat: times the usual radius from which a slice is of something flat.
        bad: share of the slices below that are not round.
        highest: share of the height that it may begin at.
        off: off the wall of the round object [m] .
        seen: .. and how many points are.
        upper: share of the points below the top of an object.
    """

    slice: float = 0.006
    enough: int = 30
    round: float = 0.0009
    not_round: float = 0.0012
    flat: float = 1.6
    bad: float = 0.75
    highest: float = 0.6
    off: float = 0.0025
    seen: int = 20
    upper: float = 0.97


@dataclass(frozen=True)
class GapSettings:
    """When the camera looks through between two places.

    Attributes:
        way: where the way from one place to the other is looked at, as shares of it.
        unseen: evidence neither for one object nor for two.
    """

    way: tuple[float, ...] = (0.3, 0.5, 0.7)
    unseen: float = 0.5


@dataclass(frozen=True)
class OpeningSettings:
    """The outline of an opening.

    Attributes:
        corner: a simpler outline may be off by this [m].
        top: share of its voxels that is below the top of a part.
    """

    corner: float = 0.0005
    top: float = 0.97


COLOR_CUT = ColorCutSettings()
SLICES = SliceSettings()
GAPS = GapSettings()
OPENING = OpeningSettings()
