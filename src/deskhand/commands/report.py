"""``deskhand report``: what many episodes say together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.agent.records import FAILURES
from deskhand.commands.campaign import write_json
from deskhand.errors import DeskhandError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)


def report(
    episodes: Annotated[
        list[Path],
        typer.Argument(help="Folders of episodes, or folders with such folders, for example ./episodes. With --compare: two campaigns, the older first."),
    ],
    compare: Annotated[
        bool, typer.Option("--compare", help="Say whether two campaigns differ: files of --results, JSON of trial, or folders of episodes; paired by seed.")
    ] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help='Write {"groups": [...], "episodes": [...]} (docs/agent.md), or the comparison.')] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help="Write a picture (PNG, SVG or PDF): success and failures of each group.")] = None,
) -> None:
    """A table over many episodes: by model, task and mode how often it worked, with and without tools, what it took, and what went wrong.

    With --compare: both rates with 95 % intervals, their difference over the same seeds, McNemar's exact test, and whether it is a change.
    """
    if compare:
        if plot_file is not None:
            raise DeskhandError("invalid_input", "--compare draws no picture: leave --plot out.")
        show_comparison(episodes, json_file)
        return
    from deskhand.trials.campaigns.episodes import find_episodes, read_row, summarise

    summary = summarise([read_row(folder) for folder in find_episodes(episodes)])
    write_json(json_file, summary)
    show(summary)
    if plot_file is not None:
        plot(summary, plot_file)


def show_comparison(paths: list[Path], json_file: Path | None) -> None:
    """Two campaigns beside each other."""
    from rich.console import Console
    from rich.table import Table

    from deskhand.trials.campaigns.episodes import outcomes
    from deskhand.trials.campaigns.statistics import compare, wilson

    if len(paths) != 2:
        raise DeskhandError("invalid_input", f"--compare takes two campaigns; {len(paths)} were given.")
    first, second = (outcomes(path) for path in paths)
    shared = [name for name in first if name in second]
    if not shared:
        raise DeskhandError("invalid_input", f"{paths[0]} and {paths[1]} share no case: compare campaigns over the same seeds.")
    found = compare(str(paths[0]), str(paths[1]), [(first[name], second[name]) for name in shared])
    console, table = Console(highlight=False), Table("campaign", "succeeded", "rate", "95 % interval", "succeeded alone")
    for path, good, alone in zip(paths, found.goods, (found.only_first, found.only_second), strict=True):
        low, high = wilson(good, found.pairs)
        rate = f"{100 * good / found.pairs:.1f} %"
        table.add_row(str(path), f"{good} of {found.pairs}", rate, f"{100 * low:.1f} to {100 * high:.1f} %", str(alone))
    console.print(table)
    left_out = [len(each) - found.pairs for each in (first, second)]
    if any(left_out):
        console.print(f"[yellow]not compared[/yellow]: {left_out[0]} cases of the first and {left_out[1]} of the second, which the other does not have")
    console.print(found.sentence(), soft_wrap=True, markup=False)
    write_json(json_file, {**found.to_json(), "not_compared": left_out})


ACROSS = 4
"""Groups beside each other in a table."""
ROWS: tuple[tuple[str, Callable[[Mapping[str, Any]], str]], ...] = (
    ("episodes", lambda group: str(group["episodes"])),
    ("success (95 %)", lambda group: f"{100 * group['success']:.0f} % ({100 * group['success_interval'][0]:.0f}-{100 * group['success_interval'][1]:.0f})"),
    ("without tools", lambda group: _percent(group["success_without_tools"])),
    ("score", lambda group: _number(group["mean_score"], 2)),
    ("time, s", lambda group: _number(group["mean_wall_s"], 1)),
    ("tool calls", lambda group: _number(group["mean_calls"], 1)),
    ("decisions", lambda group: _number(group["mean_steps"], 1)),
    ("asked of the model", lambda group: _number(group["mean_asked"], 1)),
    ("tokens", lambda group: _number(group["mean_tokens"], 0)),
    ("called where needed", lambda group: _percent(group["need"])),
    ("right tool and arguments", lambda group: _percent(group["selection"])),
    ("carried out", lambda group: _percent(group["execution"])),
    ("output used", lambda group: _percent(group["use"])),
    *((f"failed: {name.replace('_', ' ')}", partial(lambda name, group: _percent(group["failure_shares"][name]), name)) for name in FAILURES),
    ("calls repaired", lambda group: str(group["repaired_calls"])),
    ("rescued by the loop", lambda group: _percent(group["rescued"])),
    ("false done", lambda group: str(group["false_done"])),
    ("ended by", lambda group: ", ".join(f"{code} {count}" for code, count in group["codes"].items()) or "-"),
    ("prompt, characters", lambda group: f"{_number(group['prompt_chars_mean'], 0)}, at most {group['prompt_chars_max'] or '-'}"),
    ("prompt, tokens", lambda group: _number(group["prompt_tokens_mean"], 0)),
    ("latency of a reply, s", lambda group: _number(group["mean_latency_s"], 2)),
    ("loop, ms CPU a decision", lambda group: _number(group["overhead_ms"], 1)),
)
"""What the table shows of a group; shares of failures are of all decisions."""


def show(summary: Mapping[str, Any]) -> None:
    """Groups beside each other, what was measured below each other."""
    from rich.console import Console
    from rich.table import Table

    console, groups = Console(highlight=False), summary["groups"]
    for start in range(0, len(groups), ACROSS):
        table = Table(title=f"{len(summary['episodes'])} episodes" if start == 0 else None)
        table.add_column("")
        for group in groups[start : start + ACROSS]:
            table.add_column(f"{group['model']}\n{group['task']}\n{group['mode']}", justify="right", overflow="fold")
        for name, value in ROWS:
            table.add_row(name, *(value(group) for group in groups[start : start + ACROSS]))
        console.print(table)


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
