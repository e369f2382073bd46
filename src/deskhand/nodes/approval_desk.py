"""The operator's leave for tool calls, on the tool server's side.

The operator decides with ``tools/approve`` and ``tools/deny`` (the oldest that waits), or about the very one that was shown with a message on
``tools/decide``: ``{"id", "approve"}``, with ``"grant": true`` for the rest of that caller's session too; ``{"revoke": caller}`` takes a grant back (an empty
caller: all). ``tools/events`` tells of every request, its end, and every grant; so does the audit log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from deskhand.errors import DeskhandError
from deskhand.etp.approval import Approval, PendingApprovals, Request
from deskhand.nodes.node import EVENTS, DeskhandNode
from deskhand.nodes.task_audit import TaskAudit
from deskhand_interfaces.msg import SafetyStatus

Write = Callable[[str, dict[str, Any]], Any]
"""Appends an event to the audit log."""


class ApprovalDesk:
    """Asks the operator on behalf of ``node``; ``publish`` tells those who watch, silence for ``timeout`` [s] is a no."""

    def __init__(self, node: DeskhandNode, write: Write, publish: Callable[[Mapping[str, Any]], None], timeout: float) -> None:
        self._node, self._write, self._publish = node, write, publish
        self._pending = PendingApprovals(timeout, self._announce, self._answered)
        self._approval = Approval()

    def open(self, mode: str, others: str) -> Approval:
        """Begin to listen to the operator; the approval of the session, of which others than the operator's own task have the mode ``others``.

        Raises:
            DeskhandError: ``config_error`` for a mode that does not exist.
        """
        self._approval = Approval(mode, self._pending, others)
        group = {"callback_group": self._node.reentrant}
        self._node.create_service(Trigger, "tools/approve", self._approve, **group)
        self._node.create_service(Trigger, "tools/deny", self._deny, **group)
        self._node.create_subscription(String, "tools/decide", self._on_decision, QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE), **group)
        return self._approval

    def _announce(self, request: Request) -> None:
        ways = "approve it on the page, with `deskhand approve`, or call tools/approve or tools/deny"
        self._node.get_logger().warning(f"{request.tool} for {request.caller or 'somebody'} waits for the operator: {ways}")
        self._note_approval("approval", request, effects=request.effects)

    def _answered(self, request: Request, how: str) -> None:
        self._note_approval("approval_end", request, end=how)

    def _note_approval(self, event: str, request: Request, **more: str) -> None:
        record = {"event": event, "id": request.id, "tool": request.tool, "caller": request.caller, "arguments": request.arguments, **more}
        self._write("approval", record)
        self._publish(record)

    def _on_decision(self, message: String) -> None:
        try:
            said = json.loads(message.data)
            if isinstance(said.get("revoke"), str):
                self._revoke(said["revoke"])
                return
            request_id, approve, grant = str(said["id"]), said["approve"] is True, said.get("grant") is True
        except (ValueError, KeyError, TypeError, AttributeError):
            request_id, approve, grant = "", False, False
        if not request_id:
            self._node.get_logger().error(f"tools/decide: no decision about a request: {message.data[:200]!r}")
            return
        request = self._pending.decide(approve, request_id)
        word = "approved" if approve else "denied"
        self._node.get_logger().info(f"{word} by the operator: {request.tool}" if request else f"no call {request_id!r} waits for approval (any more)")
        if request is not None and approve and grant:
            self._grant(request.caller)

    def _grant(self, caller: str) -> None:
        try:
            self._approval.grant(caller)
        except DeskhandError as error:
            self._node.get_logger().error(str(error))
            return
        self._note_grants("granted", [caller])

    def _revoke(self, caller: str) -> None:
        self._note_grants("revoked", list(self._approval.revoke(caller)))

    def _note_grants(self, event: str, callers: list[str]) -> None:
        record = {"event": event, "callers": callers}
        self._write("approval", record)
        self._publish(record)
        self._node.get_logger().warning(f"{event} by the operator, for the rest of the session: {', '.join(callers) or 'nobody'}")

    def _approve(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._decide(True, response)

    def _deny(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._decide(False, response)

    def _decide(self, approve: bool, response: Trigger.Response) -> Trigger.Response:
        request = self._pending.decide(approve)
        response.success = request is not None
        word = "approved" if approve else "denied"
        response.message = f"{word}: {request.tool} {json.dumps(request.arguments)}"[:300] if request else "no call waits for approval."
        return response


def listen_for_audit(node: DeskhandNode, audit: TaskAudit) -> None:
    """Instructions and their outcomes, stops and resets, pauses go into the audit log: whoever gave them, by whatever way."""
    write = audit.write
    last: dict[str, Any] = {}

    def note(event: str, data: dict[str, Any]) -> None:
        if last.get(event) != data:
            last[event] = data
            write(event, data)

    def on_words(message: String) -> None:
        data = json.loads(message.data)
        event = str(data.pop("event"))
        if event == "task":
            audit.begin(str(data.get("episode", "")))
        write(event, data)
        if event == "outcome":
            audit.end(str(data.get("episode", "")))

    def on_safety(status: SafetyStatus) -> None:
        note("safety", {"stopped": status.stopped, "code": status.code, "reason": status.reason})

    latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
    node.create_subscription(String, "agent/events", on_words, EVENTS)
    node.create_subscription(SafetyStatus, "safety/status", on_safety, QoSProfile(depth=10))
    node.create_subscription(Bool, "motion/paused", lambda message: note("paused", {"paused": bool(message.data)}), latched)
