"""``deskhand bench instructions``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def instructions(
    brain: Annotated[str, typer.Option(help="perfect (plays the reference plan), liars, or the name of a model profile, such as offline.")] = "offline",
    split: Annotated[str, typer.Option(help="dev, heldout, or empty for both.")] = "dev",
    judge: Annotated[str, typer.Option(help="Who agrees: predicate (knows the goal), profile (the one that the brain's profile names), none.")] = "none",
    cases: Annotated[int, typer.Option(min=0, help="Only so many, spread evenly; 0 for all.")] = 0,
    lies: Annotated[int, typer.Option(min=1, help="How many lies of the brain liars.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of the choice of lies.")] = 0,
    simulated: Annotated[bool, typer.Option("--simulated", help="On the simulated robot instead of a desk without physics.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers; see docs/instructions.md.")] = None,
) -> None:
    """Open instructions on 40 desks: is what was meant done, by ground truth, and is it truthfully told?

    Exit code 1 when anything false was called done.
    """
    from rich.console import Console
    from rich.progress import track

    from deskhand.bench.instructions import run
    from deskhand.bench.instructions.cases import SPLITS, load_cases

    if split not in ("", *SPLITS) or judge not in run.JUDGES:
        raise typer.BadParameter(f"--split is one of {', '.join(SPLITS)} or empty, --judge one of {', '.join(run.JUDGES)}.")
    console = Console(highlight=False)
    chosen = load_cases(split)
    chosen = chosen[:: max(1, len(chosen) // cases)][:cases] if cases else chosen
    progress = iter(track(range((lies if brain == run.LIARS else len(chosen)) + 1), "cases", console=console))
    next(progress)

    def told(item: run.Item) -> None:
        next(progress, None)

    if simulated:
        from deskhand.bench.instructions.simulated import run_simulated

        found = run_simulated(chosen, brain, judge, told)
    else:
        found = run.run_liars(chosen, judge, lies, seed, told) if brain == run.LIARS else run.run_brain(chosen, brain, judge, told)
    for _ in progress:
        pass
    summary = run.summarise(found, brain, judge, split, seed)
    console.print(run.table(summary))
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(summary, indent=1, ensure_ascii=False))
    if summary["metrics"]["false_done"]["count"]:
        raise typer.Exit(1)
