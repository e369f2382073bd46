"""``deskhand bench tools``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def tools(
    calls: Annotated[int, typer.Option(min=10, help="Calls on each way to a tool.")] = 200,
    ros: Annotated[bool, typer.Option("--ros/--no-ros", help="Also over ROS, through a real tool server.")] = True,
    missed: Annotated[bool, typer.Option("--missed", help="Show the queries whose tool did not come first, but for the held sets.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write {calls: [...], discovery: [...], ranked_by, good}; see docs/tools.md.")] = None,
) -> None:
    """What the call of a tool costs beyond the plain function, and how often a search finds the right tool.

    Exit code 1 when something is beyond its bar.
    """
    from rich.console import Console
    from rich.table import Table

    from deskhand.bench.calls.run import measure as measure_calls
    from deskhand.bench.discovery.run import AMONG_FIVE, FIRST, HELD, SETS, load_queries
    from deskhand.bench.discovery.run import measure as measure_discovery
    from deskhand.tools.base import load_tools

    console = Console(highlight=False)
    with console.status("tools") as status:
        rows = list(measure_calls(calls, ros, lambda text: status.update(f"tools: {text}")))
        status.update("tools: discovery")
        registry = load_tools(others=False)[0]
        found = [measure_discovery(registry, load_queries(), part) for part in SETS]
    table = Table("way to a tool", "calls", "median [ms]", "p95 [ms]", "over the plain one", "bar")
    for row in rows:
        over = f"[{'green' if row.good else 'red'}]{row.over:.2f} {row.unit}[/]"
        table.add_row(row.way, str(row.calls), f"{row.median:.3f}", f"{row.p95:.3f}", over, f"{row.bar:g} {row.unit}")
    console.print(table)
    table = Table("queries", "number", "first", "among five", "search, CPU [ms]")
    for each in found:
        table.add_row(each.part, str(each.queries), f"{each.first:.3f}", f"{each.among_five:.3f}", f"{each.cost:.2f}")
    console.print(table, f"{len(registry)} tools, ranked by {registry.ranked_by}; bars for {' and '.join(HELD)}: first {FIRST}, among five {AMONG_FIVE}.")
    if missed:
        for text, tool, hits in (item for each in found if each.part not in HELD for item in each.missed):
            console.print(f"  {text!r}: {tool}, found {', '.join(hits) or 'nothing'}")
    good = all(row.good for row in rows) and all(each.good for each in found if each.part in HELD)
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        data = {
            "calls": [row.to_json() for row in rows],
            "discovery": [each.to_json() for each in found],
            "tools": len(registry),
            "ranked_by": registry.ranked_by,
            "good": good,
        }
        json_file.write_text(json.dumps(data, indent=1))
    if not good:
        raise typer.Exit(1)
