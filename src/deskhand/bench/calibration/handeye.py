"""Hand-eye calibration of a simulated robot: rendered pictures of the board, joints that are not where they say, a camera that is not where it was meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.calibration.board import Board
from deskhand.calibration.handeye import HandEye, HandView, Mounting, calibrate
from deskhand.calibration.poses import Guess, Joints, default_board, held_board, lying_board, pose_set, scatter
from deskhand.cameras.config import CameraMount
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, make_transform, rotation_angle
from deskhand.sim.camera import RgbdRenderer, mounted
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import BoardSpec, CameraSpec, WorldSpec
from deskhand.skills.robot.local import Devices, LocalRobot, make_local_robot
from deskhand.trials.campaigns.campaign import Campaign, Case
from deskhand.types import Image

CAMERA_OFF = (0.02, np.radians(3.0))
"""How far the camera is from its nominal place [m], [rad]."""
BOARD_OFF = (0.008, np.radians(4.0))
"""The same of the board in the hand or on the desk."""


@dataclass(frozen=True)
class Rehearsal:
    """What came out: errors of the camera's pose [m], [rad], and the result."""

    seed: int
    shift: float
    turn: float
    result: HandEye


def moved(pose: Array, off: tuple[float, float], rng: np.random.Generator) -> Array:
    """``pose`` shifted and turned by random amounts of that size."""
    axis, way = rng.normal(size=3), rng.normal(size=3)
    turn = Rotation.from_rotvec(off[1] * axis / np.linalg.norm(axis)).as_matrix()
    return make_transform(turn @ pose[:3, :3], pose[:3, 3] + off[0] * way / np.linalg.norm(way))


class Bench:
    """A simulated arm with a camera and a board that are not quite where they were meant to be. Use as a context manager.

    ``camera``: a name in config/cameras or a file, by default that of the mounting; a board for a wrist camera lies on the desk, ``turned`` [rad] about the
    arm's base from straight before it.
    """

    def __init__(self, mounting: Mounting, seed: int, arm: str = "wx250s", board: Board | None = None, camera: str = "", turned: float = 0.0) -> None:
        config, self.mounting, self.rng = load_arm(arm), mounting, np.random.default_rng(seed)
        self.board = board or Board.parse(default_board(config, mounting))
        nominal = mounted(camera or mounting, config.name)
        on_desk = make_transform(None, [0, 0, 0.003]) @ lying_board(config, self.board, angle=turned)
        meant = held_board(self.board) if mounting == "fixed" else on_desk
        self.guess = Guess(mounting, nominal.world_T_camera, meant, nominal.link)
        self.camera = moved(nominal.world_T_camera, CAMERA_OFF, self.rng)
        if mounting == "fixed":
            placed = BoardSpec(self.board.name, moved(meant, BOARD_OFF, self.rng), "tcp")
        else:
            placed = BoardSpec(self.board.name, make_transform(meant[:3, :3], meant[:3, 3] + [*self.rng.normal(0, BOARD_OFF[0], 2), 0]))
        spec = CameraSpec(self.camera, link=nominal.link, frame_id=nominal.frame_id)
        self.simulation = Simulation(WorldSpec((), arm=arm, camera=spec, board=placed))
        self.model: RobotModel = self.simulation.built.robot
        self.renderer = RgbdRenderer(self.simulation)

    def __enter__(self) -> Bench:
        self.renderer.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.renderer.close()

    @contextmanager
    def robot(self) -> Iterator[LocalRobot]:
        """The same arm and camera as a robot that plans and moves, instead of being put from pose to pose."""
        simulation = self.simulation
        told = CameraMount(self.guess.link, self.renderer.camera.frame_id, self.guess.camera) if self.mounting == "wrist" else None
        devices = Devices(SimArm(simulation), SimGripper(simulation), SimCamera(simulation), SimClock(simulation), told)
        robot = make_local_robot(self.model.arm, devices)
        try:
            yield robot
        finally:
            robot.close()

    def picture(self, joints: Joints) -> Image:
        """The camera's picture with the arm at rest at ``joints``."""
        simulation = self.simulation
        for name, value in joints.items():
            simulation.data.qpos[simulation.built.qpos[name]] = value
        mujoco.mj_forward(simulation.model, simulation.data)
        return self.renderer.render().color

    def views(self, count: int, joint_noise: float) -> list[HandView]:
        """Pictures from a set of poses; the joints tell where they are with ``joint_noise`` [rad] of error."""
        poses = pose_set(self.model, self.guess, self.board, self.renderer.intrinsics, count, self.rng, lambda _: True)
        return [self.view(joints, joint_noise) for joints in poses]

    def view(self, joints: Joints, joint_noise: float) -> HandView:
        """One picture."""
        told = {name: value + self.rng.normal(0, joint_noise) for name, value in joints.items()}
        hand = self.model.forward(told)[self.guess.link or self.model.arm.tcp]
        return HandView(hand, self.board.find(self.picture(joints)), scatter(self.model, told, self.guess.link))

    def error(self, result: HandEye) -> tuple[float, float]:
        """[m], [rad] by which the result is off."""
        return float(np.linalg.norm((inverse(self.camera) @ result.camera)[:3, 3])), rotation_angle(self.camera, result.camera)


def rehearse(mounting: Mounting, seeds: Sequence[int], count: int = 20, joint_noise: float = np.radians(0.1), arm: str = "wx250s") -> list[Rehearsal]:
    """Calibrate once for each seed.

    Raises:
        DeskhandError: ``calibration_failed`` when a result is refused.
    """
    results = []
    for seed in seeds:
        with Bench(mounting, seed, arm) as bench:
            result = calibrate(bench.views(count, joint_noise), bench.board, bench.renderer.intrinsics, mounting)
            results.append(Rehearsal(seed, *bench.error(result), result))
    return results


def told(mounting: str, seed: int, pictures: int, noise_degrees: float, arm: str = "wx250s") -> dict[str, Any]:
    """One calibration as plain data: by how much it is off, what it says of itself (sigma), and why it was refused, if it was."""
    try:
        item = rehearse("wrist" if mounting == "wrist" else "fixed", [seed], pictures, float(np.radians(noise_degrees)), arm)[0]
    except DeskhandError as error:
        return {"seed": seed, **dict.fromkeys(("shift_mm", "turn_deg", "shift_sigma_mm", "turn_sigma_deg")), "refused": str(error)}
    shifts, turns = 1000 * np.array([item.shift, item.result.shift_sigma]), np.degrees([item.turn, item.result.turn_sigma])
    numbers = {"shift_mm": shifts[0], "turn_deg": turns[0], "shift_sigma_mm": shifts[1], "turn_sigma_deg": turns[1]}
    return {"seed": seed, **{name: round(float(value), 4) for name, value in numbers.items()}, "refused": ""}


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of the rows that were not refused: the worst and the root mean square of each error, and the share of them within twice the uncertainty that was told."""
    done = [row for row in rows if not row["refused"]]
    result: dict[str, Any] = {"calibrations": len(rows), "refused": len(rows) - len(done)}
    for name, unit in (("shift", "mm"), ("turn", "deg")) if done else ():
        errors, sigmas = (np.array([row[key] for row in done]) for key in (f"{name}_{unit}", f"{name}_sigma_{unit}"))
        result |= {f"{name}_worst_{unit}": float(errors.max()), f"{name}_rms_{unit}": round(float(np.sqrt(np.mean(errors**2))), 4)}
        result[f"{name}_within_2_sigma"] = float(np.mean(errors <= 2 * sigmas))
    return result


MOUNTINGS = ("fixed", "wrist")


def handeye_campaign(trials: int, seed: int, pictures: int, arm: str, joint_noise: float) -> Campaign:
    """A calibration of each mounting for each seed; ``joint_noise`` [degrees]."""
    settings = {"trials": trials, "seed": seed, "pictures": pictures, "arm": arm, "joint_noise": joint_noise}
    given = {"pictures": pictures, "arm": arm, "joint_noise": joint_noise}
    cases = [
        Case(f"{mounting}/seed_{number}", {**given, "mounting": mounting, "seed": number}) for mounting in MOUNTINGS for number in range(seed, seed + trials)
    ]
    return Campaign("bench handeye", settings, cases, run_one, summarise)


def run_one(case: Case) -> dict[str, Any]:
    """One calibration; see :func:`told`."""
    given = case.arguments
    return {"mounting": given["mounting"], **told(given["mounting"], given["seed"], given["pictures"], given["joint_noise"], given["arm"])}


def summarise(_settings: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """``{"mountings": {"fixed", "wrist": [{"seed", "shift_mm", …}]}, "summary": {"fixed", "wrist"}}``."""
    rows = {
        mounting: [{name: value for name, value in result.items() if name != "mounting"} for result in results if result["mounting"] == mounting]
        for mounting in MOUNTINGS
    }
    return {"mountings": rows, "summary": {mounting: summary(some) for mounting, some in rows.items()}}
