"""A simulated desk with the robot at it, and the truth about it, which only benchmarks may read."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any
from zlib import crc32

import mujoco
import numpy as np
import numpy.typing as npt

from deskhand.arms.config import load_arm
from deskhand.bench.perception.measure import match
from deskhand.bench.perception.truth import SeenTruth, seen_truth
from deskhand.bench.tools.drawing import GAP, free_pose, stands_free
from deskhand.cameras.config import CameraMount
from deskhand.errors import ERROR_NUMBERS, DeskhandError, error_from_number
from deskhand.etp.base import ToolResult
from deskhand.etp.registry import Registry
from deskhand.etp.session import Session
from deskhand.etp.tool import Placement
from deskhand.etp.watches import WatchEvent
from deskhand.geometry import Array, inverse, make_transform
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import ObjectSpec, TruthObject, WorldSpec
from deskhand.skills.belief import Belief
from deskhand.skills.robot.local import Devices, LocalRobot, make_local_robot
from deskhand.tools.base import make_session
from deskhand.trials.snapshot import DeskSnapshot, DeskState
from deskhand.types import Depth, Frame, Image, SceneObject
from deskhand.world.history.recorder import Memory

NARROW = 0.008  # [m] beside the place where closed fingers come down


class HeardEvents:
    """What a continuous tool has published: each event with the simulated time [s] at which it was heard. The feed of the session lets that time pass.

    Raises:
        DeskhandError: what the tool ended with.
    """

    def __init__(self, desk: ScenarioDesk, watch_id: str) -> None:
        self._desk, self._id = desk, watch_id
        self._events: list[tuple[float, WatchEvent]] = []
        self._told = 0  # of them, by let_pass and wait
        self._end = desk.session.subscribe(watch_id, lambda event: self._events.append((desk.simulation.time, event)))

    def let_pass(self, seconds: float) -> list[tuple[float, dict[str, Any]]]:
        """Wait until so much simulated time has passed [s]; the events that were heard since let_pass or wait was called last, however late this call comes."""
        until = self._desk.simulation.time + seconds
        while self._desk.simulation.time < until and self._running():
            time.sleep(0.002)
        return self._new()

    def all(self) -> list[tuple[float, dict[str, Any]]]:
        """All events that were heard until now."""
        return self._data(0)

    def wait(self, seconds: float) -> list[tuple[float, dict[str, Any]]]:
        """As let_pass, but no longer than until the first event."""
        until = self._desk.simulation.time + seconds
        while self._desk.simulation.time < until and len(self._events) == self._told and self._running():
            time.sleep(0.002)
        return self._new()

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

    def _new(self) -> list[tuple[float, dict[str, Any]]]:
        since, self._told = self._told, len(self._events)
        return self._data(since, self._told)

    def _data(self, since: int, until: int | None = None) -> list[tuple[float, dict[str, Any]]]:
        return [(at, event.data) for at, event in self._events[since:until] if not event.ended]


class ScenarioDesk:
    """One desk. Tools are called through a real session; ``begin`` makes a new one, which has seen nothing yet.

    Attributes:
        simulation: the world; for judging, and for what hands and faults do to it.
        robot: what the tools run on.
        belief: of the present session.
        random: what a scenario draws, the same for the same seed; ``begin`` renews it.
    """

    def __init__(self, world: WorldSpec, registry: Registry, seed: int = 0) -> None:
        self.simulation = Simulation(world)
        self._seed = seed
        self.random = np.random.default_rng(seed)
        self._camera = SimCamera(self.simulation)
        mount = CameraMount(world.camera.link, world.camera.frame_id, world.camera.world_T_camera) if world.camera.link else None
        devices = Devices(SimArm(self.simulation), SimGripper(self.simulation), self._camera, SimClock(self.simulation), mount)
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

    def begin(self, name: str = "") -> None:
        """A new session with an empty memory, for the scenario ``name``."""
        self._end()
        self.random = np.random.default_rng([self._seed, crc32(name.encode())])
        self._memory = Memory(clock=self.robot.now).open()
        self.belief = Belief(self._memory)
        self._placed: dict[str, Placement] = {}
        self._session = make_session(self.robot, self.belief, registry=self._registry, placed=self._placed)

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
        """The whole result of a call, failed or not.

        Raises:
            DeskhandError: ``invalid_output`` when something does not hold after a success that the tool's card says to hold.
        """
        result = self.session.invoke(tool, arguments or {}, caller="scenario")
        if result.ok and (broken := self.session.unkept(tool, arguments or {}, result.data)):
            raise DeskhandError("invalid_output", f"{tool} succeeded, but this does not hold after it: {', '.join(broken)}.")
        return result

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

    # ------------------------------------------------------------ going back

    def snapshot(self) -> DeskSnapshot:
        """This moment of the desk and of what the session's robot knows, between two calls.

        Raises:
            DeskhandError: ``busy`` while a continuous tool runs: what that knows cannot be put back.
        """
        if running := [info.watch_id for info in self.session.watches() if info.running]:
            raise DeskhandError("busy", f"{', '.join(running)} still runs; what it knows cannot be put back.", hint="Stop it first.")
        return self._state().take()

    def restore(self, snapshot: DeskSnapshot, noise: int = 0) -> None:
        """Go on from there, with other noise in the pictures where ``noise`` is another number; what the session has stored stays stored."""
        self._state().put_back(snapshot, noise)

    def _state(self) -> DeskState:
        return DeskState(self.simulation, self._camera, self.robot, self.belief, self._placed)

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

    # ------------------------------------------------------------ where something could stand

    def standing(self, name: str, pose: Array | None = None) -> ObjectSpec:
        """An object as it stands now, or would at ``pose`` (4, 4)."""
        spec = next(item for item in self.simulation.built.spec.objects if item.name == name)
        return replace(spec, pose=self.truth(name).pose if pose is None else pose)

    def others(self, *names: str) -> list[ObjectSpec]:
        """All objects but these, as they stand now."""
        return [self.standing(name) for name in self.names if name not in names]

    def free_pose(self, name: str, gap: float = GAP, turn: float = np.pi) -> Array:
        """A drawn world_T_object (4, 4) where an object could stand as it does, apart from all others and from where it is, in reach and in view.

        Raises:
            DeskhandError: ``no_free_space``.
        """
        return free_pose(self.random, self.simulation.built.spec, self.standing(name), self.others(), gap, turn)

    def free_shift(self, name: str, least: float, most: float, gap: float = GAP) -> tuple[float, float]:
        """A drawn (x, y) [m] of this length by which an object could be moved, as in free_pose.

        Raises:
            DeskhandError: ``no_free_space``.
        """
        others = self.others(name)
        for _ in range(2000):
            angle, far = self.random.uniform(-np.pi, np.pi), self.random.uniform(least, most)
            x, y = float(far * np.cos(angle)), float(far * np.sin(angle))
            if stands_free(self.simulation.built.spec, self._beyond(name, np.array([x, y])), others, gap):
                return x, y
        raise DeskhandError("no_free_space", f"no free place was found {1000 * least:.0f} to {1000 * most:.0f} mm from {name}.")

    def free_way(self, name: str, length: float, behind: float = 0.0) -> tuple[float, float]:
        """A drawn (x, y) [m] of a length along which an object can slide without coming near another, in reach and in view; ``behind`` it is room as well [m].

        Raises:
            DeskhandError: ``no_free_space``.
        """
        for _ in range(200):
            by = np.array(self.free_shift(name, length, length))
            clear = [(share * by, GAP) for share in (0.25, 0.5, 0.75)] + ([(-behind / length * by, NARROW)] if behind else [])
            if all(stands_free(self.simulation.built.spec, self._beyond(name, shift), self.others(name), gap) for shift, gap in clear):
                return float(by[0]), float(by[1])
        raise DeskhandError("no_free_space", f"{name} has no free way of {1000 * length:.0f} mm.")

    def _beyond(self, name: str, by: Array) -> ObjectSpec:
        item = self.standing(name)
        pose = item.pose.copy()
        pose[:2, 3] += by
        return replace(item, pose=pose)

    # ------------------------------------------------------------ what others do to the desk

    def put(self, name: str, pose: Array, settle: float = 0.5) -> float:
        """A hand puts an object to world_T_object (4, 4); then ``settle`` [s] pass. The simulated time [s] at which it does, which may be long after the call
        where something else lets time pass.
        """
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
            simulation.data.xfrc_applied[body] = 0.0
            mujoco.mj_forward(simulation.model, simulation.data)
            at = simulation.time
        if settle:
            simulation.step(settle)
        return at

    def hold(self, name: str, pose: Array) -> float:
        """A hand holds an object in the air at world_T_object (4, 4). The simulated time [s], as of :meth:`put`."""
        simulation = self.simulation
        body = simulation.built.object_bodies[self.names.index(name)]
        with simulation.lock:
            at = self.put(name, pose, settle=0.0)
            simulation.data.xfrc_applied[body, :3] = -simulation.model.body_mass[body] * simulation.model.opt.gravity
        return at

    def cover(self, name: str, point: Array, away: float = 0.13) -> None:
        """A hand holds an object in the air before a point (3,) of the world, ``away`` [m] from it, so that the camera does not see it."""
        sight = self.simulation.built.spec.camera.world_T_camera[:3, 3] - point
        self.hold(name, make_transform(None, point + away * sight / np.linalg.norm(sight)))

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

    def shift(self, name: str, by: tuple[float, float], settle: float = 0.2) -> float:
        """A hand moves an object by (x, y) [m] along the desk. The simulated time [s], as of :meth:`put`."""
        pose = self.truth(name).pose.copy()
        pose[:2, 3] += by
        pose[2, 3] += 0.0005
        return self.put(name, pose, settle)
