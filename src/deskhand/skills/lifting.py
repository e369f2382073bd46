"""Lift what has been grasped: straight up, or from under what hangs over it."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.skills.base import UNREACHED, SkillContext
from deskhand.types import Plan, PlanOptions

log = logging.getLogger(__name__)

OFF = 0.015  # [m] that it is raised before it goes to a side
WAYS = (0.08, 0.14, 0.20)  # [m] to a side
SIDES = 8  # directions
ALL = 0.9  # of such a way must be free


def lift(ctx: SkillContext, height: float, touch: tuple[tuple[str, str], ...], watch: Callable[[], bool | None] | None = None) -> Array:
    """Up by ``height`` [m]; where the way straight up is not free, as below an open drawer, to a side first, and up there. By what it has moved (3,) [m].

    ``touch``: pairs that may touch. Raises what planning straight up and execution raise.
    """
    start = ctx.robot.tcp_pose().copy()
    try:
        ctx.rise(height, touch, watch=watch)
        return np.array([0.0, 0.0, float(ctx.robot.tcp_pose()[2, 3] - start[2, 3])])
    except DeskhandError as error:
        aside = _aside(ctx, start, height, touch) if error.code in UNREACHED else None
        if aside is None:
            raise
        log.info("not straight up: %s: %s", error.code, error)
        ctx.execute(aside, watch)
    return np.asarray(ctx.robot.tcp_pose()[:3, 3] - start[:3, 3])


def _aside(ctx: SkillContext, start: Array, height: float, touch: tuple[tuple[str, str], ...]) -> Plan | None:
    """A way a little up, to a side, and up; the shortest that is free, None where there is none."""
    for way in WAYS:
        for angle in np.arange(SIDES) * 2 * np.pi / SIDES:
            poses = [start.copy() for _ in range(3)]
            for pose, share, up in zip(poses, (0.0, 1.0, 1.0), (OFF, OFF, height), strict=True):
                pose[:3, 3] += [share * way * np.cos(angle), share * way * np.sin(angle), up]
            try:
                return ctx.plan_line(tuple(poses), PlanOptions(allow=touch, min_fraction=ALL))
            except DeskhandError as error:
                if error.code not in UNREACHED:
                    raise
    return None
