"""What can be set in telling how much of the space over the desk was seen; lengths in metres."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CoverageSettings:
    """Which space is asked for, and from where a view tells something.

    Attributes:
        cell: of the space over the desk [m].
        height: of the space over the desk that objects stand in [m].
        beyond: around where the arm grasps [m].
        reach: from the camera within which a view of the desk tells something, least and most [m].
        begin: cells from a place at which what hides it is first looked for .
        step: .. and cells from step to step.
    """

    cell: float = 0.02
    height: float = 0.12
    beyond: float = 0.06
    reach: tuple[float, float] = (0.12, 0.9)
    begin: float = 1.5
    step: float = 0.7


COVERAGE = CoverageSettings()
