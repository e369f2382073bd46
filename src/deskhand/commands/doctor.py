"""``deskhand doctor``: is everything there that deskhand needs, and does it work?"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(
    brain: Annotated[str, typer.Option(help="Only try this profile of config/llm.yaml, with one call: server, key, model name, tool calls.")] = "",
    json_file: Annotated[Path | None, typer.Option("--json", help="Write {ok, checks: [{name, ok, detail, advice}]}.")] = None,
    safety: Annotated[Path | None, typer.Option(help="Safety file to show and check; default: config/safety.yaml.")] = None,
    robot: Annotated[bool, typer.Option("--robot", help="This machine is a robot's: arm and camera must be connected, the clock synchronised.")] = False,
) -> None:
    """Check libraries, rendering, ROS 2, pictures between processes; the safety settings in force; ports, cameras, clock, disk; or a language model.

    Exit code 0 when all is well.
    """
    from rich.console import Console

    from deskhand.bringup.doctor.base import Check
    from deskhand.bringup.doctor.robot import ROBOT_CHECKS
    from deskhand.bringup.doctor.safety import check_safety
    from deskhand.bringup.doctor.software import CHECKS, check_brain

    console = Console(highlight=False)
    checks = []
    usual: list[Callable[[], Check]] = [*CHECKS, partial(check_safety, safety), *(partial(each, robot) for each in ROBOT_CHECKS)]
    runs: list[Callable[[], Check]] = [partial(check_brain, brain)] if brain else usual
    for run in runs:
        check = run()
        checks.append(check)
        console.print(f"[{'green' if check.ok else 'red'}]{'OK  ' if check.ok else 'FAIL'}[/] {check.name:<12} ", end="")
        console.print(check.detail if check.ok else f"{check.detail}\n     {'':<12} {check.advice}", markup=False, soft_wrap=True)
    ok = all(check.ok for check in checks)
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps({"ok": ok, "checks": [asdict(check) for check in checks]}, indent=1))
    if not ok:
        raise typer.Exit(1)
