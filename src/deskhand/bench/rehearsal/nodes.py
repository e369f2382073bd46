"""The robot's nodes on an emulated unit: before they run, its servos stand on a bus of their own; then the simulated arm takes that port over."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace

from deskhand.arms.config import load_arm
from deskhand.arms.description import urdf_text
from deskhand.bench.rehearsal.servos import servos_of
from deskhand.bench.rehearsal.unit import Unit
from deskhand.bringup.first_day.base import Day
from deskhand.bringup.first_day.workplace import RobotNodes, driver_of
from deskhand.bringup.spec import NodeSpec, StackOptions
from deskhand.bringup.stack import STACK, sim_nodes, state_publisher
from deskhand.errors import DeskhandError
from deskhand.sim.spec import Truth
from deskhand.skills.robot import Robot
from deskhand.trials.truth import TruthChannel


def _over_ros(arm: str) -> AbstractContextManager[Robot]:
    from deskhand.nodes.connected import connected_robot  # imports rclpy

    return connected_robot(arm)


class RehearsedNodes(RobotNodes):
    """See Workplace; ``servos`` are those of the unit while no nodes run."""

    def __init__(self, day: Day, unit: Unit, port: str) -> None:
        super().__init__(day, _over_ros)
        self.unit, self.port = unit, port
        self.servos = servos_of(unit, driver_of(day), port)
        self._truth: TruthChannel | None = None
        self._channel: TruthChannel | None = None

    def specs(self, options: StackOptions, nodes: frozenset[str]) -> list[NodeSpec]:
        """The simulated arm behind the emulated bus at the unit's port, the driver, and ``nodes``; the desk is that of the work once the robot looks at it."""
        self.servos.pull()
        self._channel = TruthChannel()
        scene = self.unit.scene(self.day.settings["mount"], work="perception" in nodes)
        specs = sim_nodes(replace(options, port=self.port, servos=str(self.unit.servo_file)), scene=scene, truth_fd=self._channel.fd)
        wanted = [spec for spec in specs if spec.name not in STACK or spec.name in nodes]
        transforms = state_publisher(options, urdf_text(load_arm(options.arm)), {"use_sim_time": True})
        return [transforms, *(self._hidden(spec) if spec.name == "sim" else spec for spec in wanted)]

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
