"""``deskhand bench soak``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deskhand.commands.options import TIMEOUT, Arm, Brain, Composed, Planner, Timeout


def soak(
    instructions: Annotated[int, typer.Option(min=1, help="How many, one after the other.")] = 200,
    arm: Arm = "wx250s",
    brain: Brain = "offline",
    planner: Planner = "embedded",
    composed: Composed = False,
    timeout: Timeout = TIMEOUT,
    episode: Annotated[Path, typer.Option(help="Folder for the record and the nodes' output; must not exist.")] = Path("episodes/soak"),
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers.")] = None,
) -> None:
    """Work for long at the same nodes: memory of each process, and whether the last instructions take longer than the first.

    After Ctrl-C it tells what was measured until then. The exit code is 1 when a node ended or an instruction was not done.
    """
    from rich.console import Console
    from rich.table import Table

    from deskhand.bench.soak import Done, summarise
    from deskhand.bench.soak import soak as measured
    from deskhand.errors import DeskhandError
    from deskhand.trials.base import TrialOptions

    if episode.exists():
        raise DeskhandError("invalid_input", f"{episode} exists.", hint="Give --episode another folder.")
    console = Console(highlight=False)
    begun: list[float] = []
    done: list[Done] = []
    ended = False
    options = TrialOptions(arm=arm, brain=brain, planner=planner, composed=composed, timeout=timeout)
    try:
        for each in measured(options, instructions, episode, begun.append):
            done.append(each)
            outcome = "done" if each.success else each.code or "not done"
            console.print(f"{each.number + 1} of {instructions}: {outcome} in {each.seconds:.1f} s, {sum(each.memory.values()):.0f} MB in all")
    except KeyboardInterrupt:
        console.print("stopped")
    except DeskhandError as error:  # what was measured until then is told all the same
        if not done:
            raise
        ended = True
        console.print(f"error {error.code}: {error}")
    if not done:
        raise typer.Exit(1)
    found = {"bench": "soak", "composed": composed, "start_s": round(begun[0], 2), **summarise(done)}
    if json_file is not None:
        json_file.write_text(json.dumps({**found, "each": [asdict(each) for each in done]}, indent=1))
    table = Table("process", "MB at first", "MB at last", "growth", "at most")
    for name, numbers in found["memory"].items():
        table.add_row(name, *(f"{numbers[key]:.1f}" for key in ("first_mb", "last_mb", "growth_mb", "most_mb")))
    if found["memory"]:
        console.print(table)
        console.print(f"the last instructions took {found['last_to_first']:.2f} times as long as the first")
    console.print(f"{found['done']} of {found['instructions']} done; all nodes were ready after {found['start_s']:.1f} s")
    if ended or found["done"] < found["instructions"]:
        raise typer.Exit(1)
