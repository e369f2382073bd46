"""Requests and answers of the motion services, and the planning scene."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Point32
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive

from deskhand import types
from deskhand.errors import DeskhandError
from deskhand.motion.plans import summary
from deskhand.nodes.conversions.geometry import Placed, header, only_world, pose_from_msg, pose_stamped_from_msg, pose_stamped_to_msg, pose_to_msg
from deskhand.nodes.conversions.joints import joints_from_msg, joints_to_msg, trajectory_from_msg, trajectory_to_msg
from deskhand_interfaces import msg as dm
from deskhand_interfaces.srv import PlanMotion, UpdateScene

_PRIMITIVES = {"box": SolidPrimitive.BOX, "sphere": SolidPrimitive.SPHERE, "cylinder": SolidPrimitive.CYLINDER}
_KINDS = {number: kind for kind, number in _PRIMITIVES.items()}
_DEFAULTS = types.PlanOptions()


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
        after=options.after,
        draft=options.draft,
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
        after=message.after,
        draft=message.draft,
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
        bounds=json.loads(response.summary or "{}").get("bounds", {}),
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
