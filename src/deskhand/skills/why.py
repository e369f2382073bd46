"""Why something did not work, in words that help: what is in the way, by how much, and where it would work."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, transform_points
from deskhand.skills.robot import Robot
from deskhand.skills.room import room_in
from deskhand.types import Scene, SceneObject, Table

STEP = 0.01  # [m] between the rings on which a free place is looked for
RINGS = 25
TURNS = 16  # places on a ring
TRIED = 40  # places that are looked at closely
FINGER = 0.015  # [m] beside what is held that the fingers take


class LiftTrack:
    """How far the fingers were apart at each height of a lift, to say later where something gave way. Called on the way, by whoever waits for the motion."""

    def __init__(self, robot: Robot, width: Callable[[], float]) -> None:
        self._robot, self._width = robot, width
        self._from = float(robot.tcp_pose()[2, 3])
        self._blind = False
        self.samples: list[tuple[float, float]] = []
        """(height above the start, width between the fingers) [m]."""

    def __call__(self) -> None:
        """One more sample; none any more once joints are not measured: the motion itself fails by that."""
        if self._blind:
            return
        try:
            self.samples.append((float(self._robot.tcp_pose()[2, 3]) - self._from, self._width()))
        except DeskhandError:
            self._blind = True

    def gave_at(self, closed: float, tolerance: float) -> float | None:
        """Height [m] at which the fingers were first closer than ``closed`` by more than ``tolerance`` [m]; None when no sample shows it."""
        return next((height for height, width in self.samples if width < closed - tolerance), None)


def distance_from(places: Array, item: SceneObject) -> Array:
    """Distance (N,) [m] of places (N, 2) from an object's box seen from above, 0 inside."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    corners = transform_points(item.pose, signs * np.asarray(item.size, dtype=float) / 2)[:, :2]
    axes = [item.pose[:2, column] for column in range(3) if np.linalg.norm(item.pose[:2, column]) > 0.3] or [np.array([1.0, 0.0])]
    main = axes[0] / np.linalg.norm(axes[0])
    frame = np.column_stack([main, [-main[1], main[0]]])
    local, flat = places @ frame, corners @ frame
    return np.asarray(np.hypot(*np.maximum(0.0, np.maximum(flat.min(axis=0) - local, local - flat.max(axis=0))).T))


def in_the_way(scene: Scene, place: Array, item: SceneObject, leave_out: Sequence[str] = ()) -> str:
    """What stands too near to ``place`` (x, y) for ``item`` and the fingers that hold it, and by how much; empty when nothing does."""
    needed = float(np.hypot(*np.sort(item.size)[1:])) / 2 + FINGER
    near = []
    for other in scene.objects:
        if other.id in (item.id, *leave_out) or other.relation == "held":
            continue
        away = float(distance_from(np.asarray(place, dtype=float)[None, :2], other)[0])
        if away < needed:
            near.append((away, other.id))
    said = [f"{name} is {1000 * (needed - away):.0f} mm too near" for away, name in sorted(near)[:3]]
    return f"{' and '.join(said)} ({1000 * needed:.0f} mm are needed with the fingers)" if said else ""


def around(place: Array) -> Array:
    """Places (N, 2) about a place (x, y), the nearest first, up to 25 cm off."""
    angles = np.linspace(0.0, 2 * np.pi, TURNS, endpoint=False)
    rings = [radius * np.column_stack([np.cos(angles), np.sin(angles)]) for radius in STEP * np.arange(1, RINGS + 1)]
    return np.asarray(np.asarray(place, dtype=float)[:2] + np.vstack(rings))


def nearest_free(scene: Scene, arm: ArmConfig, place: Array, item: SceneObject, works: Callable[[Array], bool]) -> str:
    """The nearest place (x, y) on the table within reach for which ``works`` says yes, in words; empty when there is none within 25 cm."""
    start, base = np.asarray(place, dtype=float)[:2], arm.world_T_base[:2, 3]
    least = float(np.sort(item.size)[1]) / 2
    half = np.asarray(scene.table.size) / 2 - least
    places = around(start)
    radius = np.linalg.norm(places - base, axis=1)
    keep = (np.abs(places - scene.table.pose[:2, 3]) < half).all(axis=1) & (radius > arm.work_radius[0]) & (radius < arm.work_radius[1])
    for other in scene.objects:
        if other.id != item.id and other.relation != "held":
            keep &= distance_from(places, other) > least
    for found in places[keep][:: max(1, int(keep.sum()) // TRIED)]:
        if works(found):
            return (
                f"the nearest free place within reach that I find is ({found[0]:.3f}, {found[1]:.3f}), {1000 * float(np.linalg.norm(found - start)):.0f} mm off"
            )
    return ""


def other_container(scene: Scene, full: SceneObject) -> str:
    """The other container that has the most room, in words; empty when there is none."""
    rooms = [(room_in(scene, other).share, other.id) for other in scene.objects if other.is_container and other.id != full.id]
    share, name = max(rooms, default=(0.0, ""))
    return f"{name} has the most room: {100 * share:.0f} % of it is free" if name else "there is no other container"


def workspace_in_words(arm: ArmConfig, table: Table | None = None) -> str:
    """One sentence: where the arm's base stands, how far it reaches, and how large the desk is as seen (``table`` of a look), all in the frame ``world``."""
    x, y, z = (float(value) for value in arm.world_T_base[:3, 3])
    low, high = arm.work_radius
    reach = (
        f"The base of the arm ({arm.name}) stands at (x {x:.2f}, y {y:.2f}, z {z:.2f}) m; it picks and places objects that are {low:.2f} to {high:.2f} m "
        f"from there as seen from above, and its hand gets {arm.reach:.2f} m far"
    )
    if table is None:
        return f"{reach}."
    middle, (wide, deep) = table.pose[:2, 3], table.size
    return (
        f"{reach}; of the desk x {middle[0] - wide / 2:.2f} to {middle[0] + wide / 2:.2f} m and y {middle[1] - deep / 2:.2f} to {middle[1] + deep / 2:.2f} m "
        f"are seen ({wide:.2f} x {deep:.2f} m; x points away from the robot, y to its left)."
    )


def joined(*parts: str) -> str:
    """The parts that say something, as one sentence without its full stop."""
    return "; ".join(part for part in parts if part)
