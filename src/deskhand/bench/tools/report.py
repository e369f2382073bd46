"""The table of ``deskhand tools validate``."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Column, Table

from deskhand.bench.tools.run import Row


def table(rows: Sequence[Row]) -> Table:
    """One line a scenario."""
    right = {"justify": "right", "no_wrap": True}
    shown = Table(Column("tool", no_wrap=True), "scenario", Column("value", **right), "unit", Column("bar", **right), "", Column("CPU s", **right))
    for row in rows:
        value = "-" if row.value is None else f"{row.value:.4g}"
        verdict = "[green]pass[/green]" if row.passed else f"[red]fail[/red] {escape(row.problem)}".strip()
        shown.add_row(row.tool, row.scenario, value, row.unit, row.bar, verdict, f"{row.seconds:.1f}")
    return shown
