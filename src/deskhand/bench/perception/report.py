"""What ``deskhand bench perception`` shows: tables on the terminal, a plot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

_COLUMNS = ("objects", "recall", "precision", "position mm", "size mm", "angle deg", "label", "colour", "support", "ids kept", "CPU ms")


def show(result: dict[str, Any], console: Console) -> None:
    """A row for each way of being cluttered and for each level of noise; medians / 95 % where there are two numbers."""
    table = Table(title=f"{result['arm']}: {result['scenes']} cluttered desks, seeds from {result['seed']}", title_justify="left")
    for name in ("", *_COLUMNS):
        table.add_column(name, justify="right" if name else "left")
    table.add_row("all clutter", *_cells(result["clutter"]), style="bold")
    for way, numbers in result["ways"].items():
        table.add_row(f"  {way}", *_cells(numbers))
    for numbers in result["levels"]:
        table.add_row(f"noise x {numbers['noise']:g}, {numbers['holes']:.1%} holes", *_cells(numbers))
    console.print(table)


def _cells(numbers: dict[str, Any]) -> list[str]:
    shares = {name: "-" if numbers[name] is None else f"{numbers[name]:.3f}" for name in ("recall", "precision", "label", "color", "support", "ids_kept")}
    pairs = {
        name: "-" if numbers[name]["median"] is None else f"{numbers[name]['median']:.1f} / {numbers[name]['p95']:.1f}"
        for name in ("position_mm", "size_mm", "angle_deg", "cpu_ms")
    }
    return [
        str(numbers["objects"]),
        shares["recall"],
        shares["precision"],
        pairs["position_mm"],
        pairs["size_mm"],
        pairs["angle_deg"],
        *(shares[name] for name in ("label", "color", "support", "ids_kept")),
        pairs["cpu_ms"],
    ]


def plot(result: dict[str, Any], path: Path) -> None:
    """Shares and errors over ways, noise and holes, as PNG, SVG or PDF."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    default = {"noise": 1.0, "holes": 0.001, **result["clutter"]}
    noise = [default, *(level for level in result["levels"] if level["holes"] <= default["holes"])]
    holes = [default, *(level for level in result["levels"] if level["noise"] == 1.0)]
    groups = (
        ("way", list(result["ways"]), list(result["ways"].values())),
        ("noise, times the sensor's", [f"{level['noise']:g}" for level in noise], noise),
        ("holes in the depth", [f"{level['holes']:.0%}" for level in holes], holes),
    )
    figure, axes = pyplot.subplots(2, 3, figsize=(13, 6.5), squeeze=False)
    for column, (title, names, rows) in enumerate(groups):
        places = range(len(rows))
        for name in ("recall", "precision", "label", "color", "support"):
            axes[0][column].plot(places, [row[name] for row in rows], marker="o", label=name)
        for name in ("position_mm", "size_mm"):
            (line,) = axes[1][column].plot(places, [row[name]["median"] for row in rows], marker="o", label=f"{name[:-3]}, median")
            axes[1][column].plot(places, [row[name]["p95"] for row in rows], marker="o", ls="--", color=line.get_color(), label=f"{name[:-3]}, 95 %")
        axes[0][column].set(ylim=(0.5, 1.01), title=title)
        axes[1][column].set(ylabel="error [mm]" if column == 0 else "")
        for axis in axes[:, column]:
            axis.set_xticks(list(places), names, fontsize="small")
            axis.grid(alpha=0.3)
    for axis in axes[:, 0]:
        axis.legend(fontsize="x-small")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
