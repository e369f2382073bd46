"""How far outlines in pictures lie beside where the hand finds what they are of, learnt from what fingers have closed on.

A hand comes down where measured points say, and fingers that close bring what they touch midway between them; the outline of the same piece, by the colours
of a picture, is seen beside that. A few grasps along different lines tell by how much in the plane: it is alike for what lies near each other on one desk,
holes among it. It cancels out where a piece is carried to what the same picture has shown, but not where it is turned on the way. Fingers that push a piece do
not measure where it was: a grasp beside its middle tells wrong, which is why each is believed to about a millimetre only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from deskhand.geometry import Array

USUAL = 0.002  # [m] standard deviation of the offset along a line: a calibrated camera's (docs/reality.md, `mild`: 2 mm and 0.25 degrees at 1 m)
NOISE = 0.0012  # [m] of one observation: what a look knows the middle of a piece by, measured on pieces of kits, and what fingers leave
KEPT = 8  # observations, the newest: a camera may be moved
OTHER = 0.006  # [m] by which an observation differs from what was known, beyond which the camera was moved, or the piece was


@dataclass
class SeenOffset:
    """Of one session and a camera that stands still.

    Attributes:
        seen: directions (2,) of length 1 [world], how far [m] what the fingers closed on was seen off along each, and how much of that is noise [m].
    """

    seen: list[tuple[Array, float, float]] = field(default_factory=list)

    def observe(self, direction: Array, off: float, doubt: float = 0.0) -> None:
        """Fingers that closed along ``direction`` (2,) had between them what a look had shown ``off`` [m] further along it. ``doubt``: by how much [m] that
        look was wrong otherwise, as about how wide it is there.
        """
        if self.seen and abs(float(self.offset() @ direction) - off) > OTHER:
            self.seen.clear()
        self.seen = [*self.seen, (np.asarray(direction, dtype=float), float(off), float(np.hypot(NOISE, doubt)))][-KEPT:]

    def offset(self) -> Array:
        """The likeliest offset (2,) [m, world], where things are seen less where they are; 0 along lines on which no fingers have closed."""
        if not self.seen:
            return np.zeros(2)
        directions = np.array([one / noise for one, _, noise in self.seen])
        offs = np.array([off / noise for _, off, noise in self.seen])
        return np.asarray(np.linalg.solve(np.eye(2) / USUAL**2 + directions.T @ directions, directions.T @ offs))
