"""The one place where messages are made and read: ``x_to_msg`` and ``x_from_msg`` for the data of types.py.

Every pose that is written is in frame ``world``; readers take a ``Placed`` for those that come in others. Readers of requests check what they read and
raise ``invalid_input``, so that a NaN or a quaternion of the wrong length ends here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Point32, Pose, PoseStamped, Quaternion, TransformStamped, Vector3
from sensor_msgs.msg import CameraInfo, Image, JointState, PointCloud2, PointField
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from deskhand import types
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, pose_from_xyz_quaternion, quaternion_from_matrix, transform_points
from deskhand.motion.plans import summary
from deskhand_interfaces import msg as dm
from deskhand_interfaces.srv import PlanMotion, UpdateScene

WORLD = "world"
_PRIMITIVES = {"box": SolidPrimitive.BOX, "sphere": SolidPrimitive.SPHERE, "cylinder": SolidPrimitive.CYLINDER}
_KINDS = {number: kind for kind, number in _PRIMITIVES.items()}
_DEFAULTS = types.PlanOptions()


Placed = Callable[[Header], Array]
"""world_T_frame (4, 4) of a message's header; nodes/frames.py asks tf."""


def only_world(header: Header) -> Array:
    """A Placed that knows ``world`` alone (empty stands for it). Raises ``invalid_input`` for any other frame."""
    if header.frame_id not in ("", WORLD):
        raise DeskhandError("invalid_input", f"poses must be in frame {WORLD!r}, got {header.frame_id!r}.", hint="Transform the pose before the call.")
    return np.eye(4)


# ---------------------------------------------------------------- time, geometry


def time_to_msg(seconds: float) -> Time:
    """[s] -> Time."""
    nanoseconds = round(seconds * 1e9)
    return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def time_from_msg(message: Time | Duration) -> float:
    """Time or Duration -> [s]."""
    return float(message.sec) + float(message.nanosec) * 1e-9


def duration_to_msg(seconds: float) -> Duration:
    """[s] -> Duration."""
    nanoseconds = round(seconds * 1e9)
    return Duration(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def header(stamp: float = 0.0, frame_id: str = WORLD) -> Header:
    """A header at ``stamp`` [s]."""
    return Header(stamp=time_to_msg(stamp), frame_id=frame_id)


def pose_to_msg(pose: Array) -> Pose:
    """(4, 4) -> Pose."""
    x, y, z, w = map(float, quaternion_from_matrix(pose[:3, :3]))
    px, py, pz = map(float, pose[:3, 3])
    return Pose(position=Point(x=px, y=py, z=pz), orientation=Quaternion(x=x, y=y, z=z, w=w))


def pose_from_msg(message: Pose) -> Array:
    """Pose -> (4, 4). Raises ``invalid_input`` when a value is not finite or the quaternion is not of unit length."""
    p, q = message.position, message.orientation
    if not np.all(np.isfinite([p.x, p.y, p.z])):
        raise DeskhandError("invalid_input", f"the position ({p.x}, {p.y}, {p.z}) is not finite.")
    return pose_from_xyz_quaternion([p.x, p.y, p.z], [q.x, q.y, q.z, q.w])


def pose_stamped_to_msg(pose: Array, stamp: float = 0.0, frame_id: str = WORLD) -> PoseStamped:
    """(4, 4) in ``frame_id`` -> PoseStamped."""
    return PoseStamped(header=header(stamp, frame_id), pose=pose_to_msg(pose))


def pose_stamped_from_msg(message: PoseStamped, placed: Placed = only_world) -> Array:
    """PoseStamped -> (4, 4) in ``world``. Raises ``invalid_input`` for a bad pose, and what ``placed`` raises for its frame."""
    pose = pose_from_msg(message.pose)
    return np.asarray(placed(message.header) @ pose)


def transform_to_msg(parent: str, child: str, pose: Array, stamp: float) -> TransformStamped:
    """parent_T_child (4, 4) -> TransformStamped."""
    message = TransformStamped(header=header(stamp, parent), child_frame_id=child)
    translation, rotation = message.transform.translation, message.transform.rotation
    translation.x, translation.y, translation.z = map(float, pose[:3, 3])
    rotation.x, rotation.y, rotation.z, rotation.w = map(float, quaternion_from_matrix(pose))
    return message


def cloud_to_msg(points: npt.ArrayLike, stamp: float = 0.0, frame_id: str = WORLD) -> PointCloud2:
    """(N, 3) [m] -> PointCloud2 with x, y, z as float32."""
    data = np.ascontiguousarray(points, dtype=np.float32).reshape(-1, 3)
    fields = [PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1) for i, name in enumerate("xyz")]
    message = PointCloud2(header=header(stamp, frame_id), height=1, width=len(data), fields=fields, point_step=12, row_step=12 * len(data), is_dense=True)
    message.data = data.tobytes()
    return message


def cloud_from_msg(message: PointCloud2) -> npt.NDArray[np.float32]:
    """PointCloud2 with float32 x, y, z at any offsets -> (N, 3) finite points [m]."""
    offsets = {field.name: field.offset for field in message.fields if field.datatype == PointField.FLOAT32}
    if not {"x", "y", "z"} <= set(offsets):
        if message.width * message.height == 0:
            return np.zeros((0, 3), np.float32)
        raise DeskhandError("invalid_input", f"the point cloud has no float32 x, y, z fields; it has {sorted(offsets)}.")
    raw = np.frombuffer(bytes(message.data), np.uint8).reshape(-1, message.point_step)
    points = np.stack([raw[:, offsets[a] : offsets[a] + 4].copy().view(np.float32)[:, 0] for a in "xyz"], axis=1)
    return np.asarray(points[np.isfinite(points).all(axis=1)], dtype=np.float32)


# ---------------------------------------------------------------- images


def image_to_msg(image: npt.NDArray[Any], stamp: float, frame_id: str, encoding: str = "") -> Image:
    """(H, W, 3) uint8 RGB or (H, W) float32 [m] -> Image (``rgb8``, ``32FC1`` unless ``encoding`` says otherwise)."""
    data = np.ascontiguousarray(image)
    encoding = encoding or {np.dtype(np.uint8): "rgb8", np.dtype(np.float32): "32FC1", np.dtype(np.uint16): "16UC1"}[data.dtype]
    message = Image(header=header(stamp, frame_id), height=data.shape[0], width=data.shape[1], encoding=encoding, step=data.strides[0])
    message.data.frombytes(memoryview(data).cast("B"))  # one copy; assigning bytes makes two
    return message


def image_from_msg(message: Image) -> npt.NDArray[Any]:
    """Image -> (H, W, 3) uint8 RGB, or (H, W) float32 depth [m] with NaN for nothing (REP 118)."""
    kinds: dict[str, tuple[Any, int]] = {"rgb8": (np.uint8, 3), "bgr8": (np.uint8, 3), "rgba8": (np.uint8, 4), "bgra8": (np.uint8, 4)}
    kinds |= {"32FC1": (np.float32, 1), "16UC1": (np.uint16, 1), "mono16": (np.uint16, 1)}
    if message.encoding not in kinds:
        raise DeskhandError("invalid_input", f"image encoding {message.encoding!r} is not supported; valid: {', '.join(kinds)}.")
    dtype, channels = kinds[message.encoding]
    width = np.dtype(dtype).itemsize * channels * message.width
    raw = np.frombuffer(message.data, np.uint8)
    if message.step < width or raw.size < message.step * message.height:
        raise DeskhandError("invalid_input", f"image data of {raw.size} bytes is too short for {message.width}x{message.height} {message.encoding}.")
    raw = raw[: message.step * message.height].reshape(message.height, message.step)[:, :width]
    array = np.ascontiguousarray(raw).view(np.dtype(dtype).newbyteorder(">" if message.is_bigendian else "<"))
    if channels > 1:
        array = array.reshape(message.height, message.width, channels)[..., :3]
        return np.ascontiguousarray(array[..., ::-1] if message.encoding.startswith("bgr") else array)
    if array.dtype.itemsize == 2:
        return np.where(array == 0, np.nan, array * 0.001).astype(np.float32)
    depth = array.astype(np.float32)
    depth[~(depth > 0)] = np.nan
    return depth


def camera_info_to_msg(intrinsics: types.CameraIntrinsics, stamp: float) -> CameraInfo:
    """Intrinsics of a rectified camera -> CameraInfo."""
    k = intrinsics
    return CameraInfo(
        header=header(stamp, k.frame_id),
        height=k.height,
        width=k.width,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=[k.fx, 0.0, k.cx, 0.0, k.fy, k.cy, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[k.fx, 0.0, k.cx, 0.0, 0.0, k.fy, k.cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


def camera_info_from_msg(message: CameraInfo) -> types.CameraIntrinsics:
    """CameraInfo -> intrinsics. Raises ``invalid_input`` when the camera is not calibrated (K is zero)."""
    if not message.k[0] > 0 or not message.k[4] > 0:
        raise DeskhandError("invalid_input", "camera_info carries no calibration (K is zero).", hint="Calibrate the camera or check its driver.")
    return types.CameraIntrinsics(message.width, message.height, message.k[0], message.k[4], message.k[2], message.k[5], message.header.frame_id)


def frame_from_msg(color: Image, depth: Image, info: CameraInfo, world_T_camera: Array) -> types.Frame:
    """Aligned pictures of one exposure -> Frame."""
    if (color.width, color.height) != (depth.width, depth.height):
        raise DeskhandError("invalid_input", f"colour is {color.width}x{color.height} but depth {depth.width}x{depth.height}: align depth to colour.")
    return types.Frame(image_from_msg(color), image_from_msg(depth), camera_info_from_msg(info), world_T_camera, time_from_msg(color.header.stamp))


# ---------------------------------------------------------------- joints


def joint_state_to_msg(state: types.JointState) -> JointState:
    """JointState -> message."""
    return JointState(
        header=header(state.stamp, ""),
        name=list(state.names),
        position=np.asarray(state.positions, float).tolist(),
        velocity=np.asarray(state.velocities, float).tolist(),
        effort=np.asarray(state.efforts, float).tolist(),
    )


def joint_state_from_msg(message: JointState) -> types.JointState:
    """Message -> JointState; absent velocities become zeros."""
    count = len(message.name)
    if len(message.position) != count:
        raise DeskhandError("invalid_input", f"joint state has {count} names but {len(message.position)} positions.")
    velocity = np.asarray(message.velocity, float) if len(message.velocity) == count else np.zeros(count)
    return types.JointState(
        tuple(message.name), np.asarray(message.position, float), velocity, np.asarray(message.effort, float), time_from_msg(message.header.stamp)
    )


def joints_to_msg(joints: Mapping[str, float] | None) -> JointState:
    """Joint positions by name -> message; None gives an empty one."""
    return JointState(name=list(joints or {}), position=[float(v) for v in (joints or {}).values()])


def joints_from_msg(message: JointState) -> dict[str, float] | None:
    """Message -> positions by name; an empty one gives None."""
    if len(message.name) != len(message.position):
        raise DeskhandError("invalid_input", f"{len(message.name)} joint names but {len(message.position)} positions.")
    if len(set(message.name)) != len(message.name):
        raise DeskhandError("invalid_input", f"a joint is named twice: {list(message.name)}.")
    return dict(zip(message.name, map(float, message.position), strict=True)) or None


def trajectory_to_msg(trajectory: types.Trajectory) -> JointTrajectory:
    """Trajectory -> message."""
    rows = zip(trajectory.times, trajectory.positions, trajectory.velocities, trajectory.accelerations, strict=True)
    points = [
        JointTrajectoryPoint(positions=p.tolist(), velocities=v.tolist(), accelerations=a.tolist(), time_from_start=duration_to_msg(t)) for t, p, v, a in rows
    ]
    return JointTrajectory(joint_names=list(trajectory.joint_names), points=points)


def trajectory_from_msg(message: JointTrajectory) -> types.Trajectory:
    """Message -> Trajectory; absent velocities and accelerations become zeros. Raises ``invalid_input`` for ragged points, and for no joints or points."""
    count = len(message.joint_names)
    if not count or not message.points:
        raise DeskhandError("invalid_input", f"a trajectory of {len(message.points)} points for {count} joints moves nothing.")

    def rows(name: str, required: bool) -> Array:
        values = [np.asarray(getattr(point, name), float) for point in message.points]
        if all(len(value) == count for value in values):
            return np.array(values, float).reshape(-1, count)
        if required or any(len(value) not in (0, count) for value in values):
            raise DeskhandError("invalid_input", f"a trajectory point has not {count} {name}, one for each of {list(message.joint_names)}.")
        return np.zeros((len(values), count))

    times = np.array([time_from_msg(point.time_from_start) for point in message.points], float)
    return types.Trajectory(tuple(message.joint_names), times, rows("positions", True), rows("velocities", False), rows("accelerations", False))


# ---------------------------------------------------------------- scene


def scene_object_to_msg(item: types.SceneObject, stamp: float = 0.0) -> dm.SceneObject:
    """SceneObject -> message."""
    x, y, z = map(float, item.size)
    return dm.SceneObject(
        id=item.id,
        label=item.label,
        label_source=item.label_source,
        color=item.color,
        shape=item.shape,
        material=item.material,
        pose=pose_to_msg(item.pose),
        size=Vector3(x=x, y=y, z=z),
        cloud=cloud_to_msg(item.points, stamp),
        confidence=float(item.confidence),
        is_container=bool(item.is_container),
        wall=float(item.wall),
        support=item.support,
        relation=item.relation,
        box2d=np.asarray(item.box2d, dtype=np.int32),
        guessed=list(item.guessed),
    )


def scene_object_from_msg(message: dm.SceneObject) -> types.SceneObject:
    """Message -> SceneObject."""
    return types.SceneObject(
        id=message.id,
        label=message.label,
        color=message.color,
        shape=message.shape,
        size=np.array([message.size.x, message.size.y, message.size.z]),
        pose=pose_from_msg(message.pose),
        points=cloud_from_msg(message.cloud),
        confidence=message.confidence,
        label_source=message.label_source,
        material=message.material,
        is_container=message.is_container,
        wall=message.wall,
        support=message.support,
        relation=message.relation,
        box2d=tuple(int(v) for v in message.box2d),  # type: ignore[arg-type]
        guessed=tuple(int(axis) for axis in message.guessed),
    )


def scene_to_msg(scene: types.Scene) -> dm.SceneObjects:
    """Scene -> message."""
    return dm.SceneObjects(
        header=header(scene.stamp),
        objects=[scene_object_to_msg(item, scene.stamp) for item in scene.objects],
        table_pose=pose_to_msg(scene.table.pose),
        table_size=np.asarray(scene.table.size, dtype=np.float64),
        cloud=cloud_to_msg(scene.cloud, scene.stamp),
    )


def scene_from_msg(message: dm.SceneObjects, placed: Placed = only_world) -> types.Scene:
    """Message -> Scene; poses and points of all its parts are in the frame of the message's own header."""
    width, depth = map(float, message.table_size)
    table = types.Table(pose_from_msg(message.table_pose), (width, depth))
    objects = tuple(scene_object_from_msg(item) for item in message.objects)
    scene = types.Scene(objects, table, time_from_msg(message.header.stamp), cloud_from_msg(message.cloud))
    return scene if message.header.frame_id in ("", WORLD) else _moved(scene, placed(message.header))


def _moved(scene: types.Scene, world_T_frame: Array) -> types.Scene:
    """The scene, said in another frame, in ``world``."""
    objects = tuple(replace(o, pose=world_T_frame @ o.pose, points=transform_points(world_T_frame, o.points).astype(np.float32)) for o in scene.objects)
    cloud = transform_points(world_T_frame, scene.cloud).astype(np.float32)
    return replace(scene, objects=objects, table=replace(scene.table, pose=world_T_frame @ scene.table.pose), cloud=cloud)


def grasp_to_msg(grasp: types.Grasp) -> dm.Grasp:
    """Grasp -> message."""
    contacts = [Point(x=float(x), y=float(y), z=float(z)) for x, y, z in grasp.contacts]
    return dm.Grasp(
        object_id=grasp.object_id,
        pose=pose_to_msg(grasp.pose),
        width=float(grasp.width),
        score=float(grasp.score),
        contacts=contacts,
        friction_margin=float(grasp.friction_margin),
        clearance=float(grasp.clearance),
        joints=np.asarray(grasp.joints, float).tolist(),
        opening=float(grasp.opening),
        force=float(grasp.force),
    )


def grasp_from_msg(message: dm.Grasp) -> types.Grasp:
    """Message -> Grasp."""
    return types.Grasp(
        object_id=message.object_id,
        pose=pose_from_msg(message.pose),
        width=message.width,
        score=message.score,
        contacts=np.array([[p.x, p.y, p.z] for p in message.contacts]),
        friction_margin=message.friction_margin,
        clearance=message.clearance,
        joints=np.asarray(message.joints, float),
        opening=message.opening,
        force=message.force,
    )


# ---------------------------------------------------------------- motion


def _pairs_to_msg(pairs: Iterable[Sequence[str]]) -> list[dm.NamePair]:
    return [dm.NamePair(a=a, b=b) for a, b in pairs]


def pairs_from_msg(pairs: Iterable[dm.NamePair]) -> tuple[tuple[str, str], ...]:
    """Pairs of names."""
    return tuple((pair.a, pair.b) for pair in pairs)


def plan_options_to_msg(options: types.PlanOptions | None) -> dm.PlanOptions:
    """PlanOptions -> message."""
    options = options or _DEFAULTS
    return dm.PlanOptions(
        start=joints_to_msg(options.start),
        speed_scale=float(options.speed_scale),
        allow=_pairs_to_msg(options.allow),
        max_planning_time=float(options.max_planning_time),
        max_deviation=float(options.max_deviation),
        min_fraction=float(options.min_fraction),
        upright_tolerance=float(options.upright_tolerance or 0.0),
    )


def plan_options_from_msg(message: dm.PlanOptions) -> types.PlanOptions:
    """Message -> PlanOptions; zeros take the defaults."""
    return types.PlanOptions(
        start=joints_from_msg(message.start),
        speed_scale=message.speed_scale or _DEFAULTS.speed_scale,
        allow=pairs_from_msg(message.allow),
        max_planning_time=message.max_planning_time or _DEFAULTS.max_planning_time,
        max_deviation=message.max_deviation or _DEFAULTS.max_deviation,
        min_fraction=message.min_fraction or _DEFAULTS.min_fraction,
        upright_tolerance=message.upright_tolerance or None,
    )


def motion_goal_to_msg(goal: types.MotionGoal, options: types.PlanOptions | None = None) -> PlanMotion.Request:
    """MotionGoal and PlanOptions -> request of motion/plan_motion."""
    poses = [pose_stamped_to_msg(pose) for pose in goal.poses]
    return PlanMotion.Request(joints=joints_to_msg(goal.joints), named=goal.named, poses=poses, options=plan_options_to_msg(options))


def motion_goal_from_msg(message: PlanMotion.Request, placed: Placed = only_world) -> types.MotionGoal:
    """Request of motion/plan_motion -> MotionGoal."""
    return types.MotionGoal(joints_from_msg(message.joints), message.named, tuple(pose_stamped_from_msg(pose, placed) for pose in message.poses))


def plan_to_msg(plan: types.Plan, response: Any) -> Any:
    """Fill a response of PlanMotion or PlanCartesian."""
    response.plan_id = plan.id
    response.trajectory = trajectory_to_msg(plan.trajectory)
    response.length, response.clearance = float(plan.length), float(plan.clearance)
    response.preview = [pose_to_msg(pose) for pose in plan.preview]
    response.summary = json.dumps(summary(plan))
    if hasattr(response, "fraction"):
        response.fraction = float(plan.fraction)
    if hasattr(response, "goal_index"):
        response.goal_index = int(plan.goal_index)
    return response


def plan_from_msg(response: Any) -> types.Plan:
    """Response of PlanMotion or PlanCartesian -> Plan."""
    return types.Plan(
        id=response.plan_id,
        trajectory=trajectory_from_msg(response.trajectory),
        length=response.length,
        clearance=response.clearance,
        fraction=getattr(response, "fraction", 1.0),
        goal_index=getattr(response, "goal_index", 0),
        preview=np.array([pose_from_msg(pose) for pose in response.preview]).reshape(-1, 4, 4),
    )


def ik_solution_to_msg(solution: types.IkSolution) -> dm.IkSolution:
    """IkSolution -> message."""
    return dm.IkSolution(
        joints=np.asarray(solution.joints, float).tolist(),
        position_error=float(solution.position_error),
        rotation_error=float(solution.rotation_error),
        collision_free=bool(solution.collision_free),
        roll_error=float(solution.roll_error),
    )


def ik_solution_from_msg(message: dm.IkSolution) -> types.IkSolution:
    """Message -> IkSolution."""
    return types.IkSolution(np.asarray(message.joints, float), message.position_error, message.rotation_error, message.collision_free, message.roll_error)


def state_check_to_msg(check: types.StateCheck, response: Any) -> Any:
    """Fill a response of CheckState."""
    response.valid, response.clearance = bool(check.valid), float(check.clearance)
    response.collisions = [dm.Contact(a=a, b=b, depth=float(depth)) for a, b, depth in check.collisions]
    response.near = [dm.Contact(a=a, b=b, depth=-float(distance)) for a, b, distance in check.near]
    response.violations = list(check.violations)
    return response


def state_check_from_msg(response: Any) -> types.StateCheck:
    """Response of CheckState -> StateCheck."""
    collisions = tuple((contact.a, contact.b, contact.depth) for contact in response.collisions)
    near = tuple((contact.a, contact.b, -contact.depth) for contact in response.near)
    return types.StateCheck(response.valid, collisions, response.clearance, tuple(response.violations), near)


def collision_object_to_msg(item: types.CollisionObject) -> dm.CollisionObject:
    """CollisionObject -> message. A message carries at most one shape of kind ``points``."""
    message = dm.CollisionObject(header=header(), id=item.id, pose=pose_to_msg(item.pose))
    for shape in item.shapes:
        if shape.kind in _PRIMITIVES:
            # SolidPrimitive has a cylinder's height before its radius.
            size = shape.size[::-1] if shape.kind == "cylinder" else shape.size
            message.primitives.append(SolidPrimitive(type=_PRIMITIVES[shape.kind], dimensions=[float(v) for v in size]))
            message.primitive_poses.append(pose_to_msg(shape.pose))
        elif shape.kind == "mesh":
            triangles = [MeshTriangle(vertex_indices=np.asarray(face, dtype=np.uint32)) for face in shape.faces]
            vertices = [Point(x=float(x), y=float(y), z=float(z)) for x, y, z in shape.vertices]
            message.meshes.append(Mesh(triangles=triangles, vertices=vertices))
            message.mesh_poses.append(pose_to_msg(shape.pose))
        elif shape.kind == "points" and not message.points:
            points = shape.vertices @ shape.pose[:3, :3].T + shape.pose[:3, 3]
            message.points = [Point32(x=float(x), y=float(y), z=float(z)) for x, y, z in points]
            message.voxel_size = float(shape.size[0])
        else:
            raise DeskhandError("invalid_input", f"obstacle {item.id!r} has a shape {shape.kind!r} that cannot be sent (or two of kind points).")
    return message


def collision_object_from_msg(message: dm.CollisionObject, placed: Placed = only_world) -> types.CollisionObject:
    """Message -> CollisionObject. Raises ``invalid_input`` for what is none, and what ``placed`` raises for its frame."""
    if len(message.primitives) != len(message.primitive_poses) or len(message.meshes) != len(message.mesh_poses):
        raise DeskhandError("invalid_input", f"obstacle {message.id!r} must have one pose for each of its shapes.")
    shapes = []
    for primitive, pose in zip(message.primitives, message.primitive_poses, strict=True):
        if primitive.type not in _KINDS:
            raise DeskhandError("invalid_input", f"obstacle {message.id!r}: primitive type {primitive.type} is not box, sphere or cylinder.")
        kind = _KINDS[primitive.type]
        size = tuple(map(float, primitive.dimensions))
        shapes.append(types.Shape(kind, size[::-1] if kind == "cylinder" else size, pose_from_msg(pose)))
    for mesh, pose in zip(message.meshes, message.mesh_poses, strict=True):
        vertices = np.array([[p.x, p.y, p.z] for p in mesh.vertices]).reshape(-1, 3)
        faces = np.array([t.vertex_indices for t in mesh.triangles], dtype=np.int32).reshape(-1, 3)
        shapes.append(types.Shape("mesh", (), pose_from_msg(pose), vertices, faces))
    if message.points:
        points = np.array([[p.x, p.y, p.z] for p in message.points])
        shapes.append(types.Shape("points", (message.voxel_size,), vertices=points))
    pose = pose_from_msg(message.pose)
    return types.CollisionObject(message.id, tuple(shapes), np.asarray(placed(message.header) @ pose))


def scene_update_to_msg(update: types.SceneUpdate) -> UpdateScene.Request:
    """SceneUpdate -> request of motion/update_scene."""
    objects = (update.replace or ()) + update.add
    return UpdateScene.Request(
        replace=update.replace is not None,
        objects=[collision_object_to_msg(item) for item in objects],
        remove=list(update.remove),
        attach=update.attach,
        detach=update.detach,
        allow=_pairs_to_msg(update.allow),
    )


def scene_update_from_msg(message: UpdateScene.Request, placed: Placed = only_world) -> types.SceneUpdate:
    """Request of motion/update_scene -> SceneUpdate."""
    objects = tuple(collision_object_from_msg(item, placed) for item in message.objects)
    return types.SceneUpdate(
        replace=objects if message.replace else None,
        add=() if message.replace else objects,
        remove=tuple(message.remove),
        attach=message.attach,
        detach=message.detach,
        allow=pairs_from_msg(message.allow),
    )


# ---------------------------------------------------------------- safety


def safety_status_to_msg(status: types.SafetyStatus) -> dm.SafetyStatus:
    """SafetyStatus -> message."""
    return dm.SafetyStatus(header=header(status.stamp, ""), stopped=status.stopped, code=status.code, reason=status.reason)


def safety_status_from_msg(message: dm.SafetyStatus) -> types.SafetyStatus:
    """Message -> SafetyStatus."""
    return types.SafetyStatus(message.stopped, message.code, message.reason, time_from_msg(message.header.stamp))
