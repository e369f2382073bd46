"""What became of the steps, in a file that survives everything: written whole and anew after each step, in the unit's folder."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from deskhand.errors import DeskhandError

VERSION = 1
FILE = "journal.json"
LOCK = ".lock"


@dataclass(frozen=True)
class Entry:
    """A step that was done, or left out by the person.

    Attributes:
        date: when it was done, local time.
        seconds: that it took.
        asked: of them, while the person was asked or at work [s].
        version: of deskhand.
        measured: what the step wrote down.
        left_out: the person did not want it.
    """

    date: str
    seconds: float
    asked: float
    version: str
    measured: Mapping[str, Any] = field(default_factory=dict)
    left_out: bool = False


@dataclass(frozen=True)
class Failure:
    """A step whose check failed, or that the person left."""

    step: str
    date: str
    code: str
    message: str


@dataclass
class Journal:
    """One unit's first day.

    Attributes:
        path: of the file.
        arm: name in config/arms.
        rehearsal: made against emulators.
        begun: date of the first start.
        settings: see Day.
        entries: by step.
        failures: in the order in which they came.
    """

    path: Path
    arm: str
    rehearsal: bool = False
    begun: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    @classmethod
    def open(cls, folder: Path, arm: str, rehearsal: bool = False) -> Journal:
        """That of ``folder``, or a new one, which is not written yet.

        Raises:
            DeskhandError: ``config_error`` when it is broken, of another arm, of a rehearsal (or of none), or from a newer deskhand.
        """
        path = folder / FILE
        if not path.exists():
            return cls(path, arm, rehearsal, now())
        try:
            journal = cls._read(path, json.loads(path.read_text()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise DeskhandError(
                "config_error",
                f"the journal {path} cannot be read: {error!r}.",
                hint=f"Restore it, or move it away (mv {path} {path}.broken) to do every step anew; the unit's other files stay.",
            ) from error
        if journal.arm != arm:
            raise DeskhandError("config_error", f"{folder} is the folder of a {journal.arm}, not of a {arm}.", hint="Give another --folder.")
        if journal.rehearsal != rehearsal:
            kind = "a rehearsal" if journal.rehearsal else "a real arm"
            raise DeskhandError("config_error", f"{folder} is the folder of {kind}; the two are not mixed.", hint="Give another --folder.")
        return journal

    @classmethod
    def _read(cls, path: Path, data: dict[str, Any]) -> Journal:
        version = data["version"]
        if version != VERSION:
            raise ValueError(f"its version is {version!r}, this deskhand reads {VERSION}")
        entries = {str(name): Entry(**entry) for name, entry in data["steps"].items()}
        if not all(isinstance(entry.measured, dict) for entry in entries.values()):
            raise ValueError("what a step measured must be a mapping")
        failures = [Failure(**failure) for failure in data["failures"]]
        settings = {str(name): str(value) for name, value in data["settings"].items()}
        return cls(path, str(data["arm"]), bool(data["rehearsal"]), str(data["begun"]), settings, entries, failures)

    @property
    def measured(self) -> dict[str, Mapping[str, Any]]:
        """By step, of those that were done."""
        return {name: entry.measured for name, entry in self.entries.items() if not entry.left_out}

    def done(self, step: str) -> bool:
        """Whether the step needs no more work: it was done, or left out."""
        return step in self.entries

    def forget(self, steps: tuple[str, ...]) -> None:
        """These are to be done again."""
        for step in steps:
            self.entries.pop(step, None)

    def save(self) -> None:
        """Write it: the whole file is there, the old one or the new one, whatever happens meanwhile.

        Raises:
            DeskhandError: ``config_error`` when the folder cannot be written, or a step measured what JSON cannot hold.
        """
        data = {
            "version": VERSION,
            "arm": self.arm,
            "rehearsal": self.rehearsal,
            "begun": self.begun,
            "settings": self.settings,
            "steps": {name: asdict(entry) for name, entry in self.entries.items()},
            "failures": [asdict(failure) for failure in self.failures],
        }
        new = self.path.with_suffix(".new")
        try:
            text = json.dumps(data, indent=1, allow_nan=False)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with new.open("w") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
        except (OSError, TypeError, ValueError) as error:
            raise DeskhandError("config_error", f"the journal {self.path} cannot be written: {error}.") from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder is this process's while the block runs.

    Raises:
        DeskhandError: ``busy`` when another process has it, ``config_error`` when it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("w")
    except OSError as error:
        raise DeskhandError("config_error", f"the folder {folder} cannot be made: {error}.", hint="Give another --folder.") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DeskhandError("busy", f"another first-day works in {folder}.", hint="End it first.") from error
        yield


def now() -> str:
    """Date and time of day, local."""
    return time.strftime("%Y-%m-%d %H:%M:%S")
