"""How tasks of the offline brain end when they cannot go on, and that the brain keeps nothing."""

from random import Random
from typing import Any

import pytest
from test_recovery import RULES, desk, fail, run

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import Budgets
from deskhand.errors import DeskhandError
from deskhand.offline.model import OfflineModel
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object


@pytest.mark.parametrize("code", ["safety_stop", "watchdog", "node_unavailable", "permission_denied"])
def test_a_stop_or_a_dead_node_ends_the_task_at_once_with_its_code(code: str) -> None:
    robot = desk(faults={"pick:block_2": fail(code, 99)})
    outcome = run(robot)
    assert (outcome.success, outcome.code) == (False, code)
    assert robot.calls[-1] == ("pick", {"object_id": "block_2", "next_container_id": "tray_1", "next_object_id": "cup_1"})
    assert f"Made to fail with {code}" in outcome.summary
    assert "Done (as each was put down, not checked again since): the red block (block_1) in the red tray (tray_1)" in outcome.summary
    assert "Not done" in outcome.summary


def test_a_tool_server_that_dies_ends_the_task_with_node_unavailable() -> None:
    def die(robot: SymbolicDesk, name: str) -> None:
        if name == "place_in":
            raise DeskhandError("node_unavailable", "the tool server vanished during place_in.")

    outcome = run(desk(before=die))
    assert (outcome.success, outcome.code) == (False, "node_unavailable")
    assert "The tool server vanished" in outcome.summary


def test_a_blind_camera_is_not_asked_for_ever() -> None:
    robot = desk(faults={"detect_objects": fail("no_frame", 99)})
    outcome = run(robot)
    assert (outcome.success, outcome.code) == (False, "no_frame")
    assert len(robot.calls) <= 3


def test_one_stale_frame_is_survived() -> None:
    assert run(desk(faults={"detect_objects": fail("stale_data")})).success


def test_a_check_that_cannot_be_made_is_no_success() -> None:
    outcome = run(desk(faults={"check_goal": fail("tool_failed", 99)}))
    assert not outcome.success
    assert outcome.code in {"tool_failed", "task_incomplete"}


def test_tools_that_lie_do_not_make_a_false_success() -> None:
    robot = desk()
    robot.lies = {"pick", "place_in"}
    outcome = run(robot)
    assert (outcome.success, outcome.code) == (False, "task_incomplete")
    assert robot.where() == {"block_1": "table", "block_2": "table", "cup_1": "table"}


def test_a_cancel_tells_what_was_done_and_the_next_task_can_begin() -> None:
    robot = desk()

    def cancelled() -> bool:
        return sum(name == "place_in" for name, _ in robot.calls) >= 1

    outcome = run(robot, cancelled=cancelled)
    assert (outcome.success, outcome.code) == (False, "cancelled")
    assert not robot.stopped
    assert "Done (as each was put down" in outcome.summary
    assert run(robot).success


def test_a_cancel_in_the_middle_of_a_pick_tells_what_the_hand_holds() -> None:
    robot = desk()
    outcome = run(robot, cancelled=lambda: any(name == "pick" for name, _ in robot.calls))
    assert (outcome.success, outcome.code) == (False, "cancelled")
    assert robot.holding and f"({robot.holding})" in outcome.summary.split("The gripper holds")[1]


def test_budgets_end_a_task_with_a_code() -> None:
    outcome = run(desk(), budgets=Budgets(tool_calls=4))
    assert (outcome.success, outcome.code, outcome.tool_calls) == (False, "budget_exceeded", 4)
    ticks = iter(range(10_000))
    outcome = run(desk(), budgets=Budgets(seconds=30), now=lambda: float(next(ticks)))
    assert (outcome.success, outcome.code) == (False, "budget_exceeded")


def test_the_brain_needs_the_tools_it_is_offered() -> None:
    class Handless(SymbolicDesk):
        def search(self, *args: Any, **kwargs: Any) -> Any:
            return [hit for hit in super().search() if hit.name != "pick"]

    robot = Handless(seen_object("cup_1"), seen_object("bin_1"))
    outcome = run(robot, "put the cup in the bin")
    assert not outcome.success
    assert "pick" in outcome.summary


def test_the_same_conversation_gives_the_same_steps() -> None:
    first, second = run(desk(faults={"pick:block_1": fail("no_grasp")})), run(desk(faults={"pick:block_1": fail("no_grasp")}))
    assert [(step.tool, step.arguments, step.code) for step in first.steps] == [(step.tool, step.arguments, step.code) for step in second.steps]


def test_the_brain_keeps_nothing_that_the_conversation_does_not_hold() -> None:
    class Forgetful(OfflineModel):
        def reply(self, *args: Any, **kwargs: Any) -> Any:
            return OfflineModel().reply(*args, **kwargs)

    remembering, forgetting = (
        run(desk(faults={"pick:block_1": fail("no_grasp")})),
        AgentLoop(Forgetful(), desk(faults={"pick:block_1": fail("no_grasp")})).run(RULES),
    )
    assert [(step.tool, step.arguments) for step in remembering.steps] == [(step.tool, step.arguments) for step in forgetting.steps]


WORDS = (
    "put stack clean the a all every red blue block blocks cup ball bin tray box desk in on into to of and then ; : , . not except everything else rest it one "
    "left right biggest two is are what where how many goes belongs from out with for stop home gripper open pick up down away fly -> block_1 leave but which"
)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_said_the_task_ends_with_an_answer_a_code_or_a_proof(seed: int) -> None:
    random = Random(seed)
    for _ in range(40):
        text = " ".join(random.choices(WORDS.split(), k=random.randint(1, 14)))
        robot = desk()
        outcome = run(robot, text)
        assert outcome.success or outcome.code, text
        assert outcome.code not in {"internal_error", "model_failed"}, (text, outcome.summary)
        assert outcome.summary or not outcome.success, text


def test_steps_are_told_while_they_happen_and_kept() -> None:
    told = []
    outcome = run(desk(), on_step=lambda step: told.append((step.index, step.tool, step.finished)))
    assert told[0] == (1, "detect_objects", False)
    assert [step.tool for step in outcome.steps][:3] == ["detect_objects", "submit_plan", "pick"]
    assert outcome.steps[0].used is True
    assert outcome.to_json()["steps"][2]["arguments"] == {"object_id": "block_1", "next_container_id": "tray_1", "next_object_id": "block_2"}
    assert all(step.finished for step in outcome.steps)
