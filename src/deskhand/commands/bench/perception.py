"""``deskhand bench perception``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def perception(
    arm: Annotated[str, typer.Option(help="Arm whose reach the desks are laid out for.")] = "wx250s",
    scenes: Annotated[int, typer.Option(min=4, help="Cluttered desks: spread, touching, stacked, in containers, a quarter each.")] = 200,
    noise_scenes: Annotated[int, typer.Option(min=0, help="Desks at each level of noise and of holes in the depth.")] = 24,
    looks: Annotated[int, typer.Option(min=1, help="Looks at each desk; before the last of several one thing is moved.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Of the first desk.")] = 0,
    failures: Annotated[Path | None, typer.Option(help="Folder for annotated pictures of the looks where something is wrong.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all numbers; see docs/perception.md.")] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help="Write a picture (PNG, SVG or PDF).")] = None,
) -> None:
    """What perception finds on simulated cluttered desks, against the truth: found, where, how large, called what, on what, ids, processor time."""
    from rich.console import Console

    from deskhand.bench.perception.report import plot, show
    from deskhand.bench.perception.run import Options, run

    console = Console(highlight=False)
    with console.status("perception") as status:
        result = run(Options(arm, scenes, noise_scenes, looks, seed, failures), lambda text: status.update(f"perception: {text}"))
    show(result, console)
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(result, indent=1))
    if plot_file:
        plot(result, plot_file)
