"""Drives an arm of bus servos: follows trajectories by moves planned ahead, measures, watches, stops, comes back after the port was lost.

One thread talks to the bus (:meth:`ArmDriver._run`); everybody else leaves it a wish. Every command sends the arm at most ``lookahead`` seconds ahead,
so an arm whose driver dies, or whose cable is pulled, stands still that much later.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deskhand.arms.bus.base import BusCounters, Health, ServoBus
from deskhand.arms.follower import INVALID_GOAL, PATH_TOLERANCE_VIOLATED, Follower, Tolerances, check_trajectory
from deskhand.arms.grip import GripCommand
from deskhand.arms.joints import ArmJoints
from deskhand.arms.model import RobotModel
from deskhand.arms.readings import Readings
from deskhand.arms.watch import HealthWatch, StallWatch
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.types import JointState, Trajectory

log = logging.getLogger(__name__)

RETRY = 0.1  # [s] between attempts to open the port
SILENT = 0.5  # [s] without a believable position of a servo: the arm stops
HEALTH_PERIOD = 0.2  # [s] between two servos' health
IDLE_PERIOD = 0.02  # [s] at least, from one round of readings to the next
SETTLE = 1.5  # [s] after the last point of a trajectory, for the arm to be there
SHORTEST = 0.02  # [s] of a move
FIRST_ANSWER = 1.0  # [s] for all servos to answer after the port was opened


@dataclass(frozen=True)
class DriverStatus:
    """What the driver knows; for diagnostics.

    Attributes:
        connected: the port is open and every servo has answered.
        fault: why the arm does not move; empty when it may.
        scale: share of the speed that warm servos leave.
        tracking_error: [rad] largest of the trajectory under way or the last one; ``tracking_rms`` over all its readings and joints.
        round_time: [s] for one reading of all servos, smoothed.
        health: by joint name.
    """

    connected: bool
    fault: str
    scale: float
    tracking_error: float
    tracking_rms: float
    round_time: float
    doubted: int
    counters: BusCounters
    health: dict[str, Health]


class ArmDriver:
    """An arm behind a bus; an :class:`deskhand.arms.base.Arm` and what the action servers need (nodes/arm_actions.py).

    Args:
        clock: [s] in which trajectories run and readings are stamped; simulated time when the servos are.
        hold: take hold of the arm when it is connected; False leaves the servos' torque as it is.
        on_round: called by the driver's thread after every round of readings; must not block.
    """

    def __init__(
        self, model: RobotModel, bus: ServoBus, clock: Callable[[], float] = time.monotonic, hold: bool = True, on_round: Callable[[], None] = lambda: None
    ) -> None:
        self.arm, self.model, self._bus, self._clock, self._hold = model.arm, model, bus, clock, hold
        self._on_round = on_round
        config = model.arm.driver
        self._config, self._joints = config, ArmJoints(model)
        self._readings = Readings(config.ticks, config.fastest)
        self._watch = HealthWatch(config.health, self._joints.names)
        self._stall = StallWatch()
        self._lock = threading.RLock()
        self._wake, self._closing = threading.Event(), threading.Event()
        self._connected, self._gone = False, "it has not been opened yet"
        self._halt = False  # wish: stop the arm where it is
        self._torque: bool | None = None  # wish
        self._follower: Follower | None = None
        self._progress, self._progress_at, self._sent, self._last_sent = 0.0, 0.0, float("-inf"), False
        self._grip: GripCommand | None = None
        self._grip_goal: float | None = None  # wish [ticks]
        self._grip_time = 0.0
        self._errors: list[float] = []
        self._worst, self._round = 0.0, 0.0
        self._health_due, self._health_next = float("-inf"), 0
        self._silent = ""
        self.failure: DeskhandError | None = None
        self._thread = threading.Thread(target=self._run, name="arm driver", daemon=True)

    # ------------------------------------------------------------ life

    def start(self) -> None:
        """Begin to look for the arm; it is taken as soon as it is there."""
        self._thread.start()

    def close(self) -> None:
        """Stop the arm where it is, holding, and give the port back."""
        self.halt("the driver is closed")
        deadline = time.monotonic() + 0.3
        while self._halt and self._connected and time.monotonic() < deadline:
            time.sleep(0.005)
        self._closing.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(2.0)
        self._bus.close()

    def wait_connected(self, timeout: float) -> None:
        """Raises ``device_unavailable`` (or what was wrong) when the arm is not there within ``timeout`` [s]."""
        end = time.monotonic() + timeout
        while not self._connected:
            if self.failure is not None:
                raise self.failure
            if time.monotonic() > end:
                raise DeskhandError("device_unavailable", f"the arm is not there after {timeout:g} s: {self._gone}", retry=True)
            time.sleep(0.01)

    # ------------------------------------------------------------ what others ask for

    @property
    def time(self) -> float:
        """[s] of the clock given."""
        return self._clock()

    def status(self) -> DriverStatus:
        """What is known now."""
        with self._lock:
            health = {name: self._watch.health(servo) for servo, name in self._joints.names.items()}
            rms = float(np.sqrt(np.mean(np.square(self._errors)))) if self._errors else 0.0
            fault = self._trouble()
            return DriverStatus(self._connected, fault, self._watch.scale(), self._worst, rms, self._round, self._readings.doubted, self._bus.counters, health)

    def joint_state(self) -> JointState:
        """The newest measurement of all joints, both fingers included; ``efforts`` are empty. ``stamp`` is that of the oldest reading in it.

        Raises:
            DeskhandError: ``device_unavailable`` before the arm has been read or after it was lost.
        """
        with self._lock:
            if not self._connected:
                raise DeskhandError("device_unavailable", f"the arm is not connected: {self._gone}", retry=True)
            return self._joints.state(self._readings)

    def default_tolerances(self) -> Tolerances:
        """Of trajectories that name none."""
        count = len(self.arm.joints)
        return Tolerances(np.full(count, self._config.path_tolerance), np.full(count, self._config.goal_tolerance), SETTLE)

    def follow(self, trajectory: Trajectory, tolerances: Tolerances | None = None) -> Follower:
        """Begin to follow, in place of what was running.

        Raises:
            DeskhandError: ``invalid_input`` (BadTrajectory) when it cannot be followed; ``servo_fault`` when the arm must not move;
                ``device_unavailable``.
        """
        checked = check_trajectory(trajectory, self.arm.joints)
        with self._lock:
            self._refuse_when_in_trouble()
            measured = self._joints.angles(self._readings)
            self._joints.check(checked, measured)
            if self._follower is not None:
                self._follower.replace(measured)
            self._follower = Follower(checked, measured, 0.0, tolerances or self.default_tolerances())
            self._progress, self._progress_at, self._sent, self._last_sent = 0.0, self._clock(), float("-inf"), False
            self._errors, self._worst, self._stall, self._halt = [], 0.0, StallWatch(), False
            self._wake.set()
            return self._follower

    def cancel(self, follower: Follower) -> None:
        """Stop a trajectory and hold where the arm is; returns at once."""
        with self._lock:
            if follower.active:
                follower.cancel(self._joints.angles(self._readings) if self._connected else follower.wished)
                self._halt = self._halt or follower is self._follower
                self._wake.set()

    def halt(self, reason: str) -> None:
        """Stop whatever moves; returns at once."""
        with self._lock:
            self._end_motions(reason)
            self._halt = True
            self._wake.set()

    def grip(self, position: float, force: float | None = None) -> GripCommand:
        """Begin to move the fingers to ``position`` [m] (of the driven finger joint); ``force`` [N] is with what they hold what stops
        them, as far as a servo knows force.

        Raises:
            DeskhandError: ``servo_fault``, ``device_unavailable``.
        """
        gripper = self.arm.gripper
        with self._lock:
            self._refuse_when_in_trouble()
            low, high = gripper.position_of(gripper.width_min), gripper.position_of(gripper.width_max)
            goal = min(max(position, low), high)
            if self._grip is not None:
                self._grip.cancel()
            self._grip_time = max(SHORTEST, abs(goal - self._joints.finger(self._readings)) / gripper.speed)
            force = gripper.force_default if force is None else min(max(force, 0.0), gripper.force_max)
            self._grip = GripCommand(goal, force, self._clock() + self._grip_time)
            self._grip_goal = self._joints.finger_ticks(goal)
            self._wake.set()
            return self._grip

    def cancel_grip(self, command: GripCommand) -> None:
        """Hold the fingers where they are."""
        with self._lock:
            if not command.done:
                command.cancel()
                if command is self._grip:
                    self._grip_goal, self._grip_time = self._joints.finger_ticks(self._joints.finger(self._readings)), SHORTEST

    def move_gripper(self, ticks: float, seconds: float) -> None:
        """Send the gripper's servo to ``ticks`` in ``seconds``, whatever its table says; for calibration."""
        with self._lock:
            self._refuse_when_in_trouble()
            if self._grip is not None:
                self._grip.cancel()
            self._grip_goal, self._grip_time = ticks, seconds
            self._wake.set()

    def gripper_ticks(self) -> float:
        """Where the gripper's servo stands; NaN when there is none."""
        with self._lock:
            return float("nan") if self._joints.gripper is None else self._readings.position(self._joints.gripper.id)

    def finger_position(self) -> float:
        """Position [m] of the driven finger joint."""
        with self._lock:
            return self._joints.finger(self._readings)

    def finger_force(self) -> float:
        """[N] that the command under way asked for when it holds something, else 0: these servos do not measure it."""
        command = self._grip
        return command.force if command is not None and command.stalled else 0.0

    def set_torque(self, on: bool, supported: bool = False) -> None:
        """Hold, or let go; letting go needs ``supported``: somebody's word that the arm cannot fall.

        Raises:
            DeskhandError: ``permission_denied`` without it.
        """
        if not on and not supported:
            raise DeskhandError("permission_denied", "without torque the arm falls.", hint="Support it by hand, then say that it is supported.")
        with self._lock:
            self._end_motions("the torque is switched")
            self._torque = on
            self._wake.set()

    # ------------------------------------------------------------ the thread

    def _run(self) -> None:
        while not self._closing.is_set() and self.failure is None:
            began = time.monotonic()
            pause = IDLE_PERIOD if self.step() else RETRY
            if self._wake.wait(max(0.0, pause - (time.monotonic() - began))):
                self._wake.clear()

    def step(self) -> bool:
        """Take the arm if it is not there yet, read every servo once, and do what is due; False when the arm is not there. For who starts no thread."""
        try:
            if not self._connected:
                self._connect()
            self._round_once()
        except DeskhandError as error:
            self._lost(error)
            if error.code not in ("device_unavailable", "device_busy"):
                self.failure = error
            return False
        return True

    def _connect(self) -> None:
        """Open, read every servo, and tell each to be where it is: nothing moves."""
        self._bus.open()
        self._readings.forget()
        servos, end = self._joints.servos, self._clock() + FIRST_ANSWER
        while missing := [servo for servo in servos if self._readings.stamp(servo) < 0]:
            if self._clock() > end:
                raise DeskhandError("device_unavailable", f"servos {missing} do not answer.", retry=True, hint="Is the arm switched on?")
            self._read(missing)
        if self._hold:
            self._bus.move({servo: round(self._readings.position(servo)) for servo in servos}, SHORTEST)
            self._bus.set_torque([servo for servo in servos if self._bus.torque_on(servo) is not True], True)
        with self._lock:
            self._connected, self._silent = True, ""
        log.info("%s is connected", self.arm.name)

    def _lost(self, error: DeskhandError) -> None:
        with self._lock:
            if self._connected:
                log.error("the arm was lost: %s", error)
            self._end_motions(f"the connection was lost: {error.message}")
            self._connected, self._gone, self._halt = False, str(error), False
        self._bus.close()

    def _round_once(self) -> None:
        """Read every servo once; commands go out between the readings, when they are due."""
        began = self._clock()
        servos = self._joints.servos
        for group in [list(servos)] if self._bus.together else [[servo] for servo in servos]:
            self._serve()
            self._read(group)
        self._look_after()
        with self._lock:
            self._judge()
        self._serve()
        self._on_round()
        self._round += 0.1 * (self._clock() - began - self._round)

    def _read(self, servos: list[int]) -> None:
        answers = self._bus.read_positions(servos)
        now = self._clock()
        with self._lock:
            for servo, position in answers.items():
                self._readings.take(servo, position, now)

    def _serve(self) -> None:
        """What is wished or due: stop first, then torque, the next piece of the trajectory, the fingers."""
        with self._lock:
            halt, torque, self._halt, self._torque = self._halt, self._torque, False, None
            goals, seconds = ({}, 0.0) if halt else self._next_piece()
            grip, self._grip_goal = self._grip_goal, None
        servos = self._joints.servos
        if halt:
            self._bus.stop(self._joints.arm_servos)
            self._bus.stop(self._joints.arm_servos)  # noise may have eaten the first
        if torque is not None:
            if torque:
                self._bus.move({servo: round(self._readings.position(servo)) for servo in servos}, SHORTEST)
            self._bus.set_torque(servos, torque)
        if goals:
            self._bus.move(goals, seconds)
        if grip is not None and self._joints.gripper is not None:
            self._bus.move({self._joints.gripper.id: round(grip)}, self._grip_time)

    def _next_piece(self) -> tuple[dict[int, int], float]:
        """Where to send the arm now and in what time; nothing when it is not due. Servos that are told later are sent further."""
        now, follower, config = self._clock(), self._follower, self._config
        if follower is None or not follower.active or self._last_sent or now - self._sent < config.period - 1e-3:
            return {}, 0.0
        progress, scale = self._advance(now), self._watch.scale()
        end = follower.trajectory.duration
        self._sent, self._last_sent = now, progress + config.lookahead * scale >= end
        seconds = max(SHORTEST, (end - progress) / scale) if self._last_sent else config.lookahead
        goals = {}
        for index, servo in enumerate(self._joints.arm_servos):
            at = end if self._last_sent else progress + (config.lookahead + index * self._bus.move_delay) * scale
            goals[servo] = self._joints.ticks(index, float(follower.sample(at)[index]))
        return goals, seconds

    def _advance(self, now: float) -> float:
        """Along the trajectory's own time, which passes slower when servos are warm."""
        self._progress += max(0.0, now - self._progress_at) * self._watch.scale()
        self._progress_at = now
        return self._progress

    def _look_after(self) -> None:
        """One servo's health, when it is due; a bad reading is confirmed at once."""
        now = self._clock()
        servo = self._watch.suspicious()
        if servo is None and now < self._health_due:
            return
        if servo is None:
            self._health_next = (self._health_next + 1) % len(self._joints.servos)
            servo = self._joints.servos[self._health_next]
        self._health_due = now + HEALTH_PERIOD
        health = self._bus.read_health(servo)
        with self._lock:
            self._watch.take(servo, health)

    # ------------------------------------------------------------ judging, with the lock

    def _judge(self) -> None:
        now = self._clock()
        silent = [name for servo, name in self._joints.names.items() if now - self._readings.stamp(servo) > SILENT]
        self._silent = f"{', '.join(silent)} has given no believable position for {SILENT} s" if silent else ""
        trouble = self._trouble()
        moving = (self._follower is not None and self._follower.active) or (self._grip is not None and not self._grip.done)
        if trouble and moving:
            log.error("the arm stops: %s", trouble)
            self._end_motions(trouble)
            self._halt = True
        if self._follower is not None and self._follower.active:
            self._judge_arm(self._follower, now)
        if self._grip is not None and not self._grip.done:
            self._grip.judge(now, self._joints.finger(self._readings))
            if self._grip.stalled:
                self._squeeze(self._grip)

    def _judge_arm(self, follower: Follower, now: float) -> None:
        measured = self._joints.angles(self._readings)
        follower.step(self._advance(now), measured)
        error = float(np.abs(follower.error).max())
        self._errors.extend(np.abs(follower.error).tolist())
        self._worst = max(self._worst, error)
        stalled = self._stall.stalled(now, follower.wished, measured) if follower.active else None
        if stalled is not None:
            follower.fail(PATH_TOLERANCE_VIOLATED, f"{self.arm.joints[stalled]} stalled, {follower.error[stalled]:.3f} rad short; something holds it", measured)
        if not follower.active:
            log.info("trajectory ended (%s): tracking error at most %.3f rad", follower.message or "there", self._worst)
            self._halt = self._halt or follower.code == PATH_TOLERANCE_VIOLATED

    def _squeeze(self, command: GripCommand) -> None:
        """Hold what stopped the fingers with a little more than nothing, instead of all the servo's force for ever."""
        gripper = self._joints.gripper
        if gripper is None:
            return
        here = self._readings.position(gripper.id)
        sense = float(np.sign(self._joints.finger_ticks(command.position) - here))
        share = command.force / self.arm.gripper.force_max
        self._grip_goal, self._grip_time = here + sense * gripper.squeeze * share, SHORTEST

    def _trouble(self) -> str:
        return self._silent or self._watch.fault()

    def _refuse_when_in_trouble(self) -> None:
        if not self._connected:
            raise DeskhandError("device_unavailable", f"the arm is not connected: {self._gone}", retry=True)
        if trouble := self._trouble():
            raise DeskhandError("servo_fault", f"the arm does not move: {trouble}.", retry=True, hint="Let it cool, or see to the supply and the servo.")

    def _end_motions(self, reason: str) -> None:
        if self._follower is not None and self._follower.active:
            measured: Array = self._joints.angles(self._readings) if self._connected else self._follower.wished
            self._follower.fail(INVALID_GOAL, reason, measured)
        if self._grip is not None:
            self._grip.cancel()
        self._grip_goal = None
