"""How an MCP server is reached: standard input and output, or streamable HTTP."""

from __future__ import annotations

import hmac
import ipaddress
import os
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server

from deskhand.errors import DeskhandError
from deskhand.etp.remote.pipes import standard_streams

TOKEN_VARIABLE = "DESKHAND_MCP_TOKEN"
MIN_TOKEN = 16
PATH = "/mcp"

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client over standard input and output, until it goes."""

    async def run() -> None:
        async with standard_streams() as (stdin, stdout), stdio_server(stdin, stdout) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)


def listening(host: str, port: int) -> socket.socket:
    """A socket at which clients may knock from now on.

    Raises:
        DeskhandError: ``config_error`` when the address is none of this machine's or the port is taken.
    """
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=100)
    except OSError as error:
        raise DeskhandError("config_error", f"nothing can listen on {host} port {port}: {error}.", hint="Choose another with --host and --port.") from error


def serve_http(server: Server[Any], host: str, token: str, door: socket.socket) -> None:
    """Serve clients over streamable HTTP at ``http://host:port/mcp``, which ``door`` listens on, until Ctrl-C."""
    config = uvicorn.Config(http_app(server, host, token), log_level="warning", timeout_graceful_shutdown=3)
    uvicorn.Server(config).run(sockets=[door])


def http_app(server: Server[Any], host: str, token: str) -> App:
    """The server as an ASGI application; with a ``token`` every request must bring it as ``Authorization: Bearer``. Raises as :func:`check_token`."""
    check_token(host, token)
    app: App = server.streamable_http_app(streamable_http_path=PATH, host=host)
    return guarded(app, token) if token else app


def check_token(host: str, token: str) -> None:
    """Whether a server may listen on ``host`` with ``token``, empty for none.

    Raises:
        DeskhandError: ``config_error`` for a host that others can reach without a token, or a token that can be guessed.
    """
    if not token and not loopback(host):
        raise DeskhandError(
            "config_error", f"{host} can be reached from elsewhere, so a token is needed.", hint=f"Set {TOKEN_VARIABLE} or give --token-file, or use 127.0.0.1."
        )
    if token and len(token) < MIN_TOKEN:
        raise DeskhandError("config_error", f"the token must have {MIN_TOKEN} characters or more.", hint="For example: openssl rand -hex 24.")


def guarded(app: App, token: str) -> App:
    """``app`` for those who bring the token; others get 401."""
    expected = f"Bearer {token}".encode()

    async def check(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        given = next((value for key, value in scope.get("headers", ()) if key == b"authorization"), b"")
        if scope["type"] == "http" and hmac.compare_digest(given, expected):
            await app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b"a token is needed: Authorization: Bearer ...\n"})

    return check


def loopback(host: str) -> bool:
    """Whether only this machine reaches ``host``."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_token(file: Path | None) -> str:
    """The token of a file, or of the environment; empty for none.

    Raises:
        DeskhandError: ``config_error`` when the file cannot be read or is empty.
    """
    if file is None:
        return os.environ.get(TOKEN_VARIABLE, "").strip()
    try:
        token = file.read_text().strip()
    except OSError as error:
        raise DeskhandError("config_error", f"the token file cannot be read: {error}.") from error
    if not token:
        raise DeskhandError("config_error", f"the token file {file} is empty.")
    return token
