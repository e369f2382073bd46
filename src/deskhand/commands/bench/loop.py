"""``deskhand bench loop``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def loop(
    episodes: Annotated[int, typer.Option(min=1, help="How many; each has the next seed.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Of the first.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers; see docs/agent.md.")] = None,
) -> None:
    """What the agent's loop itself takes a decision, outside of model and tools (CPU time), and how long the prompts are.

    Exit code 1 when the mean is above 20 ms.
    """
    from rich.console import Console
    from rich.progress import track

    from deskhand.bench.loop import BAR, measure

    console = Console(highlight=False)
    progress = iter(track(range(episodes + 1), "episodes", console=console))
    next(progress)

    def told() -> None:
        next(progress)

    found = measure(episodes, seed, told)
    for _ in progress:
        pass
    took, size = found["overhead_ms"], found["prompt_chars"]
    console.print(f"loop: {took['mean']:.1f} ms CPU a decision, 95 % within {took['p95']:.1f} ms, at most {took['max']:.1f} ms (bar {BAR:.0f} ms on average)")
    console.print(f"prompt: {size['mean']} characters on average, at most {size['max']}")
    console.print(f"{found['episodes']} tasks, {found['right']} ended rightly, {found['refused']} of {found['decisions']} decisions refused")
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(found, indent=1))
    if not found["good"]:
        raise typer.Exit(1)
