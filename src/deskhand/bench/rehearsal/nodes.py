"""The robot's nodes on an emulated unit: before they run, its servos stand on a bus of their own; then the simulated arm takes that port over."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace

import numpy as np

from deskhand.arms.emulate.bank import Emulator
from deskhand.arms.emulate.choice import make_emulator, standing
from deskhand.arms.emulate.servo import Servo
from deskhand.bench.rehearsal.unit import Unit
from deskhand.bench.truth import TruthChannel
from deskhand.bringup import STACK, NodeSpec, StackOptions, sim_nodes
from deskhand.errors import DeskhandError
from deskhand.first_day.base import Day
from deskhand.first_day.workplace import RobotNodes, driver_of
from deskhand.geometry import Array
from deskhand.sim.spec import Truth

SAMPLING = 0.05  # [s]


class Servos:
    """The unit's servos on a pseudo-terminal at ``port``, in real time, with nothing but the arm behind them. What the hands do, they do to ``emulator``."""

    def __init__(self, unit: Unit, kind: str, port: str) -> None:
        self.unit, self.kind, self.port = unit, kind, port
        self.servos = [Servo(number, time.monotonic, place) for number, place in standing(unit.truth).items()]
        self.emulator: Emulator | None = None
        self.track: list[Array] = []
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None

    def open(self) -> None:
        """The port appears; harmless when it is there."""
        if self.emulator is None:
            self.emulator = make_emulator(self.kind, self.servos, self.unit.truth, link=self.port)
            self.emulator.__enter__()
            self._stop.clear()
            self._watcher = threading.Thread(target=self._watch, name="watcher", daemon=True)
            self._watcher.start()

    def close(self) -> None:
        """The port goes; the servos keep what they know."""
        emulator, self.emulator = self.emulator, None
        if emulator is not None:
            self._stop.set()
            emulator.__exit__()
            if self._watcher is not None:
                self._watcher.join()

    def angles(self) -> Array:
        """(n,) [rad] where the joints really are."""
        arm, by_id = self.unit.truth, {servo.number: servo for servo in self.servos}
        return np.array([arm.driver.servos[joint].angle_of(by_id[arm.driver.servos[joint].id].position()) for joint in arm.joints])

    def opening(self) -> float:
        """[m] that the pads really are apart."""
        gripper = self.unit.truth.driver.gripper
        assert gripper is not None
        return gripper.width_of({servo.number: servo for servo in self.servos}[gripper.id].position())

    def put(self, angles: Array) -> None:
        """Hands move the arm, which has let go, to ``angles`` (n,) [rad].

        Raises:
            DeskhandError: ``internal_error`` when a servo holds: hands would break it.
        """
        arm, by_id = self.unit.truth, {servo.number: servo for servo in self.servos}
        for joint, angle in zip(arm.joints, angles, strict=True):
            servo = by_id[arm.driver.servos[joint].id]
            if servo.torque:
                raise DeskhandError("internal_error", f"hands were to turn {joint}, whose servo holds.")
            servo.shaft.position = arm.driver.servos[joint].pulse_of(float(angle))

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLING):
            with suppress(KeyError):  # a servo that has no id of its own yet
                self.track.append(self.angles())


class RehearsedNodes(RobotNodes):
    """See Workplace; ``servos`` are those of the unit while no nodes run."""

    def __init__(self, day: Day, unit: Unit, port: str) -> None:
        super().__init__(day)
        self.unit, self.port = unit, port
        self.servos = Servos(unit, driver_of(day), port)
        self._truth: TruthChannel | None = None
        self._channel: TruthChannel | None = None

    def specs(self, options: StackOptions, nodes: frozenset[str]) -> list[NodeSpec]:
        """The simulated arm behind the emulated bus at the unit's port, the driver, and ``nodes``; the desk is that of the work once the robot looks at it."""
        self.servos.close()
        self._channel = TruthChannel()
        scene = self.unit.scene(self.day.settings["mount"], work="perception" in nodes)
        specs = sim_nodes(replace(options, port=self.port), scene=scene, truth_fd=self._channel.fd)
        wanted = [spec for spec in specs if spec.name not in STACK or spec.name in nodes]
        return [self._hidden(spec) if spec.name == "sim" else spec for spec in wanted]

    def _hidden(self, spec: NodeSpec) -> NodeSpec:
        """The simulation of the true unit, which tells of itself what hardware tells."""
        return replace(spec, parameters={**spec.parameters, "arm": str(self.unit.file)}, arguments=(*spec.arguments, "--no-transforms"))

    def environment(self, stack: ExitStack) -> Mapping[str, str]:
        """See RobotNodes."""
        assert self._channel is not None
        self._truth = stack.enter_context(self._channel)
        return {}

    def started(self) -> None:
        """See RobotNodes."""
        assert self._truth is not None
        self._truth.started()

    def truth(self) -> Truth:
        """Where everything on the desk really is.

        Raises:
            DeskhandError: ``node_unavailable`` when no simulation runs.
        """
        if self._truth is None:
            raise DeskhandError("node_unavailable", "no simulation runs.")
        return self._truth.get()

    def release(self) -> None:
        """See Workplace; the unit's servos are on its port again."""
        super().release()
        self._truth = None
        self.servos.open()

    def close(self) -> None:
        """Nothing is left."""
        super().release()
        self.servos.close()
