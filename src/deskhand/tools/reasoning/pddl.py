"""The desk as a planning problem (STRIPS) for unified-planning, solved by pyperplan: greedy search with the FF heuristic, so short plans, not shortest ones."""

from __future__ import annotations

from collections.abc import Sequence

from deskhand.errors import DeskhandError
from deskhand.tools.reasoning.symbolic import Goal, State, Step
from deskhand.tools.spatial import TABLE

try:
    import unified_planning as up
    import unified_planning.shortcuts as upf
    from unified_planning.engines import PlanGenerationResultStatus as Status
except ImportError as error:  # said where it is needed, with the way out
    raise DeskhandError(
        "missing_dependency", f"planning needs unified-planning and up-pyperplan ({error}).", hint="pip install -r requirements/planning.txt"
    ) from error

SOLVED = (Status.SOLVED_SATISFICING, Status.SOLVED_OPTIMALLY)


def solve(state: State, goals: Sequence[Goal], free: tuple[str, ...], kept: frozenset[str]) -> list[Step]:
    """See :func:`deskhand.tools.reasoning.symbolic.plan`."""
    up.shortcuts.get_environment().credits_stream = None
    problem = _problem(state, goals, free, kept)
    with upf.OneshotPlanner(name="pyperplan") as planner:
        result = planner.solve(problem)
    if result.status not in SOLVED or result.plan is None:
        wanted = ", ".join(f"{goal.object_id} {goal.relation} {goal.target_id}".strip() for goal in goals) or f"{', '.join(free)} free"
        raise DeskhandError("impossible", f"there is no plan that brings about: {wanted}.", hint="Drop or change a goal.")
    return _without_detours(state, [_step(action) for action in result.plan.actions], goals, free)


def _problem(state: State, goals: Sequence[Goal], free: tuple[str, ...], kept: frozenset[str]) -> upf.Problem:
    thing = upf.UserType("Thing")
    problem = upf.Problem("desk")
    fluent = {
        name: upf.Fluent(name, upf.BoolType(), **dict.fromkeys(parameters, thing))
        for name, parameters in {
            "on": ("a", "b"), "in": ("a", "b"), "down": ("a",), "clear": ("a",), "held": ("a",), "empty": (), "open": ("a",), "flat": ("a",), "may": ("a",),
        }.items()
    }  # fmt: skip
    for item in fluent.values():
        problem.add_fluent(item, default_initial_value=False)
    _actions(problem, thing, fluent)
    objects = {name: upf.Object(name, thing) for name in state.things}
    problem.add_objects(objects.values())
    for name, item in objects.items():
        problem.set_initial_value(fluent["open"](item), name in state.containers)
        problem.set_initial_value(fluent["flat"](item), name not in state.containers and name not in state.round)
        problem.set_initial_value(fluent["may"](item), name not in state.containers and name not in kept)
        problem.set_initial_value(fluent["clear"](item), not state.on_top(name) and name != state.held)
    problem.set_initial_value(fluent["empty"](), not state.held)
    if state.held:
        problem.set_initial_value(fluent["held"](objects[state.held]), True)
    for name, (relation, below) in state.where.items():
        if below in objects:
            problem.set_initial_value(fluent[relation](objects[name], objects[below]), True)
        else:
            problem.set_initial_value(fluent["down"](objects[name]), True)
    for goal in goals:
        problem.add_goal(_goal(goal, fluent, objects))
    for name in free:
        problem.add_goal(fluent["clear"](objects[name]))
    if free:
        problem.add_goal(fluent["empty"]())
    return problem


def _goal(goal: Goal, fluent: dict[str, upf.Fluent], objects: dict[str, upf.Object]) -> upf.FNode:
    if goal.relation == "held":
        return fluent["held"](objects[goal.object_id])
    if goal.target_id == TABLE:
        return fluent["down"](objects[goal.object_id])
    return fluent[goal.relation](objects[goal.object_id], objects[goal.target_id])


def _actions(problem: upf.Problem, thing: upf.Type, fluent: dict[str, upf.Fluent]) -> None:
    """Pick from the table, from another thing, from a container; place on the table, on another thing, into a container."""
    for name, relation in (("pick_table", ""), ("pick_on", "on"), ("pick_in", "in"), ("put_aside", ""), ("place_on", "on"), ("place_in", "in")):
        action = upf.InstantaneousAction(name, **dict.fromkeys(("x", "y") if relation else ("x",), thing))
        x = action.parameter("x")
        y = action.parameter("y") if relation else None
        there = fluent[relation](x, y) if relation else fluent["down"](x)
        picks = name.startswith("pick")
        for need in (fluent["clear"](x), there, fluent["empty"](), fluent["may"](x)) if picks else (fluent["held"](x),):
            action.add_precondition(need)
        if not picks and relation == "on":
            action.add_precondition(fluent["clear"](y))
            action.add_precondition(fluent["flat"](y))
        if not picks and relation == "in":
            action.add_precondition(fluent["open"](y))
        action.add_effect(there, not picks)
        action.add_effect(fluent["held"](x), picks)
        action.add_effect(fluent["empty"](), not picks)
        action.add_effect(fluent["clear"](x), not picks)
        if relation == "on":
            action.add_effect(fluent["clear"](y), picks)
        problem.add_action(action)


def _step(action: upf.ActionInstance) -> Step:
    name, *rest = action.action.name, *(str(parameter) for parameter in action.actual_parameters)
    if name.startswith("pick"):
        return Step("pick", {"object_id": rest[0]})
    if name == "put_aside":
        return Step("put_aside")
    return Step(name, {"container_id" if name == "place_in" else "target_id": rest[1]})


def _without_detours(state: State, steps: list[Step], goals: Sequence[Goal], free: tuple[str, ...]) -> list[Step]:
    """A greedy plan without the pairs (pick something, put it down) that the goals do not need."""
    index = 0
    while index + 1 < len(steps):
        shorter = steps[:index] + steps[index + 2 :]
        if steps[index].tool == "pick" and _works(state, shorter, goals, free):
            steps, index = shorter, 0
        else:
            index += 1
    return steps


def _works(state: State, steps: Sequence[Step], goals: Sequence[Goal], free: tuple[str, ...]) -> bool:
    for step in steps:
        if state.obstacle(step)[0]:
            return False
        state = state.after(step)
    return all(state.meets(goal) for goal in goals) and not any(state.on_top(name) for name in free)
