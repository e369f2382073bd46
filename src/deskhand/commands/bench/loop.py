"""``deskhand bench loop``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deskhand.commands.campaign import CampaignOptions, campaign_options


@campaign_options
def loop(
    episodes: Annotated[int, typer.Option(min=1, help="How many; each has the next seed.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Of the first.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers; see docs/agent.md.")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """What the agent's loop itself takes a decision, outside of model and tools (CPU time), and how long the prompts are.

    Exit code 1 when the mean is above 20 ms.
    """
    from rich.console import Console

    from deskhand.bench.loop import BAR, loop_campaign

    console = Console(highlight=False)
    ran = how.run(loop_campaign(episodes, seed), json_file)
    if not ran.results:
        raise typer.Exit(1)
    found = ran.summary
    took, size = found["overhead_ms"], found["prompt_chars"]
    console.print(f"loop: {took['mean']:.1f} ms CPU a decision, 95 % within {took['p95']:.1f} ms, at most {took['max']:.1f} ms (bar {BAR:.0f} ms on average)")
    console.print(f"prompt: {size['mean']} characters on average, at most {size['max']}")
    console.print(f"{found['episodes']} tasks, {found['right']} ended rightly, {found['refused']} of {found['decisions']} decisions refused")
    if ran.failed or not found["good"]:
        raise typer.Exit(1)
