"""What the rows of a gain study mean together: success by task and setting, gain over none, seconds, tokens, spread over runs, shares of the classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from deskhand.agent.offered import NONE
from deskhand.bench.gain.classes import CLASSES
from deskhand.trials.campaigns.statistics import wilson

VERSION = 1
Row = Mapping[str, Any]


def summarise(settings: Mapping[str, Any], results: Sequence[Row]) -> dict[str, Any]:
    """What the command writes as JSON."""
    rows = list(results)
    tasks, subsets = (list(dict.fromkeys(str(row[name]) for row in rows if row[name])) for name in ("task", "group"))
    cells = {task: _by_setting(settings, rows, lambda row, task=task: row["task"] == task) for task in tasks}  # type: ignore[misc]
    by_subset = {name: _by_setting(settings, rows, lambda row, name=name: row["group"] == name) for name in subsets}  # type: ignore[misc]
    return {"bench": "gain", "version": VERSION, "brain": settings["brain"], "runs": settings["runs"], "items": rows, "tasks": cells, "subsets": by_subset}


def _by_setting(settings: Mapping[str, Any], rows: Sequence[Row], wanted: Callable[[Row], bool]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for setting in settings["settings"]:
        mine = [row for row in rows if row["setting"] == setting and wanted(row)]
        if mine:
            found[setting] = cell(mine)
    for setting, row in found.items():
        if NONE in found and setting != NONE:
            row["gain"] = round(row["success"] - found[NONE]["success"], 4)
    return found


def cell(rows: Sequence[Row]) -> dict[str, Any]:
    """Success of some trials with its 95 % interval, its standard deviation over runs, means, and shares of the classes among what failed with tools."""
    right = sum(bool(row["success"]) for row in rows)
    runs = {run: [bool(row["success"]) for row in rows if row["run"] == run] for run in sorted({row["run"] for row in rows})}
    rates = [float(np.mean(each)) for each in runs.values()]
    classes = Counter(row["failure"] for row in rows if row["failure"])
    return {
        "episodes": len(rows),
        "success": round(right / len(rows), 4),
        "interval": list(wilson(right, len(rows))),
        "std": round(float(np.std(rates, ddof=1)), 4) if len(rates) > 1 else None,
        "seconds": round(float(np.mean([row["seconds"] for row in rows])), 2),
        "tokens": round(float(np.mean([row["tokens"] for row in rows]))),
        "calls": round(float(np.mean([row["calls"] for row in rows])), 2),
        "false_done": sum(bool(row["false_done"]) for row in rows),
        "classes": {name: round(classes[name] / classes.total(), 3) for name in CLASSES if classes[name]},
    }


def markdown(summaries: Sequence[Mapping[str, Any]]) -> str:
    """A line for each brain, task and setting."""
    lines = ["| brain, task | tools | episodes | success | ± over runs | gain | seconds | tokens | calls | why it failed |", "|" + "---|" * 10]
    for summary in summaries:
        for task, by in summary["tasks"].items():
            for setting, row in by.items():
                why = ", ".join(f"{name} {share:.2f}" for name, share in row["classes"].items())
                gain = f"{row['gain']:+.2f}" if "gain" in row else ""
                spread = "" if row["std"] is None else f"{row['std']:.2f}"
                cells = [f"{summary['brain']}, {task}", setting, row["episodes"], f"{row['success']:.2f}", spread, gain]
                lines.append("| " + " | ".join(map(str, [*cells, f"{row['seconds']:.1f}", row["tokens"], f"{row['calls']:.1f}", why])) + " |")
    return "\n".join(lines)
