import pytest
from protocol_objects import PLACE, Bare, Bench, bench_session
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.measurements import Measurements
from deskhand.etp.registry import Registry
from deskhand.etp.session import Session
from deskhand.etp.tool import ToolContext, tool
from deskhand.skills.belief import Belief


class Done(TypedDict):
    done: bool


def doing(name, failing):
    @tool(**PLACE, name=name, timeout=1, examples=[("Polish the lamp", {})])
    def polish(ctx: ToolContext) -> Done:
        """Polish the lamp until it shines."""
        if failing:
            raise DeskhandError("grasp_failed", "the lamp slipped away.")
        return {"done": True}

    return polish


def polishing(measurements):
    registry = Registry()
    registry.add(doing("a_polish", True))
    registry.add(doing("polish_b", False))
    return Session(registry, lambda: ToolContext(Bare(), Belief()), measurements=measurements)


def test_a_tool_that_fails_often_ranks_lower_says_so_and_is_remembered_over_restarts(tmp_path):
    file = tmp_path / "measured.json"
    with polishing(Measurements(file)) as session:
        assert session.search("polish the lamp")[0].name == "a_polish"
        for _ in range(6):
            assert session.invoke("a_polish", {}).code == "grasp_failed"
            assert session.invoke("polish_b", {}).ok
        assert session.search("polish the lamp")[0].name == "polish_b"
    with polishing(Measurements(file)) as session:
        best, worst = session.search("polish the lamp")
        assert (best.name, worst.name) == ("polish_b", "a_polish") and worst.score < best.score
        assert "fails often: 0% of its last 6 calls" in worst.summary and "fails" not in best.summary
        measured = session.describe("a_polish")["measured"]
        assert measured["calls"] == 6 and measured["success_rate"] == 0.0
        assert session.invoke("a_polish", {"colour": "red"}).code == "invalid_arguments"
        assert session.describe("a_polish")["measured"]["calls"] == 6


def test_a_slow_tool_says_so():
    measurements = Measurements()
    for _ in range(5):
        measurements.add("polish_b", True, 0.8)
    factor, note = measurements.judge(doing("polish_b", False).__deskhand_tool__.card)
    assert factor == pytest.approx(0.9) and note == "slow: 0.8 s, of at most 1 s"


def test_measurements_that_cannot_be_read_are_told_and_not_overwritten(tmp_path):
    file = tmp_path / "measured.json"
    file.write_text('{"tools": {"a": []}}')
    with pytest.raises(DeskhandError, match="does not hold measurements"):
        Measurements(file)
    assert file.read_text() == '{"tools": {"a": []}}'


def test_a_search_says_what_is_there_now():
    bench, there = Bench(), {"camera": "nobody publishes pictures"}
    registry_session = bench_session(bench)
    session = Session(registry_session.registry, lambda: ToolContext(Bare(), Belief()), missing=lambda: dict(there))
    try:
        hits = {hit.name: hit for hit in session.search()}
        assert not hits["look"].available and "pictures" in hits["look"].unavailable_reason
        assert hits["hold"].available and hits["ask_model"].available
        there.clear()
        there["model"] = "no key"
        session._asked = float("-inf")  # as after a second
        hits = {hit.name: hit for hit in session.search()}
        assert hits["look"].available and hits["ask_model"].unavailable_reason == "no key"
        assert session.invoke("ask_model", {}).code == "precondition_failed"
    finally:
        registry_session.close()
        session.close()
