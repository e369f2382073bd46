"""What came of motions and skills, and whether anything may move. SI units; every pose is ``world_T_x``, (4, 4); see geometry.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from deskhand.geometry import Array


@dataclass(frozen=True)
class ExecutionReport:
    """What a motion really did; ``code`` is empty on success, else a key of errors.ERROR_NUMBERS; ``tcp``: world_T_tcp (4, 4) where the arm came to rest."""

    code: str
    message: str
    progress: float
    max_tracking_error: float
    final_error: float
    duration: float
    tcp: Array | None = None

    @property
    def ok(self) -> bool:
        """True when the goal was reached."""
        return not self.code


@dataclass(frozen=True)
class GripperReport:
    """What the gripper did: measured ``width`` [m] between the pads, ``stalled`` when something stopped it."""

    width: float
    stalled: bool
    reached: bool
    effort: float = float("nan")


@dataclass(frozen=True)
class NavigationReport:
    """Where a mobile base came to, in the frame ``map`` [m, rad]; ``code`` is empty when it arrived; ``distance_left`` [m] as it was last told."""

    code: str
    message: str
    x: float
    y: float
    yaw: float
    distance_left: float
    duration: float


@dataclass(frozen=True)
class SafetyStatus:
    """``stopped`` is latched until reset; ``reason`` names the cause."""

    stopped: bool
    code: str = ""
    reason: str = ""
    stamp: float = 0.0


@dataclass(frozen=True)
class SkillResult:
    """Outcome of a skill: ``code`` is empty on success; ``data`` holds what was measured (JSON-able)."""

    code: str
    message: str
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True when the skill did what was asked, verified."""
        return not self.code
