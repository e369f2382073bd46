"""The person who has an arm before them, as steps that need their hands or eyes see them."""

from __future__ import annotations

from typing import Protocol


class Operator(Protocol):
    """The person at the arm.

    ``key`` names the question for good (for example ``range.shoulder_pan``): a rehearsal answers by it and does to the emulated arm what a person would
    do with the hands; nobody else reads it.
    """

    def say(self, text: str) -> None:
        """Tell."""
        ...

    def act(self, key: str, text: str) -> None:
        """Ask for something that hands do (plug a cable, turn a joint); returns when the person says that it is done."""
        ...

    def confirm(self, key: str, text: str) -> bool:
        """A yes or no; nothing moves or lets go without a yes."""
        ...

    def number(self, key: str, text: str, default: float | None) -> float:
        """A number, in the unit that ``text`` names."""
        ...

    def choose(self, key: str, text: str, options: tuple[str, ...], default: str) -> str:
        """One of ``options``."""
        ...
