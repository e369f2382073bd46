"""What a node knows about its health, once a second on ``/diagnostics``: one status a node, of the node's own full name."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.qos import QoSProfile

if TYPE_CHECKING:
    from deskhand.nodes.node import DeskhandNode

PERIOD = 1.0  # [s] wall clock, while simulated time stands still too
LEVELS = {"ok": DiagnosticStatus.OK, "warning": DiagnosticStatus.WARN, "error": DiagnosticStatus.ERROR}


@dataclass
class Health:
    """``level`` (one of :data:`LEVELS`), what is to be said about it, and numbers by name with their unit; ``hardware`` is the device behind the node."""

    level: str = "ok"
    message: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    hardware: str = ""


class CallCounter:
    """Counts what a service did, from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answered, self._failed, self._last = 0, 0, ""

    def answered(self, problem: str = "") -> None:
        """One more; ``problem`` says why it failed, if it did."""
        with self._lock:
            self._answered += 1
            self._failed += bool(problem)
            self._last = problem or self._last

    def values(self) -> dict[str, Any]:
        """For Health."""
        with self._lock:
            return {"requests": self._answered, "failed": self._failed, "last failure": self._last}


class Diagnostics:
    """Publishes what ``health`` says, and what every process knows: how long it has run, its memory, its share of a processor."""

    def __init__(self, node: DeskhandNode, health: Callable[[], Health]) -> None:
        self._node, self._health = node, health
        self._begun = time.monotonic()
        self._told = (self._begun, time.process_time())
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", QoSProfile(depth=10))
        node.create_timer(PERIOD, self._publish, clock=Clock(clock_type=ClockType.STEADY_TIME), callback_group=node.reentrant)

    def _publish(self) -> None:
        try:
            health = self._health()
        except Exception as error:  # what cannot tell its health is not well, and goes on
            health = Health("error", f"{type(error).__name__}: {error}")
        values = {**health.values, **self._process()}
        status = DiagnosticStatus(level=LEVELS[health.level], name=self._node.get_fully_qualified_name().lstrip("/"))
        status.message, status.hardware_id = health.message or health.level, health.hardware
        status.values = [KeyValue(key=key, value=f"{value:.4g}" if isinstance(value, float) else str(value)) for key, value in values.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def _process(self) -> dict[str, Any]:
        now, used = time.monotonic(), time.process_time()
        (before, used_before), self._told = self._told, (now, used)
        share = (used - used_before) / max(now - before, 1e-6)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"up [s]": round(now - self._begun, 1), "processor [1]": round(share, 3), "memory at most [MiB]": round(memory, 1)}
