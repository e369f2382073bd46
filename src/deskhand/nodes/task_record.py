"""The record of a task, as the orchestrator begins and ends it; the recorder and the tool server write into its folder what they know.

``agent/events`` tells them: ``{"event": "task", "instruction", "mode", "arm", "brain", "episode"}`` when a task begins, ``{"event": "outcome", "success",
"code", "summary", "episode", …}`` when it has ended. ``recorder/record`` (std_msgs/String, latched) names the folder whose report was written last.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from deskhand.agent.records import TaskOutcome
from deskhand.errors import DeskhandError
from deskhand.nodes.node import EVENTS, DeskhandNode
from deskhand.recording.episode.record import begin_record, complete_record, end_record, new_folder

RECORD_WAIT = 4.0  # [s] wall time that a task's result waits for its report
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)


class TaskRecords:
    """Keeps the records of an orchestrator's tasks, one at a time.

    Args:
        node: of the orchestrator.
        fixed: folder that every task is recorded in, which somebody else completes (a trial); empty: each has its own below ``root``.
        root: empty for no records.
        who: ``arm``, ``brain`` and ``model``, as the record says them.
        recorder_gone: whether nobody records any more.
    """

    def __init__(self, node: DeskhandNode, fixed: str, root: str, who: dict[str, str], recorder_gone: Callable[[], bool]) -> None:
        self._node, self._fixed, self._root, self._who, self._gone = node, fixed, root, who, recorder_gone
        self._events = node.create_publisher(String, "agent/events", EVENTS)
        self._written = threading.Condition()
        self._newest = ""
        node.create_subscription(String, "recorder/record", self._on_written, LATCHED)
        self._began = 0.0

    def _on_written(self, message: String) -> None:
        with self._written:
            self._newest = message.data
            self._written.notify_all()

    def note(self, event: str, **data: Any) -> None:
        """Tell ``agent/events``."""
        self._events.publish(String(data=json.dumps({"event": event, **data})))

    def begin(self, instruction: str, mode: str) -> str:
        """The folder of a task that begins; empty for none."""
        self._began = time.monotonic()
        folder = self._fixed
        if not folder and self._root:
            try:
                folder = str(new_folder(Path(self._root), instruction))
                begin_record(Path(folder), instruction, self._who["arm"], self._who["brain"], mode)
            except OSError as error:
                self._node.get_logger().error(f"no record below {self._root}: {error}")
        if folder:
            self.note("task", instruction=instruction, mode=mode, arm=self._who["arm"], brain=self._who["brain"], episode=folder)
        return folder

    def end(self, folder: str, instruction: str, mode: str, outcome: TaskOutcome, hurry: Callable[[], bool]) -> None:
        """Write the agent's steps, tell how the task ended, and wait for its report; not when there is reason to ``hurry``."""
        said = {"success": outcome.success, "code": outcome.code, "summary": outcome.summary}
        if not folder:
            self.note("outcome", **said)
            return
        wall = time.monotonic() - self._began
        more = {"tool_calls": outcome.tool_calls, "errors": list(outcome.errors), "wall": wall, "message": "" if outcome.success else outcome.summary}
        body = {"instruction": instruction, "brain": self._who["brain"], "model": self._who["model"], "mode": mode, **outcome.to_json()}
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            (Path(folder) / "agent.json").write_text(json.dumps(body, indent=1, default=str), encoding="utf-8")
            if folder != self._fixed:
                end_record(Path(folder), **said, **more)
        except OSError as error:
            self._node.get_logger().error(f"the steps could not be written to {folder}: {error}")
        self.note("outcome", **said, **more, episode=folder)
        if folder == self._fixed or hurry():
            return
        end = time.monotonic() + RECORD_WAIT
        with self._written:
            while self._newest != folder and not self._gone() and not hurry() and time.monotonic() < end:
                self._written.wait(0.1)
        if self._gone():  # the result does not wait for what the recorder would have written
            threading.Thread(target=self._complete, args=(Path(folder), {**said, **more}), name="report", daemon=True).start()

    def _complete(self, folder: Path, ended: dict[str, Any]) -> None:
        try:
            complete_record(folder, **ended)
        except (OSError, DeskhandError) as error:
            self._node.get_logger().error(f"the record {folder} is not complete: {error}")
