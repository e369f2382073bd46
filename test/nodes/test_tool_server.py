"""Tools over ROS: found, described, called, cancelled, and what happens when the server dies."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")
from control_msgs.action import GripperCommand
from rclpy.action import ActionServer
from rclpy.executors import MultiThreadedExecutor
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import String
from tool_graph import DOMAIN, Graph, ros_domain

from deskhand.errors import DeskhandError
from deskhand.etp.session import Session
from deskhand.nodes import gripper_client, tool_server_node
from deskhand.nodes.node import HEARTBEATS, DeskhandNode, call_service
from deskhand.nodes.ros_tools import RosToolClient
from deskhand.recording.frames import COLOR
from deskhand.safety.audit import verify
from deskhand.world.history.reader import MemoryReader
from deskhand_interfaces.srv import CallTool


@pytest.fixture(scope="module", autouse=True)
def ros():
    with ros_domain():
        yield


@pytest.fixture
def graph(tmp_path):
    graph = Graph(tmp_path)
    yield graph
    graph.close()


def test_tools_are_found_described_and_called_over_ros(graph, tmp_path):
    assert len(graph.client.search()) == len(graph.server.session.registry)
    assert graph.client.search("emergency", limit=1)[0].name == "stop_motion"
    card = graph.client.describe("pick")
    assert card["effects"] == "motion" and "object_id" in card["input_schema"]["properties"]
    look = graph.ok("detect_objects")
    assert {item["id"] for item in look["objects"]} == {"block_1", "pen_1", "bin_1"}
    assert graph.ok("pick", object_id="block_1")["lifted"] > 0.05
    assert graph.robot.held == "block_1"
    assert graph.ok("place_in", container_id="bin_1")["object_id"] == "block_1"
    assert graph.ok("check_goal", conditions=[{"object_id": "block_1", "relation": "in", "target_id": "bin_1"}])["satisfied"]
    start, end = graph.event(event="start", tool="pick"), graph.event(event="end", tool="pick")
    assert start["id"] == end["id"] and start["arguments"] == {"object_id": "block_1"} and start["caller"] == "test"
    assert end["data"]["times"].keys() >= {"motion", "planning"} and end["sim_time"] > start["sim_time"]
    lines, _ = verify(tmp_path / "audit.jsonl")
    assert lines == 8
    assert "block_1 was picked up" in graph.ok("ask_memory", question="what did you pick up last?")["answer"]
    with MemoryReader(tmp_path / "memory.sqlite") as memory:  # while the server writes it
        kinds = [event.kind for event in memory.events(["block_1"])]
    assert kinds[:4] == ["added", "held", "released", "placed"] and set(kinds[4:]) <= {"moved"}  # these looks do not say what lies in the bin


def test_large_objects_are_fetched_by_reference(graph):
    picture = np.random.default_rng(0).integers(0, 256, (480, 640, 3), np.uint8)
    ref = graph.server.session.resources.put(picture, text="noise")
    fetched = graph.client.resource(ref["uri"])
    assert np.array_equal(fetched.array(), picture) and fetched.ref == ref
    with pytest.raises(DeskhandError) as caught:
        graph.client.resource("deskhand://nothing")
    assert caught.value.code == "unknown_resource"


def test_tools_of_another_namespace_are_mounted_when_somebody_serves_them(tmp_path):
    graph = Graph(tmp_path, mounts="twin=/")
    try:
        end = time.monotonic() + 60
        while "twin_undo_last_act" not in [hit.name for hit in graph.server.session.search()]:  # the last of all
            assert time.monotonic() < end
            time.sleep(0.1)
        assert graph.client.describe("twin_pick")["source"] == "ros:/"
        graph.ok("detect_objects")
        assert graph.ok("twin_find_objects")["objects"]
        assert graph.client.invoke("twin_pick", {"object_id": "block_9"}).code == "unknown_object"
    finally:
        graph.close()


def test_what_is_wrong_with_a_call_is_told_and_nothing_moves(graph):
    graph.ok("detect_objects")
    cases = [
        ("pik", {}, "unknown_tool", "pick"),
        ("pick", {"object_id": 5}, "invalid_arguments", "object_id"),
        ("pick", {"object": "block_1"}, "invalid_arguments", "object_id"),
        ("place_at", {"x": float("nan"), "y": 0.0}, "invalid_arguments", "x"),
        ("place_at", {"x": 0.0, "y": 0.0}, "precondition_failed", "holds nothing"),
        ("pick", {"object_id": "block_7"}, "unknown_object", "block_1"),
    ]
    for name, arguments, code, text in cases:
        result = graph.client.invoke(name, arguments)
        assert (result.code, text in f"{result.message} {result.hint}") == (code, True), result
    assert graph.client.invoke("place_at", {"x": 9, "y": 0}).details["problems"][0]["field"] == "x"
    assert graph.robot.executed == []
    with pytest.raises(DeskhandError, match="pick") as caught:
        graph.client.describe("pik")
    assert caught.value.code == "unknown_tool"
    with pytest.raises(DeskhandError) as caught:
        graph.client.search(group="magic")
    assert caught.value.code == "invalid_input"


def test_a_cancel_reaches_the_tool_and_its_outcome_the_caller(graph):
    stop, heard = threading.Event(), []
    plan = graph.ok("plan_motion", position=[0.0, 0.1, 0.25])
    graph.robot.go.clear()
    thread, results = graph.start("execute_plan", {"plan_id": plan["plan_id"]}, cancelled=stop.is_set, feedback=lambda *news: heard.append(news))
    assert graph.robot.moving.acquire(timeout=10)
    busy = graph.client.invoke("move_home", {})
    assert busy.code == "busy" and "execute_plan" in busy.message
    assert graph.ok("get_robot_state")["holding"] is None  # reading goes on meanwhile
    stop.set()
    thread.join(20)
    assert results[0].code == "cancelled" and graph.robot.executed == []
    assert (0.5, "on the way") in heard
    assert graph.ok("move_home")


def test_a_stop_works_while_the_arm_moves(graph):
    graph.robot.go.clear()
    plan = graph.ok("plan_motion", position=[0.0, 0.1, 0.25])
    thread, results = graph.start("execute_plan", {"plan_id": plan["plan_id"]})
    assert graph.robot.moving.acquire(timeout=10)
    assert graph.ok("stop_motion", reason="enough")["stopped"]
    graph.robot.go.set()
    thread.join(20)
    assert results[0].code == "safety_stop"


def test_many_calls_run_side_by_side(graph):
    graph.ok("detect_objects")
    calls = [graph.start("describe_scene", {}) for _ in range(20)]
    for thread, _ in calls:
        thread.join(30)
    assert all(results[0].ok for _, results in calls)


class SlowToNote:
    """A client's handle after which the answer is there before the request is noted: ``taken`` waits until the goal was, ``ended`` until its result is told."""

    def __init__(self, handle, taken, ended):
        self._handle, self._taken, self._ended = handle, taken, ended

    def __getattr__(self, name):
        return getattr(self._handle, name)

    def __enter__(self):
        return self._handle.__enter__()

    def __exit__(self, *args):
        return self._handle.__exit__(*args)

    def send_goal_request(self, request):
        number = self._handle.send_goal_request(request)
        self._taken()
        return number

    def send_result_request(self, request):
        number = self._handle.send_result_request(request)
        self._ended()
        return number


def test_an_answer_that_comes_before_the_request_is_noted_is_not_lost(graph):
    taken, ended = (lambda what=what: graph.event(event=what, tool="get_robot_state") for what in ("start", "end"))
    graph.client._invoke._client_handle = SlowToNote(graph.client._invoke._client_handle, taken, ended)
    thread, results = graph.start("get_robot_state", {})
    thread.join(15)
    assert results and results[0].ok


def test_a_killed_server_is_noticed_in_the_middle_of_a_call(tmp_path):
    command = [sys.executable, "-m", "deskhand.nodes.tool_server_node", "--ros-args", "-p", f"episode:={tmp_path}"]
    server = subprocess.Popen(command, env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)})
    node = DeskhandNode("test_client")
    executor = MultiThreadedExecutor(num_threads=4)
    executor.add_node(node)
    client = RosToolClient(node, wait_for=30.0)
    for kind, topic in ((JointState, "joint_states"), (Image, COLOR)):  # a robot that is there, and says nothing: else the server waits for it first
        node.create_publisher(kind, topic, 1)
    gripper = ActionServer(node, GripperCommand, gripper_client.COMMAND, lambda _: GripperCommand.Result())
    threading.Thread(target=executor.spin, daemon=True).start()
    started, beaten = threading.Event(), threading.Event()
    node.create_subscription(String, "tools/events", lambda _: started.set(), 10)
    node.create_subscription(String, "heartbeat", lambda message: beaten.set() if message.data.startswith("tool_server") else None, HEARTBEATS)
    try:
        assert len(client.search()) >= 60
        outcome = []

        def call():
            try:
                outcome.append(client.invoke("get_robot_state", {}))  # waits for joint states, which nobody publishes
            except DeskhandError as error:
                outcome.append(error)

        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        assert started.wait(15) and beaten.wait(15)
        server.send_signal(signal.SIGKILL)
        thread.join(20)
        assert isinstance(outcome[0], DeskhandError) and outcome[0].code == "node_unavailable"
        with pytest.raises(DeskhandError) as caught:
            client.search()
        assert caught.value.code == "node_unavailable"
    finally:
        server.kill()
        server.wait()
        client.close()
        executor.shutdown(timeout_sec=2)
        gripper.destroy()
        node.destroy_node()


class Waiting:
    """An operator who takes his time."""

    def __init__(self, called):
        self._called, self.decided = called, threading.Event()

    def check(self, card, arguments, caller, cancelled):
        self._called.set()
        self.decided.wait(30)


def test_quick_tools_go_by_the_service_which_refuses_what_may_move(graph):
    graph.ok("detect_objects")
    graph.client._invoke.send_goal_async = None  # no action is needed for these
    assert graph.ok("get_robot_state")["holding"] is None
    assert graph.client.invoke("where_is", {"words": 3}).code == "invalid_arguments"
    raw = graph.node.create_client(CallTool, "tools/call")
    refused = call_service(raw, CallTool.Request(tool="pick", arguments_json='{"object_id": "block_1"}'))
    assert json.loads(refused.result_json)["code"] == "invalid_input" and "tools/invoke" in refused.error_message
    assert call_service(raw, CallTool.Request(tool="pik", arguments_json="{}")).error_code
    slow = call_service(raw, CallTool.Request(tool="reachability_map", arguments_json="{}"))
    assert json.loads(slow.result_json)["code"] == "invalid_input" and "may take up to" in slow.error_message
    assert graph.robot.executed == []


def test_a_cancelled_quick_call_is_not_waited_for(graph):
    called = threading.Event()
    graph.server.session.approval = operator = Waiting(called)
    thread, results = graph.start("list_watches", {}, cancelled=called.is_set)
    thread.join(15)
    operator.decided.set()
    assert results[0].code == "cancelled"


def test_processes_of_isolated_tools_start_beside_the_first_call(tmp_path, monkeypatch):
    started = threading.Event()
    monkeypatch.setattr(Session, "warm_up", lambda self: started.set())
    monkeypatch.setattr(tool_server_node, "QUIET", 300.0)
    graph = Graph(tmp_path)
    try:
        assert not started.wait(0.5)
        graph.ok("detect_objects")
        assert started.wait(10)
    finally:
        graph.close()
