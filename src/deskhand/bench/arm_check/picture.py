"""The picture of ``deskhand arms check``: the arm at home from the side and from above, the limits of its joints, where it reaches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from deskhand.arms.model import RobotModel
from deskhand.bench.arm_check.measure import HEIGHT, LIFT, Findings
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, transform_points
from deskhand.types import Shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HOW = {
    "lifted": ("tab:green", f"grasped, and lifted by {100 * LIFT:g} cm"),
    "low": ("gold", "grasped, not lifted"),
    "blocked": ("tab:red", "only in collision"),
    "out": ("0.85", "out of reach"),
}
SIDES = 24  # of what is round


def draw(model: RobotModel, findings: Findings, file: Path) -> None:
    """Write it as PNG (or what the file's ending says).

    Raises:
        DeskhandError: ``config_error`` when the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 10.5), layout="constrained")
    axes = figure.subplots(2, 2)
    arm = model.arm
    joints = {**model.arm_joints(arm.named_poses["home"]), arm.gripper.joint: arm.gripper.position_of(arm.gripper.width_max)}
    poses = model.forward(joints)
    _view(axes[0][0], model, poses, (0, 2), f"{arm.name} at home, from the side (x, z of world [m])")
    _view(axes[0][1], model, poses, (0, 1), "from above (x, y of world [m])")
    _limits(axes[1][0], model)
    _map(axes[1][1], model, findings)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, dpi=110)
    except (OSError, ValueError) as error:
        raise DeskhandError("config_error", f"{file} cannot be written: {error}.", hint="Give --out FILE.png.") from error


def _view(axes: Axes, model: RobotModel, poses: dict[str, Array], plane: tuple[int, int], title: str) -> None:
    arm = model.arm
    for index, (link, shapes) in enumerate(model.shapes.items()):
        for shape in shapes:
            seen = transform_points(poses[link], _corners(shape))[:, plane]
            outline = _hull(seen)
            label = link if shape is shapes[0] else None
            axes.fill(*outline.T, color=f"C{index % 10}", alpha=0.25, linewidth=0, label=label)
            axes.plot(*np.vstack([outline, outline[:1]]).T, color=f"C{index % 10}", linewidth=0.7)
    for joint in model.joints.values():
        ends = np.array([poses[joint.parent][:3, 3], poses[joint.child][:3, 3]])[:, plane]
        if joint.parent != model.root:
            axes.plot(*ends.T, color="0.3", linewidth=1)
        if joint.name in arm.joints:
            axes.plot(*ends[1], "o", color="black", markersize=4)
    tcp = poses[arm.tcp]
    for axis, color in enumerate(("red", "green", "blue")):
        tip = tcp[:3, 3] + 0.05 * tcp[:3, axis]
        axes.plot(*np.array([tcp[:3, 3], tip])[:, plane].T, color=color, linewidth=2)
    if plane[1] == 1:
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    else:
        _names(axes, model, poses, plane)
        axes.axhline(0, color="saddlebrown", linewidth=2)
        axes.annotate("table", (1, 0), xycoords=("axes fraction", "data"), color="saddlebrown", ha="right", va="bottom")
    axes.plot(0, 0, "+", color="0.5", markersize=12)
    axes.set(title=title, aspect="equal")
    axes.margins(0.12)
    axes.grid(alpha=0.3)


def _names(axes: Axes, model: RobotModel, poses: dict[str, Array], plane: tuple[int, int]) -> None:
    """Names of the links, those that begin at one place together."""
    at: dict[tuple[float, float], list[str]] = {}
    for link in model.links:
        if link != model.root:
            across, up = np.round(poses[link][list(plane), 3], 2)
            at.setdefault((float(across), float(up)), []).append(link)
    for index, (place, links) in enumerate(sorted(at.items(), key=lambda item: item[0][1])):
        offset = (12 if index % 2 else -12, 6)
        style: Any = {"textcoords": "offset points", "fontsize": 8, "ha": "left" if index % 2 else "right", "arrowprops": {"arrowstyle": "-", "color": "0.6"}}
        axes.annotate("\n".join(links), place, offset, **style)


def _limits(axes: Axes, model: RobotModel) -> None:
    """A bar a joint: as far as it goes, the named poses in it."""
    arm = model.arm
    for row, name in enumerate(arm.joints):
        lower, upper, velocity, effort = model.limits[name]
        axes.barh(row, upper - lower, left=lower, color="tab:blue", alpha=0.3)
        axes.annotate(f"{lower:.2f}", (lower, row), ha="right", va="center", fontsize=8)
        axes.annotate(f"{upper:.2f}", (upper, row), ha="left", va="center", fontsize=8)
        axes.annotate(
            f"{min(arm.max_velocity[row], velocity):.2g} of {velocity:.2g} rad/s, {effort:.3g} N m", (0, row), (0, 15), textcoords="offset points", fontsize=7
        )
    for index, (pose, values) in enumerate(arm.named_poses.items()):
        axes.plot(values, range(len(values)), marker="o" if pose == "home" else "x", linestyle="", color=f"C{index + 1}", label=pose)
    axes.set_yticks(range(len(arm.joints)), arm.joints)
    axes.invert_yaxis()
    axes.axvline(0, color="0.6", linewidth=0.8)
    axes.use_sticky_edges = False
    axes.margins(x=0.2)
    axes.legend(fontsize=8)
    axes.set(title="limits of the joints [rad], speed that is used, and the named poses")


def _map(axes: Axes, model: RobotModel, findings: Findings) -> None:
    base = model.arm.world_T_base
    heading = np.arctan2(base[1, 0], base[0, 0])
    for how, (color, label) in HOW.items():
        places = [place for place in findings.places if place.how == how]
        angles = np.array([place.direction + heading for place in places])
        radii = np.array([place.radius for place in places])
        axes.scatter(base[0, 3] + radii * np.cos(angles), base[1, 3] + radii * np.sin(angles), s=28, color=color, label=label)
    turn = np.linspace(heading - np.pi / 2, heading + np.pi / 2, 90)
    for rings, style, name in ((model.arm.work_radius, "-", "work_radius of the file"), (findings.measured, ":", "measured")):
        for radius in rings or ():
            shown: Any = {"label": name} if rings is not None and radius == rings[0] else {}
            axes.plot(base[0, 3] + radius * np.cos(turn), base[1, 3] + radius * np.sin(turn), style, color="black", linewidth=1.2, **shown)
    axes.plot(*base[:2, 3], "s", color="black", markersize=8)
    axes.set(title=f"straight down, tcp {100 * HEIGHT:g} cm over the table (x, y of world [m])", aspect="equal")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))


def _corners(shape: Shape) -> Array:
    """Points (N, 3) of the link's frame whose hull is the shape."""
    if shape.kind == "box":
        points = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * shape.size
    elif shape.kind == "cylinder":
        turn = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
        ring = shape.size[0] * np.column_stack([np.cos(turn), np.sin(turn)])
        points = np.vstack([np.column_stack([ring, np.full(SIDES, z * shape.size[1])]) for z in (-0.5, 0.5)])
    elif shape.kind == "sphere":
        turn, tilt = np.meshgrid(np.linspace(0, 2 * np.pi, SIDES), np.linspace(0, np.pi, SIDES // 2))
        points = shape.size[0] * np.column_stack([(np.sin(tilt) * np.cos(turn)).ravel(), (np.sin(tilt) * np.sin(turn)).ravel(), np.cos(tilt).ravel()])
    else:
        points = shape.vertices
    return transform_points(shape.pose, points)


def _hull(points: Array) -> Array:
    """Outline (M, 2) of points (N, 2)."""
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):
        return points  # a line
