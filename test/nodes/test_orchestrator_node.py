"""The orchestrator over ROS: symbolic tools behind the real interfaces of a tool server."""

import contextlib
import json
import os
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
import rclpy
from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String
from std_srvs.srv import Trigger

from deskhand.agent.records import TaskOutcome
from deskhand.commands.terminal import Dialogue
from deskhand.errors import ERROR_NUMBERS, DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.etp.wire import result_to_text
from deskhand.llm.base import Reply, ToolCall
from deskhand.llm.scripted import ScriptedModel
from deskhand.nodes.node import EVENTS, HEARTBEATS, DeskhandNode, call_service, wait_future
from deskhand.nodes.orchestrator_node import OrchestratorNode
from deskhand.nodes.task_record import TaskRecords
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object
from deskhand_interfaces.action import InvokeTool, RunTask
from deskhand_interfaces.msg import ToolSummary
from deskhand_interfaces.srv import DescribeTool, ListTools, TellTask

DOMAIN = 81
RULES = "put the block in the tray and the cup in the bin"


class SymbolicServer(DeskhandNode):
    """tools/list, tools/describe, tools/invoke on a symbolic desk; a pick can be made to wait until it is cancelled or let go."""

    def __init__(self):
        super().__init__("tool_server")
        self.desk = SymbolicDesk()
        self.picking, self.go = threading.Event(), threading.Event()
        self.stops, self.deaf = 0, False
        group = {"callback_group": self.reentrant}
        self.create_service(ListTools, "tools/list", self._list, **group)
        self.create_service(DescribeTool, "tools/describe", self._describe, **group)
        self.create_service(Trigger, "safety/stop", self._stop, **group)
        self._server = ActionServer(self, InvokeTool, "tools/invoke", self._invoke, cancel_callback=lambda _: CancelResponse.ACCEPT, **group)
        self.renew()

    def renew(self):
        objects = [seen_object("block_1", "red", position=(-0.1, 0.0)), seen_object("cup_1", "green", position=(0.1, 0.0))]
        self.desk = SymbolicDesk(*objects, seen_object("bin_1", position=(0.0, 0.28)), seen_object("tray_1", position=(0.0, -0.28)))
        self.picking.clear()
        self.go.set()
        self.stops = 0

    def close(self):
        self.go.set()
        self._server.destroy()

    def _list(self, request, response):
        response.tools = [
            ToolSummary(name=hit.name, group=hit.group, unit=hit.unit, effects=hit.effects, available=True) for hit in self.desk.search(request.text)
        ]
        return response

    def _describe(self, request, response):
        try:
            response.card_json = json.dumps(self.desk.describe(request.name))
        except DeskhandError as error:
            response.error_code, response.error_message = error.number, str(error)
        return response

    def _stop(self, request, response):
        self.stops += 1
        response.success = True
        return response

    def _invoke(self, handle):
        goal = handle.request
        cancelled = False
        if goal.tool == "pick":
            self.picking.set()
            while not self.go.wait(0.01) and not cancelled:
                cancelled = handle.is_cancel_requested and not self.deaf
        result = ToolResult("cancelled", "pick was cancelled.") if cancelled else self.desk.invoke(goal.tool, json.loads(goal.arguments_json))
        if cancelled:
            handle.canceled()
        elif result.ok:
            handle.succeed()
        else:
            handle.abort()
        return InvokeTool.Result(result_json=result_to_text(result))


class Graph:
    def __init__(self, folder):
        self.folder = folder
        self.answered = False
        self.tools = SymbolicServer()
        self.orchestrator = OrchestratorNode(parameter_overrides=[Parameter("episode", value=str(folder))])
        self.client = DeskhandNode("test_client")
        self.action = ActionClient(self.client, RunTask, "run_task", callback_group=self.client.reentrant)
        self.words = self.client.create_client(TellTask, "tell", callback_group=self.client.reentrant)
        self.executors, self.threads = [], []
        for node in (self.tools, self.orchestrator, self.client):
            executor = MultiThreadedExecutor(num_threads=6)
            executor.add_node(node)
            self.executors.append(executor)
            self.threads.append(threading.Thread(target=self._spin, args=(executor,), daemon=True))
            self.threads[-1].start()
        assert self.action.wait_for_server(timeout_sec=15)

    def _spin(self, executor):
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    def tell(self, text):
        return call_service(self.words, TellTask.Request(text=text), timeout=15)

    def send(self, instruction, mode="", feedback=None, answer_timeout=0.0):
        goal = RunTask.Goal(instruction=instruction, mode=mode, answer_timeout=answer_timeout)
        return wait_future(self.action.send_goal_async(goal, feedback_callback=feedback), 15, "run_task")

    def result(self, handle):
        return wait_future(handle.get_result_async(), 30, "run_task").result

    def run(self, instruction, mode="", feedback=None):
        return self.result(self.send(instruction, mode, feedback))

    def close(self):
        self.tools.go.set()
        self.orchestrator.close()
        self.tools.close()
        self.action.destroy()
        for executor in self.executors:
            executor.shutdown(timeout_sec=2)
        for thread in self.threads:
            thread.join(5)
        for node in (self.tools, self.orchestrator, self.client):
            node.destroy_node()


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    before = os.environ.get("ROS_DOMAIN_ID")
    os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO, domain_id=DOMAIN)
    running = Graph(tmp_path_factory.mktemp("episode"))
    yield running
    running.close()
    rclpy.try_shutdown()
    if before is None:
        del os.environ["ROS_DOMAIN_ID"]
    else:
        os.environ["ROS_DOMAIN_ID"] = before


@pytest.fixture(autouse=True)
def fresh_desk(graph):
    graph.tools.renew()


def test_a_task_is_done_told_and_recorded(graph):
    told = []
    result = graph.run(RULES, feedback=lambda message: told.append((message.feedback.step, message.feedback.tool)))
    assert (result.success, result.error_code, result.error_message) == (True, 0, "")
    assert graph.tools.desk.where() == {"block_1": "tray_1", "cup_1": "bin_1"}
    assert result.summary.startswith("Done (checked by a look)")
    assert (result.tool_calls, list(result.errors), result.episode) == (9, [], str(graph.folder))
    assert (1, "detect_objects") in told and any(tool == "place_in" for _, tool in told)
    steps = json.loads((graph.folder / "agent.json").read_text())["steps"]
    acts = ["pick", "place_in", "find_objects", "pick", "place_in"]
    assert [step["tool"] for step in steps] == ["detect_objects", "submit_plan", *acts, "detect_objects", "finish"]


def test_failed_calls_are_in_the_result(graph):
    graph.tools.desk.faults = {"pick:cup_1": [ToolResult("grasp_failed", "slipped", retry=True)]}
    result = graph.run(RULES)
    assert result.success
    assert list(result.errors) == ["grasp_failed"]


@pytest.mark.parametrize(
    ("instruction", "mode", "code"),
    [
        ("", "", "empty_instruction"),
        ("   ", "tools", "empty_instruction"),
        ("fly to the moon", "", "impossible"),
        ("asdf", "", "not_understood"),
        ("put the banana in the bin", "", "unknown_object"),
        ("clean the desk", "direct", "invalid_input"),
        ("clean the desk " * 1000, "", "invalid_input"),
    ],
)
def test_bad_instructions_get_a_code_and_move_nothing(graph, instruction, mode, code):
    result = graph.run(instruction, mode)
    assert (result.success, result.error_code) == (False, ERROR_NUMBERS[code]), result.error_message
    assert result.error_message == result.summary != ""
    assert {name for name, _ in graph.tools.desk.calls} <= {"detect_objects"}


def test_where_nothing_can_be_recorded_tasks_are_done_and_say_so_or_are_refused_by_policy(graph):
    recorder = graph.client.create_publisher(String, "recorder/status", EVENTS)
    orchestrator = graph.orchestrator
    required = orchestrator.parameters.require_recording
    try:
        recorder.publish(String(data="No space left on device"))
        wait_until(lambda: orchestrator._unrecorded)
        result = graph.run(RULES)
        assert result.success and "not recorded: No space left on device" in result.summary
        orchestrator.parameters.require_recording = True
        refused = graph.run(RULES)
        assert refused.error_code == ERROR_NUMBERS["recording_failed"] and "No space left on device" in refused.error_message
        recorder.publish(String(data=""))
        wait_until(lambda: not orchestrator._unrecorded)
        graph.tools.renew()
        assert graph.run(RULES).success
    finally:
        orchestrator.parameters.require_recording = required
        graph.client.destroy_publisher(recorder)


def wait_until(condition):
    end = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def test_a_second_task_is_refused_with_the_reason_and_the_first_goes_on(graph):
    graph.tools.go.clear()
    first = graph.send(RULES)
    assert graph.tools.picking.wait(15)
    second = graph.run("clean the desk")
    assert (second.success, second.error_code) == (False, ERROR_NUMBERS["busy"])
    assert RULES in second.error_message
    graph.tools.go.set()
    assert graph.result(first).success


def test_a_cancel_ends_the_call_tells_the_truth_and_leaves_the_robot_to_the_next_task(graph):
    graph.tools.go.clear()
    handle = graph.send(RULES)
    assert graph.tools.picking.wait(15)
    wait_future(handle.cancel_goal_async(), 15, "cancel")
    result = graph.result(handle)
    assert (result.success, result.error_code) == (False, ERROR_NUMBERS["cancelled"])
    assert "Not done" in result.summary
    assert graph.tools.desk.where() == {"block_1": "table", "cup_1": "table"}
    assert not graph.tools.desk.stopped and not graph.tools.stops
    graph.tools.go.set()
    assert graph.run(RULES).success


def test_stop_at_any_time_ends_the_running_task(graph):
    graph.tools.go.clear()
    running = graph.send(RULES)
    assert graph.tools.picking.wait(15)
    stop = graph.run("STOP!")
    assert stop.success
    assert "cancelled" in stop.summary
    assert graph.tools.desk.stopped
    result = graph.result(running)
    assert (result.success, result.error_code) == (False, ERROR_NUMBERS["cancelled"])


def test_after_a_stop_a_task_says_that_the_arm_is_stopped(graph):
    assert graph.run("stop").success
    result = graph.run(RULES)
    assert (result.success, result.error_code) == (False, ERROR_NUMBERS["safety_stop"])


def test_stop_reaches_the_safety_node_when_the_tool_fails(graph):
    graph.tools.desk.faults = {"stop_motion": [ToolResult("internal_error", "made to fail")]}
    assert graph.run("stop").success
    assert graph.tools.stops == 1


@pytest.fixture
def asking(graph):
    """A model that asks which object is meant before it does the task."""
    own = graph.orchestrator._model
    plan = [{"object_id": "cup_1", "relation": "in", "target_id": "bin_1"}]
    calls = [("ask_user", {"question": "Which?", "options": ["cup", "block"]}), ("detect_objects", {}), ("submit_plan", {"subgoals": plan})]
    calls += [("pick", {"object_id": "cup_1"}), ("place_in", {"container_id": "bin_1"}), ("finish", {"status": "done", "summary": "In the bin."})]
    model = graph.orchestrator._model = ScriptedModel([Reply("", (ToolCall(*call),)) for call in calls])
    yield model
    graph.orchestrator._model = own


def test_a_question_is_in_the_feedback_and_tell_answers_it(graph, asking):
    asked, seen = threading.Event(), []

    def feedback(message):
        if message.feedback.question:
            seen.append((message.feedback.question, list(message.feedback.options)))
            asked.set()

    handle = graph.send("put it in the bin", feedback=feedback)
    assert asked.wait(15)
    assert seen == [("Which?", ["cup", "block"])]
    assert graph.tell("1").accepted
    assert graph.result(handle).summary.startswith("Done (checked by a look)")
    assert '"answer":"cup"' in asking.conversations[1][-1].content


def test_a_question_that_nobody_is_there_to_answer_ends_the_task(graph, asking):
    result = graph.result(graph.send("put it in the bin", answer_timeout=-1.0))
    assert (result.success, result.error_code) == (False, ERROR_NUMBERS["no_answer"])
    assert "Which?" in result.summary
    assert not graph.tools.desk.calls


def test_what_is_typed_is_an_instruction_then_an_answer(graph, asking):
    typed, shown = ["", "put it in the bin"], []
    dialogue = Dialogue(lambda: typed.pop(0) if typed else None, shown.append)
    end = time.monotonic() + 60
    while not any("Done" in line for line in shown) and time.monotonic() < end:
        dialogue.poll()
        if "? Which?\n  1  cup\n  2  block" in shown and not graph.answered:
            graph.answered = True
            typed.append("1")
        time.sleep(0.05)
    dialogue.close()
    assert graph.tools.desk.where()["cup_1"] == "bin_1", shown
    assert shown[-1].startswith("unverified: Done (checked by a look)"), "a scripted model has no judge beside it"


def test_words_without_a_task_are_not_accepted_and_stop_is(graph):
    told = graph.tell("no, the other one")
    assert not told.accepted and "no task" in told.message
    assert graph.tell("stop").accepted and graph.tools.desk.stopped


def test_words_on_the_topic_start_a_task_and_answer_it(graph, asking):
    events, words = [], graph.client.create_publisher(String, "instruction", 10)
    graph.client.create_subscription(String, "agent/events", lambda message: events.append(json.loads(message.data)), 200)
    end = time.monotonic() + 60
    for text, event in (("put it in the bin", "asked"), ("1", "outcome")):
        while event not in (each["event"] for each in events) and time.monotonic() < end:
            if text and words.get_subscription_count():
                words.publish(String(data=text))
                text = ""
            time.sleep(0.02)
    assert (events[-1]["summary"].startswith("Done (checked by a look)"), graph.tools.desk.where()["cup_1"]) == (True, "bin_1")


@pytest.mark.parametrize("gives_way", [True, False], ids=["the call ends", "the call never ends"])
def test_the_death_of_a_node_ends_the_task_with_a_result_that_names_it(graph, gives_way):
    beats = graph.client.create_publisher(String, "heartbeat", HEARTBEATS)
    host = socket.gethostname()
    with subprocess.Popen(["sleep", "60"]) as process:
        graph.tools.go.clear()
        graph.tools.deaf = not gives_way
        handle = graph.send(RULES)
        assert graph.tools.picking.wait(15)
        try:
            wait_until(lambda: (beats.publish(String(data=f"motion {process.pid} {host}")), graph.orchestrator._peers.heard("motion"))[1])
            began = time.monotonic()
            process.kill()
            result = graph.result(handle)
            assert time.monotonic() - began < 10.0
        finally:
            graph.tools.deaf = False
            graph.tools.go.set()
            process.kill()
    assert (result.success, result.error_code) == (False, ERROR_NUMBERS["node_unavailable"])
    assert result.error_message.startswith(f"Node motion is dead: its process {process.pid} has ended.")
    refused = graph.run("count the cups") if gives_way else None
    assert refused is None or "Node motion is dead" in refused.error_message
    wait_until(lambda: (beats.publish(String(data=f"motion {os.getpid()} {host}")), not graph.orchestrator._peers.all_dead())[1])
    wait_until(lambda: not graph.orchestrator._running)
    graph.tools.renew()
    assert graph.run(RULES).success, "a node that is back is as good as new"


def test_each_task_has_a_record_of_its_own_where_no_trial_keeps_one(graph, tmp_path):
    records = TaskRecords(graph.client, "", str(tmp_path), {"arm": "wx250s", "brain": "offline", "model": "offline"}, lambda: True)
    folder = records.begin("Clean the desk, please!", "tools")
    begun = json.loads((Path(folder) / "result.json").read_text())
    assert Path(folder).name.endswith("_clean_the_desk_please") and (begun["instruction"], begun["success"]) == ("Clean the desk, please!", False)
    records.end(folder, "Clean the desk, please!", "tools", TaskOutcome(True, "", "Done."), lambda: False)
    wait_until(lambda: json.loads((Path(folder) / "result.json").read_text()).get("success"))
    assert json.loads((Path(folder) / "agent.json").read_text())["summary"] == "Done."
    assert records.begin("Clean the desk, please!", "tools") != folder


def test_a_broken_profile_is_a_clear_error(graph):
    with pytest.raises(DeskhandError, match="no model profile 'brainless'"):
        OrchestratorNode(parameter_overrides=[Parameter("brain", value="brainless")])
