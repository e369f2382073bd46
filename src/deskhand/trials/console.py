"""What demo and trial show on the terminal."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deskhand.errors import DONE, FAILED, UNVERIFIED
from deskhand.trials.base import Progress, TrialOptions

WORDS = {DONE: ("green", "done"), UNVERIFIED: ("yellow", "unverified"), FAILED: ("red", "not done")}
"""Colour and word of how a task ended."""


def said_less(trial: Mapping[str, Any]) -> str:
    """What the robot itself said of a trial that the scorer calls done, where that was less."""
    return f" [yellow]({trial['outcome']})[/yellow]" if trial.get("outcome") in (UNVERIFIED, FAILED) else ""


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does, so that everything is stopped and the record is kept.

    SIGINT is set too: a shell without job control starts background jobs with it ignored, and a robot must stop when asked.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Display:
    """Lines of a demo, and the table of trials."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        self._last = Progress(-1, "", "")

    def heading(self, options: TrialOptions, instruction: str) -> None:
        """What is going to be done."""
        where = str(options.scene) if options.scene else f"{options.task}, seed {options.seed}"
        self.console.print(
            f"[dim]{escape(where)} · {escape(options.arm)} · {'one process' if options.local else 'ROS 2 nodes'} · brain {escape(options.brain)}[/dim]"
        )
        self.console.print(f"[bold]{escape(instruction)}[/bold]", soft_wrap=True)

    def step(self, progress: Progress) -> None:
        """One line."""
        if progress == self._last:
            return
        new = (progress.step, progress.tool) != (self._last.step, self._last.tool)
        self._last = progress
        number = f"{progress.step:>3}" if new and progress.step else "   "
        tool = f"[cyan]{escape(progress.tool):<16}[/cyan]" if new else " " * 16
        self.console.print(f"{number}  {tool} {escape(progress.text)}".rstrip(), soft_wrap=True)
        if progress.question:
            self.console.print(f"[bold yellow]? {escape(progress.question)}[/bold yellow]", soft_wrap=True)
            for index, option in enumerate(progress.options, 1):
                self.console.print(f"  {index}  {escape(option)}", soft_wrap=True)

    def outcome(self, result: Mapping[str, Any]) -> None:
        """How it ended."""
        colour, word = WORDS[DONE if result["success"] else result["outcome"] if result["outcome"] != DONE else FAILED]
        self.console.print()
        self.console.print(f"[bold {colour}]{word}[/bold {colour}]  {escape(result['summary'])}", soft_wrap=True)
        if result["error_code"]:
            self.console.print(f"[red]{result['error_code']}[/red]: {escape(result['error_message'])}", soft_wrap=True)
        if result["objects"]:
            right = sum(row["right"] for row in result["objects"])
            self.console.print(f"score {result['score']:.2f}: {right} of {len(result['objects'])} objects where they belong")
        robot = f", {result['sim_s']:.1f} s of the robot's time" if result["sim_s"] is not None else ""
        self.console.print(f"{result['wall_s']:.1f} s{robot}, {result['tool_calls']} tool calls")
        self.console.print(f"report: {escape(result.get('report') or result['episode'])}", soft_wrap=True)

    def interrupted(self, folder: Path) -> None:
        """Ctrl-C."""
        self.console.print(f"[yellow]interrupted[/yellow]; the record up to here: {escape(str(folder))}", soft_wrap=True)

    def table(self, summary: Mapping[str, Any]) -> None:
        """All trials and what they say together."""
        table = Table(title=f"{summary['task']} · brain {summary['brain']} · {summary['mode']}")
        for name in ("seed", "outcome", "score", "objects", "wall s", "robot s", "calls", "errors"):
            table.add_column(name, justify="left" if name in ("outcome", "errors") else "right")
        for trial in summary["trials"]:
            outcome = f"[green]done[/green]{said_less(trial)}" if trial["success"] else f"[red]{trial['error_code'] or 'not done'}[/red]"
            robot = f"{trial['sim_s']:.1f}" if trial["sim_s"] is not None else "-"
            score = f"{trial['score']:.2f}" if trial["score"] is not None else "-"
            row = (str(trial["seed"]), outcome, score, str(len(trial["objects"])), f"{trial['wall_s']:.1f}", robot, str(trial["tool_calls"]))
            errors = Counter(trial["errors"])
            table.add_row(*row, ", ".join(f"{code} {count}" if count > 1 else code for code, count in errors.items()))
        self.console.print(table)
        done = sum(bool(trial["success"]) for trial in summary["trials"])
        scored = f", mean score {summary['mean_score']:.3f}" if any(trial["score"] is not None for trial in summary["trials"]) else ""
        self.console.print(f"[bold]success {done} of {len(summary['trials'])} ({100 * summary['success_rate']:.0f} %)[/bold]{scored}")
        if summary["mean_wall_s_per_object"] is not None:
            self.console.print(f"an object takes {summary['mean_wall_s_per_object']:.1f} s, {summary['mean_sim_s_per_object']:.1f} s of the robot's time")
        total = sum(summary["phases"].values()) or 1.0
        self.console.print("time: " + ", ".join(f"{name} {100 * seconds / total:.0f} %" for name, seconds in summary["phases"].items()))
        if objects := sum(len(trial["objects"]) for trial in summary["trials"]):
            self.console.print("robot's time an object: " + time_line(summary["robot_phases"], objects))
        if summary["skill_calls"]:
            self.console.print(f"{summary['skill_calls']} skill calls held against ground truth, {summary['false_claims']} false reports of success")
        if hand := summary["hand"]:
            placed = hand["release_mm"]
            off = f"{placed['median']:.1f} mm (95 %: {placed['p95']:.1f}) at {placed['count']} places" if placed["count"] else "not known"
            self.console.print(
                f"hand off its plan when it let go: {off}; {hand['outside']} of {hand['motions']} motions left the envelope, {hand['fast']} were too fast"
            )
        if summary["outcomes"].get(UNVERIFIED):
            self.console.print("by the robot's own word: " + ", ".join(f"{name} {count}" for name, count in summary["outcomes"].items()))
        if summary["false_done"]:
            self.console.print(f"[red]{summary['false_done']} trials were called done and were not[/red]")
        if summary["error_counts"]:
            self.console.print("errors: " + ", ".join(f"{code} {count}" for code, count in summary["error_counts"].items()))


def time_line(phases: Mapping[str, float], objects: int) -> str:
    """Where the robot's time went, for people: moving, and by what slowed; the fingers; standing still."""

    def each(*names: str) -> str:
        return f"{sum(phases.get(name, 0.0) for name in names) / objects:.1f} s"

    slowed = {
        "obstacles": "motion_near_obstacle",
        "people": "motion_near_person",
        "the tcp's greatest speed": "motion_tcp_speed",
        "choice": "motion_speed_scale",
    }
    moving = [name for name in phases if name.startswith("motion")]
    by = ", ".join(f"{each(name)} by {what}" for what, name in slowed.items() if phases.get(name, 0.0) / objects >= 0.05)
    still = ", ".join(f"{name} {each(name)}" for name in ("perception", "grasping", "planning", "other") if phases.get(name, 0.0) / objects >= 0.05)
    return f"moving {each(*moving)}" + (f" ({by})" if by else "") + f", fingers {each('gripper')}; standing still: {still or 'never'}"


def describe(result: Mapping[str, Any]) -> str:
    """A line about a trial that has ended."""
    if result["success"]:
        return f"[green]done[/green]{said_less(result)} in {result['wall_s']:.1f} s"
    return f"[red]{result['error_code'] or 'not done'}[/red] {escape(result['error_message'])}"
