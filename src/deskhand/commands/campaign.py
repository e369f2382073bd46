"""What all commands share that run many cases: where they are run, what is written, how far it is."""

from __future__ import annotations

import inspect
import json
import shlex
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.trials.campaigns.campaign import Campaign, Ended, Shard
    from deskhand.trials.campaigns.execute import Executor, Progress

Describe = Callable[[dict[str, Any]], str]
"""A short line about a result."""
SUMMARY_PERIOD = 10.0
"""[s] between two times that the JSON file is written while a campaign runs."""
Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Ran:
    """What came of it: results in the order of the cases, what they mean together, ids of cases without a result."""

    results: list[dict[str, Any]]
    summary: dict[str, Any]
    failed: list[str]


@dataclass(frozen=True)
class CampaignOptions:
    """Options of every command that counts episodes or looks; see docs/campaigns.md."""

    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes on this machine.")] = 1
    shards: Annotated[str, typer.Option("--shards", metavar="i/n", help="Run part i of n only; `deskhand merge` joins the parts.")] = ""
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a campaign that was cut: what has a result is not run again.")] = False
    results: Annotated[
        Path | None, typer.Option("--results", help="Results as they come, a line each (JSON lines). Default: FILE.jsonl where --json FILE is given.")
    ] = None
    ray: Annotated[str, typer.Option("--ray", metavar="ADDRESS", help="Run on a Ray cluster: host:port, ray://host:port, auto, or local.")] = ""
    track: Annotated[str, typer.Option("--track", metavar="NAME", help="Also log to mlflow or wandb.")] = ""

    def run(self, campaign: Campaign, json_file: Path | None = None, describe: Describe = lambda result: "", results: Path | None = None) -> Ran:
        """Run ``campaign``, show how far it is, and write its summary. ``results``: the file of results where neither --results nor --json is given.

        Raises:
            DeskhandError: of bad options, and of :func:`deskhand.trials.campaigns.execute.execute`.
            KeyboardInterrupt: after what has ended was written, and how to go on was said.
        """
        from deskhand.trials.campaigns.campaign import Shard
        from deskhand.trials.campaigns.execute import execute
        from deskhand.trials.console import interruptible

        shard, executor = Shard.parse(self.shards), self._executor()
        file = self._file(json_file, results)
        with CampaignBar(campaign.name, describe) as bar, self._tracker(campaign, shard) as tracker:
            summary = Summary(campaign, json_file)

            def told(ended: Ended | None, progress: Progress) -> None:
                bar.told(ended, progress)
                summary.told(progress.results)
                if tracker is not None and ended is not None:
                    tracker.told(ended)

            try:
                with interruptible():
                    done = execute(campaign, executor, shard, file, self.resume, told, bar.step)
            except KeyboardInterrupt:
                summary.write()
                bar.interrupted(file)
                raise
            ran = Ran(list(done.results.values()), summary.write(done.results), list(done.failed))
            if tracker is not None:
                tracker.finish(ran.summary, json_file)
        if ran.failed:
            bar.failed(ran.failed, file)
        return ran

    @property
    def part(self) -> str:
        """What tells the files of this shard from those of the others: ``_3_of_50``; empty where all is run."""
        return f"_{self.shards.replace('/', '_of_')}" if self.shards else ""

    def _executor(self) -> Executor:
        from deskhand.trials.campaigns.local_pool import Inline, LocalPool
        from deskhand.trials.campaigns.ray_cluster import RayCluster, require_ray

        if self.ray and self.workers > 1:
            raise DeskhandError("invalid_input", "--ray and --workers exclude each other: a cluster runs as many cases at once as it has processors.")
        if self.ray:
            require_ray()
            return RayCluster(self.ray)
        return LocalPool(self.workers) if self.workers > 1 else Inline()

    def _file(self, json_file: Path | None, default: Path | None) -> Path | None:
        file = self.results or (json_file.with_suffix(".jsonl") if json_file is not None else default)
        if file is None and (self.resume or self.shards):
            what = "--resume" if self.resume else "--shards"
            raise DeskhandError("invalid_input", f"{what} needs a file of results.", hint="Give --results FILE.jsonl or --json FILE.")
        if file is not None and file == json_file:
            raise DeskhandError("invalid_input", f"--json and --results name the same file, {file}.", hint="Name the JSON file something.json.")
        return file

    def _tracker(self, campaign: Campaign, shard: Shard) -> Any:
        if not self.track:
            return nullcontext()
        from deskhand.trials.campaigns.tracking import Tracker

        return Tracker(self.track, campaign, shard)


class Summary:
    """The JSON of a campaign, brought up to date while it runs."""

    def __init__(self, campaign: Campaign, file: Path | None) -> None:
        self._campaign, self._file = campaign, file
        self._results: dict[str, dict[str, Any]] = {}
        self._written = float("-inf")

    def told(self, results: dict[str, dict[str, Any]]) -> None:
        """More results; they are written when the last time is long enough ago."""
        self._results = results
        if self._file is not None and results and time.monotonic() - self._written > SUMMARY_PERIOD:
            self.write()

    def write(self, results: dict[str, dict[str, Any]] | None = None) -> dict[str, Any]:
        """Write, and give, what they mean together; of no results, nothing."""
        known = self._results if results is None else results
        ordered = [known[case.id] for case in self._campaign.cases if case.id in known]
        summary = self._campaign.summarise(self._campaign.settings, ordered) if ordered else {}
        write_json(self._file, summary)
        self._written = time.monotonic()
        return summary


class CampaignBar:
    """A bar over the cases, the present step beside it; where no bar can be drawn, a line for each case."""

    def __init__(self, name: str, describe: Describe) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, TextColumn("[dim]{task.fields[step]}"), console=Console(highlight=False))
        self._name, self._describe = name, describe
        self._task = self._bar.add_task(name, total=None, step="")
        self._good = self._judged = 0

    def __enter__(self) -> CampaignBar:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def step(self, text: str) -> None:
        """What goes on."""
        from rich.markup import escape

        self._bar.update(self._task, step=escape(text[:70]))

    def told(self, ended: Ended | None, progress: Progress) -> None:
        """One more, or (None) how many there are."""
        from rich.markup import escape

        done = len(progress.results) + len(progress.failed)
        if ended is None:
            for result in progress.results.values():
                self._count(result)
            if progress.before:
                self._bar.console.print(f"{progress.before} of {progress.total} have a result already")
        elif ended.result is None:
            code, message = progress.failed[ended.case.id]
            self._bar.console.print(f"{escape(ended.case.id)}: [red]no result[/red], {escape(code)}: {escape(message)}", soft_wrap=True)
        else:
            self._count(ended.result)
            line = self._describe(ended.result)
            if line or not self._bar.console.is_terminal:
                self._bar.console.print(f"{escape(ended.case.id)}: {line or f'{ended.seconds:.1f} s'}", soft_wrap=True)
        good = f", {self._good} of {self._judged} succeeded" if self._judged else ""
        self._bar.update(self._task, total=progress.total, completed=done, description=f"{self._name}{good}")

    def _count(self, result: dict[str, Any]) -> None:
        if "success" in result:
            self._judged += 1
            self._good += bool(result["success"])

    def interrupted(self, file: Path | None) -> None:
        """Ctrl-C."""
        self._bar.stop()
        from rich.markup import escape

        if file is None:
            text = "[yellow]interrupted[/yellow]; nothing was kept. With --results FILE.jsonl or --json FILE a campaign can be taken up again."
        else:
            text = f"[yellow]interrupted[/yellow]; what has ended is in {escape(str(file))}. Go on with the same command and --resume:\n  {escape(again())}"
        self._bar.console.print(text, soft_wrap=True)

    def failed(self, ids: list[str], file: Path | None) -> None:
        """Cases without a result."""
        from rich.markup import escape

        from deskhand.trials.campaigns.campaign import names

        how = " The same command with --resume runs them again." if file is not None else ""
        self._bar.console.print(f"[red]{len(ids)} cases have no result[/red]: {escape(names(ids))}.{how}", soft_wrap=True)


def again() -> str:
    """The command line of this process with --resume."""
    words = ["deskhand", *sys.argv[1:]]
    return shlex.join(words if "--resume" in words else [*words, "--resume"])


def write_json(file: Path | None, data: dict[str, Any]) -> None:
    """Write JSON where a file was asked for; whoever reads in between has the one before."""
    if file is None:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(file.name + ".new")
    new.write_text(json.dumps(data, indent=1))
    new.replace(file)


def campaign_options(command: Command) -> Command:
    """Give a command the options of :class:`CampaignOptions` in place of its parameter ``how``."""
    signature = inspect.signature(command, eval_str=True)
    kept = [each for each in signature.parameters.values() if each.name != "how"]
    hints = inspect.get_annotations(CampaignOptions, eval_str=True)
    names = [each.name for each in fields(CampaignOptions)]
    added = [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name]) for each in fields(CampaignOptions)
    ]

    def called(**given: Any) -> Any:
        how = CampaignOptions(**{name: given.pop(name) for name in names})
        return command(**given, how=how)

    called.__name__, called.__doc__, called.__module__ = command.__name__, command.__doc__, command.__module__
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in kept] + added
    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called  # type: ignore[return-value]
