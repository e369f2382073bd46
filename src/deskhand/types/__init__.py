"""The plain data that parts hand to each other. SI units; every pose is ``world_T_x``, (4, 4); see geometry.py."""

from deskhand.types.camera import CameraIntrinsics, Depth, Frame, Image
from deskhand.types.grasp import Grasp
from deskhand.types.joints import JointState, Trajectory
from deskhand.types.motion import Cancelled, IkSolution, MotionGoal, Plan, PlanOptions, Progress, StateCheck
from deskhand.types.obstacles import CollisionObject, SceneUpdate, Shape
from deskhand.types.reports import ExecutionReport, GripperReport, NavigationReport, SafetyStatus, SkillResult
from deskhand.types.scene import NameCandidate, Scene, SceneObject, Table, moved

__all__ = [
    "CameraIntrinsics",
    "Cancelled",
    "CollisionObject",
    "Depth",
    "ExecutionReport",
    "Frame",
    "Grasp",
    "GripperReport",
    "IkSolution",
    "Image",
    "JointState",
    "MotionGoal",
    "NameCandidate",
    "NavigationReport",
    "Plan",
    "PlanOptions",
    "Progress",
    "SafetyStatus",
    "Scene",
    "SceneObject",
    "SceneUpdate",
    "Shape",
    "SkillResult",
    "StateCheck",
    "Table",
    "Trajectory",
    "moved",
]
