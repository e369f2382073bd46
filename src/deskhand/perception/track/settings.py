"""What can be set in keeping ids and in telling what is still there; lengths in metres, the rest without units."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TrackSettings:
    """When an object of a look is one of the looks before.

    Attributes:
        stayed: seen this near to where one was, it is that one, if it looks at all like it ..
        container_stayed: .. the same of containers ..
        container_pushed: .. those of the same size that an arm may have pushed, whatever they look like now ..
        height: .. and its foot is no more than this higher or lower.
        unlike_there, unlike_elsewhere: objects whose looks differ more than this are two, at the same place and at another (1: another label or colour).
        away: an object that is seen so far from where it was has been carried away, and what turns up in its place was taken for a part of it.
        edge: what lies beyond the box of an object by less is within it.
        resized: an extent that changes by more than this ratio was measured of something else.
        glimpse: weight of a look at an object that is partly hidden or in a container, and was seen whole before.
        piece_fills, piece_strays: what lies in a container is a piece of an object seen whole before if both together are no larger than that was by more than
            this ratio and ``piece_spare``, but for this share of the points at either end. The ratio is that of a look at a far corner of a tray (58 mm of 44);
            two equal objects side by side make 2. Chosen, not fitted.
        piece_larger, piece_spare: two pieces are of two objects if together they are larger than any that was seen whole: this ratio, and so much more [m]:
            about twice the noise of the depth at either end. Chosen, not measured.
        piece_color: .. and its chromaticity is no farther away.
        enclosed: .. or this share of its points is within the box of that, and it is nothing that was seen elsewhere before ..
        was_there: .. or no farther [m] from where that was seen in the look before.
        piece_points: as many points of a piece tell how large it is.
    """

    stayed: float = 0.03
    container_stayed: float = 0.06
    container_pushed: float = 0.15
    height: float = 0.025
    unlike_there: float = 1.2
    unlike_elsewhere: float = 0.95
    away: float = 0.05
    edge: float = 0.004
    resized: float = 1.5
    glimpse: float = 0.1
    piece_fills: float = 1.2
    piece_strays: float = 0.02
    piece_larger: float = 1.05
    piece_spare: float = 0.005
    piece_color: float = 0.06
    enclosed: float = 0.7
    was_there: float = 0.006
    piece_points: int = 200


@dataclass(frozen=True)
class PresenceSettings:
    """When a depth picture says that an object is there, gone or hidden.

    Attributes:
        least: points that must be seen to say anything ..
        least_share: .. and their share of those that the picture has a depth for.
        behind: the camera sees so much further, at most, where an object has gone: another may stand right behind it.
        hidden: what is nearer than this share of that gap stands in front.
        gone: what is further than this share of it has gone.
        upper: points below this share of an object's height tell nothing: the table is near.
    """

    least: int = 12
    least_share: float = 0.15
    behind: float = 0.012
    hidden: float = -0.6
    gone: float = 0.5
    upper: float = 0.4


@dataclass(frozen=True)
class ChangeSettings:
    """When two depth pictures of a camera that stands still say that something has changed. Chosen, not measured, but for the noise, which is of the pictures.

    Attributes:
        least: a depth that differs by less is the same ..
        times: .. and one that differs by less than so many times the noise of the two pictures at that depth.
        likely_least, likely_times: the same where a change is expected.
        noisy: at 1 m, a noise [m] from which on nothing is told: the threshold is then higher than most of what lies on a desk.
        known: share of the pixels that both must have measured.
        still: how far the camera's pose may differ, element by element.
        blob: [m2] seen along the line of sight that a change has at least; smaller ones are edges and noise.
        beside: what is so near to the outline of a thing belongs to it: the mount's error, and the width of its edges.
        level: how high above what carried it something may be seen where a thing has gone from.
        touching: of what stands so near to a thing that was taken, a look may find out more than was known.
        enough: share of the least face of a thing that must be seen to have come.
        hidden: share of its surface that a thing shows at most, when it is one that walls hide.
        inside: share of what has come that must be within the walls.
        higher: how much the top of what has come may differ from where it should be ..
        strays: .. but for this share of it: what lies along an edge in one of two pictures.
    """

    least: float = 0.005
    times: float = 5.0
    likely_least: float = 0.003
    likely_times: float = 3.0
    noisy: float = 0.004
    known: float = 0.4
    still: float = 1e-6
    blob: float = 6e-5
    beside: float = 0.012
    level: float = 0.010
    touching: float = 0.015
    enough: float = 0.3
    hidden: float = 0.25
    inside: float = 0.9
    higher: float = 0.010
    strays: float = 0.2


TRACKING, PRESENCE, CHANGE = TrackSettings(), PresenceSettings(), ChangeSettings()
