"""``deskhand bench handeye``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def handeye(
    trials: Annotated[int, typer.Option(min=1, help="Calibrations of each mounting, each with the next seed.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Of the first.")] = 0,
    pictures: Annotated[int, typer.Option(min=8, help="In each.")] = 30,
    arm: Annotated[str, typer.Option(help="Arm, a name in config/arms or a YAML file.")] = "wx250s",
    joint_noise: Annotated[float, typer.Option(min=0, help="Standard deviation of what each joint tells [degrees].")] = 0.1,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write {mountings: {fixed, wrist: [{seed, shift_mm, …}]}, summary}.")] = None,
) -> None:
    """Hand-eye calibration on rendered boards, with joints that are not where they say: how far off the result is, and how far it says it may be."""
    from rich.console import Console

    from deskhand.bench.calibration.handeye import summary, told

    console = Console(highlight=False)
    results: dict[str, list[dict[str, Any]]] = {"fixed": [], "wrist": []}
    for mounting, rows in results.items():
        for number in range(seed, seed + trials):
            rows.append(told(mounting, number, pictures, joint_noise, arm))
            row = rows[-1]
            line = "off by {shift_mm:.2f} mm, {turn_deg:.3f} degrees; says 1 sigma is {shift_sigma_mm:.2f} mm, {turn_sigma_deg:.3f} degrees"
            console.print(f"{mounting} {number}: {row['refused'] or line.format(**row)}", markup=False)
    summaries = {mounting: summary(rows) for mounting, rows in results.items()}
    for mounting, numbers in summaries.items():
        console.print(f"{mounting}: {', '.join(f'{name} {value}' for name, value in numbers.items())}", markup=False)
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps({"mountings": results, "summary": summaries}, indent=1))
