"""Answers for an orchestrator that is gone: a goal of ``run_task`` ends with a result that names what died, whoever waits for it.

An action's client waits for ever for the answer of a server that was killed. So a second node serves ``run_task/_action/get_result`` too: it hears every
request, says nothing while the orchestrator lives, and answers in its place when it is dead. A client takes the first answer to its request.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.service import Service
from rclpy.waitable import NumberOfEntities, Waitable
from std_msgs.msg import String

from deskhand.errors import ERROR_NUMBERS
from deskhand.nodes.node import EVENTS, DeskhandNode
from deskhand_interfaces.action import RunTask

ENDED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)
ON_ITS_WAY = 1.0  # [s] that the result of a goal may take that has ended: a server that dies in it has perhaps not answered
CODE = "node_unavailable"


class HeardService(Waitable):
    """A service whose requests are heard; they are answered later, or never. ``heard`` is called with (request, header), in the listener's thread."""

    def __init__(self, service: Service, heard: Callable[[Any, Any], None]) -> None:
        super().__init__(service.callback_group)
        self._service, self._heard = service, heard
        self._index = -1

    def __enter__(self) -> None:
        self._service.handle.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._service.handle.__exit__(*error)

    def get_num_entities(self) -> NumberOfEntities:
        """See rclpy."""
        return NumberOfEntities(num_services=1)

    def add_to_wait_set(self, wait_set: Any) -> None:
        """See rclpy."""
        self._index = wait_set.add_service(self._service.handle)

    def is_ready(self, wait_set: Any) -> bool:
        """See rclpy."""
        return self._service.handle.pointer in wait_set.get_ready_entities("service")

    def take_data(self) -> tuple[Any, Any]:
        """See rclpy."""
        request, header = self._service.handle.service_take_request(self._service.srv_type.Request)
        return request, header

    async def execute(self, taken_data: tuple[Any, Any]) -> None:
        """See rclpy."""
        if taken_data[1] is not None:
            self._heard(*taken_data)


class TaskStandIn:
    """Stands in for the orchestrator of ``node``'s namespace; ``dead`` says why that is taken for dead, empty while it lives."""

    def __init__(self, node: DeskhandNode, dead: Callable[[], str]) -> None:
        self._node, self._dead = node, dead
        self._lock = threading.Lock()
        self._waiting: dict[bytes, list[Any]] = {}
        self._open: set[bytes] = set()
        self._ended: dict[bytes, float] = {}
        self._episode = self._lost = ""  # of the task that runs; of the one that was lost
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
        self._events = node.create_publisher(String, "agent/events", EVENTS)
        node.create_subscription(GoalStatusArray, "run_task/_action/status", self._on_status, latched)
        node.create_subscription(String, "agent/events", self._on_event, EVENTS)
        self._results = self._heard(RunTask.Impl.GetResultService, "run_task/_action/get_result", self._on_result)
        self._cancels = self._heard(CancelGoal, "run_task/_action/cancel_goal", self._on_cancel)

    def _heard(self, kind: Any, name: str, heard: Callable[[Any, Any], None]) -> Service:
        service = self._node.create_service(kind, name, lambda _, response: response)
        self._node.listener.remove(service)  # it is asked, but answers nothing by itself
        self._node.listener.add(HeardService(service, heard))
        return service

    def _on_status(self, message: GoalStatusArray) -> None:
        now = time.monotonic()
        with self._lock:
            for goal in message.status_list:
                name = bytes(goal.goal_info.goal_id.uuid)
                if goal.status not in ENDED:
                    self._open.add(name)
                elif name not in self._ended:
                    self._open.discard(name)
                    self._ended[name] = now
            gone = [name for name, ended in self._ended.items() if now - ended > ON_ITS_WAY]
            for name in gone:
                self._waiting.pop(name, None)
            for name in gone[:-100]:
                del self._ended[name]

    def _on_event(self, message: String) -> None:
        event = json.loads(message.data)
        if event.get("event") == "task":
            self._episode = str(event.get("episode", ""))
        elif event.get("event") == "outcome" and event.get("episode", "") == self._episode:
            self._episode = ""

    def _on_result(self, request: Any, header: Any) -> None:
        name = bytes(request.goal_id.uuid)
        with self._lock:
            self._waiting.setdefault(name, []).append(header)
        if why := self._dead():
            self._answer(name, why)

    def _on_cancel(self, _: Any, header: Any) -> None:
        if self._dead():
            self._send(self._cancels, CancelGoal.Response(return_code=CancelGoal.Response.ERROR_REJECTED), header)

    def orchestrator_died(self, why: str) -> None:
        """Answer all who wait, and say that their tasks have ended."""
        with self._lock:
            opened, late = set(self._open), {name for name, ended in self._ended.items() if time.monotonic() - ended < ON_ITS_WAY}
            names = [name for name in self._waiting if name in opened | late]
            self._lost = self._episode
        for name in names:
            self._answer(name, why)
        if opened:
            outcome = {"event": "outcome", "success": False, "code": CODE, "summary": said(why), "episode": self._lost}
            self._events.publish(String(data=json.dumps(outcome)))

    def _answer(self, name: bytes, why: str) -> None:
        with self._lock:
            headers = self._waiting.pop(name, [])
            known = name in self._open or name in self._ended
        response = RunTask.Impl.GetResultService.Response(status=GoalStatus.STATUS_UNKNOWN)
        if known:
            response.status = GoalStatus.STATUS_ABORTED
            text, episode = said(why), self._lost or self._episode
            response.result = RunTask.Result(success=False, error_code=ERROR_NUMBERS[CODE], error_message=text, summary=text, episode=episode)
        for header in headers:
            self._send(self._results, response, header)

    def _send(self, service: Service, response: Any, header: Any) -> None:
        with suppress(_rclpy.InvalidHandle):  # destroyed meanwhile
            service.send_response(response, header)


def said(why: str) -> str:
    """The words of the result."""
    return f"Node orchestrator is dead: {why}. The task has ended with it, and the arm was stopped."
