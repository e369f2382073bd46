"""Sends one instruction to the orchestrator and prints how it goes, one JSON object a line on standard output.

``{"type": "feedback", "step", "tool", "text"}`` while it runs, with ``question`` and ``options`` where it asks something, then ``{"type": "result",
"success", "error_code", "error_message", "summary", "episode", "tool_calls", "errors"}``, where ``error_code`` is the name of a code. SIGINT and SIGTERM
cancel the task. With ``--listen`` each line of standard input is told to the task: an answer, or a correction; ``{"type": "told", "accepted",
"message"}`` says what became of it. Without, nobody is there to answer. A process of its own, so that who starts it needs no ROS.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

from deskhand.errors import DeskhandError, error_from_number, outcome_of
from deskhand.nodes.action_client import ActionClient
from deskhand.nodes.node import call_service, wait_future
from deskhand.nodes.peers import Peers
from deskhand.nodes.spinner import Spinner
from deskhand_interfaces.action import RunTask
from deskhand_interfaces.srv import TellTask

CANCEL_WAIT = 4.0  # [s] for a cancelled task to end; a second less than `deskhand do` waits for its last words
STAND_IN_WAIT = 3.0  # [s] for the answer of who stands in for a dead orchestrator
FOREVER = 1e12
ORCHESTRATOR = "orchestrator"


def say(kind: str, **data: Any) -> None:
    """One line."""
    print(json.dumps({"type": kind, **data}), flush=True)


def failed(error: DeskhandError) -> dict[str, Any]:
    """The result line of a task that never ran to its end."""
    return {"success": False, "error_code": error.code, "error_message": str(error), "summary": "", "episode": "", "tool_calls": 0, "errors": []}


class TaskClient(Node):
    """A client of ``run_task``; no part of the robot, so without a heartbeat."""

    def __init__(self) -> None:
        super().__init__("task_client")
        self._action = ActionClient(self, RunTask, "run_task")
        self._peers, self._lost_at = Peers(self, watch=(ORCHESTRATOR,)), FOREVER
        self._tell = self.create_client(TellTask, "tell")

    def run(self, instruction: str, mode: str, wait: float, stop: threading.Event, answer_timeout: float = -1.0) -> dict[str, Any]:
        """Send the instruction and wait for the end; ``answer_timeout`` as in RunTask.action.

        Raises:
            DeskhandError: ``node_unavailable`` when no orchestrator is there within ``wait`` [s], or it dies and nobody answers in its place; ``busy`` when it
            does not take the task.
        """
        end = time.monotonic() + wait
        while not self._action.wait_for_server(timeout_sec=0.2):
            if stop.is_set():
                raise DeskhandError("cancelled", "cancelled before the task began.")
            if time.monotonic() > end:
                hint = "Start the robot (deskhand up sim, deskhand up robot), with this ROS_DOMAIN_ID."
                raise DeskhandError("node_unavailable", "nobody serves run_task.", hint=hint)
        goal = RunTask.Goal(instruction=instruction, mode=mode, answer_timeout=answer_timeout)
        handle = wait_future(self._action.send_goal_async(goal, feedback_callback=self._feedback), 10.0, "run_task", stop.is_set)
        if not handle.accepted:
            raise DeskhandError("busy", "the orchestrator did not take the task.", hint="It may still be at another one.")
        future = handle.get_result_async()
        try:
            response = wait_future(future, FOREVER, "run_task", lambda: stop.is_set() or self._given_up())
        except DeskhandError:
            if why := self._gone():
                raise DeskhandError("node_unavailable", f"Node {ORCHESTRATOR} is dead: {why}. Nobody says what became of the task.") from None
            handle.cancel_goal_async()
            response = wait_future(future, CANCEL_WAIT, "the cancelled task")
        return result_to_json(response.result)

    def _gone(self) -> str:
        """Why the orchestrator is taken for dead; empty while it lives."""
        return self._peers.all_dead().get(ORCHESTRATOR, "")

    def _given_up(self) -> bool:
        """Whether the orchestrator has been dead for so long that nobody answers in its place either (task_stand_in.py)."""
        self._lost_at = min(self._lost_at, time.monotonic()) if self._gone() else FOREVER
        return time.monotonic() - self._lost_at > STAND_IN_WAIT

    def close(self) -> None:
        """Listen no more; before it is destroyed."""
        self._peers.close()

    def _feedback(self, message: Any) -> None:
        feedback = message.feedback
        asked = {"question": feedback.question, "options": list(feedback.options)} if feedback.question else {}
        say("feedback", step=feedback.step, tool=feedback.tool, text=feedback.text, **asked)

    def listen(self, lines: Iterable[str]) -> None:
        """Tell the task every line, until there are no more."""
        for line in lines:
            try:
                response = call_service(self._tell, TellTask.Request(text=line.strip()), timeout=10.0, wait_for=5.0)
                say("told", accepted=bool(response.accepted), message=response.message)
            except DeskhandError as error:
                say("told", accepted=False, message=str(error))


def result_to_json(result: RunTask.Result) -> dict[str, Any]:
    """The result line."""
    code = error_from_number(result.error_code, result.error_message).code if result.error_code else ""
    return {
        "success": bool(result.success),
        "outcome": outcome_of(bool(result.success), code),
        "error_code": code,
        "error_message": result.error_message,
        "summary": result.summary,
        "episode": result.episode,
        "tool_calls": int(result.tool_calls),
        "errors": list(result.errors),
    }


def main() -> int:
    """Run one task; exit code 0 when the orchestrator reports success."""
    parser = argparse.ArgumentParser(prog="task_client", description=__doc__.splitlines()[0])
    parser.add_argument("--instruction", required=True)
    parser.add_argument("--mode", default="tools")
    parser.add_argument("--wait", type=float, default=15.0, help="for the orchestrator to appear [s]")
    parser.add_argument("--listen", action="store_true", help="tell the task what standard input says")
    parser.add_argument("--answer-timeout", type=float, default=0.0, help="with --listen: how long a question waits [s]; 0: as the orchestrator is set")
    arguments = parser.parse_args(remove_ros_args(sys.argv)[1:])
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    node = TaskClient()
    spinner = Spinner(node, threads=2)
    spinner.start()
    if arguments.listen:
        threading.Thread(target=node.listen, args=(sys.stdin,), daemon=True).start()
    try:
        result = node.run(arguments.instruction, arguments.mode, arguments.wait, stop, arguments.answer_timeout if arguments.listen else -1.0)
    except DeskhandError as error:
        result = failed(error)
    say("result", **result)
    spinner.end()
    node.close()
    node.destroy_node()
    rclpy.try_shutdown()
    return 0 if result["success"] else 1


if __name__ == "__main__":
    sys.exit(main())
