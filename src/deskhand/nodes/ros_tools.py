"""The tool server of a ROS graph as a ToolClient; what the orchestrator and the command line use."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.signals import SignalHandlerOptions

from deskhand.errors import DeskhandError, error_from_number
from deskhand.etp.base import Feedback, ToolResult, ToolSummary
from deskhand.etp.outcome import failure
from deskhand.etp.resources import Resource
from deskhand.etp.validation import InvalidArguments, Problem, unreadable
from deskhand.etp.watches import Listener, WatchEvent
from deskhand.etp.wire import result_from_text
from deskhand.nodes.action_client import ActionClient
from deskhand.nodes.node import DeskhandNode, call_service
from deskhand.nodes.peers import Peers
from deskhand.nodes.spinner import Spinner
from deskhand.nodes.watch_topics import PREFIX, WatchSubscription
from deskhand_interfaces.action import InvokeTool
from deskhand_interfaces.srv import CallTool, DescribeTool, ListTools, ReadResource

SERVER = "tool_server"
POLL = 0.02  # [s]
QUICK = 10.0  # [s] time limit of a tool that is called by the service
AFTER_CANCEL = 20.0  # [s] wall time that a cancelled call may take to come to its end
LOST = 5.0  # [s] that the server may be undiscovered during a call


class RosToolClient:
    """:class:`deskhand.etp.base.ToolClient` over ``tools/list``, ``tools/describe``, ``tools/invoke``, ``tools/call`` and ``tools/resource``.

    A tool that moves nothing and is done within :data:`QUICK` seconds is called by the service ``tools/call``, all others by the action ``tools/invoke``.
    ``node`` must be spun by other threads; ``namespace`` is that of the server where it is another one than the node's, for example ``/arm_2``.
    A server that has died or vanished raises ``node_unavailable`` in the middle of a call too.
    """

    def __init__(self, node: DeskhandNode, wait_for: float = 5.0, namespace: str = "") -> None:
        self.node, self._wait_for = node, wait_for
        self._prefix = prefix = f"{namespace.rstrip('/')}/" if namespace else ""
        self._peers = Peers(node, f"{prefix}heartbeat")
        group = {"callback_group": node.reentrant}
        self._list = node.create_client(ListTools, f"{prefix}tools/list", **group)
        self._describe = node.create_client(DescribeTool, f"{prefix}tools/describe", **group)
        self._resource = node.create_client(ReadResource, f"{prefix}tools/resource", **group)
        self._quick: dict[str, bool] = {}
        self._call = node.create_client(CallTool, f"{prefix}tools/call", **group)
        self._invoke = ActionClient(node, InvokeTool, f"{prefix}tools/invoke", **group)

    def close(self) -> None:
        """Release what does not belong to the node."""
        self._invoke.destroy()
        self._peers.close()

    def search(self, text: str = "", group: str = "", unit: str = "", limit: int = 0) -> list[ToolSummary]:
        """See ToolClient."""
        response = self._ask(self._list, ListTools.Request(text=text, group=group, unit=unit, limit=max(0, int(limit))))
        fields = ("name", "group", "unit", "summary", "effects", "score", "available", "unavailable_reason")
        return [ToolSummary(*(getattr(tool, field) for field in fields)) for tool in response.tools]

    def describe(self, name: str) -> dict[str, Any]:
        """See ToolClient."""
        card: dict[str, Any] = json.loads(self._ask(self._describe, DescribeTool.Request(name=name)).card_json)
        return card

    def resource(self, uri: str) -> Resource:
        """See ToolClient."""
        response = self._ask(self._resource, ReadResource.Request(uri=uri))
        return Resource(uri, response.media_type, bytes(response.data), response.text)

    def subscribe(self, watch_id: str, listener: Listener, since: int = 0) -> Callable[[], None]:
        """See ToolClient; over the topic ``tools/watches/NAME`` of the tool that watches."""
        tool = next((watch["tool"] for watch in self._told("list_watches", {})["watches"] if watch["watch_id"] == watch_id), None)
        if tool is None:
            raise DeskhandError("unknown_watch", f"there is no watch {watch_id[:40]!r}.", hint="See list_watches.")
        subscription = WatchSubscription(self.node, f"{self._prefix}{PREFIX}/{tool}", watch_id, listener, since)
        try:
            kept = self._told("read_events", {"watch_id": watch_id, "since": since})
        except DeskhandError:
            subscription.close()
            raise
        subscription.begin([WatchEvent(watch_id, tool, **event) for event in kept["events"]])
        return subscription.close

    def _told(self, name: str, arguments: Mapping[str, Any]) -> Any:
        result = self.invoke(name, arguments)
        if not result.ok:
            raise DeskhandError(result.code, result.message, retry=result.retry, hint=result.hint)
        return result.data

    def invoke(
        self, name: str, arguments: Mapping[str, Any], feedback: Feedback | None = None, cancelled: Callable[[], bool] | None = None, caller: str = ""
    ) -> ToolResult:
        """See ToolClient. A cancel is passed on, and the truth about what became of the call is waited for; of a quick tool it ends the waiting alone.

        What a quick tool logs comes to ``feedback`` with its result.
        """
        problem = unreadable(dict(arguments)) if isinstance(arguments, Mapping) else Problem("", repr(arguments)[:60], "the arguments are not an object", "{}")
        if problem:
            return failure(InvalidArguments(name, [problem]), name, 0.0)
        text = json.dumps(dict(arguments), allow_nan=False)
        if self._is_quick(name):
            return self._call_quickly(CallTool.Request(tool=name, arguments_json=text, caller=caller), feedback, cancelled)
        goal = InvokeTool.Goal(tool=name, arguments_json=text, caller=caller)
        end = time.monotonic() + self._wait_for
        while not self._invoke.server_is_ready():
            if time.monotonic() > end or self._peers.dead(SERVER):
                raise self._gone("nobody serves tools/invoke.")
            time.sleep(POLL)

        def on_feedback(message: Any) -> None:
            if feedback is not None:
                feedback(float(message.feedback.progress), message.feedback.text)

        ready = self._invoke.server_is_ready
        handle = self._wait(self._invoke.send_goal_async(goal, feedback_callback=on_feedback), name, ready)
        if not handle.accepted:
            return failure(DeskhandError("busy", f"{name}: the tool server runs as many calls as it can.", retry=True), name, 0.0)
        response = self._wait(handle.get_result_async(), name, ready, cancelled, handle.cancel_goal_async)
        return result_from_text(response.result.result_json)

    def _wait(
        self, future: Any, name: str, is_ready: Callable[[], bool], cancelled: Callable[[], bool] | None = None, cancel: Callable[[], Any] | None = None
    ) -> Any:
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        end, lost_at = float("inf"), float("inf")
        while not done.wait(POLL):
            now = time.monotonic()
            lost_at = float("inf") if is_ready() else min(lost_at, now)
            if self._peers.dead(SERVER) or now - lost_at > LOST:
                if done.wait(0.05):  # an answer may have been on its way
                    break
                raise self._gone(f"the tool server vanished during {name}.")
            if cancel is not None and cancelled is not None and cancelled():
                cancel()
                cancel = None
                end = now + AFTER_CANCEL
            if now > end:
                raise DeskhandError("node_unavailable", f"{name} was cancelled, but the tool server does not say what became of it.")
        return future.result()

    def _call_quickly(self, request: CallTool.Request, feedback: Feedback | None, cancelled: Callable[[], bool] | None) -> ToolResult:
        def give_up() -> None:
            raise DeskhandError("cancelled", f"{request.tool} was cancelled.")

        try:
            answer = self._wait(self._call.call_async(request), request.tool, self._call.service_is_ready, cancelled, give_up)
        except DeskhandError as error:
            if error.code == "cancelled":  # it moves nothing, and its end is near
                return failure(error, request.tool, 0.0)
            raise
        result = result_from_text(answer.result_json)
        for line in result.details.get("log", ()) if feedback is not None else ():
            feedback(1.0, line)  # type: ignore[misc]
        return result

    def _is_quick(self, name: str) -> bool:
        """Whether a tool moves nothing and ends within seconds, by its card, which is read once, and the server has the service."""
        if not self._call.service_is_ready():
            return False
        if name not in self._quick:
            try:
                card = self.describe(name)
            except DeskhandError as error:
                if error.code != "unknown_tool":
                    raise
                return False  # the call will say so, with the nearest names
            self._quick[name] = card["effects"] != "motion" and card["timeout"] <= QUICK
        return self._quick[name]

    def _ask(self, client: Any, request: Any) -> Any:
        if self._peers.dead(SERVER):
            raise self._gone(f"nobody serves {client.srv_name}.")
        response = call_service(client, request, timeout=10.0, wait_for=self._wait_for)
        if response.error_code:
            raise error_from_number(response.error_code, response.error_message)
        return response

    def _gone(self, text: str) -> DeskhandError:
        return DeskhandError("node_unavailable", text, hint="Its node has died or was not started: `deskhand up sim` starts one.")


@contextmanager
def connect(name: str = "tools_cli", wait_for: float = 5.0, namespace: str = "") -> Iterator[RosToolClient]:
    """A client in a process that has no node: makes one in the ROS ``namespace`` and spins it in a thread."""
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = DeskhandNode(f"{name}_{os.getpid()}", namespace=namespace)
    spinner = Spinner(node, threads=4)
    spinner.start()
    client = RosToolClient(node, wait_for)
    try:
        yield client
    finally:
        client.close()
        spinner.end()
        node.destroy_node()
        rclpy.try_shutdown()
