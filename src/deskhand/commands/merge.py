"""``deskhand merge``: the parts of a campaign as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("merge")(merge)


def merge(
    files: Annotated[list[Path], typer.Argument(help="Files of results (JSON lines), one of each shard.")],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write what the command would have written that ran them all.")] = None,
    results: Annotated[Path | None, typer.Option("--results", help="Also write the results as one file of JSON lines.")] = None,
) -> None:
    """Join the results of all shards of a campaign.

    Files of different settings, results that are there twice, and cases without one are refused by name: what is written is the whole campaign.
    """
    from rich.console import Console

    from deskhand.commands.campaign import write_json
    from deskhand.trials.campaigns.campaign import function_named
    from deskhand.trials.campaigns.results import merge as join
    from deskhand.trials.campaigns.results import write_whole

    joined = join(files)
    found = joined.results
    ordered = [found[name] for name in joined.header["cases"]]
    summary = function_named(joined.header["summarise"])(joined.header["settings"], ordered)
    write_json(json_file, summary)
    if results is not None:
        write_whole(results, joined)
    rate = ""
    if ordered and all("success" in result for result in ordered):
        from deskhand.trials.campaigns.statistics import wilson

        good = sum(bool(result["success"]) for result in ordered)
        low, high = wilson(good, len(ordered))
        rate = f", success {good} of {len(ordered)} ({100 * good / len(ordered):.1f} %, 95 % interval {100 * low:.1f} to {100 * high:.1f})"
    Console(highlight=False).print(f"{joined.header['campaign']}: {len(ordered)} results of {len(files)} files{rate}", soft_wrap=True)
