"""``deskhand bench brains``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deskhand.commands.campaign import CampaignOptions, campaign_options


@campaign_options
def brains(
    episodes: Annotated[int, typer.Option(min=1, help="How many; each has the next seed.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Of the first.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all counts and the episodes where something is wrong; see docs/models.md.")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """Language models that misbehave on purpose, over real HTTP, against the agent and the tool session on a desk without physics.

    Exit code 1 when the agent crashed, moved unsafely, called done what was not, overran its budget or ended without a code.
    """
    from rich.console import Console

    from deskhand.bench.brains.campaign import Episode, brains_campaign
    from deskhand.bench.brains.report import show

    ran = how.run(brains_campaign(episodes, seed), json_file, lambda result: "" if Episode(**result).good else "[red]wrong[/red]")
    if ran.results:
        show(ran.summary, Console(highlight=False))
    if ran.failed or not ran.summary["good"]:
        raise typer.Exit(1)
