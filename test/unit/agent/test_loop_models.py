"""The loop with models that behave as language models do: well, badly, and not at all."""

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import IGNORED_OUTPUT, INVALID_CALL, MISSED_CALL, WRONG_CHOICE, Budgets, TaskOutcome
from deskhand.errors import DeskhandError
from deskhand.llm.base import Message, Reply, ToolCall, Usage
from deskhand.llm.scripted import ScriptedModel
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object

PLAN = [{"object_id": "cup_1", "relation": "in", "target_id": "bin_1"}]


def desk() -> SymbolicDesk:
    return SymbolicDesk(seen_object("cup_1", "red"), seen_object("block_1", "blue"), seen_object("bin_1"))


def say(tool: str = "", text: str = "", **arguments: Any) -> Reply:
    return Reply(text, (ToolCall(tool, arguments),) if tool else (), Usage(100, 10))


def finish(status: str = "done", summary: str = "All done.", **extra: Any) -> Reply:
    return say("finish", status=status, summary=summary, **extra)


def run(replies: Sequence[Reply | Exception], text: str = "put the cup in the bin", robot: SymbolicDesk | None = None, **kwargs: Any) -> TaskOutcome:
    return AgentLoop(ScriptedModel(replies), robot or desk(), **kwargs).run(text)


def literal(replies: Sequence[Reply | Exception], text: str = "put the cup in the bin", robot: SymbolicDesk | None = None, **kwargs: Any) -> TaskOutcome:
    """A brain for which the words mean what the grammar reads in them."""
    model = ScriptedModel(replies)
    model.obeys_only_the_user = True  # type: ignore[attr-defined]
    return AgentLoop(model, robot or desk(), **kwargs).run(text)


LOOK, SUBMIT, PICK, PLACE = say("detect_objects"), say("submit_plan", subgoals=PLAN), say("pick", object_id="cup_1"), say("place_in", container_id="bin_1")


def test_a_good_model_succeeds_and_is_checked() -> None:
    robot = desk()
    outcome = run([LOOK, SUBMIT, PICK, PLACE, finish()], robot=robot)
    assert outcome.success
    assert robot.calls[-2:] == [("check_goal", {"conditions": PLAN}), ("find_objects", {})]
    assert outcome.summary.startswith("Done (checked by a look): the red cup (cup_1) in the")
    assert (outcome.tokens, outcome.tool_calls, outcome.failures) == (550, 5, {})


def test_without_a_plan_the_placements_are_checked() -> None:
    robot = desk()
    assert run([LOOK, PICK, PLACE, finish()], robot=robot).success
    assert ("check_goal", {"conditions": PLAN}) in robot.calls


def test_several_calls_in_one_reply_are_made_in_order() -> None:
    both = Reply("", (ToolCall("pick", {"object_id": "cup_1"}), ToolCall("place_in", {"container_id": "bin_1"})))
    assert run([LOOK, SUBMIT, both, finish()]).success


def test_a_claim_without_deeds_is_refused_and_never_a_success() -> None:
    robot = desk()
    outcome = run([finish()] * 9, robot=robot)
    assert (outcome.success, outcome.code) == (False, "task_incomplete")
    assert outcome.failures[MISSED_CALL] >= 1
    assert robot.calls == []


def test_a_claim_that_a_look_denies_goes_back_with_what_is_unmet() -> None:
    model = ScriptedModel([LOOK, SUBMIT, finish(), PICK, PLACE, finish()])
    outcome = AgentLoop(model, desk()).run("put the cup in the bin")
    assert outcome.success
    assert '"unmet":[{"object_id":"cup_1"' in model.conversations[3][-1].content
    assert outcome.failures == {IGNORED_OUTPUT: 1}


def test_a_plan_that_leaves_out_what_was_asked_for_is_no_success() -> None:
    trivial = say("submit_plan", subgoals=[{"object_id": "block_1", "relation": "on", "target_id": "table"}])
    model = ScriptedModel([LOOK, trivial, *[finish(summary=f"done {n}") for n in range(9)]])
    outcome = AgentLoop(model, desk()).run("put the cup in the bin")
    assert (outcome.outcome, outcome.code) == ("unverified", "unverified")
    assert "A simple reading of the words also has: cup_1 in bin_1" in model.conversations[2][-1].content
    half = run([LOOK, SUBMIT, PICK, PLACE, *[finish(summary=f"done {n}") for n in range(9)]], "put everything in the bin")
    assert (half.success, half.code) == (False, "unverified")


def test_a_plan_that_brings_more_than_was_asked_for_is_told_so() -> None:
    more = say("submit_plan", subgoals=[{"object_id": name, "relation": "in", "target_id": "bin_1"} for name in ("cup_1", "block_1")])
    model = ScriptedModel([LOOK, more, finish("partly")])
    AgentLoop(model, desk()).run("put the cup in the bin")
    told = json.loads(model.conversations[2][-1].content)["data"]["advice"]
    assert "it does not have: block_1 in bin_1" in f"it {told['text'].partition('words ')[2]}" and told["not_covered"] == ["block_1"]


@pytest.mark.parametrize("brief", [False, True])
def test_a_small_model_is_told_what_half_read_words_do_not_ask_for(brief: bool) -> None:
    goals = [{"object_id": name, "relation": "in", "target_id": "bin_1"} for name in ("cup_1", "block_1")]
    told = []
    for words in ("Throw away the empty old cup.", "Somebody dislikes clutter."):
        model = ScriptedModel([LOOK, say("submit_plan", subgoals=goals), finish("partly")])
        model.brief = brief  # type: ignore[attr-defined]
        AgentLoop(model, desk()).run(words)
        told.append(json.loads(model.conversations[2][-1].content)["data"].get("advice", {}).get("not_covered", []))
    assert told == [["block_1"] if brief else [], []]


def test_a_small_model_is_told_what_its_plan_leaves_out_also_at_the_end() -> None:
    model = ScriptedModel([LOOK, SUBMIT, PICK, PLACE, *[finish(summary=f"done {n}") for n in range(9)]])
    model.brief = True  # type: ignore[attr-defined]
    outcome = AgentLoop(model, desk()).run("put everything in the bin")
    assert "the instruction also asks for: block_1 in bin_1" in model.conversations[5][-1].content
    assert outcome.outcome == "unverified"


def test_claiming_on_and_on_ends() -> None:
    outcome = run([LOOK, SUBMIT, *[finish(summary=f"done {n}") for n in range(9)]])
    assert (outcome.success, outcome.code) == (False, "task_incomplete")
    assert "Not done: the red cup" in outcome.summary


def test_a_command_that_is_answered_is_never_done() -> None:
    outcome = run([LOOK, *[finish("answered", f"It is there already {n}.") for n in range(9)]])
    assert (outcome.success, outcome.code) == (False, "unverified")


def test_an_answer_needs_a_look() -> None:
    blind = run([finish("answered", "There is a cup.")] * 9, "what is on the desk?")
    assert (blind.success, blind.code) == (False, "task_incomplete")
    seeing = run([finish("answered", "There is a cup."), LOOK, finish("answered", "A cup, a block and a bin.")], "what is on the desk?")
    assert seeing.outcome == "unverified"
    assert seeing.summary.startswith("A cup, a block and a bin. Unverified: ")


def test_an_honest_refusal_keeps_its_code() -> None:
    outcome = run([finish("refused", "I cannot fly.", code="impossible")], "fly to the moon")
    assert (outcome.success, outcome.code, outcome.summary) == (False, "impossible", "I cannot fly.")


def test_an_invented_code_is_not_passed_on() -> None:
    assert run([finish("refused", "No.", code="because")], "fly").code == "impossible"


def test_partly_done_tells_what_is_proved() -> None:
    both = [*PLAN, {"object_id": "block_1", "relation": "in", "target_id": "bin_1"}]
    outcome = run([LOOK, say("submit_plan", subgoals=both), PICK, PLACE, finish("partly", "I got tired.")], "put all in the bin")
    assert (outcome.success, outcome.code) == (False, "task_incomplete")
    assert "Done (checked by a look): the red cup (cup_1) in" in outcome.summary
    assert "Not done: the blue block (block_1)" in outcome.summary


def test_an_unknown_tool_is_answered_with_the_tools_there_are() -> None:
    model = ScriptedModel([say("grab_cup"), LOOK, SUBMIT, PICK, PLACE, finish()])
    outcome = AgentLoop(model, desk()).run("put the cup in the bin")
    assert outcome.success
    assert "unknown_tool" in model.conversations[1][-1].content and "pick" in model.conversations[1][-1].content
    assert outcome.failures == {INVALID_CALL: 1}


def test_wrong_arguments_are_answered_with_the_field_and_move_nothing() -> None:
    robot = desk()
    model = ScriptedModel([LOOK, say("pick", seen_object="cup_1"), say("pick", object_id=7), SUBMIT, PICK, PLACE, finish()])
    outcome = AgentLoop(model, robot).run("put the cup in the bin")
    assert outcome.success
    assert "object_id" in model.conversations[2][-1].content
    assert [name for name, _ in robot.calls].count("pick") == 1
    assert outcome.failures == {INVALID_CALL: 2}


def test_malformed_json_is_sent_back() -> None:
    broken = Reply("", (ToolCall("pick", {}, malformed='{"object_id": "cup'),))
    model = ScriptedModel([LOOK, broken, SUBMIT, PICK, PLACE, finish()])
    assert AgentLoop(model, desk()).run("put the cup in the bin").success
    assert "no JSON object" in model.conversations[2][-1].content


def test_invalid_calls_without_end_end_the_task() -> None:
    outcome = run([say("nonsense", n=number) for number in range(50)])
    assert (outcome.success, outcome.code) == (False, "model_failed")
    assert outcome.tool_calls == 0


def test_the_same_call_over_and_over_is_warned_of_and_ended() -> None:
    model = ScriptedModel([LOOK] * 50)
    robot = desk()
    outcome = AgentLoop(model, robot).run("put the cup in the bin")
    assert (outcome.success, outcome.code) == (False, "model_failed")
    assert len(robot.calls) == 4
    assert "3 times" in model.conversations[3][-1].content


def test_an_invented_object_is_not_planned_for() -> None:
    invented = say("submit_plan", subgoals=[{"object_id": "cup_9", "relation": "in", "target_id": "bin_1"}])
    model = ScriptedModel([LOOK, invented, say("pick", object_id="cup_9"), SUBMIT, PICK, PLACE, finish()])
    outcome = AgentLoop(model, desk()).run("put the cup in the bin")
    assert outcome.success
    assert "no object cup_9" in model.conversations[2][-1].content
    assert outcome.failures == {IGNORED_OUTPUT: 1, WRONG_CHOICE: 1}


def test_a_plan_needs_a_look_first() -> None:
    model = ScriptedModel([SUBMIT, LOOK, SUBMIT, PICK, PLACE, finish()])
    assert AgentLoop(model, desk()).run("put the cup in the bin").success
    assert "detect_objects" in model.conversations[1][-1].content


def test_words_instead_of_calls_are_sent_back_once_and_then_are_a_claim() -> None:
    outcome = run([say(text="Sure, I put the cup in the bin!")] * 9)
    assert (outcome.success, outcome.code) == (False, "task_incomplete")
    assert outcome.failures[MISSED_CALL] >= 2


def test_words_are_an_answer_to_a_question() -> None:
    outcome = run([LOOK, say(text="A cup and a block."), say(text="A cup and a block.")], "what is on the desk?")
    assert outcome.outcome == "unverified"
    assert outcome.summary.startswith("A cup and a block. Unverified: ")


def test_a_model_that_fails_ends_the_task_with_its_code() -> None:
    outcome = run([LOOK, SUBMIT, PICK, DeskhandError("model_failed", "status 500 (5 attempts).")])
    assert (outcome.success, outcome.code) == (False, "model_failed")
    assert "The gripper holds the red cup" in outcome.summary
    assert run([ValueError("boom")]).code == "model_failed"


def test_tokens_are_a_budget() -> None:
    outcome = run([LOOK, SUBMIT, PICK, PLACE, finish()], budgets=Budgets(tokens=250))
    assert (outcome.success, outcome.code) == (False, "budget_exceeded")


class SlowModel:
    name = "slow"

    def __init__(self) -> None:
        self.asked, self.release = threading.Event(), threading.Event()

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None) -> Reply:
        self.asked.set()
        self.release.wait(20)
        return Reply("late")


def test_a_cancel_does_not_wait_for_a_slow_model() -> None:
    model = SlowModel()
    outcome = AgentLoop(model, desk(), cancelled=model.asked.is_set).run("put the cup in the bin")
    assert (outcome.success, outcome.code) == (False, "cancelled")
    assert not model.release.is_set()
    model.release.set()


def test_results_are_cut_to_the_context_of_a_small_model() -> None:
    model = ScriptedModel([LOOK, *[reply for _ in range(6) for reply in (LOOK, say("describe_scene"))], SUBMIT, PICK, PLACE, finish()])
    outcome = AgentLoop(model, desk(), context_tokens=900).run("put the cup in the bin")
    assert outcome.success
    assert max(sum(len(message.content) for message in shown) for shown in model.conversations) < 900 * 4 + 4000
    assert len(model.conversations[-1]) < 25 < len(model.conversations) * 2  # the oldest steps are left out
    assert model.conversations[-1][1].content == "put the cup in the bin"


def test_scripted_replies_come_from_a_file(tmp_path: Any) -> None:
    path = tmp_path / "replies.yaml"
    path.write_text("- {tool: detect_objects}\n- {tool: finish, arguments: {status: answered, summary: a cup}}\n")
    assert AgentLoop(ScriptedModel.from_file(path), desk()).run("what is on the desk?").summary.startswith("a cup Unverified")
    path.write_text("no: list")
    with pytest.raises(DeskhandError, match="list of strings"):
        ScriptedModel.from_file(path)


def test_a_call_that_follows_was_asked_of_nobody() -> None:
    outcome = run([Reply("as planned", (ToolCall("detect_objects", {}),), asked=False), finish("refused", "No.")])
    assert [bool(step.prompt_chars) for step in outcome.steps] == [False, True]
