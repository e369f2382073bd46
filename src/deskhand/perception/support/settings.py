"""What can be set in telling what each object lies on, in or against; lengths in metres, angles in radians, shares without units.

Where a field names no source, its value follows from the noise of the depth (1 to 3 mm, :class:`PerceptionSettings`) or was chosen on rendered scenes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SupportSettings:
    """When something carries, holds or hides an object.

    Attributes:
        gap: a lowest seen point this much higher than the plane below means that something is between [m].
        fit: between the lowest seen point and the top of what carries it, at most [m].
        above: the seen top of what carries an object may be so far above where that begins [m].
        inferred: the same where the object's underside is only known by how high its kind is: what that is known to [m].
        overhang: so much of what is below may be hidden by what overhangs it [m].
        overlap: share of a footprint that must lie above what carries it.
        worse: error that an object's solid may gain when it is made high enough to carry another [m].
        goes_on: so far an object may go on behind another [m].
        rod: what lies and is more times as long as wide carries nothing.
        uppermost: share of an object's points that are lower than where it seems to end.
        rim: least height of another colour at the ends of cans [m]: double seams of food cans are about 3 mm high .
        widest_rim: .. and half of the most that two of them are high together [m].
        within: what is deeper in an object is within it [m].
        contact: depth between the faces of two objects on each other, at most [m].
        leans: sine of the angle from which a lying object leans (4 degrees).
    """

    gap: float = 0.009
    fit: float = 0.009
    above: float = 0.006
    inferred: float = 0.008
    overhang: float = 0.022
    overlap: float = 0.15
    worse: float = 0.003
    goes_on: float = 0.13
    rod: float = 4.5
    uppermost: float = 0.985
    rim: float = 0.003
    widest_rim: float = 0.006
    within: float = 0.002
    contact: float = 0.009
    leans: float = float(np.sin(np.deg2rad(4.0)))


SUPPORT = SupportSettings()
