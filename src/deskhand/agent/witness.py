"""Asks the judge, with pictures of the desk as it was at first and as it is now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from deskhand.agent.eyes import Eyes
from deskhand.agent.judge import Evidence, Judge, Opinion
from deskhand.agent.meter import Meter
from deskhand.agent.replying import waited
from deskhand.etp.base import ToolResult
from deskhand.world.acts import LOOKS


class Witness:
    """Args:
    judge: is asked.
    eyes: the judge's.
    check: raises :class:`~deskhand.agent.ends.End` when the run is over, which does not wait for the judge.
    meter: counts what the judge costs.
    """

    def __init__(self, judge: Judge, eyes: Eyes, check: Callable[[], None], meter: Meter) -> None:
        self._judge, self._eyes, self._check, self._meter = judge, eyes, check, meter
        self._before: tuple[bytes, ...] = ()

    def looked(self, name: str, result: ToolResult) -> None:
        """The model has looked: the first time is how the desk was."""
        if self._eyes.open and result.ok and name in LOOKS and not self._before:
            self._before = self._eyes.desk().images

    def opinion(self, evidence: Evidence) -> Opinion:
        """The judge's."""
        if self._before:
            evidence = replace(evidence, images=(*self._before, *self._eyes.desk().images))
        opinion = waited(lambda: self._judge.judge(evidence), self._check, getattr(self._judge, "cancel", None))
        if isinstance(opinion, BaseException):
            return Opinion(None, f"the judge failed: {opinion}")
        self._meter.model(opinion.usage)
        return opinion
