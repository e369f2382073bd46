"""What can be set in fitting solids to what is seen; lengths in metres, angles in radians, pixels as px, shares without units.

Where a field names no source, its value follows from the noise of the depth (1 to 3 mm, :class:`PerceptionSettings`) or was chosen on rendered scenes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SolidSettings:
    """Which shape an object is given.

    Attributes:
        max_points: points of an object that are fitted, at most.
        seen_top: share of an object's footprint that its seen top must be for the top alone to tell the footprint.
        ball: rms error of a ball at most; boxes seen in part come to 2 mm [m].
        rod: rms error of a cylinder that lies, at most [m].
        level: share of the footprint from which a top is no ball's.
        ball_seen: a ball is seen at most so many times as wide as deep: half of it is seen.
        long: times as long as wide from which it may be a cylinder that lies.
        rod_long: times as long as wide from which it is one when it fits as such.
        poor_top: error of a standing solid from which its seen top alone does not tell what it is [m].
        broad: wider than rods are [m].
        whole_top: share of the footprint from which a level top is seen whole.
        good: rms error of a standing solid that needs no other beside it [m].
        rod_height: a cylinder that lies is at most so many times as high as it is seen wide.
        leaning_gain: a leaning cylinder's error is at most so much of the best of the others.
        poor: rms error from which a box that is tilted is tried, which it must come below [m].
        tilted_gain: share of the error of the others that it must come below.
        explained: share of an object's pixels that a solid which need not be moved leaves unexplained at most.
        unexplained: share of an object's pixels that its solid may leave unexplained.
        rare: sizes that are less usual are rare (1: the most usual).
        level_axis: sine of the angle from which an object leans (4 degrees).
        seldom: sizes that are less usual are compared with others.
        better: so many more pixels another solid must explain [px].
        left_out: share of an object's points that its solid may lose by being moved: what is none of these shapes keeps what encloses it.
        far_better: share of what a solid leaves unexplained, below which another may leave out more than that.
        within: points so far outside a solid still belong to it [m].
        seen_through: surface error that a box counts as which the camera sees through everywhere [m].
    """

    max_points: int = 300
    seen_top: float = 0.55
    ball: float = 0.0016
    rod: float = 0.0012
    level: float = 0.65
    ball_seen: float = 2.5
    long: float = 1.4
    rod_long: float = 3.2
    poor_top: float = 0.0012
    broad: float = 0.022
    whole_top: float = 0.8
    good: float = 0.0011
    rod_height: float = 2.0
    leaning_gain: float = 0.75
    poor: float = 0.0018
    tilted_gain: float = 0.6
    explained: float = 0.2
    unexplained: float = 0.25
    rare: float = 0.2
    level_axis: float = 0.07
    seldom: float = 0.6
    better: float = 8.0
    left_out: float = 0.08
    far_better: float = 0.6
    within: float = 0.004
    seen_through: float = 0.01


@dataclass(frozen=True)
class UprightSettings:
    """How solids that stand are fitted.

    Attributes:
        strip: a narrower top is only the edge of a side [m].
        levels: levels of 1 mm that the top is searched in.
        rough: an edge may be so uneven .. [m].
        edge: .. and must be so long [m].
        ways: ways that a box is tried to be turned .
        turned: .. and the least angle between them [rad].
        trim: share of the points at each end that does not count.
        outline_weight: surface error that a wholly wrong outline counts as [m].
    """

    strip: float = 0.008
    levels: int = 14
    rough: float = 0.002
    edge: float = 0.010
    ways: int = 3
    turned: float = float(np.radians(8.0))
    trim: float = 0.015
    outline_weight: float = 0.008


@dataclass(frozen=True)
class CylinderSettings:
    """How cylinders that lie or lean are fitted.

    Attributes:
        leans: what is tilted by less lies [rad].
        fit_points: points that are fitted, at most.
        body: share of the length of a long object to either side of its middle that is as thick everywhere: tips and caps are not.
        long: what is so many times as long as thick is long.
        width: weight of a point of the width beside one of the surface.
    """

    leans: float = float(np.deg2rad(4.0))
    fit_points: int = 150
    body: float = 0.4
    long: float = 3.0
    width: float = 0.05


@dataclass(frozen=True)
class SideViewSettings:
    """How sides that are not seen are sized by what is usual and free.

    Attributes:
        edge: what is closer is on the edge [m].
        largest: a hidden side is taken to be so large at most [m].
        step: by which a hidden side is made longer [m].
        hides: something nearer by this stands before it [m].
        grain: between sizes that are compared [m] .
        near: .. and how many of them are near each other.
        trim: share of the points at each end that does not count.
        guesses: sizes that are tried .
        as_usual: .. how usual the second is at least beside the first .
        otherwise: .. and how far from it [m].
    """

    edge: float = 0.0015
    largest: float = 0.12
    step: float = 0.004
    hides: float = 0.003
    grain: float = 0.002
    near: int = 5
    trim: float = 0.02
    guesses: int = 2
    as_usual: float = 0.2
    otherwise: float = 0.012


@dataclass(frozen=True)
class TiltedBoxSettings:
    """How boxes that are tilted are fitted.

    Attributes:
        tilt: cosine of the tilt of the axis that is nearest to upright, from which a box is tilted (6 degrees); less is standing.
        below: so far it may seem to reach into the table [m].
        on_face: from the plane of a face within which points are on it [m].
        beside: from the plane of a face beyond which points are on another [m].
        trials: planes through three points that are tried.
        least_face: share of the points that the largest face must have.
        side: points that tell how an object is turned.
        trim: share of the points at each end that does not count.
        shallow: an object is deep at least so much [m].
        few: points that may be deeper than the object is.
        least: least depth of an object .. [m].
        most: .. and the most that is tried [m].
        likely: a depth is told when it is so many times as usual as the most usual one .
        most_likely: .. and chosen from here on.
        grazing: cosine between a face and the way to the camera below which it is not seen.
        round: times the error of a box is that of a ball.
        upright: cosine of the tilt below which a box is upright after all (3 degrees).
        rough: error with which refining is worth while [m].
        some: points that are enough for that.
        good: error of a box that is where its points are [m] .
        rounds: .. and steps until then.
        stays: weight of what no point is near to.
    """

    tilt: float = float(np.cos(np.deg2rad(6.0)))
    below: float = 0.004
    on_face: float = 0.002
    beside: float = 0.004
    trials: int = 80
    least_face: float = 0.3
    side: int = 25
    trim: float = 0.02
    shallow: float = 0.004
    few: int = 3
    least: float = 0.008
    most: float = 0.062
    likely: float = 0.3
    most_likely: float = 0.9
    grazing: float = 0.1
    round: float = 1.0
    upright: float = float(np.cos(np.deg2rad(3.0)))
    rough: float = 0.0035
    some: int = 200
    good: float = 0.001
    rounds: int = 14
    stays: float = 0.01


@dataclass(frozen=True)
class RodSettings:
    """Where long thin objects end.

    Source of lengths: ball pens and markers are 120 to 150 mm long (YCB marker 121 mm).

    Attributes:
        back: so far before the last measured point the end is looked for [m] ..
        search: .. and so far beyond it [m].
        step: between places along the axis that are looked at [m].
        body_edge: share of its radius where the outline of the end of an object is seen .
        tip_edge: .. and of its thinner tip.
        mixed: steps at an end whose pixels are mixed.
        shortest_tip: steps that are of one colour, at least .
        longest_tip: .. and at most, for a tip.
        one_color: share of the difference from which colours are two, below which they are one.
        tip_seen: share of a tip that is seen where it would be .
        tip_thin: .. and beside which something else is.
        tipped: thicker objects have no tips [m].
        slices: lines across a leaning object .
        fine: .. and between the points that are looked at in each [m].
        edges: so much of an object at its two edges has a colour that is more that of what is beside it [px].
        window: half the side of the part of the picture in which the ground is looked at [px].
        on_ground: what is lower above the ground is ground [m].
        enough: pixels that tell the colour of the ground [px].
        unlike: difference of the logarithm of lightness: more than the grain of a desk, less than a dark tip on it.
        unlike_chroma: the same of chromaticity.
        shadow: a shadow darkens by less than this logarithm.
        longest: longest object that is searched for [m].
        leans: sine of the angle from which an object leans (4 degrees).
        sunk: the lowest end may seem so much below the table [m].
        hidden_step: between places behind something that are looked at [m].
        nearer: something nearer by this stands before it [m].
        touches: depth between the end of an object and what it touches, at most [m].
        reappears: so far beyond what hides it it is looked for [m].
        soon: steps after which what hides it must begin.
    """

    back: float = 0.012
    search: float = 0.016
    step: float = 0.001
    body_edge: float = 0.8
    tip_edge: float = 0.45
    mixed: int = 4
    shortest_tip: int = 3
    longest_tip: int = 9
    one_color: float = 0.6
    tip_seen: float = 0.6
    tip_thin: float = 0.9
    tipped: float = 0.028
    slices: int = 15
    fine: float = 0.00025
    edges: float = 0.5
    window: int = 16
    on_ground: float = 0.004
    enough: int = 60
    unlike: float = 0.30
    unlike_chroma: float = 0.045
    shadow: float = 0.85
    longest: float = 0.16
    leans: float = 0.07
    sunk: float = 0.0015
    hidden_step: float = 0.004
    nearer: float = 0.003
    touches: float = 0.005
    reappears: float = 0.06
    soon: int = 3


@dataclass(frozen=True)
class RefinementSettings:
    """How a solid is moved until it explains the picture.

    Attributes:
        around: so far beside an object pixels are compared [px].
        inferred: what a pixel at an edge is worth that only its colour gives to the object.
        pixels: pixels at most, evenly left out [px].
        worst: a pixel counts as so far off at most [m].
        behind: something farther away by this is seen where the solid would be [m].
        steps: by which a side is moved, one after the other [m].
        rough: how many of the steps a rough fit takes.
        turn: by how much a box is turned with a step [rad/m].
        rounds: moves at most.
        gain: a move must be better by [px].
        as_well: places that explain the picture worse by less are as good [px].
        prior: e times as usual a size counts as so many pixels [px].
        smallest: smaller sides are not tried [m].
        upright: cosine of the tilt below which a solid stands (2.6 degrees).
    """

    around: int = 8
    inferred: float = 0.4
    pixels: int = 1000
    worst: float = 0.006
    behind: float = 0.004
    steps: tuple[float, ...] = (0.004, 0.002, 0.001)
    rough: int = 2
    turn: float = 12.0
    rounds: int = 10
    gain: float = 0.5
    as_well: float = 4.0
    prior: float = 6.0
    smallest: float = 0.004
    upright: float = 0.999


SOLIDS = SolidSettings()
UPRIGHT_FIT = UprightSettings()
CYLINDER_FIT = CylinderSettings()
SIDE_VIEW = SideViewSettings()
TILTED_BOX = TiltedBoxSettings()
ROD_ENDS = RodSettings()
REFINEMENT = RefinementSettings()
