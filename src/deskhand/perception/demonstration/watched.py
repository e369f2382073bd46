"""What watching a video comes to."""

from __future__ import annotations

from dataclasses import dataclass

from deskhand.types.demonstration import Step


@dataclass(frozen=True)
class Watched:
    """What a video shows; ``confidence`` 0..1: the least share of a change that a step explains."""

    steps: tuple[Step, ...]
    confidence: float
    rests: int
