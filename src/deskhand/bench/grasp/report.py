"""What ``deskhand bench grasp`` says: numbers of all results, tables, a plot. docs/grasping.md describes the JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deskhand.bench.grasp.fit import calibration

Result = dict[str, Any]


def interval(successes: int, count: int) -> tuple[float, float]:
    """95 % Wilson interval of a rate."""
    if not count:
        return 0.0, 1.0
    z, rate = 1.96, successes / count
    middle, half = rate + z * z / (2 * count), z * float(np.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count)))
    return (middle - half) / (1 + z * z / count), (middle + half) / (1 + z * z / count)


def summarise(arm: str, results: Sequence[Result]) -> dict[str, Any]:
    """Numbers of one arm: ``single``, ``clutter`` and ``explore``, each None when it was not measured."""
    kinds = {kind: [result for result in results if result["job"]["kind"] == kind] for kind in ("single", "clutter", "explore")}
    picks = [pick for result in results for pick in result["picks"]]
    return {
        "arm": arm,
        "single": _single(kinds["single"]) if kinds["single"] else None,
        "clutter": _clutter(kinds["clutter"]) if kinds["clutter"] else None,
        "explore": _foretold(kinds["explore"]) if kinds["explore"] else None,
        "false_successes": sum(pick["false_success"] for pick in picks),
        "picks": len(picks),
        "codes": dict(Counter(pick["code"] for pick in picks if pick["code"]).most_common()),
    }


def _times(values: Sequence[float]) -> dict[str, float | None]:
    if not values:
        return {"median_ms": None, "p95_ms": None}
    return {"median_ms": float(np.median(values)), "p95_ms": float(np.percentile(values, 95))}


def _foretold(results: Sequence[Result]) -> dict[str, Any]:
    tried = [pick for result in results for pick in result["picks"] if pick["tried"] and pick["predicted"] is not None]
    return calibration(np.array([pick["predicted"] for pick in tried]), np.array([float(pick["success"]) for pick in tried]))


def _single(results: Sequence[Result]) -> dict[str, Any]:
    picks = [pick for result in results for pick in result["picks"]]
    good = sum(pick["success"] for pick in picks)
    subjects: dict[str, dict[str, int]] = {}
    for pick in picks:
        row = subjects.setdefault(pick["subject"], {"trials": 0, "success": 0})
        row["trials"] += 1
        row["success"] += bool(pick["success"])
    return {
        "trials": len(picks),
        "success": good,
        "success_rate": good / len(picks),
        "interval": interval(good, len(picks)),
        "subjects": subjects,
        "sizes": len({(pick["subject"], tuple(pick["size"])) for pick in picks}),
        "grasp_cpu": _times([pick["grasp_ms"] for pick in picks if pick["grasp_ms"]]),
        "calibration": _foretold(results),
        "failures": [
            {"seed": pick["seed"], "subject": pick["subject"], "code": pick["code"], "message": pick["message"]} for pick in picks if not pick["success"]
        ],
    }


def _clutter(results: Sequence[Result]) -> dict[str, Any]:
    picks = [pick for result in results for pick in result["picks"]]
    tried = [pick for pick in picks if pick["tried"]]
    good, objects, cleared = sum(pick["success"] for pick in tried), sum(result["objects"] for result in results), sum(result["cleared"] for result in results)
    return {
        "desks": len(results),
        "objects": objects,
        "cleared": cleared,
        "cleared_rate": cleared / objects,
        "cleared_interval": interval(cleared, objects),
        "attempts": len(tried),
        "success": good,
        "success_per_attempt": good / len(tried) if tried else 0.0,
        "interval": interval(good, len(tried)),
        "not_tried": len(picks) - len(tried),
        "grasp_cpu": _times([pick["grasp_ms"] for pick in picks if pick["grasp_ms"]]),
        "whole_desk_cpu": _times([spent for result in results for spent in result["all_ms"]]),
        "calibration": _foretold(results),
        "failures": [
            {"seed": pick["seed"], "subject": pick["subject"], "code": pick["code"], "message": pick["message"]} for pick in picks if not pick["success"]
        ],
    }


# ---------------------------------------------------------------- terminal and plot


def show(summary: dict[str, Any], console: Console) -> None:
    """Tables of one arm."""
    table = Table(title=f"{summary['arm']}: picks judged by ground truth", title_justify="left")
    for name in ("", "success", "95 % interval", "grasps, CPU ms (median / 95 %)", "Brier (of the mean)"):
        table.add_column(name, justify="left" if not name else "right")
    single, clutter, explore = summary["single"], summary["clutter"], summary["explore"]
    if single:
        table.add_row(f"single objects, first attempt, {len(single['subjects'])} shapes", *_row(single["success"], single["trials"], single))
    if clutter:
        table.add_row(f"clutter, {clutter['desks']} desks: per attempt", *_row(clutter["success"], clutter["attempts"], clutter))
        low, high = clutter["cleared_interval"]
        whole = clutter["whole_desk_cpu"]
        spent = f"whole desk {whole['median_ms']:.0f} / {whole['p95_ms']:.0f}" if whole["median_ms"] is not None else ""
        table.add_row("  objects cleared", _rate(clutter["cleared"], clutter["objects"]), f"{low:.3f} to {high:.3f}", spent, "")
    if explore:
        table.add_row("random grasps", "", "", "", f"{explore['brier']:.3f} ({explore['brier_of_mean']:.3f})" if explore["picks"] else "")
    console.print(table)
    for part in (single, clutter):
        for failure in (part or {}).get("failures", []):
            console.print(f"[dim]seed {failure['seed']}, {failure['subject']}: {failure['code']}: {escape(failure['message'])}[/dim]", soft_wrap=True)
    colour = "green" if not summary["false_successes"] else "red"
    console.print(f"[{colour}]{summary['false_successes']} of {summary['picks']} picks said that they hold what they do not[/{colour}]")


def _rate(good: int, count: int) -> str:
    return f"{good} of {count} ({good / count:.3f})" if count else "none"


def _row(good: int, count: int, numbers: dict[str, Any]) -> tuple[str, str, str, str]:
    low, high = numbers["interval"]
    spent, told = numbers["grasp_cpu"], numbers["calibration"]
    times = f"{spent['median_ms']:.0f} / {spent['p95_ms']:.0f}" if spent["median_ms"] is not None else ""
    return _rate(good, count), f"{low:.3f} to {high:.3f}", times, f"{told['brier']:.3f} ({told['brier_of_mean']:.3f})" if told["picks"] else ""


def plot(summaries: Sequence[dict[str, Any]], path: Path) -> None:
    """Success by shape, and the calibration curve, one row an arm."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(summaries), 2, figsize=(12, 4.2 * len(summaries)), squeeze=False, width_ratios=(2, 1))
    for (left, right), summary in zip(axes, summaries, strict=True):
        subjects = (summary["single"] or {}).get("subjects", {})
        left.bar(list(subjects), [row["success"] / row["trials"] for row in subjects.values()])
        left.set(title=f"{summary['arm']}: single objects, first attempt", ylabel="success", ylim=(0, 1.02))
        left.tick_params(axis="x", rotation=90)
        right.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
        for name, numbers in (("single", summary["single"]), ("clutter", summary["clutter"]), ("random grasps", {"calibration": summary["explore"]})):
            curve = ((numbers or {}).get("calibration") or {}).get("curve", [])
            if curve:
                right.plot([row["predicted"] for row in curve], [row["success"] for row in curve], marker="o", label=name)
        right.set(title="calibration", xlabel="predicted probability", ylabel="success", xlim=(0, 1.02), ylim=(0, 1.02))
        right.legend(fontsize="small")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
