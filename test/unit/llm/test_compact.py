"""Prompts for small models: what matters now, only what can be done now, and it fits."""

import json
from dataclasses import replace

import pytest

from deskhand.agent.prompt import SYSTEM, find_cards
from deskhand.llm.base import Message, ToolCall
from deskhand.llm.compact import CHARS_PER_TOKEN, compact
from deskhand.llm.config import ModelProfile
from deskhand.llm.decision import decision_schema
from deskhand.llm.faults import ModelFault
from deskhand.llm.form import unfold
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object

PROFILE = ModelProfile("small", context_tokens=4000, max_tokens=400, prompt="compact")
PUTTING = ("place_in", "place_on", "place_at", "place_beside", "put_aside")
NEEDS = {"pick": ["scene_known", "not_holding"], **{name: ["holding"] for name in PUTTING}}


STRUCTURE = {"name": "plan_structure", "summary": "Plan a structure of blocks", "input_schema": {"type": "object", "properties": {}}}


def cards():
    return [STRUCTURE, *({**card, "preconditions": NEEDS.get(card["name"], [])} for card in find_cards(SymbolicDesk(), ""))]


class Talk:
    """A conversation as the loop keeps it."""

    def __init__(self, instruction="Put the cup in the bin."):
        self.messages = [Message("system", SYSTEM), Message("user", instruction)]

    def did(self, name, arguments=None, data=None, code="", message=""):
        call = ToolCall(name, arguments or {}, f"c{len(self.messages)}")
        body = {"ok": not code, "data": data} if not code else {"ok": False, "code": code, "message": message}
        self.messages += [Message("assistant", "", (call,)), Message("tool", json.dumps(body), tool_call_id=call.id, name=name)]
        return self

    def looked(self, *objects):
        return self.did("detect_objects", data={"objects": list(objects)})

    def refused(self, **data):
        """The newest call was refused, with data."""
        body = json.loads(self.messages[-1].content)
        self.messages[-1] = replace(self.messages[-1], content=json.dumps({**body, "data": data}))
        return self

    def asked(self, profile=PROFILE):
        return compact(self.messages, cards(), profile)

    def prompt(self, profile=PROFILE):
        asked = self.asked(profile)
        assert asked.follows is None, asked.follows
        return "\n".join(message.content for message in asked.messages), {card["name"]: card["input_schema"]["properties"] for card in asked.cards}

    def follows(self):
        call = self.asked().follows
        return (call.name, call.arguments) if call else None

    def carried_out(self, *, code=""):
        """What follows is done, or fails."""
        name, arguments = self.follows()
        return self.did(name, arguments, {}, code=code, message="no")

    def planned(self, **goals):
        subgoals = [{"object_id": name, "relation": relation, "target_id": target} for name, (relation, target) in goals.items()]
        return self.did("submit_plan", {"subgoals": subgoals}, {"order": subgoals, "already_done": []})


DESK = (seen_object("cup_1"), seen_object("block_1", color="blue"), seen_object("bin_1"), seen_object("tray_1"))


def test_the_first_look_is_not_asked_for():
    assert Talk().follows() == ("detect_objects", {})
    _, tools = Talk().did("detect_objects", code="no_frame").prompt()
    assert set(tools) <= {"detect_objects", "look", "finish"}


def test_a_plan_is_a_form_with_a_choice_for_every_object_and_becomes_sub_goals():
    talk = Talk().looked(*DESK)
    text, tools = talk.prompt()
    assert tools["submit_plan"] == {
        "red cup (cup_1)": {"enum": ["bin_1", "tray_1", "stays"]},
        "blue block (block_1)": {"enum": ["bin_1", "tray_1", "stays"]},
    }
    assert "block_1 (blue block)" in text and " cm" not in text
    call = unfold(ToolCall("submit_plan", {"red cup (cup_1)": "bin_1", "blue block (block_1)": "stays"}), talk.asked().now)
    assert call.arguments == {"subgoals": [{"object_id": "cup_1", "relation": "in", "target_id": "bin_1"}]}


def test_where_the_words_speak_of_all_objects_none_may_stay():
    asked = Talk("Blocks in the tray, everything else in the bin.").looked(*DESK).prompt()[1]["submit_plan"]
    assert [value["enum"] for value in asked.values()] == [["bin_1", "tray_1"]] * 2


def test_words_that_take_something_out_let_objects_stay():
    talk = Talk("Clear everything away, but the cup stays.").looked(*DESK)
    assert all("stays" in value["enum"] for value in talk.prompt()[1]["submit_plan"].values())


def test_what_the_words_do_not_ask_for_is_left_out_of_an_accepted_plan():
    goals = [{"object_id": name, "relation": "in", "target_id": "bin_1"} for name in ("cup_1", "block_1")]
    advice = {"text": "it does not have block_1 in bin_1", "unmet": [], "not_covered": ["block_1"]}
    talk = Talk().looked(*DESK).did("submit_plan", {"subgoals": goals}, {"order": goals, "already_done": [], "advice": advice})
    assert talk.follows() == ("submit_plan", {"subgoals": goals[:1]})
    assert talk.planned(cup_1=("in", "bin_1")).follows() == ("pick", {"object_id": "cup_1"})


def test_a_plan_that_moves_nothing_is_doubted_once():
    goal = {"object_id": "cup_1", "relation": "on", "target_id": "table"}
    talk = Talk("Take the cup out.").looked(*DESK).did("submit_plan", {"subgoals": [goal]}, {"order": [], "already_done": ["cup_1"]})
    assert "nothing would move" in talk.prompt()[0]
    assert talk.did("submit_plan", {"subgoals": [goal]}, {"order": [], "already_done": ["cup_1"]}).follows()[0] == "finish"


def test_no_tool_is_offered_for_a_word_that_speaks_of_none():
    where = {"name": "where_is", "summary": "Where an object was seen", "input_schema": {"type": "object", "properties": {}}}
    talk = Talk("The rubber stays where it is.").looked(*DESK)
    assert "where_is" not in {card["name"] for card in compact(talk.messages, [*cards(), where], PROFILE).cards}


def test_the_words_open_other_places_and_places_on_the_desk_are_shown():
    text, tools = Talk("Put the cup left of the block, or on top of it.").looked(*DESK).prompt()
    assert {"on block_1", "left_of block_1", "left_of bin_1"} <= set(tools["submit_plan"]["red cup (cup_1)"]["enum"])
    assert " cm" in text


def test_an_accepted_plan_is_carried_out_without_asking_and_its_end_is_claimed():
    talk = Talk().looked(*DESK).planned(cup_1=("in", "bin_1"), block_1=("left_of", "cup_1"))
    for expected in (
        ("pick", {"object_id": "cup_1"}),
        ("place_in", {"container_id": "bin_1"}),
        ("pick", {"object_id": "block_1"}),
        ("place_beside", {"target_id": "cup_1", "side": "left_of"}),
        ("finish", {"status": "done", "summary": ""}),
    ):
        assert talk.follows() == expected
        talk.carried_out()


def test_what_fails_is_looked_at_and_tried_again_then_the_model_is_asked():
    talk = Talk().looked(*DESK).planned(cup_1=("in", "bin_1"))
    for _ in range(2):
        assert talk.follows() == ("pick", {"object_id": "cup_1"})
        talk.carried_out(code="no_grasp")
        assert talk.follows() == ("detect_objects", {})
        talk.looked(*DESK)
    text, tools = talk.prompt()
    assert tools["finish"]["status"] == {"enum": ["refused"]}
    assert tools["pick"]["object_id"] == {"enum": ["cup_1", "block_1"]}
    talk.did("pick", {"object_id": "cup_1"}, code="no_grasp", message="too wide")
    text, tools = talk.looked(*DESK).prompt()
    assert tools["pick"]["object_id"] == {"enum": ["block_1"]}
    assert "pick(cup_1): failed, no_grasp: too wide" in text


def test_a_object_that_cannot_be_put_where_it_should_is_laid_aside():
    talk = Talk().looked(*DESK).planned(cup_1=("in", "bin_1")).carried_out()
    for _ in range(2):
        assert talk.follows() == ("place_in", {"container_id": "bin_1"})
        talk.carried_out(code="place_failed").looked(*DESK)
    assert talk.follows() == ("put_aside", {})


def test_a_plan_that_the_words_contradict_is_corrected():
    talk = Talk("Blocks in the tray, the rest in the bin.").looked(*DESK)
    wrong = [{"object_id": "cup_1", "relation": "in", "target_id": "bin_1"}, {"object_id": "block_1", "relation": "in", "target_id": "bin_1"}]
    right = {"object_id": "block_1", "relation": "in", "target_id": "tray_1"}
    talk.did("submit_plan", {"subgoals": wrong}, code="impossible", message="block_1 in tray_1").refused(unmet=[{**right, "reason": "asked"}])
    assert talk.follows() == ("submit_plan", {"subgoals": [wrong[0], right]})


def test_a_refused_plan_is_asked_for_again_only_where_it_was_wrong():
    goals = [{"object_id": name, "relation": "in", "target_id": "bin_1"} for name in ("cup_1", "block_1")]
    problem = {"object_id": "block_1", "code": "impossible", "message": "it does not fit"}
    talk = Talk().looked(*DESK).did("submit_plan", {"subgoals": goals}, code="impossible", message="it does not fit").refused(problems=[problem])
    text, tools = talk.prompt()
    assert tools == {"submit_plan": {"blue block (block_1)": {"enum": ["tray_1", "stays"]}}}
    assert "The check says: it does not fit" in text
    call = unfold(ToolCall("submit_plan", {"blue block (block_1)": "tray_1"}), talk.asked().now)
    assert call.arguments == {"subgoals": [goals[0], {**goals[1], "target_id": "tray_1"}]}


def test_what_the_words_do_not_cover_leaves_the_plan():
    goals = [{"object_id": name, "relation": "in", "target_id": "bin_1"} for name in ("cup_1", "block_1")]
    talk = Talk().looked(*DESK).did("submit_plan", {"subgoals": goals}, code="permission_denied").refused(not_covered=["block_1"])
    assert talk.follows() == ("submit_plan", {"subgoals": goals[:1]})


def test_a_refused_end_brings_a_look_and_what_is_unmet_back():
    talk = Talk().looked(*DESK).planned(cup_1=("in", "bin_1")).carried_out().carried_out()
    unmet = {"object_id": "cup_1", "relation": "in", "target_id": "bin_1", "reason": "it is on the table"}
    talk.did("finish", {"status": "done"}, code="task_incomplete", message="cup_1 is on the table").refused(unmet=[unmet])
    assert talk.follows() == ("detect_objects", {})
    assert talk.looked(*DESK).follows()[0] == "submit_plan"
    assert talk.carried_out().follows() == ("pick", {"object_id": "cup_1"})


def test_what_the_user_says_later_is_in_the_prompt_and_asks_for_another_plan():
    talk = Talk().looked(*DESK).planned(cup_1=("in", "bin_1")).carried_out()
    talk.messages.append(Message("user", "The user says: no, into the tray"))
    text, tools = talk.prompt()
    assert "no, into the tray" in text and "The hand holds cup_1" in text
    assert "tray_1" in tools["submit_plan"]["red cup (cup_1)"]["enum"]
    assert talk.planned(cup_1=("in", "tray_1")).follows() == ("place_in", {"container_id": "tray_1"})


def test_a_question_can_be_answered_and_a_command_not_be_refused_before_anything_was_tried():
    assert Talk("How many cups are there?").looked(*DESK).prompt()[1]["finish"]["status"] == {"enum": ["answered", "refused"]}
    assert "finish" not in Talk().looked(*DESK).prompt()[1]


def test_the_plan_of_a_structure_is_taken_from_the_words_and_built_step_by_step():
    talk = Talk('Build what this plan says: {"structure": "tower", "count": 2}').looked(seen_object("block_1"), seen_object("block_2"))
    assert talk.follows() == ("plan_structure", {"plan": {"structure": "tower", "count": 2}})
    steps = [{"object_id": "block_1", "x": 0.1, "y": 0.0, "yaw": 0.0, "on": []}, {"object_id": "block_2", "x": 0.1, "y": 0.0, "yaw": 0.5, "on": ["block_1"]}]
    talk.did("plan_structure", {}, {"steps": steps})
    name, arguments = talk.follows()
    assert (name, [goal["position"] for goal in arguments["subgoals"]]) == ("submit_plan", [[0.1, 0.0], [0.1, 0.0]])
    talk.did(name, arguments, {"order": arguments["subgoals"]}).carried_out()
    assert talk.follows() == ("place_at", {"x": 0.1, "y": 0.0, "yaw": 0.0, "on": []})
    talk.carried_out().carried_out()
    assert talk.follows() == ("place_at", {"x": 0.1, "y": 0.0, "yaw": 0.5, "on": ["block_1"]})
    assert talk.carried_out().follows()[0] == "finish"


def test_a_structure_that_was_misread_is_corrected():
    talk = Talk("Please arrange five cubes in a straight line.").looked(*(seen_object(f"block_{number}") for number in range(1, 6)))
    assert talk.prompt()[1]["plan_structure"]["structure_name"]["enum"][0] == "row"
    wanted = {"structure_name": "row", "count": 5, "colors": []}
    steps = [{"object_id": "block_1", "x": 0.1, "y": 0.0, "on": []}]
    talk.did("plan_structure", {"structure_name": "tower", "count": 5, "colors": []}, {"steps": steps, "advice": {"text": "a row", "arguments": wanted}})
    assert talk.follows() == ("plan_structure", wanted)


def test_what_the_words_have_beside_an_accepted_plan_comes_into_the_plan():
    talk = Talk("put the cup and the block in the bin").looked(*DESK)
    cup, block = ({"object_id": name, "relation": "in", "target_id": "bin_1"} for name in ("cup_1", "block_1"))
    talk.did("submit_plan", {"subgoals": [cup]}, {"order": [cup], "already_done": [], "advice": {"text": "also the block", "unmet": [block]}})
    name, arguments = talk.follows()
    assert (name, sorted(goal["object_id"] for goal in arguments["subgoals"])) == ("submit_plan", ["block_1", "cup_1"])
    talk.did(name, arguments, {"order": arguments["subgoals"], "already_done": []})
    assert talk.follows()[0] == "pick"


@pytest.mark.parametrize("context", [2000, 4000])
def test_it_fits_however_much_is_on_the_desk_and_however_long_the_task_is(context):
    talk = Talk("Put the red cup in the bin, and leave everything else alone.")
    for _ in range(15):
        talk.looked(*(seen_object(f"block_{number}", color="green") for number in range(1, 41)), seen_object("cup_7"), seen_object("bin_1"))
        talk.did("pick", {"object_id": "cup_7"}, code="no_grasp", message="x" * 3000)
    talk.looked(*(seen_object(f"block_{number}", color="green") for number in range(1, 41)), seen_object("cup_7"), seen_object("bin_1"))
    profile = ModelProfile("small", context_tokens=context, max_tokens=300, prompt="compact")
    asked = compact(talk.messages, cards(), profile)
    text = "\n".join(message.content for message in asked.messages)
    assert len(text) + sum(len(str(card)) for card in asked.cards) <= (context - 300) * CHARS_PER_TOKEN
    assert "Put the red cup in the bin, and leave everything else alone." in text
    assert "cup_7" in text
    assert "no_grasp" in text


def test_an_instruction_that_does_not_fit_is_told():
    with pytest.raises(ModelFault) as caught:
        Talk("very " * 5000).looked(*DESK).prompt()
    assert caught.value.kind == "too_long"


def test_the_schema_of_a_decision_takes_known_ids_only():
    import jsonschema

    talk = Talk().looked(seen_object("cup_1"), seen_object("bin_1"))
    schema = decision_schema(talk.asked().cards, 0)
    jsonschema.validate({"tool": "submit_plan", "arguments": {"red cup (cup_1)": "bin_1"}}, schema)
    for wrong in ({"red cup (cup_1)": "bin_2"}, {"red cup (cup_2)": "bin_1"}, {}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"tool": "submit_plan", "arguments": wrong}, schema)
