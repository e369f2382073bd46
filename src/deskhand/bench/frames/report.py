"""What ``deskhand bench perception --frames`` shows."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

_TOTALS = {
    "recall": ("recall_50", "recall_75"),
    "precision": ("precision_50", "precision_75"),
    "F1": ("f1_50", "f1_75"),
}
_SHARES = {"weighted overlap": "weighted_overlap", "over-segmentation": "over_segmentation", "under-segmentation": "under_segmentation"}


def show(result: dict[str, Any], console: Console) -> None:
    """A table of the totals, and what failed; one line a change where frames were changed."""
    if "changes" in result:
        _show_changes(result, console)
        return
    title = f"{result['folder']}, {result['method']}: {result['frames']} frames"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("overlap > 0.5", justify="right")
    table.add_column("> 0.75", justify="right")
    if "objects" in result:
        for name, keys in _TOTALS.items():
            table.add_row(name, *(_share(result[key]) for key in keys))
        for name, key in _SHARES.items():
            table.add_row(name, _share(result[key]), "")
        table.add_row("objects", str(result["objects"]), "")
    table.add_row("segments", str(result["segments"]), "")
    table.add_row("seconds per frame", f"{result['seconds']['median']:.3f}", "")
    console.print(table)
    _show_errors(result["each"], console)


def _show_changes(result: dict[str, Any], console: Console) -> None:
    title = f"{result['folder']}, {result['method']}: changed frames, seed {result['seed']}"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column("", no_wrap=True)
    keys = ("f1_50", "f1_75", "weighted_overlap", "over_segmentation", "under_segmentation")
    for name in ("F1 > 0.5", "> 0.75", "overlap", "over", "under", "objects", "segments", "s"):
        table.add_column(name, justify="right")
    for change, found in result["changes"].items():
        shares = [_share(found.get(key)) for key in keys]
        table.add_row(change, *shares, str(found.get("objects", "-")), str(found["segments"]), f"{found['seconds']['median']:.3f}")
    console.print(table)
    _show_errors([row for found in result["changes"].values() for row in found["each"]], console)


def _show_errors(rows: list[dict[str, Any]], console: Console) -> None:
    for row in rows:
        if row["error"]:
            console.print(f"frame {row['frame']}: {row['error']}")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
