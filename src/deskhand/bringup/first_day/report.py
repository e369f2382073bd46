"""What a first day measured, as a page for people: report.md in the unit's folder."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deskhand import __version__
from deskhand.bringup.first_day.base import Day, Step
from deskhand.bringup.first_day.journal import Journal, now
from deskhand.bringup.first_day.runner import words

FILE = "report.md"
PICTURES = (".png", ".jpg")


def write_report(day: Day, steps: Sequence[Step], journal: Journal) -> Path:
    """Write it, also half-way through the day; returns its path."""
    path = day.folder / FILE
    path.write_text("\n".join(_lines(day, steps, journal)) + "\n")
    return path


def _lines(day: Day, steps: Sequence[Step], journal: Journal) -> Iterator[str]:
    done = [step for step in steps if journal.done(step.name)]
    finished = len(done) == len(steps)
    total = sum(journal.entries[step.name].seconds for step in done)
    asked = sum(journal.entries[step.name].asked for step in done)
    yield f"# {day.arm}: {'the first day' if finished else 'the first day so far'}"
    yield ""
    if journal.rehearsal:
        yield "**A rehearsal**: emulated servos, a simulated arm and camera, answers given by a program. No hardware was measured."
        yield ""
    yield f"- begun {journal.begun}, written {now()}; {len(done)} of {len(steps)} steps done"
    hands = sum(step.hands for step in steps)
    yield f"- your hands: {hands:g} min estimated; the steps took {total / 60:.1f} min, of them {asked / 60:.1f} min of questions and of what hands did"
    yield f"- deskhand {__version__}, Python {platform.python_version()}, numpy {np.__version__}, {platform.platform()}"
    yield f"- settings: {words(day.settings)}"
    yield ""
    yield "| step | what is true now | done | hands, estimated | took | measured |"
    yield "|---|---|---|---|---|---|"
    for step in steps:
        entry = journal.entries.get(step.name)
        state = "" if entry is None else "left out" if entry.left_out else entry.date
        took = "" if entry is None else f"{entry.seconds:.0f} s"
        told = "" if entry is None else words({name: value for name, value in entry.measured.items() if not _is_picture(value)})
        yield f"| {step.name} | {step.title} | {state} | {step.hands:g} min | {took} | {told.replace('|', '/')} |"
    yield ""
    for failure in journal.failures:
        yield f"- {failure.date} `{failure.step}` stopped: {failure.code}: {failure.message}"
    for name, picture in _pictures(journal):
        yield ""
        yield f"![{name}]({_relative(picture, day.folder)})"
    if finished and not journal.rehearsal:
        yield ""
        yield "From now on:"
        yield "```"
        yield command(day)
        yield "```"


def command(day: Day) -> str:
    """How this unit is brought up."""
    options = {
        "arm": day.unit,
        "driver": day.settings.get("driver", ""),
        "port": day.settings.get("port", ""),
        "camera": day.settings.get("camera", ""),
        "camera-topics": day.settings.get("camera_topics", ""),
        "camera-mount": str(day.camera_file) if day.camera_file.is_file() else "",
        "parameters": str(day.parameter_file) if day.parameter_file.is_file() else "",
    }
    return "deskhand up robot " + " ".join(f"--{name} {value}" for name, value in options.items() if value)


def _is_picture(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return bool(values) and all(isinstance(item, str) and item.endswith(PICTURES) for item in values)


def _pictures(journal: Journal) -> Iterator[tuple[str, str]]:
    for name, entry in journal.entries.items():
        measured: Mapping[str, Any] = entry.measured
        for value in measured.values():
            if _is_picture(value):
                for picture in value if isinstance(value, list) else [value]:
                    yield name, picture


def _relative(path: str, folder: Path) -> str:
    try:
        return str(Path(path).resolve().relative_to(folder.resolve()))
    except ValueError:
        return path
