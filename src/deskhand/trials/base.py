"""What one trial is given, tells while it runs, and comes to; the world that it takes place in."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskhand.agent.direct import MODES as DIRECT
from deskhand.agent.offered import groups_of
from deskhand.agent.user import Inbox
from deskhand.arms.config import load_arm
from deskhand.arms.emulate.reality import load_reality
from deskhand.errors import DeskhandError
from deskhand.llm import load_profile
from deskhand.llm.config import with_images
from deskhand.motion.base import PLANNERS
from deskhand.motion.moveit_config import moveit_is_there
from deskhand.perception.picture import save_picture
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.faults import check_fault
from deskhand.sim.reality.spec import RealitySpec
from deskhand.sim.reality.world import with_reality
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import Truth, WorldSpec
from deskhand.tasks import load_task, world_of
from deskhand.trials.hand_errors import HandErrors
from deskhand.trials.sampling import Sampler

MODES = ("tools", "code", *DIRECT)
SIMULATIONS = ("mujoco", "gazebo")


@dataclass(frozen=True)
class TrialOptions:
    """What is tried.

    Attributes:
        task: whose world, instruction and scorer; not used with ``scene``.
        scene: scene file instead of the task's world; needs ``instruction``.
        instruction: what the robot is told instead of the task's own words; then its own word on success is all there is.
        mode: one of :data:`MODES`.
        local: everything in this process instead of ROS nodes.
        timeout: wall clock [s].
        fault: what goes wrong in the simulation, a name of sim/faults.py; empty for nothing.
        driver: one of our drivers (``hiwonder_rrc``, ``lx16a``), which moves the simulated arm over an emulated bus; empty for none.
        servos: what is wrong with the servos behind ``driver``, a name in config/servos or a YAML file; empty: ideal ones.
        sim: one of :data:`SIMULATIONS`.
        reality: how the world differs from an ideal one, as :func:`deskhand.sim.reality.file.load_reality` takes it; empty: what the scene file says, or the
            default.
        view: port of the operator page; None for none. Not with ``local``.
        memory: file that the robot goes on remembering in; None: a new one in the episode's folder.
        files: folders from which tools may read plans and reference pictures, besides that of the task's own.
        answer_timeout: [s] that a question waits; 0: as the budget or the orchestrator says; negative: nobody is there to answer.
        images: how many of the newest pictures a model with eyes is shown; None: as its profile says.
        planner: one of :data:`deskhand.motion.base.PLANNERS`; ``local`` has the embedded one alone.
        groups: names of the groups of tools that the model is offered, separated by commas, or ``none`` (agent/offered.py); empty: all. Only with ``local``.
        composed: the nodes that neither stop nor drive the arm are one process. Not with ``local``.
        pace: simulated seconds in one of the clock on the wall, at most; 0: as config/nodes.yaml says. Not with ``local`` or a ``driver``, and MuJoCo's alone.
        without: tools that the robot shall not have. Only with ``local``.
        record_rate: samples for learning so many times a second of simulated time [Hz] (recording/episode/samples.py); 0 for none. Only with ``local``.
        inbox: what the user says while the task runs; None where nobody is there.
    """

    task: str = "desk_cleaning"
    seed: int = 0
    scene: Path | None = None
    instruction: str | None = None
    arm: str = "wx250s"
    brain: str = "offline"
    mode: str = "tools"
    local: bool = False
    timeout: float = 900.0
    fault: str = ""
    driver: str = ""
    servos: str = ""
    sim: str = "mujoco"
    reality: str = ""
    memory: Path | None = None
    files: tuple[Path, ...] = ()
    inbox: Inbox | None = None
    view: int | None = None
    answer_timeout: float = 0.0
    images: int | None = None
    record_rate: float = 0.0
    planner: str = "embedded"
    composed: bool = False
    pace: float = 0.0
    groups: str = ""
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Progress:
    """A line of what goes on; ``tool`` is empty for what is not a tool call; ``question`` is for the user, with the ``options`` to choose from;
    ``done``: the call has ended well.
    """

    step: int
    tool: str
    text: str
    question: str = ""
    options: tuple[str, ...] = ()
    done: bool = False


ProgressCallback = Callable[[Progress], None]


@dataclass
class Attempt:
    """What came of running the robot: the agent's own word, and the truth before and after (None where the simulation could not tell)."""

    success: bool = False
    code: str = ""
    message: str = ""
    summary: str = ""
    tool_calls: int = 0
    errors: tuple[str, ...] = ()
    start: Truth | None = None
    end: Truth | None = None
    wall: float = 0.0
    node_output: dict[str, list[str]] | None = None
    skill_calls: int | None = None
    false_claims: tuple[dict[str, Any], ...] = ()
    weighings: int | None = None
    readings: tuple[tuple[float, float], ...] = ()
    fault_happened: bool | None = None
    questions: tuple[str, ...] = ()
    held_then: tuple[str, ...] = ()
    hand: HandErrors | None = None
    sampler: Sampler | None = None

    def failed(self, code: str, message: str) -> None:
        """The trial ended because of this; an earlier cause stays."""
        if not self.code or self.success:
            self.success, self.code, self.message = False, code, message


def prepare(options: TrialOptions) -> tuple[WorldSpec, str]:
    """The world and what the robot is told.

    Raises:
        DeskhandError: ``empty_instruction``, ``scene_file_error``, ``invalid_input`` for an unknown task or mode, ``config_error`` for an unknown arm or brain.
    """
    arm = load_arm(options.arm)
    if options.driver and options.driver not in arm.driver.kinds:
        raise DeskhandError("invalid_input", f"{arm.name} has no driver {options.driver!r}; it has {', '.join(arm.driver.kinds)}.")
    if options.servos and not options.driver:
        raise DeskhandError("invalid_input", "--servos says what is wrong with the servos behind a driver.", hint="Give --driver as well.")
    load_reality(options.servos)
    _check_simulation(options)
    _check_nodes(options)
    profile = with_images(load_profile(options.brain), options.images)
    if options.mode == "code" and profile.provider == "offline":
        raise DeskhandError("invalid_input", "the offline brain calls tools; it writes no code.", hint="Give --brain, a language model of config/llm.yaml.")
    if options.mode in DIRECT and profile.provider == "offline":
        raise DeskhandError("invalid_input", "the offline brain calls tools; it has no direct mode.", hint="Give --brain, a language model of config/llm.yaml.")
    if options.record_rate and not options.local:
        text = "samples at a fixed rate are recorded where one process has simulation and robot: give --local."
        raise DeskhandError("invalid_input", text, hint="On nodes and real robots, deskhand record keeps pictures and joint states.")
    groups_of(options.groups)
    if options.groups and not options.local:
        raise DeskhandError("invalid_input", "only some groups of tools are offered where robot and agent are one process: give --local.")
    if options.mode not in MODES:
        raise DeskhandError("invalid_input", f"there is no mode {options.mode!r}; valid: {', '.join(MODES)}.")
    if options.instruction is not None and not options.instruction.strip():
        raise DeskhandError("empty_instruction", "the instruction is empty.", hint='Say what to do, for example "put the blocks into the tray".')
    if options.scene is not None:
        if options.instruction is None:
            raise DeskhandError("empty_instruction", "a scene file says nothing about what to do.", hint='Add --instruction "…".')
        return _world(options), options.instruction
    task = load_task(options.task, options.arm)
    check_fault(options.fault)
    world = _world(options)
    if options.instruction is None:
        _take_pictures(task.pictures(options.seed), world.reality)
        if (shown := task.demonstration(options.seed)) is not None:
            from deskhand.trials.demonstrations import record_demonstration

            record_demonstration(shown[1], shown[0], world.reality)
    return world, options.instruction if options.instruction is not None else task.instruction(options.seed)


def _world(options: TrialOptions) -> WorldSpec:
    """Gazebo's own cameras and lights show the world there; no reality of ours does."""
    return world_of(options.arm, options.task, options.seed, options.scene, "none" if options.sim == "gazebo" else options.reality)


def _check_simulation(options: TrialOptions) -> None:
    if options.sim not in SIMULATIONS:
        raise DeskhandError("invalid_input", f"there is no simulation {options.sim!r}; valid: {', '.join(SIMULATIONS)}.")
    if options.sim != "gazebo":
        return
    if options.local or options.driver or options.fault:
        raise DeskhandError("invalid_input", "a trial in Gazebo runs with ROS nodes and Gazebo's controllers: no --local, no --driver, no --fault.")
    if options.reality not in ("", "none"):
        raise DeskhandError("invalid_input", "Gazebo has cameras and lights of its own: no --reality.")
    from deskhand.sim.gazebo.files import require_gazebo

    require_gazebo()


def _check_nodes(options: TrialOptions) -> None:
    if options.planner not in PLANNERS:
        raise DeskhandError("invalid_input", f"there is no planner {options.planner!r}; valid: {', '.join(PLANNERS)}.")
    if options.planner != "embedded" and options.local:
        raise DeskhandError("invalid_input", f"the planner {options.planner} runs behind the motion node.", hint="Leave --local out.")
    if options.pace and (options.local or options.driver or options.sim == "gazebo"):
        raise DeskhandError("invalid_input", "--pace is of MuJoCo's simulation behind nodes: --local has no clock, drivers and Gazebo have their own.")
    if options.composed and options.local:
        raise DeskhandError("invalid_input", "--composed puts nodes together, and --local has none.", hint="Leave one of them out.")
    if options.without and not options.local:
        raise DeskhandError("invalid_input", "tools are left out where one process has robot and tools: give --local.")
    if options.planner == "moveit" and not moveit_is_there():
        raise DeskhandError("missing_dependency", "moveit_py is not installed.", hint="apt install ros-jazzy-moveit-py, or leave --planner out.")


def named_folders(options: TrialOptions) -> tuple[Path, ...]:
    """From which the tools of a trial may read files: those of the options, and where the task's own pictures are."""
    own = () if options.scene is not None or options.instruction is not None else load_task(options.task, options.arm).pictures(options.seed)
    shown = None if options.scene is not None or options.instruction is not None else load_task(options.task, options.arm).demonstration(options.seed)
    return (*options.files, *dict.fromkeys(file.parent for file in (*own, *((shown[0],) if shown else ()))))


def _take_pictures(pictures: Mapping[Path, WorldSpec], reality: RealitySpec | None) -> None:
    """Render the pictures that an instruction names, as the robot's camera would take them."""
    for file, world in pictures.items():
        with RgbdRenderer(Simulation(with_reality(world, reality))) as renderer:
            save_picture(renderer.render(), file)


def instructions(options: TrialOptions, instruction: str) -> tuple[str, ...]:
    """What the robot is told, one after the other; ``instruction`` is what :func:`prepare` says."""
    if options.scene is not None or options.instruction is not None:
        return (instruction,)
    return load_task(options.task, options.arm).instructions(options.seed)


def settle_time(options: TrialOptions) -> float:
    """[s] of simulated time between the robot's last word and the scorer's look."""
    return 0.0 if options.scene is not None else load_task(options.task, options.arm).settle


class Stopwatch:
    """Wall time of an attempt, also when it ends by an exception."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt

    def __enter__(self) -> None:
        self._started = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self._attempt.wall += time.monotonic() - self._started
