"""``deskhand first-day ARM``: from a box of parts to the first pick, step by step; can be left and taken up again."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.bringup.first_day.base import Day, Step
    from deskhand.bringup.first_day.journal import Journal
    from deskhand.skills.robot import Robot

LEAVING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("first-day")(first_day)


def first_day(
    arm: Annotated[str, typer.Argument(help="jetarm, so101 or wx250s.")],
    rehearse: Annotated[bool, typer.Option("--rehearse", help="Against emulated servos, a simulated arm and camera; a program answers. No hardware.")] = False,
    folder: Annotated[
        Path | None, typer.Option(help="Of the unit: journal, its files, report. Default: ~/.deskhand/ARM; ARM-rehearsal for a rehearsal.")
    ] = None,
    start: Annotated[str, typer.Option("--from", help="Do this step and all after it again.")] = "",
    redo: Annotated[str, typer.Option(help="Do this step again, and leave those after it as they are.")] = "",
    port: Annotated[str, typer.Option(help="Port of the arm. Default: asked for, or as in the arm's file.")] = "",
    driver: Annotated[str, typer.Option(help="Driver. Default: the arm's usual one.")] = "",
    seed: Annotated[int, typer.Option(help="--rehearse: of the unit's errors.")] = 0,
    wrist: Annotated[bool, typer.Option("--wrist", help="--rehearse: the arm carries the camera; else it stands beside the desk.")] = False,
    list_steps: Annotated[bool, typer.Option("--list", help="Show the steps, the minutes of your hands they take, and which are done.")] = False,
) -> None:
    """Walk through everything between a new arm and its first pick. Each step asks, acts, checks, and writes down what it measured.

    Ctrl-C leaves it at any question, the arm holding; the same command resumes there. Exit code 0 when every step is done.
    """
    from deskhand.bringup.first_day.common import steps_of
    from deskhand.bringup.first_day.journal import Journal, locked

    steps = steps_of(arm)
    folder = (folder or Path("~/.deskhand") / (f"{arm}-rehearsal" if rehearse else arm)).expanduser().resolve()
    if list_steps:
        _list(steps, Journal.open(folder, arm, rehearse))
        return
    with ExitStack() as stack:
        stack.enter_context(locked(folder))
        journal = Journal.open(folder, arm, rehearse)
        stack.enter_context(_left_by_signals())
        day = stack.enter_context(_rehearsed(arm, folder, seed, wrist) if rehearse else _real(arm, folder))
        day.settings.update({name: value for name, value in (("port", port), ("driver", driver)) if value})
        _go(day, steps, journal, start, redo)


def _go(day: Day, steps: tuple[Step, ...], journal: Journal, start: str, redo: str) -> None:
    from deskhand.bringup.first_day.report import command, write_report
    from deskhand.bringup.first_day.runner import FirstDay

    walk = FirstDay(day, steps, journal)
    walk.again(start, redo)
    _say(f"{day.arm}: {len(steps)} steps, about {sum(step.hands for step in steps):g} min of your hands; folder {day.folder}. Ctrl-C leaves, the arm holding.")
    try:
        walk.run()
    except DeskhandError as error:
        raise DeskhandError(error.code, error.message, hint=f"{error.hint} Run the same command again to resume here.".strip()) from error
    except KeyboardInterrupt:
        _say("left; the arm holds. Run the same command again to resume here.")
        raise
    finally:
        if journal.entries or journal.failures:
            _say(f"report: {write_report(day, steps, journal)}")
    _say("every step is done." + ("" if day.rehearsal else f" From now on: {command(day)}"))


def _list(steps: tuple[Step, ...], journal: Journal) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("step", "what is true when it is done", "hands", "state")
    for step in steps:
        entry = journal.entries.get(step.name)
        state = "" if entry is None else f"left out {entry.date}" if entry.left_out else f"done {entry.date}"
        table.add_row(step.name, step.title + (" (can be left out)" if step.optional else ""), f"{step.hands:g} min", state)
    table.add_section()
    table.add_row("all", "", f"{sum(step.hands for step in steps):g} min", f"{sum(journal.done(step.name) for step in steps)} of {len(steps)}")
    Console().print(table)


@contextmanager
def _real(arm: str, folder: Path) -> Iterator[Day]:
    from deskhand.bringup.first_day.base import Day
    from deskhand.bringup.first_day.workplace import RobotNodes

    if not sys.stdin.isatty():
        raise DeskhandError("invalid_input", "a first day asks questions, and nobody can answer: this is no terminal.", hint="Use a terminal, or --rehearse.")
    day = Day(arm, folder, Terminal())
    day.workplace = RobotNodes(day, _over_ros)
    try:
        yield day
    finally:
        day.workplace.release()


def _over_ros(arm: str) -> AbstractContextManager[Robot]:
    from deskhand.nodes.connected import connected_robot  # imports rclpy

    return connected_robot(arm)


@contextmanager
def _rehearsed(arm: str, folder: Path, seed: int, wrist: bool) -> Iterator[Day]:
    from deskhand.bench.rehearsal.run import rehearsed_day

    with rehearsed_day(arm, folder, seed, _say, "wrist" if wrist else "fixed") as day:
        yield day


class Terminal:
    """The person at the terminal; see deskhand.bringup.first_day.base.Operator. The end of the input leaves, as Ctrl-C does."""

    def say(self, text: str) -> None:
        """See Operator."""
        _say(text)

    def act(self, key: str, text: str) -> None:
        """See Operator."""
        self._ask(f"  * {text} [Enter when it is done] ")

    def confirm(self, key: str, text: str) -> bool:
        """See Operator; only a plain yes is one."""
        while (answer := self._ask(f"  ? {text} [y/n] ").lower()) not in ("y", "yes", "n", "no"):
            _say("    y or n, please.")
        return answer in ("y", "yes")

    def number(self, key: str, text: str, default: float | None) -> float:
        """See Operator."""
        shown = "" if default is None else f" [{default:g}]"
        while True:
            answer = self._ask(f"  ? {text}{shown}: ").replace(",", ".")
            if not answer and default is not None:
                return default
            try:
                return float(answer)
            except ValueError:
                _say("    A number, please.")

    def choose(self, key: str, text: str, options: tuple[str, ...], default: str) -> str:
        """See Operator; by name or by its place in the list."""
        while True:
            answer = self._ask(f"  ? {text} {', '.join(f'{number} {option}' for number, option in enumerate(options, 1))} [{default}]: ") or default
            if answer.isdigit() and 1 <= int(answer) <= len(options):
                return options[int(answer) - 1]
            if answer in options:
                return answer
            _say(f"    One of these, please: {', '.join(options)}.")

    @staticmethod
    def _ask(text: str) -> str:
        try:
            return input(text).strip()
        except EOFError as error:
            raise KeyboardInterrupt from error


@contextmanager
def _left_by_signals() -> Iterator[None]:
    """SIGTERM and a closed terminal leave the day as Ctrl-C does."""

    def leave(_number: int, _frame: FrameType | None) -> None:
        for number in LEAVING:
            signal.signal(number, signal.SIG_IGN)  # what is done now makes the arm safe: no second signal stops that
        raise KeyboardInterrupt

    before = [(number, signal.signal(number, leave)) for number in LEAVING]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _say(text: str) -> None:
    typer.echo(text)
