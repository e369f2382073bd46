"""How a case tells what it is doing, wherever it runs: a line beside the progress bar, nothing on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[[str], None]


def _nobody(_text: str) -> None:
    pass


_listener: Tell = _nobody


def tell(text: str) -> None:
    """What goes on now; from any thread of the process that runs the case."""
    _listener(text)


@contextmanager
def heard_by(listener: Tell) -> Iterator[None]:
    """``listener`` hears what is told in this process meanwhile; an executor says who that is."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before
