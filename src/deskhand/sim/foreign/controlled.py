"""The robot in a foreign simulator as the actions of an arm's node take it: trajectories, grips, time that goes on by itself (sim/pacer.py)."""

from __future__ import annotations

from dataclasses import dataclass

from deskhand.arms.follower import Follower, Tolerances
from deskhand.sim.foreign.devices import ForeignBody
from deskhand.types import JointState, Trajectory


@dataclass
class ForeignGrip:
    """A gripper command on its way, or how it ended."""

    done: bool = False
    stalled: bool = False
    reached: bool = False
    cancelled: bool = False


class ForeignControlled:
    """See deskhand.nodes.arm_actions.Controlled; deskhand.sim.pacer.Pacer steps it."""

    def __init__(self, body: ForeignBody) -> None:
        self.body, self.arm = body, body.arm
        self._grip: ForeignGrip | None = None

    @property
    def time(self) -> float:
        """[s] since the case was loaded."""
        return self.body.now()

    def step(self, seconds: float) -> None:
        """Let that much time pass [s]."""
        self.body.sleep(seconds)
        with self.body.lock:
            if self._grip is not None and self.body.gripper.done:
                self._end(cancelled=False)

    def moving(self) -> bool:
        """Whether a trajectory or a grip is under way."""
        follower = self.body.follower
        return (follower is not None and follower.active) or self._grip is not None

    def joint_state(self) -> JointState:
        """Arm and fingers, these counted outwards."""
        return self.body.joint_state()

    def default_tolerances(self) -> Tolerances:
        """See Controlled."""
        return Tolerances.default(len(self.arm.joints))

    def follow(self, trajectory: Trajectory, tolerances: Tolerances | None = None) -> Follower:
        """See Controlled; at the speed that the simulator can keep. Raises ``invalid_input``."""
        return self.body.follow(trajectory, tolerances)

    def cancel(self, follower: Follower) -> None:
        """See Controlled."""
        self.body.cancel(follower)

    def grip(self, position: float, force: float | None = None) -> ForeignGrip:
        """See Controlled. The fingers squeeze with what the simulator gives them: ``force`` cannot be asked for."""
        with self.body.lock:
            if self._grip is not None:
                self._end(cancelled=True)
            self.body.gripper.begin(self.arm.gripper.width_of(position))
            self._grip = ForeignGrip()
            return self._grip

    def cancel_grip(self, command: ForeignGrip) -> None:
        """See Controlled; nothing where it has ended."""
        with self.body.lock:
            if command is self._grip:
                self.body.gripper.stop()
                self._end(cancelled=True)

    def finger_position(self) -> float:
        """[m] of the driven joint"""
        return self.body.finger()

    def finger_force(self) -> float:
        """[N] of a pad"""
        return self.body.finger_force()

    def _end(self, cancelled: bool) -> None:
        grip, steps = self._grip, self.body.gripper
        assert grip is not None
        grip.stalled, grip.reached, grip.cancelled, self._grip = steps.stalled, steps.reached, cancelled, None
        grip.done = True  # last: who waits for it reads the others
