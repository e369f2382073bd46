"""What can be set in finding open hollow objects; lengths in metres, shares without units.

Where a field names no source, its value follows from the noise of the depth (1 to 3 mm, :class:`PerceptionSettings`) or was chosen on rendered scenes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HollowSettings:
    """What an open object is by its size.

    Source: the mug of the YCB objects (Calli et al. 2015) is 82 mm wide.

    Attributes:
        sorting_side: narrower hollow objects are cups: nothing is sorted into them [m].
        sorting_round: the same of round ones, by their diameter [m].
        bowl: height of round objects, as a share of their width, up to which their inside may curve.
        same_rim: the walls of a cup end by less than this from its rim [m].
        beside: .. and are this much wider, with a handle's foot [m].
        within: .. this share of their points.
        outer: .. half of them farther than this share of its radius from its axis.
    """

    sorting_side: float = 0.075
    sorting_round: float = 0.09
    bowl: float = 0.6
    same_rim: float = 0.01
    beside: float = 0.006
    within: float = 0.8
    outer: float = 0.6


@dataclass(frozen=True)
class RimSettings:
    """When segments make an open object together, and what of them is something else.

    Attributes:
        min_side: narrower objects are not hollow [m].
        min_piece: a piece with fewer pixels is no part of a hollow object [px].
        same_chroma: pieces whose chromaticity differs less are of one colour.
        shaded: the same of walls with rims at one height, of which one may be in the shadow, where the light is of another colour.
        lid: share of the points at the top that are in the middle, a quarter of the width from the edge; a third of a lid's are.
        round_share: share of its rectangle that the outline of a round rim fills at most (a circle: pi / 4 = 0.785) .
        round_small: .. and of a cup's, whose corners noise fills.
        in_a_row: small objects that are together more times as long as wide stand in a row.
        lower: what goes on below a hollow object by more carries it [m].
        above_rim: what is higher above the rim is a handle [m].
        from_rim: so far inside and outside the rim the ground is looked at [m] .
        grid: .. at so many places along each side.
        flat: places that differ less in height from the table show ground [m].
        thin: ground inside and outside a rim that differs less is one: a floor is thicker [m].
        like: the same of chromaticity and of the logarithm of lightness.
        on_wall: a round wall further down may be off the rim's axis by twice as much, and uneven by half of it [m].
        wall: share by which its radius may differ.
        few: fewer points below tell nothing [px].
        below: points of the wall are farther below what touches it [m].
        on_something: what begins higher does not stand on the table [m].
        ring: width of the rings about the axis in which the inside of a round object has one height [m] .
        rings: .. at least so many must be seen .
        round_about: .. and this share of the points has it, to ``on_wall``.
        one_rim: two wide ones whose rims differ by less in place, sides and height are one [m].
        noise, uneven: the rim of a wide object seems uneven by so many times the noise of the depth, and by this share of its height at most.
    """

    min_side: float = 0.024
    min_piece: int = 60
    same_chroma: float = 0.05
    shaded: float = 0.09
    lid: float = 0.15
    round_share: float = 0.87
    round_small: float = 0.93
    in_a_row: float = 1.5
    lower: float = 0.01
    above_rim: float = 0.008
    from_rim: float = 0.012
    grid: int = 9
    flat: float = 0.006
    thin: float = 0.0015
    like: float = 0.06
    on_wall: float = 0.003
    wall: float = 0.3
    few: int = 25
    below: float = 0.002
    on_something: float = 0.012
    ring: float = 0.004
    rings: int = 4
    round_about: float = 0.85
    one_rim: float = 0.012
    noise: float = 6.0
    uneven: float = 0.2


@dataclass(frozen=True)
class KnownSettings:
    """When a container of an earlier look is seen again.

    Attributes:
        same: middles of one container are nearer to each other in two looks [m].
        shift: two measurements of one container differ by less [m].
        spacing: between the spots of a rim that are looked at [m].
        near: depth between a spot of the rim and what is seen there, at most [m].
        color: difference of chromaticity that one colour may have.
        enough: share of the spots that must be seen.
        there: share of those seen or seen past that must be seen.
        margin: about walls and floor [m].
        scrap: fewer points are no part of anything [px].
    """

    same: float = 0.05
    shift: float = 0.006
    spacing: float = 0.006
    near: float = 0.008
    color: float = 0.05
    enough: float = 0.15
    there: float = 0.7
    margin: float = 0.006
    scrap: int = 25


@dataclass(frozen=True)
class CompartmentSettings:
    """When a rim with several holes is an object with compartments.

    Attributes:
        low, high: between these heights a rim is looked for [m].
        band: what differs less in height is level [m].
        levels: at most so many heights are looked at.
        least: fewer points at a height are no rim [px].
        cell: of the plan [m].
        most_cells: along a side of the plan; what is larger is no object on a desk.
        past: what lies this much farther away than a place is seen past it [m].
        filled: share of its rectangle that a hole fills at least; the rest may be hidden.
        divider: a thicker wall between two holes is two walls [m].
        along: share of the smaller hole's short side along which the wall must part them.
        turned: sides of neighbours differ less in direction [rad].
        wall: least and greatest half of a dividing wall [m].
        margin: about walls and floor [m].
        inside: an object that is higher than the rim, and less of which than this share is on the walls, stands within [m].
        scrap: fewer points are no part of anything [px].
    """

    low: float = 0.016
    high: float = 0.25
    band: float = 0.006
    levels: int = 3
    least: int = 200
    cell: float = 0.004
    most_cells: int = 400
    past: float = 0.012
    filled: float = 0.75
    divider: float = 0.03
    along: float = 0.5
    turned: float = 0.15
    wall: tuple[float, float] = (0.002, 0.012)
    margin: float = 0.006
    inside: float = 0.5
    scrap: int = 25


@dataclass(frozen=True)
class DrawerSettings:
    """When a hole is an open drawer.

    Attributes:
        least: fewer points in a picture hold none [px].
        low: walls lower than this are none [m].
        step: between the heights that are looked at [m].
        narrowest, longest: sides of the hollow [m].
        body: so far beyond the edge of the hole what it came out of is seen, between each two of these [m], ..
        higher: .. at least this much higher than the hole [m]; walls may be as high.
        thick: a wall is seen so near to the edge [m], ..
        below, over: .. between so far below and above the height of the hole (a front is higher than the sides) [m].
        beyond: behind it the camera sees past within this (a higher front hides what is behind it) [m], ..
        free: .. at this share of the places along it.
        covered: share of the side that must be seen, ``bin`` by bin [m].
        off_wall: points nearer to the edge may be the wall's [m].
        seen: fewer points within show no floor [px].
        above_table: the floor of a drawer is higher than what stands on the table and is open [m].
        deep: least depth below the hole [m].
        wall: least and greatest thickness [m].
        handle: points so far in front are its handle [m].
        all_of_it: share of a piece of its own that is there, ..
        begins: .. how near to the front it begins (a front is thicker than walls) [m], ..
        off_table: .. and how high, for a handle [m].
        under: .. and so far below its floor [m].
        margin: about walls and floor [m].
        scrap: fewer points are no part of anything [px].
    """

    least: int = 500
    low: float = 0.03
    step: float = 0.008
    narrowest: float = 0.05
    longest: float = 0.5
    body: tuple[float, float, float] = (0.025, 0.0425, 0.06)
    higher: float = -0.006
    thick: float = 0.02
    below: float = 0.015
    over: float = 0.03
    beyond: float = 0.045
    free: float = 0.6
    covered: float = 0.6
    bin: float = 0.012
    off_wall: float = 0.008
    seen: int = 60
    above_table: float = 0.006
    deep: float = 0.02
    wall: tuple[float, float] = (0.003, 0.012)
    handle: float = 0.075
    all_of_it: float = 0.8
    begins: float = 0.04
    off_table: float = 0.015
    under: float = 0.025
    margin: float = 0.006
    scrap: int = 25


@dataclass(frozen=True)
class OpeningSettings:
    """When a small solid is open at the top.

    Attributes:
        least: fewer points that are seen through the top tell nothing [px].
        middle: share of the radius within which lines of sight count.
        noise: [m] of the depth, at least.
        tells: lines of sight that would go in by less than so many times the noise tell nothing.
        open: a quarter of the lines of sight go in by at most this share of the way to the inside; the end of a can is 3 to 4 mm below its seam, which is a
            sixth of it.
        level: what differs less in height is level [m].
        round: a rim's points are off its circle by less than this share of the radius.
        rim: shares of the radius between which the rim is looked for: cups are wider at their rims.
        bins: sectors of the far half ..
        goes_round: .. of which this share has points of the rim.
        wall: thickness of a cup's walls [m].
    """

    least: int = 20
    middle: float = 0.7
    noise: float = 0.001
    tells: float = 5.0
    open: float = 0.35
    level: float = 0.006
    round: float = 0.12
    rim: tuple[float, float] = (0.7, 1.35)
    bins: int = 6
    goes_round: float = 0.5
    wall: float = 0.003


@dataclass(frozen=True)
class CupHandleSettings:
    """When what is beside a round open object is its handle.

    Sizes are limits of what a hand can hold, not of one mug: handles are 6 to 25 mm thick, leave 20 to 45 mm for fingers, and those of tankards 60 mm.

    Attributes:
        thick: it is within half of this from its plane [m] ..
        noise: .. and within so many times the noise of the depth.
        out: it reaches so far beyond the rim at most [m].
        narrower: cups are narrower lower down, to this share of the radius of the rim.
        above: it ends so far above what the cup stands on [m].
        over: it may be higher than the rim by this [m].
        within: share of its points of which all that holds.
        small: pixels over those of the cup, at most.
        turned: cosine of the angle by which pieces of one handle differ in direction.
        beside: points of the cup this far beyond its rim are beside it [m].
        few: share of points that noise may put anywhere.
        gap: its beginning is no farther from the wall [m], since mixed pixels at the edge of the cup are lost, or what is between is not seen.
        samples, levels: places below it that are looked at: below so many of its points, at so many heights.
        free: the camera looks through to this share of them: nothing stands there.
        hidden: this share of them is hidden.
        least: fewer places that are seen tell nothing.
        alike, some: chromaticity of a piece whose foot is hidden differs by less from that of this share of the cup.
    """

    thick: float = 0.03
    noise: float = 2.0
    out: float = 0.065
    narrower: float = 0.55
    above: float = 0.012
    over: float = 0.012
    within: float = 0.85
    small: float = 0.5
    turned: float = 0.9
    beside: float = 0.008
    few: float = 0.05
    gap: float = 0.015
    samples: int = 120
    levels: int = 4
    free: float = 0.3
    hidden: float = 0.5
    least: int = 12
    alike: float = 0.05
    some: float = 0.05


HANDLE = CupHandleSettings()
HOLLOW = HollowSettings()
COMPARTMENT = CompartmentSettings()
DRAWER = DrawerSettings()
OPENING = OpeningSettings()
RIM = RimSettings()
KNOWN = KnownSettings()
