"""``deskhand do``: give a running robot a task, and watch it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.commands.options import TIMEOUT, AnswerTimeout, Mode, Timeout
from deskhand.errors import DeskhandError

DONE, FAILED, UNVERIFIED, INTERRUPTED = 0, 1, 3, 130
"""Exit codes."""
POLL = 0.05  # [s]
LAST_WORDS = 5.0  # [s] that a cancelled task has to say how it ended


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("do")(do)


def do(
    instruction: Annotated[str, typer.Argument(help='What to do, for example "put the blocks into the tray".')],
    namespace: Annotated[str, typer.Option(help="Of the robot, where it has one.")] = "",
    mode: Mode = "tools",
    timeout: Timeout = TIMEOUT,
    answer_timeout: AnswerTimeout = 0.0,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the result: success, error_code, error_message, summary, episode, tool_calls.")
    ] = None,
) -> None:
    """Give a running robot (deskhand up, ros2 launch) one task over ROS and show how it goes.

    What you type while it runs is told to the robot: an answer to its question (a number picks one of the answers shown), a correction, or "stop". Ctrl-C
    cancels the task. The exit code is 0 when it is done, 3 when nobody independent has agreed that it is (unverified), 1 when it failed.
    """
    from deskhand.bringup.environment import workstation_defaults
    from deskhand.bringup.task_process import TaskProcess
    from deskhand.commands.terminal import typed_lines
    from deskhand.trials.console import Display, interruptible

    if not instruction.strip():
        raise DeskhandError("empty_instruction", "the instruction is empty.", hint='Say what to do, for example "put the blocks into the tray".')
    lines = typed_lines()
    environment = {**os.environ, **workstation_defaults(os.environ)}
    display = Display()
    with interruptible(), TaskProcess(instruction, mode, environment, listen=lines is not None, namespace=namespace, answer_timeout=answer_timeout) as task:
        try:
            result = _watch(task, lines, display, time.monotonic() + timeout)
        except KeyboardInterrupt:
            typer.echo("cancelled; the robot is told.")
            task.cancel()
            result = _last_words(task)
            _tell(result, json_file)
            raise typer.Exit(INTERRUPTED) from None
        if result is None:
            task.cancel()
            _last_words(task)
            raise DeskhandError("timeout", f"the task took longer than {timeout:g} s and was cancelled.", hint="Give it more with --timeout.")
    _tell(result, json_file)
    if code := exit_code(result):
        raise typer.Exit(code)


def exit_code(result: Mapping[str, Any]) -> int:
    """0 done, 3 unverified, 1 failed."""
    if result["error_code"] == "unverified":
        return UNVERIFIED
    return DONE if result["success"] else FAILED


def _watch(task: Any, lines: Any, display: Any, end: float) -> dict[str, Any] | None:
    """The result line; None when the time is over before there is one."""
    from deskhand.trials.base import Progress

    while time.monotonic() < end:
        while lines is not None and (words := lines()) is not None:
            if words:
                task.tell(words)
        line = task.next_line(POLL)
        if line is None:
            if task.ended():
                raise DeskhandError("internal_error", f"the task client ended without a result: {task.errors()}")
        elif line["type"] == "feedback":
            display.step(Progress(line["step"], line["tool"], line["text"], line.get("question", ""), tuple(line.get("options", ()))))
        elif line["type"] == "told" and not line["accepted"]:
            display.step(Progress(0, "", f"not heard: {line['message']}"))
        elif line["type"] == "result":
            return dict(line)
    return None


def _last_words(task: Any) -> dict[str, Any]:
    """How a cancelled task ended."""
    end = time.monotonic() + LAST_WORDS
    while time.monotonic() < end and not task.ended():
        if (line := task.next_line(POLL)) is not None and line["type"] == "result":
            return dict(line)
    return {"success": False, "error_code": "cancelled", "error_message": "cancelled; the robot did not say how it ended.", "summary": "", "episode": ""}


def _tell(result: Mapping[str, Any], file: Path | None) -> None:
    """Show the end, and write it."""
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({key: value for key, value in result.items() if key != "type"}, indent=1))
    if result["episode"]:
        typer.echo(f"record: {result['episode']}")
    word = {DONE: "done", UNVERIFIED: "unverified"}.get(exit_code(result), f"failed, {result['error_code']}")
    typer.echo(f"{word}: {result['summary'] or result['error_message']}")
