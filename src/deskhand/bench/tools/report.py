"""The table of ``deskhand tools validate``."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from deskhand.bench.tools.run import Row


def table(rows: Sequence[Row]) -> Table:
    """One line a scenario."""
    shown = Table("tool", "scenario", "value", "unit", "bar", "", "CPU s")
    for column in shown.columns:
        column.no_wrap = column.header in ("tool", "value", "bar")
        column.justify = "right" if column.header in ("value", "bar", "CPU s") else "left"
    for row in rows:
        value = "-" if row.value is None else f"{row.value:.4g}"
        verdict = "[green]pass[/green]" if row.passed else f"[red]fail[/red] {escape(row.problem)}".strip()
        shown.add_row(row.tool, row.scenario, value, row.unit, row.bar, verdict, f"{row.seconds:.1f}")
    return shown
