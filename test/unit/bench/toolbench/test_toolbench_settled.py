"""Labels come from running: what reaches the goal, what does not, what can be left out, what order holds, and what hidden worlds change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from deskhand.bench.toolbench import making, need
from deskhand.bench.toolbench.families import FAMILIES, drawn_case, family_of
from deskhand.bench.toolbench.items import add_items, read_items
from deskhand.bench.toolbench.judge import judge
from deskhand.bench.toolbench.play import Play, Step, way_works
from deskhand.bench.toolbench.trying import nearest_tools, stays_wrong
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.errors import DeskhandError
from deskhand.etp.registry import Registry
from deskhand.tools.base import load_tools


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_tools(others=False)[0]


@pytest.fixture(scope="module")
def hand(registry: Registry) -> Iterator[Play]:
    """The hand is to go to a place: a plan is made, and carried out."""
    case = drawn_case(family_of("hand"), 0)
    with ScenarioDesk(case.world, registry) as desk:
        play = Play(desk, case)
        play.begin()
        yield play


def test_a_way_works_only_whole_and_in_its_order_and_leaves_the_state_as_it_was(hand: Play) -> None:
    state, (plan, execute) = hand.snapshot(), hand.case.steps
    assert way_works(hand, state, (plan, execute))
    assert not way_works(hand, state, (plan,))
    assert not way_works(hand, state, (execute,))
    assert not hand.reached()
    assert not hand.turns
    assert making.is_minimal(hand, state, (plan, execute))
    assert not making.is_minimal(hand, state, (Step("get_robot_state"), plan, execute)), "what can be left out is no part of it"
    assert making.order_of(hand, state, (plan, execute)) == [["plan_motion", "execute_plan"]]


def test_a_distractor_is_one_that_was_tried_and_does_not_do_it(hand: Play, registry: Registry) -> None:
    state, (plan, execute) = hand.snapshot(), hand.case.steps
    assert stays_wrong(hand, state, registry, "solve_ik", (execute,)), "it moves nothing"
    hand.make(plan)
    planned = hand.snapshot()
    assert stays_wrong(hand, planned, registry, "execute_plan", ()) == "", "it does the job"
    assert stays_wrong(hand, planned, registry, "place_at", ()) == "precondition_failed", "nothing is held"
    hand.restore(state)
    assert nearest_tools(registry, "plan_motion")[0] != "plan_motion"


def test_an_execution_item_is_judged_by_running_what_differs(registry: Registry, tmp_path: Path) -> None:
    item = making.make_execution(registry, "hand", 0, tmp_path)
    assert item is not None
    add_items(tmp_path, [item])
    (kept,) = read_items(tmp_path)
    assert kept == item
    assert (tmp_path / item.picture).stat().st_size > 2000
    wanted, follows = item.reference["arguments"], item.reference["next"]
    assert vars(judge(registry, item, wanted, follows)) == {"valid": True, "grounded": True, "match": True}
    x, y, z = wanted["position"]
    other = judge(registry, item, {"position": [x, y, z + 0.04]}, {"tool": "move_home", "arguments": {}})
    assert vars(other) == {"valid": True, "grounded": False, "match": False}, "a place that can be planned to, and is not the one"
    assert vars(judge(registry, item, {"position": "there"}, {})) == {"valid": False, "grounded": False, "match": False}


def test_what_is_hidden_makes_the_difference_of_need(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(need, "WORLDS", 4)
    monkeypatch.setattr(need, "DIFFER", 1)
    settled = need.settle(registry, "next_act", 0, True)
    assert settled is not None
    assert settled.needed
    assert settled.answers.total() == 4
    assert len(settled.answers) == 2


def test_every_family_draws_a_case_from_its_seed_and_says_it_without_names_of_tools(registry: Registry) -> None:
    names = {card.name for card in registry.cards()}
    for family in FAMILIES:
        case = drawn_case(family, 5)
        assert {step.tool for step in (*case.before, *case.steps)} <= names
        assert not [name for name in names if "_" in name and name in case.say]
    dev, heldout = ({drawn_case(FAMILIES[0], first + seed).say for seed in range(2)} for first in (0, 5000))
    assert not dev & heldout
    assert [drawn_case(FAMILIES[0], seed).say for seed in (5, 5)] == [drawn_case(FAMILIES[0], 5).say] * 2
    with pytest.raises(DeskhandError, match="valid: tidy"):
        family_of("nothing")
