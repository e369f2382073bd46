"""What the planning scene is in MoveIt's messages. Imported only where MoveIt is there."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Point, Pose
from moveit_msgs.msg import AttachedCollisionObject, Constraints, OrientationConstraint
from moveit_msgs.msg import CollisionObject as CollisionObjectMsg
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive

from deskhand.geometry import Array, quaternion_from_matrix
from deskhand.safety.scene import padded_voxels
from deskhand.types import CollisionObject, Shape


def pose_to_msg(pose: Array) -> Pose:
    """(4, 4) -> Pose."""
    message = Pose()
    message.position.x, message.position.y, message.position.z = map(float, pose[:3, 3])
    quaternion = quaternion_from_matrix(pose[:3, :3])
    message.orientation.x, message.orientation.y, message.orientation.z, message.orientation.w = map(float, quaternion)
    return message


def object_to_msg(item: CollisionObject, frame: str, padding: float = 0.0) -> CollisionObjectMsg:
    """Boxes, cylinders and spheres as such, clouds and meshes as the surface of their voxels, all ``padding`` [m] larger.

    MoveIt pads links, for the whole scene alike; here the obstacles are padded, since what is held and the table must not be.
    """
    message = CollisionObjectMsg(id=item.id, operation=CollisionObjectMsg.ADD)
    message.header.frame_id = frame
    message.pose = pose_to_msg(item.pose)
    for shape in item.shapes:
        if shape.kind in ("mesh", "points"):
            message.meshes.append(_voxel_mesh(shape, padding))
            message.mesh_poses.append(pose_to_msg(shape.pose))
        else:
            message.primitives.append(_primitive(shape, padding))
            message.primitive_poses.append(pose_to_msg(shape.pose))
    return message


def attached_to_msg(item: CollisionObject, link: str, touch_links: tuple[str, ...]) -> AttachedCollisionObject:
    """What the hand holds; ``item.pose`` is link_T_object."""
    return AttachedCollisionObject(link_name=link, object=object_to_msg(item, link), touch_links=list(touch_links))


def upright_to_msg(world_T_tcp: Array, link: str, frame: str, tolerance: float) -> Constraints:
    """The tcp's z axis may tilt by ``tolerance`` [rad] from its direction in ``world_T_tcp``; about it the hand may turn."""
    constraint = OrientationConstraint(link_name=link, weight=1.0, parameterization=OrientationConstraint.ROTATION_VECTOR)
    constraint.header.frame_id = frame
    constraint.orientation = pose_to_msg(world_T_tcp).orientation
    constraint.absolute_x_axis_tolerance = constraint.absolute_y_axis_tolerance = float(tolerance)
    constraint.absolute_z_axis_tolerance = 2 * float(np.pi)
    return Constraints(orientation_constraints=[constraint])


def _primitive(shape: Shape, padding: float) -> SolidPrimitive:
    if shape.kind == "box":
        return SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[float(size) + 2 * padding for size in shape.size])
    if shape.kind == "cylinder":  # height first, then radius
        return SolidPrimitive(type=SolidPrimitive.CYLINDER, dimensions=[float(shape.size[1]) + 2 * padding, float(shape.size[0]) + padding])
    return SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[float(shape.size[0]) + padding])


def _voxel_mesh(shape: Shape, padding: float) -> Mesh:
    """The faces between a filled cell and an empty one. A mesh keeps the object's name; an octomap has one name for all clouds."""
    centers, edge = padded_voxels(shape, padding)
    cells = np.round(centers / edge - 0.5).astype(np.int64)
    filled = {tuple(cell) for cell in cells.tolist()}
    corners: dict[tuple[int, int, int], int] = {}
    triangles: list[MeshTriangle] = []
    for cell in cells.tolist():
        for axis in range(3):
            for side in (0, 1):
                beside = list(cell)
                beside[axis] += 2 * side - 1
                if tuple(beside) not in filled:
                    quad = [corners.setdefault(corner, len(corners)) for corner in _face(cell, axis, side)]
                    triangles += [MeshTriangle(vertex_indices=[quad[0], quad[1], quad[2]]), MeshTriangle(vertex_indices=[quad[0], quad[2], quad[3]])]
    points = [Point(x=edge * x, y=edge * y, z=edge * z) for x, y, z in corners]
    return Mesh(triangles=triangles, vertices=points)


def _face(cell: list[int], axis: int, side: int) -> list[tuple[int, int, int]]:
    """Corners of one face of a cell, in grid steps, seen from outside against the clock."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    result = []
    for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1)) if side else ((0, 0), (0, 1), (1, 1), (1, 0)):
        corner = list(cell)
        corner[axis] += side
        corner[u] += du
        corner[v] += dv
        result.append((corner[0], corner[1], corner[2]))
    return result
