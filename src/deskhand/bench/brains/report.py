"""What a campaign shows on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

MUST_BE_NONE = ("crashes", "unsafe", "false_done", "overruns", "without_code")


def show(summary: Mapping[str, Any], console: Console) -> None:
    """The tables, and each episode in which something happened that must not."""
    table = Table("kind of model", "episodes", "done", "that can be done", "faults", "tool calls", "mean [s]", title=f"{summary['episodes']} episodes")
    for row in summary["kinds"]:
        if row["episodes"]:
            table.add_row(*(str(row[key]) for key in ("kind", "episodes", "done", "possible", "faults", "calls", "mean_s")))
    console.print(table)
    for key in MUST_BE_NONE:
        console.print(f"[{'red' if summary[key] else 'green'}]{key.replace('_', ' ')}: {summary[key]}[/]")
    for key in ("codes", "failures", "faults"):
        console.print(f"{key}: " + ", ".join(f"{escape(name)} {count}" for name, count in summary[key].items()), soft_wrap=True)
    console.print(f"{summary['moves']} motions, {summary['repaired']} calls repaired, the longest episode {summary['longest_s']:.1f} s")
    for each in summary["bad"]:
        what = "; ".join(filter(None, (each["crash"], *each["unsafe"], "done is not true" if each["success"] and not each["true"] else "", each["code"])))
        console.print(f"[red]seed {each['seed']}[/] {each['kind']}, {escape(each['instruction'])}: {escape(what)}", soft_wrap=True)
