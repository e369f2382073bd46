"""``deskhand bench instructions make|run|show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deskhand.commands.bench.results import result_of
from deskhand.commands.campaign import CampaignOptions, campaign_options
from deskhand.errors import DeskhandError

instructions = typer.Typer(help="Open instructions on 40 desks: is what was meant done, by ground truth, and is it truthfully told?", no_args_is_help=True)


@instructions.command()
def make(
    folder: Annotated[Path, typer.Argument(help="Where to write cases.jsonl and scenes/; must not exist.")],
    split: Annotated[str, typer.Option(help="dev, heldout, or empty for both.")] = "",
) -> None:
    """Write the cases with their scene files and goals, for other systems, or to look at."""
    from deskhand.bench.instructions.export import export

    if folder.exists():
        raise DeskhandError("invalid_input", f"{folder} exists.", hint="Name a folder that does not.")
    typer.echo(f"{export(folder, _half(split))} cases in {folder}")


@instructions.command()
@campaign_options
def run(
    brain: Annotated[str, typer.Option(help="perfect (plays the reference plan), liars, or the name of a model profile, such as offline.")] = "offline",
    split: Annotated[str, typer.Option(help="dev, heldout, or empty for both.")] = "dev",
    judge: Annotated[str, typer.Option(help="Who agrees: predicate (knows the goal), profile (the one that the brain's profile names), none.")] = "none",
    cases: Annotated[int, typer.Option(min=0, help="Only so many, spread evenly; 0 for all.")] = 0,
    lies: Annotated[int, typer.Option(min=1, help="How many lies of the brain liars.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of the choice of lies.")] = 0,
    simulated: Annotated[bool, typer.Option("--simulated", help="On the simulated robot instead of a desk without physics.")] = False,
    mode: Annotated[str, typer.Option(help="How the model acts: tools (it calls them), code (it writes Python that does).")] = "tools",
    timeout: Annotated[float, typer.Option(min=1.0, help="Wall clock for one case on a desk without physics [s].")] = 120.0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers; see docs/instructions.md.")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """Give the instructions to a brain. Exit code 1 when anything false was called done."""
    from rich.console import Console

    from deskhand.bench.instructions.campaign import instructions_campaign
    from deskhand.bench.instructions.run import JUDGES, LIARS, MODES, table

    if judge not in JUDGES:
        raise typer.BadParameter(f"--judge is one of {', '.join(JUDGES)}.")
    if mode not in MODES:
        raise typer.BadParameter(f"--mode is one of {', '.join(MODES)}.")
    if mode != "tools" and brain == LIARS:
        raise typer.BadParameter("lies are told in the mode tools: leave --mode out.")
    if simulated and brain == LIARS:
        raise typer.BadParameter("lies are told on desks without physics: leave --simulated out.")
    ran = how.run(instructions_campaign(_half(split), cases, brain, judge, lies, seed, simulated, mode, timeout), json_file)
    if ran.results:
        Console(highlight=False).print(table(ran.summary))
    if ran.failed or not ran.results or ran.summary["metrics"]["false_done"]["count"]:
        raise typer.Exit(1)


@instructions.command()
def show(
    files: Annotated[list[Path], typer.Argument(help="JSON files of `run`.")],
    kinds: Annotated[bool, typer.Option("--kinds", help="A line for each kind of case (of lie) too.")] = False,
) -> None:
    """Results side by side, as a table in Markdown."""
    from deskhand.bench.instructions.export import markdown

    typer.echo(markdown([result_of(file, "instructions") for file in files], kinds))


def _half(split: str) -> str:
    from deskhand.bench.instructions.cases import SPLITS

    if split not in ("", *SPLITS):
        raise typer.BadParameter(f"--split is one of {', '.join(SPLITS)} or empty.")
    return split
