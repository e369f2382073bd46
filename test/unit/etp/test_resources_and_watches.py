import threading

import numpy as np
import pytest
from protocol_objects import PLACE, Bare
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.registry import Registry
from deskhand.etp.resources import ARRAY, DEPTH, POINTS, ResourceRef, ResourceStore
from deskhand.etp.session import Session
from deskhand.etp.tool import ToolContext, tool
from deskhand.skills.belief import Belief
from deskhand.tools.cognition.watches import list_watches, read_events, stop_watch


class Count(TypedDict):
    count: int


class Picture(TypedDict):
    picture: ResourceRef


PROVIDED = {"started": threading.Semaphore(0), "step": threading.Semaphore(0)}


@tool(**PLACE, mode="continuous", event=Count, examples=[("Count", {})])
def count(ctx: ToolContext) -> Count:
    """Count up by one whenever the test says so."""
    number = 0
    while not ctx.cancelled():
        if PROVIDED["step"].acquire(timeout=0.005):
            number += 1
            ctx.publish({"count": number})
    return {"count": number}


@tool(**PLACE, mode="event", event=Count, examples=[("Break", {})])
def broken_watch(ctx: ToolContext) -> Count:
    """Publish what does not fit the card."""
    ctx.publish({"count": "many"})
    return {"count": 0}


@tool(**PLACE, mode="event", event=Count, examples=[("Flood", {})])
def flood(ctx: ToolContext) -> Count:
    """Publish without end."""
    while True:
        ctx.publish({"count": 1})


@tool(**PLACE, examples=[("Draw", {})])
def draw(ctx: ToolContext) -> Picture:
    """Draw a picture and show it on the way."""
    image = np.zeros((4, 5, 3), np.uint8)
    image[1, 2] = (255, 128, 0)
    ref = ctx.resources.put(image, text="an orange dot")
    ctx.show(ref)
    return {"picture": ref}


def make_session(*tools, **options):
    registry = Registry()
    for item in (list_watches, read_events, stop_watch, *tools):
        registry.add(item)
    return Session(registry, lambda: ToolContext(Bare(), Belief()), **options)


def code_of(call, *arguments):
    with pytest.raises(DeskhandError) as error:
        call(*arguments)
    return error.value.code


def test_what_is_put_comes_back_as_it_was(tmp_path):
    store = ResourceStore(tmp_path)
    random = np.random.default_rng(0)
    picture = random.integers(0, 256, (7, 9, 3), np.uint8)
    cases = [(picture, ""), (random.normal(size=(5, 4)).astype(np.float32), DEPTH), (random.normal(size=(11, 6)), POINTS), (np.arange(3), ARRAY)]
    for array, media_type in cases:
        ref = store.put(array, media_type, "what it is")
        back = store.get(ref["uri"])
        assert back.ref == ref and ref["bytes"] == len(back.data)
        assert back.array().dtype == array.dtype and np.array_equal(back.array(), array)
    ref = store.put({"points": [[0.0, 1.0]], "note": "é"})
    assert store.get(ref["uri"]).json() == {"points": [[0.0, 1.0]], "note": "é"}
    assert ref["media_type"] == "application/json"


def test_what_does_not_fit_its_media_type_is_refused(tmp_path):
    store = ResourceStore(tmp_path)
    for data, media_type in ((np.zeros((3, 3)), "image/png"), (b"abc", ""), ("text", ""), ({"a": float("nan")}, ""), (np.array([{}]), "")):
        assert code_of(store.put, data, media_type) == "invalid_input"


def test_the_store_is_bounded_and_drops_what_was_not_used_for_longest(tmp_path):
    store = ResourceStore(tmp_path, memory=3000, disk=3000)
    refs = [store.put(bytes([number]) * 1000, "application/octet-stream") for number in range(4)]
    assert len(list(tmp_path.iterdir())) == 1
    assert store.get(refs[0]["uri"]).data == bytes([0]) * 1000
    for number in range(4, 9):
        refs.append(store.put(bytes([number]) * 1000, "application/octet-stream"))
        assert store.get(refs[3]["uri"]).data[0] == 3
    alive = [index for index, ref in enumerate(refs) if any(ref["uri"] == other["uri"] for other in store.refs())]
    assert 3 in alive and 8 in alive and 1 not in alive and len(alive) == 6
    assert code_of(store.get, refs[1]["uri"]) == "unknown_resource"
    store.close()
    assert not list(tmp_path.iterdir())


def test_a_tool_hands_on_an_image_by_reference_and_shows_it_on_the_way():
    heard = []
    with make_session(draw) as session:
        result = session.invoke("draw", {}, lambda fraction, text: heard.append(text))
        ref = result.data["picture"]
        assert heard == [f"image: {ref['uri']} an orange dot"]
        assert session.resource(ref["uri"]).array()[1, 2].tolist() == [255, 128, 0]
        assert code_of(session.resource, "deskhand://nothing") == "unknown_resource"


def test_a_continuous_tool_is_started_heard_and_stopped_by_anybody():
    events = []
    with make_session(count, events=events.append) as session:
        watch = session.invoke("count", {}, caller="me").data["watch_id"]
        assert [info.running for info in session.watches()] == [True]
        for _ in range(3):
            PROVIDED["step"].release()
        last = 0
        while last < 3:
            read = session.invoke("read_events", {"watch_id": watch, "since": last, "wait": 10}, caller="other")
            assert read.ok and "events" not in read.details
            last = read.data["events"][-1]["number"]
        assert [event.data["count"] for event in session.events(watch)] == [1, 2, 3]
        assert [event.number for event in session.events(watch, since=2)] == [3]
        stopped = session.invoke("stop_watch", {"watch_id": watch}, caller="me")
        assert stopped.data["result"] == {"count": 3} and stopped.data["code"] == ""
        assert [event["data"].get("count") for event in stopped.details["events"]] == [1, 2, 3, None]
        assert not session.invoke("list_watches", {}, caller="me").data["watches"][0]["running"]
        assert "events" not in session.invoke("list_watches", {}, caller="me").details
        assert session.invoke("stop_watch", {"watch_id": "watch_9"}).code == "unknown_watch"
    assert [record["data"] for record in events if record["event"] == "watch"][:3] == [{"count": 1}, {"count": 2}, {"count": 3}]


@pytest.mark.parametrize(("name", "code"), [("broken_watch", "invalid_output"), ("flood", "limit_exceeded")])
def test_a_watch_that_misbehaves_ends_and_says_why(name, code):
    with make_session(broken_watch, flood) as session:
        watch = session.start(name, {})
        read = session.events(watch)
        while not any(event.ended for event in read):
            read = session._watches.events(watch, len(read), 5.0) or read
        assert read[-1].code == code
        assert session.stop(watch).code == code


def test_watches_end_with_their_session():
    session = make_session(count)
    watch = session.start("count", {})
    session.close()
    assert not session.watches()[0].running and session.watches()[0].watch_id == watch


def test_a_card_says_what_kind_of_tool_it_is_or_is_refused():
    def broken(**options):
        def some_tool(ctx: ToolContext) -> Count:
            """Do something that a test made up."""
            return {"count": 0}

        with pytest.raises(DeskhandError, match="broken"):
            tool(**{**PLACE, **options}, examples=[("Do", {})])(some_tool)

    broken(mode="continuous")
    broken(event=Count)
    broken(mode="event", event=Count, needs=("arm",), effects="motion")
    broken(in_process="It may.", effects="memory")
    broken(access=("network",))
    broken(failures=[("It is broken", {}, "no_such_code")])
