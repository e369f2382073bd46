"""What is on the desk, and grasps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from geometry_msgs.msg import Point, Vector3

from deskhand import types
from deskhand.geometry import Array, transform_points
from deskhand.nodes.conversions.geometry import WORLD, Placed, cloud_from_msg, cloud_to_msg, header, only_world, pose_from_msg, pose_to_msg, time_from_msg
from deskhand_interfaces import msg as dm


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
        names=[other.name for other in item.names],
        name_probabilities=[float(other.probability) for other in item.names],
        name_sources=[other.source for other in item.names],
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
        names=tuple(map(types.NameCandidate, message.names, message.name_probabilities, message.name_sources)),
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
