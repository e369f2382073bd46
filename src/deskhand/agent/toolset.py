"""What answers the decisions of a model: the tools of the robot and of the loop, and guards, each a toolset round another."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from deskhand.agent.meter import Meter
from deskhand.agent.records import Step
from deskhand.agent.shown_tools import ShownTools
from deskhand.etp.base import Feedback, ToolClient, ToolResult

log = logging.getLogger(__name__)

Listener = Callable[[str, Mapping[str, Any], ToolResult], None]
"""Told of every call of a tool of the robot: its name, its arguments, its result."""


@dataclass(frozen=True)
class Refusal(ToolResult):
    """The answer to a decision that a guard held back."""


class Toolset(Protocol):
    """Answers decisions, and is told what else happens in a run."""

    def call(self, step: Step) -> ToolResult:
        """Answer one decision, whose arguments fit. Raises :class:`~deskhand.agent.ends.End` or :class:`~deskhand.agent.ends.Finished` to end the run."""
        ...

    def answered(self, step: Step) -> str:
        """The decision has its result in ``step``: a warning for the model, mostly empty."""
        ...

    def check(self) -> None:
        """Raises :class:`~deskhand.agent.ends.End` when the run may not go on."""
        ...

    def told(self, words: str) -> None:
        """The user has said something more."""
        ...

    def read_foreign(self) -> None:
        """The model was shown text that neither the user nor the robot wrote."""
        ...

    def account(self, code: str, why: str) -> str:
        """What had been done when the run was cut off with ``code``, around the reason ``why``."""
        ...

    def on_result(self, listener: Listener) -> None:
        """From now on the listener is told of every call; who comes first is told first."""
        ...


class Guard:
    """A toolset round ``inner``: what it does not override goes through. It is told of results after the guards inside it."""

    def __init__(self, inner: Toolset) -> None:
        self.inner = inner
        inner.on_result(self.heard)

    def call(self, step: Step) -> ToolResult:
        """As :meth:`Toolset.call`."""
        return self.inner.call(step)

    def answered(self, step: Step) -> str:
        """As :meth:`Toolset.answered`."""
        return self.inner.answered(step)

    def check(self) -> None:
        """As :meth:`Toolset.check`."""
        self.inner.check()

    def told(self, words: str) -> None:
        """As :meth:`Toolset.told`."""
        self.inner.told(words)

    def read_foreign(self) -> None:
        """As :meth:`Toolset.read_foreign`."""
        self.inner.read_foreign()

    def account(self, code: str, why: str) -> str:
        """As :meth:`Toolset.account`."""
        return self.inner.account(code, why)

    def on_result(self, listener: Listener) -> None:
        """As :meth:`Toolset.on_result`."""
        self.inner.on_result(listener)

    def heard(self, name: str, arguments: Mapping[str, Any], result: ToolResult) -> None:
        """A tool of the robot was called."""


class RobotToolset:
    """The innermost: calls the tools of the robot, and answers those of the loop.

    Args:
        tools: of the robot.
        meter: counts the calls.
        over: polled while a call runs; True ends it.
        caller: name of the caller.
        feedback: what is told of the progress of a call, by the tool's name.

    Attributes:
        shown: the tools that the model is shown now.
        own: tools of the loop, by name; those that are missing here have nothing to do but to be guarded.
    """

    def __init__(self, tools: ToolClient, meter: Meter, over: Callable[[], bool], caller: str, feedback: Callable[[str], Feedback]) -> None:
        self._tools, self._meter, self._over, self._caller, self._feedback = tools, meter, over, caller, feedback
        self._listeners: list[Listener] = []
        self.own: dict[str, Callable[[Step], ToolResult]] = {}
        self.shown = ShownTools(tools, ())

    def call(self, step: Step) -> ToolResult:
        """Answer one decision."""
        if step.tool in self.own:
            return self.own[step.tool](step)
        return ToolResult("", "") if step.tool in self.shown.controls else self.made(step.tool, step.arguments)

    def made(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool of the robot, keep count, and tell everybody: past all guards, for the model's decisions and what a guard itself has to know.

        Raises:
            End: of a listener.
        """
        cpu = time.thread_time()
        result = self._tools.invoke(name, arguments, feedback=self._feedback(name), cancelled=self._over, caller=self._caller)
        self._meter.tool(time.thread_time() - cpu)
        if not result.ok:
            self._meter.errors.append(result.code)
            log.info("tool %s failed: %s: %s", name, result.code, result.message)
        for listener in self._listeners:
            listener(name, arguments, result)
        return result

    def asked(self, name: str, arguments: Mapping[str, Any], always: bool = False) -> ToolResult:
        """Call a tool that only reads, beside the run: it does not count, and nobody is told. ``always``: also when the run is over."""
        cpu = time.thread_time()
        result = self._tools.invoke(name, arguments, cancelled=None if always else self._over, caller=self._caller)
        self._meter.elsewhere(time.thread_time() - cpu)
        return result

    def card(self, name: str) -> Mapping[str, Any]:
        """The card of a tool; empty where there is none."""
        return self.shown.card(name) or {}

    def on_result(self, listener: Listener) -> None:
        """As :meth:`Toolset.on_result`."""
        self._listeners.append(listener)

    def answered(self, step: Step) -> str:
        """Nothing to warn of."""
        return ""

    def check(self) -> None:
        """Nothing speaks against it."""

    def told(self, words: str) -> None:
        """Nothing follows from it."""

    def read_foreign(self) -> None:
        """Nothing follows from it."""

    def account(self, code: str, why: str) -> str:
        """The reason alone."""
        return why
