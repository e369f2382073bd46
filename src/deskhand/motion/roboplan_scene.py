"""A planning scene as a roboplan scene, built afresh each time: changing one by removing geometry makes it miss collisions (roboplan 0.7.0)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array, rpy_from_rotation
from deskhand.safety.scene import Pairs, PlanningScene, padded_voxels, table_object
from deskhand.types import CollisionObject, Shape

GROUP = "deskhand_arm"


class SceneBuilder:
    """Builds scenes of one arm; ``core`` is the module roboplan.core, ``fixed`` are obstacles that are always there and never padded."""

    def __init__(self, core: Any, model: RobotModel, fixed: tuple[CollisionObject, ...]) -> None:
        self._core, self.model, self.arm, self._fixed = core, model, model.arm, fixed
        self._joint_T_tcp = _from_moving_joint(model, model.arm.tcp)

    def build(self, scene: PlanningScene, allow: Pairs, padding: float, others: Mapping[str, float]) -> Any:
        """A roboplan scene: ``others`` stand still, obstacles are ``padding`` [m] larger, world objects do not collide with each other.

        Shapes come in as links of the URDF where it knows them: added one by one, each takes as long as all before it together.
        """
        still = (table_object(), *self._fixed, *scene.obstacles.values())
        pads = dict.fromkeys(scene.obstacles, padding)
        links = [text for item in still for text in _links(item, self.model.root, pads.get(item.id, 0.0))]
        links += _links(scene.held, self.arm.tcp, 0.0) if scene.held else []
        robot, end, _ = standing_still(self.model, others).rpartition("</robot>")
        built = self._core.Scene(self.arm.name, self._core.loadUrdfSceneDescriptionFromXml("".join((robot, *links, end))))
        built.addGroup(GROUP, list(self.arm.joints))
        built.allowAdjacentLinkCollisions()
        for item in still:
            self._add_points(built, item, "universe", pads.get(item.id, 0.0))
        if scene.held:
            self._add_points(built, scene.held, self.arm.tcp, 0.0)
        self._pair(built, scene, {item.id: _names(item) for item in still}, allow)
        return built

    def _pair(self, built: Any, scene: PlanningScene, parts: dict[str, list[str]], allow: Pairs) -> None:
        """Say what may touch what; ``parts``: of what stands still."""
        world = [name for names in parts.values() for name in names]
        robot = [name for name in self.model.links if name in self.model.shapes]
        on = [(link, name) for link in robot for name in world]
        off = [(a, b) for i, a in enumerate(world) for b in world[:i]] + [(a, b) for a, b in map(tuple, self.model.allowed_collisions())]
        off += [(self.arm.base_link, name) for item in (table_object(), *self._fixed) for name in parts[item.id]]
        if scene.held:
            mine = _names(scene.held)
            on += [(link, name) for link in robot for name in mine] + [(name, other) for name in mine for other in world]
            off += [(a, b) for i, a in enumerate(mine) for b in mine[:i]] + [(link, name) for link in self.arm.gripper.links for name in mine]
            parts = {**parts, scene.held.id: mine}
        for a, b in scene.allow | allow:
            off += [(first, second) for first in parts.get(a, [a]) for second in parts.get(b, [b])]
        built.setCollisions(on, True)  # what is fixed to the root counts as next to the first link, and what is held as next to the wrist
        built.setCollisions([pair for pair in off if all(name not in self.model.links or name in self.model.shapes for name in pair)], False)

    def _add_points(self, built: Any, item: CollisionObject, parent: str, pad: float) -> None:
        """The shapes of ``item`` that are points."""
        for name, shape in zip(_names(item), item.shapes, strict=True):
            if shape.kind not in ("box", "cylinder", "sphere"):
                placed = item.pose @ shape.pose
                # roboplan counts the pose of an attached geometry from the last moving joint before the link, not from the link
                pose = np.asfortranarray(self._joint_T_tcp @ placed if parent == self.arm.tcp else placed)
                built.addOcTreeGeometry(name, parent, self._octree(shape, pad), pose, np.ones(4))

    def _octree(self, shape: Shape, pad: float) -> Any:
        """Cubes of the points; padding adds the neighbouring cells, which is at least ``pad``."""
        centers, edge = padded_voxels(shape, pad)
        rows = np.column_stack([centers, np.full(len(centers), edge), np.ones(len(centers)), np.full(len(centers), 0.5)])
        return self._core.OcTree(list(rows), edge)


def _names(item: CollisionObject) -> list[str]:
    """Of its shapes."""
    return [f"{item.id}/{index}" for index in range(len(item.shapes))]


def _links(item: CollisionObject, parent: str, pad: float) -> list[str]:
    """The shapes of ``item``, ``pad`` [m] larger, as URDF links that are fixed to ``parent``."""
    texts = []
    for name, shape in zip(_names(item), item.shapes, strict=True):
        if shape.kind == "box":
            size = " ".join(f"{value + 2 * pad:.9g}" for value in shape.size)
            geometry = f'<box size="{size}"/>'
        elif shape.kind == "cylinder":
            geometry = f'<cylinder radius="{shape.size[0] + pad:.9g}" length="{shape.size[1] + 2 * pad:.9g}"/>'
        elif shape.kind == "sphere":
            geometry = f'<sphere radius="{shape.size[0] + pad:.9g}"/>'
        else:
            continue
        xyz, rpy = _origin(item.pose @ shape.pose)
        link, joint = quoteattr(name), quoteattr(f"{name} joint")
        texts.append(
            f"<link name={link}><collision><geometry>{geometry}</geometry></collision></link>"
            f'<joint name={joint} type="fixed"><parent link={quoteattr(parent)}/><child link={link}/><origin xyz="{xyz}" rpy="{rpy}"/></joint>'
        )
    return texts


def _origin(pose: Array) -> tuple[str, str]:
    """The attributes xyz and rpy of a URDF's origin."""
    xyz, rpy = (" ".join(f"{value:.9g}" for value in values) for values in (pose[:3, 3], rpy_from_rotation(pose)))
    return xyz, rpy


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
        xyz, rpy = _origin(pose)
        ElementTree.SubElement(element, "origin", xyz=xyz, rpy=rpy)
    return ElementTree.tostring(root, encoding="unicode")
