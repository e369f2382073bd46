"""A node that is spun ends in order: what its callbacks use is there until they have ended."""

import gc
import threading
import time

import pytest

pytest.importorskip("rclpy")
import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from std_msgs.msg import String

from deskhand.nodes.spinner import Spinner


@pytest.fixture
def node():
    context = Context()
    rclpy.init(context=context, domain_id=96)
    node = rclpy.create_node("spun", context=context)
    yield node
    node.destroy_node()
    context.try_shutdown()


def test_callbacks_under_way_end_before_what_they_use(node, capfd):
    publisher, begun, done = node.create_publisher(String, "text", 1), threading.Event(), []

    def slow():
        begun.set()
        time.sleep(0.2)
        publisher.publish(String(data="still there"))
        done.append(True)

    node.create_timer(0.01, slow, callback_group=ReentrantCallbackGroup())
    spinner = Spinner(node, threads=3)
    spinner.start()
    assert begun.wait(10)
    spinner.end()
    ended = len(done)
    assert ended >= 1
    node.destroy_node()
    time.sleep(0.3)
    assert len(done) == ended, "nothing is called after the end"
    del spinner
    gc.collect()
    assert "never retrieved" not in "".join(capfd.readouterr())


def test_what_waited_for_a_thread_is_waited_for_too(node):
    """Rclpy gives a callback again and again until a thread has begun it."""
    threads, begun, done = 2, threading.Event(), []

    def takes(seconds, last=False):
        def callback():
            timer.cancel()
            if last:
                begun.set()
            time.sleep(seconds)
            done.append(seconds)

        timer = node.create_timer(0.01, callback, callback_group=ReentrantCallbackGroup())

    spinner = Spinner(node, threads)
    for seconds in (0.2, 0.25):
        takes(seconds)
    spinner.start()
    time.sleep(0.1)
    takes(0.5, last=True)
    assert begun.wait(10)
    time.sleep(0.2)
    spinner.end()
    assert done == [0.2, 0.25, 0.5]


def test_it_ends_at_once_where_nothing_ever_comes(node):
    spinner = Spinner(node, threads=1)
    spinner.start()
    time.sleep(0.1)
    begun = time.monotonic()
    spinner.end()
    assert not spinner._thread.is_alive()
    assert time.monotonic() - begun < 1.9, "it did not come back by itself: the time limit did it"


def test_what_a_callback_raises_is_told(node):
    told, said = threading.Event(), []

    def failed(error):
        said.append(error)
        told.set()

    def broken():
        raise ValueError("no such number")

    node.create_timer(0.01, broken)
    spinner = Spinner(node, threads=2, failed=failed)
    spinner.start()
    assert told.wait(10)
    spinner.end()
    assert [str(error) for error in said] == ["no such number"]


def test_another_end_of_the_context_ends_it(node):
    spinner = Spinner(node, threads=2)
    spinner.start()
    time.sleep(0.05)
    node.context.try_shutdown()
    spinner._thread.join(10)
    assert not spinner._thread.is_alive()
    spinner.end()
