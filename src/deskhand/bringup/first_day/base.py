"""What the first day with an arm consists of: steps that ask, act, check and measure, and the day that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from deskhand.arms.operator import Operator
from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.skills.robot import Robot


class Workplace(Protocol):
    """The robot's nodes, started as the steps need them (see workplace.py)."""

    def robot(self, nodes: frozenset[str], camera_mount: str) -> Robot:
        """The robot with these nodes of the stack, besides arm and camera; it goes on running until other nodes or :meth:`release` are asked for.

        Raises:
            DeskhandError: what the nodes do not come up for.
        """
        ...

    def task(self, instruction: str) -> Mapping[str, Any]:
        """Give the running stack a task; the result line of nodes/task_client.py."""
        ...

    def release(self) -> None:
        """Stop the nodes, the arm holding, so that its port is free."""
        ...


@dataclass
class Day:
    """One owner's first day with one arm; what every step is given.

    Attributes:
        arm: name in config/arms.
        folder: of this unit: ``arm.yaml`` (extends the arm; what differs on this unit), ``camera.yaml``, the journal, reports.
        measured: by step, what it wrote down: numbers and texts that JSON can hold. A step finds here what the steps before it measured.
        settings: what the person chose or a step found, by name: ``port``, ``driver``, ``camera``.
        rehearsal: against emulators and the simulated camera, no hardware.
        workplace: the nodes of the robot, for steps that need more than the servo bus; None where a step is tried on its own.
    """

    arm: str
    folder: Path
    operator: Operator
    measured: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    rehearsal: bool = False
    workplace: Workplace | None = None

    @property
    def unit(self) -> str:
        """What to load the arm by: the unit's own file, once there is one."""
        return str(self.arm_file) if self.arm_file.is_file() else self.arm

    @property
    def arm_file(self) -> Path:
        """The unit's own arm file, given as ``--arm`` from the calibration on."""
        return self.folder / "arm.yaml"

    @property
    def camera_file(self) -> Path:
        """The camera's pose as calibrated, given as ``camera_mount``."""
        return self.folder / "camera.yaml"

    @property
    def safety_file(self) -> Path:
        """The envelope on this desk."""
        return self.folder / "safety.yaml"

    @property
    def parameter_file(self) -> Path:
        """ROS parameters that name the unit's files, given as ``--parameters``."""
        return self.folder / "nodes.yaml"

    def picture(self, name: str) -> Path:
        """Where a picture for the report goes."""
        return self.folder / "pictures" / f"{name}.png"

    def needs(self) -> Workplace:
        """The workplace.

        Raises:
            DeskhandError: ``internal_error`` for a step that was started without.
        """
        if self.workplace is None:
            raise DeskhandError("internal_error", "this step needs the robot's nodes, and was started without a workplace.")
        return self.workplace


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes:
        name: stable; the journal and ``--from`` know the step by it.
        title: what is true when it is done, in one line.
        hands: estimated minutes of a person's hands.
        run: does it and checks it; returns what it measured. Raises DeskhandError, with a hint what to do, when the check fails: the day stops there
            and resumes there.
        seen: what one sees when it went well; for the docs and the terminal.
        optional: may be left out by the person.
    """

    name: str
    title: str
    hands: float
    run: Callable[[Day], Mapping[str, Any]]
    seen: str = ""
    optional: bool = False
