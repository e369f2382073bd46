"""``deskhand bench driver``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def driver(
    arm: Annotated[str, typer.Option(help="Arm with LX servos, a name in config/arms or a YAML file.")] = "jetarm",
    frames: Annotated[int, typer.Option(min=100, help="Frames on the noisy wire, for each bus.")] = 10000,
    replugs: Annotated[int, typer.Option(min=0, help="How often the cable is pulled; this runs in real time.")] = 50,
    picks: Annotated[int, typer.Option(min=1, help="Planned picks, four motions each, for each bus.")] = 10,
    stops: Annotated[int, typer.Option(min=1, help="Cancels at full speed, for each bus.")] = 20,
    servos: Annotated[str, typer.Option(help="The picks again with servos that are as these say: names in config/servos or YAML files, with commas.")] = "worn",
    seed: Annotated[int, typer.Option(min=0, help="Of all random numbers.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write {rows: [...], good}; see docs/hardware.md.")] = None,
) -> None:
    """The driver of bus servos on emulated ones: noise, pulled cables, tracking along picks, stops.

    Exit code 1 when something is beyond its bar.
    """
    from rich.console import Console

    from deskhand.arms.model import RobotModel
    from deskhand.trials import driver as measured

    console, model = Console(highlight=False), RobotModel.load(arm)
    results: list[Any] = []
    with console.status("driver") as status:
        for kind in model.arm.driver.kinds:
            results.append(measured.measure_noise(model, kind, frames, seed, status.update))
            results.extend(measured.measure_pick(model, kind, picks, seed, status.update, name) for name in ("", *filter(None, servos.split(","))))
            results.append(measured.measure_stops(model, kind, stops, seed))
        if replugs:
            results.append(measured.measure_replug(model, replugs, status.update))
    rows = measured.to_json(results)
    for row in rows:
        good = "[green]good[/]" if row["good"] else "[red]beyond its bar[/]"
        console.print(row["measured"], good, {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items() if key != "measured"})
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps({"rows": rows, "good": all(row["good"] for row in rows)}, indent=1))
    if not all(row["good"] for row in rows):
        raise typer.Exit(1)
