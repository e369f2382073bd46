"""``deskhand calibrate``: what differs from unit to unit: where the camera is, how it sees, and the arm itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.commands.which_arm import ArmOption, RunningArm, require_arm
from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.arms.config import ArmConfig
    from deskhand.arms.model import RobotModel
    from deskhand.calibration.handeye import Mounting
    from deskhand.cameras.config import CameraMount
    from deskhand.skills.robot import Robot

BOARD = "5x7@35/26mm"
BoardOption = Annotated[str, typer.Option(help="The board: columns x rows @ square / marker.")]
SuitingBoard = Annotated[
    str, typer.Option(help="The board: columns x rows @ square / marker. Default: 5x7@35/26mm; for the wrist camera of a small arm 5x7@20/15mm.")
]
Camera = Annotated[
    str,
    typer.Option(
        help="Where the camera is meant to be: a name in config/cameras (fixed; wrist: that of this arm) or a YAML file. What carries it decides what moves."
    ),
]
Out = Annotated[Path, typer.Option(help="Camera file to write; give it to the bring-up as camera_mount.")]
Namespace = Annotated[str, typer.Option(help="ROS namespace of the robot's nodes.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before the arm moves.")]

group = typer.Typer(name="calibrate", help="Measure what differs from unit to unit: camera and arm.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(group)


@group.command("board")
def board_command(
    out: Annotated[Path, typer.Option(help="PDF to write.")] = Path("board.pdf"),
    board: SuitingBoard = "",
    camera: Annotated[str, typer.Option(help="For which camera: fixed or wrist.")] = "fixed",
    arm: ArmOption = "",
    paper: Annotated[str, typer.Option(help="A4, A3 or Letter.")] = "A4",
) -> None:
    """Write a page with the board, to be printed at 100 % and glued on something flat."""
    from deskhand.arms.config import load_arm
    from deskhand.calibration.board import Board
    from deskhand.calibration.poses import default_board
    from deskhand.calibration.printable import write_pdf

    if camera not in ("fixed", "wrist"):
        raise DeskhandError("invalid_input", f"a board is for a fixed or a wrist camera, not for {camera!r}.")
    wanted = Board.parse(board or (BOARD if camera == "fixed" else default_board(load_arm(require_arm(arm)), "wrist")))
    write_pdf(wanted, out, paper)
    _say(f"wrote {out}, the board {wanted.name}: print it at 100 %, and measure the line below the board: it must be 100 mm long")


@group.command("camera")
def camera_command(
    out: Out = Path("camera.yaml"),
    camera: Camera = "fixed",
    board: BoardOption = BOARD,
    arm: RunningArm = "",
    namespace: Namespace = "",
    pictures: Annotated[int, typer.Option(min=12, help="How many to take.")] = 20,
    timeout: Annotated[float, typer.Option(help="Give up after so long without a new view [s].")] = 60.0,
) -> None:
    """Measure the lens: move the board slowly before the camera, near and far, tilted, into the corners; pictures are taken by themselves."""
    from dataclasses import replace

    from deskhand.calibration.board import Board
    from deskhand.calibration.intrinsics import calibrate_lens
    from deskhand.cameras.config import save_camera

    wanted = Board.parse(board)
    with _robot(arm, camera, namespace) as robot:
        mount = _mount_of(robot.arm, camera)
        views, told = _lens_views(robot, wanted, pictures, timeout)
    lens = calibrate_lens(views, wanted, told.width, told.height)
    _say(f"{len(views)} pictures, corners within {lens.error:.2f} px; the driver's own numbers differ by {lens.difference(told):.1f} px at the corners")
    notes = {**mount.calibration, "lens_error_px": round(lens.error, 3), "lens_pictures": len(views)}
    save_camera(replace(mount, intrinsics=replace(lens.intrinsics, frame_id=mount.child), distortion=lens.distortion, calibration=notes), out)
    _say(f"wrote {out}")


def _lens_views(robot: Robot, board: Any, wanted: int, timeout: float) -> tuple[list[Any], Any]:
    import time

    from deskhand.calibration.intrinsics import covered, is_new_view

    views: list[Any] = []
    last = time.monotonic()
    while len(views) < wanted:
        frame = robot.observe()
        k = frame.intrinsics
        corners = board.find(frame.color)
        if is_new_view(corners, views, k.width):
            views.append(corners)
            last = time.monotonic()
            _say(f"{len(views)} of {wanted}: {100 * covered(views, k.width, k.height):.0f} % of the picture covered")
        elif time.monotonic() - last > timeout:
            raise DeskhandError("calibration_failed", f"no new view of the board for {timeout:g} s; {len(views)} of {wanted} were taken.")
    return views, k


@group.command("handeye")
def handeye_command(
    out: Out = Path("camera.yaml"),
    camera: Camera = "fixed",
    board: SuitingBoard = "",
    arm: RunningArm = "",
    namespace: Namespace = "",
    pictures: Annotated[int, typer.Option(min=8, help="How many to take.")] = 30,
    seed: Annotated[int, typer.Option(help="Of the choice of poses.")] = 0,
    sim: Annotated[bool, typer.Option("--sim", help="Rehearse on a simulated robot whose camera is not where the file says.")] = False,
    yes: Yes = False,
) -> None:
    """Measure where the camera is. Fixed camera: the gripper holds the board by the middle of its lower edge. Wrist camera: the board lies flat on the desk.

    The arm moves by itself, slowly, through poses that differ as much as can be. A result that is not good enough is refused, with what to do.
    """
    from deskhand.calibration.board import Board

    given = Board.parse(board) if board else None
    with _simulated(camera, seed, require_arm(arm), given) if sim else _robot(arm, camera, namespace) as robot:
        calibrate_handeye(robot, camera, given, out, pictures, seed, sim, yes)


def calibrate_handeye(robot: Robot, camera: str, board: Any, out: Path, pictures: int, seed: int, sim: bool, yes: bool) -> None:
    """Move ``robot`` through poses, work out where its camera is, and write that to ``out``; ``board`` None: the one that suits.

    Raises:
        DeskhandError: ``config_error`` for a camera that the arm can carry nowhere; ``calibration_failed``; ``cancelled`` without a person's yes.
    """
    from deskhand.arms.model import RobotModel
    from deskhand.calibration.board import Board
    from deskhand.calibration.poses import Guess, default_board, held_board
    from deskhand.calibration.session import Session
    from deskhand.cameras.config import camera_of
    from deskhand.geometry import identity

    mount, model = _mount_of(robot.arm, camera), RobotModel.load(robot.arm)
    mounting = _mounting(mount, model)
    wanted = board or Board.parse(default_board(model.arm, mounting))
    name = camera_of(model.arm.name, camera)
    _say(f"arm {model.arm.name}, camera {name} on {mount.parent}, board {wanted.name}")
    if not sim:
        _ask(f"The arm {model.arm.name} will move through about {pictures} poses. Keep clear, and the stop within reach. Go on?", yes)
    guess = Guess(mounting, mount.pose, held_board(wanted) if mounting == "fixed" else identity(), mount.parent if mounting == "wrist" else "")
    result, _ = Session(robot, model, wanted, guess, _say, _say if sim else _hand_over, seed).run(pictures)
    _say(result.words())
    _say(f"the camera is {_apart(mount.pose, result.camera)} from where {name} had it")
    _save_pose(mount, result.camera, out, "handeye", result)


def _mounting(mount: CameraMount, model: RobotModel) -> Mounting:
    """Whether the arm carries the camera."""
    if mount.parent == model.root:
        return "fixed"
    if model.moves(mount.parent):
        return "wrist"
    raise DeskhandError(
        "config_error",
        f"the camera hangs on {mount.parent!r}; it can be on {model.root!r} or on a link of the {model.arm.name} that moves: "
        f"{', '.join(link for link in model.links if model.moves(link))}.",
    )


def _mount_of(arm: ArmConfig, camera: str) -> CameraMount:
    from deskhand.cameras.config import load_camera

    return load_camera(camera, arm.name)


@group.command("table")
def table_command(
    out: Out = Path("camera.yaml"),
    camera: Camera = "fixed",
    board: Annotated[str, typer.Option(help="A board that lies on the desk for good, as a landmark for the check before every task; empty: none.")] = "",
    arm: RunningArm = "",
    namespace: Namespace = "",
    pictures: Annotated[int, typer.Option(min=3, help="How many to take.")] = 10,
) -> None:
    """Level a fixed camera to the empty desk: the table's top is world z = 0. Nothing moves."""
    from dataclasses import replace

    from deskhand.calibration.board import Board
    from deskhand.calibration.drift import levelled
    from deskhand.cameras.config import pose_fields

    with _robot(arm, camera, namespace) as robot:
        mount = _mount_of(robot.arm, camera)
        if mount.parent != "world":
            raise DeskhandError("config_error", "the table tells where a fixed camera is, not one on the arm.", hint="Use `deskhand calibrate handeye`.")
        robot_frames = [robot.observe() for _ in range(pictures)]
    frame, spread, tilts = levelled([replace(item, world_T_camera=mount.pose) for item in robot_frames])
    _say(f"the camera is {_apart(mount.pose, frame.world_T_camera)} from where {camera} had it; pictures agree within {1000 * spread:.1f} mm, {tilts:.4f} rad")
    if board:
        landmark = Board.parse(board)
        seen = landmark.pose(landmark.find(frame.color), frame.intrinsics)
        if seen is None:
            raise DeskhandError("calibration_failed", f"the board {board} is not seen on the desk.", hint="Is it in view and not covered?")
        mount = replace(mount, landmarks={"board": landmark.name, **pose_fields(frame.world_T_camera @ seen)})
    _save_pose(mount, frame.world_T_camera, out, "table", None)


def _save_pose(mount: CameraMount, pose: Any, out: Path, method: str, result: Any) -> None:
    import time
    from dataclasses import replace

    from deskhand.cameras.config import save_camera

    notes: dict[str, Any] = {**mount.calibration, "method": method, "date": time.strftime("%Y-%m-%d %H:%M")}
    notes |= result.notes() if result is not None else {}
    save_camera(replace(mount, pose=pose, calibration=notes), out)
    _say(f"wrote {out}; give it to the bring-up: camera_mount:={out}")


def _apart(a: Any, b: Any) -> str:
    import numpy as np

    from deskhand.geometry import rotation_angle

    return f"{1000 * float(np.linalg.norm(a[:3, 3] - b[:3, 3])):.1f} mm and {np.degrees(rotation_angle(a, b)):.2f} degrees"


@contextmanager
def _robot(arm: str, camera: str, namespace: str) -> Iterator[Robot]:
    from deskhand.bringup.environment import apply_workstation_defaults

    apply_workstation_defaults()
    from deskhand.nodes.connected import connected_robot

    with connected_robot(arm, lambda config: _mount_of(config, camera), namespace) as robot:
        yield robot


@contextmanager
def _simulated(camera: str, seed: int, arm: str, board: Any) -> Iterator[Robot]:
    from deskhand.bringup.environment import apply_workstation_defaults

    apply_workstation_defaults()  # MuJoCo reads MUJOCO_GL when it is first imported
    from deskhand.arms.model import RobotModel
    from deskhand.bench.calibration.handeye import Bench

    model = RobotModel.load(arm)
    with Bench(_mounting(_mount_of(model.arm, camera), model), seed, arm, board, camera) as bench, bench.robot() as robot:
        yield robot


def _ask(question: str, yes: bool) -> None:
    if not yes and not typer.confirm(question):
        raise DeskhandError("cancelled", "nothing was moved.")


def _hand_over(text: str) -> None:
    typer.prompt(f"{text} Then press Enter", default="", show_default=False)


def _say(text: str) -> None:
    from rich.console import Console

    Console(highlight=False).print(text, soft_wrap=True, markup=False)


@group.command("arm")
def arm_command(
    output: Annotated[Path, typer.Argument(help="File to write, for example my_arm.yaml; give it as --arm from then on.")],
    arm: ArmOption = "",
    driver: Annotated[str, typer.Option(help="Driver. Default: the arm's usual one.")] = "",
    port: Annotated[str, typer.Option(help="Port. Default: as in the arm's file.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Write over an existing file.")] = False,
    lerobot: Annotated[Path | None, typer.Option(help="so101: take homing and ranges from this calibration file of lerobot.")] = None,
    save_lerobot: Annotated[Path | None, typer.Option(help="so101: write the calibration for lerobot, too.")] = None,
) -> None:
    """Servo offsets, link lengths and the gripper's widths of one arm; of an so101 numbers, homing, ranges and the jaw's opening.

    Asks before anything moves or lets go; only the gripper is moved, slowly. No other program may use the arm meanwhile.
    """
    import time

    from deskhand.arms.bus.choice import make_bus
    from deskhand.arms.config import load_arm
    from deskhand.arms.driver import ArmDriver
    from deskhand.arms.model import RobotModel
    from deskhand.arms.unit import UnitCalibration
    from deskhand.commands.first_day import Terminal

    if output.exists() and not force:
        raise DeskhandError("config_error", f"{output} exists.", hint="Give --force to write over it.")
    config = load_arm(require_arm(arm))
    talk = Terminal()
    if (driver or config.driver.kinds[0]) == "feetech":
        _calibrate_feetech(RobotModel.load(config), port, output, lerobot, save_lerobot)
        return
    if lerobot is not None or save_lerobot is not None:
        raise DeskhandError("config_error", f"{config.name} has no servos that lerobot calibrates.", hint="so101 has.")
    unit = ArmDriver(RobotModel.load(config), make_bus(config.driver, driver, port), hold=False)
    unit.start()
    try:
        unit.wait_connected(5.0)
        for name, health in unit.status().health.items():
            talk.say(f"{name}: {health.voltage or float('nan'):.1f} V, {health.temperature or float('nan'):.0f} degrees C")
        UnitCalibration(unit, talk, time.sleep).run().write(config, output)
    finally:
        unit.close()
    load_arm(str(output))
    talk.say(f"written: {output}. Use it: deskhand up robot --arm {output}")


def _calibrate_feetech(model: RobotModel, port: str, output: Path, lerobot: Path | None, save_lerobot: Path | None) -> None:
    from deskhand.arms.bus.feetech_setup import FeetechSetup
    from deskhand.arms.config import load_arm
    from deskhand.arms.feetech_unit import calibrate
    from deskhand.arms.ports import find_port
    from deskhand.commands.first_day import Terminal

    person = Terminal()
    bus = FeetechSetup(port or find_port(person, model.arm.name).path)
    bus.open()
    try:
        calibrate(model, bus, person, output, lerobot, save_lerobot)
    finally:
        bus.close()
    load_arm(str(output))
    person.say(f"written: {output}. Use it: deskhand up robot --arm {output} --driver feetech")
