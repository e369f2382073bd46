"""Where to look from: with the camera on the arm the reachable views that show most of what is hidden; else the arm out of the picture."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.cameras.config import CameraMount
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.perception.self_filter import robot_points
from deskhand.perception.track.coverage import Coverage, Space
from deskhand.types import CameraIntrinsics, Frame, JointState, MotionGoal, Scene, SceneObject

if TYPE_CHECKING:
    from deskhand.skills.base import SkillContext

log = logging.getLogger(__name__)

SAMPLES = 6000  # arm poses that are drawn
VIEWS = 160  # of them that look at the desk, kept
LOWEST = 0.13  # [m] of the camera over the desk
STEEP = 0.35  # downward part of the viewing direction, at least
WORTH = 0.04  # share of the space over the desk that another view must show
TRAVEL = 0.01  # share that a radian of travel must be made up for with
TRIES = 8  # views that are asked of the planner, best first
DOUBTS = 2  # objects that are looked at once more
DOUBTFUL = 0.75  # confidence below which an object is: of four such at least one is none, a piece or several
AROUND = 0.06  # [m] around such an object
PITCH, HEIGHTS = 0.03, (0.02, 0.10)  # [m] of places on the desk and over it that an arm may hide
SAME = 0.03  # [m] that an object may seem to move from view to view


@dataclass(frozen=True)
class View:
    """An arm pose and the camera's pose in it."""

    joints: Array
    world_T_camera: Array


@lru_cache(maxsize=8)
def _views(arm_name: str, link: str, pose: bytes) -> tuple[View, ...]:
    model = RobotModel.load(arm_name)
    return tuple(reachable_views(model, link, np.frombuffer(pose).reshape(4, 4)))


def seen_views(arm: ArmConfig, mount: CameraMount) -> tuple[View, ...]:
    """The views that a camera on the arm may take; see :func:`reachable_views`."""
    return _views(str(arm.name), mount.parent, np.ascontiguousarray(mount.pose, dtype=float).tobytes())


def reachable_views(model: RobotModel, link: str, link_T_camera: Array) -> list[View]:
    """Arm poses within the joints' limits whose camera looks down at where the arm works. The draw is the same every time."""
    arm, random = model.arm, np.random.default_rng(1)
    limits = np.array([model.limits[name][:2] for name in arm.joints])
    limits = np.clip(limits, -np.pi, np.pi)
    joints = random.uniform(limits[:, 0], limits[:, 1], (SAMPLES, len(arm.joints)))
    cameras = _forward(model, link, joints) @ link_T_camera
    eyes, ways = cameras[:, :3, 3], cameras[:, :3, 2]
    good = (eyes[:, 2] > LOWEST) & (ways[:, 2] < -STEEP)
    hit = eyes[:, :2] - ways[:, :2] * (eyes[:, 2] / np.minimum(ways[:, 2], -1e-3))[:, None]
    out = np.linalg.norm(hit - arm.world_T_base[:2, 3], axis=1)
    good &= (out > arm.work_radius[0] - 0.05) & (out < arm.work_radius[1] + 0.05) & (hit[:, 0] > arm.world_T_base[0, 3])
    return [View(joints[index], cameras[index]) for index in np.nonzero(good)[0][:VIEWS]]


def _forward(model: RobotModel, link: str, joints: Array) -> Array:
    """world_T_link (N, 4, 4) for joint vectors (N, n); joints that are not the arm's stand at 0."""
    above = {joint.child: joint for joint in model.joints.values()}
    chain = []
    while link in above:
        chain.append(above[link])
        link = above[link].parent
    pose = np.broadcast_to(np.eye(4), (len(joints), 4, 4))
    for joint in reversed(chain):
        motion = np.broadcast_to(joint.motion(0.0), (len(joints), 4, 4)).copy()
        if joint.name in model.arm.joints:
            angles = joints[:, model.arm.joints.index(joint.name)]
            motion[:, :3, :3] = joint.origin[:3, :3] @ Rotation.from_rotvec(angles[:, None] * joint.axis).as_matrix()
        pose = pose @ motion
    return pose


# ------------------------------------------------------------ the camera on the arm


def look_around(ctx: SkillContext, mount: CameraMount, most: int, coverage: Coverage) -> tuple[Scene, Frame, int]:
    """Up to ``most`` looks from where they show most of what ``coverage`` lacks, then one at each of the :data:`DOUBTS` most :func:`doubtful` objects,
    where that shows more of it, made into one scene; it, the last picture and the number of looks.

    Raises:
        DeskhandError: ``no_ik_solution`` when no view can be reached, and what looking and moving raise.
    """
    views: list[tuple[Scene, Frame]] = []
    intrinsics: CameraIntrinsics = ctx.robot.observe().intrinsics

    def see() -> None:
        ctx.check()
        with ctx.timed("perception"):
            scene = ctx.robot.detect_objects(add=bool(views))
            frame = ctx.robot.observe()
        views.append((scene, frame))
        coverage.look(frame, scene.cloud)
        log.info("view %d: %d objects, %.0f %% of the space over the desk not seen", len(views), len(scene.objects), 100 * coverage.unknown)

    while len(views) < most and _go_to_best(ctx, mount, intrinsics, coverage, needed=not views):
        see()
    asked: list[Array] = []
    while len(asked) < DOUBTS and (doubted := doubtful(views[-1][0], asked)) is not None:
        asked.append(doubted.position)
        why = "its size is hidden in part" if doubted.guessed else f"it is one whole object with a probability of {doubted.confidence:.2f} only"
        log.info("another look at %s: %s", doubted.id, why)
        if _go_to_best(ctx, mount, intrinsics, coverage.near(doubted.position, AROUND), needed=False):
            see()
    scene, frame = views[-1]
    return scene, frame, len(views)


def doubtful(scene: Scene, asked: Sequence[Array] = ()) -> SceneObject | None:
    """The object on the desk that is least likely one whole object, where one is doubted at all; else that of whose size most is hidden, so that it was
    estimated; None where neither is. Objects near places that were ``asked`` for, (3,) [m] each, are left out.
    """
    free = [item for item in scene.objects if item.relation != "held" and all(np.linalg.norm(item.position - place) > SAME for place in asked)]
    left = [item for item in free if item.guessed or item.confidence < DOUBTFUL]
    return max(left, key=lambda item: (item.confidence < DOUBTFUL, len(item.guessed), -item.confidence), default=None)


def _go_to_best(ctx: SkillContext, mount: CameraMount, intrinsics: CameraIntrinsics, coverage: Space, needed: bool) -> bool:
    """To the view that shows most; False when no reachable one is worth the way and none is ``needed``."""
    arm = ctx.robot.arm
    now = ctx.robot.joint_state().of(arm.joints)
    views = seen_views(arm, mount)
    with ctx.timed("planning"):
        gains = np.array([coverage.gain(view.world_T_camera, intrinsics) for view in views])
    score = gains - TRAVEL * np.array([float(np.abs(view.joints - now).max()) for view in views])
    last: DeskhandError | None = None
    tried = 0
    for index in np.argsort(-score, kind="stable"):
        if gains[index] < WORTH or tried == TRIES:
            break
        ctx.check()
        joints = dict(zip(arm.joints, map(float, views[index].joints), strict=True))
        try:
            with ctx.timed("planning"):
                if not ctx.robot.check_state(joints).valid:
                    continue
            tried += 1
            ctx.execute(ctx.plan(MotionGoal(joints=joints)))
            return True
        except DeskhandError as error:
            if error.code not in ("planning_failed", "goal_in_collision", "no_ik_solution"):
                raise
            last = error
    if needed:
        raise last or DeskhandError("no_ik_solution", "the arm cannot bring its camera to where it sees the desk.", hint="Is the camera's mount right?")
    return False


# ------------------------------------------------------------ a camera that stands still


def clear_pose(arm: ArmConfig, frame: Frame, joints: JointState) -> tuple[str, dict[str, float], float]:
    """Of home, the other named poses and home turned aside, the one that hides least of the desk from the camera, home where it does as well.

    Returns:
        Its name, its joints, and the share of the desk within reach that the arm hides there.
    """
    model = RobotModel.load(arm)
    home = np.asarray(arm.named_poses["home"], dtype=float)
    candidates = {"home": home}
    for angle in (0.8, -0.8, 1.5, -1.5):
        turned = home.copy()
        turned[0] += angle
        candidates[f"home, turned by {angle:+.1f} rad"] = turned
    candidates |= {name: np.asarray(pose, dtype=float) for name, pose in arm.named_poses.items() if name != "home"}
    limits = np.array([model.limits[name][:2] for name in arm.joints])
    hand = dict(zip(joints.names, map(float, joints.positions), strict=True))
    best: tuple[float, str, dict[str, float]] | None = None
    for name, pose in candidates.items():
        if name != "home" and ((pose < limits[:, 0]) | (pose > limits[:, 1])).any():
            continue
        stands = dict(zip(arm.joints, map(float, pose), strict=True))
        share = hidden_by_arm(model, {**hand, **stands}, frame)
        if best is None or share < best[0] - 0.005:
            best = share, name, stands
    assert best is not None
    return best[1], best[2], best[0]


def hidden_by_arm(model: RobotModel, joints: Mapping[str, float], frame: Frame, padding: float = 0.01) -> float:
    """Share of the desk within the arm's reach, as far as the picture covers it, that the arm in this pose, grown by ``padding`` [m], hides from the camera
    of ``frame``: of its surface and of what stands on it.
    """
    arm = model.arm
    base, most = arm.world_T_base[:2, 3], arm.work_radius[1]
    x, y, z = np.meshgrid(np.arange(0, most, PITCH), np.arange(-most, most, PITCH), HEIGHTS)
    away = np.hypot(x, y).ravel()
    spots = np.column_stack([x.ravel() + base[0], y.ravel() + base[1], z.ravel()])[(away > arm.work_radius[0]) & (away < most)]
    pixels = frame.project(spots)
    shown = np.isfinite(pixels).all(axis=1) & (pixels >= 0).all(axis=1) & (pixels < [frame.intrinsics.width, frame.intrinsics.height]).all(axis=1)
    spots = spots[shown]
    if not len(spots):
        return 0.0
    eye, links = frame.world_T_camera[:3, 3], model.forward(joints)
    along = eye + np.linspace(0.05, 0.95, 60)[:, None, None] * (spots - eye)  # points on the lines of sight that may lie in the arm
    hidden = robot_points(along.reshape(-1, 3).astype(np.float32), model, links, padding).reshape(along.shape[:2]).any(axis=0)
    return float(hidden.mean())
