"""The desk as symbols: what is on, in or held; what each act needs and changes; and plans for goals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.world.acts import PUTS
from deskhand.world.relations import TABLE

MOST_OBJECTS = 40
ROLLS = frozenset(("ball", "pen", "marker"))
"""Labels of what nothing stays on; so does whatever is a sphere."""
MOVES = frozenset(("pick", *PUTS, "push", "separate", "wipe", "handover", "move_home", "open_gripper", "close_gripper"))


class StepData(TypedDict):
    """One call of a plan."""

    tool: Annotated[str, Field(min_length=1, max_length=64, description="name of a tool, for example pick")]
    arguments: Annotated[dict[str, Any], Field(description="its arguments")]


@dataclass(frozen=True)
class Step:
    """A call of ``tool`` with ``arguments``."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        values = ", ".join(", ".join(map(str, value)) if isinstance(value, list) else str(value) for value in self.arguments.values())
        return f"{self.tool}({values})"

    def to_json(self) -> StepData:
        """As plain data."""
        return StepData(tool=self.tool, arguments=dict(self.arguments))


def steps_of(data: Iterable[StepData]) -> list[Step]:
    """Steps from plain data."""
    return [Step(item["tool"], item["arguments"]) for item in data]


@dataclass(frozen=True)
class SymbolicGoal:
    """``object_id`` shall be ``relation`` (on, in, held) ``target_id``; held needs no target."""

    object_id: str
    relation: str
    target_id: str = ""


@dataclass(frozen=True)
class State:
    """What is so.

    Attributes:
        where: object id -> (relation, what it lies on or in), without what is held.
        held: id of what the gripper holds, or empty.
        containers: ids of what is open at the top.
        round: ids of what nothing can be put on.
        home: the arm is at its rest pose.
        looked: nothing was touched since the last look.
    """

    where: Mapping[str, tuple[str, str]]
    held: str = ""
    containers: frozenset[str] = frozenset()
    round: frozenset[str] = frozenset()
    home: bool = True
    looked: bool = True

    @property
    def objects(self) -> list[str]:
        """All ids, what is held last."""
        return [*self.where, *([self.held] if self.held else [])]

    def on_top(self, name: str) -> list[str]:
        """What lies on or in it."""
        return [other for other, (_, below) in self.where.items() if below == name]

    def facts(self) -> set[str]:
        """What is so, as atoms: holding(x), holding, on(x,y), in(x,y), home, looked."""
        facts = {f"{relation}({name},{below})" for name, (relation, below) in self.where.items()}
        facts |= {f"in({name},{outer})" for name in self.where for outer in self._around(name)}
        return facts | ({"holding", f"holding({self.held})"} if self.held else set()) | {name for name in ("home", "looked") if getattr(self, name)}

    def _around(self, name: str) -> list[str]:
        """Containers that it is in, also by what it lies on."""
        found, seen = [], {name}
        while name in self.where:
            relation, name = self.where[name]
            if name in seen:
                break
            seen.add(name)
            if relation == "in":
                found.append(name)
        return found

    def meets(self, goal: SymbolicGoal) -> bool:
        """Whether a goal is so."""
        if goal.relation == "held":
            return self.held == goal.object_id
        return self.where.get(goal.object_id) == (goal.relation, goal.target_id) or (goal.relation == "in" and goal.target_id in self._around(goal.object_id))

    # ------------------------------------------------------------ acts

    def obstacle(self, step: Step) -> tuple[str, list[SymbolicGoal], str]:
        """Why ``step`` cannot be done now (empty: it can), what would have to be so first, and what has to lie free for it."""
        if step.tool == "pick":
            return self._pick_obstacle(str(step.arguments.get("object_id", "")))
        if step.tool in PUTS or step.tool == "handover":
            return self._place_obstacle(step)
        if step.tool in ("push", "separate"):
            name = str(step.arguments.get("object_id", ""))
            if name not in self.where:
                return f"there is no {name} on the desk", [], ""
            return (f"the gripper holds {self.held}", [SymbolicGoal(self.held, "on", TABLE)], "") if self.held else ("", [], "")
        return "", [], ""

    def _pick_obstacle(self, name: str) -> tuple[str, list[SymbolicGoal], str]:
        if self.held == name and name:
            return f"{name} is in the gripper already", [], ""
        if name not in self.where:
            return f"there is no {name} on the desk", [], ""
        if name in self.containers:
            return f"{name} is a container, which is not picked", [], ""
        if self.held:
            return f"the gripper holds {self.held}", [SymbolicGoal(self.held, "on", TABLE)], ""
        if above := self.on_top(name):
            return f"{', '.join(above)} lies on {name}", [], name
        return "", [], ""

    def _place_obstacle(self, step: Step) -> tuple[str, list[SymbolicGoal], str]:
        if not self.held:
            return "the gripper holds nothing", [], ""
        for target in targets_of(step):
            if target != TABLE and target not in self.where:
                return f"there is no {target} on the desk", [], ""
            if step.tool == "place_in" and target not in self.containers:
                return f"{target} is no container", [], ""
            if step.tool != "place_in" and target in self.containers:
                return f"{target} is a container: place_in puts objects into it", [], ""
            if target in self.round:
                return f"nothing stays on {target}, it is round", [], ""
            if step.tool == "place_on" and (above := self.on_top(target)):
                return f"{', '.join(above)} lies on {target}", [], target
        return "", [], ""

    def after(self, step: Step) -> State:
        """What is so after ``step`` went well."""
        moved = replace(self, home=step.tool in ("move_home", "detect_objects"), looked=False) if step.tool in MOVES else self
        if step.tool == "detect_objects":
            return replace(self, looked=True)
        if step.tool == "pick":
            name = str(step.arguments.get("object_id", ""))
            return replace(moved, where={other: place for other, place in self.where.items() if other != name}, held=name)
        if step.tool in PUTS and self.held:
            relation = PUTS[step.tool][0]
            return replace(moved, where={**self.where, self.held: (relation, targets_of(step)[0])}, held="")
        if step.tool == "open_gripper" and self.held:
            return replace(moved, where={**self.where, self.held: ("on", TABLE)}, held="")
        return moved


def targets_of(step: Step) -> list[str]:
    """What a placing step puts objects on or into."""
    if step.tool not in PUTS:
        return []
    key = PUTS[step.tool][1]
    return [str(step.arguments.get(key, ""))] if key else [str(name) for name in step.arguments.get("on") or (TABLE,)]


def act_atoms(step: Step, held: str) -> set[str]:
    """What is said of a step: the tool, and the tool with each and with all objects that it is about, what is held among them."""
    about = [str(step.arguments["object_id"])] if "object_id" in step.arguments else [held] if held and step.tool in PUTS else []
    about += [target for target in targets_of(step) if target]
    atoms = {step.tool, f"{step.tool}({','.join(about)})", *(f"{step.tool}({name})" for name in about)}
    atoms |= {f"touch({name})" for name in about if step.tool in MOVES}
    return atoms | ({"place", *(f"place({name})" for name in about[:1])} if step.tool in PUTS else set())
