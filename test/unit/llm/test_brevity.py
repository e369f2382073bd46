"""What a model is sent of cards and results: enough to call rightly, and no more."""

import json

from deskhand.agent.controls import CONTROL_CARDS
from deskhand.agent.prompt import core_cards, find_cards
from deskhand.agent.shown_tools import ShownTools
from deskhand.etp.session import Session
from deskhand.llm.brevity import brief_card, brief_data, whole_object
from deskhand.planning.goals import Goal, satisfied
from deskhand.planning.planner import plan
from deskhand.tools.base import load_tools


def no_robot():
    raise AssertionError("nothing is called here")


def test_a_strong_model_is_shown_few_cards_and_a_third_of_their_size():
    with Session(load_tools(others=False)[0], no_robot) as session:
        wide = find_cards(session, "put the cup in the bin")
        few = core_cards(session, "put the cup in the bin")
        shown = [brief_card(card) for card in ShownTools(session, few, total=100).cards()]
        names = {card["name"] for card in shown}
        assert len(shown) <= 17 and {"detect_objects", "pick", "place_in", "submit_plan", "finish", "find_tools"} <= names
        assert len(json.dumps(shown)) < len(json.dumps([*wide, *CONTROL_CARDS])) / 3
        assert core_cards(session, "what is it?", blind=True)[0]["name"] == "answer_visual_question" and "answer_visual_question" not in names


def test_required_arguments_choices_and_bounds_are_told():
    schema = {
        "type": "object", "required": ["a"], "additionalProperties": False,
        "properties": {"a": {"type": "number", "maximum": 1}, "b": {"anyOf": [{"enum": ["x", "y"]}, {"type": "null"}], "default": None, "maxLength": 9}},
    }  # fmt: skip
    card = brief_card({"name": "t", "summary": "Does.", "limits": "", "input_schema": schema})
    assert card["input_schema"] == {"type": "object", "required": ["a"], "properties": {"a": {"type": "number", "maximum": 1}, "b": {"enum": ["x", "y"]}}}


def test_what_goes_without_saying_of_an_object_is_left_out_and_can_be_said_again():
    item = {"id": "a", "position": [0.12345, 0.0, 0.0], "is_container": False, "support": "table", "relation": "on", "confidence": 0.9, "yaw": 0.0}
    sent = brief_data({"objects": [item, {**item, "support": "bin_1", "relation": "in", "confidence": 0.4}], "stamp": 3.0, "note": ""})
    assert sent == {
        "objects": [
            {"id": "a", "position": [0.123, 0.0, 0.0]},
            {"id": "a", "position": [0.123, 0.0, 0.0], "support": "bin_1", "relation": "in", "confidence": 0.4},
        ]
    }
    assert whole_object(sent["objects"][0]) | {"position": 0, "confidence": 0} == item | {"position": 0, "confidence": 0}


def seen(name, support="table", yaw=0.0):
    return {"id": name, "label": "block", "size": [0.06, 0.03, 0.03], "position": [0.0, 0.0, 0.015], "yaw": yaw, "support": support, "relation": "on"}


def test_a_heading_is_a_part_of_a_goal():
    assert satisfied(Goal("a", "on", "table", (0.0, 0.0), 3.14), [seen("a")])
    assert not satisfied(Goal("a", "on", "table", None, 1.57), [seen("a")])


def test_two_that_wait_for_each_other_are_no_circle_where_one_can_be_put_aside():
    objects = [seen("a1"), seen("a2", "a1"), seen("b1"), seen("b2", "b1")]
    order = plan([Goal("a2", "on", "b1"), Goal("b2", "on", "a1")], objects)
    assert [goal.target_id for goal in order] in (["table", "a1", "b1"], ["table", "b1", "a1"]) and order[0].object_id == order[-1].object_id
