"""OMPL, pinocchio and coal put together as MoveIt's default pipeline does: damped least squares, RRT-Connect, simplify, time parametrisation.

The same padded obstacles, allowed pairs and limits as deskhand's planner; the timing is deskhand's own, so that it does not decide the comparison.
Collisions are looked at by pinocchio in C++; Python is only between OMPL and that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.bench.motion.contender import Outcome, lengths
from deskhand.bench.motion.tasks import StillArm, Task
from deskhand.geometry import Array, inverse
from deskhand.motion.cartesian import JUMP, interpolate
from deskhand.motion.roboplan_scene import standing_still
from deskhand.motion.roll import Roll
from deskhand.motion.search import PADDINGS
from deskhand.motion.timing import time_path
from deskhand.safety.checker import CollisionChecker
from deskhand.safety.kinematics import link_poses
from deskhand.safety.scene import PlanningScene, pair, table_object
from deskhand.safety.settings import load_safety
from deskhand.types import CollisionObject

STEP = 0.02  # [rad] between checked states, as deskhand's planner
MOVEIT_STEP = 0.005  # of the space's extent: MoveIt's longest_valid_segment_fraction
GOALS = 4
RESTARTS = 200


class OmplStack:
    """See :class:`deskhand.bench.motion.contenders.Contender`."""

    def __init__(self, arm: ArmConfig, fraction: float | None = None, name: str = "ompl") -> None:
        """``fraction`` of the joint space's extent between checked states, instead of :data:`STEP`."""
        import coal
        import pinocchio
        from ompl import base, geometric, util

        util.setLogLevel(util.LOG_NONE)
        self.name, self.arm, self.model = name, arm, RobotModel.load(arm)
        self._coal, self._pin, self._base, self._geometric = coal, pinocchio, base, geometric
        self._settings = load_safety()
        self._still = StillArm(arm)
        urdf = standing_still(self.model, {arm.gripper.joint: self._still.finger})
        self._kin = pinocchio.buildModelFromXML(urdf)
        self._data = self._kin.createData()
        self._urdf_shapes = pinocchio.buildGeomFromUrdfString(self._kin, urdf, pinocchio.GeometryType.COLLISION)
        self._tcp = self._kin.getFrameId(arm.tcp)
        self._checker = CollisionChecker(self.model)
        self._lower, self._upper = (np.array([self.model.limits[joint][i] for joint in arm.joints]) for i in (0, 1))
        self._roll = Roll(self.model)
        self._random = np.random.default_rng(0)
        extent = float(np.linalg.norm(self._upper - self._lower))
        self._fraction = fraction or STEP / extent

    def close(self) -> None:
        """See base."""

    # ------------------------------------------------------------ the scene

    def load(self, task: Task) -> None:
        """See base."""
        self._start = np.clip(task.start, self._lower + 1e-6, self._upper - 1e-6)
        pin, shapes = self._pin, self._urdf_shapes.copy()
        owners = [self._kin.frames[item.parentFrame].name for item in shapes.geometryObjects]
        fixed = (table_object(), *self._settings.walls(), *self._settings.keep_out)
        for item, pad in [*((item, 0.0) for item in fixed), *((item, PADDINGS[0]) for item in task.obstacles)]:
            owners += self._add(shapes, item, 0, 0, pin.SE3.Identity(), pad)
        held = None
        if task.held is not None:
            frame = self._kin.frames[self._tcp]
            relative = inverse(self.model.tcp_pose(self.model.arm_joints(task.start))) @ task.held.pose
            held = CollisionObject(task.held.id, task.held.shapes, relative)
            owners += self._add(shapes, held, frame.parentJoint, self._tcp, frame.placement, 0.0)
        skip = self._checker.may_touch(PlanningScene({item.id: item for item in task.obstacles}, held), frozenset())
        skip |= {pair(self.arm.base_link, item.id) for item in fixed}
        still = {item.id for item in (*fixed, *task.obstacles)}
        for i, a in enumerate(owners):
            for j, b in enumerate(owners[:i]):
                if a != b and pair(a, b) not in skip and not (a in still and b in still):
                    shapes.addCollisionPair(pin.CollisionPair(j, i))
        self._shapes, self._shape_data = shapes, shapes.createData()

    def _add(self, shapes: Any, item: CollisionObject, joint: int, frame: int, joint_T_frame: Any, pad: float) -> list[str]:
        coal, pin = self._coal, self._pin
        for index, shape in enumerate(item.shapes):
            size = shape.size
            if shape.kind == "box":
                body = coal.Box(*(value + 2 * pad for value in size))
            elif shape.kind == "cylinder":
                body = coal.Cylinder(size[0] + pad, size[1] + 2 * pad)
            elif shape.kind == "sphere":
                body = coal.Sphere(size[0] + pad)
            else:
                raise ValueError(f"the benchmark has no {shape.kind}")
            placed = joint_T_frame * pin.SE3(item.pose @ shape.pose)
            shapes.addGeometryObject(pin.GeometryObject(f"{item.id}/{index}", joint, frame, placed, body))
        return [item.id] * len(item.shapes)

    def _valid(self, joints: Array) -> bool:
        return not self._pin.computeCollisions(self._kin, self._data, self._shapes, self._shape_data, joints, True)

    def free(self, states: Array) -> int:
        """See base."""
        return sum(self._valid(state) for state in states)

    # ------------------------------------------------------------ inverse kinematics

    def ik(self, pose: Array, seed: Array) -> Array | None:
        """See base: damped least squares from the seed, then from random starts."""
        goal = self._pin.SE3(pose)
        start = seed
        for _ in range(RESTARTS):
            found = self._descend(goal, start)
            if found is not None:
                return found
            start = self._random.uniform(self._lower, self._upper)
        return None

    def _descend(self, goal: Any, joints: Array, tolerance: tuple[float, float] = (1e-4, 1e-3)) -> Array | None:
        pin = self._pin
        joints = np.array(joints, dtype=float)
        for _ in range(60):
            pin.framesForwardKinematics(self._kin, self._data, joints)
            now = self._data.oMf[self._tcp]
            error = pin.log6(now.actInv(goal)).vector
            rows = slice(0, 5) if self.arm.free_roll else slice(0, 6)
            if self.arm.free_roll:  # the roll about the tcp's z axis is left out
                across = np.cross([0.0, 0.0, 1.0], now.rotation.T @ goal.rotation[:, 2])
                turn = float(np.arctan2(np.linalg.norm(across), (now.rotation.T @ goal.rotation[:, 2])[2]))
                error = np.concatenate([now.rotation.T @ (goal.translation - now.translation), across / max(float(np.linalg.norm(across)), 1e-12) * turn])
            error = error[rows]
            if np.linalg.norm(error[:3]) < tolerance[0] and np.linalg.norm(error[3:]) < tolerance[1]:
                # Five joints: the last one turns the hand about its axis, as in deskhand's own inverse kinematics.
                return self._roll.fitted(joints, goal.homogeneous, now.homogeneous) if self.arm.free_roll else joints
            jacobian = pin.computeFrameJacobian(self._kin, self._data, joints, self._tcp, pin.ReferenceFrame.LOCAL)[rows]
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-5 * np.eye(len(error)), error)
            joints = np.clip(joints + step, self._lower, self._upper)
        return None

    # ------------------------------------------------------------ paths

    def plan(self, pose: Array, max_time: float) -> Outcome | None:
        """See base."""
        goals = self._goals(pose)
        if not goals:
            return None
        base, geometric = self._base, self._geometric
        space = base.RealVectorStateSpace(len(self.arm.joints))
        bounds = base.RealVectorBounds(len(self.arm.joints))
        for index, (low, high) in enumerate(zip(self._lower, self._upper, strict=True)):
            bounds.setLow(index, float(low))
            bounds.setHigh(index, float(high))
        space.setBounds(bounds)
        space.setLongestValidSegmentFraction(self._fraction)
        setup = geometric.SimpleSetup(space)
        count = len(self.arm.joints)
        setup.setStateValidityChecker(lambda state: self._valid(np.array([state[i] for i in range(count)])))
        information = setup.getSpaceInformation()
        states = base.GoalStates(information)
        for joints in goals:
            states.addState(self._state(space, joints))
        setup.setStartState(self._state(space, self._start))
        setup.setGoal(states)
        setup.setPlanner(geometric.RRTConnect(information))
        if not setup.solve(max_time) or not setup.haveExactSolutionPath():
            return None
        setup.simplifySolution(max_time)
        path = np.array([[state[i] for i in range(count)] for state in setup.getSolutionPath().getStates()])
        return Outcome(lengths(path), self._timed(path))

    def _goals(self, pose: Array) -> list[Array]:
        goal, found = self._pin.SE3(pose), list[Array]()
        start = self._start
        for _ in range(RESTARTS):
            joints = self._descend(goal, start)
            start = self._random.uniform(self._lower, self._upper)
            if joints is not None and self._valid(joints) and all(np.abs(joints - other).max() > 0.1 for other in found):
                found.append(joints)
            if len(found) == GOALS or (found and _ >= 2 * GOALS):
                break
        return found

    def _state(self, space: Any, joints: Array) -> Any:
        state = space.allocState()
        for index, value in enumerate(joints):
            state[index] = float(value)
        return state

    def approach(self, pose: Array) -> Outcome | None:
        """See base: as computeCartesianPath, each point from the one before."""
        start = self.model.tcp_pose(self.model.arm_joints(self._start))
        points = [self._start]
        for target in interpolate(start, pose):
            joints = self._descend(self._pin.SE3(target), points[-1], (2e-5, 2e-4))
            if joints is None or np.abs(joints - points[-1]).max() > JUMP or not self._valid(joints):
                return None
            points.append(joints)
        return Outcome(lengths(np.array(points)), self._timed(np.array(points), blend=0.002))

    def _timed(self, path: Array, blend: float = 0.02) -> Any:
        def tcp(joints: Array) -> Array:
            return np.asarray(link_poses(self.model, self.arm.joints, joints, None, self.arm.tcp)[self.arm.tcp][:, :3, 3])

        limits = self.arm.max_velocity, self.arm.max_acceleration
        return time_path(self.arm.joints, path, *limits, 1.0, blend, tcp, self._settings.max_tcp_speed)
