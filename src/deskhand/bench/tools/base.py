"""What a scenario is: a desk, calls of one tool, and one number that the truth of the simulation, or a reference implementation, judges."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.drawing import Random
from deskhand.bench.tools.worlds import objects
from deskhand.sim.spec import WorldSpec

World = Callable[[Random], WorldSpec]


@dataclass(frozen=True)
class Measured:
    """What a scenario measured, and the bar: exactly one of ``at_most``, ``at_least`` and ``equal`` is given."""

    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    equal: float | None = None

    def __post_init__(self) -> None:
        if sum(bar is not None for bar in (self.at_most, self.at_least, self.equal)) != 1:
            raise ValueError("give exactly one of at_most, at_least and equal")

    @property
    def passed(self) -> bool:
        """Whether the value is on the right side of the bar; never for NaN."""
        if self.at_most is not None:
            return self.value <= self.at_most
        if self.at_least is not None:
            return self.value >= self.at_least
        return math.isclose(self.value, self.equal or 0.0, abs_tol=1e-9)

    @property
    def bar(self) -> str:
        """For example ``<= 5``."""
        sign, number = ("<=", self.at_most) if self.at_most is not None else (">=", self.at_least) if self.at_least is not None else ("=", self.equal)
        return f"{sign} {number:g}"


@dataclass(frozen=True)
class Scenario:
    """One measurement of one tool; see :func:`scenario`."""

    tool: str
    name: str
    situation: str
    world: World
    run: Callable[[ScenarioDesk], Measured]
    possible: Callable[[], bool] = lambda: True


_ALL: dict[tuple[str, str], Scenario] = {}


def scenario(
    *, tool: str, name: str, situation: str, world: World = objects, possible: Callable[[], bool] = lambda: True
) -> Callable[[Callable[[ScenarioDesk], Measured]], Scenario]:
    """Make a function of a :class:`ScenarioDesk` that returns :class:`Measured` a scenario of ``tool``.

    Args:
        tool: its name.
        name: short, lower case with underscores; unique for the tool.
        situation: what is so on the desk and what is asked, in one sentence.
        world: draws the desk; scenarios that name the same function have one each that is drawn alike. What a scenario draws itself comes from ``desk.random``.
        possible: whether this machine has what the scenario needs, such as weights of a network; where not, it is left out.
    """

    def decorate(run: Callable[[ScenarioDesk], Measured]) -> Scenario:
        if (tool, name) in _ALL:
            raise ValueError(f"there are two scenarios {name!r} of {tool!r}")
        made = Scenario(tool, name, situation, world, run, possible)
        _ALL[tool, name] = made
        return made

    return decorate


def defined() -> list[Scenario]:
    """All scenarios of the modules that were imported, in the order of their definition."""
    return list(_ALL.values())
