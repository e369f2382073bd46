"""What every planning backend must do, for both arms: the same scenes and questions, judged by the package's own kinematics and geometry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from backends import BACKENDS, CASES

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array, make_transform, rotation_about, rotation_angle, rotation_rpy
from deskhand.motion.base import Backend
from deskhand.safety.checker import CollisionChecker
from deskhand.safety.kinematics import link_poses
from deskhand.safety.scene import PlanningScene, pair
from deskhand.testing.motion_desk import box
from deskhand.types import CollisionObject, Shape

POINTS_EDGE = 0.005


@dataclass
class Setup:
    backend: Backend
    model: RobotModel
    checker: CollisionChecker

    def __post_init__(self) -> None:
        arm = self.model.arm
        self.lower, self.upper = (np.array([self.model.limits[name][i] for name in arm.joints]) for i in (0, 1))
        self.home = np.array(arm.named_poses["home"])
        self.others = {arm.gripper.joint: arm.gripper.position_of(arm.gripper.width_max)}
        self.yaw = np.pi if self.pose(self.home)[0, 0] > 0 else 0.0  # the last joint of the jetarm cannot turn the hand by half a turn from home
        self.middle = arm.world_T_base[:2, 3] + [sum(arm.work_radius) / 2, 0.0]

    def pose(self, joints: Array) -> Array:
        return self.model.tcp_pose(self.model.arm_joints(joints))

    def down(self, x: float, y: float, z: float, yaw: float = 0.0) -> Array:
        """From the middle of the work area."""
        return make_transform(rotation_about((0, 0, 1), self.yaw + yaw) @ rotation_rpy(0, np.pi, 0), (self.middle[0] + x, self.middle[1] + y, z))

    def depth(self, scene: PlanningScene, path: Array, allow: frozenset[tuple[str, str]] = frozenset()) -> float:
        """Deepest contact [m] along a path, looked at every 5 mrad."""
        steps = np.abs(np.diff(path, axis=0)).max(axis=1)
        index = np.interp(np.arange(0, steps.sum() + 0.005, 0.005), np.concatenate([[0], np.cumsum(steps + 1e-12)]), np.arange(len(path)))
        fine = np.column_stack([np.interp(index, np.arange(len(path)), column) for column in path.T])
        near = self.checker.near(link_poses(self.model, self.model.arm.joints, fine, self.others), scene, allow, cutoff=0.0)
        return max((-item.distance for item in near), default=0.0)

    def signed_distance(self, scene: PlanningScene, joints: Array) -> float:
        near = self.checker.near(link_poses(self.model, self.model.arm.joints, joints[None], self.others), scene, cutoff=0.05)
        return min((item.distance for item in near), default=0.05)


@pytest.fixture(scope="module", params=CASES)
def setup(request: pytest.FixtureRequest) -> Iterator[Setup]:
    name, arm = request.param
    model = RobotModel.load(arm)
    backend = BACKENDS[name](arm)
    yield Setup(backend, model, CollisionChecker(model))
    backend.close()


def clutter(setup: Setup, rng: np.random.Generator, count: int = 8) -> dict[str, CollisionObject]:
    items = {}
    for index in range(count):
        height = float(rng.uniform(0.02, 0.07))
        x, y = setup.middle + rng.uniform([-0.05, -0.15], [0.08, 0.15])
        items[f"box_{index}"] = box(f"box_{index}", x, y, height / 2, (0.02, 0.025, height), float(rng.uniform(0, 3)))
    return items


def test_inverse_kinematics_meets_every_reachable_pose(setup: Setup) -> None:
    rng, scene = np.random.default_rng(0), PlanningScene()
    for _ in range(25):
        pose = setup.pose(rng.uniform(setup.lower * 0.97, setup.upper * 0.97))
        [solution, *_] = setup.backend.solve_ik(scene, pose, setup.home, setup.others, check_collisions=False, max_time=1.0)
        reached = setup.pose(solution.joints)
        assert np.linalg.norm(reached[:3, 3] - pose[:3, 3]) < 1e-3
        assert rotation_angle(reached, pose) < np.radians(0.5)
        assert (solution.joints >= setup.lower - 1e-9).all() and (solution.joints <= setup.upper + 1e-9).all()


def test_a_pose_out_of_reach_has_no_solution(setup: Setup) -> None:
    assert setup.backend.solve_ik(PlanningScene(), setup.down(1.0, 0, 0.1), setup.home, setup.others, max_time=0.1) == []


def test_solutions_touch_nothing_and_say_so(setup: Setup) -> None:
    pose = setup.down(0, 0, 0.06)
    wall = box("wall", *setup.middle, 0.06, (0.05, 0.09, 0.05))
    scene = PlanningScene({"wall": wall})
    assert setup.backend.solve_ik(scene, pose, setup.home, setup.others, max_time=0.1) == []
    [solution, *_] = setup.backend.solve_ik(scene, pose, setup.home, setup.others, check_collisions=False, max_time=0.5)
    assert not solution.collision_free
    hand = frozenset(pair(link, "wall") for link in setup.model.arm.gripper.links)
    [solution, *_] = setup.backend.solve_ik(scene, pose, setup.home, setup.others, allow=hand, max_time=0.5)
    assert solution.collision_free
    assert setup.backend.in_collision(scene, solution.joints, setup.others)
    assert not setup.backend.in_collision(scene, solution.joints, setup.others, hand)


def test_refining_stays_at_the_seed(setup: Setup) -> None:
    [solution, *_] = setup.backend.solve_ik(PlanningScene(), setup.down(0, 0, 0.08), setup.home, setup.others, max_time=0.5)
    joints = solution.joints
    for height in np.arange(0.078, 0.04, -0.002):
        pose = setup.down(0, 0, height)
        refined = setup.backend.refine_ik(pose, joints, setup.others)
        assert refined is not None
        assert np.abs(refined - joints).max() < 0.1
        assert np.linalg.norm(setup.pose(refined)[:3, 3] - pose[:3, 3]) < 1e-4 and rotation_angle(setup.pose(refined), pose) < 1e-3
        joints = refined
    assert setup.backend.refine_ik(setup.down(1.0, 0, 0.1), joints, setup.others) is None


def test_collisions_are_those_of_the_envelope(setup: Setup) -> None:
    rng = np.random.default_rng(1)
    scene = PlanningScene(clutter(setup, rng))
    [solution, *_] = setup.backend.solve_ik(scene, setup.down(0, 0, 0.10), setup.home, setup.others, check_collisions=False, max_time=0.5)
    counts = {True: 0, False: 0}
    for _ in range(120):
        joints = np.clip(solution.joints + rng.normal(0, 0.25, len(setup.lower)), setup.lower, setup.upper)
        distance = setup.signed_distance(scene, joints)
        if abs(distance) > 1e-3:
            counts[distance < 0] += 1
            assert setup.backend.in_collision(scene, joints, setup.others) == (distance < 0), f"{distance * 1000:.1f} mm"
    assert min(counts.values()) > 10, counts


def test_padding_keeps_away_from_obstacles_but_not_from_the_table(setup: Setup) -> None:
    [solution, *_] = setup.backend.solve_ik(PlanningScene(), setup.down(0, 0, 0.05), setup.home, setup.others, max_time=0.5)
    tips = setup.model.arm.gripper.finger_depth
    top = 0.05 - tips - 0.004  # 4 mm below the finger tips
    scene = PlanningScene({"slab": box("slab", *setup.middle, top / 2, (0.12, 0.12, top))})
    assert not setup.backend.in_collision(scene, solution.joints, setup.others, padding=0.002)
    assert setup.backend.in_collision(scene, solution.joints, setup.others, padding=0.006)
    [low, *_] = setup.backend.solve_ik(PlanningScene(), setup.down(0, 0, tips + 0.004), setup.home, setup.others, max_time=0.5)
    assert not setup.backend.in_collision(PlanningScene(), low.joints, setup.others, padding=0.01)


@pytest.mark.parametrize("kind", ["points", "cylinder", "sphere", "mesh"])
def test_every_kind_of_shape_is_in_the_way(setup: Setup, kind: str) -> None:
    low, high = np.array([-0.02, -0.05, 0.0]), np.array([0.02, 0.05, 0.10])
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    grid = np.stack(np.meshgrid(*(np.arange(a, b, POINTS_EDGE) for a, b in zip(low, high, strict=True)), indexing="ij"), axis=-1).reshape(-1, 3)
    shape = {
        "points": Shape("points", (POINTS_EDGE,), vertices=grid),
        "mesh": Shape("mesh", (), vertices=corners, faces=np.array([f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))], dtype=np.int32)),
        "cylinder": Shape("cylinder", (0.04, 0.10), make_transform(translation=(0, 0, 0.05))),
        "sphere": Shape("sphere", (0.05,), make_transform(translation=(0, 0, 0.05))),
    }[kind]
    scene = PlanningScene({"thing": CollisionObject("thing", (shape,), make_transform(translation=(*setup.middle, 0.0)))})
    [at, *_] = setup.backend.solve_ik(PlanningScene(), setup.down(0, 0, 0.095), setup.home, setup.others, max_time=0.5)
    assert setup.backend.in_collision(scene, at.joints, setup.others)
    hand = frozenset(pair(link, "thing") for link in setup.model.arm.gripper.links)
    assert not setup.backend.in_collision(scene, at.joints, setup.others, hand), "a contact allowed by name"
    [over, *_] = setup.backend.solve_ik(PlanningScene(), setup.down(0, 0, 0.125), setup.home, setup.others, max_time=0.5)
    assert not setup.backend.in_collision(scene, over.joints, setup.others)


def test_paths_in_clutter_touch_nothing_and_keep_the_limits(setup: Setup) -> None:
    rng = np.random.default_rng(3)
    scene, found = PlanningScene(clutter(setup, rng)), 0
    start = setup.home
    for _ in range(8):
        goal = setup.down(*rng.uniform([-0.03, -0.08], [0.03, 0.08]), 0.09, rng.uniform(-1, 1))
        solutions = setup.backend.solve_ik(scene, goal, start, setup.others, padding=0.003, max_time=0.3)
        if not solutions or setup.backend.in_collision(scene, start, setup.others, padding=0.003):
            continue
        path = setup.backend.plan_path(scene, start, solutions[0].joints, setup.others, padding=0.003, max_time=3.0)
        assert path is not None
        np.testing.assert_allclose(path[[0, -1]], [start, solutions[0].joints], atol=1e-4)
        assert (path >= setup.lower - 1e-4).all() and (path <= setup.upper + 1e-4).all()
        assert setup.depth(scene, path) < 1e-3
        start, found = solutions[0].joints, found + 1
    assert found >= 3


def test_what_is_held_is_kept_out_of_obstacles_until_it_is_let_go(setup: Setup) -> None:
    bar = CollisionObject("bar", (Shape("box", (0.015, 0.015, 0.05)),), make_transform(translation=(0, 0, 0.025)))  # in the tcp's frame: it hangs down
    [joints] = [setup.backend.solve_ik(PlanningScene(), setup.down(0, 0, 0.10), setup.home, setup.others, max_time=0.5)[0].joints]
    slab = {"slab": box("slab", *setup.middle, 0.035, (0.1, 0.1, 0.07))}
    holding, empty = PlanningScene(slab, held=bar), PlanningScene(slab)
    assert setup.backend.in_collision(holding, joints, setup.others)
    assert not setup.backend.in_collision(holding, joints, setup.others, frozenset({pair("bar", "slab")}))
    assert not setup.backend.in_collision(empty, joints, setup.others), "the hand is empty again"
    assert not setup.backend.in_collision(PlanningScene(held=bar), joints, setup.others), "it may touch the hand"
    # The path carries it round: the bare hand could go straight across.
    ridge = {"ridge": box("ridge", *setup.middle, 0.03, (0.2, 0.02, 0.06))}
    scene = PlanningScene(ridge, held=bar)
    ends = []
    for side in (-0.06, 0.06):
        solutions = setup.backend.solve_ik(scene, setup.down(0, side, 0.075), ends[0] if ends else setup.home, setup.others, padding=0.002, max_time=1.0)
        assert solutions
        ends.append(solutions[0].joints)
    path = setup.backend.plan_path(scene, *ends, setup.others, padding=0.002, max_time=5.0)
    assert path is not None and setup.depth(scene, path) < 1e-3


def test_a_goal_in_collision_has_no_path_and_the_next_plan_is_not_the_old_one(setup: Setup) -> None:
    scene = PlanningScene({"wall": box("wall", *setup.middle, 0.08, (0.06, 0.06, 0.16))})
    inside = setup.backend.solve_ik(PlanningScene(), setup.down(0, 0, 0.09), setup.home, setup.others, max_time=0.5)[0].joints
    aside = setup.home + np.eye(len(setup.home))[0] * 0.4
    first = setup.backend.plan_path(scene, setup.home, aside, setup.others, max_time=1.0)
    assert first is not None
    assert setup.backend.plan_path(scene, setup.home, inside, setup.others, max_time=0.3) is None
    other = setup.home - np.eye(len(setup.home))[0] * 0.3
    path = setup.backend.plan_path(scene, setup.home, other, setup.others, max_time=1.0)
    assert path is not None
    np.testing.assert_allclose(path[-1], other, atol=1e-4)


def test_upright_is_kept_along_the_path(setup: Setup) -> None:
    start, goal = (setup.backend.solve_ik(PlanningScene(), setup.down(0, y, 0.08), setup.home, setup.others, max_time=0.5)[0].joints for y in (-0.06, 0.06))
    path = setup.backend.plan_path(PlanningScene(), start, goal, setup.others, max_time=8.0, upright=0.3)
    assert path is not None
    dense = np.concatenate([np.linspace(a, b, 10) for a, b in pairwise(path)])
    first = setup.pose(start)[:3, 2]
    assert max(float(np.arccos(np.clip(setup.pose(joints)[:3, 2] @ first, -1, 1))) for joints in dense) < 0.45  # roll and pitch may add up
    np.testing.assert_allclose(path[[0, -1]], [start, goal], atol=1e-4)


def test_fingers_stand_where_they_are_said_to(setup: Setup) -> None:
    gripper = setup.model.arm.gripper
    offset = gripper.width_max / 2 + gripper.finger_thickness + 0.008
    posts = {f"post_{side}": box(f"post_{side}", setup.middle[0], setup.middle[1] + side * offset, 0.03, (0.06, 0.02, 0.06)) for side in (-1, 1)}
    scene = PlanningScene(posts)
    [solution, *_] = setup.backend.solve_ik(PlanningScene(), setup.down(0, 0, 0.05), setup.home, setup.others, max_time=0.5)
    assert setup.backend.in_collision(scene, solution.joints, setup.others)
    closed = {gripper.joint: gripper.position_of(gripper.width_min)}
    only_fingers = replace(scene, allow=frozenset(pair(gripper.links[0], name) for name in posts))
    assert not setup.backend.in_collision(only_fingers, solution.joints, closed)
