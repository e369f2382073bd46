"""How an arm's file fits its URDF and SRDF: links and joints that are named, limits, the mount, what the gripper drives."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from deskhand.arms.driver_config import ServoConfig
from deskhand.arms.expand import declared, expand
from deskhand.arms.gripper import read_gripper
from deskhand.arms.problems import Problem
from deskhand.arms.relations import Sound
from deskhand.arms.urdf_tree import ROOT, Moving, Tree, read_tree
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, pose_from_xyz_rpy, rpy_from_rotation

SLACK = 2e-3  # [rad, m] beyond a limit: numbers are rounded
SPEED_SLACK = 1.001
MOUNT_SLACK = 1e-4  # [m], and of the rotation's matrix
MOUNT = ("mount_xyz", "mount_rpy")
MOUNT_JOINT = 'Give it <xacro:arg name="mount_xyz" default="0 0 0"/>, the same for mount_rpy, and a fixed joint from `world` to it with these as origin.'


@dataclass(frozen=True)
class _Arm:
    """The file's fields, which of them are sound, and the tree of the URDF."""

    data: Mapping[str, Any]
    sound: Sound
    tree: Tree


def problems(data: Any, beside: Callable[[str], Path], sound: Sound) -> list[Problem]:
    """Everything that does not fit; what is not ``sound`` is left out. ``beside`` finds the files that are named."""
    if not isinstance(data, Mapping):
        return []
    found: list[Problem] = []
    tree: Tree | None = None
    if sound("urdf"):
        urdf = beside(data["urdf"])
        found += _file("urdf", urdf, "URDF or xacro")
        if not found:
            tree, wrong = _tree(data, urdf, sound)
            found += [*_arguments(data, urdf, sound), *wrong]
    if sound("srdf"):
        srdf = beside(data["srdf"])
        found += _file("srdf", srdf, "SRDF") or _srdf(data, srdf, sound, tree)
    if tree is not None:
        arm = _Arm(data, sound, tree)
        for rule in (_links, _chain, _mount, _poses, _speeds, _fingers):
            found += rule(arm)
    return found


def _file(field: str, path: Path, kind: str) -> list[Problem]:
    if path.is_file():
        return []
    return [Problem(field, f"there is no file {path.name}", f"Put the {kind} file beside the arm's file, or into urdf/, or give its whole path.")]


# ------------------------------------------------------------ the URDF itself


def arguments_of(mount: Array, geometry: Mapping[str, float]) -> dict[str, str]:
    """Arguments that every arm's xacro file is given. ``mount``: world_T_base (4, 4)."""
    xyz, rpy = (" ".join(repr(float(value)) for value in values) for values in (mount[:3, 3], rpy_from_rotation(mount)))
    return {"mount_xyz": xyz, "mount_rpy": rpy, **{name: repr(float(value)) for name, value in geometry.items()}}


def _arguments(data: Mapping[str, Any], urdf: Path, sound: Sound) -> list[Problem]:
    """Lengths under ``geometry`` that the URDF does not know: xacro takes them without a word."""
    if not sound("geometry"):
        return []
    names = declared(urdf)
    return [
        Problem(
            f"geometry.{name}",
            f"{urdf.name} has no argument {name}",
            f'Take it out, or give the file <xacro:arg name="{name}" …/>.{_near(name, names - {*MOUNT})}',
        )
        for name in data.get("geometry", {})
        if name not in names
    ]


def _mount_of(data: Mapping[str, Any], sound: Sound) -> Array:
    return pose_from_xyz_rpy(data["mount"]["xyz"], data["mount"]["rpy"]) if sound("mount") else np.eye(4)


def _tree(data: Mapping[str, Any], urdf: Path, sound: Sound) -> tuple[Tree | None, list[Problem]]:
    geometry = data.get("geometry", {}) if sound("geometry") else {}
    try:
        text = expand(urdf, arguments_of(_mount_of(data, sound), geometry)).toxml()
    except DeskhandError as error:
        if error.code == "missing_dependency":
            return None, []
        do = "Mend the file there."
        if "Undefined substitution argument" in error.message or "missing attribute 'default'" in error.message:
            do = 'Give the argument a default in the file (<xacro:arg name="…" default="…"/>), or its value, if it is a length, under `geometry`.'
        return None, [Problem("urdf", error.message.rstrip("."), do)]
    return read_tree(text, urdf.name)


def _srdf(data: Mapping[str, Any], srdf: Path, sound: Sound, tree: Tree | None) -> list[Problem]:
    try:
        root = ElementTree.parse(srdf).getroot()
    except (OSError, ElementTree.ParseError, ValueError) as error:
        return [Problem("srdf", f"{srdf.name} cannot be read: {error}", "Mend it there; urdf/wx250s.srdf is a model.")]
    found = []
    groups = [group.get("name") for group in root.findall("group")]
    if sound("group") and data["group"] not in groups:
        found.append(Problem("group", f"{srdf.name} has no group {data['group']!r}", f"Its groups: {', '.join(map(str, groups)) or 'none'}."))
    for pair in root.findall("disable_collisions"):
        for side in ("link1", "link2"):
            name = pair.get(side)
            if name is None or (tree is not None and name not in tree.links):
                found.append(
                    Problem(
                        "srdf", f"disable_collisions has {side} {name!r}, which is no link of the URDF", "Write the link's name right, or take the line out."
                    )
                )
    return found


# ------------------------------------------------------------ links and joints


def _near(name: Any, names: Any) -> str:
    found = difflib.get_close_matches(str(name), list(names), 1)
    return f" Do you mean {found[0]}?" if found else ""


def _link(arm: _Arm, field: str, name: str) -> Iterator[Problem]:
    if name not in arm.tree.links:
        yield Problem(field, f"the URDF has no link {name!r}", f"Its links: {', '.join(arm.tree.links)}.{_near(name, arm.tree.links)}")


def _links(arm: _Arm) -> Iterator[Problem]:
    for field in ("base_link", "tcp"):
        if arm.sound(field):
            yield from _link(arm, field, arm.data[field])
    for index, name in enumerate(arm.data["gripper"]["links"] if arm.sound("gripper.links") else ()):
        yield from _link(arm, f"gripper.links[{index}]", name)
    gripper = arm.data.get("gripper")
    if isinstance(gripper, Mapping) and "fixed_link" in gripper and arm.sound("gripper.fixed_link"):
        yield from _link(arm, "gripper.fixed_link", gripper["fixed_link"])


def _chain(arm: _Arm) -> Iterator[Problem]:
    """The joints, and whether they lead from the base to the tcp."""
    if not arm.sound("joints"):
        return
    moving = arm.tree.moving
    for index, name in enumerate(arm.data["joints"]):
        field = f"joints[{index}]"
        if name not in arm.tree.joints:
            yield Problem(field, f"the URDF has no joint {name!r}", f"Its joints that move: {', '.join(moving)}.{_near(name, moving)}")
        elif name not in moving or moving[name].mimic:
            yield Problem(
                field,
                f"joint {name!r} of the URDF does not move by itself",
                f"Those that do: {', '.join(n for n, joint in moving.items() if not joint.mimic)}.",
            )
        else:
            yield from _limits(field, moving[name])
    if arm.sound("tcp", "base_link") and {arm.data["tcp"], arm.data["base_link"]} <= set(arm.tree.links):
        above = arm.tree.above(arm.data["tcp"])
        if arm.data["base_link"] not in {link for _, link in above} | {arm.data["tcp"]}:
            yield Problem("tcp", f"{arm.data['tcp']} does not hang on {arm.data['base_link']}", "Name the links of one arm.")
        between = [name for name, _ in above[::-1] if name in moving]
        known = [name for name in arm.data["joints"] if name in moving]
        if known and between != known and len(known) == len(arm.data["joints"]):
            yield Problem(
                "joints",
                f"between world and {arm.data['tcp']} are the joints {', '.join(between) or 'none'}",
                "Name these, in this order; or is `tcp` another link?",
            )


def _limits(field: str, joint: Moving) -> Iterator[Problem]:
    if joint.kind not in ("revolute", "continuous"):
        yield Problem(field, f"joint {joint.name!r} is {joint.kind}", "Only joints that turn can be the arm's.")
    elif joint.lower is None or joint.upper is None:
        yield Problem(
            field,
            f"joint {joint.name!r} of the URDF has no limits",
            'Give it type="revolute" and <limit lower="…" upper="…" effort="…" velocity="…"/> [rad, N m, rad/s].',
        )
    elif not joint.lower < joint.upper:
        yield Problem(field, f"joint {joint.name!r} of the URDF goes from {joint.lower:g} to {joint.upper:g} rad", "Give the lower limit below the upper.")
    elif joint.upper - joint.lower > 4 * np.pi + SLACK:
        yield Problem(
            field, f"joint {joint.name!r} of the URDF goes from {joint.lower:g} to {joint.upper:g} rad", "Give limits in radians, of two turns at most."
        )
    for name in ("effort", "velocity"):
        value = getattr(joint, name)
        if value is None or not 0 < value < 1e4:
            unit = "N m" if name == "effort" else "rad/s"
            yield Problem(
                field,
                f"joint {joint.name!r} of the URDF has the {name} limit {value}",
                f"Give it in <limit> [{unit}], above 0: the simulation and the planner go by it.",
            )


def _mount(arm: _Arm) -> Iterator[Problem]:
    if not arm.sound("mount", "base_link") or arm.data["base_link"] not in arm.tree.links or arm.tree.root != ROOT:
        return
    base = arm.data["base_link"]
    stands = arm.tree.fixed_pose(base)
    if stands is None:
        yield Problem(
            "mount", f"{base} does not stand still in world: a joint that moves is between them", "Name the link that stands on the desk as `base_link`."
        )
    elif np.abs(stands - _mount_of(arm.data, arm.sound)).max() > MOUNT_SLACK:
        at = ", ".join(f"{value:.3f}" for value in stands[:3, 3])
        yield Problem("mount", f"the URDF puts {base} to ({at}) whatever `mount` says", MOUNT_JOINT)


def _range_of(arm: _Arm, name: str) -> tuple[float, float] | None:
    """Limits [rad] of a joint, as its servo narrows them; None when they are not known."""
    joint = arm.tree.moving.get(name)
    if joint is None or joint.lower is None or joint.upper is None:
        return None
    if "driver" in arm.data and arm.sound("driver"):
        servo = arm.data["driver"].get("servos", {}).get(name)
        if servo is not None:
            return ServoConfig.read(servo).narrowed(joint.lower, joint.upper)
    return joint.lower, joint.upper


def _poses(arm: _Arm) -> Iterator[Problem]:
    if not arm.sound("joints"):
        return
    names = arm.data["joints"]
    if arm.sound("driver"):
        for name in names:
            both = _range_of(arm, name)
            if both is not None and both[0] >= both[1] and arm.tree.moving[name].sound:
                yield Problem(
                    f"driver.servos.{name}.range", "nothing is left of the joint's limits", "Give the ticks between which the joint goes, or is `zero` wrong?"
                )
    for pose, values in arm.data["named_poses"].items() if isinstance(arm.data.get("named_poses"), Mapping) else ():
        if not arm.sound(f"named_poses.{pose}") or len(values) != len(names):
            continue
        for index, (name, value) in enumerate(zip(names, values, strict=True)):
            joint = arm.tree.moving.get(name)
            # only home must be within what this unit can do: nothing goes to the others by itself
            goes = _range_of(arm, name) if pose == "home" else None if joint is None else (joint.lower, joint.upper)
            if goes is None or goes[0] is None or goes[1] is None or goes[0] >= goes[1]:
                continue
            if not goes[0] - SLACK <= value <= goes[1] + SLACK:
                yield Problem(
                    f"named_poses.{pose}[{index}]",
                    f"{value:g} rad is beyond the limits of {name}, {goes[0]:.4g} to {goes[1]:.4g}",
                    "Give a pose within the limits [rad].",
                )


def _speeds(arm: _Arm) -> Iterator[Problem]:
    if not arm.sound("joints", "max_velocity") or len(arm.data["joints"]) != len(arm.data["max_velocity"]):
        return
    for index, (name, value) in enumerate(zip(arm.data["joints"], arm.data["max_velocity"], strict=True)):
        joint = arm.tree.moving.get(name)
        if joint is not None and joint.velocity and value > joint.velocity * SPEED_SLACK:
            yield Problem(
                f"max_velocity[{index}]",
                f"{value:g} rad/s is beyond the URDF's {joint.velocity:g} of {name}",
                "Give no more than the URDF, or mend its <limit velocity>.",
            )


def _fingers(arm: _Arm) -> Iterator[Problem]:
    """What the gripper drives, and whether it opens as far as is said."""
    if not arm.sound("gripper.joint"):
        return
    gripper, moving = arm.data["gripper"], arm.tree.moving
    driven = moving.get(gripper["joint"])
    if driven is None or driven.mimic:
        free = [name for name, joint in moving.items() if not joint.mimic and name not in arm.data.get("joints", ())]
        yield Problem(
            "gripper.joint", f"{gripper['joint']!r} is no joint of the URDF that moves by itself", f"Those besides the arm's: {', '.join(free) or 'none'}."
        )
        return
    if arm.sound("joints") and driven.name in arm.data["joints"]:
        yield Problem("gripper.joint", f"{driven.name} is one of the arm's `joints` too", "Take it out of one of them.")
    pivot = gripper.get("kind") == "pivot"
    if driven.kind != ("revolute" if pivot else "prismatic"):
        kind = "revolute, for kind pivot" if pivot else "prismatic, for kind parallel"
        yield Problem("gripper.joint", f"joint {driven.name!r} is {driven.kind}", f"It must be {kind}.")
    for name in ("effort", "velocity"):
        if not getattr(driven, name):
            yield Problem("gripper.joint", f"joint {driven.name!r} of the URDF has the {name} limit {getattr(driven, name)}", "Give it in <limit>, above 0.")
    if not driven.sound:
        said = f"joint {driven.name!r} of the URDF goes from {driven.lower} to {driven.upper}"
        yield Problem("gripper.joint", said, "Give it <limit> with the lower below the upper [m, or rad for kind pivot].")
    yield from _follower(arm, driven, pivot)
    if arm.sound("gripper") and gripper["width_min"] < gripper["width_max"] and driven.sound:
        yield from _opening(gripper, driven)


def _follower(arm: _Arm, driven: Moving, pivot: bool) -> Iterator[Problem]:
    gripper = arm.data["gripper"]
    followers = [name for name, joint in arm.tree.moving.items() if joint.mimic == driven.name]
    if gripper.get("mimic") and arm.sound("gripper.mimic") and gripper["mimic"] not in followers:
        yield Problem(
            "gripper.mimic", f"{gripper['mimic']!r} is no joint of the URDF that mimics {driven.name}", f"Those that do: {', '.join(followers) or 'none'}."
        )
    elif not pivot and not followers:
        yield Problem("gripper.mimic", f"no joint of the URDF mimics {driven.name}", f'Give the other finger <mimic joint="{driven.name}" multiplier="1"/>.')


def _opening(gripper: Mapping[str, Any], driven: Moving) -> Iterator[Problem]:
    assert driven.lower is not None and driven.upper is not None
    try:
        config = read_gripper(gripper)
    except (TypeError, ValueError):
        return  # said already
    for name in ("width_min", "width_max"):
        position = config.position_of(gripper[name])
        if not driven.lower - SLACK <= position <= driven.upper + SLACK:
            goes = sorted((config.width_of(driven.lower), config.width_of(driven.upper)))
            yield Problem(
                f"gripper.{name}",
                f"{gripper[name]:g} m: {driven.name} goes from {driven.lower:g} to {driven.upper:g}, which is {goes[0]:.4g} to {goes[1]:.4g} m",
                "Mend the width, `width_offset`, or the URDF.",
            )
