"""Draws grasps into the pictures of an episode."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.arms.gripper import GripperConfig
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array, transform_points
from deskhand.recording.episode.reader import Episode
from deskhand.recording.episode.timeline import Call
from deskhand.types import Frame, Image

RESTING = 0.05
"""[rad] within which an arm counts as where it was."""
CLOSING = -0.004
"""A pad that moves faster inwards is closing [m/s]."""
DONE, FAILED = (20, 220, 120), (255, 70, 60)


@dataclass(frozen=True)
class ExecutedGrasp:
    """Where the hand was when its fingers began to close during a call; ``width`` [m] between the pads before."""

    stamp: float
    call_id: str
    world_T_tcp: Array
    width: float
    held: bool


def executed_grasps(episode: Episode, calls: list[Call], arm: ArmConfig) -> list[ExecutedGrasp]:
    """Grasps that were really made, from the recorded joints: the hand's pose each time that the fingers close while a pick runs."""
    picks = [call for call in calls if call.tool in ("pick", "close_gripper")]
    model = RobotModel.load(arm)
    grasps: list[ExecutedGrasp] = []
    for call in picks:
        closings = [closing for closing in _closings(episode, call, arm.gripper) if call.tool != "pick" or _at_work(closing[1], episode, call, arm)]
        for index, (stamp, positions, width) in enumerate(closings):
            pose = np.asarray(model.forward(positions)[arm.tcp])
            grasps.append(ExecutedGrasp(stamp, call.id, pose, width, call.ok and index == len(closings) - 1))
    return grasps


def _closings(episode: Episode, call: Call, gripper: GripperConfig) -> list[tuple[float, dict[str, float], float]]:
    """(time, joints, width before) at the start of each stretch in which the driven finger moves inwards."""
    found: list[tuple[float, dict[str, float], float]] = []
    before: tuple[float, float] | None = None
    closing = False
    for stamp, message in episode.joints:
        if gripper.joint not in message.name or not call.sim_started <= stamp <= call.sim_ended:
            continue
        position = float(message.position[list(message.name).index(gripper.joint)])
        if before is not None and stamp > before[0]:
            moves_in = gripper.lever * (position - before[1]) / (stamp - before[0]) < CLOSING
            if moves_in and not closing:
                found.append((stamp, dict(zip(message.name, map(float, message.position), strict=True)), gripper.width_of(before[1])))
            closing = moves_in
        before = (stamp, position)
    return found


def _at_work(positions: dict[str, float], episode: Episode, call: Call, arm: ArmConfig) -> bool:
    """False where a pick only sets the fingers to the width it needs, before it has left its start or home."""
    began = next((message for stamp, message in episode.joints if stamp >= call.sim_started), None)
    resting = [dict(zip(arm.joints, arm.named_poses["home"], strict=True))] if "home" in arm.named_poses else []
    if began is not None:
        resting.append(dict(zip(began.name, map(float, began.position), strict=True)))
    return all(max(abs(positions[name] - pose[name]) for name in arm.joints) > RESTING for pose in resting)


def hand_outline(gripper: GripperConfig, width: float) -> list[Array]:
    """Lines (N, 3) [m] in the tcp frame: both fingers from palm to tip, the palm between them, and the wrist's axis."""
    back = gripper.finger_depth - gripper.finger_length
    low, high = gripper.finger_line(width)
    return [np.array([low[1], low[0], high[0], high[1]], float), np.array([[0, 0, back], [0, 0, back - 0.04]], float)]


def draw_grasp(image: Image, camera: Frame, grasp: ExecutedGrasp, gripper: GripperConfig) -> Image:
    """A copy of ``image`` with the hand's outline."""
    canvas = np.ascontiguousarray(image)
    colour = DONE if grasp.held else FAILED
    for line in hand_outline(gripper, grasp.width):
        pixels = camera.project(transform_points(grasp.world_T_tcp, line))
        if not np.all(np.isfinite(pixels)):
            continue
        points = [np.round(pixels).astype(np.int32)]
        cv2.polylines(canvas, points, False, (10, 10, 10), 6, cv2.LINE_AA)
        cv2.polylines(canvas, points, False, colour, 3, cv2.LINE_AA)
    return np.asarray(canvas, np.uint8)
