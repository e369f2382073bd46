"""What is known of a node that is to be started, and what a person chooses at bring-up."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

Value = bool | int | float | str | list[str] | list[float]

PARAMETERS = "config/nodes.yaml"
"""Every node's parameters, by node name."""


@dataclass(frozen=True)
class NodeSpec:
    """One node as one process.

    ``package`` other than "deskhand" is a ROS package of someone else with ``executable``; it exists only where ROS 2 is installed. Without a package
    it is a plain program. ``arguments`` are plain arguments, before ``--ros-args``; ``pass_fds`` are inherited by this process and by no other; one that
    works ``once`` is ready when it has ended with exit code 0; ``nice`` (0 to 19) is how far it gives way to others; ``environment`` is added to it; one
    that is not ``renamed`` has the name by itself: telling it would rename every node in its process.
    """

    name: str
    executable: str
    package: str = "deskhand"
    namespace: str = ""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    parameter_files: tuple[Path, ...] = ()
    remappings: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()
    pass_fds: tuple[int, ...] = ()
    once: bool = False
    nice: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    renamed: bool = True

    @property
    def module(self) -> str:
        """Python module of a deskhand node."""
        return f"deskhand.nodes.{self.executable}"

    def ros_arguments(self) -> list[str]:
        """``--ros-args …`` with name, namespace, parameters and remappings."""
        arguments = ["--ros-args", *(["-r", f"__node:={self.name}"] if self.renamed else [])]
        if self.namespace:
            arguments += ["-r", f"__ns:=/{self.namespace.strip('/')}"]
        for source, target in self.remappings:
            arguments += ["-r", f"{source}:={target}"]
        for file in self.parameter_files:
            arguments += ["--params-file", str(file)]
        for name, value in self.parameters.items():
            arguments += ["-p", f"{name}:={json.dumps(value)}"]  # JSON is YAML, and keeps "1" a string
        return arguments

    def prefix(self) -> list[str]:
        """What stands before the node's own command; it is replaced by the node, which keeps its process id."""
        return ["nice", "-n", str(self.nice)] if self.nice else []

    def command(self) -> list[str]:
        """The command that starts the node."""
        if not self.package:
            return [*self.prefix(), self.executable, *self.arguments]
        start = [sys.executable, "-m", self.module] if self.package == "deskhand" else ["ros2", "run", self.package, self.executable]
        return [*self.prefix(), *start, *self.arguments, *self.ros_arguments()]


@dataclass(frozen=True)
class StackOptions:
    """What a person chooses at bring-up.

    ``camera`` (one of :data:`deskhand.bringup.cameras.CAMERAS`; ``ros`` publishes already), ``camera_topics`` (of ``ros``, where they are not ours: colour,
    aligned depth, camera_info, with commas), ``camera_file`` (of ``file``), ``camera_mount`` (a name in ``config/cameras`` or a file; empty: its transform
    comes by ``/tf``) and ``driver`` (one of :data:`DRIVERS`) are for a real robot; ``port`` is that of our own drivers, empty: the arm's configuration
    says it. A simulation with one of our own drivers moves its arm by it, over an emulated bus; ``servos`` is then what is wrong with
    the servos (arms/emulate/reality.py). ``remappings`` apply to every node of the stack.
    ``memory`` is a file that outlives the nodes; empty: a real robot has its own below the ROS home (``~/.ros``), a simulated one begins anew. ``view``:
    the operator page, on ``view_port`` of this machine alone. ``approval`` (``never``, ``motion``, ``always``): which calls wait for the operator;
    ``approval_others``: the same for callers other than the operator's own task. Empty: as config/safety.yaml says; ``never`` for others in simulation.
    ``composed``: the nodes that neither stop nor drive the arm are one process, which takes less memory.
    ``episodes`` is the folder for the records of tasks, one each; empty: :data:`EPISODES`. ``files`` are folders from which tools may read plans and pictures.
    """

    arm: str = "wx250s"
    camera: str = "ros"
    camera_mount: str = ""
    camera_topics: str = ""
    camera_file: str = ""
    driver: str = "external"
    port: str = ""
    planner: str = "embedded"
    brain: str = "offline"
    images: int | None = None
    namespace: str = ""
    parameter_files: tuple[Path, ...] = ()
    remappings: tuple[tuple[str, str], ...] = ()
    episodes: str = ""
    memory: str = ""
    view: bool = False
    view_port: int = 8080
    approval: str = ""
    approval_others: str = ""
    files: tuple[Path, ...] = ()
    servos: str = ""
    composed: bool = False
