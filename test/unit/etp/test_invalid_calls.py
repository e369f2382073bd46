import random

import pytest
from protocol_objects import Bench, bench_session, everything
from spoiling import spoiled

from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.etp.session import Session
from deskhand.etp.tool import ToolContext, tool_of
from deskhand.etp.validation import Schema, parse_arguments, shown, unreadable
from deskhand.etp.wire import result_from_text, result_to_text
from deskhand.tools.base import load_tools

RIGHT = {"number": 0.5, "count": 3, "point": {"x": 0.1, "y": -0.2}, "words": ["a", "b"], "choice": "green", "maybe": 0.5, "flag": True}


class Untouched:
    """A robot, or a belief, that nobody may look at."""

    def __getattr__(self, name):
        raise AssertionError(f"an invalid call reached {name}")


def test_five_thousand_invalid_calls_are_refused_the_field_is_named_and_nothing_is_touched():
    random_ = random.Random(0)
    registry = load_tools(others=False)[0]
    registry.add(everything)
    cases = [(card, dict(example.arguments)) for card in registry.cards() if not card.lenient for example in card.examples]
    cases.append((registry.get("everything").card, RIGHT))
    with Session(registry, lambda: ToolContext(Untouched(), Untouched())) as session:
        for number in range(5000):
            card, arguments = cases[number % len(cases)]
            wrong, field = spoiled(card.input_schema, arguments, random_)
            result = session.invoke(card.name, wrong)
            assert result.code == "invalid_arguments", (card.name, field, result)
            problems = result.details.get("problems")
            assert problems is None or any(problem["field"].startswith(field) for problem in problems), (card.name, field, problems)
            assert problems or "nested too deeply" in result.message
            assert len(result.message) < 3000
        assert not any(session.describe(card.name)["measured"]["calls"] for card in registry.cards())


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


def test_halves_of_characters_are_refused_in_words_that_can_be_sent() -> None:
    for arguments in ({"text": "a \ud800"}, {"\udfff": 1}, {"deep": [{"x": ["\ud800"]}]}):
        problem = unreadable(arguments)
        assert problem is not None and "lone surrogate" in problem.problem
    text = result_to_text(ToolResult("tool_failed", "said \ud800"))
    assert result_from_text(text.encode().decode()).message == "said \ud800"
    assert shown({"a": "\ud800"}).encode() == b'{"a": "\\ud800"}'
