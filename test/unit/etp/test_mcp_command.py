"""The servers as processes, with the official client before them."""

import asyncio
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")
import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

TOKEN = "0123456789abcdef0123"
HERE = Path(__file__).parent
ENVIRONMENT = {name: os.environ[name] for name in ("PYTHONPATH", "LD_LIBRARY_PATH", "MUJOCO_GL", "PATH", "HOME") if name in os.environ}


def test_what_tools_print_does_not_come_between_the_messages_on_standard_output():
    async def run():
        server = StdioServerParameters(command=sys.executable, args=[str(HERE / "printing_mcp_server.py")], env=ENVIRONMENT)
        async with Client(server) as client:
            long = "ä" * 150_000  # more than a pipe holds
            return [(await client.call_tool("chatter", {"text": text})).structured_content["text"] == text for text in ("a", long, "b")]

    assert asyncio.run(run()) == [True, True, True]


def test_messages_from_a_file_are_answered_into_a_file(tmp_path):
    lines = [
        '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, '
        '"clientInfo": {"name": "file", "version": "1"}}}',
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
    ]
    (tmp_path / "in").write_text("\n".join(lines) + "\n")
    with (tmp_path / "in").open() as given, (tmp_path / "out").open("w") as told:
        subprocess.run([sys.executable, str(HERE / "printing_mcp_server.py")], stdin=given, stdout=told, timeout=60, check=True)
    assert '"id":1' in (tmp_path / "out").read_text().replace(" ", "")


def own_address():
    """An address of this machine that is not the loopback's, else None; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            address = probe.getsockname()[0]
        except OSError:
            return None
    return None if address.startswith(("127.", "0.")) else address


async def called(address, headers):
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as web,
        Client(streamable_http_client(address, http_client=web)) as client,
    ):
        tools = (await client.list_tools()).tools
        return len(tools), await client.call_tool("detect_objects", {})


def test_the_command_serves_over_http_beyond_this_machine_with_a_token_only():
    pytest.importorskip("mujoco")
    address = own_address()
    if address is None:
        pytest.skip("this machine has no address beside the loopback's")
    with socket.create_server(("0.0.0.0", 0)) as taken:
        port = taken.getsockname()[1]
    command = [sys.executable, "-m", "deskhand", "mcp", "--http", "--sim", "--host", "0.0.0.0", "--port", str(port)]
    refused = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert refused.returncode != 0 and "token is needed" in refused.stderr
    server = subprocess.Popen(command, env={**ENVIRONMENT, "DESKHAND_MCP_TOKEN": TOKEN}, stderr=subprocess.PIPE, text=True)
    try:
        said = next(line for line in server.stderr if line.startswith("serving"))
        assert re.search(r":\d+/mcp with a token", said) and TOKEN not in said
        url = f"http://{address}:{port}/mcp"
        assert httpx2.post(url, json={}, timeout=60).status_code == 401
        with pytest.raises(BaseException) as caught:  # noqa: PT011 (an ExceptionGroup)
            asyncio.run(called(url, {"Authorization": "Bearer wrong-wrong-wrong"}))
        assert not isinstance(caught.value, KeyboardInterrupt)
        count, look = asyncio.run(called(url, {"Authorization": f"Bearer {TOKEN}"}))
        assert count == 17 and look.structured_content["objects"]
    finally:
        server.terminate()
        assert server.wait(20) is not None
