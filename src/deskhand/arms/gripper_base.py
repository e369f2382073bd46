"""What a parallel gripper offers."""

from __future__ import annotations

from typing import Protocol

from deskhand.types import GripperReport


class GripperMotion(Protocol):
    """A gripper command on its way."""

    def done(self) -> bool:
        """True when it is there, stalled or cancelled."""
        ...

    def report(self) -> GripperReport:
        """Measured state now."""
        ...

    def cancel(self) -> None:
        """Hold where it is."""
        ...


class Gripper(Protocol):
    """A gripper commanded by the distance of its pads."""

    def move(self, width: float, force: float) -> GripperMotion:
        """Begin to bring the pads to ``width`` [m] apart with at most ``force`` [N]."""
        ...
