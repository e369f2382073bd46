"""``deskhand up sim|robot``: all nodes, supervised, where ``ros2 launch`` does not exist."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from deskhand.commands.options import Composed, Planner, Reality
from deskhand.commands.which_arm import SIMULATED, VARIABLE, require_arm
from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.bringup.spec import NodeSpec, StackOptions
    from deskhand.commands.terminal import Dialogue

READY_TIMEOUT = 90.0  # [s]
AFTER_DEATH = 1.5  # [s] that the other nodes go on when one has ended
COLORS = ("cyan", "magenta", "yellow", "green", "blue", "bright_cyan", "bright_magenta", "bright_yellow", "bright_green", "bright_blue")


class Target(str, Enum):
    """What is brought up."""

    sim = "sim"
    robot = "robot"


class Simulation(str, Enum):
    """What simulates."""

    mujoco = "mujoco"
    gazebo = "gazebo"
    libero = "libero"
    robosuite = "robosuite"


FOREIGN = (Simulation.libero, Simulation.robosuite)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("up")(up)


def up(
    target: Annotated[Target, typer.Argument(help="sim: the simulated robot. robot: a real one.")],
    arm: Annotated[str, typer.Option(envvar=VARIABLE, help="Arm, a name in config/arms or a YAML file; robot: must be given. sim: default wx250s.")] = "",
    camera: Annotated[
        str, typer.Option(help="robot: realsense, orbbec, file, realsense_ros or orbbec_ros (the vendors' nodes), or ros for one that publishes already.")
    ] = "ros",
    camera_topics: Annotated[str, typer.Option(help="robot, ros: its topics where they are not ours: colour, aligned depth, camera_info, with commas.")] = "",
    camera_file: Annotated[Path | None, typer.Option(help="robot, file: a recording (MCAP) or a folder of pictures.")] = None,
    camera_mount: Annotated[str, typer.Option(help="robot: a name in config/cameras or a YAML file. Default: the transform comes by /tf.")] = "",
    driver: Annotated[str, typer.Option(help="external (runs already), hiwonder_rrc, lx16a, feetech, dynamixel, ros2_control or mock.")] = "external",
    port: Annotated[str, typer.Option(help="Port of the arm, for our own drivers. Default: as in the arm's file.")] = "",
    planner: Planner = "embedded",
    brain: Annotated[str, typer.Option(help="Language model, a profile of config/llm.yaml; offline needs none.")] = "offline",
    task: Annotated[str, typer.Option(help="sim: task whose scene is on the desk; libero: as in libero_object/4, --seed its state.")] = "desk_cleaning",
    seed: Annotated[int, typer.Option(help="sim: seed of the scene.")] = 0,
    scene: Annotated[Path | None, typer.Option(help="sim: scene file (YAML) instead of a task's scene.")] = None,
    reality: Reality = "",
    sim: Annotated[
        Simulation, typer.Option(help="sim: the built-in simulation, Gazebo Harmonic, or the worlds of LIBERO and robosuite (docs/libero.md), where installed.")
    ] = Simulation.mujoco,
    gui: Annotated[bool, typer.Option("--gui", help="sim, gazebo: also show the world in Gazebo's window.")] = False,
    namespace: Annotated[str, typer.Option(help="ROS namespace of all nodes.")] = "",
    parameters: Annotated[list[Path] | None, typer.Option(help="ROS parameter file, over config/nodes.yaml; may be given again.")] = None,
    memory: Annotated[Path | None, typer.Option(help="File that the robot remembers in. Default: robot: ~/.ros/deskhand/memory.sqlite; sim: none.")] = None,
    view: Annotated[bool, typer.Option("--view", help="Also serve the operator page, on this machine alone.")] = False,
    view_port: Annotated[int, typer.Option(help="Port of the operator page; the next free one where it is taken.")] = 8080,
    approval: Annotated[str, typer.Option(help="Tool calls that wait for the operator's leave: never, motion or always. Default: as config/safety.yaml.")] = "",
    approval_others: Annotated[
        str, typer.Option(help="The same for callers other than your own tasks: MCP clients, other nodes. Default: as config/safety.yaml; sim: never.")
    ] = "",
    files: Annotated[list[Path] | None, typer.Option(help="Folder from which tools may read plans and reference pictures; may be given again.")] = None,
    composed: Composed = False,
    log: Annotated[Path | None, typer.Option(help="Folder for each node's output. Default: a new one in .deskhand/log.")] = None,
) -> None:
    """Start every node and watch them until Ctrl-C.

    At a terminal, what you type is an instruction; while a task runs, it is the answer to its question, a correction, or "stop".

    Every task leaves a folder in ./episodes, as a demo does: recording, report.html, result.json, audit log.

    A node that ends is reported with its last lines, and everything is stopped: the task that runs ends with a result that names the node.

    The exit code is 0 after Ctrl-C, 1 when a node ended.
    """
    from deskhand.bringup.spec import StackOptions
    from deskhand.bringup.stack import EPISODES, robot_nodes

    parameter_files = tuple(_existing(file) for file in parameters or ())
    options = StackOptions(
        arm=require_arm(arm) if target is Target.robot else arm or SIMULATED,
        camera=camera,
        camera_mount=camera_mount,
        camera_topics=camera_topics,
        camera_file=str(camera_file.resolve()) if camera_file else "",
        driver=driver,
        port=port,
        planner=planner,
        brain=brain,
        namespace=namespace,
        parameter_files=parameter_files,
        memory=str(memory.resolve()) if memory else "",
        view=view,
        view_port=page_port(view_port) if view else view_port,
        approval=approval,
        approval_others=approval_others,
        files=tuple(files or ()),
        composed=composed,
    )
    log = log or Path(".deskhand/log") / time.strftime(f"{target.value}-%Y%m%d-%H%M%S")
    hint = f"operator page: {page_url(options.view_port)}" if view else ""
    if target is Target.robot:
        nodes = robot_nodes(options)
    elif sim in FOREIGN:
        nodes, asked = _foreign(options, sim.value, task, seed, reality, log)
        hint = "\n".join(filter(None, (f"this world asks for: {asked}", hint)))
    elif sim is Simulation.gazebo:
        nodes = _gazebo(options, task, seed, scene, log, gui)
    else:
        nodes = _sim(options, task, seed, scene, reality)
    run(nodes, log, hint, namespace, Path(EPISODES))


def page_port(port: int) -> int:
    """A free port for the operator page.

    Raises:
        DeskhandError: ``missing_dependency`` where it cannot be served.
    """
    from deskhand.view.page import free_port, load_viser

    load_viser()
    return free_port(port=port)


def page_url(port: int) -> str:
    """Where the operator page is."""
    from deskhand.view.page import LOOPBACK

    return f"http://{LOOPBACK}:{port}"


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise DeskhandError("config_error", f"there is no file {file}.")
    return file.resolve()


def _sim(options: StackOptions, task: str, seed: int, scene: Path | None, reality: str) -> list[NodeSpec]:
    from deskhand.bringup.stack import sim_nodes

    return sim_nodes(options, task=task, seed=seed, scene=_existing(scene) if scene else None, reality=reality)


def _gazebo(options: StackOptions, task: str, seed: int, scene: Path | None, log: Path, gui: bool) -> list[NodeSpec]:
    from deskhand.bringup.stack import gazebo_nodes
    from deskhand.sim.gazebo.files import require_gazebo, write_gazebo
    from deskhand.tasks import world_of

    require_gazebo()
    world = world_of(options.arm, task, seed, _existing(scene) if scene else None, "none")  # Gazebo has cameras and lights of its own
    return gazebo_nodes(replace(options, arm=world.arm), write_gazebo(world, log / "gazebo", options.namespace), gui=gui)


def _foreign(options: StackOptions, kind: str, task: str, seed: int, reality: str, log: Path) -> tuple[list[NodeSpec], str]:
    """The nodes, and what the world asks for."""
    from deskhand.bench.libero.over_ros import started_desk
    from deskhand.bench.libero.run import case_of
    from deskhand.bringup.stack import foreign_nodes

    desk, asked = started_desk(kind, case_of(kind, task, seed), log / "foreign", reality or "none")
    return foreign_nodes(options, desk), asked


def run(nodes: list[NodeSpec], log: Path, hint: str = "", namespace: str = "", episodes: Path | None = None) -> None:
    """Supervise ``nodes`` until Ctrl-C or SIGTERM; ``hint`` is printed once all are ready. What is typed is an instruction, or told to the task that runs.

    Reports in ``episodes`` that the nodes could not write any more are written in the end.

    Raises:
        DeskhandError: ``node_unavailable`` when a node ended, ``timeout`` when one is not ready in time.
    """
    from rich.console import Console
    from rich.text import Text

    from deskhand.bringup.supervisor import Supervisor
    from deskhand.commands.terminal import Dialogue, typed_lines
    from deskhand.recording.episode.record import complete_records

    console = Console(highlight=False)
    width = max(len(node.name) for node in nodes)
    colors = {node.name: COLORS[index % len(COLORS)] for index, node in enumerate(nodes)}

    def show(name: str, line: str) -> None:
        console.print(Text.assemble((f"{name:>{width}} ", colors.get(name, "bold")), line), soft_wrap=True)

    lines = typed_lines()
    dialogue = Dialogue(lines, lambda text: show("you", text), namespace) if lines else None
    supervisor = Supervisor(nodes, log_folder=log, echo=show)
    started, began = time.monotonic(), time.time()
    console.print(f"starting {', '.join(colors)}; logs in {log}", markup=False)
    with _until_interrupted():
        try:
            supervisor.start()
            supervisor.wait_ready(READY_TIMEOUT)
            console.print(f"[bold green]all {len(nodes)} nodes ready[/] after {time.monotonic() - started:.1f} s; Ctrl-C ends them")
            if hint:
                console.print(f"[bold]{hint}[/]")
            if dialogue:
                console.print("type what the robot shall do")
            while not (deaths := supervisor.wait_death(0.1 if dialogue else 0.5)):
                if dialogue:
                    dialogue.poll()
            for death in deaths:
                show(death.name, f"{death.cause}; stopping all")
            _after_death(dialogue)
            raise DeskhandError("node_unavailable", "\n".join(map(str, deaths)))
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)  # it ends within 3 s; an impatient second Ctrl-C must not leave a node behind
            if dialogue:
                dialogue.close()
            supervisor.stop()
            for folder in complete_records(episodes, began) if episodes is not None else ():
                console.print(f"report written: {folder}", markup=False)
            console.print("stopped")


def _after_death(dialogue: Dialogue | None) -> None:
    """The other nodes go on for a moment: to stop the arm, to end the task with a result, to write the record."""
    end = time.monotonic() + AFTER_DEATH
    while (left := end - time.monotonic()) > 0:
        if dialogue:
            dialogue.poll()
        time.sleep(min(left, 0.05))


@contextmanager
def _until_interrupted() -> Iterator[None]:
    """Leave the block quietly at SIGINT, SIGTERM or SIGHUP."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        return
