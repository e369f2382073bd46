import json
import random
import string

import pytest
from protocol_things import Bench, bench_session, everything

from deskhand.errors import DeskhandError
from deskhand.etp.tool import tool_of
from deskhand.etp.validation import Schema, parse_arguments
from deskhand.tools.base import load_tools

RIGHT = {"number": 0.5, "count": 3, "point": {"x": 0.1, "y": -0.2}, "words": ["a", "b"], "choice": "green", "maybe": 0.5, "flag": True}


def spoiled(schema, arguments, random_):
    """Arguments with one thing wrong, and the field that an error must name."""
    properties = schema["properties"]
    name = random_.choice(sorted(properties))
    options = properties[name].get("anyOf", [properties[name]])
    kinds = {option.get("type", "object") for option in options}
    wrong = [
        value
        for kind, value in (
            ("string", "12"), ("number", 1.5), ("boolean", True), ("array", [1, 2]), ("object", {"odd": 1}), ("null", None), ("number", float("nan")),
            ("number", float("inf")), ("bytes", b"x"), ("integer", 10**40), ("set", {1}),
        )
        if kind not in kinds and not (kind == "number" and isinstance(value, float) and value != value and "number" in kinds)
    ]  # fmt: skip
    wrong += [float("nan"), float("-inf"), -(10**300), b"bytes", object()]
    for option in options:
        wrong += [option["minimum"] - 1] if "minimum" in option else []
        wrong += [option["maximum"] + 1e-3] if "maximum" in option else []
        wrong += ["x" * (option["maxLength"] + 1)] if "maxLength" in option else []
        wrong += [random_.choice(option["enum"]) + "!"] if "enum" in option else []
    choice = random_.random()
    result = json.loads(json.dumps(arguments))
    if choice < 0.15 and schema.get("required"):
        name = random_.choice(schema["required"])
        del result[name]
    elif choice < 0.3:
        name = "".join(random_.choices(string.ascii_lowercase, k=8))
        result[name] = 1
    elif choice < 0.35:
        deep = []
        for _ in range(5000):
            deep = [deep]
        result[name] = deep
    elif choice < 0.4:
        result[name] = ["long"] * 30_000
    else:
        result[name] = random_.choice(wrong)
    return result, name


def tools_with_arguments():
    registry, _ = load_tools(others=False)
    return [(card, example.arguments) for card in registry.cards() for example in card.examples if card.input_schema["properties"]]


def test_a_thousand_invalid_calls_are_refused_and_the_field_is_named():
    random_ = random.Random(0)
    cases = [(tool_of(everything).card, RIGHT), *tools_with_arguments()]
    schemas = {card.name: Schema(card.input_schema) for card, _ in cases}
    for number in range(1000):
        card, arguments = cases[number % len(cases)]
        wrong, field = spoiled(card.input_schema, arguments, random_)
        problems = schemas[card.name].problems(wrong)
        assert problems, f"{card.name} accepts {field}"
        assert any(problem.field.startswith(field) for problem in problems), (card.name, field, problems)
        assert all(len(str(problem)) < 1000 for problem in problems)


def test_invalid_calls_never_run():
    bench = Bench()
    random_ = random.Random(1)
    with bench_session(bench) as session:
        for _ in range(200):
            wrong, field = spoiled(tool_of(everything).card.input_schema, RIGHT, random_)
            result = session.invoke("everything", wrong)
            assert result.code == "invalid_arguments", (field, result)
            assert result.retry
        assert session.describe("everything")["measured"]["calls"] == 0
        assert session.invoke("everything", RIGHT).data == {"total": pytest.approx(3.4)}


@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        ({"numbr": 1}, "numbr", "did you mean 'number'?"),
        ({"number": "0.5"}, "number", "a number from -2 to 2"),
        ({"number": 50}, "number", "[m] along x in world"),
        ({"count": 2.5}, "count", "an integer from 1 to 9"),
        ({"count": True}, "count", "an integer"),
        ({"choice": "blue"}, "choice", 'one of "red", "green"'),
        ({"point": {"x": 5}}, "point.x", "a number from -1 to 1"),
        ({"point": {"x": 0, "z": 1}}, "point.z", "the fields are x, y"),
        ({"point": {}}, "point.x", "is missing"),
        ({"words": ["fine", ""]}, "words[1]", "text of 1 to 8 characters"),
        ({"words": ["a"] * 5}, "words", "a list of 0 to 4 items"),
        ({"maybe": 2}, "maybe", "a number from 0 to 1"),
        ({"maybe": "2"}, "maybe", "null"),
        ({"flag": "yes"}, "flag", "true or false"),
        ({"flag": 1}, "flag", "true or false"),
        ({"words": {"a": 1}}, "words", "a list"),
    ],
)
def test_the_error_says_what_is_valid(change, field, says):
    with bench_session(Bench()) as session:
        result = session.invoke("everything", {**RIGHT, **change})
    assert result.code == "invalid_arguments"
    assert [problem["field"] for problem in result.details["problems"]] == [field]
    assert says in result.message and field in result.message


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "nonsense",
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": 1, "a": 2}',
        '{"a": ',
        "[" * 100_000,
        '{"a": "' + "x" * 300_000 + '"}',
        "null",
        '"text"',
        "1e999",
    ],
)
def test_arguments_that_are_not_one_sound_json_object_are_refused(text):
    with pytest.raises(DeskhandError) as caught:
        parse_arguments(text, "everything")
    assert caught.value.code == "invalid_arguments"
    assert len(str(caught.value)) < 500


def test_a_number_too_large_for_a_float_does_not_pass_as_infinity():
    assert Schema(tool_of(everything).card.input_schema).problems({**RIGHT, "number": parse_arguments('{"number": 1e999}')["number"]})[0].field == "number"


@pytest.mark.parametrize("arguments", [None, 5, "text", [1], [("number", 1)]])
def test_arguments_that_are_no_object_are_refused(arguments):
    with bench_session(Bench()) as session:
        assert session.invoke("everything", arguments).code == "invalid_arguments"


def test_an_argument_that_holds_itself_is_refused():
    wrong = dict(RIGHT)
    wrong["words"] = [wrong]
    with bench_session(Bench()) as session:
        assert session.invoke("everything", wrong).code == "invalid_arguments"
