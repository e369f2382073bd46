"""Plans as objects: stored under an id, used once, refused when the world is no longer what they were made for."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.motion.blending import Run
from deskhand.types import Plan

MOST_PLANS = 200
START_TOLERANCE = 0.03  # [rad] between where the plan starts and where the arm is
OPENED = 0.005  # [m] that a finger may stand further out than when the plan was checked
LIFETIME = 120.0  # [s]


@dataclass(frozen=True)
class _Stored:
    plan: Plan
    runs: tuple[Run, ...]
    scene_version: int
    others: Mapping[str, float]
    made: float
    draft: bool


class PlanStore:
    """Holds plans until they are taken; safe to use from several threads.

    ``lever``: [m] that a finger moves for 1 m or rad of the gripper's joint.
    """

    def __init__(self, lever: float = 1.0) -> None:
        self._opened = OPENED / lever
        # A random part, so that an id from before a restart never names a plan of now.
        self._prefix, self._count = f"plan_{secrets.token_hex(2)}", 0
        self._plans: OrderedDict[str, _Stored] = OrderedDict()
        self._ended: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def next_id(self) -> str:
        """A new id."""
        with self._lock:
            self._count += 1
            return f"{self._prefix}_{self._count}"

    def add(self, plan: Plan, runs: tuple[Run, ...], scene_version: int, others: Mapping[str, float], now: float, draft: bool = False) -> None:
        """Keep ``plan``, made of ``runs``, checked against that scene with these finger positions; what time or the scene has overtaken goes, and the oldest
        where there are too many.
        """
        with self._lock:
            for name, stored in list(self._plans.items()):
                if stored.scene_version <= scene_version and (reason := _overtaken(stored, scene_version, now)):
                    self._retire(name, reason)
            self._plans[plan.id] = _Stored(plan, runs, scene_version, dict(others), now, draft)
            while len(self._plans) > MOST_PLANS:
                self._retire(next(iter(self._plans)), f"{MOST_PLANS} plans were made since")

    def take(self, plan_id: str, joints: Mapping[str, float], scene_version: int, now: float) -> Plan:
        """The plan, which is used up by this, for an arm that stands at ``joints``.

        Raises:
            DeskhandError: ``unknown_plan``, ``plan_used``, ``plan_expired`` saying what has changed, or ``invalid_input`` for a draft.
        """
        with self._lock:
            stored = self._get(plan_id)
            if stored.draft:
                raise DeskhandError("invalid_input", f"{plan_id} is a draft, which nobody has timed or checked.", hint="Execute a plan that goes on from it.")
            reason = _moved(stored, joints) or _expired(stored, joints, self._opened, scene_version, now)
            self._retire(plan_id, reason)
            if reason:
                raise DeskhandError("plan_expired", f"{plan_id}: {reason}.", hint="Plan again.")
            return stored.plan

    def to_go_on_from(self, plan_id: str, joints: Mapping[str, float], scene_version: int, now: float) -> tuple[tuple[Run, ...], dict[str, float]]:
        """What a plan is made of and the joints at its end, fingers included, for one that goes on from it; it stays stored.

        Raises:
            DeskhandError: as :meth:`take`.
        """
        with self._lock:
            stored = self._get(plan_id)
            reason = _expired(stored, joints, self._opened, scene_version, now)
            if reason:
                raise DeskhandError("plan_expired", f"{plan_id}: {reason}.", hint="Plan again.")
            return stored.runs, {**stored.others, **stored.plan.end}

    def _get(self, plan_id: str) -> _Stored:
        if plan_id in self._ended:
            if reason := self._ended[plan_id]:
                raise DeskhandError("plan_expired", f"{plan_id}: {reason}.", hint="Plan again.")
            raise DeskhandError("plan_used", f"{plan_id} was executed already; a plan can be used once.", hint="Plan again.")
        stored = self._plans.get(plan_id)
        if stored is None:
            known = ", ".join(list(self._plans)[-5:]) or "none"
            raise DeskhandError("unknown_plan", f"there is no plan {plan_id!r}; the newest: {known}.")
        return stored

    def snapshot(self) -> tuple[Any, ...]:
        """What is stored and what was used."""
        with self._lock:
            return self._count, OrderedDict(self._plans), OrderedDict(self._ended)

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Go on from what :meth:`snapshot` gave; ids that were given since are given again."""
        with self._lock:
            self._count, self._plans, self._ended = snapshot[0], OrderedDict(snapshot[1]), OrderedDict(snapshot[2])

    def _retire(self, name: str, reason: str) -> None:
        """It cannot be taken any more: ``reason`` says why, empty where it was."""
        del self._plans[name]
        self._ended[name] = reason
        while len(self._ended) > 10 * MOST_PLANS:
            self._ended.popitem(last=False)


def summary(plan: Plan) -> dict[str, Any]:
    """What a language model needs to know of a plan, JSON-able."""
    end = plan.preview[-1][:3, 3].tolist() if len(plan.preview) else []
    clearance = None if np.isnan(plan.clearance) else round(plan.clearance, 4)
    return {
        "plan_id": plan.id,
        "duration": round(plan.trajectory.duration, 2),
        "length": round(plan.length, 3),
        "clearance": clearance,
        "fraction": round(plan.fraction, 3),
        "end_position": [round(value, 4) for value in end],
        "bounds": {name: round(seconds, 2) for name, seconds in plan.bounds.items() if seconds > 0},
    }


def _moved(stored: _Stored, joints: Mapping[str, float]) -> str:
    """Which joint is not where the plan starts, or an empty text."""
    trajectory = stored.plan.trajectory
    for name, start in zip(trajectory.joint_names, trajectory.positions[0], strict=True):
        if abs(joints[name] - start) > START_TOLERANCE:
            return f"{name} stands at {joints[name]:.3f} rad, the plan starts at {start:.3f}"
    return ""


def _expired(stored: _Stored, joints: Mapping[str, float], opened: float, scene_version: int, now: float) -> str:
    """Why the plan no longer holds, wherever the arm stands, or an empty text."""
    wider = [name for name, value in stored.others.items() if joints.get(name, value) > value + opened]
    if wider:
        return "the gripper was opened since"
    return _overtaken(stored, scene_version, now)


def _overtaken(stored: _Stored, scene_version: int, now: float) -> str:
    """Why the plan no longer holds whatever the joints are, or an empty text."""
    if scene_version != stored.scene_version:
        return "the planning scene has changed since"
    return f"it is {now - stored.made:.0f} s old" if now - stored.made > LIFETIME else ""
