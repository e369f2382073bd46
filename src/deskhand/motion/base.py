"""What a planning backend offers; one file a variant beside this one. Everything around it (timing, envelope, plan store) is shared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from deskhand.geometry import Array
from deskhand.safety.scene import Pairs, PlanningScene
from deskhand.types import IkSolution

PLANNERS = ("auto", "embedded", "moveit")
"""By name; ``auto`` is moveit where it is installed."""


class Backend(Protocol):
    """Inverse kinematics and collision-free paths for one arm.

    Joint vectors (n,) are in the order of the arm's configuration; ``others`` are joints that stand still (the fingers).
    ``padding`` [m] is added around every obstacle but the table. Methods may be called from several threads.
    """

    name: str

    def close(self) -> None:
        """Free what was built; the backend can be used no more."""
        ...

    def solve_ik(
        self,
        scene: PlanningScene,
        pose: Array,
        seed: Array,
        others: Mapping[str, float],
        *,
        max_solutions: int = 1,
        check_collisions: bool = True,
        allow: Pairs = frozenset(),
        padding: float = 0.0,
        max_time: float = 0.1,
    ) -> list[IkSolution]:
        """Different solutions for ``tcp`` at ``pose`` (world_T_tcp), nearest to ``seed`` first; empty when none was found in ``max_time`` [s].

        Arms with fewer than 6 joints meet position and approach axis; ``rotation_error`` is then that of the axis, ``roll_error`` what is left
        about it. Solutions that meet the roll too come before those that cannot.
        """
        ...

    def refine_ik(self, pose: Array, seed: Array, others: Mapping[str, float]) -> Array | None:
        """The solution near ``seed`` only, without restarts and without collision checks: the next point of a Cartesian line."""
        ...

    def in_collision(self, scene: PlanningScene, joints: Array, others: Mapping[str, float], allow: Pairs = frozenset(), padding: float = 0.0) -> bool:
        """Whether anything touches that may not."""
        ...

    def plan_path(
        self,
        scene: PlanningScene,
        start: Array,
        goal: Array,
        others: Mapping[str, float],
        *,
        allow: Pairs = frozenset(),
        padding: float = 0.0,
        max_time: float = 1.0,
        upright: float | None = None,
        attempt: int = 0,
    ) -> Array | None:
        """Collision-free, shortened way-points (K, n) from ``start`` to ``goal``; None when none was found in ``max_time`` [s].

        ``upright``: [rad] that the tcp's z axis may tilt from its direction at the start. ``attempt`` varies the random numbers.
        """
        ...
