"""``deskhand bench brains``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def brains(
    episodes: Annotated[int, typer.Option(min=1, help="How many; each has the next seed.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Of the first.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all counts and the episodes where something is wrong; see docs/models.md.")] = None,
) -> None:
    """Language models that misbehave on purpose, over real HTTP, against the agent and the tool session on a desk without physics.

    Exit code 1 when the agent crashed, moved unsafely, called done what was not, overran its budget or ended without a code.
    """
    import logging

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from deskhand.bench.brains.campaign import Episode, run_campaign, summarise
    from deskhand.bench.brains.report import show

    logging.disable(logging.WARNING)  # hundreds of faults that are made on purpose
    console = Console(highlight=False)
    columns = (TextColumn("episodes"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("[dim]{task.fields[wrong]}"))
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("episodes", total=episodes, wrong="")
        wrong: list[int] = []

        def told(each: Episode) -> None:
            wrong.extend([] if each.good else [each.seed])
            bar.update(task, advance=1, wrong=f"wrong: {', '.join(map(str, wrong))}" if wrong else "")

        summary = summarise(run_campaign(episodes, seed, told))
    show(summary, console)
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(summary, indent=1))
    if not summary["good"]:
        raise typer.Exit(1)
