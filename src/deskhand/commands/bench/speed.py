"""``deskhand bench speed``."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer


def speed(
    episodes: Annotated[list[Path], typer.Argument(help="Folders with records, such as `deskhand trial --episodes` writes; all below them count.")],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers; see docs/motion-benchmark.md.")] = None,
) -> None:
    """Where the time of each object goes, from records of tasks, beside what the arm and its fingers need at least."""
    from rich.console import Console
    from rich.table import Table

    from deskhand.bench.speed import measure, summarise

    cycles = measure(episodes)
    found = summarise(cycles)
    if json_file is not None:
        rows = [{name: None if isinstance(value, float) and math.isnan(value) else value for name, value in asdict(cycle).items()} for cycle in cycles]
        json_file.write_text(json.dumps({"bench": "speed", **found, "cycles": rows}, indent=1))
    table = Table("the robot's time", "s an object", "share")
    whole = sum(found["phases"].values()) or 1.0
    for name, seconds in found["phases"].items():
        if seconds:
            table.add_row(name.replace("_", " "), f"{seconds:.2f}", f"{100 * seconds / whole:.0f} %")
    console = Console(highlight=False)
    console.print(table)
    robot, wall = found["robot_s"], found["wall_s"]
    console.print(f"{found['objects']} objects: {robot['median']:.2f} s of the robot's time (90 %: {robot['p90']:.2f}), {found['per_hour']} an hour")
    console.print(f"wall clock {wall['median']:.2f} s (90 %: {wall['p90']:.2f}); the arm moves {100 * found['in_motion']:.0f} % of the robot's time")
    if found["times_bound"] is not None:
        bound = f"{found['motion_bound_s']:.2f} s of motion in straight lines at the limits, {found['gripper_bound_s']:.2f} s of the fingers"
        console.print(f"at least (median): {bound}; an object takes {found['times_bound']:.2f} times both together")
