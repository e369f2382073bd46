"""``deskhand bench grasp``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.commands.campaign import CampaignOptions, campaign_options


@campaign_options
def grasp(
    arm: Annotated[list[str] | None, typer.Option(help="Arm, a name in config/arms; may be given more than once. Default: all.")] = None,
    trials: Annotated[int, typer.Option(min=0, help="Single objects, each picked once.")] = 300,
    desks: Annotated[int, typer.Option(min=0, help="Cluttered desks to clear.")] = 20,
    objects: Annotated[int, typer.Option(min=1, max=30, help="Objects on a cluttered desk.")] = 10,
    stacked: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of them that stands on others.")] = 0.0,
    explore: Annotated[int, typer.Option(min=0, help="Single objects of which random grasps are tried, five each: for the calibration, and for --fit.")] = 0,
    hard: Annotated[bool, typer.Option(help="Explore each object once more: thin or wide, heavy, slippery, seen with more noise.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the first scene; the others follow.")] = 1000,
    shape: Annotated[list[str] | None, typer.Option(help="Only these single objects; may be given more than once.")] = None,
    foreign: Annotated[str, typer.Option(help="Objects that others made instead: dev, judged, all or names; see docs/foreign-objects.md.")] = "",
    reality: Annotated[str, typer.Option(help="How the desks differ from ideal ones: none, mild, hard or a YAML file; see docs/reality.md.")] = "none",
    fit_file: Annotated[Path | None, typer.Option("--fit", help="Write a success model, fitted on the explored picks, as config/grasping.yaml is.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write {arms: [...]}; see docs/grasping.md.")] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help="Write a picture (PNG, SVG or PDF).")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """Pick single objects of many shapes and clear cluttered desks in simulation, judged by ground truth.

    Exit code 1 when a pick said that it holds what it does not.
    """
    from rich.console import Console

    from deskhand.arms.config import list_arms
    from deskhand.bench.grasp import fit as fitting
    from deskhand.bench.grasp.report import plot, show
    from deskhand.bench.grasp.run import Job, grasp_campaign
    from deskhand.bench.grasp.subjects import SUBJECTS

    unknown = sorted(set(shape or ()) - set(SUBJECTS))
    if unknown:
        raise typer.BadParameter(f"there is no shape {', '.join(unknown)}; valid: {', '.join(SUBJECTS)}", param_hint="--shape")
    if foreign and (shape or explore or stacked):
        raise typer.BadParameter("foreign objects are neither chosen with --shape nor explored or stacked", param_hint="--foreign")
    console = Console(highlight=False)
    names = list(arm or list_arms())
    subjects = [shape[number % len(shape)] if shape else "" for number in range(max(trials, explore))]
    jobs: list[Job] = []
    for name in names:
        jobs += [Job("single", name, seed + number, subjects[number], foreign=foreign, reality=reality) for number in range(trials)]
        jobs += [Job("clutter", name, seed + number, count=objects, stacked=stacked, foreign=foreign, reality=reality) for number in range(desks)]
        jobs += [Job("explore", name, seed + number, subjects[number], count=5, hard=harder) for number in range(explore) for harder in sorted({False, hard})]
    settings = {"seed": seed, "objects": objects, "stacked": stacked, "shapes": shape or [], "foreign": foreign, "reality": reality}
    ran = how.run(grasp_campaign(jobs, settings), json_file, _describe)
    summaries = ran.summary.get("arms", [])
    for summary in summaries:
        show(summary, console)
    if plot_file:
        plot(summaries, plot_file)
    if fit_file:
        features, outcomes, harder = fitting.samples([result for result in ran.results if result["job"]["kind"] == "explore"])
        arms = ", ".join(names)
        fitting.write(
            fitting.fit(features, outcomes, harder), fit_file, f"{len(outcomes)} picks of random grasps, {arms}, seeds {seed} to {seed + explore - 1}"
        )
        console.print(f"success model of {len(outcomes)} picks written to {fit_file}")
    if ran.failed or any(summary["false_successes"] for summary in summaries):
        raise typer.Exit(1)


def _describe(result: dict[str, Any]) -> str:
    """How many of its picks held."""
    return f"{sum(pick['success'] for pick in result['picks'])} of {len(result['picks'])} picks held"
