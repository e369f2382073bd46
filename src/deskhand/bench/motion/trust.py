"""Whether plans can be trusted: looked at again by another library, and executed in simulation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.bench.motion.contenders import Deskhand
from deskhand.bench.motion.recheck import STEP, Recheck
from deskhand.bench.motion.run import PLAN_TIME, TaskEnd
from deskhand.bench.motion.tasks import SITUATIONS, TaskMaker
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, rotation_about
from deskhand.motion.executor import Executor
from deskhand.motion.service import MotionService
from deskhand.motion.timing import differences
from deskhand.safety.kinematics import link_poses
from deskhand.safety.settings import keep_out_zone, load_safety
from deskhand.sim.devices import SimArm, SimClock
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import ObjectSpec, WorldSpec
from deskhand.types import ExecutionReport, MotionGoal, Plan

DEEP = 1e-3  # [m]
LIMIT = 0.01
AT_REST = 0.01  # [rad/s]
UNREACHED = frozenset({"no_ik_solution", "goal_in_collision", "planning_failed"})


def campaign(arm: ArmConfig, plans: int, motions: int, seed: int, told: TaskEnd) -> dict[str, Any]:
    """``plans`` looked at again, ``motions`` executed and a quarter as many stopped; ``safe`` when nothing was wrong with any."""
    result: dict[str, Any] = {"safe": True}
    if plans:
        result["plans"] = recheck_plans(arm, plans, seed, told)
        result["safe"] = not (result["plans"]["deeper_than_1mm"] or result["plans"]["over_limits"])
    if motions:
        result["motions"] = execute_plans(arm, motions, motions // 4, seed, told)
        result["safe"] = result["safe"] and not result["motions"]["contacts"]
    return result


def recheck_plans(arm: ArmConfig, count: int, seed: int, told: TaskEnd) -> dict[str, Any]:
    """Plans of all situations, by MuJoCo at 1 mrad and by finite differences at the rate that the controller gets."""
    maker, stack = TaskMaker(arm), Deskhand(arm)
    depths: list[float] = []
    worst_limit, over, deepest, unsolved = 0.0, 0, "", 0
    share = -(-count // len(SITUATIONS))
    try:
        for situation in SITUATIONS:
            for index, task in enumerate(maker.make(situation, min(share, count - len(depths) - unsolved), seed + 1)):
                told(f"plan {len(depths) + unsolved + 1} of {count} looked at again ({situation}, {index + 1})")
                stack.load(task)
                outcome = stack.plan(task.pose, PLAN_TIME)
                if outcome is None:
                    unsolved += 1
                    continue
                depth, names = Recheck(arm, task, stack.still.finger).deepest(outcome.trajectory)
                if depth > max(depths, default=0.0):
                    deepest = f"{names} ({situation}, {index})"
                depths.append(depth)
                velocity, acceleration = differences(outcome.trajectory)
                exceeded = max(float((velocity / arm.max_velocity).max()), float((acceleration / arm.max_acceleration).max())) - 1
                worst_limit, over = max(worst_limit, exceeded), over + (exceeded > LIMIT)
    finally:
        maker.close()
        stack.close()
    return {
        "plans": len(depths),
        "unsolved": unsolved,
        "step_rad": STEP,
        "deeper_than_1mm": sum(depth > DEEP for depth in depths),
        "touching": sum(depth > 0 for depth in depths),
        "deepest_mm": 1000 * max(depths, default=0.0),
        "deepest": deepest,
        "over_limits": over,
        "worst_limit": worst_limit,
    }


class Watched(SimClock):
    """Simulated time that counts the steps at which the arm touches anything but itself."""

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation)
        self._simulation = simulation
        model = simulation.model
        self.arm_bodies = {model.body(link).id for link in simulation.built.robot.links if link != "world"} - {model.body(simulation.arm.base_link).id}
        self.touched = 0

    def sleep(self, seconds: float) -> None:
        """One step of the physics at a time."""
        end = self.now() + seconds
        while self.now() < end - 1e-9:
            self._simulation.step(self._simulation.model.opt.timestep)
            model, data = self._simulation.model, self._simulation.data
            for contact in data.contact:
                owners = {int(model.geom_bodyid[geom]) for geom in (contact.geom1, contact.geom2)}
                self.touched += bool(owners & self.arm_bodies) and bool(owners - self.arm_bodies)


def execute_plans(arm: ArmConfig, count: int, stops: int, seed: int, told: TaskEnd) -> dict[str, Any]:
    """Random plans on the simulated arm, around a keep-out zone that a real post fills; ``stops`` more are cancelled on the way."""
    maker, rng = TaskMaker(arm), np.random.default_rng(seed + 2)
    post = _post(maker, rng)
    settings = load_safety()
    settings = replace(settings, keep_out=(*settings.keep_out, keep_out_zone("post", post.pose, post.size)))
    simulation = Simulation(WorldSpec((post,), arm=arm.name))
    clock, driver = Watched(simulation), SimArm(simulation)
    service = MotionService(arm, driver.joint_state, clock, settings=settings)
    executor = Executor(driver, clock, RobotModel.load(arm))
    reports: list[ExecutionReport] = []
    stopped: list[tuple[float, float, float]] = []
    refused = 0
    try:
        while len(reports) + len(stopped) < count + stops:
            told(f"motion {len(reports) + len(stopped) + 1} of {count + stops} in simulation")
            [goal] = maker.make("open", 1, int(rng.integers(2**31)))
            try:
                plan = service.take(service.plan_motion(MotionGoal(poses=(goal.pose,))).id)
            except DeskhandError as error:  # within the zone, or behind it
                refused += 1
                if error.code not in UNREACHED or refused > 10 * (count + stops):
                    raise
                continue
            if len(reports) < count:
                reports.append(executor.execute(plan))
            else:
                stopped.append(_stopped(executor, clock, simulation, plan, float(rng.uniform(0.25, 0.75))))
    finally:
        maker.close()
        service.close()
    beyond, rest, late = (np.array(column) for column in zip(*stopped, strict=True)) if stopped else (np.zeros(1),) * 3
    return {
        "executed": len(reports),
        "refused": refused,
        "reached": sum(report.ok for report in reports),
        "failures": [report.message for report in reports if not report.ok],
        "max_tracking_error_rad": max((report.max_tracking_error for report in reports), default=0.0),
        "max_final_error_rad": max((report.final_error for report in reports), default=0.0),
        "stops": len(stopped),
        "overshoot_median_mm": 1000 * float(np.median(beyond)),
        "overshoot_max_mm": 1000 * float(beyond.max()),
        "rest_max_s": float(rest.max()),
        "cancel_max_s": float(late.max()),
        "contacts": clock.touched,
    }


def _post(maker: TaskMaker, rng: np.random.Generator) -> ObjectSpec:
    """A post in the middle of the work area, too heavy to be pushed away unnoticed."""
    side, height = 0.05, 0.14
    point = maker.at(rng.uniform(-0.5, 0.5), (maker.near + maker.far) / 2, height / 2)
    return ObjectSpec("post", "block", (side, side, height), (0.5, 0.5, 0.5), 5.0, make_transform(rotation_about((0, 0, 1), rng.uniform(0, 1.5)), point))


def _stopped(executor: Executor, clock: Watched, simulation: Simulation, plan: Plan, part: float) -> tuple[float, float, float]:
    """Cancel at ``part`` of the duration: how far [m] the tcp still goes, how long [s] until the arm rests, how long until the controller is told."""
    at = clock.now() + part * plan.trajectory.duration
    seen: list[tuple[float, Array]] = []

    def cancelled() -> bool:
        if clock.now() >= at and not seen:
            seen.append((clock.now(), _tcp(simulation)))
        return bool(seen)

    watched: list[float] = []
    cancel = simulation.cancel

    def told(follower: Any) -> None:
        watched.append(clock.now())
        cancel(follower)

    simulation.cancel = told  # type: ignore[method-assign]
    try:
        executor.execute(plan, cancelled=cancelled)
    finally:
        simulation.cancel = cancel  # type: ignore[method-assign]
    asked, position = seen[0]
    end = clock.now() + 2.0
    while np.abs(simulation.joint_state().velocities[: len(simulation.arm.joints)]).max() > AT_REST and clock.now() < end:
        clock.sleep(0.01)
    return float(np.linalg.norm(_tcp(simulation) - position)), clock.now() - asked, watched[0] - asked


def _tcp(simulation: Simulation) -> Array:
    arm = simulation.arm
    joints = simulation.joint_state().of(arm.joints)
    return np.asarray(link_poses(simulation.built.robot, arm.joints, joints[None], None, arm.tcp)[arm.tcp][0, :3, 3])
