"""Reasoning tools on a desk with real geometry and no dynamics."""

from collections import Counter

import numpy as np
import pytest

from deskhand.bench.tools.run import all_scenarios
from deskhand.errors import ERROR_NUMBERS
from deskhand.etp.card import UNITS
from deskhand.planning.search import plan
from deskhand.planning.symbolic import State, SymbolicGoal
from deskhand.testing.desk_robot import DeskRobot
from deskhand.testing.desk_scene import scene_object as an_object
from deskhand.tools.base import load_tools, make_session
from deskhand.tools.execution.advice import POLICIES

CUBE = (0.035, 0.035, 0.035)
REGISTRY = load_tools(others=False)[0]


def objects():
    return [
        an_object("block_1", "box", CUBE, (0.0, 0.0, 0.0175)),
        an_object("block_2", "box", CUBE, (0.0, 0.0, 0.0525), color="blue", support="block_1"),
        an_object("block_3", "box", CUBE, (0.08, -0.12, 0.0175), color="red"),
        an_object("ball_1", "sphere", (0.038,) * 3, (0.12, 0.1, 0.019), label="ball", color="orange"),
        an_object("bin_1", "box", (0.165, 0.17, 0.07), (0.0, 0.29, 0.035), 0.05, "bin", color="gray", is_container=True, wall=0.004),
    ]


@pytest.fixture
def robot():
    return DeskRobot(objects())


@pytest.fixture
def session(robot):
    with make_session(robot, registry=REGISTRY) as session:
        assert session.invoke("detect_objects", {}).ok
        yield session


@pytest.fixture(scope="module")
def thinking():
    """A session for tests that move nothing."""
    with make_session(DeskRobot(objects()), registry=REGISTRY) as session:
        assert session.invoke("detect_objects", {}).ok
        yield session


def ok(session, name, **arguments):
    result = session.invoke(name, arguments)
    assert result.ok, result
    return result.data


def call(tool, **arguments):
    return {"tool": tool, "arguments": arguments}


IN_BIN = {"object_id": "block_1", "relation": "in", "target_id": "bin_1"}


# ---------------------------------------------------------------- plans


def carried_out(state, steps):
    for step in steps:
        why, _, _ = state.obstacle(step)
        assert not why, (step, why)
        state = state.after(step)
    return state


@pytest.mark.parametrize("seed", range(3))
def test_plans_can_be_done_step_by_step_and_reach_their_goals(seed):
    random = np.random.default_rng(seed)
    names = [f"b_{k}" for k in range(6)]
    where, tops = {"bin_1": ("on", "table")}, ["table"]
    for name in names:
        below = str(random.choice(tops))
        where[name] = ("on", below)
        tops = [*(top for top in tops if top == "table" or top != below), name]
    state = State(where, containers=frozenset(("bin_1",)))
    order = list(map(str, random.permutation(names)))
    goals = [SymbolicGoal(order[0], "in", "bin_1"), SymbolicGoal(order[1], "on", order[2]), SymbolicGoal(order[2], "on", order[3])]
    steps = plan(state, goals)
    end = carried_out(state, steps)
    assert all(end.meets(goal) for goal in goals) and len(steps) <= 2 * 2 * len(names)
    assert sum(step.tool == "pick" for step in steps) * 2 == len(steps)


def test_what_lies_on_top_goes_first_and_aside(session):
    steps = ok(session, "plan_task", goals=[IN_BIN])["steps"]
    assert [step["tool"] for step in steps] == ["pick", "put_aside", "pick", "place_in"]
    assert steps[0]["arguments"] == {"object_id": "block_2"}
    for step in steps:
        ok(session, step["tool"], **step["arguments"])
    assert ok(session, "check_goal", conditions=[IN_BIN])["satisfied"]


def test_goals_that_cannot_be_and_objects_that_are_not_there_are_said(thinking):
    on_ball = thinking.invoke("plan_task", {"goals": [{"object_id": "block_3", "relation": "on", "target_id": "ball_1"}]})
    assert on_ball.code == "impossible"
    kept = thinking.invoke("plan_task", {"goals": [IN_BIN], "keep": ["block_2"]})
    assert kept.code == "impossible"
    assert thinking.invoke("plan_task", {"goals": [{"object_id": "cup_7", "relation": "in", "target_id": "bin_1"}]}).code == "unknown_object"
    assert ok(thinking, "plan_task", goals=[{"object_id": "block_2", "relation": "on", "target_id": "block_1"}])["steps"] == []


def test_a_broken_rule_is_named_with_its_step(thinking):
    steps = [call("pick", object_id="block_2"), call("place_in", container_id="bin_1"), call("pick", object_id="block_3")]
    answer = ok(
        thinking, "check_plan_rules", steps=steps, rules=["never touch block_3", "G(place_in -> holding)", "block_2 is in bin_1 before picking block_3"]
    )
    first, second, third = answer["rules"]
    assert answer["violations"] == 2 and (first["step"], second["step"]) == (3, 2) and third["holds"]
    assert "pick(block_3)" in first["reason"]


@pytest.mark.parametrize(
    ("steps", "rules"),
    [
        ([call("place_in", container_id="bin_1"), call("pick", object_id="block_2")], []),  # the wrong way round
        ([call("pick", object_id="block_1"), call("place_in", container_id="bin_1")], []),  # something lies on it
        ([call("pick", object_id="block_3"), call("pick", object_id="block_2"), call("place_in", container_id="bin_1")], []),  # two at once
        ([call("pick", object_id="block_2"), call("place_in", container_id="bin_1")], ["end with going home"]),
        (
            [
                call("pick", object_id="block_3"),
                call("place_in", container_id="bin_1"),
                call("pick", object_id="block_2"),
                call("place_in", container_id="bin_1"),
            ],
            ["put block_2 in bin_1 before picking block_3"],
        ),
        ([call("move_home")], []),
    ],
)
def test_a_plan_is_corrected_until_it_is_sound(thinking, steps, rules):
    goals = [] if steps[0]["arguments"].get("object_id") == "block_1" else [{"object_id": "block_2", "relation": "in", "target_id": "bin_1"}]
    answer = ok(thinking, "refine_plan", steps=steps, rules=rules, goals=goals)
    assert answer["satisfied"] and answer["rounds"] and answer["left"] == [], answer
    again = ok(thinking, "refine_plan", steps=answer["steps"], rules=rules, goals=goals)
    assert again["satisfied"] and again["rounds"] == [] and again["steps"] == answer["steps"]
    if rules:
        assert ok(thinking, "check_plan_rules", steps=answer["steps"], rules=rules)["satisfied"]


def test_what_cannot_be_corrected_is_left_and_named(thinking):
    answer = ok(thinking, "refine_plan", steps=[call("pick", object_id="block_3")], rules=["never pick block_3", "at some point pick block_3"])
    assert not answer["satisfied"] and len(answer["left"]) == 1


def test_an_act_is_verified_by_what_is_measured(session, robot):
    ok(session, "pick", object_id="block_2")
    assert ok(session, "verify_action", act="pick", object_id="block_2")["done"]
    assert not ok(session, "verify_action", act="pick", object_id="block_3")["done"]
    robot.opened = robot.arm.gripper.width_min  # it slipped out, and nobody noticed
    assert not ok(session, "verify_action", act="pick", object_id="block_2")["done"]
    robot.opened = 0.035
    ok(session, "place_in", container_id="bin_1")
    assert ok(session, "verify_action", act="place_in", object_id="block_2", target_id="bin_1")["done"]
    robot.objects["block_2"] = an_object("block_2", "box", CUBE, (0.1, 0.0, 0.0175), color="blue")
    wrong = ok(session, "verify_action", act="place_in", object_id="block_2", target_id="bin_1")
    assert not wrong["done"] and "on table" in wrong["findings"][0]["measured"]
    assert ok(session, "verify_action", act="place_at", object_id="block_2", position=[0.1, 0.0])["done"]
    assert session.invoke("verify_action", {"act": "pick"}).code == "invalid_input"


# ---------------------------------------------------------------- words


def test_phrases_are_resolved_and_ambiguity_is_told(thinking):
    assert ok(thinking, "resolve_reference", phrase="the blue block")["object_ids"] == ["block_2"]
    assert ok(thinking, "resolve_reference", phrase="the block on the table right of the bin")["ambiguous"]
    two = ok(thinking, "resolve_reference", phrase="the red block")
    assert two["ambiguous"] and two["object_ids"] == [] and {item["object_id"] for item in two["candidates"]} == {"block_1", "block_3"}
    assert len(ok(thinking, "resolve_reference", phrase="all blocks")["object_ids"]) == 3
    assert len(ok(thinking, "resolve_reference", phrase="a red block")["object_ids"]) == 1
    assert ok(thinking, "resolve_reference", phrase="the block that is on block_1")["object_ids"] == ["block_2"]
    assert ok(thinking, "resolve_reference", phrase="the leftmost block")["object_ids"]
    assert ok(thinking, "resolve_reference", phrase="the biggest red block")["ambiguous"]  # they are of one size
    assert ok(thinking, "resolve_reference", phrase="the biggest thing")["object_ids"] == ["bin_1"]
    assert thinking.invoke("resolve_reference", {"phrase": "the block above the moon"}).code == "not_understood"


def test_the_question_tells_the_candidates_apart(thinking):
    asked = ok(thinking, "ask_which", candidates=["block_1", "block_3"])
    assert asked["question"].endswith("?") and not asked["settled"] and len(asked["answers"]) == 2
    for answer in asked["answers"]:
        assert ok(thinking, "ask_which", candidates=["block_1", "block_3"], answer=f"the {answer} one please")["settled"]
    left = ok(thinking, "ask_which", candidates=["block_1", "block_3"], answer="the leftmost one")
    assert left["object_ids"] == ["block_1"]
    assert ok(thinking, "ask_which", candidates=["block_1", "block_2", "block_3"], answer="the blue one")["object_ids"] == ["block_2"]
    assert thinking.invoke("ask_which", {"candidates": ["block_1", "block_3"], "answer": "hm"}).code == "not_understood"


def test_what_was_nearly_meant_is_proposed(thinking):
    spelled = ok(thinking, "grounding_repair", phrase="the bleu blok")
    assert spelled["repaired"] and spelled["object_ids"] == ["block_2"]
    shade = ok(thinking, "grounding_repair", phrase="the red ball")
    assert shade["object_ids"] == ["ball_1"] and "orange" in shade["proposals"][0]["changed"]
    kind = ok(thinking, "grounding_repair", phrase="the blue cup")
    assert not kind["repaired"] and ["block_2"] in [item["object_ids"] for item in kind["proposals"]]
    assert ok(thinking, "grounding_repair", phrase="the green elephant")["repaired"] is False


def test_an_instruction_becomes_goals_with_what_is_unclear(thinking):
    said = ok(thinking, "parse_instruction", instruction="put the blue block into the bin")
    assert said["understood"] and said["goals"] == [{"object_id": "block_2", "relation": "in", "target_id": "bin_1"}]
    assert ok(thinking, "parse_instruction", instruction="how many blocks are there?")["question"]
    assert ok(thinking, "parse_instruction", instruction="stop!")["stop"]
    unclear = ok(thinking, "parse_instruction", instruction="frobnicate the widget")
    assert not unclear["understood"] and unclear["problems"]
    missing = ok(thinking, "parse_instruction", instruction="put the banana into the bin")
    assert missing["problems"] and missing["goals"] == []


def test_an_answer_is_held_against_what_was_seen(thinking):
    good = "There are three blocks. block_2 is on block_1, and block_3 is on the table. The hand holds nothing."
    assert ok(thinking, "final_answer", answer=good)["supported"]
    bad = ok(thinking, "final_answer", answer="There are two blocks. block_1 is in bin_1 and cup_9 is gone. I am holding block_3. block_3 is left of block_1.")
    said = [item["said"] for item in bad["unsupported"]]
    assert not bad["supported"] and len(said) == 5, said


# ---------------------------------------------------------------- recovery


def test_there_is_advice_for_every_code_and_every_tool_in_it_exists():
    assert set(POLICIES) == set(ERROR_NUMBERS)
    named = {advice.tool for policy in POLICIES.values() for advice in policy.advice if advice.tool}
    assert named <= {card.name for card in REGISTRY.cards()}, named


def test_advice_ends_when_the_tries_are_used_up_or_the_robot_is_stopped(session, robot):
    first = ok(session, "advise_recovery", code="grasp_failed", failed_tool="pick", object_id="block_3")
    assert first["retry"] and first["attempts_left"] == 2 and "open_gripper" in [item["tool"] for item in first["actions"]]
    last = ok(session, "advise_recovery", code="grasp_failed", failed_tool="pick", object_id="block_3", attempts=3)
    assert not last["retry"] and last["actions"] == [] and last["give_up"]
    robot.stop("test")
    assert [item["tool"] for item in ok(session, "advise_recovery", code="no_grasp")["actions"]] == [""]


def test_a_object_that_came_back_under_another_id_is_found(session, robot):
    item = robot.objects.pop("block_3")
    robot.objects["block_8"] = an_object("block_8", "box", tuple(item.size), (0.1, -0.1, 0.0175), color="red")
    found = ok(session, "find_again", object_id="block_3")
    assert found["found"] and found["object_id"] == "block_8" and found["renamed"]
    robot.objects["block_9"] = an_object("block_9", "box", CUBE, (0.1, -0.2, 0.0175), color="red")
    robot.objects["block_10"] = an_object("block_10", "box", CUBE, (0.06, -0.06, 0.0175), color="red")
    del robot.objects["block_8"]
    unsure = ok(session, "find_again", object_id="block_8")
    assert not unsure["found"] and len(unsure["candidates"]) == 2
    assert session.invoke("find_again", {"object_id": "block_77"}).code == "unknown_object"


def test_the_last_pick_and_the_last_place_are_taken_back(session, robot):
    assert session.invoke("undo_last_act", {}).code == "impossible"
    before = robot.objects["block_3"].position.copy()
    ok(session, "pick", object_id="block_3")
    assert ok(session, "undo_last_act")["undone"] == "pick"
    assert robot.objects["block_3"].position[:2] == pytest.approx(before[:2], abs=0.01)
    before = robot.objects["block_3"].position.copy()
    ok(session, "pick", object_id="block_3")
    ok(session, "place_at", x=0.05, y=0.12)
    undone = ok(session, "undo_last_act")
    assert undone["undone"] == "place" and robot.objects["block_3"].position[:2] == pytest.approx(before[:2], abs=0.01)


# ---------------------------------------------------------------- what the cards say

OURS = [card for card in REGISTRY.cards() if card.group in ("reasoning", "execution")]


def test_every_tool_of_reasoning_and_execution_has_an_example_a_failure_and_scenarios():
    measured = Counter(item.tool for item in all_scenarios())
    assert min(sum(card.unit == unit for card in OURS) for group in ("reasoning", "execution") for unit in UNITS[group]) >= 2
    assert [card.name for card in OURS if not card.examples or not (card.failures or card.lenient)] == [], "a lenient one takes anything"
    assert [card.name for card in OURS if not 2 <= measured[card.name] <= 4] == []


def test_every_failure_example_ends_with_its_code(robot):
    wrong = []
    with make_session(robot, registry=REGISTRY) as session:
        for looked in (False, True):
            for card in OURS:
                for failure in card.failures:
                    blind = failure.code == "precondition_failed" and "scene_known" in card.preconditions
                    if failure.code in ("safety_stop", "stale_data") or blind == looked:
                        continue
                    result = session.invoke(card.name, failure.arguments)
                    if result.code != failure.code:
                        wrong.append((card.name, failure.situation, result.code, result.message))
            session.invoke("detect_objects", {})
        assert wrong == [] and robot.executed == []
        robot.stop("test")
        for card in OURS:
            if any(failure.code == "safety_stop" for failure in card.failures):
                assert session.invoke(card.name, {}).code == "safety_stop"
