"""The page's server: what it gives out, to whom it listens, what a press does when it cannot be done."""

import sys
import time
import urllib.request
from types import SimpleNamespace

import pytest

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.types import SafetyStatus
from deskhand.view.live import LiveSource
from deskhand.view.page import Page, free_port, load_viser

viser = pytest.importorskip("viser", reason="the operator page needs viser (extra: view)")


class Operator:
    """Writes down what it is told; ``broken`` cannot do anything."""

    def __init__(self, broken=False):
        self.heard, self.broken = [], broken

    def _hear(self, *words):
        self.heard.append(words)
        if self.broken:
            raise DeskhandError("node_unavailable", "nobody serves safety/stop.")
        return "done"

    def run(self, instruction):
        return self._hear("run", instruction)

    def tell(self, text):
        return self._hear("tell", text)

    def decide(self, request, approve, grant=False):
        return self._hear("decide", request, approve)

    def stop(self):
        return self._hear("stop")

    def reset(self):
        return self._hear("reset")

    def pause(self, paused):
        return self._hear("pause", paused)


@pytest.fixture(scope="module")
def page():
    with Page(LiveSource(), RobotModel.load("wx250s"), Operator(), port=free_port(port=18080)) as page:
        yield page


def connect(page, origin):
    from websockets.sync.client import connect

    address = page.url.removeprefix("http://")
    return connect(f"ws://{address}", origin=origin, subprotocols=[f"viser-v{viser.__version__}"], max_size=None, open_timeout=20)


def test_it_serves_the_page_and_takes_connections_of_it(page):
    with urllib.request.urlopen(page.url, timeout=20) as answer:
        assert b"<html" in answer.read(2000).lower()
    with connect(page, page.url) as own:
        assert own.recv(timeout=20)


def test_another_sites_page_is_refused_before_it_gets_or_says_anything(page):
    from websockets.exceptions import ConnectionClosed

    with connect(page, "https://example.org") as foreign, pytest.raises(ConnectionClosed) as caught:
        while True:
            foreign.recv(timeout=20)
    assert caught.value.rcvd.code == 1008


def test_a_press_that_cannot_be_done_says_why_and_does_not_end_the_page():
    from deskhand.view.panels import Notices

    shown = []
    client = SimpleNamespace(add_notification=lambda title, body, **style: shown.append((body, style["color"])))
    notices = Notices(SimpleNamespace(get_clients=lambda: {0: client}))
    broken = Operator(broken=True)
    notices.doing(broken.stop)(SimpleNamespace(client=client))
    notices.doing(lambda: 1 / 0)(SimpleNamespace(client=None))
    notices.doing(Operator().stop)(SimpleNamespace(client=client))
    assert [color for _, color in shown] == ["red", "red", "green"]
    assert "nobody serves safety/stop" in shown[0][0] and "ZeroDivisionError" in shown[1][0]


def test_a_moment_that_cannot_be_drawn_leaves_the_page_at_work(page):
    page.refresh()
    page._source.on_safety(SafetyStatus(True, "safety_stop", "pressed"))
    page._source.on_event({"event": "start", "id": "a", "tool": "pick", "caller": "x", "arguments": {"object_id": object()}, "time": 0.0})
    page.refresh()
    end = time.monotonic() + 20
    while "pressed" not in page._parts[0]._status.content:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_port_that_is_taken_is_passed_over(page):
    taken = int(page.url.rpartition(":")[2])
    assert free_port(port=taken) > taken


def test_without_viser_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(DeskhandError) as caught:
        load_viser()
    assert caught.value.code == "missing_dependency" and "pip install" in str(caught.value)
