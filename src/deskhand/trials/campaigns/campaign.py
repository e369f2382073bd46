"""What a campaign is: cases with stable ids, a plain function that runs one, a plain function that says what the results mean together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from deskhand.errors import DeskhandError

Result = dict[str, Any]
"""Plain JSON data. ``success`` (bool), where there is one, is what two campaigns are compared by."""


@dataclass(frozen=True)
class Case:
    """One episode, look or measurement.

    Attributes:
        id: tells it from the others of its campaign; the same in every run of it, and in campaigns that it may be compared with.
        arguments: all that is needed to run it, as plain JSON data: it may be run in another process or on another machine.
    """

    id: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Campaign:
    """Cases and how they are run.

    Attributes:
        name: of the command, for example ``trial``.
        settings: what all cases have in common, as plain JSON data. Results of other settings are never joined with these.
        cases: in order, each id once.
        run_one: a function at the top of a module, so that workers can import it. What goes wrong in a case belongs into its result; an exception says
            that the harness is broken: the case then has no result, and is run again by ``--resume``.
        summarise: settings and results to what the command writes as JSON; at the top of a module of deskhand, so that results can be joined later.
    """

    name: str
    settings: Mapping[str, Any]
    cases: Sequence[Case]
    run_one: Callable[[Case], Result]
    summarise: Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], dict[str, Any]]

    def __post_init__(self) -> None:
        twice = [name for name, count in Counter(case.id for case in self.cases).items() if count > 1]
        if twice:
            raise DeskhandError("invalid_input", f"the campaign {self.name} has cases twice: {names(twice)}.", hint="Give each case an id of its own.")


@dataclass(frozen=True)
class Ended:
    """A case that has been run: its ``result``, or why there is none.

    Attributes:
        error: code and text of the exception that ``run_one`` raised, or of the worker that was lost too often.
        seconds: wall clock [s] of the last attempt.
        worker: who ran it, ``host:process``.
        attempts: how often it was begun; more than once where a worker was lost.
    """

    case: Case
    result: Result | None
    error: tuple[str, str] | None = None
    seconds: float = 0.0
    worker: str = ""
    attempts: int = 1


@dataclass(frozen=True)
class Shard:
    """Part ``number`` of ``count``: every ``count``-th case, so that all parts take about as long."""

    number: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """``i/n`` with 1 <= i <= n; all for an empty text.

        Raises:
            DeskhandError: ``invalid_input`` for anything else.
        """
        if not text:
            return cls()
        found = re.fullmatch(r"(\d+)/(\d+)", text)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise DeskhandError("invalid_input", f"--shards {text}: give the number of this part and of all, counted from 1, for example 3/50.")
        return cls(int(found[1]), int(found[2]))

    def of(self, cases: Sequence[Case]) -> list[Case]:
        """The cases of this part."""
        return list(cases[self.number - 1 :: self.count])

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def names(ids: Sequence[str], most: int = 8) -> str:
    """Some ids as a sentence says them."""
    return ", ".join(ids[:most]) + (f" and {len(ids) - most} more" if len(ids) > most else "")


def name_of(function: Callable[..., Any]) -> str:
    """``module:function``.

    Raises:
        DeskhandError: ``invalid_input`` for what cannot be found again by its name.
    """
    if "<" in function.__qualname__ or function.__module__ == "__main__":
        raise DeskhandError("invalid_input", f"{function.__qualname__} must stand at the top of a module, so that workers can import it.")
    return f"{function.__module__}:{function.__qualname__}"


def function_named(name: str) -> Callable[..., Any]:
    """The function of :func:`name_of`; only of deskhand, because the name comes out of a file.

    Raises:
        DeskhandError: ``invalid_input`` for a name of another package, or one that is not there.
    """
    module, _, function = name.partition(":")
    if module.split(".")[0] != "deskhand" or not function.isidentifier():
        raise DeskhandError("invalid_input", f"{name!r} is no function of deskhand.")
    try:
        found: Callable[..., Any] = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise DeskhandError("invalid_input", f"this deskhand has no {name}: the results are of another version.") from error
    return found
