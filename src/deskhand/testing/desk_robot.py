"""A deterministic robot with real geometry and no dynamics: its gripper flies, its fingers hold what is between them, what is let go falls.

Its six "joints" are the tcp's position [m] and rotation vector [rad], so that inverse kinematics is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from deskhand.arms.config import load_arm
from deskhand.cameras.config import CameraMount
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, look_at, make_transform, transform_points
from deskhand.grasping.collision import lowest_point
from deskhand.grasping.generator import GraspGenerator
from deskhand.grasping.reach import reach_by_ik
from deskhand.perception.fit.surface import complete_surface
from deskhand.skills.heights import HeightMap
from deskhand.types import (
    CameraIntrinsics,
    Cancelled,
    ExecutionReport,
    Frame,
    Grasp,
    GripperReport,
    IkSolution,
    JointState,
    MotionGoal,
    Plan,
    PlanOptions,
    Progress,
    SafetyStatus,
    Scene,
    SceneObject,
    SceneUpdate,
    StateCheck,
    Table,
    Trajectory,
    moved,
)

DOWN = np.diag([1.0, -1.0, -1.0])
CAMERA = CameraIntrinsics(320, 240, 269.0, 269.0, 160.0, 120.0)
WORLD_T_CAMERA = look_at((0.58, 0.0, 0.62), (0.03, 0.0, 0.0))


def joints_of(pose: Array) -> Array:
    """The joints at which the tool centre point has that pose."""
    return np.concatenate([pose[:3, 3], Rotation.from_matrix(pose[:3, :3]).as_rotvec()])


def pose_of(joints: Array) -> Array:
    """The pose of the tool centre point at these joints."""
    return make_transform(Rotation.from_rotvec(joints[3:]).as_matrix(), joints[:3])


HOME = joints_of(make_transform(DOWN, (-0.2, 0.0, 0.3)))


class DeskRobot:
    """A :class:`deskhand.skills.robot.Robot`.

    Args:
        objects: where they really are.
        reach: of the arm [m].

    Attributes:
        objects: id -> the object where it really is.
        slippery: so many picks slip, after the share ``gives_at`` of the lift.
        hidden: ids that no look shows.
    """

    def __init__(self, objects: Iterable[SceneObject], reach: float = 0.75) -> None:
        self.arm = replace(load_arm("wx250s"), named_poses={"home": tuple(HOME)})
        self.objects = {item.id: item for item in objects}
        self.hidden: set[str] = set()
        self.slippery, self.gives_at = 0, 0.3
        self.reach = reach
        self.joints, self.opened, self.time = HOME.copy(), self.arm.gripper.width_max, 0.0
        self.held, self.tcp_T_held = "", np.eye(4)
        self.attached = ""
        self.obstacles: set[str] = set()
        self.looks, self.stopped = 0, SafetyStatus(False)
        self.executed: list[Plan] = []
        self.planned = 0
        self.plans: dict[str, Plan] = {}
        self.after_execute: Callable[[DeskRobot], object] = lambda robot: None
        self._grasps = GraspGenerator(self.arm, reach_by_ik(lambda pose, seed, check: self.solve_ik(pose, check_collisions=check)))

    # time and senses

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    def joint_state(self) -> JointState:
        gripper = self.arm.gripper
        positions = np.append(self.joints, gripper.position_of(self.opened))
        return JointState((*self.arm.joints, gripper.joint), positions, np.zeros(7), np.zeros(0), self.time)

    def tcp_pose(self) -> Array:
        return pose_of(self.joints)

    def camera_mount(self) -> CameraMount | None:
        return None

    def detect_objects(self, add: bool = False) -> Scene:
        assert np.allclose(self.joints, HOME), "a look with the arm in the picture"
        self.looks += 1
        seen = [item for item in self.objects.values() if item.id not in self.hidden]
        eye = WORLD_T_CAMERA[:3, 3]
        result = []
        for item in seen:
            surface = complete_surface(item, 0.003)
            facing = np.einsum("ij,ij->i", surface.normals, eye - surface.points) > 0
            result.append(replace(item, points=surface.points[facing].astype(np.float32)))
        cloud = np.vstack([item.points for item in result]) if result else np.zeros((0, 3), np.float32)
        return Scene(tuple(result), Table(np.eye(4), (0.9, 1.1)), self.time, cloud)

    def observe(self, newer_than: float | None = None) -> Frame:
        k, rotation, eye = CAMERA, WORLD_T_CAMERA[:3, :3], WORLD_T_CAMERA[:3, 3]
        v, u = np.mgrid[0 : k.height, 0 : k.width]
        ray = np.stack([(u - k.cx) / k.fx, (v - k.cy) / k.fy, np.ones_like(u, dtype=float)], axis=-1) @ rotation.T
        depth = -eye[2] / np.minimum(ray[..., 2], -1e-6)
        frame = Frame(np.zeros((k.height, k.width, 3), np.uint8), depth.astype(np.float32), k, WORLD_T_CAMERA, self.time)
        for item in self.objects.values():
            if item.id not in self.hidden:
                points = complete_surface(item, 0.002).points
                columns, rows = np.round(frame.project(points)).astype(int).T
                far = transform_points(inverse(WORLD_T_CAMERA), points)[:, 2]
                inside = (columns > 0) & (rows > 0) & (columns < k.width - 1) & (rows < k.height - 1)
                for dv, du in np.ndindex(3, 3):
                    np.minimum.at(depth, (rows[inside] + dv - 1, columns[inside] + du - 1), far[inside])
        return replace(frame, depth=depth.astype(np.float32))

    def generate_grasps(self, scene: Scene, object_id: str, max_grasps: int = 20) -> list[Grasp]:
        return self._grasps.generate(scene, object_id, max_grasps)

    # motion

    def solve_ik(self, pose: Array, *, seed: Mapping[str, float] | None = None, max_solutions: int = 1, check_collisions: bool = True) -> list[IkSolution]:
        if np.linalg.norm(pose[:3, 3] - self.arm.world_T_base[:3, 3]) > self.reach:
            raise DeskhandError("no_ik_solution", "out of reach")
        return [IkSolution(joints_of(pose), 0.0, 0.0, True)]

    def plan_motion(self, goal: MotionGoal, options: PlanOptions | None = None) -> Plan:
        if goal.named:
            return self._plan([np.asarray(self.arm.named_poses[goal.named])], options)
        if goal.joints is not None:
            return self._plan([np.array([goal.joints[name] for name in self.arm.joints])], options)
        last = DeskhandError("invalid_input", "a goal without poses.")
        for index, pose in enumerate(goal.poses):
            try:
                return replace(self._plan([self.solve_ik(pose)[0].joints], options), goal_index=index)
            except DeskhandError as error:
                last = error
        raise last

    def plan_cartesian(self, waypoints: Sequence[Array], options: PlanOptions | None = None) -> Plan:
        return self._plan([self.solve_ik(pose)[0].joints for pose in waypoints], options)

    def _plan(self, path: Sequence[Array], options: PlanOptions | None) -> Plan:
        options = options or PlanOptions()
        before = self.plans[options.after].trajectory.positions if options.after else None
        start = self.joints if options.start is None else np.array([options.start[name] for name in self.arm.joints])
        for names in options.allow:
            for name in names:
                assert name in {"gripper", "table", self.attached, *self.obstacles}, f"the planner does not know {name}"
        for joints in path:
            if lowest_point(pose_of(joints)[None], np.array([self.opened - 0.018]), self.arm.gripper)[0] < 0:
                raise DeskhandError("goal_in_collision", "the gripper would hit the table")
        positions = np.array([start, *path]) if before is None else np.array([*before, *path])
        self.planned += 1
        plan = Plan(f"plan_{self.planned}", Trajectory(self.arm.joints, np.arange(len(positions), dtype=float), positions, 0 * positions, 0 * positions), 1.0)
        self.plans[plan.id] = plan
        return plan

    def check_state(self, joints: Mapping[str, float] | None = None) -> StateCheck:
        return StateCheck(True, (), 0.1)

    def update_scene(self, update: SceneUpdate) -> None:
        if update.replace is not None:
            self.obstacles = {item.id for item in update.replace} - {self.attached}
        self.obstacles |= {item.id for item in update.add}
        assert set(update.remove) <= self.obstacles
        self.obstacles -= set(update.remove)
        if update.detach:
            assert self.attached
            self.obstacles.add(self.attached)
            self.attached = ""
        if update.attach:
            assert update.attach in self.obstacles and not self.attached
            self.obstacles.remove(update.attach)
            self.attached = update.attach

    def execute(self, plan_id: str, progress: Progress | None = None, cancelled: Cancelled | None = None) -> ExecutionReport:
        if self.stopped.stopped:
            raise DeskhandError("safety_stop", self.stopped.reason)
        if plan_id not in self.plans:
            raise DeskhandError("unknown_plan", f"there is no plan {plan_id!r}.")
        plan = self.plans.pop(plan_id)
        assert np.allclose(plan.trajectory.positions[0], self.joints), "a plan that starts elsewhere"
        if cancelled and cancelled():
            return ExecutionReport("cancelled", "cancelled", 0.0, 0.0, 0.0, 0.0)
        self.executed.append(plan)
        self.joints = plan.trajectory.positions[-1].copy()
        self.time += plan.trajectory.duration
        if self.held and self.slippery and self.joints[2] > plan.trajectory.positions[0][2] + 0.02:
            self.slippery -= 1
            there = self.joints
            self.joints = (1 - self.gives_at) * plan.trajectory.positions[0] + self.gives_at * there
            self.opened = self.arm.gripper.width_min
            self._fall()
            if cancelled:
                cancelled()
            self.joints = there
        if self.held:
            self.objects[self.held] = moved(self.objects[self.held], self.tcp_pose() @ self.tcp_T_held)
        self.after_execute(self)
        return ExecutionReport("", "", 1.0, 0.0, 0.0, plan.trajectory.duration)

    def gripper(self, width: float, force: float | None = None, cancelled: Cancelled | None = None) -> GripperReport:
        self.time += abs(width - self.opened) / self.arm.gripper.speed
        between = self._between() if width < self.opened else {}
        self.opened = max([width, *between.values()])
        if between and not self.held:
            self.held = max(between, key=lambda name: between[name])
            self.tcp_T_held = inverse(self.tcp_pose()) @ self.objects[self.held].pose
        elif (self.held and not self._between()) or (self.held and self.opened > max(self._between().values()) + 0.001):
            self._fall()
        return GripperReport(self.opened, bool(between) and self.opened > width, self.opened == width)

    def _between(self) -> dict[str, float]:
        """Widths of what is between the pads."""
        gripper = self.arm.gripper
        found: dict[str, float] = {}
        for item in self.objects.values():
            local = transform_points(inverse(self.tcp_pose()), complete_surface(item, 0.002).points)
            pads = (np.abs(local[:, 0]) < gripper.finger_breadth / 2) & (local[:, 2] < gripper.finger_depth) & (local[:, 2] > -0.03)
            middle = pads & (np.abs(local[:, 1]) <= self.opened / 2 + 0.001)
            if middle.sum() > 4 and pads.sum() == middle.sum():
                found[item.id] = float(np.ptp(local[middle, 1]))
        return found

    def _fall(self) -> None:
        item = self.objects[self.held]
        scene = Scene(tuple(self.objects.values()), Table(np.eye(4), (0.9, 1.1)), self.time)
        ground = HeightMap(scene, item.position, leave_out=(item.id,), margin=0.0)
        points = complete_surface(item, 0.003).points
        pose = item.pose.copy()
        pose[2, 3] += float(ground.below(points).max()) - points[:, 2].min()
        self.objects[item.id], self.held = moved(item, pose), ""

    # safety

    def stop(self, reason: str) -> None:
        self.stopped = SafetyStatus(True, "safety_stop", reason)

    def reset_stop(self) -> None:
        self.stopped = SafetyStatus(False)

    def safety_status(self) -> SafetyStatus:
        return self.stopped
