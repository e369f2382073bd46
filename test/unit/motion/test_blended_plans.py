"""Plans that go on from others without a stop."""

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.geometry import rotation_angle
from deskhand.motion.blending import Leg, Rounding, blended, pieces
from deskhand.motion.cartesian import deviation
from deskhand.motion.timing import differences, time_path
from deskhand.safety.kinematics import link_poses
from deskhand.testing.motion_desk import ARM, MODEL, MotionDesk, box, code_of, down, make_desk
from deskhand.types import MotionGoal, Plan, PlanOptions, SceneUpdate

ABOVE, AT = down(0.05, 0.1, 0.12), down(0.05, 0.1, 0.06)
TOUCH = (("gripper", "block"),)


def tcps(desk: MotionDesk, plan: Plan) -> np.ndarray:
    return np.asarray(link_poses(MODEL, ARM.joints, plan.trajectory.positions, {ARM.gripper.joint: desk.arm.finger}, ARM.tcp)[ARM.tcp][:, :3, 3])


def around_the_corner(desk: MotionDesk, plan: Plan) -> float:
    """The least speed [m/s] of the tcp where it passes nearest to ABOVE."""
    path = tcps(desk, plan)
    speeds = np.linalg.norm(np.diff(path, axis=0), axis=1) / np.diff(plan.trajectory.times)
    nearest = int(np.linalg.norm(path - ABOVE[:3, 3], axis=1).argmin())
    return float(speeds[max(nearest - 3, 0) : nearest + 3].min())


def test_two_plans_are_one_motion_that_does_not_stop_between_them() -> None:
    desk = make_desk()
    first = desk.service.plan_motion(MotionGoal(poses=(ABOVE,)))
    apart = desk.service.plan_cartesian((AT,), PlanOptions(start=first.end))
    whole = desk.service.plan_cartesian((AT,), PlanOptions(after=first.id))
    assert whole.trajectory.duration < first.trajectory.duration + apart.trajectory.duration - 0.15
    assert around_the_corner(desk, whole) > 0.05
    velocity, acceleration = differences(whole.trajectory)
    assert (velocity <= ARM.max_velocity * 1.01).all() and (acceleration <= ARM.max_acceleration * 1.01).all()
    path = tcps(desk, whole)
    low = path[path[:, 2] < AT[2, 3] + 0.015]
    assert len(low) > 5 and deviation(low, np.array([ABOVE[:3, 3], AT[:3, 3]])) < 0.002, "in the open the end of the line is straight"
    desk.move_to(desk.service.take(whole.id))
    reached = MODEL.tcp_pose(desk.service._measured())
    assert np.linalg.norm(reached[:3, 3] - AT[:3, 3]) < 0.002 and rotation_angle(reached, AT) < 0.01


def test_up_and_on_is_one_motion_too() -> None:
    desk = make_desk()
    desk.move_to(desk.service.plan_motion(MotionGoal(poses=(AT,))))
    up = desk.service.plan_cartesian((ABOVE,))
    home = desk.service.plan_motion(MotionGoal(named="home"), PlanOptions(after=up.id))
    assert around_the_corner(desk, home) > 0.05
    path = tcps(desk, home)
    early = path[: int(np.argmax(path[:, 2] > AT[2, 3] + 0.015))]
    assert len(early) > 5 and deviation(early, np.array([AT[:3, 3], ABOVE[:3, 3]])) < 0.002


def test_what_goes_on_from_a_draft_is_the_same_motion_and_the_draft_itself_cannot_be_executed() -> None:
    desk = make_desk()
    whole = desk.service.plan_cartesian((AT,), PlanOptions(after=desk.service.plan_motion(MotionGoal(poses=(ABOVE,))).id))
    draft = desk.service.plan_motion(MotionGoal(poses=(ABOVE,)), PlanOptions(draft=True))
    on = desk.service.plan_cartesian((AT,), PlanOptions(after=draft.id))
    assert on.trajectory.positions == pytest.approx(whole.trajectory.positions) and on.trajectory.times == pytest.approx(whole.trajectory.times)
    assert code_of(desk.service.take, draft.id) == "invalid_input"
    up = desk.service.plan_cartesian((AT,), PlanOptions(start=draft.end, draft=True))
    assert np.linalg.norm(MODEL.tcp_pose(up.end)[:3, 3] - AT[:3, 3]) < 0.002 and up.trajectory.duration == 0


def test_what_may_be_touched_on_the_second_part_may_not_on_the_first() -> None:
    desk = make_desk()
    block = box("block", 0.05, 0.1, 0.0325, (0.04, 0.06, 0.065))
    desk.service.update_scene(SceneUpdate(replace=(block,)))
    first = desk.service.plan_motion(MotionGoal(poses=(ABOVE,)))
    into = down(0.05, 0.1, 0.055)
    assert code_of(desk.service.plan_cartesian, (into,), PlanOptions(after=first.id)) in ("path_incomplete", "envelope_violated")
    whole = desk.service.plan_cartesian((into,), PlanOptions(after=first.id, allow=TOUCH))
    poses = link_poses(MODEL, ARM.joints, whole.trajectory.positions, {ARM.gripper.joint: desk.arm.finger})
    touching = {item.state for item in desk.service.envelope.checker.near(poses, desk.service.scene, cutoff=0.0)}
    assert touching and tcps(desk, whole)[min(touching), 2] < ABOVE[2, 3]


def test_a_corner_that_cannot_be_rounded_is_taken_at_rest() -> None:
    """A wall stands where the curve would pass: the way goes around it as before, with a tighter curve or a stop."""
    desk = make_desk()
    first = desk.service.plan_motion(MotionGoal(poses=(ABOVE,)))
    free = desk.service.plan_cartesian((AT,), PlanOptions(after=first.id))
    path, corner = tcps(desk, free), ABOVE[:3, 3]
    cut = path[int(np.linalg.norm(path - corner, axis=1).argmin())]
    assert np.linalg.norm(cut - corner) > 0.003, "the corner is cut"
    inside = corner + (cut - corner) * 3.0
    desk.service.update_scene(SceneUpdate(replace=(box("post", *inside[:2], inside[2] / 2 - 0.02, (0.01, 0.01, inside[2] - 0.04)),)))
    try:
        first = desk.service.plan_motion(MotionGoal(poses=(ABOVE,)))
        whole = desk.service.plan_cartesian((AT,), PlanOptions(after=first.id))
    except DeskhandError as error:
        pytest.fail(f"there is a way: {error}")
    poses = link_poses(MODEL, ARM.joints, whole.trajectory.positions, {ARM.gripper.joint: desk.arm.finger})
    assert not desk.service.envelope.checker.near(poses, desk.service.scene, cutoff=-1e-3)


def test_a_corner_with_room_is_cut_wider_than_one_beside_something() -> None:
    """The post reaches up between the fingers where the hand comes down: the narrow curve is free, the wide one would come nearer than 10 mm."""

    def off_the_corner(desk: MotionDesk) -> float:
        whole = desk.service.plan_cartesian((AT,), PlanOptions(after=desk.service.plan_motion(MotionGoal(poses=(ABOVE,))).id))
        return float(np.linalg.norm(tcps(desk, whole) - ABOVE[:3, 3], axis=1).min())

    free, beside = make_desk(), make_desk()
    beside.service.update_scene(SceneUpdate(replace=(box("post", 0.05, 0.1, 0.025, (0.04, 0.04, 0.05)),)))
    assert off_the_corner(free) > off_the_corner(beside) + 0.001


def test_a_plan_goes_on_only_from_one_that_still_holds() -> None:
    desk = make_desk()
    service = desk.service
    first = service.plan_motion(MotionGoal(poses=(ABOVE,)))
    assert code_of(service.plan_cartesian, (AT,), PlanOptions(after="plan_none_1")) == "unknown_plan"
    assert code_of(service.plan_cartesian, (AT,), PlanOptions(after=first.id, start=first.end)) == "invalid_input"
    service.update_scene(SceneUpdate(replace=(box("block", 0.0, -0.1, 0.02, (0.04, 0.04, 0.04)),)))
    assert code_of(service.plan_cartesian, (AT,), PlanOptions(after=first.id)) == "plan_expired"
    first = service.plan_motion(MotionGoal(poses=(ABOVE,)))
    desk.move_to(service.take(first.id))
    assert code_of(service.plan_cartesian, (AT,), PlanOptions(after=first.id)) == "plan_used"


def test_a_run_is_cut_where_its_legs_meet() -> None:
    """A right angle of two joints: the curve leaves both legs half-way, and the pieces meet at its middle."""
    first, second = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.4]])
    way = blended((Leg(first, frozenset(), 1.0), Leg(second, frozenset(), 1.0)), (Rounding(0.5),))
    assert np.allclose(way.path[0], [0, 0]) and np.allclose(way.path[-1], [1, 0.4])
    assert np.allclose(way.corners[0], [0.95, 0.05])
    assert np.allclose(way.curves[0][[0, -1]], [[0.8, 0.0], [1.0, 0.2]])
    trajectory = time_path(("a", "b"), way.path, np.array([1.0, 1.0]), np.array([2.0, 2.0]), blend=0.0)
    one, two = pieces(trajectory, way.corners)
    assert np.allclose(one.positions[-1], two.positions[0]) and np.abs(one.positions[-1] - way.corners[0]).max() < 0.02
    assert len(one.times) + len(two.times) == len(trajectory.times) + 1


def test_a_curve_takes_nothing_of_the_one_before_it() -> None:
    """A short leg between two long ones: each curve takes half of it."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.2], [2.0, 0.2]])
    run = tuple(Leg(corners[k : k + 2], frozenset(), 1.0) for k in range(3))
    first, second = blended(run, (Rounding(0.9), Rounding(0.9))).curves
    assert np.allclose(first[[0, -1]], [[0.9, 0.0], [1.0, 0.1]]) and np.allclose(second[[0, -1]], [[1.0, 0.1], [1.1, 0.2]])


def test_a_curve_may_take_more_of_the_longer_leg() -> None:
    """Its share of each of them, of the one between two curves half; it is quicker."""
    corners = np.array([[0.0, 0.0], [0.4, 0.0], [0.4, 2.0], [0.8, 2.0]])
    run = tuple(Leg(corners[k : k + 2], frozenset(), 1.0) for k in range(3))
    both, each = (blended(run, (Rounding(0.9, wide),) * 2) for wide in (False, True))
    assert np.allclose(each.curves[0][[0, -1]], [[0.04, 0.0], [0.4, 1.0]]) and np.allclose(each.curves[1][[0, -1]], [[0.4, 1.0], [0.76, 2.0]])
    limits = np.array([3.0, 3.0]), np.array([5.0, 5.0])
    quick, slow = (time_path(("a", "b"), way.path, *limits, blend=0.0).times[-1] for way in (each, both))
    assert quick < 0.95 * slow


def test_a_plan_tells_what_holds_its_speed_back() -> None:
    """In the open the limits of the joints do; beside a vase and beside a person the rules of the envelope; where the planner is asked to be slow, that."""
    desk = make_desk()
    goal = MotionGoal(poses=(down(0.0, 0.15, 0.12),))
    desk.move_to(desk.service.plan_motion(MotionGoal(poses=(down(0.05, -0.25, 0.12),))))
    free = desk.service.plan_motion(goal)
    assert free.bounds["limits"] > 0.9 * free.trajectory.duration and abs(sum(free.bounds.values()) - free.trajectory.duration) < 0.05
    assert desk.service.plan_motion(goal, PlanOptions(speed_scale=0.3)).bounds["speed_scale"] > 1.0
    for name, x, y, bound in (("vase", 0.125, -0.05, "near_obstacle"), ("person_1", 0.0, 0.70, "near_person")):
        desk.service.update_scene(SceneUpdate(replace=(box(name, x, y, 0.15, (0.06, 0.06, 0.3)),)))
        slowed = desk.service.plan_motion(goal)
        assert slowed.bounds[bound] > 0.1 and slowed.trajectory.duration > free.trajectory.duration
