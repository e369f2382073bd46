"""What comes for a node comes through its listener: messages in order and one at a time, requests side by side; the executor sleeps on."""

import threading
import time

import pytest

pytest.importorskip("rclpy")

import rclpy
from action_msgs.msg import GoalStatus
from nav2_msgs.action import NavigateToPose
from rclpy.action import CancelResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from deskhand.nodes.action_client import ActionClient
from deskhand.nodes.action_server import ActionServer
from deskhand.nodes.node import DeskhandNode, call_service

DOMAIN = 71


@pytest.fixture
def pair():
    """Two nodes that nobody spins."""
    context = Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    nodes = DeskhandNode("speaker", context=context), DeskhandNode("hearer", context=context)
    yield nodes
    for node in nodes:
        node.destroy_node()
    rclpy.try_shutdown(context=context)


def speaks(node, count):
    """A publisher that somebody hears."""
    publisher = node.create_publisher(String, "words", 50)
    wait_for(lambda: publisher.get_subscription_count() == count)
    return publisher


def wait_for(condition, timeout=10.0):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_messages_come_in_order_without_an_executor(pair):
    speaker, hearer = pair
    heard = []
    hearer.create_subscription(String, "words", lambda message: heard.append(message.data), 50)
    publisher = speaks(speaker, 1)
    for number in range(20):
        publisher.publish(String(data=str(number)))
    wait_for(lambda: len(heard) == 20)
    assert heard == [str(number) for number in range(20)]


def test_messages_do_not_wake_the_executor(pair):
    speaker, hearer = pair
    heard, waits = [], []

    class Counting(SingleThreadedExecutor):
        def spin_once(self, timeout_sec=None):
            waits.append(timeout_sec)
            super().spin_once(timeout_sec)

    hearer.create_subscription(String, "words", lambda message: heard.append(message.data), 50)
    publisher = speaks(speaker, 1)
    executor = Counting(context=hearer.context)
    executor.add_node(hearer)
    spinner = threading.Thread(target=executor.spin, daemon=True)
    spinner.start()
    time.sleep(0.2)
    waits.clear()
    for number in range(40):
        publisher.publish(String(data=str(number)))
        time.sleep(0.01)
    wait_for(lambda: len(heard) == 40)
    assert len(waits) < 10, "only heartbeats wake it"
    executor.shutdown()
    spinner.join(2.0)


def test_nothing_comes_after_a_subscription_was_destroyed(pair):
    speaker, hearer = pair
    kept, dropped = [], []
    hearer.create_subscription(String, "words", lambda message: kept.append(message.data), 50)
    subscription = hearer.create_subscription(String, "words", lambda message: dropped.append(message.data), 50)
    publisher = speaks(speaker, 2)
    publisher.publish(String(data="both"))
    wait_for(lambda: kept and dropped)
    hearer.destroy_subscription(subscription)
    publisher.publish(String(data="one"))
    wait_for(lambda: len(kept) == 2)
    assert dropped == ["both"]
    assert hearer.listener.error is None


def test_a_callback_may_destroy_its_own_subscription(pair):
    speaker, hearer = pair
    heard = []

    def once(message):
        heard.append(message.data)
        hearer.destroy_subscription(subscription)

    subscription = hearer.create_subscription(String, "words", once, 50)
    publisher = speaks(speaker, 1)
    publisher.publish(String(data="first"))
    publisher.publish(String(data="second"))
    wait_for(lambda: publisher.get_subscription_count() == 0)
    assert heard == ["first"] and hearer.listener.error is None


def test_a_callback_that_raises_is_kept_as_the_listeners_error(pair, capfd):
    speaker, hearer = pair

    def fail(_):
        raise ValueError("no such word")

    hearer.create_subscription(String, "words", fail, 50)
    publisher = speaks(speaker, 1)
    publisher.publish(String(data="x"))
    wait_for(lambda: hearer.listener.error is not None)
    assert "no such word" in str(hearer.listener.error)
    wait_for(lambda: "no such word" in capfd.readouterr().err)


def test_a_service_answers_without_an_executor(pair):
    asker, server = pair
    server.create_service(SetBool, "echo", lambda request, response: SetBool.Response(success=request.data, message="heard"), callback_group=server.reentrant)
    client = asker.create_client(SetBool, "echo", callback_group=asker.reentrant)
    answers = [call_service(client, SetBool.Request(data=bool(number % 2))) for number in range(20)]
    assert [answer.success for answer in answers] == [bool(number % 2) for number in range(20)]
    assert {answer.message for answer in answers} == {"heard"}


@pytest.mark.parametrize("exclusive", [False, True])
def test_requests_of_a_reentrant_group_run_side_by_side_those_of_an_exclusive_one_in_turn(pair, exclusive):
    asker, server = pair
    running, most, lock = [0], [0], threading.Lock()

    def work(_, response):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.1)
        with lock:
            running[0] -= 1
        return response

    server.create_service(Trigger, "work", work, callback_group=MutuallyExclusiveCallbackGroup() if exclusive else server.reentrant)
    client = asker.create_client(Trigger, "work", callback_group=asker.reentrant)
    assert client.wait_for_service(timeout_sec=10.0)
    futures = [client.call_async(Trigger.Request()) for _ in range(4)]
    wait_for(lambda: all(future.done() for future in futures))
    assert most[0] == 1 if exclusive else most[0] > 1


def test_actions_need_no_executor_and_many_goals_run_at_once(pair):
    asker, doer = pair
    meet, seen = threading.Barrier(20, timeout=10.0), []

    def drive(handle):
        meet.wait()  # none ends before all have begun
        handle.publish_feedback(NavigateToPose.Feedback(number_of_recoveries=7))
        while not handle.is_cancel_requested and handle.request.behavior_tree == "wait":
            time.sleep(0.01)
        handle.canceled() if handle.is_cancel_requested else handle.succeed()
        return NavigateToPose.Result()

    server = ActionServer(doer, NavigateToPose, "drive", drive, cancel_callback=lambda _: CancelResponse.ACCEPT)
    client = ActionClient(asker, NavigateToPose, "drive")
    wait_for(client.server_is_ready)
    goals = [NavigateToPose.Goal(behavior_tree="wait" if number == 0 else "") for number in range(20)]
    sent = [client.send_goal_async(goal, feedback_callback=lambda message: seen.append(message.feedback.number_of_recoveries)) for goal in goals]
    wait_for(lambda: all(future.done() for future in sent))
    results = [future.result().get_result_async() for future in sent]
    wait_for(lambda: all(future.done() for future in results[1:]))
    assert not results[0].done()
    sent[0].result().cancel_goal_async()
    wait_for(results[0].done)
    assert [future.result().status for future in results] == [GoalStatus.STATUS_CANCELED] + [GoalStatus.STATUS_SUCCEEDED] * 19
    assert set(seen) == {7}  # how many come before the results is the middleware's
    client.destroy()
    server.destroy()
    assert asker.listener.error is None and doer.listener.error is None


class BusyLogger:
    """A logger of rclpy's on a busy machine: what it says between the end of a goal's callback and the answer takes a while."""

    def __init__(self, logger, holds):
        self._logger, self._holds = logger, holds

    def __getattr__(self, name):
        return getattr(self._logger, name)

    def debug(self, text):
        if "finished" in text:
            self._holds.wait(10.0)
        self._logger.debug(text)


def test_a_goal_that_has_just_ended_is_answered_before_its_server_is_gone(pair):
    asker, doer = pair
    returned, answers = threading.Event(), threading.Event()

    def drive(handle):
        handle.succeed()
        returned.set()
        return NavigateToPose.Result()

    server = ActionServer(doer, NavigateToPose, "drive", drive)
    server._logger = BusyLogger(server._logger, answers)
    client = ActionClient(asker, NavigateToPose, "drive")
    wait_for(client.server_is_ready)
    sent = client.send_goal_async(NavigateToPose.Goal())
    wait_for(sent.done)
    result = sent.result().get_result_async()
    assert returned.wait(10.0)
    threading.Timer(0.3, answers.set).start()
    server.wait_answered(10.0)
    server.destroy()
    wait_for(result.done)
    assert result.result().status == GoalStatus.STATUS_SUCCEEDED
    client.destroy()


def test_no_answer_comes_from_a_service_that_was_destroyed(pair):
    asker, server = pair
    service = server.create_service(Trigger, "gone", lambda _, response: response, callback_group=server.reentrant)
    client = asker.create_client(Trigger, "gone", callback_group=asker.reentrant)
    assert call_service(client, Trigger.Request()) is not None
    server.destroy_service(service)
    wait_for(lambda: not client.service_is_ready())
    assert server.listener.error is None


def test_a_message_whose_callback_raises_is_kept_as_the_listeners_error(pair, capfd):
    speaker, hearer = pair

    def fail(_):
        raise ValueError("no such thing")

    hearer.create_subscription(String, "words", fail, 50)
    speaks(speaker, 1).publish(String(data="anything"))
    wait_for(lambda: hearer.listener.error is not None)
    assert "no such thing" in str(hearer.listener.error)


def test_a_service_that_raises_answers_and_the_node_goes_on(pair, capfd):
    asker, server = pair

    def fail(_, __):
        raise ValueError("no such thing")

    server.create_service(Trigger, "fail", fail, callback_group=server.reentrant)
    client = asker.create_client(Trigger, "fail", callback_group=asker.reentrant)
    for _ in range(2):
        answer = call_service(client, Trigger.Request())
        assert not answer.success and "no such thing" in answer.message
    assert server.listener.error is None
