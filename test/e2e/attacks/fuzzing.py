"""Hostile tool calls, service requests and action goals at a running robot, one after the other, and what they did."""

from __future__ import annotations

import importlib
import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hostile import Hostile
from rclpy.action import get_action_names_and_types
from rclpy.node import Node
from std_srvs.srv import Trigger

from deskhand.nodes.action_client import ActionClient
from deskhand_interfaces.action import InvokeTool
from deskhand_interfaces.srv import CallTool, DescribeTool, ListTools

START = 30.0  # [s] until everything is discovered
ANSWER = 10.0
"""[s] in which anything is answered, and in which a cancelled call comes to its end."""
PATIENCE = 3.0
"""[s] that an accepted call or goal may go on before it is cancelled."""
MOVED = 0.05
"""[rad/s] of the fastest arm joint: it was moved."""
REST = 0.3
"""[s] after a call in which the arm comes to rest before the next is judged."""
DONE = ("0", "True", "answered", "ended", "cancelled", "")
"""Answers that are no refusals."""
INFRASTRUCTURE = ("describe_parameters", "get_parameter", "list_parameters", "set_parameters", "get_type_description", "/_action/")


@dataclass
class Tally:
    """What came of an attack.

    Attributes:
        codes: how often each (name, code) was answered.
        hangs: what was not answered, or did not end after its cancel, within :data:`ANSWER`.
        unasked: what moved the arm without being a motion, or after it was refused.
        slowest: [s] and of what.
    """

    codes: Counter[tuple[str, str]] = field(default_factory=Counter)
    hangs: list[str] = field(default_factory=list)
    unasked: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")

    def line(self) -> str:
        """One row of a table."""
        total = sum(self.codes.values())
        refused = total - sum(count for (_, code), count in self.codes.items() if code in DONE)
        counts = f"{total} sent, {refused} refused, {len(self.hangs)} hangs, {len(self.unasked)} unasked motions"
        return f"{counts}, slowest {self.slowest[0]:.1f} s ({self.slowest[1]})"


class Attack:
    """Sends from ``watcher.node``, which sees the joints at the same time (harness.JointWatcher)."""

    def __init__(self, watcher: Any, seed: int, names: list[str]) -> None:
        self.watcher, self.node = watcher, watcher.node
        self.hostile, self.tally = Hostile(seed, names), Tally()

    def tool_calls(self, count: int) -> Tally:
        """``count`` calls of all tools in turn, in a drawn order, with drawn arguments, by the action or (where it moves nothing) by the service."""
        cards, reset = self.cards(), self.node.create_client(Trigger, "safety/reset")
        invoke, call = ActionClient(self.node, InvokeTool, "tools/invoke"), self.node.create_client(CallTool, "tools/call")
        assert invoke.wait_for_server(10.0) and call.wait_for_service(10.0)
        order: list[str] = []
        for _ in range(count):
            order = order or [str(name) for name in self.hostile.rng.permutation(sorted(cards))]
            name = order.pop()
            text = self.hostile.arguments(cards[name]["input_schema"])
            asked = name if not self.hostile.odd(0.03) else self.hostile.text()
            fields = {"tool": _sendable(asked), "arguments_json": _sendable(text), "caller": "attack"}
            before = len(self.watcher.samples)
            if cards[name]["effects"] == "none" and self.hostile.odd(0.5):
                answer = self._wait(call.call_async(CallTool.Request(**fields)), f"{name} {text[:200]}")
                code = _code(answer)
            else:
                code = self._goal(invoke, InvokeTool.Goal(**fields), f"{name} {text[:200]}", _code)
            self.tally.codes[name, code] += 1
            if code in ("safety_stop", "paused"):  # the operator's part: a stop that stays would make the rest of the attack tame
                self._wait(reset.call_async(Trigger.Request()), "safety/reset")
            may_move = cards[name]["effects"] == "motion" and code != "invalid_arguments"
            self._judge_motion(before, may_move, f"{name} {text[:200]} -> {code}")
            self._say()
        return self.tally

    def requests(self, count: int) -> Tally:
        """``count`` requests and goals to all services and actions of the robot in turn."""
        targets = self._targets()
        clients: dict[str, Any] = {}
        for number in range(count):
            name, kind, is_action = targets[number % len(targets)]
            before = len(self.watcher.samples)
            if is_action:
                client = clients.setdefault(name, None) or clients.__setitem__(name, ActionClient(self.node, kind, name)) or clients[name]
                assert client.wait_for_server(10.0), f"{name} is gone"
                goal = self.hostile.message(kind.Goal)
                code = self._goal(client, goal, f"{name} {str(goal)[:300]}", lambda answer: str(getattr(answer, "error_code", "ended")))
            else:
                client = clients.setdefault(name, None) or clients.__setitem__(name, self.node.create_client(kind, name)) or clients[name]
                assert client.wait_for_service(10.0), f"{name} is gone"
                request = self.hostile.message(kind.Request)
                answer = self._wait(client.call_async(request), f"{name} {str(request)[:300]}")
                code = str(getattr(answer, "error_code", getattr(answer, "success", "answered")))
            self.tally.codes[name, code] += 1
            self._judge_motion(before, is_action and code in ("0", "ended", "cancelled"), f"{name} -> {code}")
            self._say()
        return self.tally

    def cards(self) -> dict[str, Any]:
        """All cards by their tools' names."""
        listing, describing = self.node.create_client(ListTools, "tools/list"), self.node.create_client(DescribeTool, "tools/describe")
        assert listing.wait_for_service(10.0) and describing.wait_for_service(10.0)
        names = [tool.name for tool in self._wait(listing.call_async(ListTools.Request()), "tools/list").tools]
        return {name: json.loads(self._wait(describing.call_async(DescribeTool.Request(name=name)), "tools/describe").card_json) for name in names}

    # ------------------------------------------------------------ one of them

    def _say(self) -> None:
        if sum(self.tally.codes.values()) % 50 == 0:
            self.node.get_logger().info("\n  ".join([self.tally.line(), *self.tally.hangs, *self.tally.unasked]))

    def _goal(self, client: ActionClient, goal: Any, what: str, code: Any) -> str:
        handle = self._wait(client.send_goal_async(goal), what)
        if handle is None:
            return "hang"
        if not handle.accepted:
            return "rejected"
        future = handle.get_result_async()
        if not _within(future, PATIENCE):
            handle.cancel_goal_async()
            if not _within(future, ANSWER):
                self.tally.hangs.append(f"does not end after its cancel: {what}")
                return "hang"
            return "cancelled"
        return str(code(future.result().result))

    def _wait(self, future: Any, what: str) -> Any:
        start = time.monotonic()
        if not _within(future, ANSWER):
            self.tally.hangs.append(what)
            return None
        self.tally.slowest = max(self.tally.slowest, (time.monotonic() - start, what[:60]))
        return future.result()

    def _judge_motion(self, before: int, may_move: bool, what: str) -> None:
        if may_move:
            self._rest()
        elif self.watcher.samples[before:] and max(speed for _, speed in self.watcher.samples[before:]) > MOVED:
            self.tally.unasked.append(what)
            self._rest()

    def _rest(self) -> None:
        end = time.monotonic() + ANSWER
        while time.monotonic() < end:
            seen = len(self.watcher.samples)
            time.sleep(REST)
            late = [speed for _, speed in self.watcher.samples[seen:]]
            if late and max(late) < MOVED:
                return
        self.tally.unasked.append("the arm goes on moving")

    # ------------------------------------------------------------ what there is

    def _targets(self) -> list[tuple[str, type, bool]]:
        """All services and actions, once those of the last nodes have been discovered."""
        end = time.monotonic() + START
        while time.monotonic() < end:
            targets = [*self._services(), *self._actions()]
            if {"/tools/list", "/run_task", "/motion/execute_plan", "/safety/stop"} <= {name for name, _, _ in targets}:
                return targets
            time.sleep(0.1)
        raise AssertionError(f"the robot serves only: {', '.join(name for name, _, _ in targets)}")

    def _services(self) -> list[tuple[str, type, bool]]:
        node: Node = self.node
        found = [(name, kinds[0]) for name, kinds in sorted(node.get_service_names_and_types()) if not any(part in name for part in INFRASTRUCTURE)]
        return [(name, _load(kind), False) for name, kind in found]

    def _actions(self) -> list[tuple[str, type, bool]]:
        found = [(name, kinds[0]) for name, kinds in sorted(get_action_names_and_types(self.node)) if self.node.count_services(f"{name}/_action/send_goal")]
        return [(name, _load(kind), True) for name, kind in found]


def _within(future: Any, seconds: float) -> bool:
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    return done.wait(seconds)


def _load(kind: str) -> type:
    package, folder, name = kind.split("/")
    loaded: type = getattr(importlib.import_module(f"{package}.{folder}"), name)
    return loaded


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\x00", "")


def _code(answer: Any) -> str:
    if answer is None:
        return "hang"
    if not answer.result_json:
        return str(answer.error_code)
    return str(json.loads(answer.result_json)["code"])
