"""``deskhand report``: what many episodes say together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)


def report(
    episodes: Annotated[list[Path], typer.Argument(help="Folders of episodes, or folders with such folders, for example ./episodes.")],
    json_file: Annotated[Path | None, typer.Option("--json", help='Write {"groups": [...], "episodes": [...]}; see docs/agent.md.')] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help="Write a picture (PNG, SVG or PDF): success and failures of each group.")] = None,
) -> None:
    """A table over many episodes: by model, task and mode how often it worked, with and without tools, what it took, and what went wrong."""
    from deskhand.episode.campaign import find_episodes, read_row, summarise

    summary = summarise([read_row(folder) for folder in find_episodes(episodes)])
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(summary, indent=1))
    show(summary)
    if plot_file is not None:
        plot(summary, plot_file)


def show(summary: Mapping[str, Any]) -> None:
    """Two tables: outcomes, and the model's decisions."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    outcomes = Table(title=f"{len(summary['episodes'])} episodes")
    for name in ("model", "task", "mode", "n", "success", "without tools", "score", "time s", "calls", "rescued", "false done", "ended by"):
        outcomes.add_column(name, justify="left" if name in ("model", "task", "mode", "ended by") else "right", overflow="fold")
    decisions = Table(title="decisions of the model; classes of failure as shares of them")
    columns = ("model", "task", "mode", "decisions", "need", "selection", "execution", "use", "missed", "invalid", "wrong", "ignored", "tool error")
    for name in (*columns, "prompt chars", "tokens", "latency s", "loop ms"):
        decisions.add_column(name, justify="left" if name in ("model", "task", "mode") else "right", overflow="fold")
    for group in summary["groups"]:
        who = (group["model"], group["task"], group["mode"])
        low, high = group["success_interval"]
        codes = ", ".join(f"{code} {count}" for code, count in group["codes"].items())
        success = f"{100 * group['success']:.0f} % ({100 * low:.0f}-{100 * high:.0f})"
        cells = (success, _percent(group["success_without_tools"]), _number(group["mean_score"], 2), _number(group["mean_wall_s"], 1))
        outcomes.add_row(*who, str(group["episodes"]), *cells, _number(group["mean_calls"], 1), _percent(group["rescued"]), str(group["false_done"]), codes)
        shares = [_percent(group[name]) for name in ("need", "selection", "execution", "use")] + [_percent(share) for share in group["failure_shares"].values()]
        rest = (_number(group["prompt_chars_mean"], 0), _number(group["mean_tokens"], 0), _number(group["mean_latency_s"], 2), _number(group["overhead_ms"], 1))
        decisions.add_row(*who, _number(group["mean_steps"], 1), *shares, *rest)
    console.print(outcomes)
    console.print(decisions)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def plot(summary: Mapping[str, Any], file: Path) -> None:
    """Bars: success with its interval, and the shares of failures stacked, one group below the other."""
    from matplotlib.figure import Figure

    groups = summary["groups"]
    names = [f"{group['model']}\n{group['task']}, {group['mode']} (n={group['episodes']})" for group in groups]
    figure = Figure(figsize=(11, 1.2 + 0.7 * len(groups)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    rows = range(len(groups))
    success = [100 * group["success"] for group in groups]
    spread = [[max(0.0, 100 * (group["success"] - group["success_interval"][0])) for group in groups]]
    spread.append([max(0.0, 100 * (group["success_interval"][1] - group["success"])) for group in groups])
    left.barh(rows, success, xerr=spread, color="tab:green", ecolor="0.3", capsize=3)
    left.set(xlabel="success [%], 95 % interval", xlim=(0, 105), yticks=list(rows), yticklabels=names)
    left.invert_yaxis()
    begin = [0.0] * len(groups)
    for name in groups[0]["failure_shares"] if groups else ():
        shares = [100 * group["failure_shares"][name] for group in groups]
        right.barh(rows, shares, left=begin, label=name.replace("_", " "))
        begin = [a + b for a, b in zip(begin, shares, strict=True)]
    right.set(xlabel="decisions that failed [%]")
    right.legend(fontsize="small")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)
