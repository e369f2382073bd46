"""What an RGB-D camera offers."""

from __future__ import annotations

from typing import Protocol

from deskhand.types import Frame


class Camera(Protocol):
    """A camera that gives aligned colour and depth."""

    def capture(self, newer_than: float | None = None) -> Frame:
        """A frame exposed after ``newer_than`` [s] (default: after this call).

        Raises:
            DeskhandError: ``no_frame`` or ``stale_data`` when none came in time.
        """
        ...
