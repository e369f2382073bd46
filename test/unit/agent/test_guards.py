"""Guards as toolsets round one another: each sees a decision before the next, and is told of results in order."""

import time

import pytest

from deskhand.agent.ends import End, Fatal
from deskhand.agent.guards.budget import BudgetGuard
from deskhand.agent.limits import Limits
from deskhand.agent.meter import Meter
from deskhand.agent.records import Budgets, Step
from deskhand.agent.shown_tools import ShownTools
from deskhand.agent.toolset import Guard, Refusal, RobotToolset
from deskhand.etp.base import ToolResult
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object


class NoBin(Guard):
    """A guard of one's own: nothing goes into the bin."""

    def __init__(self, inner, notes):
        super().__init__(inner)
        self.notes = notes

    def call(self, step):
        if step.arguments.get("container_id") == "bin_1":
            return Refusal("permission_denied", "not into the bin.")
        return self.inner.call(step)

    def heard(self, name, arguments, result):
        self.notes.append(name)


class Notes(Guard):
    def __init__(self, inner, notes):
        super().__init__(inner)
        self.notes = notes

    def heard(self, name, arguments, result):
        self.notes.append(f"{name} again")


@pytest.fixture
def desk():
    return SymbolicDesk(seen_object("cup_1"), seen_object("bin_1"), seen_object("tray_1"))


def guarded(desk, budgets=None):
    meter, notes = Meter(time.monotonic), []
    limits = Limits(budgets or Budgets(), meter, lambda: False)
    robot = RobotToolset(desk, meter, limits.over, "test", lambda name: lambda fraction, text: None)
    robot.shown = ShownTools(desk, [desk.describe(hit.name) for hit in desk.search()])
    return BudgetGuard(Notes(NoBin(robot, notes), notes), limits), meter, notes


def test_a_refused_decision_never_reaches_the_robot_and_others_do(desk):
    toolset, meter, notes = guarded(desk)
    assert toolset.call(Step(1, "pick", {"object_id": "cup_1"})).ok
    assert toolset.call(Step(2, "place_in", {"container_id": "bin_1"})).code == "permission_denied"
    assert toolset.call(Step(3, "place_in", {"container_id": "tray_1"})).ok
    assert [name for name, _ in desk.calls] == ["pick", "place_in"] and desk.where() == {"cup_1": "tray_1"}
    assert meter.calls == 2
    assert notes == ["pick", "pick again", "place_in", "place_in again"], "the inner guard is told first"


def test_refusals_count_and_one_too_many_ends_the_run(desk):
    toolset, _, _ = guarded(desk, Budgets(refusals=3))
    for _ in range(2):
        toolset.call(Step(1, "place_in", {"container_id": "bin_1"}))
    with pytest.raises(End, match="3 calls were refused") as end:
        toolset.call(Step(1, "place_in", {"container_id": "bin_1"}))
    assert end.value.code == "permission_denied"


def test_a_result_that_nobody_may_carry_on_after_ends_the_run_when_all_were_told(desk):
    desk.faults["pick"] = [ToolResult("safety_stop", "stopped.")]
    toolset, meter, notes = guarded(desk)
    with pytest.raises(Fatal) as end:
        toolset.call(Step(1, "pick", {"object_id": "cup_1"}))
    assert end.value.result.code == "safety_stop"
    assert notes == ["pick", "pick again"] and meter.errors == ["safety_stop"]


def test_a_tool_of_the_loop_is_guarded_and_calls_no_robot(desk):
    toolset, meter, _ = guarded(desk)
    assert toolset.call(Step(1, "finish", {"status": "done", "summary": "x"})).ok
    assert not desk.calls and meter.calls == 0
