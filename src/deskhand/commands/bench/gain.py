"""``deskhand bench gain run|show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.commands.bench.results import result_of
from deskhand.commands.campaign import CampaignOptions, campaign_options

gain = typer.Typer(help="What tools bring: the same seeds without them, with some groups and with all (docs/agent.md).", no_args_is_help=True)


@gain.command()
@campaign_options
def run(
    tasks: Annotated[str, typer.Option(help="Names of tasks, separated by commas.")] = "desk_cleaning,block_building,eb_pick,eb_stack",
    brain: Annotated[str, typer.Option(help="The name of a model profile, such as offline.")] = "offline",
    runs: Annotated[int, typer.Option(min=1, help="How often each seed is tried in each setting.")] = 3,
    groups: Annotated[
        list[str] | None,
        typer.Option(help="all, none, perception, cognition, reasoning, execution, each, without; may be given more than once. Default: none and all."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    count: Annotated[int, typer.Option(min=1, help="How many seeds of each task.")] = 5,
    arm: Annotated[str, typer.Option(help="A name in config/arms, or a file.")] = "wx250s",
    reality: Annotated[str, typer.Option(help="As of `deskhand trial`; empty for the default.")] = "",
    timeout: Annotated[float, typer.Option(min=1.0, help="Wall clock for one trial [s].")] = 900.0,
    episodes: Annotated[Path, typer.Option(help="Folder for the records.")] = Path("episodes/gain"),
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers; see docs/agent.md.")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """Run trials."""
    from deskhand.agent.offered import NONE
    from deskhand.bench.gain.run import ALL, gain_campaign, settings_of
    from deskhand.bench.gain.table import markdown
    from deskhand.trials.base import TrialOptions

    options = TrialOptions(brain=brain, arm=arm, reality=reality, timeout=timeout)
    names = [name.strip() for name in tasks.split(",") if name.strip()]
    campaign = gain_campaign(options, names, range(seed, seed + count), settings_of(groups or [NONE, ALL]), runs, episodes.resolve())
    ran = how.run(campaign, json_file, _told)
    if ran.results:
        typer.echo(markdown([ran.summary]))
    if ran.failed or not ran.results:
        raise typer.Exit(1)


def _told(result: dict[str, Any]) -> str:
    return f"{result['task']} {result['setting']} {'right' if result['success'] else 'wrong'} {result['failure']} {result['why']}".strip()


@gain.command()
def show(files: Annotated[list[Path], typer.Argument(help="JSON files of `run`.")]) -> None:
    """Results side by side, as a table in Markdown."""
    from deskhand.bench.gain.table import markdown

    typer.echo(markdown([result_of(file, "gain") for file in files]))
