"""A trial in one process: the same perception, skills, tools and agent, called directly, on the simulated devices."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deskhand.agent.direct import MODES as DIRECT
from deskhand.agent.judge import make_judge
from deskhand.agent.loop import AgentLoop
from deskhand.agent.offered import OfferedTools, groups_of
from deskhand.agent.records import Budgets, Step, TaskOutcome
from deskhand.arms.base import Arm, Clock, Motion
from deskhand.arms.config import load_arm
from deskhand.arms.emulate.reality import IDEAL, ServoReality
from deskhand.arms.frames import LinkTransforms
from deskhand.arms.model import RobotModel
from deskhand.cameras.base import Camera
from deskhand.cameras.config import CameraMount
from deskhand.errors import DeskhandError
from deskhand.llm import load_profile, make_model
from deskhand.llm.config import ModelProfile, with_images
from deskhand.perception.pipeline import Perception
from deskhand.perception.self_filter import joint_map
from deskhand.recording.episode.writer import EpisodeWriter
from deskhand.safety.audit import AuditLog
from deskhand.safety.settings import load_safety
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.driven_local import DrivenRobot
from deskhand.sim.joint_servos import servos_of
from deskhand.sim.simulation import SimSettings, Simulation
from deskhand.sim.spec import WorldSpec
from deskhand.skills.belief import Belief
from deskhand.skills.robot.local import Devices, LocalRobot, make_local_robot
from deskhand.tools.base import load_tools, make_session
from deskhand.trials.base import Attempt, Progress, ProgressCallback, Stopwatch, TrialOptions, instructions, named_folders, settle_time
from deskhand.trials.hand_errors import HandErrors, WatchedArm, WatchedClock, WatchedGripper
from deskhand.trials.honesty import Honesty
from deskhand.trials.person import Person
from deskhand.trials.sampling import Sampler
from deskhand.types import Frame, JointState, Scene, Trajectory
from deskhand.world.history.recorder import MEMORY_FILE, Memory

JOINT_PERIOD = 0.1  # [s] of simulated time between recorded joint states


class RecordedArm:
    """An arm whose joint states, and where its links are by them, also go into the episode, some of them."""

    def __init__(self, arm: Arm, writer: EpisodeWriter, links: LinkTransforms) -> None:
        self._arm, self._writer, self._links, self._last = arm, writer, links, -1.0

    def joint_state(self) -> JointState:
        """See Arm."""
        state = self._arm.joint_state()
        if state.stamp - self._last >= JOINT_PERIOD:
            if self._last < 0.0:
                self._writer.transforms(self._links.fixed(), state.stamp, fixed=True)
            self._last = state.stamp
            self._writer.joints(state)
            self._writer.transforms(self._links.moving(joint_map(state)), state.stamp)
        return state

    def follow(self, trajectory: Trajectory) -> Motion:
        """See Arm."""
        return self._arm.follow(trajectory)


class RecordedCamera:
    """A camera whose pose goes into the episode once."""

    def __init__(self, camera: Camera, writer: EpisodeWriter) -> None:
        self._camera, self._writer, self._told = camera, writer, False

    def capture(self, newer_than: float | None = None) -> Frame:
        """See Camera."""
        frame = self._camera.capture(newer_than)
        if not self._told:
            self._told = True
            self._writer.camera(frame.intrinsics, frame.world_T_camera, frame.stamp)
        return frame

    def close(self) -> None:
        """Let the renderer go."""
        if isinstance(self._camera, SimCamera):
            self._camera.close()


class RecordedPerception(Perception):
    """Perception whose looks go into the episode."""

    def __init__(self, writer: EpisodeWriter, memory: Path) -> None:
        super().__init__(memory=memory)
        self._writer = writer

    def detect(self, frame: Frame, model: RobotModel | None = None, joints: JointState | Mapping[str, float] | None = None, still: bool = False) -> Scene:
        """See Perception."""
        scene = super().detect(frame, model, joints, still)
        self._writer.picture(self.annotated(scene), scene.stamp)
        self._writer.scene(scene)
        return scene


@dataclass(frozen=True)
class LocalParts:
    """A simulated robot in this process, and what is behind it: for the scorer."""

    robot: LocalRobot
    simulation: Simulation
    hand: HandErrors
    wait: Callable[[float], None]
    """Lets simulated time pass [s]."""


@contextmanager
def local_robot(
    world: WorldSpec, writer: EpisodeWriter, memory: Path, fault: str = "", driver: str = "", reality: ServoReality = IDEAL
) -> Iterator[LocalParts]:
    """The simulated robot in this process, its senses recorded; ids go on from those of the file ``memory``, if there is one. With a ``driver`` of
    ours that moves the arm over an emulated bus, in simulated time; ``reality``: what is wrong with its servos.
    """
    simulation = Simulation(world, SimSettings(fault=fault))
    driven = DrivenRobot(simulation, driver, reality) if driver else None
    clock: Clock = SimClock(simulation) if driven is None else driven.time
    wait = simulation.step if driven is None else driven.time.wait
    hand = HandErrors(simulation)
    arm = RecordedArm(WatchedArm(SimArm(simulation) if driven is None else driven, hand), writer, LinkTransforms(simulation.built.robot.urdf))
    gripper = WatchedGripper(SimGripper(simulation) if driven is None else driven.gripper, hand)
    camera = RecordedCamera(SimCamera(simulation, advance=wait), writer)
    seen_by = world.camera
    mount = CameraMount(seen_by.link, seen_by.frame_id, seen_by.world_T_camera) if seen_by.link else None
    sleep = clock.sleep if driven is None else wait  # of a driven robot's clock, `sleep` is the driver's
    devices = Devices(arm, gripper, camera, WatchedClock(clock, sleep, hand), mount)
    try:
        if driven is not None:
            driven.start()
        robot = make_local_robot(load_arm(world.arm), devices, perception=RecordedPerception(writer, memory))
        try:
            yield LocalParts(robot, simulation, hand, wait)
        finally:
            robot.close()
    finally:
        if driven is not None:
            driven.close()


def budgets_of(options: TrialOptions, profile: ModelProfile) -> Budgets:
    """What one task of this trial may cost."""
    budgets = Budgets(seconds=options.timeout, tokens=profile.max_total_tokens, cost=profile.max_cost)
    return replace(budgets, answer_seconds=options.answer_timeout) if options.answer_timeout else budgets


def run_local(options: TrialOptions, world: WorldSpec, instruction: str, folder: Path, progress: ProgressCallback, attempt: Attempt, person: Person) -> None:
    """Fill in ``attempt``. The agent runs in a thread of its own, so that Ctrl-C is noticed whatever it does."""
    profile = with_images(load_profile(options.brain), options.images)
    model = make_model(profile)
    (folder / "audit.jsonl").unlink(missing_ok=True)
    memory_file = options.memory or folder / MEMORY_FILE
    with (
        EpisodeWriter(folder) as writer,
        AuditLog(folder / "audit.jsonl") as audit,
        local_robot(world, writer, memory_file, options.fault, options.driver, servos_of(world, options.servos, options.seed)) as parts,
        Memory(memory_file, parts.robot.now) as memory,
    ):
        robot, simulation = parts.robot, parts.simulation
        attempt.sampler = Sampler(simulation, options.record_rate) if options.record_rate else None
        attempt.hand = parts.hand
        attempt.start = simulation.truth()
        person.truth = simulation.truth
        stop = threading.Event()

        belief = Belief(memory)
        honesty = Honesty(world, simulation.truth, belief)

        def record(event: Mapping[str, Any]) -> None:
            writer.event(event, robot.now())
            honesty.event(event)

        def keep(event: Mapping[str, Any]) -> None:
            audit.write("tool_call", dict(event))

        registry = load_tools(baseline=options.mode in DIRECT, without=options.without)[0]
        registry.prepare()
        safety = load_safety()
        with make_session(robot, belief, registry=registry, audit=keep, events=record, folders=named_folders(options)) as session:
            loop = AgentLoop(
                model,
                OfferedTools(session, groups_of(options.groups)) if options.groups else session,
                budgets_of(options, profile),
                _reporter(progress),
                stop.is_set,
                mode=options.mode,
                inbox=options.inbox,
                rules=safety.rules,
                judge=make_judge(profile),
                authorisation=safety.authorisation,
            )
            for number, said in enumerate(instructions(options, instruction)):
                person.next_task()
                with Stopwatch(attempt), attempt.sampler.running(said) if attempt.sampler else nullcontext():
                    outcome = _run(loop, said, stop)
                _take(outcome, attempt)
                steps = {"instruction": said, "brain": options.brain, "model": model.name, "mode": options.mode, **outcome.to_json()}
                (folder / f"agent{f'_{number + 1}' if number else ''}.json").write_text(json.dumps(steps, indent=1, default=str))
        status = robot.safety_status()
        writer.safety(status, robot.now())
        if settle := settle_time(options):
            parts.wait(settle)
        attempt.end = simulation.truth()
        attempt.skill_calls, attempt.false_claims, attempt.weighings = honesty.calls, tuple(honesty.false), honesty.weighings
        attempt.readings = tuple(honesty.readings)
        attempt.fault_happened = simulation.fault is not None and simulation.fault.happened


def _run(loop: AgentLoop, instruction: str, stop: threading.Event) -> TaskOutcome:
    outcomes: list[TaskOutcome] = []
    failures: list[Exception] = []

    def work() -> None:
        try:
            outcomes.append(loop.run(instruction))
        except Exception as error:  # handed to the caller's thread
            failures.append(error)

    thread = threading.Thread(target=work, name="agent", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.05)
    except BaseException:
        stop.set()
        thread.join(2.0)
        raise
    if failures:
        error = failures[0]
        raise error if isinstance(error, DeskhandError) else DeskhandError("internal_error", f"the agent failed: {error!r}") from error
    return outcomes[0]


def _take(outcome: TaskOutcome, attempt: Attempt) -> None:
    attempt.success, attempt.code, attempt.summary = outcome.success, outcome.code, outcome.summary
    attempt.message = outcome.summary if outcome.code else ""
    attempt.tool_calls, attempt.errors = attempt.tool_calls + outcome.tool_calls, (*attempt.errors, *outcome.errors)


def _reporter(progress: ProgressCallback) -> Any:
    def report(step: Step) -> None:
        asks = bool(step.question) and not step.finished
        progress(Progress(step.index, step.tool, describe(step), step.question if asks else "", step.options if asks else (), step.finished and step.ok))

    return report


def describe(step: Step) -> str:
    """One line about a step: what is asked when it begins, what came of it when it is finished."""
    asked = ", ".join(str(value) for value in step.arguments.values() if isinstance(value, str | int | float))
    if not step.finished:
        return step.text or asked
    return f"{asked}: {'done' if step.ok else step.code} {step.message}".strip(": ")
