"""How one emulated unit really is: drawn from a seed, kept in files that the robot's nodes never see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.bench.calibration.handeye import moved
from deskhand.bringup.first_day.pick import ANGLES
from deskhand.calibration.board import Board
from deskhand.calibration.poses import default_board, held_board, lying_board
from deskhand.cameras.config import load_camera
from deskhand.geometry import Array, make_transform, transform_points
from deskhand.sim.camera import mounted
from deskhand.sim.spec import BoardSpec, CameraSpec, ObjectSpec, WorldSpec, pose_at
from deskhand.sim.worldfile import save_world

OFFSET = 3.0  # [degrees] by which a joint's zero is off, at most
LENGTH = 0.002  # [m] by which a link is longer or shorter, at most
OPENING = 0.06  # share by which the gripper opens less, at most
PLAY: Mapping[str, float] = {"hiwonder_rrc": 1.5, "lx16a": 1.5, "feetech": 1.0, "dynamixel": 0.25}
"""[degrees] of the servos of each bus, at most; at least half of it (sources: arms/emulate/reality.py)."""
CAMERA_OFF = (0.02, np.radians(3.0))
"""How far the camera is from its nominal place [m], [rad]."""
BOARD_OFF = 0.008  # [m] by which the board lies or is held elsewhere
BESIDE = 0.008  # [m] by which the block lies beside where it was proposed, each way
BLOCK, TRAY = (0.03, 0.03, 0.03), (0.13, 0.13, 0.03)
"""[m]"""
PAPER = 0.003  # [m] height of a board that lies on the desk
HEIGHT = 0.002  # [m] above the desk, so that nothing overlaps at the start


@dataclass
class Unit:
    """One arm, its camera and its desk.

    Args:
        arm: name in config/arms.
        folder: for its files.
        seed: of everything that is drawn.
    """

    arm: str
    folder: Path
    seed: int = 0
    found: dict[str, Any] = field(default_factory=dict)
    """What else the truth's file says in its driver section: what the servos tell since the person set them up."""

    def _draw(self, what: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, what])

    @cached_property
    def nominal(self) -> ArmConfig:
        """As config/arms says it."""
        return load_arm(self.arm)

    @cached_property
    def data(self) -> dict[str, Any]:
        """What differs, as an arm file has it."""
        rng, arm = self._draw(1), self.nominal
        offsets = rng.uniform(-OFFSET, OFFSET, len(arm.joints))
        data: dict[str, Any] = {"extends": self.arm, "driver": {"servos": {}}}
        for joint, offset in zip(arm.joints, offsets, strict=True):
            data["driver"]["servos"][joint] = {"offset": round(float(offset), 3)}
        if arm.geometry:
            fixed = ("riser",)
            data["geometry"] = {k: round(v + (0.0 if k in fixed else float(rng.uniform(-LENGTH, LENGTH))), 4) for k, v in arm.geometry.items()}
        if arm.driver.kinds[0] == "feetech":  # what its servos tell is drawn with its box of parts
            data["driver"] = {}
        elif arm.driver.gripper is not None:
            share = 1 - float(rng.uniform(0, OPENING))
            data["driver"]["gripper"] = {"table": [[ticks, round(width * share, 5)] for ticks, width in arm.driver.gripper.table]}
        return data

    @property
    def file(self) -> Path:
        """The arm's file of the truth, written anew."""
        path, data = self.folder / "truth.yaml", {**self.data, "driver": {**self.data["driver"], **self.found}}
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "# How the emulated unit really is: for the simulation alone.\n" + yaml.safe_dump(data, sort_keys=False)
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)
        return path

    @property
    def truth(self) -> ArmConfig:
        """How the arm really is."""
        return load_arm(str(self.file))

    @cached_property
    def plays(self) -> dict[str, float]:
        """By joint [rad], the whole play between its servo's encoder and its link."""
        rng, most = self._draw(6), PLAY[self.nominal.driver.kinds[0]]
        return {joint: float(np.radians(most * rng.uniform(0.5, 1.0))) for joint in self.nominal.joints}

    @property
    def servo_file(self) -> Path:
        """What is wrong with the servos (arms/emulate/reality.py), written anew."""
        path = self.folder / "servos.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        plays = {self.nominal.driver.servos[joint].id: round(float(np.degrees(play)), 4) for joint, play in self.plays.items()}
        path.write_text("# What is wrong with the emulated servos: for the simulation alone.\n" + yaml.safe_dump({"plays": plays}))
        return path

    # ------------------------------------------------------------ the desk

    def camera(self, mount_file: str) -> CameraSpec:
        """Where the camera really is, which by ``mount_file`` is meant to be there."""
        nominal = mounted(mount_file, self.nominal.name)
        off = moved(nominal.world_T_camera, CAMERA_OFF, self._draw(2))
        return CameraSpec(off, link=nominal.link, frame_id=nominal.frame_id)

    def place(self, angle: float) -> Array:
        """A place (2,) [m, world] in easy reach, ``angle`` [rad] to the left of straight ahead of the base."""
        radius = float(np.mean(self.nominal.work_radius))
        return np.asarray(transform_points(self.nominal.world_T_base, [radius * np.cos(angle), radius * np.sin(angle), 0.0])[:2])

    @cached_property
    def objects(self) -> tuple[ObjectSpec, ...]:
        """The block and the tray of the first pick."""
        rng = self._draw(3)
        block, tray = (self.place(angle) + rng.uniform(-BESIDE, BESIDE, 2) for angle in ANGLES)
        yaw = float(rng.uniform(-0.4, 0.4))
        return (
            ObjectSpec("block", "block", BLOCK, (0.80, 0.10, 0.10), 0.02, pose_at(block[0], block[1], BLOCK[2] / 2 + HEIGHT, yaw)),
            ObjectSpec("tray", "tray", TRAY, (0.55, 0.57, 0.60), 0.2, pose_at(tray[0], tray[1], TRAY[2] / 2 + HEIGHT, float(ANGLES[1]))),
        )

    def scene(self, mount_file: str, work: bool) -> Path:
        """Scene file: the desk with block and tray, or with the calibration's board and nothing else."""
        camera = self.camera(mount_file)
        board = None if work else self._board(mount_file)
        world = WorldSpec(self.objects if work else (), arm=str(self.file), camera=camera, seed=self.seed, board=board)
        path = self.folder / f"{'work' if work else 'calibration'}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        save_world(world, path)
        return path

    def _board(self, mount_file: str) -> BoardSpec:
        """In the fingers before a fixed camera, on the desk before one that the arm carries."""
        rng, fixed = self._draw(4), load_camera(mount_file).parent == "world"
        board = Board.parse(default_board(self.nominal, "fixed" if fixed else "wrist"))
        if fixed:
            return BoardSpec(board.name, moved(held_board(board), (BOARD_OFF, np.radians(4.0)), rng), self.nominal.tcp)
        beside = [*rng.normal(0, BOARD_OFF, 2), PAPER]
        return BoardSpec(board.name, make_transform(None, beside) @ lying_board(self.nominal, board))
