"""Each joint by a few degrees and back: a joint that turns the wrong way is found here, before anything is planned for it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from deskhand.arms.bus.choice import make_bus
from deskhand.arms.config import load_arm
from deskhand.arms.driver import ArmDriver
from deskhand.arms.follower import straight
from deskhand.arms.model import RobotModel
from deskhand.bringup.first_day.base import Day
from deskhand.bringup.first_day.workplace import driver_of, port_of
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse

CONNECT = 8.0  # [s]
SWING = np.radians(6.0)  # of each joint
SECONDS = 1.2  # for that
POINTS = 12
ARRIVED = np.radians(2.0)  # nearer to the wish than this, the joint has moved as it should
SHIFTED = 0.004  # [m] of the fingers: less is seen worse than a turn
SEEN = 0.002  # [m] less is not seen at all
STILL = np.radians(1.5)  # that another joint may move meanwhile


@contextmanager
def arm_driver(day: Day, hold: bool = True) -> Iterator[ArmDriver]:
    """The arm's driver on its bus, connected; it holds the arm when the block ends, however that ends.

    Raises:
        DeskhandError: ``device_unavailable``, ``device_busy`` when the arm does not answer or its port is taken; ``config_error``.
    """
    arm = load_arm(day.unit)
    if day.workplace is not None:
        day.workplace.release()
    driver = ArmDriver(RobotModel.load(arm), make_bus(arm.driver, driver_of(day), port_of(day)), hold=hold)
    driver.start()
    try:
        driver.wait_connected(CONNECT)
        yield driver
    finally:
        driver.close()


def run(day: Day) -> Mapping[str, Any]:
    """Move every joint a little, there and back, and ask whether it went where it should.

    Raises:
        DeskhandError: ``cancelled`` without the person's yes; ``config_error`` for a joint that turns the wrong way; ``servo_fault`` for one that does not
            move; ``tracking_error`` when another one moves with it.
    """
    operator = day.operator
    if not operator.confirm(
        "dry_run.start",
        f"Each joint will MOVE by {np.degrees(SWING):.0f} degrees and back, one after the other. Is the arm clear of everything by 10 cm, "
        "and a hand on its power switch?",
    ):
        raise DeskhandError("cancelled", "nothing was moved.", hint="Make room for the arm, and run again.")
    moved: dict[str, float] = {}
    with arm_driver(day) as driver:
        for index, joint in enumerate(driver.arm.joints):
            swing = _inwards(driver, index)
            operator.say(f"    {joint}: {direction(driver.model, _angles(driver), index, swing)}, and back")
            moved[joint] = round(float(np.degrees(_swing(driver, index, swing))), 2)
            seen = direction(driver.model, _angles(driver), index, swing)
            if not operator.confirm(f"dry_run.{joint}", f"Did {joint} move so: {seen}, and back?"):
                raise DeskhandError(
                    "config_error",
                    f"{joint} does not move as the arm's file says.",
                    hint="It turns the other way, or another servo has its number: see the arm's page in docs/arms, and do the steps before this one again.",
                )
    return {"moved_degrees": moved}


def direction(model: RobotModel, angles: Array, index: int, swing: float) -> str:
    """How a person who stands behind the arm sees joint ``index`` turn by ``swing`` [rad] from ``angles`` (n,)."""
    return directions(model, angles, index, swing)[0]


def directions(model: RobotModel, angles: Array, index: int, swing: float) -> list[str]:
    """All that can be said of that motion, what is seen best first."""
    turned = angles.copy()
    turned[index] += swing
    base = inverse(model.arm.world_T_base)
    before, after = (base @ model.tcp_pose(model.arm_joints(values)) for values in (angles, turned))
    way, turn = after[:3, 3] - before[:3, 3], Rotation.from_matrix(before[:3, :3].T @ after[:3, :3]).as_rotvec()
    names = (("forward", "backward"), ("to the left", "to the right"), ("up", "down"))
    shifts = [f"the fingers move {names[axis][0 if way[axis] > 0 else 1]}" for axis in np.argsort(-np.abs(way)) if abs(way[axis]) > SEEN]
    turns = [f"the gripper turns {'clockwise' if turn[2] > 0 else 'counter-clockwise'}, seen along the fingers"] if abs(turn[2]) > abs(swing) / 2 else []
    told = [*turns, *shifts] if np.linalg.norm(way) < SHIFTED else [*shifts, *turns]
    return told or [f"{model.arm.joints[index]} turns by {np.degrees(swing):.0f} degrees"]


def _inwards(driver: ArmDriver, index: int) -> float:
    """The swing [rad], away from the nearer end of the joint's range."""
    lower, upper = driver.model.limits[driver.arm.joints[index]][:2]
    return float(SWING if _angles(driver)[index] < (lower + upper) / 2 else -SWING)


def _angles(driver: ArmDriver) -> Array:
    return np.asarray(driver.joint_state().of(driver.arm.joints), dtype=float)


def _swing(driver: ArmDriver, index: int, swing: float) -> float:
    """There and back; returns how far it went [rad]."""
    start = _angles(driver)
    goal = start.copy()
    goal[index] += swing
    _follow(driver, start, goal)
    there = _angles(driver)
    _follow(driver, there, start)
    joint, went = driver.arm.joints[index], there - start
    if abs(went[index] - swing) > ARRIVED:
        raise DeskhandError(
            "servo_fault", f"{joint} moved by {np.degrees(went[index]):.1f} degrees, not by {np.degrees(swing):.1f}.", hint="Is it blocked, or its torque off?"
        )
    others = np.abs(np.delete(went, index))
    if others.max() > STILL:
        other = [name for name in driver.arm.joints if name != joint][int(others.argmax())]
        raise DeskhandError("tracking_error", f"{other} moved by {np.degrees(others.max()):.1f} degrees when {joint} was told to.", hint="Do both have one id?")
    return float(went[index])


def _follow(driver: ArmDriver, start: Array, goal: Array) -> None:
    """Smoothly, in SECONDS.

    Raises:
        DeskhandError: why the arm did not follow.
    """
    follower = driver.follow(straight(driver.arm.joints, start, goal, SECONDS, POINTS))
    end = time.monotonic() + 4 * SECONDS + 4.0
    while follower.active:
        if time.monotonic() > end:
            driver.cancel(follower)
            raise DeskhandError("timeout", "the arm did not finish a motion of a few degrees.", hint="Is it blocked?")
        time.sleep(0.01)
    if follower.code != 0:
        raise DeskhandError("controller_failed", f"the arm did not follow: {follower.message}")
