"""rclpy's ActionServer, served by the listener of its node instead of the executor."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import rclpy.action
from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy

from deskhand.nodes.action_client import MANY
from deskhand.nodes.guarded import refused
from deskhand.nodes.node_executor import finish

KEPT = 30
"""[s] that a result is kept for who asks late; rclpy keeps it for 15 minutes, and every change of state is told with the whole list of what is kept."""
GOALS = 48
LEAVES = 0.1  # [s] after the end of a goal, for its result to be asked for, where its client was slow, and to leave


class ActionServer(rclpy.action.ActionServer):
    """As rclpy.action.ActionServer, for a :class:`deskhand.nodes.node.DeskhandNode` and many goals at once.

    Callbacks are plain functions; those for a goal and for a cancel must not block, up to ``goals`` of those that execute run side by side.
    """

    def __init__(self, node: Any, *args: Any, goals: int = GOALS, **kwargs: Any) -> None:
        self._threads = ThreadPoolExecutor(goals, thread_name_prefix=f"{node.get_name()} goal")
        self._answering = threading.Condition()
        self._unanswered, self._answered_at = 0, float("-inf")
        super().__init__(node, *args, **{**MANY, "result_timeout": KEPT, **kwargs})
        self.register_goal_callback(refused(self._goal_callback, GoalResponse.REJECT, self._complain, str(args[1])))
        self.register_cancel_callback(refused(self._cancel_callback, CancelResponse.REJECT, self._complain, str(args[1])))

    def _complain(self, text: str) -> None:
        self._node.get_logger().error(text)

    def notify_execute(self, goal_handle: ServerGoalHandle, execute_callback: Callable[[ServerGoalHandle], Any] | None) -> None:
        """See rclpy."""
        with self._answering:
            self._unanswered += 1
        self._threads.submit(self._run, goal_handle, execute_callback or self._execute_callback)

    def _run(self, goal_handle: ServerGoalHandle, execute: Callable[[ServerGoalHandle], Any]) -> None:
        try:
            with suppress(_rclpy.InvalidHandle):  # destroyed meanwhile
                finish(self._execute_goal(execute, goal_handle))
        except Exception as error:
            self._node.listener.failed(error)
        finally:
            with self._answering:
                self._unanswered, self._answered_at = self._unanswered - 1, time.monotonic()
                self._answering.notify_all()

    def wait_answered(self, seconds: float) -> None:
        """Until the results of all goals have left, ``seconds`` [s] of wall time at most: a goal is not answered yet when its callback has returned."""
        end = time.monotonic() + seconds
        with self._answering:
            self._answering.wait_for(lambda: not self._unanswered, seconds)
            while (left := min(self._answered_at + LEAVES, end) - time.monotonic()) > 0:
                self._answering.wait(left)

    def destroy(self) -> None:
        """See rclpy; goals that run are not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        super().destroy()
