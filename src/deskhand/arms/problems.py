"""What is wrong with an arm's file: all of it at once, each with its field and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from deskhand.errors import DeskhandError

MOST_SHOWN = 25


@dataclass(frozen=True)
class Problem:
    """One mistake in a file.

    Attributes:
        field: as it is written in the file, ``driver.servos.joint1.id``; ``urdf`` or ``srdf`` for what is wrong inside these.
        said: what is wrong.
        do: what to do about it.
        file: where the field stands.
    """

    field: str
    said: str
    do: str
    file: Path | None = None

    def __str__(self) -> str:
        return f"{self.field}: {self.said}. {self.do}".strip()


class ArmFileError(DeskhandError):
    """An arm's file that cannot be used, code ``config_error``; ``problems`` has every one that was found."""

    def __init__(self, path: Path, problems: Iterable[Problem]) -> None:
        self.path, self.problems = path, tuple(problems)
        count = len(self.problems)
        shown = "".join(_line(path, problem) for problem in self.problems[:MOST_SHOWN])
        more = f"\n  and {count - MOST_SHOWN} more" if count > MOST_SHOWN else ""
        super().__init__(
            "config_error",
            f"{path} is not a valid arm file; {count} {'problem' if count == 1 else 'problems'}:{shown}{more}",
            hint="\ndocs/adding-an-arm.md says what each field is; `deskhand arms check FILE` checks the file.",
        )


def _line(path: Path, problem: Problem) -> str:
    where = f"{problem.file}: " if problem.file is not None and problem.file != path else ""
    return f"\n  {where}{problem}"
