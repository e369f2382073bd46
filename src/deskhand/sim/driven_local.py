"""A simulated arm moved by a driver of real arms over an emulated bus, in one process and in simulated time: the same every time, and as fast as it goes.

The driver has its thread, as on a robot; but time goes on only while the robot waits, and then up to when the driver has something to do. So either of them
works as long as it likes, and a minute on the bus takes no minute.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from deskhand.arms.bus.choice import make_bus
from deskhand.arms.driver import ArmDriver
from deskhand.arms.emulate.choice import BAUDS, check_emulated, make_emulator
from deskhand.arms.emulate.faults import WireFaults
from deskhand.arms.emulate.loop import LoopClock, LoopPort
from deskhand.arms.emulate.reality import IDEAL, ServoReality
from deskhand.arms.follower import Followed
from deskhand.arms.gripper_servo import GripCommand
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.sim.joint_servos import JointServos
from deskhand.sim.simulation import Simulation
from deskhand.types import GripperReport, JointState, Trajectory

ROUND = 0.02  # [s] that the driver's thread takes at least
TAKEN = 10.0  # [s] for the driver to take the arm


class _Ended(Exception):
    """Ends the driver's thread."""


class SharedTime(LoopClock):
    """Simulated time that a robot and its driver share. The driver's thread lets it pass by :meth:`sleep`, all others by :meth:`wait`."""

    def __init__(self, simulation: Simulation) -> None:
        super().__init__()
        self._simulation, self._now = simulation, simulation.time
        self._step = float(simulation.model.opt.timestep)
        self._robot, self._drivers_turn, self._robots_turn = threading.Lock(), threading.Semaphore(0), threading.Semaphore(0)
        self._wake, self._driven, self._ending = self._now, False, False

    def now(self) -> float:
        """[s]; see deskhand.arms.base.Clock."""
        return self._now

    def begin(self, work: Any) -> None:
        """Run ``work()`` over and over in the driver's thread."""

        def run() -> None:
            try:
                self._drivers_turn.acquire()
                while not self._ending:
                    work()
            except _Ended:
                return
            finally:
                self._driven = False
                self._robots_turn.release()

        self._driven = True
        threading.Thread(target=run, name="arm driver", daemon=True).start()

    def end(self) -> None:
        """The driver's thread ends."""
        with self._robot:
            self._ending = True
            if self._driven:
                self._drivers_turn.release()
                self._robots_turn.acquire()

    def sleep(self, seconds: float) -> None:
        """Let time pass, in the driver's thread."""
        if seconds <= 0:
            return
        self._wake = self._now + seconds
        self._robots_turn.release()
        self._drivers_turn.acquire()
        if self._ending:
            raise _Ended

    def wait(self, seconds: float) -> None:
        """Let time pass, in the robot's thread; the driver works meanwhile."""
        with self._robot:
            end = self._now + max(0.0, seconds)
            while self._driven and self._wake <= end:
                self._pass(self._wake)
                self._drivers_turn.release()
                self._robots_turn.acquire()
            self._pass(end)

    def _pass(self, end: float) -> None:
        while self._simulation.time + self._step <= end + 1e-9:
            self._now = max(self._now, self._simulation.time + self._step)  # the servos ask for it at every step
            self._simulation.step(self._step)
        self._now = max(self._now, end)


class DrivenRobot:
    """The simulated arm and its gripper behind a driver; an :class:`deskhand.arms.base.Arm` and, by :attr:`gripper`, a gripper.

    Raises:
        DeskhandError: ``config_error`` when the arm is not driven so.
    """

    def __init__(self, simulation: Simulation, kind: str, reality: ServoReality = IDEAL) -> None:
        arm = simulation.arm
        check_emulated(arm, kind)
        self.time = SharedTime(simulation)
        self.port = LoopPort(self.time, WireFaults.share(reality.bad_frames, reality.seed), BAUDS[kind])
        servos = JointServos(simulation, self.time, reality)
        options: dict[str, Any] = {"loop": self.port, "sleep": self.time.sleep, "clock": self.time, "seed": reality.seed, "latency": reality.read_latency}
        self.emulator = make_emulator(kind, servos.all, simulation.arm, **options)
        self.bus = make_bus(arm.driver, kind, self.port, clock=self.time)
        self.driver = ArmDriver(RobotModel.load(arm), self.bus, self.time)
        self.gripper = DrivenGripper(self.driver)

    def start(self) -> None:
        """Take the arm. Raises ``device_unavailable`` when it is not taken in time."""
        self.time.begin(self._round)
        end = self.time.now() + TAKEN
        while not self.driver.status().connected:
            if self.driver.failure is not None:
                raise self.driver.failure
            if self.time.now() > end:
                raise DeskhandError("device_unavailable", f"the emulated arm is not there after {TAKEN:g} s.")
            self.time.wait(ROUND)

    def close(self) -> None:
        """End the driver."""
        self.time.end()

    def _round(self) -> None:
        began = self.time.now()
        self.driver.step()
        self.time.sleep(max(ROUND - (self.time.now() - began), 1e-4))

    def joint_state(self) -> JointState:
        """See Arm."""
        return self.driver.joint_state()

    def follow(self, trajectory: Trajectory) -> Followed:
        """See Arm."""
        follower = self.driver.follow(trajectory)
        return Followed(follower, lambda: self.driver.cancel(follower))


class DrivenGripper:
    """The gripper, commanded by the distance of its pads."""

    def __init__(self, driver: ArmDriver) -> None:
        self._driver = driver

    def move(self, width: float, force: float) -> DrivenGripperMotion:
        """See Gripper."""
        return DrivenGripperMotion(self._driver, self._driver.grip(self._driver.arm.gripper.position_of(width), force))


class DrivenGripperMotion:
    """A gripper command on its way."""

    def __init__(self, driver: ArmDriver, command: GripCommand) -> None:
        self._driver, self._command = driver, command

    def done(self) -> bool:
        """See GripperMotion."""
        return self._command.done

    def report(self) -> GripperReport:
        """See GripperMotion."""
        width = self._driver.arm.gripper.width_of(self._driver.finger_position())
        return GripperReport(float(np.round(width, 6)), self._command.stalled, self._command.reached, self._driver.finger_force())

    def cancel(self) -> None:
        """See GripperMotion."""
        self._driver.cancel_grip(self._command)
