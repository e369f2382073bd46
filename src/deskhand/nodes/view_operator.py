"""The operator's word over ROS: what the page (view/) has pressed and typed."""

from __future__ import annotations

import json
import uuid
from typing import Any

from action_msgs.srv import CancelGoal
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from deskhand.errors import DeskhandError
from deskhand.nodes.node import DeskhandNode, call_service
from deskhand.view.live import LiveSource
from deskhand_interfaces.action import RunTask
from deskhand_interfaces.srv import TellTask

ANSWER = 5.0  # [s] wall time
STOP_ANSWER = 2.0  # [s]


class RosOperator:
    """A :class:`deskhand.view.moment.Operator` through ``node``, which other threads spin."""

    def __init__(self, node: DeskhandNode, source: LiveSource) -> None:
        self._node, self._source = node, source
        self._stop = node.create_client(Trigger, "safety/stop")
        self._reset = node.create_client(Trigger, "safety/reset")
        self._pause = node.create_client(SetBool, "motion/pause")
        self._run = node.create_client(RunTask.Impl.SendGoalService, "run_task/_action/send_goal")
        self._end = node.create_client(CancelGoal, "run_task/_action/cancel_goal")
        self._tell = node.create_client(TellTask, "tell")
        self._decide = node.create_publisher(String, "tools/decide", QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE))

    def run(self, instruction: str) -> str:
        """See Operator; ``busy`` while another task runs."""
        if self._source.moment().task.running:
            raise DeskhandError("busy", "a task runs.", hint="Say it to the running task, or press STOP.")
        request = RunTask.Impl.SendGoalService.Request(goal=RunTask.Goal(instruction=instruction, mode="tools"))
        request.goal_id.uuid = list(uuid.uuid4().bytes)
        self._source.on_task(instruction)
        try:
            accepted = call_service(self._run, request, ANSWER, ANSWER).accepted
        except DeskhandError as error:
            self._source.on_outcome(False, error.code, str(error))
            raise
        if not accepted:
            self._source.on_outcome(False, "busy", "The orchestrator did not take the task.")
            raise DeskhandError("busy", "the orchestrator did not take the task.")
        return ""

    def tell(self, text: str) -> str:
        """See Operator."""
        answer = call_service(self._tell, TellTask.Request(text=text), ANSWER)
        if not answer.accepted:
            raise DeskhandError("invalid_input", f"not heard: {answer.message}")
        return "told"

    def decide(self, request: str, approve: bool, grant: bool = False) -> str:
        """See Operator. What came of it is told by ``tools/events``."""
        if not request:
            raise DeskhandError("invalid_input", "nothing waits for your leave (any more).")
        self._decide.publish(String(data=json.dumps({"id": request, "approve": approve, "grant": grant})))
        return ("approved, with the rest of its session" if grant else "approved") if approve else "denied"

    def stop(self) -> str:
        """See Operator: the arm first, then the task, so that a later reset sets nothing going."""
        answer = _done(call_service(self._stop, Trigger.Request(), STOP_ANSWER, 1.0))
        if self._end.service_is_ready():
            self._end.call_async(CancelGoal.Request())  # a zero id and stamp: every goal
        return answer

    def reset(self) -> str:
        """See Operator."""
        return _done(call_service(self._reset, Trigger.Request(), ANSWER))

    def pause(self, paused: bool) -> str:
        """See Operator."""
        return _done(call_service(self._pause, SetBool.Request(data=paused), ANSWER))


def _done(answer: Any) -> str:
    if not answer.success:
        raise DeskhandError("safety_stop", answer.message)
    return str(answer.message)
