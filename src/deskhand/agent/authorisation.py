"""Which motions the operator's words license, in three settings: for the task as a whole until foreign text was read, word by word, or not asked at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deskhand.agent.desk import TaskDesk
from deskhand.agent.foreign import foreign_words
from deskhand.agent.left_alone import LeftAlone
from deskhand.agent.requested import FREE, RequestedActs
from deskhand.world.acts import PUTS, support_after
from deskhand.world.relations import TABLE

TASK, STRICT, OFF = "task", "strict", "off"
SETTINGS = (TASK, STRICT, OFF)


class Authorisation:
    """Of one run.

    Args:
        instruction: the user's words.
        setting: ``task``: they license the task as a whole. Once text was read that neither the user nor the robot wrote, what the accepted plan does not
            name has to be covered by the words, or by a yes. ``strict``: every motion has to be, from the beginning. ``off``: nobody is asked.
            What the user said to leave alone stays forbidden in the first two.
    """

    def __init__(self, instruction: str, setting: str = TASK) -> None:
        if setting not in SETTINGS:
            raise ValueError(f"unknown authorisation {setting!r}; valid: {', '.join(SETTINGS)}")
        self.setting = setting
        self.foreign = foreign_words(instruction)
        self._words = RequestedActs(instruction)
        self._left = LeftAlone()
        self._left.told(instruction)
        self._plan: dict[str, set[str]] = {}

    def told(self, words: str) -> None:
        """The user has said something more."""
        self.foreign = self.foreign or foreign_words(words)
        self._words.told(words)
        self._left.told(words)

    def read_foreign(self) -> None:
        """Text was read that neither the user nor the robot wrote."""
        self.foreign = True

    def grant(self, subjects: Iterable[str]) -> None:
        """The user has said yes to these (ids, or tools that are about no object)."""
        self._words.grant(subjects)

    def accepted(self, goals: Sequence[tuple[str, str]], keep: bool) -> None:
        """A plan of (object, target) was accepted, in place of the one before or beside it."""
        self._plan = self._plan if keep else {}
        for name, target in goals:
            self._plan.setdefault(name, set()).add(target)

    def forbidden(self, name: str, arguments: Mapping[str, Any], desk: TaskDesk) -> list[str]:
        """Ids of what the user said to leave alone, and the call would move."""
        if self.setting != TASK or name in FREE:
            return []
        return [item for item in self._moved(name, arguments, desk) if self._left_alone(item, desk)]

    def forbidden_goals(self, goals: Sequence[tuple[str, str]], desk: TaskDesk) -> list[str]:
        """The same for the objects of a plan, which is what says which objects are "the rest"."""
        return [name for name, _ in goals if self.setting == TASK and self._named_left(name, desk)]

    def missing(self, name: str, arguments: Mapping[str, Any], desk: TaskDesk) -> list[str]:
        """What of a motion needs a yes: ids of objects, or the tool's own name."""
        if name == "open_gripper" and desk.held and self.setting == TASK:  # no plan lets fall what is held: only words do
            return [] if self._words.lets_go(desk) else [desk.held]
        if not self._asks:
            return []
        missing = self._words.missing(name, arguments, desk)
        return missing if self.setting == STRICT else [item for item in missing if not self._planned(item, name, arguments, desk)]

    def of_goals(self, goals: Sequence[tuple[str, str]], desk: TaskDesk) -> list[str]:
        """What of a plan needs a yes."""
        if not self._asks:
            return []
        new = [goal for goal in goals if self.setting == STRICT or goal[1] not in self._plan.get(goal[0], ())]
        return self._words.of_goals(new, desk)

    def unspoken(self, goals: Sequence[tuple[str, str]], desk: TaskDesk) -> list[str]:
        """Objects of a plan that the words do not ask to be moved, whatever the setting; whether somebody has to be asked is another question."""
        missing = set(self._words.of_goals([(name, TABLE) for name, _ in goals], desk))
        return [name for name, _ in goals if name in missing]

    @property
    def _asks(self) -> bool:
        return self.setting == STRICT or (self.setting == TASK and self.foreign)

    def _moved(self, name: str, arguments: Mapping[str, Any], desk: TaskDesk) -> list[str]:
        """What a call moves: what is held when it puts something down, else what it is about."""
        return [desk.held] if name in PUTS and desk.held else sorted(desk.about(name, arguments))

    def _left_alone(self, name: str, desk: TaskDesk) -> bool:
        if self._named_left(name, desk):
            return True
        return self._left.rest and not self._words.acted_on(name, desk) and not any(each in self._plan for each in _stack(name, desk))

    def _named_left(self, name: str, desk: TaskDesk) -> bool:
        """Whether the user said to leave the object alone, and nothing more exact, or later, to move it."""
        return self._left.holds(name, list(desk.objects.values())) and not self._words.acted_on(name, desk)

    def _planned(self, subject: str, name: str, arguments: Mapping[str, Any], desk: TaskDesk) -> bool:
        """Whether the accepted plan brings the object there, or takes away what it lies on, or says where what is held goes."""
        if desk.held and name in PUTS and subject != desk.held:  # the tool itself, or a target
            target = str(arguments.get("target_id") or support_after(name, arguments)[1])
            return target in self._plan.get(desk.held, ())
        return any(each in self._plan for each in _stack(subject, desk))


def _stack(name: str, desk: TaskDesk) -> list[str]:
    """The object and all that it lies on or in, down to the table."""
    names: list[str] = []
    while name and name not in names and name != TABLE:
        names.append(name)
        name = str((desk.objects.get(name) or {}).get("support") or "")
    return names
