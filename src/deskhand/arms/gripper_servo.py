"""A gripper of one servo: there, or stalled on an object, told by where it really stands."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from deskhand.arms.gripper import GripperConfig
from deskhand.arms.joints import ArmJoints
from deskhand.arms.position_filter import PositionFilter

REACHED = 0.0015  # [m] of finger travel
STILL = 0.0004  # [m]
STALL_TIME = 0.3  # [s]
SHORTEST = 0.02  # [s] of a move


@dataclass
class GripCommand:
    """Fingers on their way to ``position`` [m or rad] (of the driven finger joint) with ``force`` [N]; ``due`` [s] is when they should be there.

    ``lever``: [m] that a pad moves for 1 m or rad of the joint.
    """

    position: float
    force: float
    due: float
    lever: float = 1.0
    done: bool = False
    stalled: bool = False
    reached: bool = False
    cancelled: bool = False
    begun: float = 0.0
    _anchor: float = field(default=float("inf"), repr=False)
    _since: float = field(default=0.0, repr=False)

    def judge(self, now: float, measured: float) -> None:
        """Given where the fingers are at ``now`` [s]: whether they have arrived or stand still."""
        if self.done:
            return
        if abs(measured - self._anchor) * self.lever > STILL:
            self._anchor, self._since = measured, now
        self.reached = abs(measured - self.position) * self.lever < REACHED
        still = now - self._since > STALL_TIME
        self.stalled = still and not self.reached
        self.done = self.stalled or (self.reached and (still or now >= self.due))

    def cancel(self) -> None:
        """It is over."""
        if not self.done:
            self.done = self.cancelled = True


class Fingers:
    """The command under way, if any, and what the servo must be told for it."""

    def __init__(self, config: GripperConfig, joints: ArmJoints) -> None:
        self._config, self._joints = config, joints
        self.command: GripCommand | None = None
        self._wish: tuple[float, float] | None = None

    @property
    def active(self) -> bool:
        """True while one is under way."""
        return self.command is not None and not self.command.done

    def begin(self, position: float, force: float | None, readings: PositionFilter, now: float) -> GripCommand:
        """Move to ``position`` [m or rad], clamped, in place of what was under way."""
        config = self._config
        goal = min(max(position, config.position_of(config.width_min)), config.position_of(config.width_max))
        seconds = max(SHORTEST, abs(goal - self._joints.finger(readings)) * config.lever / config.speed)
        self.end()
        most = config.force_default if force is None else min(max(force, 0.0), config.force_max)
        self.command = GripCommand(goal, most, now + seconds, config.lever, begun=now)
        self._wish = (self._joints.finger_ticks(goal), seconds)
        return self.command

    def move(self, ticks: float, seconds: float) -> None:
        """Send the servo to ``ticks``, whatever the table says."""
        self.end()
        self._wish = (ticks, seconds)

    def hold(self, command: GripCommand, readings: PositionFilter) -> None:
        """End a command and stay where the fingers are."""
        if not command.done:
            command.cancel()
            if command is self.command and self._joints.gripper is not None:
                self._wish = (readings.position(self._joints.gripper.id), SHORTEST)

    def end(self) -> None:
        """What is under way is over, and nothing more is told."""
        if self.command is not None:
            self.command.cancel()
        self._wish = None

    def take(self) -> tuple[dict[int, int], float]:
        """Where to send the servo now and in what time; nothing when there is nothing to tell."""
        wish, self._wish = self._wish, None
        return ({}, 0.0) if wish is None or self._joints.gripper is None else ({self._joints.gripper.id: round(wish[0])}, wish[1])

    def judge(self, readings: PositionFilter) -> None:
        """Given where the fingers are; what has stopped them is then held with a little more than nothing, instead of all the servo's force for ever."""
        command, gripper = self.command, self._joints.gripper
        if command is None or command.done or gripper is None:
            return
        # by the time of the reading: one that was not answered tells nothing about standing still
        command.judge(max(readings.stamp(gripper.id), command.begun), self._joints.finger(readings))
        if command.stalled:
            here = readings.position(gripper.id)
            sense = float(np.sign(self._joints.finger_ticks(command.position) - here))
            self._wish = (here + sense * gripper.squeeze * command.force / self._config.force_max, SHORTEST)
