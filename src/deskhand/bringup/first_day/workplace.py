"""The robot's nodes for the steps that need more than the servo bus: started when they are asked for, kept while the next step needs the same, stopped in
the end with the arm holding.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from deskhand.arms.config import load_arm
from deskhand.bringup.environment import apply_workstation_defaults, workstation_defaults
from deskhand.bringup.first_day.base import Day
from deskhand.bringup.spec import NodeSpec, StackOptions
from deskhand.bringup.stack import STACK, robot_nodes
from deskhand.bringup.supervisor import Supervisor
from deskhand.bringup.task_process import TaskProcess
from deskhand.cameras.config import load_camera
from deskhand.errors import DeskhandError
from deskhand.skills.robot import Robot

READY_TIMEOUT = 90.0  # [s]
ARM_TIMEOUT = 20.0  # [s] for the first joint state
TASK_TIMEOUT = 600.0  # [s]
POLL = 0.1  # [s]


def driver_of(day: Day) -> str:
    """Kind of the arm's driver: what was chosen, or the arm's usual one."""
    return day.settings.get("driver") or load_arm(day.unit).driver.kinds[0]


def port_of(day: Day) -> str:
    """Port of the arm: what was chosen, or as the arm's file says."""
    return day.settings.get("port") or load_arm(day.unit).driver.port


class RobotNodes:
    """A Workplace of real hardware.

    Args:
        connect: a robot over ROS for the arm's name or file, as long as the block lasts (``deskhand.nodes.connected``); called once the nodes run.
    """

    def __init__(self, day: Day, connect: Callable[[str], AbstractContextManager[Robot]]) -> None:
        self.day = day
        self._connect = connect
        self._running: ExitStack | None = None
        self._key: tuple[Any, ...] = ()
        self._robot: Any = None
        self._supervisor: Supervisor | None = None

    def robot(self, nodes: frozenset[str], camera_mount: str) -> Robot:
        """See Workplace."""
        options = self.options(camera_mount)
        files = [day_file for day_file in (self.day.arm_file, self.day.safety_file) if day_file.is_file()]
        if "perception" in nodes:
            files += [Path(camera_mount)] if Path(camera_mount).is_file() else []
        key = (nodes, options if "perception" in nodes else replace(options, camera_mount=""), *(file.read_text() for file in files))
        if key != self._key:
            self.release()
            self._start(self.specs(options, nodes))
            self._key = key
        self._robot.place_camera(load_camera(camera_mount))
        robot: Robot = self._robot
        return robot

    def options(self, camera_mount: str) -> StackOptions:
        """What is brought up; the same that the owner gives to `deskhand up robot` from then on."""
        day, files = self.day, self.day.parameter_file
        return StackOptions(
            arm=day.unit,
            camera=day.settings.get("camera", "ros"),
            camera_topics=day.settings.get("camera_topics", ""),
            camera_mount=camera_mount,
            driver=driver_of(day),
            port=port_of(day),
            parameter_files=(files,) if files.is_file() else (),
            episodes=str(day.folder / "episodes"),
            memory=str(day.folder / "memory.sqlite"),
        )

    def specs(self, options: StackOptions, nodes: frozenset[str]) -> list[NodeSpec]:
        """The arm, the camera, and ``nodes`` of the stack."""
        return [spec for spec in robot_nodes(options) if spec.name not in STACK or spec.name in nodes]

    def environment(self, _stack: ExitStack) -> Mapping[str, str]:
        """Of the nodes, besides this process's own."""
        return {}

    def started(self) -> None:
        """The processes run."""

    def _start(self, specs: list[NodeSpec]) -> None:
        self.day.operator.say("    starting the robot's nodes …")
        apply_workstation_defaults()
        with ExitStack() as stack:
            self._supervisor = Supervisor(specs, log_folder=self.day.folder / "logs", environment=self.environment(stack))
            stack.callback(self._supervisor.stop)
            self._supervisor.start()
            self.started()
            self._supervisor.wait_ready(READY_TIMEOUT)
            self._robot = stack.enter_context(self._connect(self.day.unit))
            self._await_arm()
            self._running = stack.pop_all()

    def _await_arm(self) -> None:
        import time

        end = time.monotonic() + ARM_TIMEOUT
        while True:
            try:
                self._robot.joint_state()
                return
            except DeskhandError as error:
                if time.monotonic() > end or self._deaths():
                    said = "; ".join(self._supervisor.tail("arm", 3)) if self._supervisor is not None and driver_of(self.day) != "external" else ""
                    hint = f"The arm's node said: {said}" if said else error.hint
                    raise DeskhandError("device_unavailable", f"the arm tells nothing on {port_of(self.day)}: {error.message}", hint=hint) from error

    def _deaths(self) -> list[Any]:
        return list(self._supervisor.died()) if self._supervisor is not None else []

    def task(self, instruction: str) -> Mapping[str, Any]:
        """See Workplace."""
        import time

        end = time.monotonic() + TASK_TIMEOUT
        with TaskProcess(instruction, "tools", {**os.environ, **workstation_defaults(os.environ)}) as task:
            while time.monotonic() < end and not task.ended():
                if (line := task.next_line(POLL)) is None:
                    if deaths := self._deaths():
                        raise DeskhandError("node_unavailable", "\n".join(map(str, deaths)))
                elif line["type"] == "feedback":
                    self.day.operator.say(f"    {line['step']:>3} {line['tool']} {line['text']}".rstrip())
                elif line["type"] == "result":
                    return line
            if task.ended():
                raise DeskhandError("internal_error", f"the task ended without a result: {task.errors()}")
        raise DeskhandError("timeout", f"the task took longer than {TASK_TIMEOUT:g} s.")

    def release(self) -> None:
        """See Workplace."""
        running, self._running, self._key, self._robot = self._running, None, (), None
        if running is not None:
            running.close()
