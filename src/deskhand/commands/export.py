"""``deskhand export``: what was recorded, in the formats that others train on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.commands.campaign import write_json


def register(app: typer.Typer) -> None:
    """Add the commands."""
    export = typer.Typer(help="Write what was recorded in the formats of others.", no_args_is_help=True)
    export.callback()(lambda: None)
    export.command("lerobot")(lerobot)
    app.add_typer(export, name="export")


def lerobot(
    episodes: Annotated[list[Path], typer.Argument(help="Folders of episodes, or folders with such folders; those with samples (--record-rate) are taken.")],
    out: Annotated[Path, typer.Option("--out", help="New folder for the dataset.")],
    only_successes: Annotated[bool, typer.Option("--only-successes", help="Leave out episodes that did not succeed.")] = False,
    no_depth: Annotated[bool, typer.Option("--no-depth", help="Leave the cameras' depth out: many policies take colour alone.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write what was exported: meta/info.json, and the episodes' folders.")] = None,
) -> None:
    """A LeRobot dataset (v3.0): state, action, pictures and depth at the recorded rate, the task in words, whether it succeeded."""
    from rich.console import Console
    from rich.progress import track

    from deskhand.recording.episode.lerobot import LeRobotWriter, find_sources

    console = Console(highlight=False)
    sources = find_sources(episodes, only_successes)
    writer = LeRobotWriter(out, depth=not no_depth)
    try:
        for source in track(sources, "episodes", console=console):
            writer.add(source)
        info: dict[str, Any] = writer.finish()
    except BaseException:
        writer.abandon()
        raise
    write_json(json_file, {"info": info, "episodes": [str(source.folder) for source in sources]})
    console.print(f"{info['total_episodes']} episodes, {info['total_frames']} frames at {info['fps']} Hz, {info['total_tasks']} tasks: {out}", soft_wrap=True)
    for name, feature in info["features"].items():
        console.print(f"  {name}  {feature['dtype']}  {' x '.join(map(str, feature['shape']))}", markup=False)
