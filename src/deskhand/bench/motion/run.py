"""Runs the motion benchmark and gives its numbers as plain data; the same tasks for every contender, one after the other in this process."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.bench.motion.contender import Contender, Outcome
from deskhand.bench.motion.contenders import Deskhand, contenders
from deskhand.bench.motion.tasks import SITUATIONS, Task, TaskMaker
from deskhand.geometry import Array, rotation_angle
from deskhand.motion.cartesian import deviation
from deskhand.motion.timing import differences
from deskhand.safety.kinematics import link_poses

PLAN_TIME = 1.0  # [s]
POSITION, ANGLE = 1e-3, float(np.radians(0.5))  # within which inverse kinematics counts
LINE = 0.1  # [m]

TaskEnd = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """``queries`` for each situation; ``poses`` for inverse kinematics; ``states`` for collision checks."""

    arm: str = "wx250s"
    queries: int = 50
    poses: int = 1000
    states: int = 2000
    seed: int = 0


def run(arm: ArmConfig, options: Options, told: TaskEnd) -> dict[str, Any]:
    """Numbers by measurement and contender; see docs/motion-benchmark.md for the fields."""
    stacks, missing = contenders(arm)
    maker = TaskMaker(arm)
    try:
        tasks = {}
        for situation in SITUATIONS:
            told(f"making {options.queries} tasks: {situation}")
            tasks[situation] = maker.make(situation, options.queries, options.seed)
        lines = lines_of(maker, tasks["open"])
        result: dict[str, Any] = {
            "arm": arm.name,
            "seed": options.seed,
            "machine": {"processor": platform.machine(), "python": platform.python_version()},
            "contenders": [stack.name for stack in stacks],
            "missing": missing,
            "ik": {},
            "ik_nearest": {},
            "checks": {},
            "planning": {situation: {} for situation in tasks},
            "cartesian": {},
        }
        for stack in stacks:
            told(f"{stack.name}: inverse kinematics")
            result["ik"][stack.name] = measure_ik(stack.ik, arm, options)
            if isinstance(stack, Deskhand):
                result["ik_nearest"][stack.name] = measure_ik(stack.nearest_ik, arm, options)
            told(f"{stack.name}: collision checks")
            result["checks"][stack.name] = measure_checks(stack, arm, tasks["clutter"][0], options)
            for situation, some in tasks.items():
                told(f"{stack.name}: planning, {situation}")
                result["planning"][situation][stack.name] = measure_plans(stack, arm, some)
            told(f"{stack.name}: straight lines")
            result["cartesian"][stack.name] = measure_lines(stack, arm, lines)
        result["ratios"] = ratios(result)
        return result
    finally:
        maker.close()
        for stack in stacks:
            stack.close()


def _timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """What it gives, wall time and time of this thread [ms]."""
    began, used = time.perf_counter(), time.thread_time()
    answer = call()
    return answer, 1000 * (time.perf_counter() - began), 1000 * (time.thread_time() - used)


def spread(rows: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Medians and 95 % points of (wall, thread) times [ms]."""
    wall, used = np.array(rows, dtype=float).reshape(-1, 2).T if rows else np.full((2, 1), np.nan)
    return {
        "median_ms": float(np.median(wall)),
        "p95_ms": float(np.percentile(wall, 95)),
        "cpu_median_ms": float(np.median(used)),
        "cpu_p95_ms": float(np.percentile(used, 95)),
    }


def measure_ik(solve: Callable[[Array, Array], Array | None], arm: ArmConfig, options: Options) -> dict[str, Any]:
    """Poses of random joints, always from the same seed; only what is within a millimetre and half a degree counts."""
    model, rng = RobotModel.load(arm), np.random.default_rng(options.seed)
    lower, upper = _limits(model)
    seed, rows, good = np.array(arm.named_poses["home"], dtype=float), [], 0
    for _ in range(options.poses):
        pose = model.tcp_pose(model.arm_joints(rng.uniform(lower * 0.98, upper * 0.98)))
        joints, wall, used = _timed(lambda pose=pose: solve(pose, seed))  # type: ignore[misc]
        rows.append((wall, used))
        if joints is not None:
            reached = model.tcp_pose(model.arm_joints(joints))
            angle = float(np.arccos(np.clip(reached[:3, 2] @ pose[:3, 2], -1, 1))) if arm.free_roll else rotation_angle(reached, pose)
            good += bool(np.linalg.norm(reached[:3, 3] - pose[:3, 3]) < POSITION and angle < ANGLE)
    return {"poses": options.poses, "success": good / options.poses, **spread(rows)}


def measure_checks(stack: Contender, arm: ArmConfig, task: Task, options: Options) -> dict[str, Any]:
    """Random states in clutter with a held object: states a second, and how many are free (all contenders must agree, nearly)."""
    lower, upper = _limits(RobotModel.load(arm))
    states = np.random.default_rng(options.seed).uniform(lower, upper, (options.states, len(lower)))
    stack.load(task)
    free, wall, used = _timed(lambda: stack.free(states))
    return {"states": options.states, "free": int(free), "per_second": 1000 * options.states / wall, "per_cpu_second": 1000 * options.states / used}


def measure_plans(stack: Contender, arm: ArmConfig, tasks: Sequence[Task]) -> dict[str, Any]:
    """From pose goals to timed trajectories."""
    rows, lengths, durations, loads, over = [], [], [], [], 0.0
    solved: list[bool] = []
    for task in tasks:
        loads.append(_timed(lambda task=task: stack.load(task))[1:])  # type: ignore[misc]
        outcome, wall, used = _timed(lambda task=task: stack.plan(task.pose, PLAN_TIME))  # type: ignore[misc]
        rows.append((wall, used))
        solved.append(outcome is not None)
        lengths.append(outcome.length if outcome else None)
        if outcome:
            durations.append(outcome.trajectory.duration)
            over = max(over, _over(outcome, arm))
    return {
        "queries": len(tasks),
        "success": float(np.mean(solved)),
        "lengths": lengths,
        "median_length": float(np.median([length for length in lengths if length is not None])) if any(solved) else float("nan"),
        "median_duration_s": float(np.median(durations)) if durations else float("nan"),
        "limits_exceeded_by": over,
        "load_median_ms": float(np.median([wall for wall, _ in loads])),
        **spread(rows),
    }


def lines_of(maker: TaskMaker, tasks: Sequence[Task]) -> list[Task]:
    """Straight approaches: the tcp 10 cm forward along its axis from the start of each task, where the arm can follow."""
    lines = []
    for task in tasks:
        pose = maker.model.tcp_pose(maker.model.arm_joints(task.start))
        back = pose.copy()
        back[:3, 3] -= LINE * pose[:3, 2]
        found = maker.service.backend.solve_ik(maker.service.scene, back, task.start, {}, check_collisions=True, padding=0.003, max_time=0.05)
        if found and np.abs(found[0].joints - task.start).max() < 1.2:
            lines.append(Task("line", (), None, found[0].joints, pose))
    return lines


def measure_lines(stack: Contender, arm: ArmConfig, lines: Sequence[Task]) -> dict[str, Any]:
    """Success, and how far [mm] the tcp gets off the line, looked at every 10 ms and between."""
    model, rows, worst, done = RobotModel.load(arm), [], 0.0, []
    for line in lines:
        stack.load(line)
        outcome, wall, used = _timed(lambda line=line: stack.approach(line.pose))  # type: ignore[misc]
        rows.append((wall, used))
        done.append(outcome is not None)
        if outcome:
            positions = outcome.trajectory.positions
            fine = np.concatenate([positions, (positions[1:] + positions[:-1]) / 2])
            tcp = link_poses(model, arm.joints, fine, None, arm.tcp)[arm.tcp][:, :3, 3]
            ends = link_poses(model, arm.joints, positions[:1], None, arm.tcp)[arm.tcp][0, :3, 3]
            worst = max(worst, 1000 * deviation(tcp, np.array([ends, line.pose[:3, 3]])))
    return {"lines": len(lines), "done": done, "success": float(np.mean(done)) if done else float("nan"), "off_line_mm": worst, **spread(rows)}


def ratios(result: dict[str, Any]) -> dict[str, dict[str, float]]:
    """How many times as long as the first contender each other takes, and how long their paths are, on what both solved."""
    first, *others = result["contenders"]
    table: dict[str, dict[str, float]] = {}
    for other in others:
        row = {"ik": result["ik"][other]["cpu_median_ms"] / result["ik"][first]["cpu_median_ms"]}
        for situation, numbers in result["planning"].items():
            row[situation] = numbers[other]["cpu_median_ms"] / numbers[first]["cpu_median_ms"]
            both = [(a, b) for a, b in zip(numbers[first]["lengths"], numbers[other]["lengths"], strict=True) if a and b]
            row[f"{situation} path"] = float(np.median([b / a for a, b in both])) if both else float("nan")
        row["cartesian"] = result["cartesian"][other]["cpu_median_ms"] / result["cartesian"][first]["cpu_median_ms"]
        table[other] = row
    return table


def _limits(model: RobotModel) -> tuple[Array, Array]:
    rows = [model.limits[name] for name in model.arm.joints]
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


def _over(outcome: Outcome, arm: ArmConfig) -> float:
    """Part by which the worst velocity or acceleration exceeds its limit, 0 when none does."""
    velocity, acceleration = differences(outcome.trajectory)
    return max(0.0, float((velocity / arm.max_velocity).max()) - 1, float((acceleration / arm.max_acceleration).max()) - 1)
