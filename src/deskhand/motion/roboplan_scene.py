"""A planning scene as a roboplan scene, built afresh each time: changing one by removing geometry makes it miss collisions (roboplan 0.7.0)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.safety.scene import Pairs, PlanningScene, padded_voxels, table_object
from deskhand.types import CollisionObject, Shape

GROUP = "deskhand_arm"


class SceneBuilder:
    """Builds scenes of one arm; ``core`` is the module roboplan.core, ``fixed`` are obstacles that are always there and never padded."""

    def __init__(self, core: Any, model: RobotModel, fixed: tuple[CollisionObject, ...]) -> None:
        self._core, self.model, self.arm, self._fixed = core, model, model.arm, fixed
        self._joint_T_tcp = _from_moving_joint(model, model.arm.tcp)

    def build(self, scene: PlanningScene, allow: Pairs, padding: float, others: Mapping[str, float]) -> Any:
        """A roboplan scene: ``others`` stand still, obstacles are ``padding`` [m] larger, world objects do not collide with each other."""
        built = self._core.Scene(self.arm.name, self._core.loadUrdfSceneDescriptionFromXml(standing_still(self.model, others)))
        built.addGroup(GROUP, list(self.arm.joints))
        built.allowAdjacentLinkCollisions()
        parts: dict[str, list[str]] = {}
        for item in (table_object(), *self._fixed, *scene.obstacles.values()):
            pad = padding if item.id in scene.obstacles else 0.0
            parts[item.id] = [self._add(built, item, index, "universe", pad) for index in range(len(item.shapes))]
        still = [name for names in parts.values() for name in names]
        off = [(a, b) for i, a in enumerate(still) for b in still[:i]]
        off += [(a, b) for a, b in map(tuple, self.model.allowed_collisions())]
        off += [(self.arm.base_link, name) for item in (table_object(), *self._fixed) for name in parts[item.id]]
        if scene.held:
            parts[scene.held.id] = [self._add(built, scene.held, index, self.arm.tcp, 0.0) for index in range(len(scene.held.shapes))]
            mine = parts[scene.held.id]
            off += [(a, b) for i, a in enumerate(mine) for b in mine[:i]] + [(link, name) for link in self.arm.gripper.links for name in mine]
        for a, b in scene.allow | allow:
            off += [(first, second) for first in parts.get(a, [a]) for second in parts.get(b, [b])]
        built.setCollisions([p for p in off if self._has_geometry(built, p)], False)
        return built

    def _has_geometry(self, built: Any, names: tuple[str, str]) -> bool:
        return all(name not in self.model.links or name in self.model.shapes for name in names)

    def _add(self, built: Any, item: CollisionObject, index: int, parent: str, pad: float) -> str:
        name, shape = f"{item.id}/{index}", item.shapes[index]
        placed = item.pose @ shape.pose
        # roboplan counts the pose of an attached geometry from the last moving joint before the link, not from the link
        pose, color = np.asfortranarray(self._joint_T_tcp @ placed if parent == self.arm.tcp else placed), np.ones(4)
        if shape.kind == "box":
            built.addBoxGeometry(name, parent, self._core.Box(*(value + 2 * pad for value in shape.size)), pose, color)
        elif shape.kind == "cylinder":
            built.addCylinderGeometry(name, parent, self._core.Cylinder(shape.size[0] + pad, shape.size[1] + 2 * pad), pose, color)
        elif shape.kind == "sphere":
            built.addSphereGeometry(name, parent, self._core.Sphere(shape.size[0] + pad), pose, color)
        else:
            built.addOcTreeGeometry(name, parent, self._octree(shape, pad), pose, color)
        return name

    def _octree(self, shape: Shape, pad: float) -> Any:
        """Cubes of the points; padding adds the neighbouring cells, which is at least ``pad``."""
        centers, edge = padded_voxels(shape, pad)
        rows = np.column_stack([centers, np.full(len(centers), edge), np.ones(len(centers)), np.full(len(centers), 0.5)])
        return self._core.OcTree(list(rows), edge)


def _from_moving_joint(model: RobotModel, link: str) -> Array:
    """joint_T_link (4, 4) from the frame of the last joint before ``link`` that is not fixed."""
    parents = {joint.child: joint for joint in model.joints.values()}
    transform = np.eye(4)
    while link in parents and parents[link].kind == "fixed":
        transform = parents[link].origin @ transform
        link = parents[link].parent
    return transform


def standing_still(model: RobotModel, others: Mapping[str, float]) -> str:
    """The URDF with every joint but the arm's fixed where it stands (``others``, the rest at 0).

    roboplan's solvers each keep a state of their own for joints outside the group; without such joints there is nothing to disagree on.
    """
    root = ElementTree.fromstring(model.urdf)
    for element in root.findall("joint"):
        joint = model.joints[element.attrib["name"]]
        if joint.kind == "fixed" or joint.name in model.arm.joints:
            continue
        source, multiplier, offset = joint.mimic or (joint.name, 1.0, 0.0)
        pose = joint.motion(multiplier * float(others.get(source, 0.0)) + offset)
        element.set("type", "fixed")
        for child in list(element):
            if child.tag in ("origin", "axis", "limit", "mimic", "dynamics", "safety_controller", "calibration"):
                element.remove(child)
        x, y, z = pose[:3, 3]
        roll, pitch = np.arctan2(pose[2, 1], pose[2, 2]), np.arctan2(-pose[2, 0], np.hypot(pose[0, 0], pose[1, 0]))
        yaw = np.arctan2(pose[1, 0], pose[0, 0])
        ElementTree.SubElement(element, "origin", xyz=f"{x:.9g} {y:.9g} {z:.9g}", rpy=f"{roll:.9g} {pitch:.9g} {yaw:.9g}")
    return ElementTree.tostring(root, encoding="unicode")
