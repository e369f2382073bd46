"""What a model nearly said: put right where only one object can be meant, and said so; else left as it is."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskhand.agent.repair import Repairs
from deskhand.llm.base import Reply, ToolCall

OBJECT = {"type": "object", "additionalProperties": False}
CARDS = {
    "pick": {"name": "pick", "input_schema": {**OBJECT, "properties": {"object_id": {"type": "string"}}, "required": ["object_id"]}},
    "place_in": {"name": "place_in", "input_schema": {**OBJECT, "properties": {"container_id": {"type": "string"}}, "required": ["container_id"]}},
    "place_on": {"name": "place_on", "input_schema": {**OBJECT, "properties": {"target_id": {"type": "string"}}, "required": ["target_id"]}},
    "place_at": {
        "name": "place_at",
        "input_schema": {
            **OBJECT,
            "properties": {
                "x": {"type": "number", "minimum": -0.6, "maximum": 0.6},
                "y": {"type": "number"},
                "yaw": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                "views": {"type": "integer"},
                "exact": {"type": "boolean"},
            },
            "required": ["x", "y"],
        },
    },
    "place_beside": {
        "name": "place_beside",
        "input_schema": {
            **OBJECT,
            "properties": {"target_id": {"type": "string"}, "side": {"type": "string", "enum": ["left_of", "right_of", "near"]}},
            "required": ["target_id"],
        },
    },
}


def repairs(*ids: str) -> Repairs:
    made = Repairs(CARDS)
    made.heard({"objects": [{"id": name, "support": "table"} for name in ids or ("cup_1", "block_1", "block_2", "bin_1")]})
    return made


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (("Pick", {"object_id": "cup_1"}), ("pick", {"object_id": "cup_1"})),
        (("functions.pick", {"object_id": "cup_1"}), ("pick", {"object_id": "cup_1"})),
        (("place in", {"container_id": "bin_1"}), ("place_in", {"container_id": "bin_1"})),
        (("pikc", {"object_id": "cup_1"}), ("pick", {"object_id": "cup_1"})),
        (("pick", {"id": "cup_1"}), ("pick", {"object_id": "cup_1"})),
        (("pick", {"objectId": "cup_1"}), None),
        (("pick", {"Object-ID": "cup_1"}), ("pick", {"object_id": "cup_1"})),
        (("pick", {"object_id": "Cup 1"}), ("pick", {"object_id": "cup_1"})),
        (("pick", {"object_id": "cpu_1"}), ("pick", {"object_id": "cup_1"})),
        (("pick", {"object_id": "cup"}), ("pick", {"object_id": "cup_1"})),
        (("place_at", {"x": "0.1", "y": "-.2"}), None),
        (("place_at", {"x": "0.1", "y": "-0.2"}), ("place_at", {"x": 0.1, "y": -0.2})),
        (("place_at", {"x": 0.1, "y": 0, "views": 2.0, "exact": "True"}), ("place_at", {"x": 0.1, "y": 0, "views": 2, "exact": True})),
        (("place_beside", {"target_id": "cup_1", "side": "Left of"}), ("place_beside", {"target_id": "cup_1", "side": "left_of"})),
        (("place_beside", {"target_id": "cup_1", "side": None}), ("place_beside", {"target_id": "cup_1"})),
    ],
)
def test_what_can_only_mean_one_object_is_put_right_and_recorded(said, meant):
    call = repairs().call(ToolCall(said[0], said[1], "c1"))
    if meant is None:  # at least one part stays wrong
        assert (call.name, call.arguments) != meant
        return
    assert (call.name, call.arguments, call.id) == (*meant, "c1")
    assert call.repairs


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("pick", {"object_id": "block_3"}),  # a number is never a typo
        ("pick", {"object_id": "block"}),  # two of them
        ("pick", {"object_id": "unicorn_1"}),
        ("pick", {"thing": "cup_1"}),
        ("place_n", {"container_id": "bin_1"}),  # in or on
        ("fly", {}),
        ("place_at", {"x": "far", "y": 0.0}),
        ("place_at", {"x": 9.0, "y": 0.0}),  # beyond the limits: numbers are never changed
        ("place_at", {"x": "NaN", "y": 0.0}),
        ("place_beside", {"target_id": "cup_1", "side": "above"}),
    ],
)
def test_what_can_mean_more_or_nothing_stays_as_it_was_said(name, arguments):
    call = repairs().call(ToolCall(name, dict(arguments)))
    assert (call.name, call.arguments, call.repairs) == (name, arguments, ())


def test_good_calls_are_not_touched():
    call = ToolCall("pick", {"object_id": "cup_1"})
    assert repairs().call(call) is call


def test_ids_of_objects_with_one_letter_between_them_are_not_mixed_up():
    assert repairs("cap_1", "cup_1").call(ToolCall("pick", {"object_id": "cop_1"})).arguments == {"object_id": "cop_1"}


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"thought": "t", "tool": "pick", "arguments": {"object_id": "cup_1"}}\n```',
        'I will do this: {"name": "pick", "arguments": {"object_id": "cup_1"}}',
        '<tool_call>{"name": "pick", "parameters": "{\\"object_id\\": \\"cup_1\\"}"}</tool_call>',
    ],
)
def test_a_call_written_into_text_is_found(text):
    (call,) = repairs().reply(Reply(text)).tool_calls
    assert (call.name, call.arguments) == ("pick", {"object_id": "cup_1"})
    assert call.repairs


@pytest.mark.parametrize(
    "text",
    [
        "done",
        '{"tool": "pick", "arguments": {"object_id": "cup_1"}} or {"tool": "pick", "arguments": {"object_id": "block_1"}}',
        '{"tool": "fly", "arguments": {}}',
        '{"tool": "pick", "arguments": {"object_id": "cup_1"',
        '{"pick": "cup_1"}',
    ],
)
def test_text_that_is_not_plainly_one_call_is_none(text):
    assert repairs().reply(Reply(text)).tool_calls == ()


PLAIN = st.none() | st.booleans() | st.floats() | st.text(max_size=8)
JSON = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=6)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JSON)
def test_nothing_that_a_model_says_makes_it_stumble(value):
    arguments = value if isinstance(value, dict) else {"object_id": value, "x": value}
    for name in CARDS:
        call = repairs().call(ToolCall(name, arguments))
        if not call.repairs:
            assert call.arguments == arguments or json.dumps(call.arguments) == json.dumps(arguments)
        repairs().call(ToolCall(name, {}, malformed=str(value)))
