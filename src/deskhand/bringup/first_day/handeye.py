"""Where the camera is (`deskhand calibrate handeye`), and a fixed one levelled to the desk (`deskhand calibrate table`)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.bringup.first_day.base import Day
from deskhand.bringup.first_day.camera import calibrated, nominal, observed, robot_before_calibration
from deskhand.calibration.board import Board
from deskhand.calibration.drift import levelled
from deskhand.calibration.handeye import Mounting
from deskhand.calibration.poses import Guess, default_board, held_board
from deskhand.calibration.session import Session
from deskhand.cameras.config import load_camera, save_camera
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, identity, rotation_angle
from deskhand.types import MotionGoal, PlanOptions

PICTURES = 25
SLOW = 0.3  # of the speed limits
LEVEL_PICTURES = 10


def run(day: Day) -> Mapping[str, Any]:
    """The arm moves from pose to pose, a picture of the board at each; writes camera.yaml.

    Raises:
        DeskhandError: ``cancelled`` without the person's yes; ``calibration_failed`` with what to do; what else moving raises.
    """
    operator, mount, model = day.operator, load_camera(nominal(day)), RobotModel.load(load_arm(day.unit))
    mounting: Mounting = "wrist" if model.moves(mount.parent) else "fixed"
    board = Board.parse(default_board(model.arm, mounting))
    _print_board(day, board)
    pictures = round(operator.number("handeye.pictures", "how many pictures (12 at least)", float(PICTURES)))
    if not operator.confirm("handeye.start", f"The arm will MOVE through about {pictures} poses, slowly. Is the desk clear, and the stop within reach?"):
        raise DeskhandError("cancelled", "nothing was moved.", hint="Clear the desk, and run again.")
    if mounting == "wrist":
        operator.act("handeye.board", "Lay the board flat on the desk, in the middle of what the camera sees; it must not move any more.")
    robot = robot_before_calibration(day)
    guess = Guess(mounting, mount.pose, held_board(board) if mounting == "fixed" else identity(), mount.parent if mounting == "wrist" else "")
    session = Session(robot, model, board, guess, lambda text: operator.say(f"    {text}"), lambda text: operator.act("handeye.board", text))
    result, _ = session.run(pictures)
    operator.say(f"    {result.words()}")
    _go_home(day, held=mounting == "fixed")
    notes = {"method": "handeye", "date": time.strftime("%Y-%m-%d %H:%M"), **result.notes()}
    save_camera(replace(mount, pose=result.camera, calibration=notes), day.camera_file)
    return {**result.notes(), **_moved(mount.pose, result.camera)}


def _print_board(day: Day, board: Board) -> None:
    from deskhand.calibration.printable import write_pdf

    page = day.folder / "board.pdf"
    write_pdf(board, page, "A4")
    day.operator.act(
        "handeye.print",
        f"Print {page} at 100 %, and glue it on something flat and stiff. The line below the board must be 100 mm long: measure it. Is it ready?",
    )


def _go_home(day: Day, held: bool) -> None:
    """Back to the resting pose, and the board out of the way."""
    robot = robot_before_calibration(day)
    plan = robot.plan_motion(MotionGoal(named="home"), PlanOptions(speed_scale=SLOW))
    report = robot.execute(plan.id)
    if not report.ok:
        raise DeskhandError(report.code, f"the arm did not get back to its resting pose: {report.message}")
    if held:
        day.operator.act("handeye.take", "Hold the board: the fingers will open and let go of it. Ready?")
        robot.gripper(load_arm(day.unit).gripper.width_max)
    day.operator.act("handeye.away", "Take the board away, and everything else off the desk.")


def table(day: Day) -> Mapping[str, Any]:
    """The empty desk is world z = 0: tilt and height of a fixed camera are set to that. Nothing moves.

    Raises:
        DeskhandError: ``no_table``, ``calibration_failed`` when pictures differ.
    """
    mount = load_camera(calibrated(day))
    robot = robot_before_calibration(day)
    frames = [replace(observed(robot), world_T_camera=_camera_pose(day, mount.parent, mount.pose)) for _ in range(LEVEL_PICTURES)]
    frame, spread, tilts = levelled(frames)
    told = {"spread_mm": round(1000 * spread, 2), "tilts_deg": round(float(np.degrees(tilts)), 3)}
    told |= _moved(frames[-1].world_T_camera, frame.world_T_camera)
    if mount.parent != "world":
        return {**told, "used": "check only: the arm carries the camera"}
    known = {**mount.calibration, "levelled": time.strftime("%Y-%m-%d %H:%M")}
    save_camera(replace(mount, pose=frame.world_T_camera, calibration=known), day.camera_file)
    return told


def _camera_pose(day: Day, parent: str, pose: Array) -> Array:
    """world_T_camera of the calibrated camera, where the arm stands now."""
    if parent == "world":
        return pose
    model, robot = RobotModel.load(load_arm(day.unit)), robot_before_calibration(day)
    state = robot.joint_state()
    return np.asarray(model.forward(dict(zip(state.names, map(float, state.positions), strict=True)))[parent] @ pose)


def _moved(before: Array, after: Array) -> dict[str, float]:
    """By how much the camera is elsewhere than the file had it."""
    shift = float(np.linalg.norm(before[:3, 3] - after[:3, 3]))
    return {"moved_mm": round(1000 * shift, 1), "moved_deg": round(float(np.degrees(rotation_angle(before, after))), 2)}
