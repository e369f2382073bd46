"""The links and joints of a URDF, read without ever raising: what is wrong with them is told, the rest is kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from deskhand.arms.problems import Problem
from deskhand.geometry import Array, pose_from_xyz_rpy

KINDS = ("fixed", "revolute", "continuous", "prismatic")
ROOT = "world"
MOST_TRIANGLES = 200_000  # that MuJoCo reads of a file
SIZES = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",)}


@dataclass(frozen=True)
class Moving:
    """A joint that is not fixed; limits [rad or m, N m or N, rad/s or m/s] are None where they are missing or no numbers."""

    name: str
    kind: str
    lower: float | None
    upper: float | None
    effort: float | None
    velocity: float | None
    mimic: str = ""

    @property
    def sound(self) -> bool:
        """Whether it goes from somewhere to somewhere."""
        return self.lower is not None and self.upper is not None and self.lower < self.upper


@dataclass(frozen=True)
class Link:
    """A link, the joint that it hangs on ("" for the root) and the link above, and its pose in that one at 0 (None: not known)."""

    name: str
    joint: str
    parent: str
    pose: Array | None


@dataclass(frozen=True)
class Tree:
    """A URDF whose links all hang on one root; ``moving`` are the joints that are not fixed, ``joints`` the names of all."""

    root: str
    links: Mapping[str, Link]
    joints: tuple[str, ...]
    moving: Mapping[str, Moving]

    def above(self, link: str) -> list[tuple[str, str]]:
        """(joint, link above it) from ``link`` up to the root."""
        found = []
        while self.links[link].joint:
            found.append((self.links[link].joint, self.links[link].parent))
            link = self.links[link].parent
        return found

    def fixed_pose(self, link: str) -> Array | None:
        """root_T_link (4, 4); None when a joint in between moves."""
        pose = np.eye(4)
        while self.links[link].joint:
            step = self.links[link].pose
            if self.links[link].joint in self.moving or step is None:
                return None
            pose, link = step @ pose, self.links[link].parent
        return pose


def read_tree(text: str, name: str) -> tuple[Tree | None, list[Problem]]:
    """The tree of a URDF, None where it is none, and everything that is wrong with the URDF itself. ``name`` is the file's."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        return None, [Problem("urdf", f"{name} is no XML: {error}", "Mend it there.")]
    found: list[Problem] = []
    links = [link.get("name", "") for link in root.findall("link")]
    for twice in sorted({link for link in links if links.count(link) > 1}):
        found.append(Problem("urdf", f"link {twice!r} stands twice", "Give every link its own name."))
    hung: dict[str, Link] = {}
    moving: dict[str, Moving] = {}
    joints = root.findall("joint")
    for joint in joints:
        found += _hang(joint, links, hung, moving)
    names = [joint.get("name", "") for joint in joints]
    for twice in sorted({each for each in names if names.count(each) > 1}):
        found.append(Problem("urdf", f"joint {twice!r} stands twice", "Give every joint its own name."))
    tree, wrong = _rooted(links, hung, tuple(names), moving, name)
    found += wrong
    for link in root.findall("link"):
        found += _shapes(link)
        if tree is not None and any(joint in moving for joint, _ in tree.above(link.get("name", ""))):
            found += _inertia(link, tree, moving)
    if tree is not None and not root.findall("link/collision"):
        found.append(
            Problem("urdf", "no link has a <collision> shape", "Give the links shapes (box, cylinder, sphere, STL mesh): without them nothing is checked.")
        )
    return tree, found


def _rooted(links: list[str], hung: Mapping[str, Link], names: tuple[str, ...], moving: Mapping[str, Moving], name: str) -> tuple[Tree | None, list[Problem]]:
    roots = [link for link in links if link not in hung]
    if len(roots) != 1:
        said = f"the links {', '.join(roots)} hang on nothing" if roots else "there is no link" if not links else "every link hangs on another"
        return None, [Problem("urdf", f"{name}: {said}", "One link, `world`, must be the root that all others hang on by joints.")]
    for start in hung:
        link, steps = start, 0
        while link in hung and steps <= len(links):
            link, steps = hung[link].parent, steps + 1
        if link != roots[0]:
            return None, [Problem("urdf", f"link {start!r} hangs on itself or on no link", "Mend <parent> and <child> of its joints.")]
    tree = Tree(roots[0], {roots[0]: Link(roots[0], "", "", None), **hung}, names, moving)
    if tree.root == ROOT:
        return tree, []
    link = 'Give it <link name="world"/> and a fixed joint from world to that link,'
    do = f"{link} with $(arg mount_xyz) and $(arg mount_rpy) as origin; docs/adding-an-arm.md shows it."
    return tree, [Problem("urdf", f"its root link is {tree.root!r}, and not 'world'", do)]


def _hang(joint: ElementTree.Element, links: list[str], hung: dict[str, Link], moving: dict[str, Moving]) -> Iterator[Problem]:
    name, kind = joint.get("name", ""), joint.get("type", "")
    ends = [part.get("link", "") if (part := joint.find(tag)) is not None else "" for tag in ("parent", "child")]
    for tag, end in zip(("parent", "child"), ends, strict=True):
        if end not in links:
            yield Problem("urdf", f"joint {name!r} has the {tag} {end!r}, which is no link", "Write it right, or add the <link>.")
    if ends[1] in hung:
        yield Problem("urdf", f"link {ends[1]!r} hangs on the joints {hung[ends[1]].joint!r} and {name!r}", "A link hangs on one joint only.")
    elif set(ends) <= set(links):
        pose = _pose(joint)
        if pose is None:
            yield Problem("urdf", f"the origin of joint {name!r} is no six numbers", 'Write <origin xyz="x y z" rpy="r p y"/> [m, rad].')
        hung[ends[1]] = Link(ends[1], name, ends[0], pose)
    if kind not in KINDS:
        yield Problem("urdf", f"joint {name!r} has the type {kind!r}", f"Valid: {', '.join(KINDS)}.")
    elif kind != "fixed":
        moving[name] = _moving(joint, name, kind)
        axis = joint.find("axis")
        along = _numbers(axis.get("xyz"), 3) if axis is not None else (1.0, 0.0, 0.0)
        if along is None or not any(along):
            yield Problem("urdf", f"the axis of joint {name!r} is no direction", 'Write <axis xyz="0 0 1"/>.')


def _moving(joint: ElementTree.Element, name: str, kind: str) -> Moving:
    limit, mimic = joint.find("limit"), joint.find("mimic")
    values = {}
    for part in ("lower", "upper", "effort", "velocity"):
        given = _numbers(limit.get(part), 1) if limit is not None else None
        values[part] = given[0] if given else None
    if kind != "continuous" and limit is not None:  # the URDF's own defaults
        values["lower"] = 0.0 if "lower" not in limit.attrib else values["lower"]
        values["upper"] = 0.0 if "upper" not in limit.attrib else values["upper"]
    return Moving(name, kind, mimic=mimic.get("joint", "") if mimic is not None else "", **values)


def _numbers(text: str | None, count: int) -> tuple[float, ...] | None:
    """``count`` finite numbers, or None."""
    try:
        values = tuple(float(word) for word in (text or "").split())
    except ValueError:
        return None
    return values if len(values) == count and all(map(math.isfinite, values)) else None


def _pose(element: ElementTree.Element) -> Array | None:
    origin = element.find("origin")
    xyz, rpy = (_numbers((origin.get(name) if origin is not None else None) or "0 0 0", 3) for name in ("xyz", "rpy"))
    return None if xyz is None or rpy is None else pose_from_xyz_rpy(xyz, rpy)


def _shapes(link: ElementTree.Element) -> Iterator[Problem]:
    name = link.get("name", "")
    for shape in link.findall("collision"):
        geometry = shape.find("geometry")
        kinds = [] if geometry is None else list(geometry)
        if len(kinds) != 1 or kinds[0].tag not in (*SIZES, "mesh"):
            yield Problem("urdf", f"a <collision> of link {name!r} has no shape that is known", "Valid: box, cylinder, sphere, mesh.")
            continue
        if _pose(shape) is None:
            yield Problem("urdf", f"the origin of a <collision> of link {name!r} is no six numbers", 'Write <origin xyz="x y z" rpy="r p y"/> [m, rad].')
        for part in SIZES.get(kinds[0].tag, ()):
            size = _numbers(kinds[0].get(part), 3 if part == "size" else 1)
            if size is None or min(size) <= 0:
                yield Problem("urdf", f"a {kinds[0].tag} of link {name!r} has the {part} {kinds[0].get(part)!r}", "Give it in metres, above 0.")
    for mesh in link.findall("collision/geometry/mesh") + link.findall("visual/geometry/mesh"):
        yield from _mesh(name, mesh.get("filename", ""))


def _mesh(link: str, filename: str) -> Iterator[Problem]:
    path = Path(filename.removeprefix("file://"))
    if filename.startswith("package://"):
        yield Problem(
            "urdf",
            f"the mesh {filename} of link {link!r} is in a package that is not there",
            "Source the ROS 2 workspace that has it, or name a file beside the URDF.",
        )
    elif not path.is_file():
        yield Problem("urdf", f"the mesh {path} of link {link!r} is not there", "Put it there; a name without a folder is looked for beside the URDF.")
    elif path.suffix.lower() != ".stl":
        do = "Convert it to STL (Blender, MeshLab), or use a box, cylinder or sphere."
        yield Problem("urdf", f"the mesh {path.name} of link {link!r} is no STL file", do)
    elif not 1 <= _triangles(path) <= MOST_TRIANGLES:
        do = f"Save it as binary STL of 1 to {MOST_TRIANGLES} triangles: the simulation reads no other."
        yield Problem("urdf", f"the mesh {path.name} of link {link!r} is no binary STL file, or has too many triangles", do)


def _triangles(stl: Path) -> int:
    """Of a binary STL file; 0 for another."""
    with stl.open("rb") as stream:
        count = int.from_bytes(stream.read(84)[80:], "little")
    return count if stl.stat().st_size == 84 + 50 * count else 0


def _inertia(link: ElementTree.Element, tree: Tree, moving: Mapping[str, Moving]) -> Iterator[Problem]:
    """The simulation needs a mass in everything that a joint moves; a link that is fixed to one that has any needs none."""
    name = link.get("name", "")
    inertial = link.find("inertial")
    if inertial is None:
        if tree.links[name].joint in moving:
            yield Problem(
                "urdf",
                f"link {name!r} moves, and has no <inertial>",
                "Give it a mass [kg] and an inertia [kg m²]: the simulation needs them; an estimate will do.",
            )
        return
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    weight = _numbers(mass.get("value"), 1) if mass is not None else None
    if weight is None or not 0 < weight[0] < 100:
        yield Problem("urdf", f"the mass of link {name!r} is {None if mass is None else mass.get('value')}", "Give it in kg, above 0.")
    values = [_numbers(inertia.get(part), 1) if inertia is not None else None for part in ("ixx", "iyy", "izz")]
    if any(value is None or value[0] <= 0 for value in values):
        yield Problem("urdf", f"the inertia of link {name!r} is not positive", "Give ixx, iyy, izz above 0 [kg m²].")
    else:
        xx, yy, zz = (value[0] for value in values if value is not None)
        if 2 * max(xx, yy, zz) > (xx + yy + zz) * 1.01:
            yield Problem(
                "urdf",
                f"the inertia of link {name!r} is none that a body can have",
                "Its greatest of ixx, iyy, izz must not be above the sum of the other two.",
            )
