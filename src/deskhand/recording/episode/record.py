"""What is left of a task besides its recording: ``result.json`` and ``report.html``, the same after a demo and on a running robot."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deskhand.errors import DeskhandError, outcome_of
from deskhand.recording.episode.reader import read_episode
from deskhand.recording.episode.report import FILE as REPORT
from deskhand.recording.episode.report import write_report
from deskhand.recording.episode.timeline import calls_from, robot_shares, time_shares
from deskhand.recording.episode.writer import FILE as RECORDING

RESULT = "result.json"
WORDS = 40  # characters of the instruction in a folder's name


def robots_word(
    *,
    instruction: str,
    arm: str,
    brain: str,
    mode: str,
    success: bool,
    code: str,
    summary: str,
    message: str = "",
    tool_calls: int = 0,
    errors: Sequence[str] = (),
    wall: float = 0.0,
) -> dict[str, Any]:
    """The result of a task as the robot itself says it; ``wall`` [s] by the clock on the wall. A trial adds what the scorer says."""
    return {
        "task": "",
        "scene": "",
        "seed": None,
        "instruction": instruction,
        "arm": arm,
        "brain": brain,
        "mode": mode,
        "success": success,
        "agent_success": success,
        "outcome": outcome_of(success, code),
        "score": None,
        "wall_s": round(wall, 3),
        "tool_calls": tool_calls,
        "errors": list(errors),
        "error_code": code,
        "error_message": message,
        "summary": summary,
    }


def _write(folder: Path, result: dict[str, Any]) -> None:
    """Replace ``result.json`` at once: whoever reads, or dies, in between has the one before."""
    new = folder / f"{RESULT}.new"
    new.write_text(json.dumps(result, indent=1))
    new.replace(folder / RESULT)


def write_record(folder: Path, result: dict[str, Any]) -> dict[str, Any]:
    """Write ``result.json`` and, where something was recorded, ``report.html`` into ``folder``.

    Returns:
        ``result`` with ``episode`` (the folder), ``phases`` and ``robot_phases`` (where wall clock and the robot's time went) and, where it was written,
        ``report``.
    """
    result["episode"] = str(folder)
    try:
        events = read_episode(folder).events
    except DeskhandError:  # nothing was recorded: the robot did not come up
        result["phases"] = time_shares((), float(result["wall_s"]))
        result["robot_phases"] = robot_shares((), float(result.get("sim_s") or 0.0))
        _write(folder, result)
        return result
    calls = calls_from(events)
    result["phases"] = time_shares(calls, float(result["wall_s"]))
    result["robot_phases"] = robot_shares(calls, float(result.get("sim_s") or 0.0))
    _write(folder, result)
    result["report"] = str(write_report(folder))
    return result


def begin_record(folder: Path, instruction: str, arm: str, brain: str, mode: str) -> None:
    """Write what holds as long as nobody tells how the task ended: whatever dies, the record says so.

    Raises:
        OSError: it cannot be written.
    """
    text = "the record ends before the task does."
    told = robots_word(instruction=instruction, arm=arm, brain=brain, mode=mode, success=False, code="node_unavailable", summary="", message=text)
    _write(folder, {**told, "episode": str(folder)})


def end_record(folder: Path, **ended: Any) -> dict[str, Any]:
    """Write how a task ``ended``: what :func:`robots_word` takes, besides what :func:`begin_record` was told; nothing: as it stands. Returns the result."""
    try:
        told: dict[str, Any] = json.loads((folder / RESULT).read_text())
    except (OSError, ValueError):
        told = robots_word(instruction="", arm="", brain="", mode="", success=False, code="", summary="")
    begun = {name: told.get(name, "") for name in ("instruction", "arm", "brain", "mode")}
    told = {**robots_word(**begun, **ended), "episode": str(folder)} if ended else told
    _write(folder, told)
    return told


def complete_record(folder: Path, **ended: Any) -> dict[str, Any]:
    """As :func:`end_record`, and the report."""
    return write_record(folder, end_record(folder, **ended))


def complete_records(root: Path, since: float) -> list[Path]:
    """Write the reports that are missing in folders below ``root`` that were begun after ``since`` (clock on the wall, [s]): those of tasks whose recorder
    died, or was ended before it had written them. Returns their folders.
    """
    folders = [file.parent for file in sorted(root.resolve().glob(f"*/{RECORDING}")) if file.parent.stat().st_mtime >= since]
    missing = [folder for folder in folders if not (folder / REPORT).is_file()]
    for folder in missing:
        complete_record(folder)
    return missing


def new_folder(root: Path, instruction: str) -> Path:
    """Create a folder below ``root`` for one task, named by the time and the first words.

    Raises:
        OSError: it cannot be created.
    """
    words = re.sub(r"[^\w]+", "_", instruction[:WORDS].lower()).strip("_")
    name = "_".join(filter(None, (time.strftime("%Y-%m-%d_%H-%M-%S"), words)))
    root = root.expanduser().resolve()
    root.mkdir(parents=True, exist_ok=True)
    for number in range(1, 1000):
        folder = root / (name if number == 1 else f"{name}_{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise FileExistsError(f"{root / name} is there a thousand times")
