"""An expert's demonstrations as files: videos with nothing but pictures, and beside them the sentences of what is shown, which no tool reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from deskhand.errors import DeskhandError
from deskhand.sim.reality.file import load_reality
from deskhand.tasks.cliport.scenes import CliportTask
from deskhand.trials.demonstrations import record_demonstration

SENTENCES = "sentences.jsonl"


def write_demonstrations(folder: Path, tasks: Sequence[CliportTask], seeds: Sequence[int], reality: str, told: Callable[[str], None]) -> int:
    """``TASK_SEED.zip`` for each task and seed (perception/demonstration/video.py), and ``sentences.jsonl`` (id, task, seed, video, frames, sentences).

    Raises:
        DeskhandError: ``invalid_input`` when the folder exists; ``config_error`` for an unknown reality.
    """
    if folder.exists():
        raise DeskhandError("invalid_input", f"{folder} exists.", hint="Name a folder that does not.")
    folder.mkdir(parents=True)
    lines = []
    for task in tasks:
        for seed in seeds:
            shown = task.demonstration(seed)
            assert shown is not None
            name = f"{task.name}_{seed}"
            frames = record_demonstration(shown[1], folder / f"{name}.zip", load_reality(reality, seed))
            sentences = [move.text for move in shown[1].moves]
            lines.append({"id": name, "task": task.name, "seed": seed, "video": f"{name}.zip", "frames": frames, "sentences": sentences})
            told(name)
    (folder / SENTENCES).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return len(lines)
