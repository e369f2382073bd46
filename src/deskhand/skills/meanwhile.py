"""What is worked out while the robot moves, by the thread that waits for it."""

from __future__ import annotations

from collections.abc import Callable

from deskhand.errors import DeskhandError
from deskhand.types import Cancelled


class Meanwhile:
    """``do`` once, at the first question whether a motion is ``cancelled``; what it raises waits for :meth:`end`, since the motion must be waited for."""

    def __init__(self, do: Callable[[], None] | None, cancelled: Cancelled) -> None:
        self._do, self._cancelled = do, cancelled
        self._failed: DeskhandError | None = None

    def __call__(self) -> bool:
        """Whether the motion is cancelled."""
        do, self._do = self._do, None
        try:
            if do is not None:
                do()
        except DeskhandError as error:
            self._failed = error
        return self._cancelled()

    def end(self) -> None:
        """The motion has ended: it is done now if nobody asked before. Raises what it raised."""
        self()
        if self._failed is not None:
            raise self._failed
