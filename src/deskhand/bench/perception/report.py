"""What ``deskhand bench perception`` shows: tables on the terminal, a plot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

_SHARES = {"recall": "recall", "prec.": "precision", "label": "label", "colour": "color", "support": "support", "ids": "ids_kept", "guessed": "guessed"}
_PAIRS = {"position mm": "position_mm", "size mm": "size_mm", "size seen mm": "size_seen_mm", "angle deg": "angle_deg", "CPU ms": "cpu_ms"}


def show(result: dict[str, Any], console: Console) -> None:
    """A row for each way of being cluttered and for each level of noise: first the shares, then medians / 95 %."""
    rows = {"all clutter": result["clutter"], **{f"  {way}": numbers for way, numbers in result["ways"].items()}}
    rows |= {f"noise x {numbers['noise']:g}, holes {numbers['holes']:.0%}": numbers for numbers in result["levels"]}
    shares = _table(f"{result['arm']}: {result['scenes']} cluttered desks, seeds from {result['seed']}", ("objects", *_SHARES))
    pairs = _table("median / 95 %", tuple(_PAIRS))
    for name, numbers in rows.items():
        shares.add_row(name, str(numbers["objects"]), *("-" if numbers[key] is None else f"{numbers[key]:.3f}" for key in _SHARES.values()))
        pairs.add_row(name, *(_pair(numbers[key]) for key in _PAIRS.values()))
    console.print(shares)
    console.print(pairs)
    show_reliability("how sure labels are", result["clutter"]["reliability"], console)
    show_reliability("confidence that it is one whole object", result["clutter"]["whole"], console)


def show_reliability(what: str, held: dict[str, Any], console: Console) -> None:
    """A line with what was told against what was right, by bins."""
    if held["count"]:
        bins = ", ".join(f"{row['confidence']:.2f}: {row['right']:.2f} of {row['count']}" for row in held["bins"])
        console.print(f"{what}, told: right: {bins}; expected calibration error {held['ece']:.3f}", soft_wrap=True)


def _table(title: str, columns: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _pair(numbers: dict[str, Any]) -> str:
    return "-" if numbers["median"] is None else f"{numbers['median']:.1f} / {numbers['p95']:.1f}"


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
        axes[0][column].set(ylim=(None, 1.01), title=title)
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
