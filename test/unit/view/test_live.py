"""What the nodes say becomes the moment that the page shows."""

import itertools

import numpy as np
import pytest

from deskhand.types import JointState, SafetyStatus, Scene, Table, Trajectory
from deskhand.view import markup
from deskhand.view.live import LiveSource
from deskhand.view.moment import DONE, FAILED, RUNS, WAITS

AGENT = "orchestrator/offline"


def start(call, tool, caller=AGENT, **arguments):
    return {"event": "start", "id": call, "tool": tool, "caller": caller, "time": 100.0, "arguments": arguments}


def end(call, tool, code="", message=""):
    return {"event": "end", "id": call, "tool": tool, "code": code, "message": message, "duration": 1.5}


def asked(request, tool, **arguments):
    return {"event": "approval", "id": request, "tool": tool, "caller": AGENT, "arguments": arguments, "effects": "motion"}


def state(stamp, **positions):
    return JointState(tuple(positions), np.array(list(positions.values())), np.zeros(0), np.zeros(0), stamp)


def test_a_step_has_the_reason_of_the_agent_and_the_outcome_of_the_tool_server_in_whatever_order_they_come():
    said = [("feedback", (1, "pick", "the block is in the way")), ("event", (start("a", "pick", object_id="block_1"),))]
    done = [("event", (end("a", "pick", "grasp_failed", "nothing held"),)), ("feedback", (1, "pick", "grasp_failed: nothing held"))]
    for first, last in itertools.product(itertools.permutations(said), itertools.permutations(done)):
        source = LiveSource()
        for kind, arguments in first:
            getattr(source, f"on_{kind}")(*arguments)
        (row,) = source.moment().rows
        assert (row.tool, row.why, row.state, row.arguments) == ("pick", "the block is in the way", RUNS, {"object_id": "block_1"})
        source.on_feedback(1, "pick", "closing the gripper (50%)")
        assert source.moment().rows[0].progress == "closing the gripper (50%)" and source.moment().rows[0].why == row.why
        for kind, arguments in last:
            getattr(source, f"on_{kind}")(*arguments)
        (row,) = source.moment().rows
        assert (row.state, row.code, row.message, row.seconds, row.progress) == (FAILED, "grasp_failed", "nothing held", 1.5, "")


def test_decisions_that_are_no_tool_calls_end_by_the_agents_own_word():
    source = LiveSource()
    source.on_feedback(1, "submit_plan", "First the blocks.")
    source.on_feedback(1, "submit_plan", "ok")
    source.on_feedback(2, "no_such_tool", "I try this.")
    source.on_feedback(2, "no_such_tool", "unknown_tool: there is no such tool")
    assert [(row.tool, row.state, row.code) for row in source.moment().rows] == [("submit_plan", DONE, ""), ("no_such_tool", FAILED, "unknown_tool")]


def test_the_same_tool_twice_is_two_steps_and_calls_of_others_are_their_own():
    source = LiveSource()
    for step in (1, 2):
        source.on_feedback(step, "detect_objects", f"look {step}")
        source.on_event(start(f"c{step}", "detect_objects"))
        source.on_event(end(f"c{step}", "detect_objects"))
    source.on_event(start("x", "detect_objects", caller="mcp"))
    assert [(row.call, row.why, row.state) for row in source.moment().rows] == [("c1", "look 1", DONE), ("c2", "look 2", DONE), ("x", "", RUNS)]


def test_what_waits_for_leave_is_shown_until_it_ended_whoever_answered():
    source = LiveSource()
    source.on_event(start("a", "pick", object_id="block_1"))
    source.on_event(asked("r1", "pick", object_id="block_1"))
    source.on_event(asked("r2", "place_in", container_id="bin_1"))
    moment = source.moment()
    assert [item.id for item in moment.waiting] == ["r1", "r2"] and moment.rows[0].state == WAITS
    source.on_event({"event": "approval_end", "id": "r1", "tool": "pick", "arguments": {"object_id": "block_1"}, "end": "approved"})
    moment = source.moment()
    assert [item.id for item in moment.waiting] == ["r2"] and moment.rows[0].state == RUNS


def test_a_new_task_clears_the_steps_of_the_last_and_a_question_lasts_until_the_next_word():
    source = LiveSource()
    source.on_task("clean the desk")
    source.on_feedback(1, "ask_user", "two cups", "Which cup?", ("red", "blue"))
    assert source.moment().question.options == ("red", "blue")
    source.on_feedback(1, "ask_user", "ok")
    assert source.moment().question is None
    source.on_plan(Trajectory(("waist",), np.array([0.0]), np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1))))
    source.on_task("")
    assert source.moment().task.instruction == "clean the desk", "the word of the action is about the task that the page began"
    source.on_outcome(False, "no_answer", "I wanted to know: which cup?")
    moment = source.moment()
    assert not moment.task.running and moment.task.code == "no_answer" and moment.plan is None and len(moment.rows) == 1
    source.on_task("")
    assert source.moment().task.running and source.moment().rows == ()


def test_arm_and_gripper_may_come_apart_and_what_did_not_change_stays_the_same_object():
    source = LiveSource()
    source.on_joints(state(1.0, waist=0.2))
    source.on_joints(state(1.1, left_finger=0.03))
    source.on_safety(SafetyStatus(False, stamp=1.0))
    before = source.moment()
    assert before.joints == {"waist": pytest.approx(0.2), "left_finger": pytest.approx(0.03)}
    source.on_safety(SafetyStatus(False, stamp=2.0))
    source.on_scene(Scene((), Table(np.eye(4), (0.8, 0.8)), 2.0))
    after = source.moment()
    assert after.safety is before.safety and after.rows is before.rows and after.scene is not before.scene
    source.on_safety(SafetyStatus(True, "safety_stop", "pressed", 3.0))
    assert source.moment().safety.stopped


def test_while_the_safety_node_is_silent_nobody_says_idle():
    now = [100.0]
    source = LiveSource(lambda: now[0])
    assert "unknown" in markup.status(source.moment()), "nothing was heard yet"
    source.on_safety(SafetyStatus(False, "", ""))
    assert "idle" in markup.status(source.moment())
    now[0] += 2.0
    source.on_safety(SafetyStatus(False, "", ""))
    now[0] += 2.0
    assert "idle" in markup.status(source.moment())
    now[0] += 2.0
    assert "unknown" in markup.status(source.moment())
    source.on_safety(SafetyStatus(True, "safety_stop", "a hand came near"))
    assert "STOPPED" in markup.status(source.moment())
