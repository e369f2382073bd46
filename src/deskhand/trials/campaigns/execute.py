"""Runs a campaign: what a file has already is not run again, what ends is written down at once, what has no result is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from deskhand.errors import DeskhandError
from deskhand.trials.campaigns.campaign import Campaign, Case, Ended, Shard
from deskhand.trials.campaigns.local_pool import Inline
from deskhand.trials.campaigns.reporting import Tell
from deskhand.trials.campaigns.results import ResultsFile, header_of

ENOUGH = 10
"""When so many cases in a row, from the first on, have no result, the harness is broken: the campaign ends."""


class Executor(Protocol):
    """Where cases are run. Closing the iterator stops what runs."""

    def run(self, campaign: Campaign, cases: Sequence[Case], tell: Tell) -> Iterator[Ended]:
        """Each case once, as it ends, in whatever order. ``tell`` hears what a case says while it runs, where it can be heard."""
        ...


@dataclass
class Progress:
    """What has ended so far.

    Attributes:
        total: cases of this shard.
        before: of them, how many had a result already.
        results: by id.
        failed: ids without a result, with the code and text of why.
    """

    total: int
    before: int = 0
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: dict[str, tuple[str, str]] = field(default_factory=dict)


def execute(
    campaign: Campaign,
    executor: Executor,
    shard: Shard,
    file: Path | None,
    resume: bool,
    told: Callable[[Ended | None, Progress], None],
    tell: Tell,
) -> Progress:
    """Run the cases of ``shard`` that ``file`` has no result of; ``told`` hears of each that ended, and once (None) before the first.

    Raises:
        DeskhandError: of :class:`ResultsFile`; ``internal_error`` when nothing but errors comes; of the executor.
        KeyboardInterrupt: what has ended is written.
    """
    cases = shard.of(campaign.cases)
    progress = Progress(len(cases))
    with ResultsFile(file, header_of(campaign, shard)) if file else nullcontext() as lines:
        if lines is not None:
            progress.results = lines.open(resume).results
            progress.before = len(progress.results)
        told(None, progress)
        left = [case for case in cases if case.id not in progress.results]
        ran = executor.run(campaign, left, tell)
        with closing(ran):  # type: ignore[type-var]
            for ended in ran:
                if lines is not None:
                    lines.add(ended)
                if ended.result is not None:
                    progress.results[ended.case.id] = ended.result
                else:
                    progress.failed[ended.case.id] = ended.error or ("internal_error", "")
                told(ended, progress)
                if len(progress.failed) >= ENOUGH and len(progress.results) == progress.before:
                    code, message = progress.failed[ended.case.id]
                    raise DeskhandError("internal_error", f"{len(progress.failed)} cases and no result; the last: {code}: {message}")
    order = [case.id for case in cases if case.id in progress.results]
    progress.results = {name: progress.results[name] for name in order}
    return progress


def run_here(campaign: Campaign) -> dict[str, Any]:
    """All cases in this process, without a file: what they mean together.

    Raises:
        DeskhandError: of the first case that has no result.
    """
    results = []
    for ended in Inline().run(campaign, campaign.cases, lambda _: None):
        if ended.result is None:
            code, message = ended.error or ("internal_error", "")
            raise DeskhandError(code, f"{ended.case.id}: {message}")
        results.append(ended.result)
    return campaign.summarise(campaign.settings, results)
