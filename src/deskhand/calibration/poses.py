"""Poses of the arm from which a board is seen well and that differ as much as can be: sampled in joint space, so that arms with any number of joints do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from deskhand.arms.model import RobotModel
from deskhand.calibration.board import Board
from deskhand.calibration.handeye import Mounting
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, transform_points
from deskhand.types import CameraIntrinsics

Joints = dict[str, float]
EDGE = 12  # [px] that the board keeps from the picture's edge, since where it is is only guessed
STEEPEST = np.cos(np.radians(52))  # between the board's normal and the line of sight
SMALLEST = 13.0  # [px] edge of a marker
LOWEST = 0.04  # [m] above the table: hand, board and camera
OF_RANGE = 0.9  # of each joint's range
TURN = 0.4  # [rad] of turn that count as much as 0.1 m of shift
SHIFT = 0.1  # [m]
MOST_SAMPLES = 40_000
BATCH = 500
ENOUGH = 12  # candidates for each pose that is wanted
DIFFERENCE = 1e-5  # [rad]
NEAR = 0.3  # [rad] around a pose that sees the board, where others are looked for


@dataclass(frozen=True)
class Guess:
    """What is believed before: ``camera`` (world_T_camera, or hand_T_camera of a wrist camera) and ``board`` (hand_T_board, or world_T_board)."""

    mounting: Mounting
    camera: Array
    board: Array

    def camera_T_board(self, world_T_hand: Array) -> Array:
        """Where the board is seen from with the hand there."""
        move = world_T_hand if self.mounting == "fixed" else inverse(world_T_hand)
        return np.asarray(inverse(self.camera) @ move @ self.board)


def held_board(board: Board) -> Array:
    """hand_T_board of a board that the fingers hold by the middle of its lower edge, face towards -y of the hand."""
    width, height = board.size
    rotation = np.column_stack([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, [-width / 2, 0.0, height]
    return pose


def pose_set(
    model: RobotModel,
    guess: Guess,
    board: Board,
    intrinsics: CameraIntrinsics,
    count: int,
    rng: np.random.Generator,
    free: Callable[[Joints], bool],
    known: Sequence[Array] = (),
) -> list[Joints]:
    """Up to ``count`` poses, in an order of short ways.

    Args:
        model: of the arm.
        guess: where camera and board are.
        board: that is looked at.
        intrinsics: of the camera.
        count: wanted.
        rng: source of the samples.
        free: whether the arm may stand so (collisions).
        known: world_T_hand of pictures that there are already, from which the new ones shall differ.

    Raises:
        DeskhandError: ``calibration_failed`` when the board would be seen from no pose, by the guess.
    """
    candidates = _candidates(model, guess, board, intrinsics, count * ENOUGH, rng)
    if not candidates:
        raise DeskhandError(
            "calibration_failed",
            "by what is known of the camera's place, the arm has no pose from which the board is seen.",
            hint="Is the nominal camera file roughly right, the board within reach and view, its size in squares right?",
        )
    features = np.array([_feature(model.tcp_pose(joints)) for joints in candidates])
    chosen: list[Joints] = []
    distance = np.full(len(candidates), 10.0)
    for pose in known:
        distance = np.minimum(distance, np.linalg.norm(features - _feature(pose), axis=1))
    while len(chosen) < count and distance.max() > 0:
        place = int(np.argmax(distance))
        if free(candidates[place]):
            chosen.append(candidates[place])
            distance = np.minimum(distance, np.linalg.norm(features - features[place], axis=1))
        distance[place] = 0.0
    return _short_way(chosen)


def _feature(world_T_hand: Array) -> Array:
    """Nine numbers whose distances are those of turns and shifts."""
    return np.concatenate([world_T_hand[:3, :3].ravel() / (np.sqrt(2) * TURN), world_T_hand[:3, 3] / SHIFT])


def _candidates(model: RobotModel, guess: Guess, board: Board, k: CameraIntrinsics, wanted: int, rng: np.random.Generator) -> list[Joints]:
    limits = np.array([model.limits[name][:2] for name in model.arm.joints])
    middle, half = limits.mean(axis=1), OF_RANGE * np.minimum(np.diff(limits, axis=1)[:, 0] / 2, np.pi)
    found: list[Array] = []
    for _ in range(MOST_SAMPLES // BATCH):
        if len(found) >= wanted:
            break
        samples = middle + half * rng.uniform(-1, 1, (BATCH, len(middle)))
        if found:  # most of them near those that do
            near = np.array(found)[rng.integers(len(found), size=BATCH * 2 // 3)]
            samples[: len(near)] = np.clip(near + rng.normal(0, NEAR, near.shape), middle - half, middle + half)
        hands = tcp_poses(model, samples)
        found += [sample for sample, hand in zip(samples, hands, strict=True) if _sees(hand, guess, board, k)]
    return [model.arm_joints(sample) for sample in found]


def tcp_poses(model: RobotModel, samples: Array) -> Array:
    """world_T_tcp (N, 4, 4) of joint vectors (N, n) in the order of the arm's configuration, all at once."""
    above = {joint.child: joint for joint in model.joints.values()}
    chain, link = [], model.arm.tcp
    while link in above:
        chain.append(above[link])
        link = above[link].parent
    poses = np.tile(np.eye(4), (len(samples), 1, 1))
    for joint in reversed(chain):
        poses = poses @ joint.origin
        if joint.name in model.arm.joints:
            motion = np.tile(np.eye(4), (len(samples), 1, 1))
            motion[:, :3, :3] = Rotation.from_rotvec(samples[:, [model.arm.joints.index(joint.name)]] * joint.axis).as_matrix()
            poses = poses @ motion
    return poses


def scatter(model: RobotModel, joints: Mapping[str, float]) -> Array:
    """(6, 6) covariance of the tcp's pose (rotation vector, shift; in its own frame) when each joint of the arm scatters by 1 rad: J J^T, by differences."""
    names = model.arm.joints
    at = np.array([joints[name] for name in names])
    poses = inverse(tcp_poses(model, at[None])[0]) @ tcp_poses(model, at + DIFFERENCE * np.eye(len(names)))
    jacobian = np.column_stack([Rotation.from_matrix(poses[:, :3, :3]).as_rotvec(), poses[:, :3, 3]]).T / DIFFERENCE
    return np.asarray(jacobian @ jacobian.T)


def _sees(hand: Array, guess: Guess, board: Board, k: CameraIntrinsics) -> bool:
    if hand[2, 3] < LOWEST:
        return False
    carried = hand @ (guess.board if guess.mounting == "fixed" else guess.camera)
    lowest = float(transform_points(carried, board.outline)[:, 2].min()) if guess.mounting == "fixed" else float(carried[2, 3])
    return lowest > LOWEST and well_seen(guess.camera_T_board(hand), board, k)


def well_seen(camera_T_board: Array, board: Board, k: CameraIntrinsics) -> bool:
    """Whether the whole board is in the picture, large enough and not too oblique."""
    outline = transform_points(camera_T_board, board.outline)
    middle = outline.mean(axis=0)
    if outline[:, 2].min() < 0.1 or camera_T_board[:3, 2] @ middle < STEEPEST * np.linalg.norm(middle):
        return False
    if k.fx * board.marker / outline[:, 2].max() < SMALLEST:
        return False
    u, v = k.fx * outline[:, 0] / outline[:, 2] + k.cx, k.fy * outline[:, 1] / outline[:, 2] + k.cy
    return bool(u.min() > EDGE and v.min() > EDGE and u.max() < k.width - EDGE and v.max() < k.height - EDGE)


def _short_way(poses: list[Joints]) -> list[Joints]:
    """The same, each next to the one before."""
    rest = list(poses)
    ordered: list[Joints] = []
    while rest:
        place = 0 if not ordered else int(np.argmin([_travel(ordered[-1], other) for other in rest]))
        ordered.append(rest.pop(place))
    return ordered


def _travel(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    return max(abs(a[name] - b[name]) for name in a)
