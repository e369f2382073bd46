"""``instruction`` (std_msgs/String): words that start a task, or are told to the one that runs; for whoever has text and no action client, such as a speech
recogniser.

What comes of it stands in ``agent/events``, as of every task; in addition ``{"event": "asked", "question", "options"}`` (the answer is one more
``instruction``) and ``{"event": "not_taken", "text", "message"}``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from deskhand.nodes.action_client import ActionClient
from deskhand.nodes.node import DeskhandNode
from deskhand_interfaces.action import RunTask

TOPIC = "instruction"
QUALITY = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
"""Not latched: words of yesterday start nothing today."""


class InstructionTopic:
    """The topic of one orchestrator.

    Args:
        node: of the orchestrator, whose ``run_task`` the words are sent to, as anybody else's would be.
        tell: gives words to the task that runs; whether it took them, and why not.
        running: whether a task runs.
        note: tells ``agent/events``.
    """

    def __init__(self, node: DeskhandNode, tell: Callable[[str], tuple[bool, str]], running: Callable[[], bool], note: Callable[..., None]) -> None:
        self._tell, self._running, self._note = tell, running, note
        self._client = ActionClient(node, RunTask, "run_task", callback_group=node.reentrant)
        node.create_subscription(String, TOPIC, self._heard, QUALITY, callback_group=node.reentrant)

    def close(self) -> None:
        """Send no more."""
        self._client.destroy()

    def _heard(self, message: String) -> None:
        text = message.data.strip()
        if not text:
            return
        if self._running():
            taken, why = self._tell(text)
            if not taken:
                self._note("not_taken", text=text, message=why)
        else:
            sent = self._client.send_goal_async(RunTask.Goal(instruction=text), feedback_callback=self._feedback)
            sent.add_done_callback(lambda answer: self._answered(text, answer))

    def _answered(self, text: str, answer: Any) -> None:
        """Whether the task began; what it comes to stands in ``agent/events`` without us."""
        error = answer.exception()
        if error is None and (answer.cancelled() or answer.result().accepted):
            return
        self._note("not_taken", text=text, message=str(error) if error is not None else "the orchestrator takes no task now.")

    def _feedback(self, message: Any) -> None:
        if message.feedback.question:
            self._note("asked", question=message.feedback.question, options=list(message.feedback.options))
