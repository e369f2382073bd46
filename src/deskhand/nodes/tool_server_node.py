"""Serves the tools: ``tools/list``, ``tools/describe``, ``tools/invoke``, ``tools/call``, ``tools/resource``; publishes ``tools/events``
and, while a continuous tool runs, ``tools/watches/NAME`` (watch_topics.py).

How the operator decides about calls that need approval: approval_desk.py.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
import threading
import time
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from std_msgs.msg import String

from deskhand.agent.caller_rules import CallerRules
from deskhand.arms.config import load_arm
from deskhand.cameras.config import load_camera
from deskhand.errors import DeskhandError
from deskhand.etp.approval import MODES
from deskhand.etp.base import Feedback, ToolResult
from deskhand.etp.mount import mount_client
from deskhand.etp.outcome import failure
from deskhand.etp.registry import Registry
from deskhand.etp.remote.config import MCP_FILE, load_servers
from deskhand.etp.validation import parse_arguments
from deskhand.etp.wire import error_number, result_to_text
from deskhand.nodes.action_server import ActionServer
from deskhand.nodes.approval_desk import ApprovalDesk, listen_for_audit
from deskhand.nodes.diagnostics import CallCounter, Health
from deskhand.nodes.node import EVENTS, DeskhandNode, run_node
from deskhand.nodes.parameters import declare_parameters, setting
from deskhand.nodes.ros_robot import RosRobot
from deskhand.nodes.ros_tools import QUICK, RosToolClient
from deskhand.nodes.task_audit import TaskAudit
from deskhand.nodes.watch_topics import WatchTopics
from deskhand.safety.settings import load_safety
from deskhand.skills.robot import Robot
from deskhand.tools.base import load_tools, make_session
from deskhand.types.resources import resource_path
from deskhand.world.history.recorder import MEMORY_FILE, Memory
from deskhand.world.history.store import IN_MEMORY
from deskhand_interfaces.action import InvokeTool
from deskhand_interfaces.msg import ToolSummary
from deskhand_interfaces.srv import CallTool, DescribeTool, ListTools, ReadResource

if TYPE_CHECKING:
    from deskhand.etp.remote.client import McpConnection

MAX_CALLS = 32
"""Calls side by side; each waits in a thread."""
SPARE = 16
"""Threads for what is asked besides, also when all calls wait for the operator."""
QUIET = 10.0
"""[s] after which the processes of isolated tools are started; they are with the first call, so that they are there before a task wants one."""
MOUNT_WAIT = 2.0
"""[s] between two looks for a namespace whose tools are mounted."""
THREADS = 2


@dataclass
class Parameters:
    """Of the tool server.

    Attributes:
        arm: name or file.
        camera: name in config/cameras or file of a camera whose transform nobody publishes; empty: it comes by /tf.
        approval: ``never``, ``motion`` or ``always``: which calls the operator must approve; empty: as the safety file says.
        approval_others: the same for callers other than the operator's own task, where it is stricter; empty: as the safety file says.
        settings: safety file whose ``approval``, ``approval_others`` and ``rules`` hold; empty: ``config/safety.yaml``.
        approval_timeout: [s] wall time until silence counts as a no.
        lock_wait: [s] wall time that a call waits for a device that another has.
        episode: folder for the audit log; empty: ``deskhand/audit`` below the ROS home (``~/.ros``). Every start begins a new file.
        measured_file: file that keeps latency and success of the tools over restarts; empty: ``measured.json`` in ``episode``, else below the ROS home.
        memory_file: file of the memory, which goes on where it ended; empty: ``memory.sqlite`` in ``episode``, and without that only as long as the node runs.
        other_packages: also load tools of other installed packages (entry points ``deskhand.tools``).
        baseline: also load the action of direct mode.
        mcp_servers: file of the MCP servers whose tools are mounted; empty: ``config/mcp.yaml``.
        folders: from which tools may read files (plans, reference pictures), with ":" between; empty: none.
        mounts: tool servers of other namespaces whose tools are mounted, ``name=/namespace`` with spaces between; mounted when they are there.
    """

    arm: str = "wx250s"
    camera: str = ""
    approval: str = setting("", valid=("", *MODES))
    approval_others: str = setting("", valid=("", *MODES))
    settings: str = ""
    approval_timeout: float = 60.0
    lock_wait: float = 5.0
    episode: str = ""
    memory_file: str = ""
    measured_file: str = ""
    other_packages: bool = True
    baseline: bool = False
    mcp_servers: str = ""
    folders: str = ""
    mounts: str = ""


class ToolServerNode(DeskhandNode):
    """Node ``tool_server``; ``robot`` is for tests with a robot of their own."""

    def __init__(self, robot: Robot | None = None, **kwargs: Any) -> None:
        super().__init__("tool_server", workers=MAX_CALLS + SPARE, **kwargs)
        self.parameters = declare_parameters(self, Parameters)
        registry, problems = load_tools(self.parameters.other_packages, self.parameters.baseline)
        for problem in problems:
            self.get_logger().error(problem)
        self._ros_robot: RosRobot | None = None
        if robot is None:
            robot = self._ros_robot = RosRobot(self, load_arm(self.parameters.arm))
            if self.parameters.camera:
                self._ros_robot.place_camera(load_camera(self.parameters.camera))
        audit_file = _audit_file(self.parameters.episode)
        self._audit = TaskAudit(audit_file).open()
        self._memory = Memory(_memory_file(self.parameters), robot.now).open()
        self._events = self.create_publisher(String, "tools/events", EVENTS)
        self._approvals = ApprovalDesk(self, self._audit.write, self._publish, self.parameters.approval_timeout)
        safety = load_safety(self.parameters.settings or None)
        approval = self._approvals.open(self.parameters.approval or safety.approval, self.parameters.approval_others or safety.approval_others)
        self.session = make_session(
            robot,
            memory=self._memory,
            registry=registry,
            approval=approval,
            guard=CallerRules(safety.rules),
            audit=self._note,
            events=self._publish,
            lock_wait=self.parameters.lock_wait,
            measured=_measured_file(self.parameters),
            folders=[Path(folder).expanduser() for folder in self.parameters.folders.split(os.pathsep) if folder],
        )
        self._watches = WatchTopics(self, lambda: {info.tool for info in self.session.watches() if info.running})
        self._mounted: list[RosToolClient] = []
        self._connections = self._mount_mcp()
        self._closing, self._called = threading.Event(), threading.Event()
        for text in self.parameters.mounts.split():
            threading.Thread(target=self._mount, args=_mount_of(text), name=f"mount {text}", daemon=True).start()
        threading.Thread(target=self._warm_up, args=(registry,), name="warm up", daemon=True).start()
        self._count = 0
        self._calls = CallCounter()
        self._counting = threading.Lock()
        group = {"callback_group": self.reentrant}
        self.create_service(ListTools, "tools/list", self._list, **group)
        self.create_service(DescribeTool, "tools/describe", self._describe, **group)
        self.create_service(ReadResource, "tools/resource", self._resource, **group)
        self.create_service(CallTool, "tools/call", self._answer_call, **group)
        listen_for_audit(self, self._audit)
        self._server = ActionServer(
            self, InvokeTool, "tools/invoke", self._invoke, goal_callback=self._accept, cancel_callback=lambda _: CancelResponse.ACCEPT, **group
        )
        modes = f"approval {approval.mode!r} for the operator's own task, {approval.others!r} for other callers"
        self.get_logger().info(f"{len(registry)} tools, {modes}, {len(safety.rules)} safety rules, audit log {audit_file}, memory {self._memory.path}")

    def _warm_up(self, registry: Registry) -> None:
        """Read what searches need while nobody asks for it, and start the processes of isolated tools beside the first call; else who asks waits for it."""
        registry.prepare()
        self._called.wait(QUIET)
        if self._closing.is_set():
            return
        try:
            self.session.warm_up()
        except DeskhandError as error:
            self.get_logger().warning(f"isolated tools: {error}")

    def close(self) -> None:
        """See DeskhandNode."""
        self._closing.set()
        self._called.set()
        self.session.close()
        self._watches.close()
        for connection in self._connections:
            connection.close()
        for client in self._mounted:
            client.close()
        self._server.destroy()
        if self._ros_robot is not None:
            self._ros_robot.close()
        self._audit.close()
        self._memory.close()

    def health(self) -> Health:
        """See base."""
        values = {"tools": len(self.session.registry), "calls that run": self._count, "most at once": MAX_CALLS, **self._calls.values()}
        return Health("warning" if self._count >= MAX_CALLS else "ok", "as many calls as can be run at once" if self._count >= MAX_CALLS else "", values)

    # ------------------------------------------------------------ tools of others

    def _mount_mcp(self) -> list[McpConnection]:
        servers = load_servers(Path(self.parameters.mcp_servers).expanduser() if self.parameters.mcp_servers else resource_path(MCP_FILE))
        if not servers:
            return []
        from deskhand.etp.remote.client import mount_servers

        connections, problems = mount_servers(self.session.registry, servers)
        for problem in problems:
            self.get_logger().error(problem)
        return connections

    def _mount(self, name: str, namespace: str) -> None:
        """Mount the tools of another namespace as soon as somebody serves them."""
        client = RosToolClient(self, wait_for=MOUNT_WAIT, namespace=namespace)
        self._mounted.append(client)
        while not self._closing.is_set():
            try:
                problems = mount_client(self.session, client, name, f"ros:{namespace}")
            except DeskhandError as error:
                self.get_logger().debug(f"{namespace} is not there yet: {error}")
                self._closing.wait(MOUNT_WAIT)
                continue
            for problem in problems:
                self.get_logger().error(problem)
            self.get_logger().info(f"tools of {namespace} are mounted as {name}_…")
            return

    # ------------------------------------------------------------ discovery

    def _list(self, request: ListTools.Request, response: ListTools.Response) -> ListTools.Response:
        try:
            for hit in self.session.search(request.text, request.group, request.unit, int(request.limit)):
                response.tools.append(
                    ToolSummary(
                        name=hit.name,
                        group=hit.group,
                        unit=hit.unit,
                        summary=hit.summary,
                        effects=hit.effects,
                        score=float(hit.score),
                        available=hit.available,
                        unavailable_reason=hit.unavailable_reason,
                    )
                )
        except DeskhandError as error:
            response.error_code, response.error_message = error.number, str(error)
        return response

    def _describe(self, request: DescribeTool.Request, response: DescribeTool.Response) -> DescribeTool.Response:
        try:
            response.card_json = json.dumps(self.session.describe(request.name), ensure_ascii=False)
        except DeskhandError as error:
            response.error_code, response.error_message = error.number, str(error)
        return response

    def _resource(self, request: ReadResource.Request, response: ReadResource.Response) -> ReadResource.Response:
        try:
            resource = self.session.resource(request.uri)
            response.media_type, response.text = resource.media_type, resource.text
            response.data = array("B", resource.data)
        except DeskhandError as error:
            response.error_code, response.error_message = error.number, str(error)
        return response

    # ------------------------------------------------------------ calls

    def _accept(self, goal: InvokeTool.Goal) -> GoalResponse:
        return GoalResponse.ACCEPT if self._admit(goal.tool) else GoalResponse.REJECT

    def _admit(self, tool: str) -> bool:
        with self._counting:
            if self._count >= MAX_CALLS and not self.session.lenient(tool):
                self.get_logger().warning(f"{tool!r} refused: {MAX_CALLS} calls are running")
                return False
            self._count += 1
        self._called.set()
        return True

    def _invoke(self, handle: ServerGoalHandle) -> InvokeTool.Result:
        def feedback(fraction: float, text: str) -> None:
            if handle.is_active:
                handle.publish_feedback(InvokeTool.Feedback(progress=float(fraction), text=text))

        result = self._call(handle.request, feedback, lambda: handle.is_cancel_requested)
        if result.ok:
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return self._told(result, InvokeTool.Result())

    def _answer_call(self, request: CallTool.Request, response: CallTool.Response) -> CallTool.Response:
        if not self._admit(request.tool):
            busy = DeskhandError("busy", f"{request.tool}: the tool server runs as many calls as it can.", retry=True)
            return self._told(failure(busy, request.tool, 0.0), response)
        return self._told(self._call(request), response)

    def _call(self, request: Any, feedback: Feedback | None = None, cancelled: Callable[[], bool] | None = None) -> ToolResult:
        """Run what was admitted; without ``cancelled`` only what moves nothing and ends soon."""
        try:
            arguments = self._arguments(request)
            if cancelled is None:
                self._check_quick(request.tool)
            result = self.session.invoke(request.tool, arguments, feedback, cancelled, request.caller)
        except DeskhandError as error:
            result = failure(error, request.tool, 0.0)
        except Exception as error:  # a fault must not leave the caller waiting
            self.get_logger().error(f"call of {request.tool!r} failed: {type(error).__name__}: {error}")
            result = failure(error, request.tool, 0.0)
        finally:
            with self._counting:
                self._count -= 1
        self._calls.answered("" if result.ok else f"{request.tool}: {result.code}")
        if cancelled is not None or not result.ok:  # what only reads and succeeds stands in the audit log and on tools/events
            outcome = f"{result.code or 'ok'} in {result.duration:.2f} s {result.message}"
            self.get_logger().info(f"{request.tool} for {request.caller or 'somebody'}: {outcome}"[:300])
        return result

    def _check_quick(self, name: str) -> None:
        """Raises ``invalid_input`` for a tool that must be called so that it can be cancelled."""
        card = self.session.registry.get(name).card
        why = "may move something" if card.effects == "motion" else f"may take up to {card.timeout:g} s" if card.timeout > QUICK else ""
        if why:
            raise DeskhandError("invalid_input", f"{name} {why}: call it by the action tools/invoke, which can be cancelled.")

    def _arguments(self, request: Any) -> dict[str, Any]:
        try:
            return parse_arguments(request.arguments_json, request.tool)
        except DeskhandError:
            if not self.session.lenient(request.tool):
                raise
            return {}

    def _told(self, result: ToolResult, message: Any) -> Any:
        """The result as a message of the action or of the service."""
        message.error_code, message.error_message = error_number(result), f"{result.message} {result.hint}".strip()
        message.result_json = result_to_text(result)
        return message

    def _note(self, record: Mapping[str, Any]) -> None:
        """Into the audit log; what may move something is on disk before it does."""
        try:
            durable = self.session.registry.get(record["tool"]).card.effects == "motion"
        except DeskhandError:  # no such tool, so nothing runs
            durable = False
        self._audit.write("tool_call", dict(record), durable)

    def _publish(self, record: Mapping[str, Any]) -> None:
        self._events.publish(String(data=json.dumps(record, ensure_ascii=False, allow_nan=False)))
        self._watches.heard(record)


def _mount_of(text: str) -> tuple[str, str]:
    name, _, namespace = text.partition("=")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,20}", name) or not namespace.startswith("/"):
        raise DeskhandError("config_error", f"the mount {text!r} must be name=/namespace, the name lower case letters, digits and underscores.")
    return name, namespace


def _memory_file(parameters: Parameters) -> str | Path:
    if parameters.memory_file:
        return Path(parameters.memory_file).expanduser()
    return Path(parameters.episode).expanduser() / MEMORY_FILE if parameters.episode else IN_MEMORY


def _measured_file(parameters: Parameters) -> Path:
    if parameters.measured_file:
        return Path(parameters.measured_file).expanduser()
    return (Path(parameters.episode).expanduser() if parameters.episode else _home()) / "measured.json"


def _home() -> Path:
    return Path(os.environ.get("ROS_HOME", "~/.ros")).expanduser() / "deskhand"


def _audit_file(episode: str) -> Path:
    """A file that is not there yet: a log that a killed process left behind is kept as it is."""
    if not episode:
        return _home() / "audit" / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.jsonl"
    folder = Path(episode).expanduser()
    names = itertools.chain(("audit.jsonl",), (f"audit-{number}.jsonl" for number in itertools.count(2)))
    return next(folder / name for name in names if not (folder / name).exists())


def main() -> int:
    """Entry point."""
    return run_node(ToolServerNode, THREADS)


if __name__ == "__main__":
    sys.exit(main())
