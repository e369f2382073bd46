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


TRACKING, PRESENCE = TrackSettings(), PresenceSettings()
