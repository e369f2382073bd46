"""Watches for MCP clients: each is a resource whose subscribers are notified of every event."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any

import anyio
import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolClient
from deskhand.etp.resources import SCHEME
from deskhand.etp.watches import WatchEvent

log = logging.getLogger(__name__)

WATCHES = f"{SCHEME}watches/"
"""Uris of watches: this and the id of the watch."""
Context = ServerRequestContext[Any, Any]


def watch_of(uri: str) -> str:
    """The id of the watch that a uri stands for, empty for other resources."""
    return uri.removeprefix(WATCHES) if uri.startswith(WATCHES) else ""


class WatchResources:
    """Notifies MCP clients of what watches of ``client`` tell, by ``notifications/resources/updated``.

    Clients of protocols before 2026-07-28 subscribe by ``resources/subscribe``, those of later ones by ``subscriptions/listen``. A watch is listened to as long
    as one of them wants it, and until it ends.
    """

    def __init__(self, client: ToolClient) -> None:
        self._client = client
        self._bus = InMemorySubscriptionBus()
        self._streams = ListenHandler(self._bus)
        self._wanted: dict[str, int] = {}
        self._ends: dict[str, Callable[[], None]] = {}
        self._subscribed: list[tuple[str, object, Callable[[], None]]] = []  # uri, whose connection, what ends it
        self._lock = threading.Lock()

    def read(self, watch_id: str) -> dict[str, Any]:
        """The watch and its events that are kept, as read_events tells them. Raises DeskhandError."""
        result = self._client.invoke("read_events", {"watch_id": watch_id})
        if not result.ok:
            raise DeskhandError(result.code, result.message, hint=result.hint)
        return dict(result.data)

    @property
    def listening(self) -> int:
        """How many watches are listened to."""
        return len(self._ends)

    async def listen(self, ctx: Context, params: types.SubscriptionsListenRequestParams) -> types.SubscriptionsListenResult:
        """Serve ``subscriptions/listen``: one stream, until its client goes."""
        wanted = [str(uri) for uri in params.notifications.resource_subscriptions or () if watch_of(str(uri))]
        taken: list[str] = []
        try:
            for uri in wanted:
                await self._take(uri)
                taken.append(uri)
            return await self._streams(ctx, params)
        finally:
            for uri in taken:
                self._leave(uri)

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Serve ``resources/subscribe``."""
        uri, whose = str(params.uri), ctx.session.client_params
        if watch_of(uri) and not self._of(uri, whose):
            entry = (uri, whose, self._bus.subscribe(self._notifier(ctx.session, uri)))
            self._subscribed.append(entry)
            try:
                await self._take(uri)
            except MCPError:
                self._subscribed.remove(entry)
                entry[2]()
                raise
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Serve ``resources/unsubscribe``."""
        uri = str(params.uri)
        for entry in self._of(uri, ctx.session.client_params):
            self._subscribed.remove(entry)
            entry[2]()
            self._leave(uri)
        return types.EmptyResult()

    def _of(self, uri: str, whose: object) -> list[tuple[str, object, Callable[[], None]]]:
        """Subscriptions of one connection; what a client said when it connected is one object all the time."""
        return [entry for entry in self._subscribed if entry[0] == uri and entry[1] is whose]

    def _notifier(self, session: ServerSession, uri: str) -> Callable[[Any], None]:
        loop = asyncio.get_running_loop()
        tasks: set[asyncio.Task[None]] = set()

        async def notify() -> None:
            try:
                await session.send_resource_updated(uri)
            except Exception as error:  # the client has gone without a word
                log.debug("%s cannot be told: %s", uri, error)

        def told(event: Any) -> None:
            if isinstance(event, ResourceUpdated) and event.uri == uri:
                task = loop.create_task(notify())
                tasks.add(task)
                task.add_done_callback(tasks.discard)

        return told

    async def _take(self, uri: str) -> None:
        """Listen to a watch for one client more."""
        loop = asyncio.get_running_loop()
        ended = threading.Event()

        def told(event: WatchEvent) -> None:
            with self._lock:
                if event.ended:
                    ended.set()
                    self._ends.pop(uri, None)
            if loop.is_closed():  # the server has ended with its clients
                self._leave(uri)
            else:
                asyncio.run_coroutine_threadsafe(self._bus.publish(ResourceUpdated(uri)), loop)

        with self._lock:
            self._wanted[uri] = self._wanted.get(uri, 0) + 1
            if self._wanted[uri] > 1:
                return
        try:
            end = await anyio.to_thread.run_sync(lambda: self._client.subscribe(watch_of(uri), told))
        except DeskhandError as error:
            self._leave(uri)
            raise MCPError(code=types.INVALID_PARAMS, message=str(error)) from error
        with self._lock:
            if not ended.is_set():
                self._ends[uri] = end

    def _leave(self, uri: str) -> None:
        with self._lock:
            left = self._wanted.pop(uri, 1) - 1
            if left > 0:
                self._wanted[uri] = left
                return
            end = self._ends.pop(uri, None)
        if end is not None:
            end()
