"""A desk on which an expert's calls are made, and on which any other call can be tried from any of its states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.sim.spec import WorldSpec
from deskhand.trials.snapshot import DeskSnapshot

Arguments = Callable[["Play"], dict[str, Any]]
Goal = Callable[["Play"], bool]
"""Whether what was wanted is so: in the world by its truth, or told by one of the results since the decision (:meth:`Play.news`)."""


def nothing(play: Play) -> dict[str, Any]:
    """Of a tool that is called without arguments."""
    return {}


@dataclass(frozen=True)
class Step:
    """One call of an expert, whose arguments come from what it has seen."""

    tool: str
    arguments: Arguments = nothing


@dataclass(frozen=True)
class Case:
    """What is wanted on one desk, and how an expert that knows the truth goes about it.

    Attributes:
        family: the kind of sub-goal; environment: which of the four kinds of task it belongs to.
        say: the instruction.
        before: calls that were made before the decision; steps: the calls that bring the goal about, in their order.
        goal: whether it is reached.
        facts: values that other tools could be given for an argument of this name, by the truth.
        goal_words: the goal, for the file.
    """

    family: str
    environment: str
    say: str
    world: WorldSpec
    steps: tuple[Step, ...]
    goal: Goal
    facts: Arguments
    goal_words: str
    before: tuple[Step, ...] = ()
    meanwhile: Callable[[ScenarioDesk], None] | None = None
    """What somebody does to the desk between the calls before and the decision; the last of these calls comes after it."""


@dataclass(frozen=True)
class Turn:
    """A call that was made and what came of it."""

    tool: str
    arguments: Mapping[str, Any]
    result: ToolResult

    def told(self) -> dict[str, Any]:
        """As plain data, for a history."""
        code = {} if self.result.ok else {"error": self.result.code, "message": self.result.message}
        return {"tool": self.tool, "arguments": dict(self.arguments), **({"result": self.result.data} if self.result.ok else code)}


@dataclass
class PlaySnapshot:
    """A state of a play."""

    desk: DeskSnapshot
    turns: tuple[Turn, ...]
    ids: dict[str, str]
    decided: int


@dataclass
class Play:
    """One case under way on a desk.

    Attributes:
        turns: all calls until now.
        ids: the ids under which the objects of the world were first seen, by their names in it.
        decided: how many turns there were at the decision.
    """

    desk: ScenarioDesk
    case: Case
    turns: list[Turn] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    decided: int = 0
    _gone: dict[tuple[int, int], tuple[PlaySnapshot, dict[tuple[Step, ...], PlaySnapshot | Exception]]] = field(default_factory=dict)

    def begin(self, noise: int = 0) -> None:
        """Come to the decision: make the calls before it; with another ``noise`` with other noise in the pictures.

        Raises:
            DeskhandError: what one of them fails with.
        """
        self.desk.begin(self.case.family)
        if noise:
            self.desk.restore(self.desk.snapshot(), noise)
        for number, step in enumerate(self.case.before):
            if number == len(self.case.before) - 1 and self.case.meanwhile is not None:
                self.case.meanwhile(self.desk)
            self.make(step)
        self.decided = len(self.turns)

    def make(self, step: Step) -> Turn:
        """Make an expert's call.

        Raises:
            DeskhandError: what it fails with.
        """
        turn = self.call(step.tool, step.arguments(self))
        if not turn.result.ok:
            raise DeskhandError(turn.result.code, f"{self.case.family}: the expert's {step.tool} failed: {turn.result.message}")
        return turn

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Turn:
        """Make any call."""
        turn = Turn(tool, dict(arguments), self.desk.session.invoke(tool, arguments, caller="toolbench"))
        self.turns.append(turn)
        if turn.result.ok and self.desk.belief.scene is not None:
            self.ids = {**self.desk.recognised(), **self.ids}
        return turn

    def news(self) -> list[Turn]:
        """The calls since the decision that succeeded."""
        return [turn for turn in self.turns[self.decided :] if turn.result.ok]

    def data(self, tool: str) -> Any:
        """What a tool answered last.

        Raises:
            DeskhandError: ``precondition_failed`` when it was not called.
        """
        for turn in reversed(self.turns):
            if turn.tool == tool and turn.result.ok:
                return turn.result.data
        raise DeskhandError("precondition_failed", f"{tool} was not called.")

    def id_of(self, name: str) -> str:
        """The id of an object that was seen, by its name in the world.

        Raises:
            DeskhandError: ``precondition_failed`` when it was not seen.
        """
        if name not in self.ids:
            raise DeskhandError("precondition_failed", f"{name} was not seen yet.")
        return self.ids[name]

    def snapshot(self) -> PlaySnapshot:
        """This state."""
        return PlaySnapshot(self.desk.snapshot(), tuple(self.turns), dict(self.ids), self.decided)

    def restore(self, state: PlaySnapshot, noise: int = 0) -> None:
        """Go back to ``state``, with other noise in the pictures from now on where ``noise`` is another number."""
        self.desk.restore(state.desk, noise)
        self.turns, self.ids, self.decided = list(state.turns), dict(state.ids), state.decided

    def go(self, state: PlaySnapshot, steps: Sequence[Step], noise: int = 0) -> None:
        """From ``state``, make these calls of the expert; where they begin as others did that were made from there, go on from where those ended.

        Raises:
            DeskhandError, KeyError, IndexError: what one of them fails with, or its arguments.
        """
        known = self._gone.setdefault((id(state), noise), (state, {}))[1]  # with the state itself, so that its id stays its own
        wanted = tuple(steps)
        for count in range(1, len(wanted) + 1):
            if wanted[:count] not in known:
                before = known[wanted[: count - 1]] if count > 1 else state
                assert isinstance(before, PlaySnapshot)
                self.restore(before, noise if count == 1 else 0)
                try:
                    self.make(wanted[count - 1])
                    known[wanted[:count]] = self.snapshot()
                except (DeskhandError, KeyError, IndexError) as error:
                    known[wanted[:count]] = error
            if isinstance(failed := known[wanted[:count]], Exception):
                raise failed
        end = known[wanted] if wanted else state
        assert isinstance(end, PlaySnapshot)
        self.restore(end, 0 if wanted else noise)

    def reached(self) -> bool:
        """Whether what is wanted is so."""
        return self.case.goal(self)


def way_works(play: Play, state: PlaySnapshot, steps: Sequence[Step], noise: int = 0) -> bool:
    """Whether these calls, made from ``state``, bring the goal about: every one must have its arguments and succeed. Then the play is at ``state`` again."""
    try:
        play.go(state, steps, noise)
        return play.reached()
    except (DeskhandError, KeyError, IndexError):
        return False
    finally:
        play.restore(state)


def leaves(data: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every value in plain data, with the name of the field that it is in."""
    if isinstance(data, Mapping):
        for name, value in data.items():
            yield from leaves(value, str(name))
    elif isinstance(data, list | tuple):
        for value in data:
            yield from leaves(value, key)
    else:
        yield key, data


def lists(data: Any) -> Iterator[list[Any]]:
    """Every list in plain data."""
    if isinstance(data, Mapping):
        for value in data.values():
            yield from lists(value)
    elif isinstance(data, list | tuple):
        yield list(data)
        for value in data:
            yield from lists(value)
