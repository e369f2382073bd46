"""Verify a plan, diagnose what is wrong first, correct it, and again: until nothing is wrong or no correction helps.

After the verification-integrated refinement of plans (VIRF); the corrections come from the symbols of the desk and the planner, not from a language model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from deskhand.errors import DeskhandError
from deskhand.planning.rules import Rule
from deskhand.planning.search import plan
from deskhand.planning.symbolic import State, Step, SymbolicGoal, act_atoms
from deskhand.planning.temporal import atoms_of, first_break, shown
from deskhand.world.acts import PUTS

MOST_STEPS = 80
_ACT = re.compile(r"(pick|place_in|place_on|place|touch)\(([a-z0-9_]+)(?:,([a-z0-9_]+))?\)|(move_home|detect_objects|open_gripper|close_gripper)")


@dataclass(frozen=True)
class Problem:
    """``kind``: step, rule or goal; ``index`` of the step, or of the rule or goal; ``free``: what something lies on that should not."""

    kind: str
    index: int
    text: str
    needs: tuple[SymbolicGoal, ...] = ()
    free: str = ""


@dataclass(frozen=True)
class Round:
    """One correction."""

    diagnosis: str
    correction: str


@dataclass
class Task:
    """What a plan is held against."""

    start: State
    rules: Sequence[Rule] = ()
    goals: Sequence[SymbolicGoal] = ()
    rounds: list[Round] = field(default_factory=list)

    def problems(self, steps: Sequence[Step]) -> list[Problem]:
        """All that is wrong with a plan: steps that cannot be done, rules that are broken, goals that are not reached."""
        found, state, atoms = [], self.start, []
        for index, step in enumerate(steps):
            why, needs, free = state.obstacle(step)
            if why:
                found.append(Problem("step", index, f"step {index + 1}, {step}: {why}", tuple(needs), free))
            acts = act_atoms(step, state.held)
            state = state if why else state.after(step)
            atoms.append(acts | state.facts())
        holds: list[Callable[[str], bool]] = [names.__contains__ for names in atoms]
        for number, rule in enumerate(self.rules):
            broken = first_break(rule.formula, holds) if steps else 0
            if broken is not None:
                where = f"at step {broken + 1}, {steps[broken]}" if broken < len(steps) else "at the end: what it asks for never comes"
                found.append(Problem("rule", number, f"the rule {rule.text!r} ({shown(rule.formula)}) is broken {where}"))
        for number, goal in enumerate(self.goals):
            if not state.meets(goal):
                found.append(Problem("goal", number, f"{goal.object_id} is not {goal.relation} {goal.target_id} at the end"))
        return found

    def corrected(self, steps: list[Step], most: int) -> tuple[list[Step], list[Problem]]:
        """The plan after at most ``most`` corrections, and what is still wrong with it; ``rounds`` tells them."""
        problems = self.problems(steps)
        while problems and len(self.rounds) < most:
            best: tuple[int, int, list[Step], str] | None = None
            for problem in problems:
                for candidate, how, cost in self._candidates(steps, problem):
                    if len(candidate) > MOST_STEPS:
                        continue
                    left = len(self.problems(candidate))
                    if left < len(problems) and (best is None or (left, cost) < best[:2]):
                        best = left, cost, candidate, how
                if best is not None:
                    self.rounds.append(Round(problem.text, best[3]))
                    break
            if best is None:
                break
            steps = best[2]
            problems = self.problems(steps)
        return steps, problems

    # ------------------------------------------------------------ corrections

    def _candidates(self, steps: list[Step], problem: Problem) -> Iterator[tuple[list[Step], str, int]]:
        """Changed plans, what was changed, and its cost: the number of steps that came, went or moved."""
        if problem.kind == "step":
            yield from self._for_step(steps, problem)
        elif problem.kind == "goal":
            yield from self._planned(steps, len(steps), self.goals[problem.index : problem.index + 1], ())
        else:
            yield from self._for_rule(steps, self.rules[problem.index])

    def _for_step(self, steps: list[Step], problem: Problem) -> Iterator[tuple[list[Step], str, int]]:
        at = problem.index
        for later in range(at + 1, len(steps)):
            moved = [*steps[:at], steps[later], *steps[at:later], *steps[later + 1 :]]
            yield moved, f"moved {steps[later]} before step {at + 1}", 1
        if problem.needs or problem.free:
            yield from self._planned(steps, at, problem.needs, (problem.free,) if problem.free else ())
        if steps[at].tool in PUTS and "holds nothing" in problem.text:
            for name in self._homeless(steps):
                yield [*steps[:at], Step("pick", {"object_id": name}), *steps[at:]], f"inserted pick({name}) before step {at + 1}", 1
        yield [*steps[:at], *steps[at + 1 :]], f"left out {steps[at]}", 3
        for unit in _units(steps):
            if at in unit and len(unit) > 1:
                yield [step for index, step in enumerate(steps) if index not in unit], f"left out {', '.join(str(steps[i]) for i in unit)}", 3 * len(unit)

    def _homeless(self, steps: Sequence[Step]) -> list[str]:
        """Objects of the goals that no step picks."""
        picked = {str(step.arguments.get("object_id")) for step in steps if step.tool == "pick"}
        return [goal.object_id for goal in self.goals if goal.object_id not in picked]

    def _for_rule(self, steps: list[Step], rule: Rule) -> Iterator[tuple[list[Step], str, int]]:
        units = _units(steps)
        for number, unit in enumerate(units):
            block = [steps[index] for index in unit]
            rest = units[:number] + units[number + 1 :]
            said = ", ".join(map(str, block))
            for place in range(len(rest) + 1):
                if place != number:
                    order = [*rest[:place], unit, *rest[place:]]
                    yield [steps[index] for group in order for index in group], f"moved {said} {'to the front' if place == 0 else 'further'}", len(unit)
            yield [steps[index] for group in rest for index in group], f"left out {said}", 4 * len(unit)
        for block in _wanted(rule):
            for place in range(len(units) + 1):
                before = [steps[index] for group in units[:place] for index in group]
                yield [*before, *block, *steps[len(before) :]], f"inserted {', '.join(map(str, block))}", 2 * len(block) + (place < len(units))

    def _planned(self, steps: list[Step], at: int, goals: Sequence[SymbolicGoal], free: tuple[str, ...]) -> Iterator[tuple[list[Step], str, int]]:
        """What the planner puts before step ``at`` so that ``goals`` hold there and ``free`` objects carry nothing."""
        state = self.start
        for step in steps[:at]:
            state = state if state.obstacle(step)[0] else state.after(step)
        try:
            more = plan(state, goals, free)
        except DeskhandError as error:
            if error.code not in ("impossible", "unknown_object"):
                raise
            return
        if more:
            yield [*steps[:at], *more, *steps[at:]], f"planned {', '.join(map(str, more))} before step {at + 1}", 2 * len(more)


def _units(steps: Sequence[Step]) -> list[list[int]]:
    """Indices of steps that stay together: from a pick to the placing that ends it."""
    units: list[list[int]] = []
    open_unit = False
    for index, step in enumerate(steps):
        if open_unit:
            units[-1].append(index)
        else:
            units.append([index])
        open_unit = (open_unit or step.tool == "pick") and step.tool not in PUTS and step.tool != "open_gripper"
    return units


def _wanted(rule: Rule) -> list[list[Step]]:
    """Acts that the atoms of a rule name, as steps that can be inserted."""
    blocks: list[list[Step]] = []
    for atom in dict.fromkeys(atoms_of(rule.formula)):
        found = _ACT.fullmatch(atom)
        if not found:
            continue
        act, item, target, bare = found.groups()
        if bare:
            blocks.append([Step(bare)])
        elif act == "pick":
            blocks.append([Step("pick", {"object_id": item}), Step("put_aside")])
        elif act in ("place_in", "place_on") and target:
            blocks.append([Step("pick", {"object_id": item}), Step(act, {PUTS[act][1]: target})])
    return blocks
