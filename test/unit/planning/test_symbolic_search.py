"""Symbolic plans against a search through everything: as short, and none where there is none."""

import random
from collections import deque

import pytest

from deskhand.errors import DeskhandError
from deskhand.planning.search import plan
from deskhand.planning.symbolic import State, Step, SymbolicGoal

BIN = "bin_1"


def reached(state, goals, free):
    return all(state.meets(goal) for goal in goals) and not (free and (state.held or any(state.on_top(name) for name in free)))


def fewest_steps(state, goals, free, kept):
    """By trying all that can be done, breadth first; None when the goals cannot be reached."""
    waiting, seen = deque([(state, 0)]), {(frozenset(state.where.items()), state.held)}
    while waiting:
        now, count = waiting.popleft()
        if reached(now, goals, free):
            return count
        places = [Step("put_aside"), Step("place_in", {"container_id": BIN}), *(Step("place_on", {"target_id": name}) for name in now.where if name != BIN)]
        for step in places if now.held else [Step("pick", {"object_id": name}) for name in now.where if name not in kept]:
            then = now.after(step)
            key = (frozenset(then.where.items()), then.held)
            if not now.obstacle(step)[0] and key not in seen:
                seen.add(key)
                waiting.append((then, count + 1))
    return None


def random_task(seed, count=4):
    rng = random.Random(seed)
    names, where, clear = [f"block_{index}" for index in range(count)], {BIN: ("on", "table")}, []
    for name in names:
        where[name] = rng.choice([("on", "table"), ("on", "table"), ("in", BIN), *(("on", other) for other in clear)])
        clear = [other for other in clear if other != where[name][1]] + [name]
    held = rng.choice(clear) if rng.random() < 0.3 else ""
    where.pop(held, None)
    rolls = frozenset(name for name in clear if rng.random() < 0.2)
    goals = []
    for name in rng.sample(names, rng.randint(1, count)):
        target = rng.choice([other for other in [*names, "table"] if other != name])
        goals.append(
            rng.choice([SymbolicGoal(name, "on", target), SymbolicGoal(name, "on", target), SymbolicGoal(name, "in", BIN), SymbolicGoal(name, "held")])
        )
    free = tuple(rng.sample(names, 1)) if rng.random() < 0.2 else ()
    kept = frozenset(rng.sample(names, 1)) if rng.random() < 0.2 else frozenset()
    return State(where, held, frozenset((BIN,)), rolls), goals, free, kept


def test_plans_can_be_followed_and_are_as_short_as_can_be():
    found = 0
    for seed in range(50):
        state, goals, free, kept = random_task(seed)
        fewest = fewest_steps(state, goals, free, kept)
        if fewest is None:
            with pytest.raises(DeskhandError) as caught:
                plan(state, goals, free, kept)
            assert caught.value.code == "impossible"
            continue
        found += 1
        steps = plan(state, goals, free, kept)
        assert len(steps) == fewest, seed
        for step in steps:
            assert not state.obstacle(step)[0] and step.arguments.get("object_id") not in kept, seed
            state = state.after(step)
        assert reached(state, goals, free), seed
    assert 15 < found < 48


def test_a_desk_full_of_tangled_towers_is_planned_too():
    names = [f"block_{index}" for index in range(30)]
    towers = [names[index : index + 6] for index in range(0, 30, 6)]
    where = {name: ("on", tower[level - 1] if level else "table") for tower in towers for level, name in enumerate(tower)}
    mixed = random.Random(1).sample(names, len(names))
    goals = [SymbolicGoal(mixed[index], "on", mixed[index + 1]) for index in range(20) if index % 5]
    state = State(where)
    for step in plan(state, goals):
        assert not state.obstacle(step)[0]
        state = state.after(step)
    assert reached(state, goals, ())


@pytest.mark.parametrize(
    ("goals", "said"),
    [
        ([SymbolicGoal("block_0", "on", "block_1"), SymbolicGoal("block_1", "on", "block_0")], "circle"),
        ([SymbolicGoal("block_0", "on", "block_1"), SymbolicGoal("block_0", "on", "block_2")], "cannot be on block_1 and block_2"),
        ([SymbolicGoal("block_0", "held"), SymbolicGoal("block_1", "held")], "two objects"),
        ([SymbolicGoal("block_0", "on", BIN)], f"nothing is put on {BIN}"),
    ],
)
def test_goals_that_cannot_hold_together_are_told(goals, said):
    state = State({BIN: ("on", "table"), **{f"block_{index}": ("on", "table") for index in range(3)}}, containers=frozenset((BIN,)))
    with pytest.raises(DeskhandError, match=said):
        plan(state, goals)
