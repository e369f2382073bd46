"""``deskhand bench eb make|run|show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.commands.bench.results import result_of
from deskhand.commands.campaign import CampaignOptions, campaign_options

eb = typer.Typer(
    help="EB-Manipulation: shapes into containers and onto each other, wiping, judged by ground truth (docs/tasks/eb_manipulation.md).",
    no_args_is_help=True,
)

Split = Annotated[str, typer.Option(help="dev (seeds below 1000) or heldout (other seeds, other wordings).")]
Seed = Annotated[int, typer.Option(min=0, help="The first seed; of heldout counted from 1000 where it is less.")]
Count = Annotated[int, typer.Option(min=1, help="How many seeds of each family; five are one of each subset (of wipe: four).")]
Family = Annotated[list[str] | None, typer.Option("--family", help="pick, stack, sorter or wipe; may be given more than once. Default: all.")]
Arm = Annotated[str, typer.Option(help="A name in config/arms, or a file.")]


@eb.command()
def make(
    folder: Annotated[Path, typer.Argument(help="Where to write items.jsonl and pictures/; must not exist.")],
    split: Split = "dev",
    seed: Seed = 0,
    count: Count = 10,
    family: Family = None,
    arm: Arm = "wx250s",
) -> None:
    """Write scenes as pictures, with what is said and what must be true at the end."""
    from deskhand.bench.balance.items import seeds_of
    from deskhand.bench.eb.items import tasks_of, write_items

    typer.echo(f"{write_items(folder, tasks_of(family or [], arm), seeds_of(split, seed, count))} items in {folder}")


@eb.command()
@campaign_options
def run(
    brain: Annotated[
        str, typer.Option(help="The name of a model profile, such as offline; expert: one that knows the truth and acts as in direct mode.")
    ] = "offline",
    split: Split = "dev",
    seed: Seed = 0,
    count: Count = 10,
    family: Family = None,
    arm: Arm = "wx250s",
    mode: Annotated[str, typer.Option(help="As of `deskhand trial`: tools, code, direct, direct_labelled, direct+tools or direct+tools_hidden.")] = "tools",
    blind: Annotated[bool, typer.Option("--blind", help="Show the model no pictures, whatever its profile says.")] = False,
    reality: Annotated[str, typer.Option(help="As of `deskhand trial`; empty for the default.")] = "",
    timeout: Annotated[float, typer.Option(min=1.0, help="Wall clock for one trial [s].")] = 900.0,
    episodes: Annotated[Path, typer.Option(help="Folder for the records.")] = Path("episodes/eb"),
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers; see docs/tasks/eb_manipulation.md.")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """Run trials. Exit code 1 when something was called done that was not."""
    from deskhand.bench.balance.items import seeds_of
    from deskhand.bench.eb.items import tasks_of
    from deskhand.bench.eb.run import EXPERT, eb_campaign, markdown
    from deskhand.trials.base import TrialOptions

    mode = "direct" if brain == EXPERT else mode
    options = TrialOptions(brain=brain, arm=arm, mode=mode, reality=reality, timeout=timeout, images=0 if blind else None)
    campaign = eb_campaign(options, tasks_of(family or [], arm), split, seeds_of(split, seed, count), episodes.resolve())
    ran = how.run(campaign, json_file, _told)
    if ran.results:
        typer.echo(markdown([ran.summary]))
    if ran.failed or not ran.results or ran.summary["metrics"]["false_done"]:
        raise typer.Exit(1)


def _told(result: dict[str, Any]) -> str:
    return f"{result['kind']} {result['group']} {'right' if result['right'] else 'wrong'} {'; '.join(result['problems'])}".strip()


@eb.command()
def show(files: Annotated[list[Path], typer.Argument(help="JSON files of `run`.")]) -> None:
    """Results side by side, as a table in Markdown."""
    from deskhand.bench.eb.run import markdown

    typer.echo(markdown([result_of(file, "eb") for file in files]))
