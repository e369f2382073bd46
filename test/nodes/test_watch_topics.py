"""Continuous tools over ROS: a topic for each that runs, heard by clients, gone when it ends."""

import json
import threading
import time

import pytest

pytest.importorskip("rclpy")
from std_msgs.msg import String
from tool_graph import Graph, ros_domain
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.nodes.node import EVENTS

TOPIC = "/tools/watches/pulse"
STEP = threading.Semaphore(0)


class Pulse(TypedDict):
    count: int


@tool(
    group="cognition", unit="spatio_temporal_state", mode="continuous", event=Pulse, examples=[("Count", {})],
    when_to_use="In tests of the topics only.", limits="Counts nothing useful.",
)  # fmt: skip
def pulse(ctx: ToolContext) -> Pulse:
    """Count up by one whenever the test says so."""
    number = 0
    while not ctx.cancelled():
        if STEP.acquire(timeout=0.005):
            number += 1
            ctx.publish({"count": number})
    return {"count": number}


@pytest.fixture(scope="module", autouse=True)
def ros():
    with ros_domain():
        yield


@pytest.fixture
def graph(tmp_path):
    graph = Graph(tmp_path)
    graph.server.session.registry.add(pulse)
    yield graph
    graph.close()


def wait_for(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def served(graph):
    return graph.server.count_publishers(TOPIC)


def test_a_watch_is_heard_on_its_topic_until_it_ends_and_the_topic_goes_with_it(graph):
    raw, heard, late = [], [], []
    graph.node.create_subscription(String, TOPIC, lambda message: raw.append(json.loads(message.data)), EVENTS, callback_group=graph.node.reentrant)
    assert served(graph) == 0
    watch = graph.ok("pulse")["watch_id"]
    assert served(graph) == 1
    graph.client.subscribe(watch, heard.append)
    for _ in range(3):
        STEP.release()
    wait_for(lambda: len(heard) == 3)
    graph.client.subscribe(watch, late.append, since=1)
    wait_for(lambda: len(late) == 2)
    graph.ok("stop_watch", watch_id=watch)
    wait_for(lambda: heard and heard[-1].ended and late[-1].ended and len(raw) == 4)
    assert [event.data.get("count") for event in heard] == [1, 2, 3, None]
    assert late == heard[1:] and [event["number"] for event in raw] == [1, 2, 3, 4]
    wait_for(lambda: served(graph) == 0)
    with pytest.raises(DeskhandError) as caught:
        graph.client.subscribe("watch_99", heard.append)
    assert caught.value.code == "unknown_watch"


def test_two_watches_of_a_tool_share_its_topic_and_each_client_hears_its_own(graph):
    watches = [graph.ok("pulse")["watch_id"] for _ in range(2)]
    heard = {watch: [] for watch in watches}
    ends = [graph.client.subscribe(watch, heard[watch].append) for watch in watches]
    for _ in range(4):
        STEP.release()
    wait_for(lambda: sum(map(len, heard.values())) == 4)
    assert all(event.watch_id == watch for watch in watches for event in heard[watch])
    graph.ok("stop_watch", watch_id=watches[0])
    assert served(graph) == 1
    ends[1]()
    graph.server.session.close()
    wait_for(lambda: served(graph) == 0)
    assert not any(event.ended for event in heard[watches[1]])
