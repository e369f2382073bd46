"""Whoever subscribes to a watch hears each of its events once, in their order, and its end; nothing is left after it."""

import asyncio
import json
import threading

import pytest
from protocol_objects import PLACE, Bare
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.registry import Registry
from deskhand.etp.session import Session
from deskhand.etp.tool import ToolContext, tool
from deskhand.skills.belief import Belief
from deskhand.tools.cognition.watches import list_watches, read_events, stop_watch

STEP = threading.Semaphore(0)


class Tick(TypedDict):
    count: int


@tool(**PLACE, mode="continuous", event=Tick, examples=[("Tick", {})])
def tick(ctx: ToolContext) -> Tick:
    """Count up by one whenever the test says so."""
    number = 0
    while not ctx.cancelled():
        if STEP.acquire(timeout=0.002):
            number += 1
            ctx.publish({"count": number})
    return {"count": number}


@pytest.fixture
def session():
    registry = Registry()
    for item in (list_watches, read_events, stop_watch, tick):
        registry.add(item)
    with Session(registry, lambda: ToolContext(Bare(), Belief())) as session:
        yield session


def step(session, watch, times):
    """Let the tool publish; return when it has."""
    before = session.watches()[-1].events
    for _ in range(times):
        STEP.release()
    while len(session.events(watch, before)) < times:
        session.invoke("read_events", {"watch_id": watch, "since": before, "wait": 1})


def threads_of(watch):
    return [thread.name for thread in threading.enumerate() if watch in thread.name]


def test_every_subscriber_hears_every_event_in_order_and_then_the_end(session):
    watch = session.start("tick", {})
    early, late, some = [], [], []
    session.subscribe(watch, early.append)
    step(session, watch, 3)
    session.subscribe(watch, late.append)
    session.subscribe(watch, some.append, since=2)
    step(session, watch, 2)
    session.stop(watch)
    assert [event.data.get("count") for event in early] == [1, 2, 3, 4, 5, None]
    assert early == late and early[2:] == some and early[-1].ended
    after = []
    session.subscribe(watch, after.append)
    assert after == early
    assert threads_of(watch) == []


def test_who_has_unsubscribed_hears_nothing_more_and_a_listener_may_stop_the_watch(session):
    watch = session.start("tick", {})
    first, second = [], []
    end = session.subscribe(watch, first.append)
    session.subscribe(watch, lambda event: (second.append(event), event.ended or session.stop(watch)))
    step(session, watch, 1)
    end()
    end()
    session.stop(watch)
    assert [event.ended for event in first] in ([False], [False, True])
    assert [event.ended for event in second] == [False, True]


def test_a_listener_that_fails_takes_nothing_from_the_others(session):
    watch = session.start("tick", {})
    heard = []

    def fail(event):
        raise ValueError("of the test")

    session.subscribe(watch, fail)
    session.subscribe(watch, heard.append)
    step(session, watch, 2)
    assert [event.number for event in heard] == [1, 2]
    with pytest.raises(DeskhandError, match="no watch"):
        session.subscribe("watch_99", heard.append)


def test_no_thread_is_left_when_a_session_closes(session):
    watch = session.start("tick", {})
    heard = []
    session.subscribe(watch, heard.append)
    assert threads_of(watch)
    session.close()
    assert heard[-1].ended and not threads_of(watch)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_an_mcp_client_is_notified_of_the_events_of_a_watch(session, mode):
    pytest.importorskip("mcp")
    from mcp import Client

    from deskhand.etp.remote.server import ToolServer

    heard: asyncio.Queue[str] = asyncio.Queue()
    server = ToolServer(session)

    async def on_message(message):
        params = getattr(message, "params", None)
        if getattr(params, "uri", None):
            await heard.put(str(params.uri))

    async def events(client, uri):
        return json.loads((await client.read_resource(uri, cache_mode="bypass")).contents[0].text)

    async def work():
        async with Client(server.server(), mode=mode, message_handler=on_message) as client:
            watch = (await client.call_tool("tick", {})).structured_content["watch_id"]
            uri = f"deskhand://watches/{watch}"
            if mode == "legacy":
                await client.subscribe_resource(uri)
                STEP.release()
                assert await asyncio.wait_for(heard.get(), 10) == uri
                told = await events(client, uri)
                assert server._watches.listening == 1
                await client.unsubscribe_resource(uri)
            else:
                async with client.listen(resource_subscriptions=[uri]) as stream:
                    STEP.release()
                    assert (await asyncio.wait_for(anext(aiter(stream)), 10)).uri == uri
                    told = await events(client, uri)
                    assert server._watches.listening == 1
                while server._watches.listening:
                    await asyncio.sleep(0.01)
            with pytest.raises(Exception, match="no watch"):
                await events(client, "deskhand://watches/watch_99")
            return told

    told = asyncio.run(work())
    assert told["running"] and [event["data"] for event in told["events"]] == [{"count": 1}]
    assert server._watches.listening == 0
