"""The safety node's answers for an orchestrator that is gone: a plain client of the action gets a result, once."""

import json
import threading
import time

import pytest

pytest.importorskip("rclpy")
import rclpy
from action_msgs.msg import GoalStatus
from rclpy.executors import MultiThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String

from deskhand.errors import ERROR_NUMBERS
from deskhand.nodes.action_client import ActionClient
from deskhand.nodes.action_server import ActionServer
from deskhand.nodes.node import EVENTS, DeskhandNode, wait_future
from deskhand.nodes.task_stand_in import TaskStandIn
from deskhand_interfaces.action import RunTask

DOMAIN = 82
WHY = "its process 7 has ended"


class Graph:
    """A server that ends its goals when it is let, one who stands in for it, a client."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(args=[], context=self.context, signal_handler_options=SignalHandlerOptions.NO, domain_id=DOMAIN)
        self.go, self.why = threading.Event(), ""
        self.nodes = [DeskhandNode(name, context=self.context) for name in ("orchestrator", "safety", "somebody")]
        server, safety, client = self.nodes
        self.server = ActionServer(server, RunTask, "run_task", self._execute)
        self.events = server.create_publisher(String, "agent/events", EVENTS)
        self.stand_in = TaskStandIn(safety, lambda: self.why)
        self.told = []
        client.create_subscription(String, "agent/events", lambda message: self.told.append(json.loads(message.data)), EVENTS)
        self.action = ActionClient(client, RunTask, "run_task")
        self.executor = MultiThreadedExecutor(4, context=self.context)
        for node in self.nodes:
            self.executor.add_node(node)
        self.thread = threading.Thread(target=self.executor.spin, daemon=True)
        self.thread.start()
        assert self.action.wait_for_server(15.0)

    def _execute(self, handle):
        self.go.wait(20.0)
        handle.succeed()
        return RunTask.Result(success=True, summary="done by the server")

    def send(self):
        handle = wait_future(self.action.send_goal_async(RunTask.Goal(instruction="clean the desk")), 15.0, "the goal")
        return handle, handle.get_result_async()

    def heard(self, requests):
        end = time.monotonic() + 15.0
        while len(self.stand_in._waiting) < requests or len(self.stand_in._open) < requests:
            assert time.monotonic() < end, "the stand-in did not hear of the goal"
            time.sleep(0.01)

    def close(self):
        self.go.set()
        self.action.destroy()
        self.server.destroy()
        self.executor.shutdown(2.0)
        self.thread.join(2.0)
        for node in self.nodes:
            node.destroy_node()
        self.context.try_shutdown()


@pytest.fixture
def graph():
    running = Graph()
    yield running
    running.close()


def test_while_the_server_lives_its_own_answer_comes(graph):
    _, future = graph.send()
    graph.heard(1)
    graph.go.set()
    assert wait_future(future, 15.0, "the result").result.summary == "done by the server"
    graph.stand_in.orchestrator_died(WHY)  # just afterwards: nothing is left to be said about that goal
    assert not [event for event in graph.told if event["event"] == "outcome"]


def test_where_the_server_died_those_who_wait_and_those_who_ask_later_are_told(graph):
    graph.events.publish(String(data=json.dumps({"event": "task", "instruction": "clean the desk", "episode": "/records/1"})))
    handle, future = graph.send()
    graph.heard(1)
    graph.why = WHY
    graph.stand_in.orchestrator_died(WHY)
    answers = [wait_future(future, 5.0, "the result"), wait_future(handle.get_result_async(), 5.0, "the result, asked for again")]
    for answer in answers:
        assert answer.status == GoalStatus.STATUS_ABORTED
        assert answer.result.error_code == ERROR_NUMBERS["node_unavailable"] and not answer.result.success
        assert answer.result.error_message.startswith(f"Node orchestrator is dead: {WHY}.")
        assert answer.result.episode == "/records/1"
    end = time.monotonic() + 5.0
    while not [event for event in graph.told if event["event"] == "outcome"] and time.monotonic() < end:
        time.sleep(0.01)
    outcome = next(event for event in graph.told if event["event"] == "outcome")
    assert (outcome["code"], outcome["episode"]) == ("node_unavailable", "/records/1"), "the recorder learns of it too"
