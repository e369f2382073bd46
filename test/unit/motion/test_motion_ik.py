import numpy as np
import pytest
from backends import PLANNERS

from deskhand.geometry import rotation_angle
from deskhand.testing.motion_desk import ARM, MODEL, OPEN, box, code_of, down, make_desk
from deskhand.types import SceneUpdate

pytestmark = pytest.mark.parametrize("planner", PLANNERS, indirect=True)

LOWER, UPPER = (np.array([MODEL.limits[name][i] for name in ARM.joints]) for i in (0, 1))


def test_every_reachable_pose_is_solved_within_a_millimetre_and_half_a_degree() -> None:
    desk, rng = make_desk(), np.random.default_rng(0)
    for _ in range(200):
        pose = MODEL.tcp_pose(MODEL.arm_joints(rng.uniform(LOWER * 0.98, UPPER * 0.98)))
        [solution, *_] = desk.service.solve_ik(pose, check_collisions=False)
        reached = MODEL.tcp_pose(MODEL.arm_joints(solution.joints))
        assert np.linalg.norm(reached[:3, 3] - pose[:3, 3]) < 1e-3
        assert rotation_angle(reached, pose) < np.radians(0.5)
        assert (solution.joints >= LOWER).all() and (solution.joints <= UPPER).all()


def test_several_solutions_differ_and_come_nearest_first() -> None:
    desk = make_desk()
    solutions = desk.service.solve_ik(down(0.05, 0.1, 0.1), max_solutions=4)
    assert len(solutions) >= 2
    home = np.array(ARM.named_poses["home"])
    distances = [np.linalg.norm(solution.joints - home) for solution in solutions]
    assert distances == sorted(distances)
    assert all(np.abs(a.joints - b.joints).max() > 0.1 for i, a in enumerate(solutions) for b in solutions[:i])
    assert all(desk.service.check_state(MODEL.arm_joints(solution.joints)).valid for solution in solutions)


def test_a_pose_inside_an_obstacle_names_it_and_is_marked_when_collisions_are_not_asked_for() -> None:
    desk = make_desk()
    desk.service.update_scene(SceneUpdate(replace=(box("wall", 0.05, 0.1, 0.1, (0.1, 0.1, 0.1)),)))
    assert code_of(desk.service.solve_ik, down(0.05, 0.1, 0.1)) == "goal_in_collision"
    [solution] = desk.service.solve_ik(down(0.05, 0.1, 0.1), check_collisions=False)
    assert not solution.collision_free


def test_out_of_reach_is_said_so() -> None:
    desk = make_desk()
    assert code_of(desk.service.solve_ik, down(2.0, 0, 0.1)) == "no_ik_solution"
    assert code_of(desk.service.solve_ik, down(0.35, 0.0, 0.3)) == "no_ik_solution"


def test_fingers_stand_where_they_are_measured() -> None:
    """A gap that only closed fingers fit into."""
    desk = make_desk()
    posts = tuple(box(f"post_{side}", 0.0, side * 0.053, 0.03, (0.06, 0.04, 0.06)) for side in (-1, 1))
    desk.service.update_scene(SceneUpdate(replace=posts))
    pose = down(0.0, 0.0, 0.05)
    assert desk.arm.finger == OPEN
    assert code_of(desk.service.solve_ik, pose) == "goal_in_collision"
    desk.arm.finger = 0.015
    assert code_of(desk.service.solve_ik, pose) == ""
