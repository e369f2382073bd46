"""The tools of an MCP server, mounted beside ours."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import os
import threading
from collections.abc import AsyncIterator, Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from deskhand.errors import DeskhandError
from deskhand.etp.card import Card
from deskhand.etp.mount import mounted_name
from deskhand.etp.registry import Registry
from deskhand.etp.remote.config import McpServer
from deskhand.etp.tool import ToolContext

log = logging.getLogger(__name__)

CONNECT = 60.0  # [s]
POLL = 0.02  # [s]
ANY_RESULT: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "resources": {"type": "array", "items": {"type": "object"}}},
    "required": ["text", "resources"],
}
"""What a tool gives that says nothing of its results."""

T = TypeVar("T")


class McpConnection:
    """A connection to one server, kept by a thread of its own; a context manager. Calls may come from many threads."""

    def __init__(self, name: str, server: McpServer) -> None:
        self.name, self._server = name, server
        self._loop = asyncio.new_event_loop()
        self._ready: Future[None] = Future()
        self._stop: asyncio.Event | None = None
        self._client: Client | None = None
        self._thread = threading.Thread(target=self._serve, name=f"mcp {name}", daemon=True)

    def __enter__(self) -> McpConnection:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> McpConnection:
        """Connect.

        Raises:
            DeskhandError: ``node_unavailable`` with the reason.
        """
        self._thread.start()
        try:
            self._ready.result(CONNECT)
        except Exception as error:
            self.close()
            raise DeskhandError(
                "node_unavailable", f"the MCP server {self.name} does not answer: {_reason(error)}.", hint="See its entry in mcp.yaml."
            ) from error
        return self

    def close(self) -> None:
        """Hang up; a server that was started is ended."""
        if self._thread.is_alive() and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # its loop has closed by itself meanwhile
                self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)

    def tools(self) -> list[types.Tool]:
        """What it offers.

        Raises:
            DeskhandError: ``node_unavailable``.
        """
        found: list[types.Tool] = []
        cursor = None
        while True:
            page = self._ask(self._connected().list_tools(cursor=cursor)).result(CONNECT)
            found += page.tools
            cursor = page.next_cursor
            if cursor is None:
                return found

    def call(self, name: str, arguments: Mapping[str, Any], context: ToolContext) -> types.CallToolResult:
        """Call one of its tools and wait.

        Raises:
            DeskhandError: ``node_unavailable`` when the connection is gone, ``cancelled``, ``tool_failed``.
        """

        async def progress(progress: float, total: float | None, message: str | None) -> None:
            context.progress(progress / total if total else 0.0, message or "")

        future = self._ask(self._connected().call_tool(name, dict(arguments), progress_callback=progress))
        while True:
            try:
                return future.result(POLL)
            except NotYet:
                if not self._thread.is_alive():
                    raise self._gone() from None
                if context.cancelled():
                    future.cancel()
                    raise DeskhandError("cancelled", f"{name} of {self.name} was cancelled.") from None
            except MCPError as error:
                raise DeskhandError("tool_failed", f"{name} of {self.name}: {error}.") from error
            except (OSError, RuntimeError, CancelledError) as error:
                raise self._gone() from error

    def _connected(self) -> Client:
        if self._client is None or not self._thread.is_alive():
            raise self._gone()
        return self._client

    def _gone(self) -> DeskhandError:
        return DeskhandError("node_unavailable", f"the MCP server {self.name} is gone.", retry=True, hint="Start it, then start the tool server again.")

    def _ask(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._hold())
        except Exception as error:  # whatever the transport raises
            if not self._ready.done():
                self._ready.set_exception(error)
            else:
                log.error("the connection to the MCP server %s broke: %s", self.name, _reason(error))
        finally:
            self._client = None
            self._loop.close()

    async def _hold(self) -> None:
        self._stop = asyncio.Event()
        async with _client(self._server) as client:
            self._client = client
            self._ready.set_result(None)
            await self._stop.wait()


@asynccontextmanager
async def _client(server: McpServer) -> AsyncIterator[Client]:
    if server.command:
        command = StdioServerParameters(command=server.command[0], args=list(server.command[1:]), env=server.environment)
        async with Client(command) as client:
            yield client
        return
    if not server.token_env:
        async with Client(server.url) as client:
            yield client
        return
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    token = os.environ.get(server.token_env, "")
    if not token:
        raise DeskhandError("config_error", f"the environment variable {server.token_env} with the token of {server.url} is not set.")
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as web, Client(streamable_http_client(server.url, http_client=web)) as client:
        yield client


@dataclass(frozen=True)
class McpTool:
    """A tool that an MCP server offers under ``name``."""

    card: Card
    connection: McpConnection
    name: str
    structured: bool

    def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> Any:
        """See Tool. Images and other bytes become resources."""
        result = self.connection.call(self.name, arguments, context)
        texts = [item.text for item in result.content if isinstance(item, types.TextContent)]
        if result.is_error:
            raise DeskhandError("tool_failed", f"{self.card.source}: {' '.join(texts) or 'it gave no reason'}"[:2000])
        if self.structured:
            return result.structured_content
        refs = [_keep(item, context) for item in result.content if isinstance(item, types.ImageContent | types.AudioContent)]
        return {"text": "\n".join(texts), "resources": refs}


def mount_mcp(registry: Registry, connection: McpConnection, server: McpServer) -> list[str]:
    """Add the tools of a connected server as ``name_tool``.

    Returns:
        One line for each tool that was refused, or asked for and not there.

    Raises:
        DeskhandError: ``node_unavailable``.
    """
    problems, seen = [], set()
    for tool in connection.tools():
        seen.add(tool.name)
        if server.tools and tool.name not in server.tools:
            continue
        try:
            registry.add(McpTool(card_of_tool(tool, connection.name, server), connection, tool.name, tool.output_schema is not None))
        except DeskhandError as error:
            problems.append(f"tool {tool.name} of the MCP server {connection.name} was refused: {error}")
    return problems + [f"the MCP server {connection.name} has no tool {name!r}" for name in server.tools if name not in seen]


def mount_servers(registry: Registry, servers: Mapping[str, McpServer]) -> tuple[list[McpConnection], list[str]]:
    """Connect to all ``servers`` and mount their tools.

    Returns:
        The connections, to be closed, and one line for each server or tool that could not be had; the others work all the same.
    """
    connections, problems = [], []
    for name, server in servers.items():
        connection = McpConnection(name, server)
        try:
            connection.open()
            connections.append(connection)
            problems += mount_mcp(registry, connection, server)
        except DeskhandError as error:
            problems.append(str(error))
    return connections, problems


def card_of_tool(tool: types.Tool, name: str, server: McpServer) -> Card:
    """What an MCP server says of a tool, as a card.

    Raises:
        DeskhandError: ``config_error`` for a name or schema that no card can have.
    """
    text = " ".join((tool.description or tool.title or tool.name.replace("_", " ")).split())
    summary = text.split(". ")[0][:300]
    return Card.from_json(
        {
            "name": mounted_name(name, tool.name),
            "group": server.group,
            "unit": server.unit,
            "summary": summary if len(summary) >= 10 else f"The tool {tool.name} of {name}: {summary}",
            "when_to_use": text if len(text) >= 10 else f"For what {name} means by {tool.name}.",
            "limits": f"Offered by the MCP server {name}; what it says of itself was not checked.",
            "input_schema": tool.input_schema,
            "output_schema": tool.output_schema or ANY_RESULT,
            "effects": _effects(tool.annotations) if server.effects == "hints" else server.effects,
            "timeout": server.timeout,
            "source": f"mcp:{name}",
        }
    )


def _effects(hints: types.ToolAnnotations | None) -> str:
    if hints is not None and hints.read_only_hint:
        return "none"
    return "memory" if hints is not None and hints.destructive_hint is False else "motion"


def _keep(item: types.ImageContent | types.AudioContent, context: ToolContext) -> dict[str, Any]:
    return dict(context.resources.put(base64.b64decode(item.data), item.mime_type))


def _reason(error: BaseException) -> str:
    while inner := getattr(error, "exceptions", ()):  # a group of what tasks raised
        error = inner[0]
    return f"{type(error).__name__}: {error}"
