"""What can be set in watching pictures; lengths in metres, pixels as px of the thinned picture, grey levels of 255, shares without units.

What names no source was chosen on simulated desks.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ThinningSettings:
    """How a picture is thinned.

    Attributes:
        stride: every so many pixels one is kept [px of the whole picture].
        robot_margin: about what is the robot's own, where its edges mix with what is behind [px].
    """

    stride: int = 2
    robot_margin: int = 5


@dataclass(frozen=True)
class ChangeSettings:
    """When a pixel is not what it was.

    Two single measurements of one surface differ by about ``near + far * depth^2`` (frame_settings.STEADY); a change is more than ``sure`` times that.

    Attributes:
        sure: so many times the difference of two measurements that stereo makes.
        chroma: distance of r, g, b over their sum, beyond which a surface has another colour; shadows and exposure leave it as it is.
        brighter, darker: ratios of lightness that no shadow and no exposure within one session make.
        dark: below that lightness colours say nothing [of 255].
        area: smallest region that counts [m2]: a square of 12 mm.
        fill: share of the pixels within a region's outline that must have changed.
        learning: share of a new picture that goes into what is remembered of an unchanged pixel.
        open: side of the square that is taken away from and given back to what changed [px]; single pixels and edges are noise.
        close: side of the square within which parts are one region [px].
    """

    sure: float = 1.8
    chroma: float = 0.07
    brighter: float = 1.6
    darker: float = 0.45
    dark: float = 25.0
    area: float = 0.000144
    fill: float = 0.3
    learning: float = 0.05
    open: int = 3
    close: int = 5


@dataclass(frozen=True)
class MovesSettings:
    """When an object has moved.

    Attributes:
        left: share of the pixels that showed an object and now show what is behind it, from which it is not there any more.
        again: pictures in a row that must say the same.
        alike: distance of mean chroma within which a new region may be an object that left its place.
        height: what rises by less above the table is no new object [m].
        moved: an object that is seen nearer to where it was has not moved [m].
    """

    left: float = 0.3
    again: int = 2
    alike: float = 0.08
    height: float = 0.006
    moved: float = 0.01


@dataclass(frozen=True)
class IntruderSettings:
    """What counts as a part of a person.

    ISO/TS 15066 counts hands and arms; a fist is about 80 mm wide (ISO 7250-1, hand breadth), a finger 15 mm.

    Attributes:
        area: of what is seen of it at least [m2]: two fingers, 60 mm in view.
        height: above the table [m].
        border: it comes from outside of the picture or of the table: within so many pixels of the edge [px] ..
        beyond: .. or of the table's edge [m].
        again: pictures in a row that must say the same.
    """

    area: float = 0.0018
    height: float = 0.02
    border: int = 4
    beyond: float = 0.02
    again: int = 2


@dataclass(frozen=True)
class TargetSettings:
    """How one target is followed.

    Attributes:
        chroma: distance from its mean r, g, b over their sum within which a pixel may be its own.
        darker, brighter: ratios of its lightness within which it may.
        height: what is lower is the table [m].
        margin: added to the radius of what was seen of it at first [m].
        step: it moves at most so far beyond where it should be from one picture to the next [m]: 0.5 m/s.
        pixels: fewer show nothing [px].
        least: share of its first area from which it is seen.
        again: likeness from which a part of the picture is the lost target.
    """

    chroma: float = 0.06
    darker: float = 0.4
    brighter: float = 2.2
    height: float = 0.005
    margin: float = 0.008
    step: float = 0.04
    pixels: int = 8
    least: float = 0.12
    again: float = 0.45


SAMPLE, CHANGE, MOVES, INTRUDER, TARGET = ThinningSettings(), ChangeSettings(), MovesSettings(), IntruderSettings(), TargetSettings()
