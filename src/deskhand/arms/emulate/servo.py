"""A bus servo as its user meets it: it takes time to move, has limits, sags, gets hot when it is held, and gives up when it is too hot.

With a :class:`deskhand.arms.emulate.reality.ServoReality` it also has play, a dead band, a zero that is off, noise, and obeys late.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deskhand.arms.emulate.reality import IDEAL, ServoReality, Slack

FASTEST = 1390.0  # [ticks/s] 60 degrees in 0.18 s, at 1000 ticks for 240 degrees
RESPONSE = 0.02  # [s] time constant with which the shaft follows the profile
STEP = 0.004  # [s] of the shaft's integration
LONGEST = 2.0  # [s] after which a shaft that was not looked at has surely settled
HEATING = 0.5  # [degrees C/s] at full load. An STS3215 with half of its stall torque is 22 degrees warmer after ten minutes, and stays so
COOLING = 180.0  # [s] time constant (TheRobotStudio/SO-ARM100, issue 134)
AMBIENT = 28.0
STALL_ERROR = 12.0  # [ticks] off its goal, with which a servo gives all its torque
RESISTANCE = 0.15  # [V] of sag at full load
IDLE_LOAD = 0.05


@dataclass
class Shaft:
    """The mechanical part; ``stop_low`` and ``stop_high`` are what blocks it [ticks], ``fastest`` [ticks/s] what it can.

    Replaced by a simulated joint when the emulator moves one.
    """

    position: float
    stop_low: float = -math.inf
    stop_high: float = math.inf
    fastest: float = FASTEST

    def advance(self, wished: float, seconds: float) -> None:
        """Follow for ``seconds``."""
        step = (wished - self.position) * min(1.0, seconds / RESPONSE)
        reach = self.fastest * seconds
        moved = self.position + min(max(step, -reach), reach)
        self.position = min(max(moved, self.stop_low), self.stop_high)


class Servo:
    """One servo; all positions in ticks.

    Args:
        clock: [s] in which it moves.
        measured: where the shaft is, when something else moves it (a simulated arm, which then has its own play and sag); default: a shaft of its own.
        reality: what is wrong with it.
        step: [rad] of a tick, for what ``reality`` says as angles; its sign does not matter.
        load: torque on a shaft of its own, as a share of the greatest that gravity has there, positive towards more ticks.

    ``limits`` are where goals are clamped to [ticks]; ``stall`` [ticks] off its goal it gives all its torque, of which it may use
    the share ``most``.
    """

    def __init__(
        self,
        number: int,
        clock: Callable[[], float],
        position: float = 500.0,
        measured: Callable[[], float] | None = None,
        reality: ServoReality = IDEAL,
        step: float = math.radians(0.24),
        load: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.number, self._clock, self._outside = number, clock, measured
        self._reality, self._bearing = reality, load
        self._random = np.random.default_rng([reality.seed, number, 1])
        self._zero = reality.zero_of(number) / abs(step)
        self._coming: deque[tuple[float, Callable[[], None]]] = deque()
        """What it was told and has not heard yet, by when it does [s]."""
        self.shaft = Shaft(position if measured is None else measured())
        self._slack = Slack(reality.backlash_of(number) / abs(step), reality.sag / abs(step), reality.dead_band / abs(step), self.shaft.position)
        self.torque = True
        self.temperature, self.supply = AMBIENT, 11.8
        self.offset, self.limits = 0, (0, 1000)
        self.stall, self.most = STALL_ERROR, 1.0
        self.voltage_limits, self.max_temperature = (4500, 14000), 85
        self.answers = True  # when not, it is not there: it does not obey either
        self.mute = number in reality.silent  # it obeys and answers nothing
        self._from = self._goal = self.shaft.position
        self._begun, self._duration = clock(), 0.0
        self._at = clock()

    # ------------------------------------------------------------ commands

    def move(self, goal: float, seconds: float, delay: float = 0.0) -> None:
        """Begin to move from where the shaft is, ``delay`` [s] from now; a servo that had let go takes hold."""

        def act() -> None:
            self.torque = self.torque or not self.too_hot
            self._from = self.position()
            self._goal = min(max(goal - self._zero, self.limits[0]), self.limits[1])
            self._begun, self._duration = self._at + delay, max(seconds, 0.0)

        self._told(act)

    def stop(self) -> None:
        """Hold where it is."""
        self._told(lambda: self._hold(self.position()))

    def set_torque(self, on: bool) -> None:
        """Take hold where it is, or let go."""

        def act() -> None:
            self._hold(self.position())
            self.torque = on and not self.too_hot

        self._told(act)

    def _told(self, act: Callable[[], None]) -> None:
        """Obey, after the latency of commands."""
        self._advance()
        if self._reality.command_latency:
            self._coming.append((self._clock() + self._reality.command_latency, act))
        else:
            act()

    def _hold(self, position: float) -> None:
        self._from = self._goal = position
        self._begun, self._duration = self._at, 0.0

    # ------------------------------------------------------------ what it measures

    def position(self) -> float:
        """Where the shaft is, as its encoder would have it without noise and zero error."""
        if self._outside is not None:
            return self._outside()
        self._advance()
        return self.shaft.position

    def reading(self) -> int:
        """What it answers when it is asked for its position."""
        noise = float(self._random.uniform(-self._reality.noise, self._reality.noise)) if self._reality.noise else 0.0
        return round(self.position() + self._zero + noise)

    def link(self) -> float:
        """Where what it turns really is: beyond its encoder by the play. Only for those who judge."""
        return self.position() + (0.0 if self._outside is not None else self._slack.play)

    def wished(self) -> float:
        """Where its profile is now; where the shaft is when it has let go."""
        self._advance()
        if not self.torque:
            return self.shaft.position if self._outside is None else self._outside()
        return self._profile()

    def _profile(self) -> float:
        elapsed = self._clock() - self._begun
        if elapsed <= 0:
            return self._from
        if elapsed >= self._duration:
            return self._goal
        return self._from + (self._goal - self._from) * elapsed / self._duration

    @property
    def time(self) -> float:
        """[s] of its clock."""
        return self._clock()

    @property
    def goal(self) -> float:
        """Where it is told to go."""
        self._advance()
        return self._goal

    @property
    def load(self) -> float:
        """Share of its torque, 0 to 1."""
        if not self.torque:
            return 0.0
        position = self.shaft.position if self._outside is None else self._outside()
        return min(self.most, IDLE_LOAD + max(0.0, abs(self._profile() - position) - 2) / self.stall)

    @property
    def voltage(self) -> float:
        """[V] at the servo."""
        return self.supply - RESISTANCE * self.load

    @property
    def too_hot(self) -> bool:
        """Beyond the temperature at which it gives up by itself."""
        return self.temperature > self.max_temperature

    @property
    def errors(self) -> int:
        """Bits as LX servos have them: 1 temperature, 2 voltage, 4 stalled."""
        low, high = self.voltage_limits
        return (1 if self.too_hot else 0) | (0 if low <= self.voltage * 1000 <= high else 2) | (4 if self.load >= self.most else 0)

    # ------------------------------------------------------------ time

    def _advance(self) -> None:
        """Let pass what has passed since it was looked at, and obey what came meanwhile, then."""
        now = self._clock()
        while self._coming and self._coming[0][0] <= now:
            due, act = self._coming.popleft()
            self._pass(due)
            act()
        self._pass(now)

    def _pass(self, now: float) -> None:
        elapsed = min(now - self._at, LONGEST)
        if elapsed <= 0:
            self._at = max(self._at, now)
            return
        self._at = now - elapsed
        while self._at < now - 1e-9:
            step = min(STEP, now - self._at)
            # the profile as it was then
            since = self._at + step - self._begun
            share = 1.0 if since >= self._duration else max(0.0, since / self._duration)
            if self._outside is None:
                load = self._bearing()
                if self.torque:
                    self.shaft.advance(self._slack.drive(self._from + (self._goal - self._from) * share, load), step)
                self._slack.follow(self.shaft.position, load, step)
            self._warm(step)
            self._at += step

    def _warm(self, step: float) -> None:
        self.temperature += step * (HEATING * self.load**2 - (self.temperature - AMBIENT) / COOLING)
        if self.too_hot and self.torque:
            self.torque = False  # as the firmware does: it lets go
