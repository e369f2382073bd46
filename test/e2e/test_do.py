"""``deskhand do``: a task for a robot that runs already, its questions answered by typing, Ctrl-C, exit codes."""

import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("rclpy")
from deskhand.bringup.domains import free_domain
from deskhand.bringup.environment import workstation_defaults

SCENE = """
objects:
  - {name: tray, kind: tray, color: white, size: [0.165, 0.215, 0.035], pose: [-0.01, -0.28]}
  - {name: red_cup, kind: cup, color: red, size: [0.042, 0.052], pose: [0.0, 0.08]}
  - {name: green_cup, kind: cup, color: green, size: [0.042, 0.052], pose: [0.08, -0.06]}
"""
START, TASK = 120.0, 180.0  # [s] of wall time, on a busy machine


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """The environment of a simulated robot that runs."""
    folder = tmp_path_factory.mktemp("robot")
    (folder / "scene.yaml").write_text(SCENE)
    with free_domain() as domain:
        environment = {**os.environ, **workstation_defaults(os.environ), "ROS_DOMAIN_ID": str(domain), "ROS_HOME": str(folder)}
        command = [sys.executable, "-m", "deskhand", "up", "sim", "--composed", "--scene", str(folder / "scene.yaml")]
        with subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1) as up:
            end = time.monotonic() + START
            for line in up.stdout:
                if "nodes ready" in line:
                    break
                assert time.monotonic() < end, line
            try:
                yield environment, folder
            finally:
                up.send_signal(signal.SIGINT)
                up.stdout.read()


class Terminal:
    """``deskhand do`` at a terminal: what it shows, and keys."""

    def __init__(self, robot, instruction, *more):
        environment, folder = robot
        self._screen, theirs = pty.openpty()
        command = [sys.executable, "-m", "deskhand", "do", instruction, "--json", str(folder / "do.json"), *more]
        self._process = subprocess.Popen(command, env=environment, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        self.shown, self._file = "", folder / "do.json"

    def until(self, text):
        end = time.monotonic() + TASK
        while text not in self.shown and time.monotonic() < end:
            try:
                self.shown += os.read(self._screen, 4096).decode(errors="replace")
            except OSError:  # it has ended
                break
        assert text in self.shown, self.shown

    def type(self, text):
        os.write(self._screen, f"{text}\n".encode())

    def interrupt(self):
        self._process.send_signal(signal.SIGINT)

    def end(self):
        """Exit code and result."""
        code = None
        while code is None:
            try:
                self.shown += os.read(self._screen, 4096).decode(errors="replace")
            except OSError:
                code = self._process.wait(TASK)
        os.close(self._screen)
        return code, json.loads(self._file.read_text())


def test_a_question_that_waits_too_long_ends_the_task(robot):
    code, result = Terminal(robot, "put the cup in the tray", "--answer-timeout", "0.5").end()
    assert code == 1 and result["error_code"] == "no_answer" and not result["success"]


def test_a_question_is_answered_by_typing_and_the_task_is_done(robot):
    terminal = Terminal(robot, "put the cup in the tray")
    terminal.until("? ")
    terminal.type("the red one")
    code, result = terminal.end()
    assert code == 0 and result["success"], terminal.shown
    assert "red cup" in result["summary"] and "done:" in terminal.shown


def test_ctrl_c_cancels_the_task_and_the_robot_takes_the_next(robot):
    terminal = Terminal(robot, "put the green cup in the tray")
    terminal.until("bring cup")
    terminal.interrupt()
    code, result = terminal.end()
    assert code == 130 and result["error_code"] == "cancelled", terminal.shown
    code, result = (after := Terminal(robot, "how many cups are there?")).end()
    assert code == 0 and "2" in result["summary"], after.shown


def test_what_fails_exits_with_1_and_says_why(robot):
    code, result = (terminal := Terminal(robot, "fly to the moon")).end()
    assert code == 1 and result["error_code"] == "impossible" and "failed, impossible" in terminal.shown
