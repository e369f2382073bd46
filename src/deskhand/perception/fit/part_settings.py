"""What can be set in telling whether segments are parts of one object or one is several; lengths in metres, angles in radians, pixels as px.

Where a field names no source, its value follows from the noise of the depth (1 to 3 mm, :class:`PerceptionSettings`) or was chosen on rendered scenes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PartSettings:
    """When pieces that differ in colour are parts of one object.

    Attributes:
        touch: pieces that are nearer to each other touch [m].
        lid_depth: an object that shows less of its side and does not stand on the table is the top of another [m].
        lid_gap: .. and the other ends so near it [m].
        usual_noise: where the depth's noise is larger, these grow with it [m].
        side_seen: so much of its side may be seen when it begins at the height of the other [m].
        above: what is seen of an object on the table begins lower [m].
        surface: points that are nearer to a solid lie on it [m].
        widest: a part belongs to an object that is no wider [m]: what hands and grippers for a table hold.
        one: rms error of one solid through two pieces, at most [m].
        free: share of its faces that the camera looks through at most.
        off: the points of a can's side may lie off it by this [m].
        end: between the end of a round side that is seen and that of the can [m].
        smallest: least radius of a lid [m].
        sides: a piece with fewer pixels tells no side [px].
        on_lids: share of a level piece that is on the cans of which it makes the lids.
        as_thin: one object is at most so many times as wide as its pieces .
        askew: .. and they are off its line by less [rad].
        longest: longest object that is seen in two pieces [m]: a new pencil is 190 mm (7.5 inches), the longest of pens, markers and pencils.
        bar: a box that is so many times as long as it is wide may be so long too ..
        face: .. and is thicker than one side alone, as the walls of holes in a board are seen [m] ..
        within: .. where less of every other piece is where it would be.
    """

    touch: float = 0.008
    lid_depth: float = 0.008
    lid_gap: float = 0.007
    usual_noise: float = 0.0008
    side_seen: float = 0.025
    above: float = 0.009
    surface: float = 0.0035
    widest: float = 0.10
    one: float = 0.0015
    free: float = 0.1
    off: float = 0.004
    end: float = 0.010
    smallest: float = 0.012
    sides: int = 50
    on_lids: float = 0.9
    as_thin: float = 1.3
    askew: float = 0.1
    longest: float = 0.19
    bar: float = 3.0
    face: float = 0.006
    within: float = 0.3


@dataclass(frozen=True)
class PrintSettings:
    """When pieces that colours have cut are joined again.

    Attributes:
        one: rms error of one solid through all pieces, at most [m].
        free: share of its faces that the camera looks through at most.
        longest: longest rod in several colours [m]: a new pencil is 190 mm (7.5 inches), the longest of pens, markers and pencils.
        usual: how usual the size of the whole is at least (1: the most usual) .
        more_usual: .. or so many times as usual as its pieces ..
        rare: .. and that of each piece at most, where boxes could as well be several.
        end: between the ends of two pieces of a rod, at most [m].
        beside: the middle of one piece is beside the line of the other by this share of its width, at most.
        sliver: a piece with a smaller share of all pixels tells nothing.
        above: share of the height of a round wall that pieces of it may share where they stand on each other.
    """

    one: float = 0.001
    free: float = 0.1
    longest: float = 0.19
    usual: float = 0.6
    more_usual: float = 3.0
    rare: float = 0.2
    end: float = 0.008
    beside: float = 0.3
    sliver: float = 0.05
    above: float = 0.2


@dataclass(frozen=True)
class SplitSettings:
    """When a segment is cut into two objects.

    Attributes:
        poor: rms error of a solid from which a cut is tried; single solids are below 0.0012 [m].
        gain: the two parts' error over that of the whole at most.
        corner_gain: the same for cuts at inward corners of the outline.
        hold: a point must be nearer to the other solid by this to go over to it [m].
        reach: so far beyond its seen ends a lying object takes points [m].
        min_part: a part has as many pixels [px].
        min_share: share of a segment that is cut at a corner, at least.
        min_corner_part: a part that is cut at a corner has as many pixels [px].
        least: what is cut has as many pixels [px].
        min_breadth: what is narrower is not two objects beside each other [m].
        max_size: larger ones are not two objects that can be grasped [m].
        depth: an object is cut so often at most.
        still: error of the parts of such a cut at most: what slopes is explained by no number of these solids [m].
        scrap: fewer pixels are no part [px].
        no_box: rms error from which a box may be two round objects [m].
        round: share of its error that round halves have at most.
        share: share by which their width may differ from half its length.
        unexplained: share of its pixels that the solid of a part may leave unexplained.
        rod: rms error of a part that lies, or leans, and whose picture is not compared [m].
        usual: how usual the size of such a part is at least: odd bodies fall into solids as well, but of any sizes.
        explained: share of the pixels that is in explained parts.
        above: what is seen of an object on its support begins lower [m].
        end, same_depth: what is so far below the lower end of a part [m] shows whether its surface goes on there, at its depth within this [m] ..
        goes_on: .. below this share of that end.
        top: share of the points below the upper side of a prism.
        prism: overlap with a prism of one of those outlines from which on it is no two objects.
        one: how likely they are together.
    """

    poor: float = 0.0017
    gain: float = 0.62
    corner_gain: float = 0.75
    hold: float = 0.001
    reach: float = 0.08
    min_part: int = 80
    min_share: float = 0.12
    min_corner_part: int = 50
    least: int = 100
    min_breadth: float = 0.024
    max_size: float = 0.20
    depth: int = 3
    still: float = 0.0025
    scrap: int = 25
    no_box: float = 0.0012
    round: float = 0.6
    share: float = 0.2
    unexplained: float = 0.35
    rod: float = 0.001
    usual: float = 0.02
    explained: float = 0.85
    end: float = 0.006
    same_depth: float = 0.004
    goes_on: float = 0.5
    above: float = 0.009
    top: float = 0.97
    prism: float = 0.7
    one: float = 0.6


@dataclass(frozen=True)
class LevelSettings:
    """When an object is two on each other.

    Attributes:
        slice: height of a slice [m].
        lowest: lowest object [m].
        two: lowest height of two objects on each other [m].
        jump: a side jumps by this from one slice to the next but one [m].
        enough: points of a slice.
        cuts: cuts that are tried.
        top: so far above a cut points still belong to what is below [m].
        doubt: share of its pixels that one may leave unexplained.
        same: the parts of one can, or of one box, may seem so far apart, or more or less wide, or lie off its sides by so much [m] ..
        on_sides: .. with this share of the points of the smaller part.
        least: a part has as many pixels [px].
        gain: two must explain the picture better than one by this, sizes included [px] .
        gain_share: .. and by this share of the pixels, without sizes.
        still: share of the pixels that two may leave unexplained: slopes and handles are not explained by more solids either.
        depth: objects on each other, at most.
    """

    slice: float = 0.004
    lowest: float = 0.010
    two: float = 0.035
    jump: float = 0.0018
    enough: int = 8
    cuts: int = 2
    top: float = 0.003
    doubt: float = 0.15
    same: float = 0.0025
    on_sides: float = 0.9
    least: int = 50
    gain: float = 20.0
    gain_share: float = 0.03
    still: float = 0.4
    depth: int = 5


@dataclass(frozen=True)
class OutlineSettings:
    """Which inward corners of an outline a cut may begin at.

    Attributes:
        depth: a corner lies within the convex outline by this at least [px].
        deep: the same as a share of the root of the area.
        behind: what is farther behind or before beside a corner is no part of it [m].
        most: corners that are tried.
        cuts: cuts that are tried.
    """

    depth: float = 3.0
    deep: float = 0.05
    behind: float = 0.005
    most: int = 4
    cuts: int = 4


@dataclass(frozen=True)
class SeamSettings:
    """When the lines on a face are the seams between blocks.

    Attributes:
        step: between lines along a face [m].
        columns: places along each line.
        beside: steps to either side that a seam is compared with.
        inset: share of a face's breadth that is looked at.
        line: lighter or darker than its surroundings by this at least [of 255].
        spread: and by so many times the picture's noise.
        hides: something nearer by this stands before a face; blocks of one tower are less off its middle [m].
        near: from where an even division puts a seam, at most [m].
        slight: share of a seam's length that must show, more than elsewhere, where blocks explain the size: two columns of 24 show a line by chance
            somewhere on about every second face (17 of 33 faces of our own desks), so that it is three.
        seen: the same where another object explains it as well.
        clear: the same where nothing tells how large the parts are.
        end: no seam is so near to an end [m].
        most: blocks in one tower, at most.
        even: share of a block's edge that its sides may differ.
        likelier: blocks are so many times as usual as the whole.
    """

    step: float = 0.0008
    columns: int = 24
    beside: int = 4
    inset: float = 0.9
    line: float = 5.0
    spread: float = 3.5
    hides: float = 0.008
    near: float = 0.0035
    slight: float = 0.1
    seen: float = 0.2
    clear: float = 0.5
    end: float = 0.012
    most: int = 6
    even: float = 0.10
    likelier: float = 1.5


@dataclass(frozen=True)
class OverlapSettings:
    """When an object is a piece of another.

    Attributes:
        shared: share of an object's volume within another's, from which it is a piece of that.
        wall: what is seen this near the outside of an open object is on it [m] ..
        on_wall: .. and a piece of it with so much of what is seen.
    """

    shared: float = 0.6
    wall: float = 0.004
    on_wall: float = 0.85


@dataclass(frozen=True)
class RestingSettings:
    """When a piece ends above a slope, on which nothing stands.

    Attributes:
        foot: share of its points that are lower than its foot.
        above: its foot is so far above the table at least [m].
        reach: what is no farther from its foot, in height and seen from above, may carry it; the second where the first shows too little [m].
        rod: what is longer than so many times its width is a rod, by the spread of its points: rods lean.
        least: voxels that tell what carries it.
        level: less steep places are level: wood begins to slide on wood from about this on (friction of 0.25 to 0.5) [rad].
        wall: steeper places are walls [rad].
        slope: share of the places about its foot that are neither.
        odd: rms error of the solid of one of the two at least [m]; single solids are below 0.0012.
        alike: chromaticities of one object differ by less.
        under: so far below its foot it is looked for [m] ..
        before: .. and hidden by what is nearer by more [m] ..
        hidden: .. when more than this share is.
    """

    foot: float = 0.03
    above: float = 0.015
    reach: tuple[float, float] = (0.010, 0.015)
    rod: float = 5.0
    least: int = 10
    level: float = 0.35
    wall: float = 1.3
    slope: float = 0.6
    odd: float = 0.0017
    alike: float = 0.06
    under: float = 0.008
    before: float = 0.008
    hidden: float = 0.5


@dataclass(frozen=True)
class FaceSettings:
    """When a piece is a face of its neighbour. Counts and distances in voxels are of the frame's voxels.

    Attributes:
        flat, noise: points are on a plane that are off it by less [m], or by less than so many standard deviations of the depth ..
        on: .. with this share of all.
        least: fewer points tell no plane [px].
        beside: between these distances from the piece, in voxels, its neighbour tells which way it faces; nearer than the first the two meet.
        enough: voxels, or points, that tell it.
        same, goes_on: a piece goes on in its neighbour that faces the same way within this angle [rad], in its plane, in more than this share of the voxels
            beside it.
        steep: a side faces farther from upright than this [rad].
        turned, most_turned: the two face ways that differ by an angle between these [rad].
        off: each is behind the plane of the other, or before it by less, in voxels ..
        behind: .. with this share.
        border: length of where they meet over those of the piece and of its neighbour in the same direction: the edges of a box are as long as its sides.
    """

    flat: float = 0.003
    noise: float = 4.0
    on: float = 0.8
    least: int = 60
    beside: tuple[float, float] = (2.0, 6.0)
    enough: int = 6
    same: float = 0.5
    goes_on: float = 0.15
    steep: float = 0.7
    turned: float = 0.8
    most_turned: float = 1.9
    off: float = 0.7
    behind: float = 0.8
    border: float = 0.7


@dataclass(frozen=True)
class ConvexSettings:
    """When a segment is a convex body. Notches between objects that touch, on 70 cluttered desks of ours, held 5 to 31 % of the points; gables of cartons 1 to
    2 %.

    Attributes:
        least: fewer points tell nothing [px].
        hull, asked: of so many points the hull is made, and so many are held against it, at most.
        noise, off: a point is below the hull by more than so many times the noise of the depth, and than this share of the longest extent ..
        notch: .. with less than this share of all: it is convex.
    """

    least: int = 60
    hull: int = 600
    asked: int = 1500
    noise: float = 3.0
    off: float = 0.03
    notch: float = 0.03


PARTS = PartSettings()
PRINT = PrintSettings()
SPLIT = SplitSettings()
LEVELS = LevelSettings()
OUTLINE = OutlineSettings()
SEAMS = SeamSettings()
OVERLAP = OverlapSettings()
RESTING = RestingSettings()
FACES = FaceSettings()
CONVEX = ConvexSettings()
