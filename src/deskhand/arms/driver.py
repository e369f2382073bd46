"""Drives an arm of bus servos: follows trajectories by moves planned ahead, measures, watches, stops, comes back after the port was lost.

One thread talks to the bus (:meth:`ArmDriver._run`); everybody else leaves it a wish. Every command sends the arm at most ``lookahead`` seconds ahead,
so an arm whose driver dies, or whose cable is pulled, stands still that much later.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import numpy as np

from deskhand.arms.bus.base import ServoBus
from deskhand.arms.driver_status import DriverStatus
from deskhand.arms.first_positions import confirm_positions
from deskhand.arms.follower import Follower, Tolerances, check_trajectory
from deskhand.arms.gripper_servo import SHORTEST, Fingers, GripCommand
from deskhand.arms.joints import ArmJoints
from deskhand.arms.model import RobotModel
from deskhand.arms.open_loop import BRINGING, SLOWER, BlindServos
from deskhand.arms.position_filter import PositionFilter
from deskhand.arms.servo_watch import HealthWatch
from deskhand.arms.trajectory_streamer import TrajectoryStreamer
from deskhand.arms.trim import Trim
from deskhand.errors import DeskhandError
from deskhand.types import JointState, Trajectory

log = logging.getLogger(__name__)

RETRY = 0.1  # [s] between attempts to open the port
SILENT = 0.5  # [s] without a believable position of a servo: the arm stops
IDLE_PERIOD = 0.02  # [s] at least, from one round of readings to the next
SETTLE, ROUNDS = 1.5, 3.0  # [s] and rounds of readings, after the last point of a trajectory, for the arm to be there
CAUTION = 0.2  # [s] of latency with which the arm goes at half its speed: what is late is found late, and made up faster


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
        self._readings = PositionFilter(config.ticks, config.fastest)
        self._watch = HealthWatch(config.health, self._joints.names)
        self._feed = TrajectoryStreamer(config, self._joints, bus.move_delay, Trim(model))
        self._blind = BlindServos(self._joints.blind)
        self._fingers = Fingers(self.arm.gripper, self._joints)
        self._lock = threading.RLock()
        self._wake, self._closing = threading.Event(), threading.Event()
        self._connected, self._gone = False, "it has not been opened yet"
        self._halt = False  # wish: stop the arm where it is
        self._torque: bool | None = None  # wish
        self._round = 0.0
        self._silent = ""
        self.failure: DeskhandError | None = None
        self._thread: threading.Thread | None = None

    # ------------------------------------------------------------ life

    def start(self) -> None:
        """Begin to look for the arm, also after ``close``; it is taken as soon as it is there."""
        self._closing.clear()
        self.failure = None
        self._thread = threading.Thread(target=self._run, name="arm driver", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the arm where it is, holding, and give the port back."""
        self.halt("the driver is closed")
        deadline = time.monotonic() + 0.3
        while self._halt and self._connected and time.monotonic() < deadline:
            time.sleep(0.005)
        self._closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(2.0)
        with self._lock:
            self._connected, self._gone, self._halt = False, "it has been closed", False
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
            fault = self._trouble()
            return DriverStatus(
                connected=self._connected,
                fault=fault,
                scale=self._scale(),
                tracking_error=self._feed.worst,
                tracking_rms=self._feed.rms,
                round_time=self._round,
                latency=self._bus.latency,
                lag=self._feed.lag.value,
                open_loop=tuple(self._joints.names[servo] for servo in self._joints.blind),
                doubted=self._readings.doubted,
                counters=self._bus.counters,
                health=health,
            )

    def joint_state(self) -> JointState:
        """The newest measurement of all joints, both fingers included; ``efforts`` are empty. ``stamp`` is that of the oldest reading in it.

        Raises:
            DeskhandError: ``device_unavailable`` before the arm has been read or after it was lost.
        """
        with self._lock:
            if not self._connected:
                raise DeskhandError("device_unavailable", f"the arm is not connected: {self._gone}", retry=True)
            return self._joints.state(self._readings)

    @property
    def follower(self) -> Follower | None:
        """The trajectory under way, or the last one."""
        return self._feed.follower

    def reading(self, servo: int) -> tuple[float, float]:
        """Newest believed position [ticks] of a servo, and when it was read [s]; KeyError before the first."""
        with self._lock:
            return self._readings.position(servo), self._readings.stamp(servo)

    def default_tolerances(self) -> Tolerances:
        """Of trajectories that name none."""
        count = len(self.arm.joints)
        return Tolerances(np.full(count, self._config.path_tolerance), np.full(count, self._config.goal_tolerance), SETTLE + ROUNDS * self._round)

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
            self._halt = False
            self._wake.set()
            return self._feed.begin(checked, measured, tolerances or self.default_tolerances(), self._clock())

    def cancel(self, follower: Follower) -> None:
        """Stop a trajectory and hold where the arm is; returns at once. An arm that is at the last point already holds as it does."""
        with self._lock:
            if follower.active:
                follower.cancel(self._joints.angles(self._readings) if self._connected else follower.wished)
                self._halt = self._halt or (follower is self._feed.follower and not self._feed.resting)
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
        with self._lock:
            self._refuse_when_in_trouble()
            self._wake.set()
            return self._fingers.begin(position, force, self._readings, self._clock())

    def cancel_grip(self, command: GripCommand) -> None:
        """Hold the fingers where they are."""
        with self._lock:
            self._fingers.hold(command, self._readings)

    def move_gripper(self, ticks: float, seconds: float) -> None:
        """Send the gripper's servo to ``ticks`` in ``seconds``, whatever its table says; for calibration."""
        with self._lock:
            self._refuse_when_in_trouble()
            self._fingers.move(ticks, seconds)
            self._wake.set()

    def gripper_ticks(self) -> float:
        """Where the gripper's servo stands; NaN when there is none."""
        with self._lock:
            return float("nan") if self._joints.gripper is None else self._readings.position(self._joints.gripper.id)

    def finger_position(self) -> float:
        """Position [m or rad] of the driven finger joint."""
        with self._lock:
            return self._joints.finger(self._readings)

    def finger_force(self) -> float:
        """[N] that the command under way asked for when it holds something, else 0: these servos do not measure it."""
        command = self._fingers.command
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
                log.error("the arm cannot be driven: %s", error)
            return False
        return True

    def _connect(self) -> None:
        """Open, learn how long answers take, read every servo until its readings agree, and tell those that do not hold to be where they are: nothing moves
        but servos that answer nothing, which are brought slowly to where the arm's file says that they are.
        """
        self._bus.open()
        self._readings.forget()
        self._bus.measure(self._joints.asked)
        confirm_positions(self._bus, self._readings, self._joints.asked, self._clock)
        if self._hold:
            loose = [servo for servo in self._joints.asked if self._bus.torque_on(servo) is not True]
            told = self._joints.asked if self._bus.retold else loose
            self._bus.move({servo: round(self._readings.position(servo)) for servo in told}, SHORTEST)
            self._bus.move(self._blind.bring(self._clock()), BRINGING)
            self._bus.set_torque([*loose, *self._blind.numbers], True)
        with self._lock:
            self._assume(self._clock())
            self._connected, self._silent = True, ""
            self._feed.taken(self._bus.latency)
            self._round = self._bus.latency * (1 if self._bus.together else len(self._joints.asked))
            angles = self._joints.angles(self._readings)
            self._joints.play.update(angles, np.zeros_like(angles))
        log.info("%s is connected", self.arm.name)

    def _lost(self, error: DeskhandError) -> None:
        with self._lock:
            if self._connected:
                log.error("the arm was lost: %s", error)
            self._end_motions(f"the connection was lost: {error.message}")
            self._connected, self._gone, self._halt = False, str(error), False
        self._bus.close()

    def _round_once(self) -> None:
        """Read every servo, again what had no answer; commands go out between the readings, when they are due."""
        began = self._clock()
        servos, missed = self._joints.asked, []
        for group in [list(servos)] if self._bus.together else [[servo] for servo in servos]:
            self._serve()
            missed += self._read(group)
        if missed:
            self._serve()
            missed = self._read(missed)
        else:
            self._look_after()
        with self._lock:
            self._assume(self._clock())
            self._judge(missed)
        self._serve()
        self._on_round()
        self._round += 0.1 * (self._clock() - began - self._round)

    def _read(self, servos: list[int]) -> list[int]:
        """Read positions; returns the servos of which none can be believed."""
        answers = self._bus.read_positions(servos)
        measured = self._clock() - self._bus.latency / 2  # somewhere between the question and the answer
        with self._lock:
            believed = [servo for servo, position in answers.items() if self._readings.take(servo, position, measured)]
        return [servo for servo in servos if servo not in believed]

    def _assume(self, now: float) -> None:
        for servo, position in self._blind.positions(now).items():
            self._readings.assume(servo, position, now)

    def _scale(self) -> float:
        """Share of the speed at which the arm may move."""
        return self._watch.scale() * (SLOWER if self._blind.numbers else 1.0) / (1.0 + self._bus.latency / CAUTION)

    def _serve(self) -> None:
        """What is wished or due: stop first, then torque, the next piece of the trajectory, the fingers."""
        with self._lock:
            halt, torque, self._halt, self._torque = self._halt, self._torque, False, None
            goals, seconds = ({}, 0.0) if halt else self._feed.piece(self._clock(), self._scale())
            fingers, finger_time = self._fingers.take()
        servos = self._joints.servos
        if halt:
            self._bus.stop(self._joints.arm_servos)
            self._bus.stop(self._joints.arm_servos)  # noise may have eaten the first
            self._blind.stop(self._clock())
        if torque is not None:
            if torque:
                self._bus.move({servo: round(self._readings.position(servo)) for servo in servos}, SHORTEST)
            self._bus.set_torque(servos, torque)
        if goals:
            self._bus.move(goals, seconds)
            self._blind.told(goals, seconds, self._clock())
        if fingers:
            self._bus.move(fingers, finger_time)

    def _look_after(self) -> None:
        """One servo's health, when it is due; a bad reading is confirmed at once."""
        servo = self._watch.due(self._clock(), self._joints.asked, self._round)
        if servo is None:
            return
        health = self._bus.read_health(servo)
        with self._lock:
            self._watch.take(servo, health)

    # ------------------------------------------------------------ judging, with the lock

    def _judge(self, missed: list[int]) -> None:
        """``missed``: servos of which this round has no believable position. Who was read is not silent, however long the round took."""
        now = self._clock()
        silent = [name for servo, name in self._joints.names.items() if servo in missed and now - self._readings.stamp(servo) > SILENT + 2 * self._round]
        self._silent = f"{', '.join(silent)} has given no believable position for {SILENT} s" if silent else ""
        trouble = self._trouble()
        if trouble and (self._feed.active or self._fingers.active):
            log.error("the arm stops: %s", trouble)
            self._end_motions(trouble)
            self._halt = True
        if self._feed.active:
            self._halt = self._feed.judge(now, self._joints.angles(self._readings), self._joints.stamps(self._readings), self._scale()) or self._halt
        self._fingers.judge(self._readings)

    def _trouble(self) -> str:
        brought = "a servo that answers nothing is being brought to where it is taken to be" if self._clock() < self._blind.ready_at else ""
        return self._silent or self._watch.fault() or brought

    def _refuse_when_in_trouble(self) -> None:
        if not self._connected:
            raise DeskhandError("device_unavailable", f"the arm is not connected: {self._gone}", retry=True)
        if trouble := self._trouble():
            raise DeskhandError("servo_fault", f"the arm does not move: {trouble}.", retry=True, hint="Let it cool, or see to the supply and the servo.")

    def _end_motions(self, reason: str) -> None:
        if self._feed.active:
            self._feed.fail(reason, self._joints.angles(self._readings) if self._connected else None)
        command = self._fingers.command
        if self._connected and command is not None:
            self._fingers.hold(command, self._readings)  # nothing happens to what has ended: an object that is held stays held
        else:
            self._fingers.end()
