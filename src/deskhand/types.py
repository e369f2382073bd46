"""The plain data that parts hand to each other. SI units; every pose is ``world_T_x``, (4, 4); see geometry.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, identity, transform_points

Image = npt.NDArray[np.uint8]
Depth = npt.NDArray[np.float32]


# ---------------------------------------------------------------- camera


@dataclass(frozen=True)
class CameraIntrinsics:
    """Pinhole model of an already rectified camera; pixels."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    frame_id: str = "camera_color_optical_frame"


@dataclass(frozen=True)
class Frame:
    """One aligned colour + depth picture.

    Attributes:
        color: (H, W, 3) uint8, RGB.
        depth: (H, W) float32 [m], NaN where the sensor saw nothing.
        world_T_camera: pose of the optical frame (x right, y down, z forward).
        stamp: time of the exposure [s], ROS time.
    """

    color: Image
    depth: Depth
    intrinsics: CameraIntrinsics
    world_T_camera: Array
    stamp: float

    def points(self) -> npt.NDArray[np.float32]:
        """(H, W, 3) points in ``world`` [m]; NaN where depth is."""
        k = self.intrinsics
        v, u = np.mgrid[0 : k.height, 0 : k.width].astype(np.float32)
        camera = np.stack([(u - k.cx) / k.fx * self.depth, (v - k.cy) / k.fy * self.depth, self.depth], axis=-1)
        rotation = self.world_T_camera[:3, :3].astype(np.float32)
        return np.asarray(camera @ rotation.T + self.world_T_camera[:3, 3].astype(np.float32), dtype=np.float32)

    def project(self, points: npt.ArrayLike) -> Array:
        """Pixels (N, 2) as (u, v) of world points (N, 3); points behind the camera become NaN."""
        rotation, origin = self.world_T_camera[:3, :3], self.world_T_camera[:3, 3]
        camera = (np.asarray(points, dtype=float).reshape(-1, 3) - origin) @ rotation
        z = np.where(camera[:, 2] > 1e-6, camera[:, 2], np.nan)
        k = self.intrinsics
        return np.column_stack([k.fx * camera[:, 0] / z + k.cx, k.fy * camera[:, 1] / z + k.cy])


# ---------------------------------------------------------------- joints


@dataclass(frozen=True)
class JointState:
    """Measured joints; ``effort`` may be empty where the arm does not report it."""

    names: tuple[str, ...]
    positions: Array
    velocities: Array
    efforts: Array
    stamp: float

    def of(self, names: Sequence[str]) -> Array:
        """Positions [rad or m] in the order of ``names``.

        Raises:
            DeskhandError: ``invalid_input`` when a name is unknown.
        """
        missing = [name for name in names if name not in self.names]
        if missing:
            raise DeskhandError("invalid_input", f"no joint {missing}; the robot has {list(self.names)}.")
        return self.positions[[self.names.index(name) for name in names]]


@dataclass(frozen=True)
class Trajectory:
    """Timed joint path: ``times`` (T,) [s] from 0, ``positions``, ``velocities``, ``accelerations`` (T, n)."""

    joint_names: tuple[str, ...]
    times: Array
    positions: Array
    velocities: Array
    accelerations: Array

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.times[-1]) if len(self.times) else 0.0

    def sample(self, time: float) -> Array:
        """Joint positions (n,) at ``time`` [s], linear between points, clamped to the ends."""
        return np.array([np.interp(time, self.times, column) for column in self.positions.T])


# ---------------------------------------------------------------- what is on the desk


@dataclass(frozen=True)
class Table:
    """The desk top: ``pose`` has its origin at the centre of what is seen, z up; ``size`` (x, y) [m]."""

    pose: Array
    size: tuple[float, float]


@dataclass(frozen=True)
class NameCandidate:
    """A name that an object may have: ``probability`` 0..1, ``source``: who says so (``taught``, ``geometry``, ``onnx:nanodet``; several joined by +)."""

    name: str
    probability: float
    source: str


@dataclass(frozen=True)
class SceneObject:
    """An object on the desk as perception knows it.

    Attributes:
        id: stable across looks, for example ``block_2``.
        label: kind, for example ``block``, ``cup``, ``bin``; ``object`` when unknown.
        label_source: what gave the label, for example ``geometry``, ``onnx:nanodet``.
        color: colour name, for example ``red``.
        shape: ``box``, ``cylinder``, ``sphere`` or ``other``.
        size: extents (3,) [m] along the axes of ``pose``; z of the pose is up for standing objects.
        pose: centre of the oriented box.
        points: (N, 3) seen points in ``world``.
        is_container: open at the top, objects can be put in.
        wall: thickness [m] of a container's walls and floor (0 for the rest).
        support: id of what it lies on or in, ``table`` or ``gripper``.
        relation: ``on``, ``in``, ``leaning`` (its other end is on the table) or ``held``.
        box2d: (x, y, width, height) in the picture [px].
        guessed: axes of ``pose`` (0, 1, 2) along which its size is partly hidden and estimated.
        names: what it may be called, likeliest first; their probabilities sum to 1 at most, the rest is that it is something else. ``label`` is the first of
            the looks together, these are of the newest one.
    """

    id: str
    label: str
    color: str
    shape: str
    size: Array
    pose: Array
    points: npt.NDArray[np.float32]
    confidence: float
    label_source: str = "geometry"
    material: str = "unknown"
    is_container: bool = False
    wall: float = 0.0
    support: str = "table"
    relation: str = "on"
    box2d: tuple[int, int, int, int] = (0, 0, 0, 0)
    guessed: tuple[int, ...] = ()
    names: tuple[NameCandidate, ...] = ()

    @property
    def position(self) -> Array:
        """Centre (3,) [m] in ``world``."""
        return self.pose[:3, 3]

    @property
    def top(self) -> float:
        """Height [m] of the highest point of its oriented box above the world origin."""
        return float(self.pose[2, 3] + np.abs(self.pose[2, :3]) @ self.size / 2)

    @property
    def bottom(self) -> float:
        """Height [m] of the lowest point of its oriented box above the world origin."""
        return float(self.pose[2, 3] - np.abs(self.pose[2, :3]) @ self.size / 2)


@dataclass(frozen=True)
class Scene:
    """What one look at the desk gave; ``cloud`` (N, 3) holds every seen point above the table, robot left out."""

    objects: tuple[SceneObject, ...]
    table: Table
    stamp: float
    cloud: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 3), np.float32))

    def get(self, object_id: str) -> SceneObject:
        """The object with this id.

        Raises:
            DeskhandError: ``unknown_object``, with the ids there are.
        """
        for item in self.objects:
            if item.id == object_id:
                return item
        known = ", ".join(item.id for item in self.objects) or "none"
        raise DeskhandError("unknown_object", f"there is no object {object_id!r}; seen: {known}.", hint="Look again or use one of these ids.")


# ---------------------------------------------------------------- grasps


@dataclass(frozen=True)
class Grasp:
    """A parallel-gripper grasp.

    Attributes:
        pose: world_T_tcp at closing: z forward out of the gripper, y along the closing direction.
        width: distance of the contacts [m]; the gripper opens wider before.
        score: 0..1, the probability that the pick succeeds (grasping/success.py).
        contacts: (2, 3) in ``world``.
        friction_margin: [rad] left between the contact forces and the friction cone.
        clearance: smallest distance [m] of the open hand to the rest of the scene.
        joints: an arm configuration that reaches ``pose`` (n,), empty when reach was not checked.
        opening: distance of the pads [m] on the way in, for which the clearance holds; 0: as wide as the gripper opens.
        force: to close with [N]; 0: the gripper's usual one.
    """

    object_id: str
    pose: Array
    width: float
    score: float
    contacts: Array
    friction_margin: float = 0.0
    clearance: float = 0.0
    joints: Array = field(default_factory=lambda: np.zeros(0))
    opening: float = 0.0
    force: float = 0.0


# ---------------------------------------------------------------- motion


@dataclass(frozen=True)
class Shape:
    """Part of a collision object, ``pose`` in the object's frame.

    ``kind`` and ``size``: ``box`` (x, y, z), ``cylinder`` (radius, height; axis z), ``sphere`` (radius,),
    ``mesh`` (``vertices`` (V, 3), ``faces`` (F, 3)), ``points`` (``vertices`` (V, 3), size (voxel edge,)). [m]
    """

    kind: str
    size: tuple[float, ...] = ()
    pose: Array = field(default_factory=identity)
    vertices: Array = field(default_factory=lambda: np.zeros((0, 3)))
    faces: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 3), np.int32))


@dataclass(frozen=True)
class CollisionObject:
    """An obstacle in the planning scene: ``pose`` is world_T_object."""

    id: str
    shapes: tuple[Shape, ...]
    pose: Array = field(default_factory=identity)


@dataclass(frozen=True)
class SceneUpdate:
    """A change of the planning scene, applied as one.

    Attributes:
        replace: when not None, all free obstacles are replaced by these (attached objects stay).
        add: added, or replaced by id.
        remove: ids.
        attach: id of an obstacle that the hand now holds; it moves with ``tcp`` from its present pose.
        detach: let go what is held; it stays as an obstacle where it now is.
        allow: pairs of names (links or object ids) that may touch until the next ``replace``; a held object may always touch the fingers.
    """

    replace: tuple[CollisionObject, ...] | None = None
    add: tuple[CollisionObject, ...] = ()
    remove: tuple[str, ...] = ()
    attach: str = ""
    detach: bool = False
    allow: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class MotionGoal:
    """Where to go: exactly one of joints, named pose, or tcp poses (any of them will do)."""

    joints: Mapping[str, float] | None = None
    named: str = ""
    poses: tuple[Array, ...] = ()


@dataclass(frozen=True)
class PlanOptions:
    """How to plan.

    Attributes:
        start: joints to start from, None for the measured ones.
        speed_scale: (0, 1] of the velocity and acceleration limits.
        allow: pairs of names that may touch in this plan only, for example ``("left_finger_link", "block_1")``.
            ``"gripper"`` stands for all links of the hand.
        max_planning_time: [s]
        max_deviation: Cartesian plans: from the straight line [m].
        min_fraction: Cartesian plans: error when less of the path can be followed.
        upright_tolerance: [rad] that the tcp's z axis may tilt from its start direction, None for free.
    """

    start: Mapping[str, float] | None = None
    speed_scale: float = 1.0
    allow: tuple[tuple[str, str], ...] = ()
    max_planning_time: float = 2.0
    max_deviation: float = 0.002
    min_fraction: float = 1.0
    upright_tolerance: float | None = None


@dataclass(frozen=True)
class Plan:
    """A checked, timed, stored motion; single use, by ``id``.

    ``length`` is the joint path length [rad], ``clearance`` the smallest distance [m] to obstacles that was seen,
    ``fraction`` how much of a Cartesian path is covered, ``preview`` tcp poses (K, 4, 4) along it, ``goal_index``
    which of several goal poses was taken.
    """

    id: str
    trajectory: Trajectory
    length: float
    clearance: float = float("nan")
    fraction: float = 1.0
    goal_index: int = 0
    preview: Array = field(default_factory=lambda: np.zeros((0, 4, 4)))

    @property
    def end(self) -> dict[str, float]:
        """Joints at the end, as a start for the next plan."""
        return dict(zip(self.trajectory.joint_names, map(float, self.trajectory.positions[-1]), strict=True))


@dataclass(frozen=True)
class IkSolution:
    """Joints (n,) in the order of the arm's joints, and how well they meet the pose.

    For arms with fewer than 6 joints ``rotation_error`` is that of the approach axis, and ``roll_error`` (-pi, pi] says by how much the hand
    would still have to turn about it; 0 for the others.
    """

    joints: Array
    position_error: float
    rotation_error: float
    collision_free: bool
    roll_error: float = 0.0


@dataclass(frozen=True)
class StateCheck:
    """``collisions``: names that touch or overlap, with depth [m]; ``clearance`` [m] to the nearest obstacle.

    ``near``: the nearest pairs of names that do not touch, with their distance [m], nearest first.
    """

    valid: bool
    collisions: tuple[tuple[str, str, float], ...]
    clearance: float
    violations: tuple[str, ...] = ()
    near: tuple[tuple[str, str, float], ...] = ()


@dataclass(frozen=True)
class ExecutionReport:
    """What a motion really did; ``code`` is empty on success, else a key of errors.ERROR_NUMBERS; ``tcp``: world_T_tcp (4, 4) where the arm came to rest."""

    code: str
    message: str
    progress: float
    max_tracking_error: float
    final_error: float
    duration: float
    tcp: Array | None = None

    @property
    def ok(self) -> bool:
        """True when the goal was reached."""
        return not self.code


@dataclass(frozen=True)
class GripperReport:
    """What the gripper did: measured ``width`` [m] between the pads, ``stalled`` when something stopped it."""

    width: float
    stalled: bool
    reached: bool
    effort: float = float("nan")


@dataclass(frozen=True)
class NavigationReport:
    """Where a mobile base came to, in the frame ``map`` [m, rad]; ``code`` is empty when it arrived; ``distance_left`` [m] as it was last told."""

    code: str
    message: str
    x: float
    y: float
    yaw: float
    distance_left: float
    duration: float


@dataclass(frozen=True)
class SafetyStatus:
    """``stopped`` is latched until reset; ``reason`` names the cause."""

    stopped: bool
    code: str = ""
    reason: str = ""
    stamp: float = 0.0


# ---------------------------------------------------------------- results of tools and skills


@dataclass(frozen=True)
class SkillResult:
    """Outcome of a skill: ``code`` is empty on success; ``data`` holds what was measured (JSON-able)."""

    code: str
    message: str
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True when the skill did what was asked, verified."""
        return not self.code


def moved(item: SceneObject, pose: Array) -> SceneObject:
    """``item`` with a new pose, its points moved along."""
    relative = pose @ np.linalg.inv(item.pose)
    return replace(item, pose=pose, points=transform_points(relative, item.points).astype(np.float32))
