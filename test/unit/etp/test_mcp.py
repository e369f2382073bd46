import asyncio
import base64
import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mcp")
import httpx2
from isolated_tools import add, misbehave
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from protocol_objects import PLACE, Bare, Bench, in_thread
from test_resources_and_watches import PROVIDED, count, draw

from deskhand.errors import DeskhandError
from deskhand.etp.approval import Approval
from deskhand.etp.mount import mount_client
from deskhand.etp.registry import Registry
from deskhand.etp.remote.client import McpConnection, mount_servers
from deskhand.etp.remote.config import McpServer, load_servers
from deskhand.etp.remote.server import ToolServer
from deskhand.etp.remote.transports import http_app, loopback, read_token
from deskhand.etp.resources import POINTS, ResourceRef
from deskhand.etp.session import Session
from deskhand.etp.tool import ToolContext, tool
from deskhand.skills.belief import Belief
from deskhand.tools.cognition.watches import list_watches, read_events, stop_watch
from deskhand.types.resources import resource_path

FOREIGN = McpServer(command=(sys.executable, str(Path(__file__).with_name("foreign_mcp_server.py"))))


@tool(**PLACE, examples=[("Scan", {})])
def scan(ctx: ToolContext) -> dict[str, ResourceRef]:
    """Scan points that go by reference."""
    ctx.progress(0.5, "half")
    return {"cloud": ctx.resources.put(np.eye(3), POINTS, "three points")}


def make_session(*tools, **options):
    registry = Registry()
    for item in tools:
        registry.add(item)
    return Session(registry, lambda: ToolContext(Bare(), Belief()), **options)


@pytest.fixture
def bench():
    bench = Bench()
    yield bench
    bench.go.set()


@pytest.fixture
def session(bench):
    with make_session(*bench.tools, draw, scan, count, list_watches, read_events, stop_watch) as session:
        yield session


def with_client(session, work, served=None, **options):
    async def run():
        async with Client(ToolServer(session, **(served or {})).server(), **options) as client:
            return await work(client)

    return asyncio.run(run())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_mcp_client_lists_every_tool_with_its_schemas_and_hints(session, mode):
    async def work(client):
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    tools = with_client(session, work, mode=mode)
    assert set(tools) == {card.name for card in session.registry.cards()}
    for card in session.registry.cards():
        listed = tools[card.name]
        assert listed.input_schema == card.input_schema
        assert listed.annotations.read_only_hint == (card.effects == "none")
        assert listed.annotations.destructive_hint == (card.effects == "motion")
    assert tools["draw"].output_schema == session.registry.get("draw").card.output_schema
    assert list(tools["count"].output_schema["properties"]) == ["watch_id"]


def test_results_errors_progress_and_resources_reach_the_client(session):
    heard = []

    async def progress(progress, total, message):
        heard.append((round(progress, 3), message))

    async def work(client):
        right = await client.call_tool("everything", {"number": 1.0, "count": 2, "point": {"x": 0.5}})
        wrong = await client.call_tool("everything", {"number": 9.0, "count": 2, "point": {"x": 0.5}})
        cloud = await client.call_tool("scan", {}, progress_callback=progress)
        content = (await client.read_resource(cloud.structured_content["cloud"]["uri"])).contents[0]
        image = await client.call_tool("draw", {})
        listed = (await client.list_resources()).resources
        return right, wrong, cloud, content, image, listed

    right, wrong, cloud, content, image, listed = with_client(session, work)
    assert right.structured_content == {"total": 3.5} and not right.is_error
    told = json.loads(wrong.content[0].text)
    assert wrong.is_error and told["code"] == "invalid_arguments" and told["details"]["problems"][0]["field"] == "number"
    assert heard == [(0.5, "half")]
    assert content.mime_type == POINTS
    assert base64.b64decode(content.blob) == session.resource(cloud.structured_content["cloud"]["uri"]).data
    assert [item.type for item in image.content] == ["text", "resource_link"]
    assert [resource.mime_type for resource in listed] == [POINTS, "image/png"]


def test_motion_obeys_the_approval_mode_whatever_the_client_says(bench):
    async def work(client):
        return await client.call_tool("hold", {}), await client.call_tool("give", {"what": "right"})

    with make_session(*bench.tools, approval=Approval("motion")) as session:
        held, given = with_client(session, work)
    assert held.is_error and json.loads(held.content[0].text)["code"] == "permission_denied"
    assert bench.most == 0 and not given.is_error


def test_a_short_list_finds_and_calls_the_rest(session):
    async def work(client):
        listed = (await client.list_tools()).tools
        found = await client.call_tool("find_tools", {"query": "add up all the numbers"})
        called = await client.call_tool("call_tool", {"name": "everything", "arguments": {"number": 0.5, "count": 2, "point": {"x": 0.5}}})
        return listed, found, called, await client.call_tool("call_tool", {"name": "nothing"}), await client.call_tool("find_tools", {})

    listed, found, called, unknown, empty = with_client(session, work, {"offered": ["draw", "grasping"], "version": "9.8"})
    assert [tool.name for tool in listed] == ["draw", *(card.name for card in session.registry.cards() if card.unit == "grasping"), "find_tools", "call_tool"]
    assert found.structured_content["tools"][0]["name"] == "everything" and "point" in found.structured_content["tools"][0]["input_schema"]["properties"]
    assert called.structured_content == {"total": 3.0}
    assert unknown.is_error and json.loads(unknown.content[0].text)["code"] == "unknown_tool"
    assert not empty.is_error


def test_pictures_come_with_the_result_when_they_are_wanted(session):
    async def work(client):
        return await client.call_tool("draw", {})

    kinds = [[item.type for item in with_client(session, work, {"pictures": wanted}).content] for wanted in (False, True)]
    assert kinds == [["text", "resource_link"], ["text", "image"]]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_is_named_with_its_session_and_cannot_pass_for_the_operators_task(bench, mode):
    import mcp_types

    names = []

    async def work(client):
        return [await client.call_tool("hold", {}) for _ in range(2)]

    approval = Approval("never", lambda request, gone: bool(names.append(request.caller)), others="motion")
    with make_session(*bench.tools, approval=approval) as session:
        for name in ("orchestrator/offline", "agent"):
            results = with_client(session, work, mode=mode, client_info=mcp_types.Implementation(name=name, version="1"))
            assert all(result.is_error for result in results)
    assert len(names) == 4 and names[0] == names[1] and names[2] == names[3] and names[0] != names[2]
    assert names[0].startswith("mcp/orchestrator-offline#") and names[2].startswith("mcp/agent#")


def test_a_client_that_cancels_stops_the_tool(session, bench):
    async def work(client):
        call = asyncio.ensure_future(client.call_tool("hold", {}))
        while not bench.running:
            await asyncio.sleep(0.01)
        call.cancel()
        while bench.running:
            await asyncio.sleep(0.01)

    with_client(session, work, mode="legacy")
    assert bench.ended == ["cancelled"]


def test_a_continuous_tool_is_started_read_and_stopped_by_a_client(session):
    async def work(client):
        watch = (await client.call_tool("count", {})).structured_content["watch_id"]
        PROVIDED["step"].release()
        read = await client.call_tool("read_events", {"watch_id": watch, "wait": 10})
        return read, await client.call_tool("stop_watch", {"watch_id": watch})

    read, stopped = with_client(session, work)
    assert read.structured_content["events"][0]["data"] == {"count": 1}
    assert stopped.structured_content["result"] == {"count": 1}


def test_prompts_are_filled_in_and_resources_that_are_not_there_are_said_so(session):
    async def work(client):
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        text = (await client.get_prompt("do_task", {"instruction": "tidy up"})).messages[0].content.text
        problems = []
        for call in (client.get_prompt("do_task", {}), client.get_prompt("nothing"), client.read_resource("deskhand://nothing")):
            try:
                await call
            except Exception as error:
                problems.append(str(error))
        return names, text, problems

    names, text, problems = with_client(session, work)
    assert "do_task" in names and "tidy up" in text
    assert len(problems) == 3 and "no resource" in problems[2]


def http_status(app, headers):
    async def run():
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:1") as web:
            return (await web.post("/elsewhere", headers=headers, json={})).status_code

    return asyncio.run(run())


def test_http_needs_the_token_and_a_public_address_needs_one(session, tmp_path, monkeypatch):
    token = "0123456789abcdef0123"
    server = ToolServer(session).server()
    app = http_app(server, "0.0.0.0", token)
    for headers in ({}, {"Authorization": token}, {"Authorization": "Bearer wrong"}):
        assert http_status(app, headers) == 401
    assert http_status(app, {"Authorization": f"Bearer {token}"}) == 404
    for host, given in (("0.0.0.0", ""), ("192.168.1.5", ""), ("127.0.0.1", "short")):
        with pytest.raises(DeskhandError, match="token"):
            http_app(server, host, given)
    assert [loopback(host) for host in ("127.0.0.1", "::1", "localhost", "10.0.0.1", "robot")] == [True, True, True, False, False]
    (tmp_path / "token").write_text(f"{token}\n")
    assert read_token(tmp_path / "token") == token
    with pytest.raises(DeskhandError, match="cannot be read"):
        read_token(tmp_path / "none")


def test_a_client_with_the_token_calls_tools_over_http(session):
    import contextlib
    import socket
    import threading
    import time

    import uvicorn

    token = "0123456789abcdef0123"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    config = uvicorn.Config(http_app(ToolServer(session).server(), "127.0.0.1", token), host="127.0.0.1", port=port, log_level="error")
    web_server = uvicorn.Server(config)
    thread = threading.Thread(target=web_server.run, daemon=True)
    thread.start()
    while not web_server.started and thread.is_alive():
        time.sleep(0.01)

    async def run():
        async with contextlib.AsyncExitStack() as stack:
            web = await stack.enter_async_context(httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}))
            client = await stack.enter_async_context(Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=web)))
            return await client.call_tool("give", {"what": "right"})

    try:
        assert asyncio.run(run()).structured_content == {"total": 1.0}
        with pytest.raises(DeskhandError, match="does not answer"):
            McpConnection("closed", McpServer(url=f"http://127.0.0.1:{port}/mcp")).open()
    finally:
        web_server.should_exit = True
        thread.join(10)


def test_tools_of_a_foreign_server_work_through_our_registry(session):
    connections, problems = mount_servers(session.registry, {"foreign": FOREIGN})
    try:
        assert problems == []
        effects = {name: session.describe(f"foreign_{name}")["effects"] for name in ("multiply", "note", "launch")}
        assert effects == {"multiply": "none", "note": "memory", "launch": "motion"}
        assert session.invoke("foreign_multiply", {"a": 3, "b": 1.5}).data == {"product": 4.5}
        assert session.invoke("foreign_note", {"text": "hello"}).data["result"] == "noted: hello"
        assert session.invoke("foreign_multiply", {"a": "three", "b": 1.5}).code == "invalid_arguments"
        failed = session.invoke("foreign_launch", {"what": "the desk"})
        assert failed.code == "tool_failed" and "does not fly" in failed.message
        image = session.invoke("foreign_picture", {})
        assert session.resource(image.data["resources"][0]["uri"]).array().shape == (1, 1, 3)
        assert "foreign_multiply" in [hit.name for hit in session.search("multiply two numbers", limit=2)]
        import threading

        heard, stop = [], threading.Event()
        thread, results = in_thread(session.invoke, "foreign_wait", {"seconds": 30}, lambda *line: (heard.append(line), stop.set()), stop.is_set)
        thread.join(20)
        assert results[0].code == "cancelled" and heard
    finally:
        for connection in connections:
            connection.close()
    assert session.invoke("foreign_multiply", {"a": 3, "b": 1.5}).code == "node_unavailable"


def test_a_foreign_server_that_is_not_there_or_not_as_configured_is_told(session, tmp_path):
    servers = {"gone": McpServer(command=("/does/not/exist",)), "foreign": FOREIGN.model_copy(update={"tools": ("note", "juggle"), "effects": "motion"})}
    connections, problems = mount_servers(session.registry, servers)
    for connection in connections:
        connection.close()
    assert len(problems) == 2 and "gone" in problems[0] and "juggle" in problems[1]
    assert session.describe("foreign_note")["effects"] == "motion"
    assert load_servers(resource_path("config/mcp.yaml")) == {}
    for text in ("servers: {a: {}}", "servers: {A b: {url: x}}", "servers: {a: {url: x, unit: y}}", "server: {}", "a: ["):
        (tmp_path / "mcp.yaml").write_text(text)
        with pytest.raises(DeskhandError, match="mcp"):
            load_servers(tmp_path / "mcp.yaml")


def test_tools_of_another_tool_server_are_mounted_with_their_errors_and_resources(session):
    with make_session(add, misbehave) as ours:
        assert mount_client(ours, session, "arm_2", "ros:/arm_2") == []
        assert ours.invoke("arm_2_everything", {"number": 1.0, "count": 2, "point": {"x": 0.5}}).data == {"total": 3.5}
        assert ours.invoke("arm_2_give", {"what": "own"}).code == "grasp_failed"
        ref = ours.invoke("arm_2_draw", {}).data["picture"]
        assert ours.resource(ref["uri"]).array().shape == (4, 5, 3)
        watch = ours.invoke("arm_2_count", {}).data["watch_id"]
        assert ours.invoke("arm_2_stop_watch", {"watch_id": watch}).data["result"] == {"count": 0}
        with pytest.raises(DeskhandError, match="no resource"):
            ours.resource("deskhand://nothing")
