"""Prompts for small models: what matters now, only what can be done now, and it fits."""

import json

import pytest
from symbolic_desk import SymbolicDesk, thing

from deskhand.agent.base import Message, ToolCall
from deskhand.agent.models.compact import CHARS_PER_TOKEN, compact
from deskhand.agent.models.config import ModelProfile
from deskhand.agent.models.decision import decision_schema
from deskhand.agent.models.faults import ModelFault
from deskhand.agent.prompt import SYSTEM, find_cards

PROFILE = ModelProfile("small", context_tokens=4000, max_tokens=400, prompt="compact")
PUTTING = ("place_in", "place_on", "place_at", "place_beside", "put_aside")
NEEDS = {"pick": ["scene_known", "not_holding"], **{name: ["holding"] for name in PUTTING}}


def cards():
    return [{**card, "preconditions": NEEDS.get(card["name"], [])} for card in find_cards(SymbolicDesk(), "")]


class Talk:
    """A conversation as the loop keeps it."""

    def __init__(self, instruction="Put the cup in the bin."):
        self.messages = [Message("system", SYSTEM), Message("user", instruction)]

    def did(self, name, arguments=None, data=None, code="", message=""):
        call = ToolCall(name, arguments or {}, f"c{len(self.messages)}")
        body = {"ok": not code, "data": data} if not code else {"ok": False, "code": code, "message": message}
        self.messages += [Message("assistant", "", (call,)), Message("tool", json.dumps(body), tool_call_id=call.id, name=name)]
        return self

    def looked(self, *things):
        return self.did("detect_objects", data={"objects": list(things)})

    def prompt(self, profile=PROFILE):
        messages, tools = compact(self.messages, cards(), profile)
        return "\n".join(message.content for message in messages), {card["name"]: card["input_schema"]["properties"] for card in tools}


def test_before_any_look_there_is_only_a_look():
    _, tools = Talk().prompt()
    assert "detect_objects" in tools
    assert not {"pick", "place_in", "finish", "submit_plan"} & set(tools)


def test_ids_are_choices_and_only_what_the_hand_can_do_is_offered():
    talk = Talk().looked(thing("cup_1"), thing("block_1", color="blue"), thing("bin_1"))
    text, tools = talk.prompt()
    assert tools["pick"]["object_id"] == {"enum": ["cup_1", "block_1"]}
    assert "place_in" not in tools
    assert "block_1 (blue block)" in text
    text, tools = talk.did("pick", {"object_id": "cup_1"}, {}).prompt()
    assert tools["place_in"]["container_id"] == {"enum": ["bin_1"]}
    assert "pick" not in tools
    assert "The hand holds cup_1" in text
    text, tools = talk.did("place_in", {"container_id": "bin_1"}, {}).prompt()
    assert tools["pick"]["object_id"] == {"enum": ["block_1"]}
    assert "holds cup_1" in text  # the bin does
    assert "The hand is empty" in text


def test_what_failed_too_often_is_not_offered_again_and_failures_are_told():
    talk = Talk().looked(thing("cup_1"), thing("block_1"), thing("bin_1"))
    for _ in range(3):
        talk.did("pick", {"object_id": "cup_1"}, code="no_grasp", message="too wide")
    text, tools = talk.prompt()
    assert tools["pick"]["object_id"] == {"enum": ["block_1"]}
    assert "pick(cup_1): failed, no_grasp: too wide" in text


def test_a_refused_end_is_told_and_brings_things_back():
    talk = Talk().looked(thing("cup_1"), thing("bin_1")).did("pick", {"object_id": "cup_1"}, {}).did("place_in", {"container_id": "bin_1"}, {})
    assert "pick" not in talk.prompt()[1]
    talk.did("finish", {"status": "done"}, code="task_incomplete", message="cup_1 is on the table")
    text, tools = talk.prompt()
    assert "The check says: cup_1 is on the table" in text
    assert tools["pick"]["object_id"] == {"enum": ["cup_1"]}


def test_what_the_user_says_later_is_in_the_prompt():
    talk = Talk().looked(thing("cup_1"), thing("bin_1"))
    talk.messages.append(Message("user", "The user says: no, into the tray"))
    assert "no, into the tray" in talk.prompt()[0]


def test_what_the_loop_says_is_a_hint_and_no_wish_of_the_user():
    talk = Talk().looked(thing("cup_1"), thing("bin_1")).did("pick", {"object_id": "cup_1"}, {}).did("place_in", {"container_id": "bin_1"}, {})
    talk.messages.append(Message("user", "You called pick 3 times with the same arguments."))
    text, tools = talk.prompt()
    assert "You called pick 3 times" in text
    assert "pick" not in tools  # what is done is not taken up again
    talk.looked(thing("cup_1", on="bin_1"), thing("bin_1"))
    assert "You called pick 3 times" not in talk.prompt()[0]


def test_things_are_put_into_containers_and_on_other_things():
    talk = Talk().looked(thing("cup_1"), thing("block_1"), thing("bin_1")).did("pick", {"object_id": "cup_1"}, {})
    _, tools = talk.prompt()
    assert tools["place_on"]["target_id"] == {"enum": ["block_1"]}
    assert tools["place_in"]["container_id"] == {"enum": ["bin_1"]}


def test_what_was_refused_is_not_offered_again():
    talk = Talk().looked(thing("cup_1"), thing("block_1"), thing("bin_1")).did("pick", {"object_id": "block_1"}, code="permission_denied", message="no")
    assert talk.prompt()[1]["pick"]["object_id"] == {"enum": ["cup_1"]}


@pytest.mark.parametrize("context", [2000, 4000])
def test_it_fits_however_much_is_on_the_desk_and_however_long_the_task_is(context):
    talk = Talk("Put the red cup in the bin, and leave everything else alone.")
    for _ in range(15):
        talk.looked(*(thing(f"block_{number}", color="green") for number in range(1, 41)), thing("cup_7"), thing("bin_1"))
        talk.did("pick", {"object_id": "cup_7"}, code="no_grasp", message="x" * 3000)
    profile = ModelProfile("small", context_tokens=context, max_tokens=300, prompt="compact")
    messages, tools = compact(talk.messages, cards(), profile)
    text = "\n".join(message.content for message in messages)
    assert len(text) + sum(len(str(card)) for card in tools) <= (context - 300) * CHARS_PER_TOKEN
    assert "Put the red cup in the bin, and leave everything else alone." in text
    assert "cup_7" in text
    assert "no_grasp" in text


def test_an_instruction_that_does_not_fit_is_told():
    with pytest.raises(ModelFault) as caught:
        Talk("very " * 5000).prompt()
    assert caught.value.kind == "too_long"


def test_the_plan_is_always_there():
    talk = Talk().looked(*(thing(f"block_{number}") for number in range(1, 30)), thing("cup_1"), thing("bin_1"))
    talk.did("submit_plan", {"subgoals": [{"object_id": "cup_1", "relation": "in", "target_id": "bin_1"}]}, {"order": []})
    text, tools = talk.prompt(ModelProfile("small", context_tokens=1400, max_tokens=300, prompt="compact"))
    assert "Plan: cup_1 in bin_1" in text
    assert "submit_plan" not in tools


def test_the_schema_of_a_decision_takes_known_ids_only():
    import jsonschema

    talk = Talk().looked(thing("cup_1"), thing("bin_1"))
    _, tools = compact(talk.messages, cards(), PROFILE)
    schema = decision_schema(tools)
    jsonschema.validate({"thought": "", "tool": "pick", "arguments": {"object_id": "cup_1"}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"thought": "", "tool": "pick", "arguments": {"object_id": "cup_2"}}, schema)
