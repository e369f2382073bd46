"""The user's temporal safety rules (``rules`` of ``config/safety.yaml``), held against every plan and every call before it moves anything.

Sentences become linear temporal logic by the reader of ``check_plan_rules`` (planning/rules.py), anew whenever objects come to light: "the phone" is
every phone that was ever seen. What was done so far, and the call in question, are the trace.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.agent.desk import TaskDesk, radius
from deskhand.errors import DeskhandError
from deskhand.language.resolve import BASE, Seen
from deskhand.planning.goals import Goal
from deskhand.planning.rules import Rule, read_rule
from deskhand.planning.symbolic import Step, act_atoms
from deskhand.planning.temporal import FALSE, progressed
from deskhand.world.acts import PUTS, announced
from deskhand.world.relations import SIDEWAYS, TABLE

NEEDS_NO_LOOK = ("look", "move_home", "stop_motion")
"""Motions that no rule speaks of."""
CLEARANCE = 0.03
"""What is carried stays so far [m] off what it may not be carried over."""
STRAY = 0.15
"""So far [m] from its target an object that is put beside it may end."""


@dataclass(frozen=True)
class Broken:
    """A rule and the step that would break it (its place in the plan from 1; 0 for a single call)."""

    rule: str
    step: Step
    number: int = 0

    def __str__(self) -> str:
        where = f"step {self.number}, {self.step}," if self.number else str(self.step)
        return f"{where} would break the safety rule {self.rule!r}."


class SafetyRules:
    """Of one run.

    Raises:
        DeskhandError: ``config_error`` naming the sentence that is not understood.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        self._sentences = tuple(sentences)
        self._trace: list[set[str]] = []
        self._known: frozenset[str] = frozenset()
        self._rules: list[Rule] = []
        for sentence in self._sentences:
            _read(sentence, [])

    def __bool__(self) -> bool:
        return bool(self._sentences)

    def broken_by(self, name: str, arguments: Mapping[str, Any], desk: TaskDesk) -> Broken | None:
        """The rule that this motion would break now."""
        if not self:
            return None
        plain, after = announced(name, arguments)
        broken = self._first_broken([Step(name, plain)], desk, single=True)
        if broken is None and after is not None:  # it is begun with
            broken = self._first_broken([Step(name, plain), Step(*after)], desk, single=False)
        return broken

    def broken_by_plan(self, goals: Sequence[Goal], desk: TaskDesk) -> Broken | None:
        """The rule that carrying out the goals in this order would break. What is only owed is a matter of the end: see :meth:`owed`."""
        steps = [step for goal in goals for step in _steps(goal, desk)]
        return self._first_broken(steps, desk, single=False) if self and steps else None

    def owed(self, desk: TaskDesk) -> list[str]:
        """Rules that ask for something which has not come, were this the end."""
        self._ground(desk)
        trace = self._trace or [desk.state().facts()]
        owed = []
        for rule in self._rules:
            formula = rule.formula
            for index, past in enumerate(trace):
                formula = progressed(formula, past.__contains__, index == len(trace) - 1)
            owed += [rule.text] if formula == FALSE and not self._lost(rule) else []
        return owed

    def _lost(self, rule: Rule) -> bool:
        """Whether no ending could make it true any more, so that nothing can be done about it."""
        formula = rule.formula
        for past in self._trace:
            formula = progressed(formula, past.__contains__, False)
        return formula == FALSE

    def done(self, name: str, arguments: Mapping[str, Any], desk: TaskDesk) -> None:
        """A motion or a look went well; ``desk`` is what was known before it. What failed is no step: it brought nothing about."""
        if self:
            arguments = announced(name, arguments)[0]
            self._trace.append(self._atoms(Step(name, arguments), desk) | desk.state().after(Step(name, arguments)).facts())

    def _first_broken(self, steps: Sequence[Step], desk: TaskDesk, single: bool) -> Broken | None:
        self._ground(desk)
        state, atoms = desk.state(), []
        for step in steps:
            at = self._atoms(step, desk, state.held)
            state = state.after(step)
            atoms.append(at | state.facts())
        for rule in self._rules:
            formula = rule.formula
            for past in self._trace:
                formula = progressed(formula, past.__contains__, False)
            if formula == FALSE:  # broken already, by what nobody could know then: it holds from now on
                formula = rule.formula
            for number, names in enumerate(atoms, 1):
                formula = progressed(formula, names.__contains__, False)
                if formula == FALSE:
                    return Broken(rule.text, steps[number - 1], 0 if single else number)
        return None

    def _ground(self, desk: TaskDesk) -> None:
        known = frozenset(desk.objects)
        if known != self._known or not self._rules:
            self._known = known
            self._rules = [rule for sentence in self._sentences if (rule := _read(sentence, list(desk.objects.values())))]

    def _atoms(self, step: Step, desk: TaskDesk, held: str | None = None) -> set[str]:
        held = desk.held if held is None else held
        atoms = act_atoms(step, held) | {f"touch({name})" for name in desk.about(step.tool, step.arguments)}
        return atoms | {text for name in over(step, held, desk) for text in (f"over({name})", f"over({held},{name})")}


def _read(sentence: str, objects: Sequence[Seen]) -> Rule | None:
    """A rule about these objects; None while what it speaks of is not there."""
    try:
        return read_rule(sentence, objects, every=True)
    except DeskhandError as error:
        if error.code == "unknown_object":
            return None
        raise DeskhandError("config_error", f"the safety rule {sentence!r} is not understood: {error.message}", hint=error.hint) from error


def _steps(goal: Goal, desk: TaskDesk) -> list[Step]:
    put = {"in": ("place_in", {"container_id": goal.target_id}), "on": ("place_on", {"target_id": goal.target_id})}
    tool, arguments = put.get(goal.relation, ("place_beside", {"target_id": goal.target_id, "side": goal.relation}))
    if goal.target_id == TABLE and goal.relation not in SIDEWAYS:
        tool, arguments = ("place_at", {"x": goal.position[0], "y": goal.position[1]}) if goal.position else ("put_aside", {})  # type: ignore[dict-item]
    taken = [] if desk.held == goal.object_id else [Step("pick", {"object_id": goal.object_id})]
    return [*taken, Step(tool, arguments)]


def over(step: Step, held: str, desk: TaskDesk) -> set[str]:
    """Ids of the objects that what is held may pass over in this step.

    The hand turns about the base or goes straight; whatever lies between the two ways from where the object was taken to where it goes counts, and where
    the way is not known everything does.
    """
    from_object = desk.item(held) if held else None
    if from_object is None or step.tool in ("open_gripper", "close_gripper", "pick"):
        return set()
    others = {name: item for name, item in desk.objects.items() if name != held}
    goal = desk.destination(step.tool, step.arguments) if step.tool in PUTS else None
    if goal is None or held not in desk.objects:
        return set(others)
    start = (float(from_object["position"][0]), float(from_object["position"][1]))
    stray = STRAY if step.tool == "place_beside" else 0.0
    return {name for name, item in others.items() if _between(start, goal, item, radius(from_object) + radius(item) + CLEARANCE + stray)}


def _between(start: tuple[float, float], goal: tuple[float, float], item: Seen, margin: float) -> bool:
    """Whether an object is nearer than ``margin`` to the region between the arc about the base and the straight way."""
    at = (float(item["position"][0]) - BASE[0], float(item["position"][1]) - BASE[1])
    a, b = ((point[0] - BASE[0], point[1] - BASE[1]) for point in (start, goal))
    steps = max(2, int(math.dist(a, b) / 0.01))
    angle_a, angle_b = math.atan2(a[1], a[0]), math.atan2(b[1], b[0])
    for index in range(steps + 1):
        part = index / steps
        straight = (a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]))
        angle = angle_a + part * (angle_b - angle_a)
        reach = math.hypot(*a) + part * (math.hypot(*b) - math.hypot(*a))
        turned = (reach * math.cos(angle), reach * math.sin(angle))
        if _to_segment(at, straight, turned) < margin:
            return True
    return False


def _to_segment(point: tuple[float, float], a: tuple[float, float], b: tuple[float, float]) -> float:
    length = math.dist(a, b) ** 2
    part = 0.0 if length == 0 else max(0.0, min(1.0, ((point[0] - a[0]) * (b[0] - a[0]) + (point[1] - a[1]) * (b[1] - a[1])) / length))
    return math.dist(point, (a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])))
