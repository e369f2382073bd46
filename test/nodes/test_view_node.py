"""The operator page as a node: what others publish is in its moment, what is pressed reaches the services."""

import contextlib
import json
import threading
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("viser", reason="the operator page needs viser (extra: view)")

import rclpy
from geometry_msgs.msg import PoseArray
from rclpy.action import ActionServer, CancelResponse
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import Image
from std_msgs.msg import Bool, String
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from deskhand.errors import ERROR_NUMBERS, DeskhandError
from deskhand.geometry import make_transform
from deskhand.nodes import conversions
from deskhand.nodes.node import DeskhandNode
from deskhand.nodes.view_node import LATCHED, ViewNode
from deskhand.nodes.view_operator import RosOperator
from deskhand.types import JointState, Scene, SceneObject, Table, Trajectory
from deskhand_interfaces.action import RunTask
from deskhand_interfaces.msg import SceneObjects
from deskhand_interfaces.srv import TellTask

DOMAIN = 72


class Others(DeskhandNode):
    """The services that the page calls, and a task that lasts until it is told something or cancelled."""

    def __init__(self):
        super().__init__("others")
        self.heard, self.told = [], threading.Event()
        group = {"callback_group": self.reentrant}
        self.create_service(Trigger, "safety/stop", lambda _, response: self._answer("stop", response), **group)
        self.create_service(Trigger, "safety/reset", lambda _, response: self._answer("reset", response), **group)
        self.create_service(SetBool, "motion/pause", lambda request, response: self._answer(f"pause {request.data}", response), **group)
        self.create_service(TellTask, "tell", self._tell, **group)
        self.create_subscription(String, "tools/decide", lambda message: self.heard.append(message.data), 10)
        self._server = ActionServer(self, RunTask, "run_task", self._run, cancel_callback=lambda _: CancelResponse.ACCEPT, **group)

    def close(self):
        self.told.set()
        self._server.destroy()

    def _answer(self, word, response):
        self.heard.append(word)
        response.success, response.message = True, f"{word} was heard"
        return response

    def _tell(self, request, response):
        self.heard.append(f"tell {request.text}")
        response.accepted = bool(request.text)
        self.told.set()
        return response

    def _run(self, handle):
        self.heard.append(f"run {handle.request.instruction}")
        handle.publish_feedback(RunTask.Feedback(step=1, tool="ask_user", text="there are two", question="Which cup?", options=["red", "blue"]))
        while not self.told.wait(0.02) and not handle.is_cancel_requested:
            pass
        self.told.clear()
        if handle.is_cancel_requested:
            handle.canceled()
            return RunTask.Result(error_code=ERROR_NUMBERS["cancelled"], error_message="cancelled.", summary="It was cancelled.")
        handle.succeed()
        return RunTask.Result(success=True, summary="The red cup is in the tray.")


@pytest.fixture(scope="module")
def graph():
    rclpy.init(domain_id=DOMAIN, signal_handler_options=SignalHandlerOptions.NO)
    others = Others()
    view = ViewNode(parameter_overrides=[Parameter("port", value=18180), Parameter("camera_period", value=0.0)])
    executor = MultiThreadedExecutor(num_threads=6)
    for node in (others, view):
        executor.add_node(node)

    def spin():
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    yield others, view, RosOperator(view, view.source)
    for node in (view, others):
        node.close()
    executor.shutdown(timeout_sec=1.0)
    thread.join(2.0)
    for node in (view, others):
        node.destroy_node()
    rclpy.try_shutdown()


def wait_for(what, limit=30.0):
    end = time.monotonic() + limit
    while not what():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def publish_until(others, kind, topic, message, seen, quality=LATCHED):
    publisher = others.create_publisher(kind, topic, quality)
    end = time.monotonic() + 30.0
    while not seen():
        publisher.publish(message)
        assert time.monotonic() < end, f"{topic} was not heard"
        time.sleep(0.05)
    others.destroy_publisher(publisher)


def test_what_is_published_is_in_the_moment(graph):
    others, view, _ = graph
    state = JointState(("waist", "left_finger"), np.array([0.3, 0.02]), np.zeros(2), np.zeros(2), 4.0)
    publish_until(
        others, type(conversions.joint_state_to_msg(state)), "joint_states", conversions.joint_state_to_msg(state), lambda: view.source.moment().joints
    )
    assert view.source.moment().joints == {"waist": pytest.approx(0.3), "left_finger": pytest.approx(0.02)}
    block = SceneObject("block_1", "block", "red", "box", np.array([0.04] * 3), make_transform(translation=[0.1, 0, 0.02]), np.zeros((0, 3), np.float32), 0.9)
    scene = conversions.scene_to_msg(Scene((block,), Table(np.eye(4), (0.8, 0.6)), 3.0))
    publish_until(others, SceneObjects, "perception/scene", scene, lambda: view.source.moment().scene)
    assert view.source.moment().scene.get("block_1").color == "red"
    picture = conversions.image_to_msg(np.full((4, 6, 3), 77, np.uint8), 3.0, "camera")
    publish_until(others, Image, "perception/annotated", picture, lambda: view.source.moment().picture is not None)
    hands = PoseArray(poses=[conversions.pose_to_msg(make_transform(translation=[0.1, 0.0, 0.05]))])
    publish_until(others, PoseArray, "grasping/grasps", hands, lambda: view.source.moment().hands, 5)
    assert view.source.moment().hands[0].pose[0, 3] == pytest.approx(0.1)
    zeros = np.zeros((2, 1))
    plan = conversions.trajectory_to_msg(Trajectory(("waist",), np.array([0.0, 1.5]), np.array([[0.0], [0.4]]), zeros, zeros))
    publish_until(others, JointTrajectory, "motion/planned", plan, lambda: view.source.moment().plan)
    assert view.source.moment().plan.duration == pytest.approx(1.5)
    publish_until(others, JointTrajectory, "motion/planned", JointTrajectory(), lambda: view.source.moment().plan is None)
    publish_until(others, Bool, "motion/paused", Bool(data=True), lambda: view.source.moment().paused)
    asked = {"event": "approval", "id": "r1", "tool": "pick", "caller": "x", "arguments": {"object_id": "block_1"}, "effects": "motion"}
    publish_until(others, String, "tools/events", String(data=json.dumps(asked)), lambda: view.source.moment().waiting, 200)
    publish_until(others, String, "tools/events", String(data="no JSON"), lambda: True, 200)
    assert view.source.moment().waiting[0].arguments == {"object_id": "block_1"}


def test_presses_reach_the_services_and_a_decision_names_its_request(graph):
    others, _, operator = graph
    assert operator.pause(True) == "pause True was heard" and operator.reset() == "reset was heard"
    operator.decide("r1", False)
    wait_for(lambda: '{"id": "r1", "approve": false, "grant": false}' in others.heard)
    operator.decide("r2", True, grant=True)
    wait_for(lambda: '{"id": "r2", "approve": true, "grant": true}' in others.heard)
    with pytest.raises(DeskhandError):
        operator.decide("", True)


def test_a_task_of_the_page_its_question_the_answer_and_its_end(graph):
    others, view, operator = graph
    wait_for(operator._run.service_is_ready)
    operator.run("put the cup into the tray")
    wait_for(lambda: view.source.moment().question is not None)
    assert view.source.moment().question.options == ("red", "blue") and view.source.moment().task.instruction == "put the cup into the tray"
    with pytest.raises(DeskhandError) as caught:
        operator.run("something else")
    assert caught.value.code == "busy"
    assert operator.tell("the red one") == "told"
    wait_for(lambda: not view.source.moment().task.running)
    task = view.source.moment().task
    assert task.success and task.summary == "The red cup is in the tray." and "tell the red one" in others.heard
    with pytest.raises(DeskhandError):
        operator.tell("")


def test_stop_halts_the_arm_first_and_ends_the_task(graph):
    others, view, operator = graph
    others.told.clear()
    operator.run("go on")
    wait_for(lambda: "run go on" in others.heard)
    assert operator.stop() == "stop was heard"
    wait_for(lambda: not view.source.moment().task.running)
    assert view.source.moment().task.code == "cancelled"
