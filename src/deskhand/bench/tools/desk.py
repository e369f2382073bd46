"""A simulated desk with the robot at it, and the truth about it, which only benchmarks may read."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from deskhand.arms.config import load_arm
from deskhand.bench.perception.measure import match
from deskhand.bench.perception.truth import SeenTruth, seen_truth
from deskhand.errors import ERROR_NUMBERS, DeskhandError, error_from_number
from deskhand.etp.base import ToolResult
from deskhand.etp.registry import Registry
from deskhand.etp.session import Session
from deskhand.etp.watches import WatchEvent
from deskhand.geometry import Array, inverse
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import TruthObject, WorldSpec
from deskhand.skills.belief import Belief
from deskhand.skills.robot.local import Devices, LocalRobot, make_local_robot
from deskhand.tools.base import make_session
from deskhand.types import Depth, Frame, Image, SceneObject
from deskhand.world.history.recorder import Memory


class HeardEvents:
    """What a continuous tool has published: each event with the simulated time [s] at which it was heard. The feed of the session lets that time pass.

    Raises:
        DeskhandError: what the tool ended with.
    """

    def __init__(self, desk: ScenarioDesk, watch_id: str) -> None:
        self._desk, self._id = desk, watch_id
        self._events: list[tuple[float, WatchEvent]] = []
        self._end = desk.session.subscribe(watch_id, lambda event: self._events.append((desk.simulation.time, event)))

    def let_pass(self, seconds: float) -> list[tuple[float, dict[str, Any]]]:
        """Wait until so much simulated time has passed [s]; the events that were heard meanwhile."""
        known, until = len(self._events), self._desk.simulation.time + seconds
        while self._desk.simulation.time < until and self._running():
            time.sleep(0.002)
        return self._data(known)

    def all(self) -> list[tuple[float, dict[str, Any]]]:
        """All events that were heard until now."""
        return self._data(0)

    def wait(self, seconds: float) -> list[tuple[float, dict[str, Any]]]:
        """As let_pass, but no longer than until the first event."""
        known, until = len(self._events), self._desk.simulation.time + seconds
        while self._desk.simulation.time < until and len(self._events) == known and self._running():
            time.sleep(0.002)
        return self._data(known)

    def stop(self) -> list[tuple[float, dict[str, Any]]]:
        """End the tool; all events that were heard."""
        self._desk.session.stop(self._id)
        self._end()
        return self._data(0)

    def _running(self) -> bool:
        end = next((event for _, event in self._events if event.ended), None)
        if end is not None and end.code:
            raise error_from_number(ERROR_NUMBERS[end.code], end.message)
        return end is None

    def _data(self, since: int) -> list[tuple[float, dict[str, Any]]]:
        return [(at, event.data) for at, event in self._events[since:] if not event.ended]


class ScenarioDesk:
    """One desk. Tools are called through a real session; ``begin`` makes a new one, which has seen nothing yet.

    Attributes:
        simulation: the world; for judging, and for what hands and faults do to it.
        robot: what the tools run on.
        belief: of the present session.
    """

    def __init__(self, world: WorldSpec, registry: Registry) -> None:
        self.simulation = Simulation(world)
        self._camera = SimCamera(self.simulation)
        devices = Devices(SimArm(self.simulation), SimGripper(self.simulation), self._camera, SimClock(self.simulation))
        self.robot: LocalRobot = make_local_robot(load_arm(world.arm), devices)
        self._registry = registry
        self._renderer = RgbdRenderer(self.simulation)
        self._renderer.open()
        self._session: Session | None = None
        self.belief = Belief()

    def __enter__(self) -> ScenarioDesk:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Give all back."""
        self._end()
        self._renderer.close()
        self.robot.close()

    def begin(self) -> None:
        """A new session with an empty memory."""
        self._end()
        self._memory = Memory(clock=self.robot.now).open()
        self.belief = Belief(self._memory)
        self._session = make_session(self.robot, self.belief, registry=self._registry)

    def _end(self) -> None:
        if self._session is not None:
            self._session.close()
            self._memory.close()
            self._session = None

    # ------------------------------------------------------------ what an agent can do

    @property
    def session(self) -> Session:
        """The present session."""
        assert self._session is not None, "begin() comes first"
        return self._session

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """What a tool gives.

        Raises:
            DeskhandError: with the tool's code when it fails.
        """
        result = self.result(tool, arguments)
        if not result.ok:
            raise error_from_number(ERROR_NUMBERS[result.code], f"{tool}: {result.message} {result.hint}".strip())
        return result.data

    def result(self, tool: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """The whole result of a call, failed or not."""
        return self.session.invoke(tool, arguments or {}, caller="scenario")

    def watch(self, tool: str, arguments: Mapping[str, Any] | None = None, settle: float = 0.5) -> HeardEvents:
        """Start a continuous tool and hear its events; ``settle`` [s] of simulated time pass before it returns."""
        heard = HeardEvents(self, str(self.call(tool, arguments)["watch_id"]))
        heard.let_pass(settle)
        return heard

    def look(self) -> dict[str, str]:
        """Call ``detect_objects``; the id of every object that was recognised, by its name in the world."""
        self.call("detect_objects")
        return self.recognised()

    def recognised(self) -> dict[str, str]:
        """The id in the session's last look of every object that was recognised, by its name in the world."""
        return {self.names[number]: item.id for number, item in self._matched().items()}

    # ------------------------------------------------------------ the truth

    @property
    def names(self) -> list[str]:
        """Names of the objects in the world."""
        return [item.name for item in self.simulation.built.spec.objects]

    def truth(self, name: str) -> TruthObject:
        """Where an object really is, by its name in the world."""
        return self.simulation.truth().get(name)

    def seen_truth(self) -> list[SeenTruth]:
        """What the camera can see at best of every object, and what carries it; in the order of ``names``."""
        return seen_truth(self.simulation, self._renderer, self._renderer.render())

    def true_picture(self) -> tuple[Image, Depth]:
        """Colour (H, W, 3) and depth (H, W) [m] of the camera without noise and holes."""
        color, depth, _ = self._renderer.render_true()
        return color, depth

    def owners(self) -> npt.NDArray[np.int64]:
        """Which object each pixel of the camera shows (H, W), as its place in ``names``; -1 for none."""
        return self._renderer.render_owners()

    def mask(self, name: str) -> npt.NDArray[np.bool_]:
        """The pixels (H, W) that show an object."""
        return np.asarray(self.owners() == self.names.index(name))

    def picture_from(self, world_T_camera: Array) -> Frame:
        """A picture as the camera would take it from elsewhere."""
        with RgbdRenderer(self.simulation, camera=replace(self.simulation.built.spec.camera, world_T_camera=world_T_camera)) as renderer:
            return renderer.render()

    def frame(self) -> Frame:
        """A picture as the robot gets it."""
        return self.robot.observe()

    def keep(self, data: Any, media_type: str = "", text: str = "") -> str:
        """Give the session a picture, cloud or other data; the uri that tools take."""
        return self.session.resources.put(data, media_type, text)["uri"]

    def fetch(self, ref: Mapping[str, Any]) -> npt.NDArray[Any]:
        """The array that a reference in a result stands for."""
        return self.session.resources.get(str(ref["uri"])).array()

    def _matched(self) -> dict[int, SceneObject]:
        scene = self.belief.scene
        if scene is None:
            raise DeskhandError("precondition_failed", "the scenario has not looked yet.")
        return {real: scene.objects[seen] for real, seen in match(scene, self.seen_truth()).items()}

    # ------------------------------------------------------------ what others do to the desk

    def put(self, name: str, pose: Array, settle: float = 0.5) -> None:
        """A hand puts an object to world_T_object (4, 4); then ``settle`` [s] pass."""
        simulation = self.simulation
        body = simulation.built.object_bodies[self.names.index(name)]
        joint = simulation.model.body_jntadr[body]
        with simulation.lock:
            first, dof = simulation.model.jnt_qposadr[joint], simulation.model.jnt_dofadr[joint]
            simulation.data.qpos[first : first + 3] = pose[:3, 3]
            quaternion = np.zeros(4)
            mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(pose[:3, :3]).reshape(-1))
            simulation.data.qpos[first + 3 : first + 7] = quaternion
            simulation.data.qvel[dof : dof + 6] = 0.0
            mujoco.mj_forward(simulation.model, simulation.data)
        if settle:
            simulation.step(settle)

    def hold(self, name: str, pose: Array) -> None:
        """A hand holds an object in the air at world_T_object (4, 4)."""
        simulation = self.simulation
        body = simulation.built.object_bodies[self.names.index(name)]
        self.put(name, pose, settle=0.0)
        with simulation.lock:
            simulation.data.xfrc_applied[body, :3] = -simulation.model.body_mass[body] * simulation.model.opt.gravity

    def knock(self, world_T_world: Array) -> None:
        """Somebody moves the camera by a motion (4, 4) in world; nobody is told."""
        renderer = self._camera._renderer
        told = renderer.camera.world_T_camera
        renderer._off = inverse(told) @ world_T_world @ told @ renderer._off

    def push(self, name: str, velocity: tuple[float, float, float]) -> None:
        """A hand lets go of an object that moves with ``velocity`` [m/s]."""
        simulation = self.simulation
        with simulation.lock:
            dof = simulation.model.body_dofadr[simulation.built.object_bodies[self.names.index(name)]]
            simulation.data.qvel[dof : dof + 3] = velocity

    def shift(self, name: str, by: tuple[float, float], settle: float = 0.2) -> None:
        """A hand moves an object by (x, y) [m] along the desk."""
        pose = self.truth(name).pose.copy()
        pose[:2, 3] += by
        pose[2, 3] += 0.0005
        self.put(name, pose, settle)
