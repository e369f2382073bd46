"""Ranked grasps of one object of a scene."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.grasping.collision import OPEN_MORE, closing, hand_clearance, lowest_point, obstacle_points, opening, siblings_of, unnamed_points
from deskhand.grasping.features import judge
from deskhand.grasping.sampling import FRICTION, Candidates, antipodal_pairs, diverse_order, hand_poses, joined, retracted, turned_into_plane
from deskhand.grasping.success import load_success_model
from deskhand.grasping.why import all_touch, beyond_reach, no_two_sides
from deskhand.grasping.wrist import WristReach
from deskhand.motion.roll import arm_axis
from deskhand.perception.fit.surface import Surface, Surfaces, column_surface
from deskhand.types import Grasp, Scene, SceneObject

Reach = Callable[[Array], list["Array | None"]]
"""Joints for each world_T_tcp of (M, 4, 4) that the arm can approach and reach, None for the others."""

TIP_CLEARANCE = 0.0045  # [m] between finger tips and what the object lies on
MIN_CLEARANCE = 0.001
MIN_WIDTH_ABOVE = 0.0015  # [m] above the gripper's smallest width: less cannot be told from nothing
OTHER_PART = 0.009  # [m] that the pads may end further apart than the contacts: more is another part of the object
SPARE_WIDTH = 0.004  # [m] below the widest opening, for errors of pose and size
TRIES = 20  # grasps whose reach is asked for at most
BATCH = 2
CHUNK = 64
MOST = 448  # candidates whose hand is tested for contact
_FLIP = np.diag([-1.0, -1.0, 1.0, 1.0])


class GraspGenerator:
    """Antipodal grasps for the gripper of ``arm``: two parallel fingers, or one fixed jaw and one that turns.

    Args:
        arm: its configuration, for the gripper's geometry.
        reach: asked for the best candidates only; None leaves ``Grasp.joints`` empty.
    """

    def __init__(self, arm: ArmConfig, reach: Reach | None = None) -> None:
        self._arm, self._gripper, self._reach, self._success = arm, arm.gripper, reach, load_success_model()
        self._widest = min(arm.gripper.width_max - SPARE_WIDTH, arm.gripper.widest(FRICTION))
        self._base, self._inward = arm.world_T_base[:3, 3], _hand_side(arm)
        self._tilts_about = arm_axis(RobotModel.load(arm)) if arm.free_roll else None
        self._wrist = WristReach(RobotModel.load(arm))
        self._scene: Scene | None = None
        self._surfaces, self._unnamed = Surfaces(), np.zeros((0, 3))

    def generate(self, scene: Scene, object_id: str, max_grasps: int = 20) -> list[Grasp]:
        """Best first, at most ``max_grasps``.

        Raises:
            DeskhandError: ``unknown_object``; ``no_grasp`` with the reason: too wide, too thin, no free room, out of reach.
        """
        item = scene.get(object_id)
        if max_grasps < 1:
            raise DeskhandError("invalid_input", f"max_grasps must be at least 1, got {max_grasps}.")
        surface, own, parts = self._surface(scene, item)
        candidates = self._candidates(scene, item, surface)
        others = obstacle_points(scene, item, parts, self._surfaces, self._unnamed)
        candidates, clearance = self._free(scene, item, own, others, candidates, enough=max(TRIES + 4 * max_grasps, 2 * max_grasps))
        closed = closing(candidates.poses, candidates.opened, self._gripper, own)
        judged = judge(candidates, clearance, closed, item, surface, self._gripper)
        scores = self._success.probability(judged.features)
        order = diverse_order(candidates.poses, scores, max(TRIES, max_grasps), mirrored=not self._gripper.one_sided)
        grasps = [_grasp(item, candidates.take(np.array([row])), closed.measured[row], scores[row], clearance[row], judged.force[row]) for row in order]
        return grasps[:max_grasps] if self._reach is None else self._reachable(item, grasps, max_grasps)

    def features(self, scene: Scene, grasp: Grasp) -> Array:
        """What the success model was asked with for a grasp of this generator, see features.py."""
        item = scene.get(grasp.object_id)
        surface, own, _ = self._surface(scene, item)
        apart = abs(float((grasp.contacts[1] - grasp.contacts[0]) @ grasp.pose[:3, 1]))  # grasp.width may be more: of all that is between the pads
        one = Candidates(grasp.pose[None], grasp.contacts[None], np.array([apart]), np.array([grasp.friction_margin]), np.array([grasp.opening]))
        closed = closing(one.poses, one.opened, self._gripper, own)
        features: Array = judge(one, np.array([grasp.clearance]), closed, item, surface, self._gripper).features[0]
        return features

    def _surface(self, scene: Scene, item: SceneObject) -> tuple[Surface, Array, Sequence[SceneObject]]:
        """The surface of ``item``, samples (N, 3) of it and of other seen objects that may be one with it, and these.

        Where solids do not explain all of them, columns of all do.
        """
        if self._scene is not scene:
            self._scene, self._surfaces, self._unnamed = scene, Surfaces(), unnamed_points(scene)
        surface, parts = self._surfaces.of(item), siblings_of(scene, item)
        if parts and not (surface.simple and all(self._surfaces.of(part).simple for part in parts)):
            return (whole := column_surface(item, parts)), whole.body, parts
        return surface, np.vstack([surface.body, *(self._surfaces.of(part).body for part in parts)]), parts

    def _candidates(self, scene: Scene, item: SceneObject, surface: Surface) -> Candidates:
        narrowest, widest = self._gripper.width_min + MIN_WIDTH_ABOVE, self._widest
        pairs, axes, margins = antipodal_pairs(surface, narrowest, widest)
        if not len(pairs):
            raise DeskhandError("no_grasp", no_two_sides(item, surface, narrowest, widest))
        if self._gripper.one_sided:  # the hand turned by half a turn is another grasp
            pairs, axes, margins = np.concatenate([pairs, pairs[:, ::-1]]), np.concatenate([axes, -axes]), np.tile(margins, 2)
        candidates = hand_poses(pairs, axes, margins, self._gripper, support_height(scene, item), TIP_CLEARANCE, self._tilts_about)
        if not len(candidates):
            raise DeskhandError("no_grasp", f"{item.id} cannot be gripped from above: it is too flat or its sides lean too much.")
        return candidates if surface.simple else retracted(candidates, self._gripper)

    def _free(self, scene: Scene, item: SceneObject, own: Array, others: Array, candidates: Candidates, enough: int) -> tuple[Candidates, Array]:
        """The candidates whose hand, open and closing, touches nothing but the object, and their clearance [m].

        The promising ones are looked at first, until there are ``enough``. The gripper opens wide where there is room, else less.
        """
        floor = support_height(scene, item)
        promising = np.argsort(-_promise(candidates, item), kind="stable")[:MOST]
        found: list[Candidates] = []
        clearances: list[Array] = []
        for start in range(0, len(promising), CHUNK):
            left = candidates.take(promising[start : start + CHUNK])
            for more in OPEN_MORE:
                left = self._centred(left, more, own)
                above = lowest_point(left.poses, left.opened, self._gripper) - floor
                clearance = np.minimum(above, hand_clearance(left.poses, left.opened, self._gripper, own, others, MIN_CLEARANCE))
                good = clearance >= MIN_CLEARANCE
                found.append(left.take(good))
                clearances.append(clearance[good])
                left = left.take(~good)
                if not len(left):
                    break
            if sum(map(len, found)) >= enough:
                break
        result = joined(found)
        if not len(result):
            raise all_touch(scene, item, self._surfaces.of(item).body, candidates.take(promising), self._gripper, self._surfaces)
        return result, np.concatenate(clearances)

    def _centred(self, candidates: Candidates, more: float, own: Array) -> Candidates:
        """Opened ``more`` [m] than closed and moved so that the pads meet the object as they should; without those whose pads meet something else.

        Both pads at once, or the fixed one at its stand-off. A turning jaw may meet a deep object far in, and opens so much wider.
        """
        opened = opening(candidates.widths, self._gripper, more)
        poses = candidates.poses.copy()
        for _ in range(2 if self._gripper.one_sided else 1):
            met = closing(poses, opened, self._gripper, own)
            poses[:, :3, 3] += met.offset[:, None] * poses[:, :3, 1]
            if self._gripper.one_sided:
                opened = opening(np.maximum(met.measured, candidates.widths), self._gripper, more)
        if self._tilts_about is not None:
            poses = turned_into_plane(poses, self._tilts_about)
        good = (met.width <= candidates.widths + OTHER_PART) & (met.measured <= self._gripper.width_max - SPARE_WIDTH) & (met.width > 0)
        return replace(candidates, poses=poses, opened=opened).take(good)

    def _reachable(self, item: SceneObject, grasps: list[Grasp], max_grasps: int) -> list[Grasp]:
        """Those that the arm reaches; what its wrist cannot reach is left out at once, the others are asked of inverse kinematics."""
        assert self._reach is not None
        within = self._wrist.within(np.stack([grasp.pose for grasp in grasps]))
        grasps = [grasp for grasp, possible in zip(grasps, within, strict=True) if possible]
        found: list[Grasp] = []
        for start in range(0, len(grasps), BATCH):
            batch = grasps[start : start + BATCH]
            ways = [self._both_ways(grasp.pose) for grasp in batch]
            joints = self._reach(np.stack([first for first, _ in ways]))
            missing = [index for index, found_joints in enumerate(joints) if found_joints is None]
            if missing and not (self._wrist.turns_fully or self._gripper.one_sided):
                for index, other in zip(missing, self._reach(np.stack([ways[index][1] for index in missing])), strict=True):
                    joints[index], ways[index] = other, ways[index][::-1]
            for grasp, (pose, _), reached in zip(batch, ways, joints, strict=True):
                if reached is not None:
                    found.append(_with_joints(grasp, pose, reached))
            if len(found) >= max_grasps:
                break
        if not found:
            raise DeskhandError(
                "no_grasp", f"the arm reaches none of the grasps of {item.id}: {beyond_reach(item, self._arm)}.", hint="Push it there, or look again."
            )
        return found[:max_grasps]

    def _both_ways(self, pose: Array) -> tuple[Array, Array]:
        """The same grasp with the gripper turned by half a turn about its approach; the way that the wrist need not turn far for comes first.

        With one turning jaw that is another grasp, so there is one way.
        """
        if self._gripper.one_sided:
            return pose, pose
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
    """Height [m] that finger tips must stay above at ``item``: the table, the floor of the container it lies in, or the top of another object it stands on."""
    table = float(scene.table.pose[2, 3])
    for other in scene.objects:
        if other.id == item.support and other.is_container:
            return max(table, other.bottom + other.wall)
        if other.id == item.support and item.relation == "on" and other.id not in {part.id for part in siblings_of(scene, item)}:
            return max(table, min(other.top, item.bottom))
    return table


def _promise(candidates: Candidates, item: SceneObject) -> Array:
    """Which candidates (M,) to look at first: steep, near the middle, with much friction margin; no test of contact is needed for it."""
    lever = np.linalg.norm((item.position - candidates.contacts.mean(axis=1))[:, :2], axis=1)
    return np.asarray(-candidates.poses[:, 2, 2] + 0.7 * np.exp(-lever / 0.02) + candidates.margins)


def _grasp(item: SceneObject, one: Candidates, width: float, score: float, clearance: float, force: float) -> Grasp:
    return Grasp(
        item.id,
        one.poses[0],
        float(width),
        float(score),
        one.contacts[0],
        float(one.margins[0]),
        float(clearance),
        opening=float(one.opened[0]),
        force=float(force),
    )


def _with_joints(grasp: Grasp, pose: Array, joints: Array) -> Grasp:
    along = (grasp.contacts[1] - grasp.contacts[0]) @ pose[:3, 1]
    contacts = grasp.contacts if along > 0 else grasp.contacts[::-1]
    return replace(grasp, pose=pose, contacts=contacts, joints=np.asarray(joints, dtype=float))
