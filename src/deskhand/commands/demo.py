"""``deskhand demo``: watch the simulated robot do one task."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.commands.do import exit_code
from deskhand.commands.options import (
    TIMEOUT,
    AnswerTimeout,
    Arm,
    Brain,
    Composed,
    Fault,
    Images,
    Instruction,
    Local,
    Mode,
    Planner,
    Reality,
    RecordRate,
    Scene,
    Timeout,
)
from deskhand.errors import DeskhandError

DEFAULT_TASK = "desk_cleaning"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    task: Annotated[str | None, typer.Option(help=f"Task whose scene, instruction and scorer are used. Default: {DEFAULT_TASK}.")] = None,
    instruction: Instruction = None,
    scene: Scene = None,
    arm: Arm = "wx250s",
    seed: Annotated[int, typer.Option(help="Seed of the task's scene.")] = 0,
    brain: Brain = "offline",
    mode: Mode = "tools",
    images: Images = None,
    timeout: Timeout = TIMEOUT,
    answer_timeout: AnswerTimeout = 0.0,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the result, with final_objects (name, kind, pose), summary, success, score, error_code.")
    ] = None,
    episode: Annotated[Path | None, typer.Option(help="Folder for the record. Default: a new one in ./episodes.")] = None,
    memory: Annotated[Path | None, typer.Option(help="File that the robot goes on remembering in. Default: a new one in the episode's folder.")] = None,
    planner: Planner = "embedded",
    composed: Composed = False,
    local: Local = False,
    view: Annotated[bool, typer.Option("--view", help="Serve the operator page while it runs: watch it in the browser, pause, stop.")] = False,
    files: Annotated[
        list[Path] | None, typer.Option(help="Folder from which tools may read plans and reference pictures; may be given again. Default: this one.")
    ] = None,
    fault: Fault = "",
    reality: Reality = "",
    record_rate: RecordRate = 0.0,
) -> None:
    """Bring up the simulated robot, give it one instruction, watch it, and judge the result.

    What you type while it runs is told to the robot: an answer to its question (a number picks one of the answers shown), a correction, or "stop".

    The exit code is 0 only on success: the scorer's word for a task, the robot's own where an --instruction is given. It is 3 when that is "unverified".
    """
    from deskhand.commands.terminal import typed_lines
    from deskhand.commands.up import page_port, page_url
    from deskhand.trials.base import TrialOptions, prepare
    from deskhand.trials.console import Display, interruptible
    from deskhand.trials.trial import episode_folder, run_trial
    from deskhand.view.page import PORT

    if task and scene:
        raise DeskhandError("invalid_input", "--task and --scene exclude each other: a scene file replaces the task's scene.")
    if view and local:
        raise DeskhandError("invalid_input", "--view and --local exclude each other: the page shows what the nodes say.")
    port = page_port(PORT) if view else None
    options = TrialOptions(
        task or DEFAULT_TASK, seed, scene, instruction, arm, brain, mode, local, timeout, fault, memory=memory, inbox=typed_lines(), view=port
    )
    options = replace(options, files=tuple(files or [Path.cwd()]), answer_timeout=answer_timeout, images=images, reality=reality)
    options = replace(options, record_rate=record_rate, planner=planner, composed=composed)
    try:
        said = prepare(options)[1]
    except DeskhandError as error:
        _write(json_file, {"success": False, "error_code": error.code, "error_message": str(error), "final_objects": [], "summary": "", "score": None})
        raise
    folder = episode or episode_folder(options)
    display = Display()
    display.heading(options, said)
    if port is not None:
        typer.echo(f"operator page: {page_url(port)}; afterwards: deskhand view {folder}")
    with interruptible():
        try:
            result = run_trial(options, folder, display.step)
        except KeyboardInterrupt:
            display.interrupted(folder)
            if (folder / "result.json").is_file():
                _write(json_file, json.loads((folder / "result.json").read_text()))
            raise
    _write(json_file, result)
    display.outcome(result)
    if code := exit_code(result):
        raise typer.Exit(code)


def _write(file: Path | None, result: dict[str, Any]) -> None:
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(result, indent=1))
