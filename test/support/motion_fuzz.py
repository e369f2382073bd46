"""Requests to the motion services as a broken or hostile client would send them; everything from one seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Point32, Pose, PoseStamped, Quaternion
from sensor_msgs.msg import JointState
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive
from std_msgs.msg import Header

from deskhand.arms.config import ArmConfig
from deskhand_interfaces.msg import CollisionObject, NamePair, PlanOptions
from deskhand_interfaces.srv import CheckState, PlanCartesian, PlanMotion, SolveIK, UpdateScene

NUMBERS = (float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 5e-324, 1e12, -1.0, 0.0, 3.0)
NAMES = ("", "table", "gripper", "world", "ghost", "left_finger_link", "box_0", "x" * 5000, "näme\n☃", "../../etc", "keep_out:a")
FRAMES = ("world", "world", "world", "", "mars", "base_link", "w" * 3000)


class Fuzz:
    """Makes requests; about half of the fields of each are sound, so that many get past the first check."""

    def __init__(self, arm: ArmConfig, seed: int) -> None:
        self.arm, self.rng = arm, np.random.default_rng(seed)

    def odd(self, chance: float = 0.12) -> bool:
        return bool(self.rng.random() < chance)

    def pick(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def number(self, low: float, high: float) -> float:
        return float(self.pick(NUMBERS)) if self.odd() else float(self.rng.uniform(low, high))

    def pose(self) -> Pose:
        q = self.rng.normal(size=4) if self.odd(0.5) else np.array([0.0, 1.0, 0.0, 0.0])
        with np.errstate(invalid="ignore"):  # 0 * inf is one of the odd ones
            q = q / np.linalg.norm(q) * (self.number(-2, 2) if self.odd() else 1.0)
        x, y, z, w = (float(v) for v in q)
        return Pose(
            position=Point(x=self.number(-0.3, 0.2), y=self.number(-0.3, 0.3), z=self.number(0.02, 0.3)),
            orientation=Quaternion(x=x, y=self.number(-1, 1) if self.odd(0.05) else y, z=z, w=w),
        )

    def stamped(self) -> PoseStamped:
        return PoseStamped(header=Header(frame_id=self.pick(FRAMES)), pose=self.pose())

    def joints(self) -> JointState:
        if self.odd(0.3):
            return JointState()
        names, values = list(self.arm.joints), [self.number(-1.5, 1.5) for _ in self.arm.joints]
        if self.odd():
            names[int(self.rng.integers(len(names)))] = self.pick(NAMES)
        if self.odd():
            names = names[: int(self.rng.integers(len(names)))]
        if self.odd():
            values = values[: int(self.rng.integers(len(values) + 1))]
        if self.odd():
            names.append(names[0] if names else "waist")
            values.append(self.number(-1, 1))
        return JointState(name=names, position=values)

    def pairs(self) -> list[NamePair]:
        return [NamePair(a=self.pick(NAMES), b=self.pick(NAMES)) for _ in range(int(self.rng.integers(1, 4)))] if self.odd() else []

    def options(self) -> PlanOptions:
        return PlanOptions(
            start=JointState() if self.odd(0.8) else self.joints(),
            speed_scale=self.number(0.05, 1.0),
            allow=self.pairs(),
            max_planning_time=self.number(0.05, 0.5),
            max_deviation=self.number(1e-3, 1e-2),
            min_fraction=self.number(0.0, 1.0),
            upright_tolerance=self.number(0.1, 1.0) if self.odd(0.2) else 0.0,
        )

    def obstacle(self) -> CollisionObject:
        item = CollisionObject(header=Header(frame_id=self.pick(FRAMES)), id=self.pick(NAMES) if self.odd() else f"box_{int(self.rng.integers(5))}")
        item.pose = self.pose()
        for _ in range(int(self.rng.integers(0, 3))):
            kind = int(self.rng.integers(0, 6)) if self.odd() else SolidPrimitive.BOX
            count = int(self.rng.integers(0, 4)) if self.odd() else 3
            item.primitives.append(SolidPrimitive(type=kind, dimensions=[self.number(0.01, 0.1) for _ in range(count)]))
            if not self.odd(0.05):
                item.primitive_poses.append(self.pose())
        if self.odd():
            corners = [Point(x=self.number(-0.1, 0.1), y=self.number(-0.1, 0.1), z=self.number(-0.1, 0.1)) for _ in range(int(self.rng.integers(0, 6)))]
            faces = [MeshTriangle(vertex_indices=self.rng.integers(0, 6, 3).astype(np.uint32)) for _ in range(int(self.rng.integers(0, 4)))]
            item.meshes, item.mesh_poses = [Mesh(vertices=corners, triangles=faces)], [self.pose()]
        if self.odd():
            item.points = [Point32(x=float(a), y=float(b), z=float(c)) for a, b, c in self.rng.uniform(-0.1, 0.3, (int(self.rng.integers(1, 400)), 3))]
            item.voxel_size = self.number(0.003, 0.02)
        return item

    def solve_ik(self) -> SolveIK.Request:
        count = int(self.pick((0, 1, 1, 4, 101, 2**32 - 1)))
        return SolveIK.Request(pose=self.stamped(), seed=self.joints(), max_solutions=count, check_collisions=self.odd(0.5), allow=self.pairs())

    def plan_motion(self) -> PlanMotion.Request:
        request = PlanMotion.Request(options=self.options())
        if self.odd(0.3):
            request.named = self.pick((*self.arm.named_poses, *NAMES))
        if self.odd(0.3):
            request.joints = self.joints()
        if self.odd(0.5):
            request.poses = [self.stamped() for _ in range(int(self.pick((0, 1, 1, 3, 300))))]
        return request

    def plan_cartesian(self) -> PlanCartesian.Request:
        return PlanCartesian.Request(waypoints=[self.stamped() for _ in range(int(self.pick((0, 1, 1, 2, 300))))], options=self.options())

    def check_state(self) -> CheckState.Request:
        return CheckState.Request(joints=self.joints(), allow=self.pairs())

    def update_scene(self) -> UpdateScene.Request:
        return UpdateScene.Request(
            replace=self.odd(0.3),
            objects=[self.obstacle() for _ in range(int(self.rng.integers(0, 3)))],
            remove=[self.pick((*NAMES, "box_1"))] if self.odd() else [],
            attach=self.pick((*NAMES, "box_0", "box_2")) if self.odd() else "",
            detach=self.odd(),
            allow=self.pairs(),
        )

    def plan_id(self, used: list[str]) -> str:
        return str(self.pick((*NAMES, *used, "plan_0000_1", "plan_ffff_" + "9" * 300)))

    def services(self) -> dict[str, tuple[Any, Callable[[], Any]]]:
        return {
            "motion/solve_ik": (SolveIK, self.solve_ik),
            "motion/plan_motion": (PlanMotion, self.plan_motion),
            "motion/plan_cartesian": (PlanCartesian, self.plan_cartesian),
            "motion/check_state": (CheckState, self.check_state),
            "motion/update_scene": (UpdateScene, self.update_scene),
        }
