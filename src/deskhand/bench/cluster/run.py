"""A campaign of cases that do next to nothing: each machine shows that it has deskhand, can draw pictures and sees the folder for records."""

from __future__ import annotations

import os
import platform
import socket
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deskhand import __version__
from deskhand.errors import DeskhandError
from deskhand.trials.campaigns.campaign import Campaign, Case

BEGUN = "begun"
"""Folder below that for records, in which a case leaves a file named by its id, with the process that runs it."""


def cluster_campaign(cases: int, seconds: float, folder: Path | None, render: bool) -> Campaign:
    """``cases`` that take ``seconds`` [s] each; ``folder``: where records would go; ``render``: draw a picture of a desk, too."""
    given = {"seconds": seconds, "folder": str(folder.resolve()) if folder else "", "render": render}
    return Campaign("bench cluster", given, [Case(f"case_{number}", given) for number in range(cases)], run_one, summarise)


def run_one(case: Case) -> dict[str, Any]:
    """Wait, leave a trace in the folder, draw; says where it ran."""
    began, arguments = time.monotonic(), case.arguments
    if arguments["folder"]:
        _leave_trace(Path(arguments["folder"]) / BEGUN, case.id)
    if arguments["render"]:
        _draw()
    time.sleep(max(0.0, arguments["seconds"] - (time.monotonic() - began)))
    where = {"host": socket.gethostname(), "process": os.getpid(), "deskhand": __version__, "python": platform.python_version()}
    return {**where, "numpy": np.__version__, "cpu_count": os.cpu_count(), "success": True, "work_s": round(time.monotonic() - began, 4)}


def _leave_trace(folder: Path, name: str) -> None:
    """One line in a file for each time that the case was begun."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / name).open("a") as file:
            file.write(f"{socket.gethostname()} {os.getpid()}\n")
    except OSError as error:
        text = f"{socket.gethostname()} cannot write {folder}: {error.strerror}."
        raise DeskhandError("config_error", text, hint="Give a folder that all machines share.") from error


def _draw() -> None:
    from deskhand.sim.camera import RgbdRenderer
    from deskhand.sim.simulation import Simulation
    from deskhand.tasks import load_task

    with RgbdRenderer(Simulation(load_task("desk_cleaning", "wx250s").world(0))) as renderer:
        renderer.render()


def summarise(settings: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """``{"cases", "seconds", "machines": {host: cases}, "processes", "versions": [{"deskhand", "python", "numpy"}], "work_s": {"mean", "max"}}``."""
    work = [float(result["work_s"]) for result in results]
    versions = sorted({tuple(result[name] for name in ("deskhand", "python", "numpy")) for result in results})
    return {
        "cases": len(results),
        "seconds": settings["seconds"],
        "machines": dict(Counter(str(result["host"]) for result in results)),
        "processes": len({(result["host"], result["process"]) for result in results}),
        "versions": [dict(zip(("deskhand", "python", "numpy"), each, strict=True)) for each in versions],
        "work_s": {"mean": round(float(np.mean(work)), 4), "max": max(work)},
    }
