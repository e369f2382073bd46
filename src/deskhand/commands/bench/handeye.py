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
    joint_noise: Annotated[float, typer.Option(min=0, help="Standard deviation of what each joint tells [degrees].")] = 0.1,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write {mountings: {fixed, wrist: [{seed, shift_mm, turn_deg, refused}]}}.")] = None,
) -> None:
    """Hand-eye calibration on rendered boards, with joints that are not where they say: how far the camera is from where it really is."""
    from rich.console import Console

    from deskhand.bench.calibration.handeye import told

    console = Console(highlight=False)
    results: dict[str, list[dict[str, Any]]] = {"fixed": [], "wrist": []}
    for mounting, rows in results.items():
        for number in range(seed, seed + trials):
            rows.append(told(mounting, number, pictures, joint_noise))
            row = rows[-1]
            console.print(f"{mounting} {number}: {row['refused'] or '{shift_mm:.2f} mm, {turn_deg:.3f} degrees'.format(**row)}", markup=False)
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps({"mountings": results}, indent=1))
