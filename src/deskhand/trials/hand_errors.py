"""Where the hand really was and where it was planned to be, and whether the arm really kept to the envelope. For the scorer only.

What the robot knows goes by its servos' encoders, with their play and noise; here the simulation's own joints are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deskhand.arms.base import Arm, Clock, Motion
from deskhand.arms.gripper_base import Gripper, GripperMotion
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.safety.envelope import Envelope
from deskhand.safety.scene import PlanningScene
from deskhand.safety.settings import load_safety
from deskhand.sim.simulation import Simulation
from deskhand.types import JointState, Trajectory

PERIOD = 0.04  # [s] between two looks at where the arm is


@dataclass
class HandErrors:
    """Of one trial.

    Attributes:
        motions: that were begun.
        outside: what the envelope says of the ways that the arm really took: links against workspace, keep-out zones, table and themselves, and joint
            limits. One entry a motion.
        fast: the same of speeds, over :data:`PERIOD`; a joint that makes up for a piece that it did not hear is among them (docs/safety.md).
        released, grasped: [m] from where the tcp was planned to where it was, when the fingers opened with something between them, and when they closed.
    """

    simulation: Simulation
    motions: int = 0
    outside: list[str] = field(default_factory=list)
    fast: list[str] = field(default_factory=list)
    released: list[float] = field(default_factory=list)
    grasped: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._model: RobotModel = self.simulation.built.robot
        self._envelope = Envelope(self._model, load_safety())
        self._planned: Trajectory | None = None
        self._due = 0.0
        self._motion: Motion | None = None
        self._times: list[float] = []
        self._positions: list[Array] = []

    def begin(self, trajectory: Trajectory, motion: Motion) -> None:
        """A motion has begun."""
        self.end()
        self._planned, self._motion, self.motions = trajectory, motion, self.motions + 1
        self._due = self.simulation.time + trajectory.duration
        self.look()

    def look(self) -> None:
        """Time has passed."""
        if self._planned is not None and (not self._times or self.simulation.time - self._times[-1] >= PERIOD - 1e-6):
            self._times.append(self.simulation.time)
            self._positions.append(self.simulation.joint_positions())

    def grip(self, width: float) -> None:
        """The fingers are about to go to ``width`` [m]."""
        self.end()
        if self._planned is None or self._motion is None or not self._arrived:
            return
        planned = self._model.tcp_pose(dict(zip(self._planned.joint_names, map(float, self._planned.positions[-1]), strict=True)))[:3, 3]
        off = float(np.linalg.norm(self.simulation.tcp() - planned))
        now = self.simulation.arm.gripper.width_of(self.simulation.finger_position())
        if width < now:
            self.grasped.append(off)
        elif self.simulation.truth().in_hand:
            self.released.append(off)

    @property
    def _arrived(self) -> bool:
        """Whether the last motion came to its end: what was stopped on its way says nothing about where the hand should be."""
        return self._motion is not None and self._motion.done() and (not self._motion.error() or self.simulation.time >= self._due)

    def end(self) -> None:
        """The motion under way is over: was it within the envelope?"""
        if len(self._times) < 2:
            return
        times, positions = np.array(self._times) - self._times[0], np.array(self._positions)
        self._times, self._positions = [], []
        zero = np.zeros((0, positions.shape[1]))
        path = Trajectory(self.simulation.arm.joints, times, positions, zero, zero)
        driven = self.simulation.arm.gripper.joint
        report = self._envelope.check(path, PlanningScene(), {driven: self.simulation.finger_position()})
        for found, fast in ((self.outside, False), (self.fast, True)):
            if those := [str(item) for item in report.violations if item.kind.endswith("_speed") == fast]:
                found.append("; ".join(those[:3]))

    def to_json(self) -> dict[str, Any]:
        """``{"motions", "outside", "fast", "release_mm", "grasp_mm"}``."""
        self.end()
        in_mm = {name: [round(1000 * off, 2) for off in values] for name, values in (("release_mm", self.released), ("grasp_mm", self.grasped))}
        return {"motions": self.motions, "outside": self.outside, "fast": self.fast, **in_mm}


class WatchedArm:
    """An arm whose motions are looked at."""

    def __init__(self, arm: Arm, errors: HandErrors) -> None:
        self._arm, self._errors = arm, errors

    def joint_state(self) -> JointState:
        """See Arm."""
        return self._arm.joint_state()

    def follow(self, trajectory: Trajectory) -> Motion:
        """See Arm."""
        motion = self._arm.follow(trajectory)
        self._errors.begin(trajectory, motion)
        return motion


class WatchedGripper:
    """A gripper; when it moves the hand is looked at."""

    def __init__(self, gripper: Gripper, errors: HandErrors) -> None:
        self._gripper, self._errors = gripper, errors

    def move(self, width: float, force: float) -> GripperMotion:
        """See Gripper."""
        self._errors.grip(width)
        return self._gripper.move(width, force)


class WatchedClock:
    """Simulated time; ``sleep`` is what lets it pass."""

    def __init__(self, clock: Clock, sleep: Callable[[float], None], errors: HandErrors) -> None:
        self._clock, self._sleep, self._errors = clock, sleep, errors

    def now(self) -> float:
        """See Clock."""
        return self._clock.now()

    def sleep(self, seconds: float) -> None:
        """See Clock."""
        self._sleep(seconds)
        self._errors.look()


def summary(results: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Of the ``hand`` of several trials, None when none has it: ``{"motions", "outside", "fast", "release_mm": {"count", "median", "p95"}, "grasp_mm": …}``."""
    known = [result["hand"] for result in results if result.get("hand")]
    if not known:
        return None
    found: dict[str, Any] = {"motions": sum(hand["motions"] for hand in known)}
    found.update({name: sum(len(hand[name]) for hand in known) for name in ("outside", "fast")})
    for name in ("release_mm", "grasp_mm"):
        values = [value for hand in known for value in hand[name]]
        median, most = (round(float(np.percentile(values, share)), 2) for share in (50, 95)) if values else (None, None)
        found[name] = {"count": len(values), "median": median, "p95": most}
    return found
