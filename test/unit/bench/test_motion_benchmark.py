"""The motion benchmark measures what it says: tasks can be solved, the recheck finds what is wrong, the numbers come out."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("matplotlib")

from rich.console import Console

from deskhand.arms.config import load_arm
from deskhand.bench.motion.contenders import Deskhand
from deskhand.bench.motion.recheck import Recheck
from deskhand.bench.motion.report import plot, show, show_trust
from deskhand.bench.motion.run import Options, run
from deskhand.bench.motion.tasks import SITUATIONS, Task, TaskMaker
from deskhand.bench.motion.trust import execute_plans
from deskhand.geometry import make_transform
from deskhand.types import CollisionObject, Shape

ARM = load_arm("wx250s")


def test_the_same_seed_gives_the_same_tasks_and_they_can_be_solved() -> None:
    maker, stack = TaskMaker(ARM), Deskhand(ARM)
    for situation in SITUATIONS:
        first, again = maker.make(situation, 2, 3), maker.make(situation, 2, 3)
        for one, other in zip(first, again, strict=True):
            np.testing.assert_array_equal(one.pose, other.pose)
            stack.load(one)
            assert stack.service.check_state().valid
            assert set(stack.service.scene.obstacles) == {item.id for item in one.obstacles}
            assert stack.plan(one.pose, 5.0) is not None
    maker.close()
    stack.close()


def test_the_recheck_finds_an_obstacle_that_the_planner_was_not_told_of() -> None:
    maker, stack = TaskMaker(ARM), Deskhand(ARM)
    task: Task = maker.make("tower", 1, 4)[0]
    stack.load(task)
    outcome = stack.plan(task.pose, 5.0)
    assert outcome is not None
    depth, _ = Recheck(ARM, task, stack.still.finger).deepest(outcome.trajectory)
    assert depth < 1e-3
    middle = outcome.trajectory.positions[len(outcome.trajectory.positions) // 2]
    tip = maker.model.tcp_pose(maker.model.arm_joints(middle))[:3, 3]
    post = CollisionObject("post", (Shape("sphere", (0.02,)),), make_transform(translation=tip))
    depth, names = Recheck(ARM, replace(task, obstacles=(*task.obstacles, post)), stack.still.finger).deepest(outcome.trajectory)
    assert depth > 5e-3 and "post" in names
    maker.close()
    stack.close()


def test_numbers_tables_and_plot(tmp_path: Path) -> None:
    result = run(ARM, Options(queries=2, poses=20, states=50), lambda _: None)
    result["trust"] = {"motions": execute_plans(ARM, 2, 1, 0, lambda _: None)}
    json.dumps(result)
    [name, *_] = result["contenders"]
    assert name == "deskhand (embedded)"
    assert result["ik"][name]["success"] == 1.0
    assert all(numbers[name]["success"] == 1.0 and numbers[name]["limits_exceeded_by"] < 0.01 for numbers in result["planning"].values())
    motions = result["trust"]["motions"]
    assert motions["reached"] == 2 and motions["stops"] == 1 and motions["contacts"] == 0
    assert motions["cancel_max_s"] < 0.1 and motions["overshoot_max_mm"] < 10
    console = Console(record=True, width=160)
    show(result, console)
    show_trust(result["trust"], console)
    text = console.export_text()
    assert "plan: clutter" in text and "2 plans executed" in text
    plot([result], tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000
