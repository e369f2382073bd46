"""``deskhand bench balance make|run|show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.commands.bench.results import result_of
from deskhand.commands.campaign import CampaignOptions, campaign_options

balance = typer.Typer(help="Weigh with a balance: six kinds of tasks, judged by ground truth (docs/tasks/balance_scale.md).", no_args_is_help=True)

Split = Annotated[str, typer.Option(help="dev (seeds below 1000) or heldout (other seeds, other wordings).")]
Seed = Annotated[int, typer.Option(min=0, help="The first seed; of heldout counted from 1000.")]
Count = Annotated[int, typer.Option(min=1, help="How many seeds.")]


@balance.command()
def make(
    folder: Annotated[Path, typer.Argument(help="Where to write items.jsonl and pictures/; must not exist.")],
    split: Split = "dev",
    seed: Seed = 0,
    count: Count = 12,
    arm: Annotated[str, typer.Option(help="A name in config/arms, or a file.")] = "wx250s",
) -> None:
    """Write scenes as pictures, with what is said and what must be true at the end."""
    from deskhand.bench.balance.items import seeds_of, write_items

    typer.echo(f"{write_items(folder, arm, seeds_of(split, seed, count))} items in {folder}")


@balance.command()
@campaign_options
def run(
    brain: Annotated[str, typer.Option(help="The name of a model profile, such as offline.")] = "offline",
    split: Split = "dev",
    seed: Seed = 0,
    count: Count = 12,
    shuffled: Annotated[bool, typer.Option("--shuffled", help="Each seed twice: the second time what looks the same has one another's masses.")] = False,
    arm: Annotated[str, typer.Option(help="A name in config/arms, or a file.")] = "wx250s",
    mode: Annotated[str, typer.Option(help="tools, code or direct.")] = "tools",
    reality: Annotated[str, typer.Option(help="As of `deskhand trial`; empty for the default.")] = "",
    fault: Annotated[str, typer.Option(help="As of `deskhand trial`, for example moved_object.")] = "",
    timeout: Annotated[float, typer.Option(min=1.0, help="Wall clock for one trial [s].")] = 900.0,
    episodes: Annotated[Path, typer.Option(help="Folder for the records.")] = Path("episodes/balance"),
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers; see docs/tasks/balance_scale.md.")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """Run trials. Exit code 1 when something was called done that was not."""
    from deskhand.bench.balance.items import seeds_of
    from deskhand.bench.balance.run import balance_campaign, markdown
    from deskhand.trials.base import TrialOptions

    options = TrialOptions(brain=brain, arm=arm, mode=mode, reality=reality, fault=fault, timeout=timeout)
    ran = how.run(balance_campaign(options, split, seeds_of(split, seed, count, shuffled), episodes.resolve()), json_file, _told)
    if ran.results:
        typer.echo(markdown([ran.summary]))
    if ran.failed or not ran.results or ran.summary["metrics"]["false_done"]:
        raise typer.Exit(1)


def _told(result: dict[str, Any]) -> str:
    return f"{result['kind']} {'right' if result['right'] else 'wrong'} {'; '.join(result['problems'])}".strip()


@balance.command()
def show(files: Annotated[list[Path], typer.Argument(help="JSON files of `run`.")]) -> None:
    """Results side by side, as a table in Markdown."""
    from deskhand.bench.balance.run import markdown

    typer.echo(markdown([result_of(file, "balance") for file in files]))
