"""Poses of the arm from which a board is seen well and that differ as much as can be: sampled in joint space, so that arms with any number of joints do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.calibration.board import Board
from deskhand.calibration.handeye import Mounting
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, make_transform
from deskhand.types import CameraIntrinsics

Joints = dict[str, float]
EDGE = 12  # [px] that the board keeps from the picture's edge, since where it is is only guessed
STEEPEST = np.cos(np.radians(52))  # between the board's normal and the line of sight
SMALLEST = 13.0  # [px] edge of a marker
LOWEST = 0.04  # [m] above the table: hand, board and camera
NEAREST = 0.1  # [m] from the camera
OF_RANGE = 0.9  # of each joint's range
TURN = 0.4  # [rad] of turn that count as much as 0.1 m of shift
SHIFT = 0.1  # [m]
MOST_SAMPLES = 40_000
BATCH = 500
ENOUGH = 12  # candidates for each pose that is wanted
DIFFERENCE = 1e-5  # [rad]
NEAR = 0.3  # [rad] around a pose that sees the board, where others are looked for
SMALL_ARM = 0.5  # [m] of reach below which a wrist camera does not get far enough from the large board
REASONS = (
    f"the gripper or what it carries is less than {100 * LOWEST:.0f} cm above the desk",
    "the camera looks elsewhere, or at the board too obliquely",
    f"the board is nearer to the camera than {100 * NEAREST:.0f} cm",
    "the board is so far that its markers are too small",
    "a part of the board is outside the picture",
)
SEEN = len(REASONS)
BOARD, SMALL_BOARD = "5x7@35/26mm", "5x7@20/15mm"


@dataclass(frozen=True)
class Guess:
    """What is believed before: ``camera`` (world_T_camera, or hand_T_camera of a wrist camera) and ``board`` (hand_T_board, or world_T_board).

    The gripper is the ``link`` that carries the board or the wrist camera; empty: the tcp.
    """

    mounting: Mounting
    camera: Array
    board: Array
    link: str = ""

    def camera_T_board(self, world_T_hand: Array) -> Array:
        """Where the board is seen from with the gripper there: (..., 4, 4) of as many poses of it."""
        move = world_T_hand if self.mounting == "fixed" else np.linalg.inv(world_T_hand)
        return np.asarray(inverse(self.camera) @ move @ self.board)


def default_board(arm: ArmConfig, mounting: Mounting) -> str:
    """Name of the board that suits: a wrist camera of a small arm sees all of a small one only."""
    return SMALL_BOARD if mounting == "wrist" and arm.reach < SMALL_ARM else BOARD


def lying_board(arm: ArmConfig, board: Board, radius: float | None = None, angle: float = 0.0) -> Array:
    """world_T_board of a board flat on the desk with its middle at ``radius`` [m] (default: the middle of where the arm works) and ``angle`` [rad] from it."""
    width, height = board.size
    reach = float(np.mean(arm.work_radius)) if radius is None else radius
    x, y = arm.world_T_base[:2, :2] @ [reach * np.cos(angle), reach * np.sin(angle)] + arm.world_T_base[:2, 3]
    return make_transform(np.diag([1.0, -1.0, -1.0]), [x - width / 2, y + height / 2, 0.0])


def lying_places(arm: ArmConfig, board: Board) -> list[Array]:
    """world_T_board of the places where a board is looked for, the likeliest first."""
    least, most = arm.work_radius
    radii = (float(np.mean(arm.work_radius)), most, most + 0.5 * (most - least))
    return [lying_board(arm, board, radius, np.radians(turn)) for turn in (0, 30, -30, 60, -60) for radius in radii]


def held_board(board: Board) -> Array:
    """hand_T_board of a board that the fingers hold by the middle of its lower edge, face towards -y of the gripper."""
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
    candidates, reasons = _candidates(model, guess, board, intrinsics, count * ENOUGH, rng)
    if not candidates:
        raise _no_room(guess, board, reasons)
    features = np.array([_feature(pose) for pose in link_poses(model, np.array([list(joints.values()) for joints in candidates]), guess.link)])
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


def _no_room(guess: Guess, board: Board, reasons: Mapping[str, int]) -> DeskhandError:
    """Why no pose sees the board: what was wrong with the poses that were tried."""
    total = max(sum(reasons.values()), 1)
    shares = [f"{reason} in {100 * count / total:.0f} %" for reason, count in sorted(reasons.items(), key=lambda item: -item[1])]
    smaller = f" A smaller board needs less room: --board {SMALL_BOARD}." if guess.mounting == "wrist" and board.square > 0.021 else ""
    return DeskhandError(
        "calibration_failed",
        f"by what is known of the camera's place, the arm has no pose from which the board is seen: of {total} poses, {', '.join(shares)}.",
        hint=f"Is the nominal camera file roughly right, the board within reach and view, its size in squares right?{smaller}",
    )


def _candidates(
    model: RobotModel, guess: Guess, board: Board, k: CameraIntrinsics, wanted: int, rng: np.random.Generator
) -> tuple[list[Joints], dict[str, int]]:
    """Poses from which the board is seen, and why others were none."""
    limits = np.array([model.limits[name][:2] for name in model.arm.joints])
    middle, half = limits.mean(axis=1), OF_RANGE * np.minimum(np.diff(limits, axis=1)[:, 0] / 2, np.pi)
    found: list[Array] = []
    reasons: dict[str, int] = {}
    for _ in range(MOST_SAMPLES // BATCH):
        if len(found) >= wanted:
            break
        samples = middle + half * rng.uniform(-1, 1, (BATCH, len(middle)))
        if found:  # most of them near those that do
            near = np.array(found)[rng.integers(len(found), size=BATCH * 2 // 3)]
            samples[: len(near)] = np.clip(near + rng.normal(0, NEAR, near.shape), middle - half, middle + half)
        tips, hands = link_poses(model, samples), link_poses(model, samples, guess.link)
        why = _unseen(tips, hands, guess, board, k)
        found += list(samples[why == SEEN])
        for number in np.unique(why[why != SEEN]):
            reasons[REASONS[number]] = reasons.get(REASONS[number], 0) + int(np.sum(why == number))
    return [model.arm_joints(sample) for sample in found], reasons


def link_poses(model: RobotModel, samples: Array, link: str = "") -> Array:
    """world_T_link (N, 4, 4), of the tcp where ``link`` is empty, of joint vectors (N, n) in the order of the arm's configuration, all at once."""
    link = link or model.arm.tcp
    return model.forward_all(samples, (link,))[link]


def scatter(model: RobotModel, joints: Mapping[str, float], link: str = "") -> Array:
    """(6, 6) covariance of the pose of ``link`` (empty: the tcp) when each joint of the arm scatters by 1 rad: J J^T, by differences.

    Rotation vector, shift; in the link's own frame.
    """
    names = model.arm.joints
    at = np.array([joints[name] for name in names])
    poses = inverse(link_poses(model, at[None], link)[0]) @ link_poses(model, at + DIFFERENCE * np.eye(len(names)), link)
    jacobian = np.column_stack([Rotation.from_matrix(poses[:, :3, :3]).as_rotvec(), poses[:, :3, 3]]).T / DIFFERENCE
    return np.asarray(jacobian @ jacobian.T)


def _unseen(tips: Array, hands: Array, guess: Guess, board: Board, k: CameraIntrinsics) -> Array:
    """Of tcp and gripper at these poses (N, 4, 4): which of ``REASONS`` why the board is not seen (N,), or ``SEEN``."""
    carried = hands @ (guess.board if guess.mounting == "fixed" else guess.camera)
    lowest = (_moved(carried, board.outline)[..., 2].min(axis=1)) if guess.mounting == "fixed" else carried[:, 2, 3]
    return np.where(np.minimum(tips[:, 2, 3], lowest) < LOWEST, 0, _badly_seen(guess.camera_T_board(hands), board, k))


def _badly_seen(camera_T_board: Array, board: Board, k: CameraIntrinsics) -> Array:
    """The first of ``REASONS`` why each of the poses (N, 4, 4) is no good view of the board (N,), or ``SEEN``."""
    outline = _moved(camera_T_board, board.outline)
    middle, depth = outline.mean(axis=1), outline[..., 2]
    facing = np.einsum("ni,ni->n", camera_T_board[:, :3, 2], middle)
    with np.errstate(divide="ignore", invalid="ignore"):  # what is behind the camera has its reason before
        u, v = k.fx * outline[..., 0] / depth + k.cx, k.fy * outline[..., 1] / depth + k.cy
        small = k.fx * board.marker / depth.max(axis=1) < SMALLEST
    inside = (u.min(axis=1) > EDGE) & (v.min(axis=1) > EDGE) & (u.max(axis=1) < k.width - EDGE) & (v.max(axis=1) < k.height - EDGE)
    oblique = (middle[:, 2] < 0) | (facing < STEEPEST * np.linalg.norm(middle, axis=1))
    return np.select([oblique, depth.min(axis=1) < NEAREST, small, ~inside], [1, 2, 3, 4], SEEN)


def _moved(poses: Array, points: Array) -> Array:
    """Points (M, 3) at each of the poses (N, 4, 4): (N, M, 3)."""
    return np.asarray(points @ poses[:, :3, :3].transpose(0, 2, 1) + poses[:, None, :3, 3])


def badly_seen(camera_T_board: Array, board: Board, k: CameraIntrinsics) -> str:
    """Why this is no good view of the board, or empty: all of it is in the picture, large enough and not too oblique."""
    why = int(_badly_seen(camera_T_board[None], board, k)[0])
    return "" if why == SEEN else REASONS[why]


def well_seen(camera_T_board: Array, board: Board, k: CameraIntrinsics) -> bool:
    """Whether the whole board is in the picture, large enough and not too oblique."""
    return not badly_seen(camera_T_board, board, k)


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
