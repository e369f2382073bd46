"""Ranked grasps of one object of a scene."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.grasping.collision import hand_clearance, lowest_point, obstacle_points
from deskhand.grasping.sampling import Candidates, antipodal_pairs, hand_poses
from deskhand.grasping.scoring import diverse_order, score_candidates
from deskhand.grasping.surface import Surface, complete_surface
from deskhand.motion.roll import arm_axis
from deskhand.types import Grasp, Scene, SceneObject

Reach = Callable[[Array], list["Array | None"]]
"""Joints for each world_T_tcp of (M, 4, 4) that the arm can approach and reach, None for the others."""

TIP_CLEARANCE = 0.0045  # [m] between finger tips and what the object lies on
MIN_CLEARANCE = 0.001
MIN_WIDTH_ABOVE = 0.0015  # [m] above the gripper's smallest width: less cannot be told from nothing
SPARE_WIDTH = 0.004  # [m] below the widest opening, for errors of pose and size
TRIES = 24  # grasps whose reach is asked for at most
BATCH = 4
CHUNK = 96
_FLIP = np.diag([-1.0, -1.0, 1.0, 1.0])


class GraspGenerator:
    """Antipodal grasps for the parallel gripper of ``arm``.

    Args:
        arm: its configuration, for the gripper's geometry.
        reach: asked for the best candidates only; None leaves ``Grasp.joints`` empty.
    """

    def __init__(self, arm: ArmConfig, reach: Reach | None = None) -> None:
        self._gripper, self._reach = arm.gripper, reach
        self._base, self._inward = arm.world_T_base[:3, 3], _hand_side(arm)
        self._tilts_about = arm_axis(RobotModel.load(arm)) if arm.free_roll else None

    def generate(self, scene: Scene, object_id: str, max_grasps: int = 20) -> list[Grasp]:
        """Best first, at most ``max_grasps``.

        Raises:
            DeskhandError: ``unknown_object``; ``no_grasp`` with the reason: too wide, too thin, no free room, out of reach.
        """
        item = scene.get(object_id)
        if max_grasps < 1:
            raise DeskhandError("invalid_input", f"max_grasps must be at least 1, got {max_grasps}.")
        surface = complete_surface(item)
        candidates = self._candidates(scene, item, surface)
        candidates, clearance = self._free(scene, item, surface, candidates, enough=2 * max(TRIES, max_grasps))
        scores = score_candidates(candidates, clearance, item, self._gripper)
        order = diverse_order(candidates.poses, scores, max(TRIES, max_grasps))
        grasps = [_grasp(item, candidates, row, float(scores[row]), float(clearance[row])) for row in order]
        return grasps[:max_grasps] if self._reach is None else self._reachable(item, grasps, max_grasps)

    def _candidates(self, scene: Scene, item: SceneObject, surface: Surface) -> Candidates:
        narrowest, widest = self._gripper.width_min + MIN_WIDTH_ABOVE, self._gripper.width_max - SPARE_WIDTH
        pairs, axes, margins = antipodal_pairs(surface, narrowest, widest)
        if not len(pairs):
            raise DeskhandError(
                "no_grasp",
                f"{item.id} ({', '.join(f'{1000 * s:.0f}' for s in item.size)} mm) has no two sides between "
                f"{1000 * narrowest:.0f} and {1000 * widest:.0f} mm apart, as the gripper needs.",
            )
        candidates = hand_poses(pairs, axes, margins, self._gripper, support_height(scene, item), TIP_CLEARANCE, self._tilts_about)
        if not len(candidates):
            raise DeskhandError("no_grasp", f"{item.id} cannot be gripped from above: it is too flat or its sides lean too much.")
        return candidates

    def _free(self, scene: Scene, item: SceneObject, surface: Surface, candidates: Candidates, enough: int) -> tuple[Candidates, Array]:
        """The candidates whose open hand touches nothing, and their clearance [m]; the promising ones are looked at first, until there are ``enough``."""
        gripper, others, floor = self._gripper, obstacle_points(scene, item), support_height(scene, item)
        promising = np.argsort(-score_candidates(candidates, np.zeros(len(candidates)), item, gripper), kind="stable")
        rows: list[npt.NDArray[np.intp]] = []
        clearances: list[Array] = []
        for start in range(0, len(promising), CHUNK):
            chunk = candidates.take(promising[start : start + CHUNK])
            above = lowest_point(chunk.poses, chunk.widths, gripper) - floor
            clearance = np.minimum(above, hand_clearance(chunk.poses, chunk.widths, gripper, surface.points, others))
            good = clearance >= MIN_CLEARANCE
            rows.append(promising[start : start + CHUNK][good])
            clearances.append(clearance[good])
            if sum(map(len, rows)) >= enough:
                break
        found = np.concatenate(rows)
        if not len(found):
            raise DeskhandError("no_grasp", f"the open hand touches something at every grasp of {item.id}.", hint="Move what stands beside it first.")
        return candidates.take(found), np.concatenate(clearances)

    def _reachable(self, item: SceneObject, grasps: list[Grasp], max_grasps: int) -> list[Grasp]:
        assert self._reach is not None
        found: list[Grasp] = []
        for start in range(0, len(grasps), BATCH):
            batch = grasps[start : start + BATCH]
            ways = [self._both_ways(grasp.pose) for grasp in batch]
            joints = self._reach(np.stack([first for first, _ in ways]))
            missing = [index for index, found_joints in enumerate(joints) if found_joints is None]
            if missing:
                for index, other in zip(missing, self._reach(np.stack([ways[index][1] for index in missing])), strict=True):
                    joints[index], ways[index] = other, ways[index][::-1]
            for grasp, (pose, _), reached in zip(batch, ways, joints, strict=True):
                if reached is not None:
                    found.append(_with_joints(grasp, pose, reached))
            if len(found) >= max_grasps:
                break
        if not found:
            raise DeskhandError("no_grasp", f"the arm reaches none of the {len(grasps)} grasps of {item.id}.", hint="It may lie too far away or too close.")
        return found[:max_grasps]

    def _both_ways(self, pose: Array) -> tuple[Array, Array]:
        """The same grasp with the hand turned by half a turn about its approach; the way that the wrist need not turn far for comes first."""
        flipped = pose @ _FLIP
        outward = pose[:3, 3] - self._base
        return (flipped, pose) if float(pose[:2, 0] @ outward[:2]) * self._inward < 0 else (pose, flipped)


def _hand_side(arm: ArmConfig) -> float:
    """1 when the tcp's x axis points away from the arm's base at the home pose, -1 when towards it, 0 when neither."""
    if "home" not in arm.named_poses:
        return 0.0
    pose = RobotModel.load(arm).tcp_pose(dict(zip(arm.joints, arm.named_poses["home"], strict=True)))
    outward = pose[:2, 3] - arm.world_T_base[:2, 3]
    share = float(pose[:2, 0] @ outward) / max(float(np.linalg.norm(outward)), 1e-9)
    return float(np.sign(share)) if abs(share) > 0.3 else 0.0


def support_height(scene: Scene, item: SceneObject) -> float:
    """Height [m] that finger tips must stay above at ``item``: the table, or the floor of the container that it lies in."""
    table = float(scene.table.pose[2, 3])
    for other in scene.objects:
        if other.id == item.support and other.is_container:
            return max(table, other.bottom + other.wall)
    return table


def _grasp(item: SceneObject, candidates: Candidates, row: int, score: float, clearance: float) -> Grasp:
    contacts = candidates.contacts[row]
    return Grasp(item.id, candidates.poses[row], float(candidates.widths[row]), score, contacts, float(candidates.margins[row]), clearance)


def _with_joints(grasp: Grasp, pose: Array, joints: Array) -> Grasp:
    along = (grasp.contacts[1] - grasp.contacts[0]) @ pose[:3, 1]
    contacts = grasp.contacts if along > 0 else grasp.contacts[::-1]
    return replace(grasp, pose=pose, contacts=contacts, joints=np.asarray(joints, dtype=float))
