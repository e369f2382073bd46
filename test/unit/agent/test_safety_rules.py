"""The user's temporal rules: read with the reader of check_plan_rules, held against plans and calls before anything moves."""

import pytest
from test_loop_models import LOOK, finish, say

from deskhand.agent.desk import TaskDesk
from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import TaskOutcome
from deskhand.agent.rules import SafetyRules, over
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.llm.scripted import ScriptedModel
from deskhand.planning.rules import formula_text, read_rule
from deskhand.planning.symbolic import Step
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object

TIDY = "put everything in the bin"


def robot() -> SymbolicDesk:
    phone = {**seen_object("phone_1", "black", position=(0.1, -0.15)), "size": [0.07, 0.14, 0.01]}
    knife = {**seen_object("knife_1", "grey", position=(-0.05, 0.1)), "size": [0.02, 0.12, 0.01]}
    cup, block = seen_object("cup_1", position=(-0.1, 0.0)), seen_object("block_1", "blue", position=(0.0, -0.1))
    return SymbolicDesk(phone, knife, block, cup, seen_object("bin_1", position=(0.1, 0.25)))


def run(replies: list, *rules: str, desk: SymbolicDesk | None = None) -> tuple[TaskOutcome, SymbolicDesk, ScriptedModel]:
    desk, model = desk or robot(), ScriptedModel([*replies, *[finish("partly", f"That is all {n}.") for n in range(2)]])
    return AgentLoop(model, desk, rules=rules).run(TIDY), desk, model


def pick(name: str) -> list:
    return [say("pick", object_id=name), say("place_in", container_id="bin_1")]


def plan(*names: str):  # type: ignore[no-untyped-def]
    return say("submit_plan", subgoals=[{"object_id": name, "relation": "in", "target_id": "bin_1"} for name in names])


@pytest.mark.parametrize(
    ("sentence", "formula"),
    [
        ("never lift anything over the cup", "G !over(cup_1)"),
        ("do not carry the block over the phone", "G !over(block_1,phone_1)"),
        ("put the knife away before anything else", "!(touch(phone_1) | touch(block_1) | touch(cup_1)) W place_in(knife_1)"),
        ("the knife must be put away before anything else", "!(touch(phone_1) | touch(block_1) | touch(cup_1)) W place_in(knife_1)"),
        ("do not touch the phone", "G !touch(phone_1)"),
    ],
)
def test_sentences_have_formal_counterparts(sentence: str, formula: str) -> None:
    assert formula_text(read_rule(sentence, list(robot().objects.values()), every=True)) == formula


def test_a_rule_means_every_object_that_its_words_fit() -> None:
    seen = [seen_object("cup_1"), seen_object("cup_2", "green"), seen_object("block_1")]
    assert formula_text(read_rule("do not touch the cup", seen, every=True)) == "G !(touch(cup_1) | touch(cup_2))"
    assert "cup_2" not in formula_text(read_rule("do not touch the red cup", seen, every=True))


def test_a_sentence_that_nobody_understands_ends_the_start() -> None:
    with pytest.raises(DeskhandError, match="be nice to the furniture") as error:
        SafetyRules(["be nice to the furniture"])
    assert error.value.code == "config_error"


def test_a_plan_that_breaks_a_rule_is_refused_with_the_rule_and_the_step() -> None:
    _, desk, model = run([LOOK, plan("phone_1", "cup_1"), plan("cup_1"), *pick("cup_1")], "do not touch the phone")
    refused = model.conversations[2][-1].content
    assert "do not touch the phone" in refused and "step 1, pick(phone_1)" in refused
    assert desk.where()["phone_1"] == "table" and desk.where()["cup_1"] == "bin_1"


def test_a_call_that_would_break_a_rule_is_refused_before_anything_moves() -> None:
    _, desk, model = run([LOOK, *pick("phone_1"), *pick("cup_1")], "do not touch the phone")
    assert "would break the safety rule 'do not touch the phone'" in model.conversations[2][-1].content
    assert [arguments for name, arguments in desk.calls if name == "pick"] == [{"object_id": "cup_1"}]


def test_order_is_kept_and_a_failed_act_does_not_count() -> None:
    desk = robot()
    desk.faults = {"place_in": [ToolResult("place_failed", "it slipped.")]}
    first = [say("pick", object_id="knife_1"), say("place_in", container_id="bin_1"), say("put_aside"), say("pick", object_id="block_1")]
    _, desk, _ = run([LOOK, say("pick", object_id="block_1"), *first, *pick("knife_1"), *pick("block_1")], "put the knife away before anything else", desk=desk)
    assert [arguments["object_id"] for name, arguments in desk.calls if name == "pick"] == ["knife_1", "knife_1", "block_1"]
    assert desk.where()["block_1"] == "bin_1"


def test_a_plan_in_the_wrong_order_passes_when_the_planner_finds_the_right_one_and_else_tells() -> None:
    _, _, model = run([LOOK, plan("block_1")], "put the knife away before anything else")
    assert "put the knife away before anything else" in model.conversations[2][-1].content
    _, _, model = run([LOOK, plan("knife_1", "block_1")], "put the knife away before anything else")
    assert '"ok":true' in model.conversations[2][-1].content


def test_what_a_rule_asks_for_at_the_end_is_asked_for() -> None:
    calls = [LOOK, *pick("cup_1"), finish(), say("move_home"), finish("done", "Now.")]
    outcome, _, model = run(calls, "after picking the cup always go home")
    assert "after picking the cup" in model.conversations[4][-1].content
    assert outcome.code == "unverified"  # other objects are still on the desk, and the words may mean everything


def test_nothing_moves_by_rules_about_objects_before_a_look() -> None:
    _, desk, _ = run([say("pick", object_id="cup_1")], "do not touch the phone")
    assert not [name for name, _ in desk.calls if name == "pick"]


def test_a_object_that_comes_to_light_later_falls_under_the_rule() -> None:
    desk = robot()
    desk.objects["phone_1"]["hidden"] = True
    run([LOOK, *pick("cup_1")], "do not touch the phone", desk=desk)
    desk.objects["phone_1"]["hidden"] = False
    _, after, _ = run([LOOK, *pick("phone_1")], "do not touch the phone", desk=desk)
    assert after.where()["phone_1"] == "table"


def test_over_is_the_region_between_the_turn_and_the_straight_way() -> None:
    desk = TaskDesk()
    items = [
        seen_object("block_1", position=(0.0, -0.2)),
        seen_object("cup_1", position=(0.0, 0.0)),
        seen_object("cup_2", position=(0.05, 0.0)),
        seen_object("cup_3", position=(0.3, 0.3)),
    ]
    desk.world.apply("detect_objects", {}, True, {"objects": [*items, seen_object("bin_1", position=(0.0, 0.2))]})
    desk.world.apply("pick", {"object_id": "block_1"}, True, None)
    assert over(Step("place_in", {"container_id": "bin_1"}), "block_1", desk) == {"cup_1", "cup_2", "bin_1"}
    assert over(Step("place_at", {"x": 0.0, "y": -0.25}), "block_1", desk) == set()
    assert over(Step("move_joints", {"joints": [0.0]}), "block_1", desk) == {"cup_1", "cup_2", "cup_3", "bin_1"}
    assert over(Step("pick", {"object_id": "cup_1"}), "", desk) == set()


def test_nothing_is_carried_over_the_cup() -> None:
    robot_ = robot()
    robot_.objects["cup_1"]["position"] = [0.05, 0.08, 0.025]
    calls = [LOOK, say("pick", object_id="block_1"), say("place_in", container_id="bin_1"), say("place_at", x=0.0, y=-0.12)]
    _, desk, model = run(calls, "never lift anything over the cup", desk=robot_)
    assert "never lift anything over the cup" in model.conversations[3][-1].content
    assert [name for name, _ in desk.calls if name.startswith("place")] == ["place_at"]
