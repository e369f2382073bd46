"""``deskhand train``: networks of ours, learnt on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deskhand.errors import DeskhandError


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Learn networks from rendered pictures.", no_args_is_help=True)
    group.callback()(lambda: None)
    group.command()(segmenter)
    app.add_typer(group, name="train")


def segmenter(
    out: Annotated[Path, typer.Option(help="ONNX file; a checkpoint is kept beside it until it is done.")] = Path("segmenter.onnx"),
    seed: Annotated[int, typer.Option(min=0, help="Of the piles, of the weights at the start, of the order.")] = 100000,
    frames: Annotated[int, typer.Option(min=2, help="Rendered; about 0.2 s and 0.6 MB each.")] = 3200,
    steps: Annotated[int, typer.Option(min=1, help="Batches that are learnt from.")] = 10000,
    batch: Annotated[int, typer.Option(min=1, help="Pictures of a step.")] = 4,
    minutes: Annotated[float, typer.Option(min=0.01, help="Of learning, after which it ends even if steps are left.")] = 60.0,
    data: Annotated[Path, typer.Option(help="Folder of rendered frames, which are used again.")] = Path("build/segmenter/data"),
    jobs: Annotated[int, typer.Option(min=1, help="Processes that render and cut out; they change nothing of what is learnt.")] = 1,
    device: Annotated[str, typer.Option(help="Of torch: cpu, or cuda where it has a GPU.")] = "cpu",
) -> None:
    """Teach the segmenter which pixels of a depth camera's picture show one object, on rendered piles of random objects (docs/perception.md).

    The same options and versions give the same frames and steps where the minutes are enough for all of them. Ctrl-C writes what was learnt so far and a
    checkpoint, from which the same command goes on. Needs the extra `train` (torch).
    """
    from rich.console import Console

    from deskhand.bench.segmenter.options import Options

    try:
        from deskhand.bench.segmenter.train import train
    except ImportError as error:
        raise DeskhandError("missing_dependency", f"learning needs torch and onnx: {error}.", hint='pip install "deskhand[train]"') from error
    console = Console(highlight=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    with console.status("frames") as status:
        done = train(Options(seed, frames, steps, minutes, out, data, batch=batch, jobs=jobs, device=device), status.update)
    console.print(
        f"{out}: {done.parameters} parameters, {done.steps} steps; held out: loss {done.loss:.4f}, pairs of pixels of one object {done.one:.3f} right,"
    )
    console.print(f"of two objects {done.two:.3f} right.")
    if not done.whole:
        console.print("It was broken off; the same command goes on from its checkpoint.")
        raise typer.Exit(130)
