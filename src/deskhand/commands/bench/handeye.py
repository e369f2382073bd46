"""``deskhand bench handeye``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.commands.campaign import CampaignOptions, campaign_options


@campaign_options
def handeye(
    trials: Annotated[int, typer.Option(min=1, help="Calibrations of each mounting, each with the next seed.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Of the first.")] = 0,
    pictures: Annotated[int, typer.Option(min=8, help="In each.")] = 30,
    arm: Annotated[str, typer.Option(help="Arm, a name in config/arms or a YAML file.")] = "wx250s",
    joint_noise: Annotated[float, typer.Option(min=0, help="Standard deviation of what each joint tells [degrees].")] = 0.1,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write {mountings: {fixed, wrist: [{seed, shift_mm, …}]}, summary}.")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """Hand-eye calibration on rendered boards, with joints that are not where they say: how far off the result is, and how far it says it may be."""
    from rich.console import Console

    from deskhand.bench.calibration.handeye import handeye_campaign

    ran = how.run(handeye_campaign(trials, seed, pictures, arm, joint_noise), json_file, _describe)
    for mounting, numbers in ran.summary.get("summary", {}).items():
        Console(highlight=False).print(f"{mounting}: {', '.join(f'{name} {value}' for name, value in numbers.items())}", markup=False)
    if ran.failed:
        raise typer.Exit(1)


def _describe(row: dict[str, Any]) -> str:
    """By how much it is off, and what it says of itself."""
    line = "off by {shift_mm:.2f} mm, {turn_deg:.3f} degrees; says 1 sigma is {shift_sigma_mm:.2f} mm, {turn_sigma_deg:.3f} degrees"
    return row["refused"] or line.format(**row)
