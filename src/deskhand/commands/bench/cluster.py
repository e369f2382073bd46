"""``deskhand bench cluster``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from deskhand.commands.campaign import CampaignOptions, campaign_options, write_json


@campaign_options
def cluster(
    cases: Annotated[int, typer.Option(min=1, help="How many.")] = 200,
    seconds: Annotated[float, typer.Option(min=0.0, help="That each takes [s].")] = 0.1,
    folder: Annotated[Path | None, typer.Option(help="Folder for records; checks that every machine can write there.")] = None,
    render: Annotated[bool, typer.Option("--render", help="Each case draws a picture of a desk: checks MuJoCo and EGL on every machine.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write what was found; see docs/campaigns.md.")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """Whether the machines of a cluster can run a campaign, and what a case costs beyond its own work; before a large one is started.

    Exit code 1 when a case had no result, or machines have different versions.
    """
    from rich.console import Console

    from deskhand.bench.cluster.run import cluster_campaign

    began = time.monotonic()
    ran = how.run(cluster_campaign(cases, seconds, folder, render), json_file)
    took = time.monotonic() - began
    if not ran.results:
        raise typer.Exit(1)
    found = ran.summary | {"wall_s": round(took, 2), "cases_per_s": round(len(ran.results) / took, 2)}
    write_json(json_file, found)
    console = Console(highlight=False)
    for host, count in found["machines"].items():
        console.print(f"{host}: {count} cases", markup=False)
    console.print(f"{found['cases']} cases by {found['processes']} processes in {took:.1f} s, {found['cases_per_s']:.1f} a second", markup=False)
    if len(found["versions"]) > 1:
        console.print(f"machines differ: {found['versions']}", style="red", markup=False)
    if ran.failed or len(found["versions"]) > 1:
        raise typer.Exit(1)
