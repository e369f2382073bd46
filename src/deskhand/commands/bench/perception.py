"""``deskhand bench perception``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.commands.campaign import CampaignOptions, campaign_options, write_json
from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from rich.console import Console

    from deskhand.bench.frames.run import Options as FrameOptions


@campaign_options
def perception(
    arm: Annotated[str, typer.Option(help="Arm whose reach the desks are laid out for.")] = "wx250s",
    scenes: Annotated[int, typer.Option(min=4, help="Cluttered desks: spread, touching, stacked, in containers, a quarter each.")] = 200,
    noise_scenes: Annotated[int, typer.Option(min=0, help="Desks at each level of noise and of holes in the depth.")] = 24,
    looks: Annotated[int, typer.Option(min=1, help="Looks at each desk; before the last of several one object is moved.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Of the first desk; with --stress of the changes.")] = 0,
    reality: Annotated[
        str, typer.Option(help="How the desks differ from ideal ones: none, mild, hard, a YAML file, or a part such as mild:registration; see docs/reality.md.")
    ] = "none",
    failures: Annotated[Path | None, typer.Option(help="Folder for annotated pictures of the looks where something is wrong.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all numbers; see docs/perception.md.")] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help="Write a picture (PNG, SVG or PDF).")] = None,
    frames: Annotated[
        Path | None, typer.Option(help="Instead of simulated desks: folder of RGB-D frames, with labels or without; see docs/perception.md.")
    ] = None,
    piles: Annotated[int, typer.Option(min=0, help="Instead of --frames: so many rendered piles of random objects, from --seed on.")] = 0,
    method: Annotated[str, typer.Option(help="With --frames or --piles: deskhand, euclidean, lccp, or network (the segmenter alone).")] = "deskhand",
    segmenter: Annotated[
        str,
        typer.Option(
            help="With --frames or --piles: what is heard beside shape: geometry, piles (our weights), or an ONNX file; default: config/segmenter.yaml."
        ),
    ] = "",
    trust: Annotated[float | None, typer.Option(min=0, max=1, help="With --segmenter: its weight against shape; default: config/segmenter.yaml.")] = None,
    sure: Annotated[
        float | None, typer.Option(min=0.5, max=1, help="With --segmenter: probability above which it joins what was cut; default: config/segmenter.yaml.")
    ] = None,
    stress: Annotated[
        int, typer.Option(min=0, help="With --frames: so many frames with each change that other cameras, lights and desks make, drawn by --seed.")
    ] = 0,
    pictures: Annotated[Path | None, typer.Option(help="With --frames or --piles: folder for pictures of what was found, beside the labels.")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """What perception finds on simulated cluttered desks, against the truth: found, where, how large, called what, on what, ids, processor time.

    With --frames how well the objects of recorded frames are told apart, with --piles those of rendered ones.
    """
    from rich.console import Console

    from deskhand.bench.perception.report import plot, show
    from deskhand.bench.perception.run import Options, perception_campaign

    console = Console(highlight=False)
    if frames is not None and piles:
        raise DeskhandError("invalid_input", "give --frames or --piles, not both.")
    if frames is not None or piles:
        if how != CampaignOptions():
            raise DeskhandError(
                "invalid_input", "--frames and --piles are looked at one after the other: leave out --workers, --shards, --resume, --results, --ray, --track."
            )
        from deskhand.bench.frames.run import Options as FrameOptions

        _frames(FrameOptions(frames, method, pictures, stress=stress, seed=seed, segmenter=segmenter, trust=trust, sure=sure, piles=piles), json_file, console)
        return
    ran = how.run(perception_campaign(Options(arm, scenes, noise_scenes, looks, seed, failures, reality)), json_file)
    if ran.results:
        show(ran.summary, console)
    if plot_file:
        plot(ran.summary, plot_file)
    if ran.failed:
        raise typer.Exit(1)


def _frames(options: FrameOptions, json_file: Path | None, console: Console) -> None:
    from deskhand.bench.frames.report import show
    from deskhand.bench.frames.run import run

    with console.status("frames") as status:
        result = run(options, lambda text: status.update(f"{options.name}: {text}"))
    show(result, console)
    write_json(json_file, result)
