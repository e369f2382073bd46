"""Writes ``episode.mcap``: what was seen, measured and done. It only listens.

Each task of ``agent/events`` has a recording of its own, in the folder that is told there, and when it has ended ``result.json`` and ``report.html`` beside it;
``recorder/record`` (std_msgs/String, latched) names that folder then. What is called outside of a task comes into a recording by itself.

``recorder/status`` (std_msgs/String, latched) says why nothing is recorded, empty while all is well: a full disk ends the recording, not the robot.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from deskhand.errors import DeskhandError
from deskhand.nodes.conversions import camera_info_from_msg, image_from_msg, scene_from_msg, time_from_msg
from deskhand.nodes.diagnostics import Health
from deskhand.nodes.node import EVENTS, DeskhandNode, run_node
from deskhand.nodes.parameters import declare_parameters
from deskhand.recording.episode import messages
from deskhand.recording.episode.record import complete_record
from deskhand.recording.episode.writer import FILE, EpisodeWriter
from deskhand.recording.thinning import Thinner
from deskhand_interfaces.msg import SafetyStatus, SceneObjects

RETRY = 10.0  # [s] wall time, until a recording that could not begin is tried again
REPORT_WAIT = 1.0  # [s] that a report that is being written may take when the node ends
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
THREADS = 2


@dataclass
class RecorderParameters:
    """Parameters of the recorder.

    Attributes:
        episode: folder of this episode, tasks and all; empty: one for each task, and one in ``folder``, named by the time at which it begins, for tool calls
            outside of tasks.
        folder: where those go.
        joint_rate: how many joint states a second of ROS time are kept, and how many transforms of each of their publishers [Hz].
    """

    episode: str = ""
    folder: str = "episodes"
    joint_rate: float = 10.0


class RecorderNode(DeskhandNode):
    """Subscribes to what an episode is made of."""

    def __init__(self) -> None:
        super().__init__("recorder")
        self._settings = declare_parameters(self, RecorderParameters)
        self._writer: EpisodeWriter | None = None
        self._joints_kept = Thinner(self._settings.joint_rate)
        self._moving_kept: dict[tuple[str, ...], Thinner] = {}
        self._last_safety: tuple[bool, str, str] | None = None
        self._transforms: list[TFMessage] = []
        self._info: CameraInfo | None = None
        self._status = self.create_publisher(String, "recorder/status", LATCHED)
        self._record = self.create_publisher(String, "recorder/record", LATCHED)
        self._task, self._began = "", 0.0
        self._reports: threading.Thread | None = None
        self._said: str | None = None
        self._retry_at = float("-inf")
        if self._settings.episode:
            self._open(Path(self._settings.episode))
        self._say(self._writer.problem if self._writer is not None else "")
        # what was told before this node was discovered is recorded too
        self.create_subscription(String, "tools/events", self._on_event, EVENTS)
        self.create_subscription(String, "agent/events", self._on_agent, EVENTS)
        self.create_subscription(Image, "perception/annotated", self._on_picture, LATCHED)
        self.create_subscription(SceneObjects, "perception/scene", self._on_scene, LATCHED)
        self.create_subscription(JointState, "joint_states", self._on_joints, QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT))
        self.create_subscription(SafetyStatus, "safety/status", self._on_safety, QoSProfile(depth=10))
        self.create_subscription(TFMessage, "/tf_static", self._on_tf, LATCHED)
        self.create_subscription(TFMessage, "/tf", self._on_moving, QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT))
        self._info_subscription = self.create_subscription(CameraInfo, "camera/color/camera_info", self._on_info, qos_profile_sensor_data)

    def _say(self, problem: str) -> None:
        if problem == self._said:
            return
        if problem:
            self.get_logger().error(f"nothing is recorded: {problem}")
        self._said = problem
        self._status.publish(String(data=problem))

    def health(self) -> Health:
        """See base."""
        values = {"episode": str(self._writer.folder) if self._writer is not None else "none yet"}
        return Health("error" if self._said else "ok", f"nothing is recorded: {self._said}" if self._said else "", values)

    def close(self) -> None:
        """End the file with its index."""
        if self._writer is not None:
            self._writer.close()
        if self._reports is not None:
            self._reports.join(REPORT_WAIT)

    def _on_agent(self, message: String) -> None:
        event = json.loads(message.data)
        folder = event.get("episode", "")
        if self._settings.episode or not folder:
            return
        if event["event"] == "task" and not (Path(folder) / FILE).exists():  # one that was told before this node began is kept as it is
            self._begin(folder)
        elif event["event"] == "outcome" and folder == self._task:
            self._task = ""
            self._end()
            ended = {name: event[name] for name in ("success", "code", "summary", "message", "tool_calls", "errors", "wall") if name in event}
            ended = {"message": event["summary"], "wall": time.monotonic() - self._began, **ended}
            self._reports = threading.Thread(target=self._report, args=(Path(folder), ended), name="report", daemon=True)
            self._reports.start()

    def _begin(self, folder: str) -> None:
        self._end()
        try:
            self._open(Path(folder))
            self._task, self._began = folder, time.monotonic()
            self._say(self._writer.problem if self._writer is not None else "")
        except DeskhandError as error:
            self._say(error.message)

    def _end(self) -> None:
        writer, self._writer = self._writer, None
        self._last_safety = None
        if writer is not None:
            writer.close()

    def _report(self, folder: Path, ended: dict[str, Any]) -> None:
        try:
            complete_record(folder, **ended)
        except Exception as error:  # the recorder goes on whatever is in one record
            self.get_logger().error(f"no report in {folder}: {type(error).__name__}: {error}")
        self._record.publish(String(data=str(folder)))

    def _open(self, folder: Path) -> EpisodeWriter:
        writer = EpisodeWriter(folder)
        writer.open()
        self._writer = writer
        for message in self._transforms:
            self._writer.write(messages.TF_STATIC, messages.TF, message, self.seconds())
        if self._info is not None:
            self._writer.camera_info(camera_info_from_msg(self._info), time_from_msg(self._info.header.stamp))
        self.get_logger().info(f"recording to {self._writer.folder}")
        return self._writer

    def _on_event(self, message: String) -> None:
        if self._writer is None and time.monotonic() > self._retry_at and _begins(message.data):
            try:
                self._open(Path(self._settings.folder) / time.strftime("%Y-%m-%d_%H-%M-%S"))
            except DeskhandError as error:
                self._retry_at = time.monotonic() + RETRY
                self._say(error.message)
        if self._writer is not None:
            self._writer.event_text(message.data, self.seconds())
            self._say(self._writer.problem)

    def _on_picture(self, message: Image) -> None:
        if self._writer is not None:
            self._writer.picture(image_from_msg(message), time_from_msg(message.header.stamp), message.header.frame_id)

    def _on_scene(self, message: SceneObjects) -> None:
        if self._writer is not None:
            self._writer.scene(scene_from_msg(message))

    def _on_joints(self, message: JointState) -> None:
        stamp = time_from_msg(message.header.stamp)
        if self._writer is None or not self._joints_kept.keeps(stamp):
            return
        self._writer.write(messages.JOINTS, messages.JOINT_STATE, message, stamp)

    def _on_safety(self, message: SafetyStatus) -> None:
        state = (message.stopped, message.code, message.reason)
        if self._writer is None or state == self._last_safety:
            return
        self._last_safety = state
        self._writer.write(messages.SAFETY, messages.SAFETY_STATUS, message, self.seconds())

    def _on_moving(self, message: TFMessage) -> None:
        """Joints' transforms, as often as joint states are kept, those of each publisher by themselves."""
        if self._writer is None or not message.transforms:
            return
        stamp, publisher = time_from_msg(message.transforms[0].header.stamp), tuple(item.child_frame_id for item in message.transforms)
        if self._moving_kept.setdefault(publisher, Thinner(self._settings.joint_rate)).keeps(stamp):
            self._writer.write(messages.TF_MOVING, messages.TF, message, stamp)

    def _on_tf(self, message: TFMessage) -> None:
        self._transforms.append(message)
        if self._writer is not None:
            self._writer.write(messages.TF_STATIC, messages.TF, message, self.seconds())

    def _on_info(self, message: CameraInfo) -> None:
        if self._info is not None:
            return
        self._info = message
        if self._writer is not None:
            self._writer.camera_info(camera_info_from_msg(message), time_from_msg(message.header.stamp))


def _begins(event: str) -> bool:
    """Whether an event is the start of a call: what comes late from a task that has ended is no new episode."""
    try:
        return bool(json.loads(event).get("event") == "start")
    except (ValueError, AttributeError):
        return False


def main() -> int:
    """Run the node."""
    return run_node(RecorderNode, THREADS)


if __name__ == "__main__":
    sys.exit(main())
