import numpy as np
import pytest

from deskhand.geometry import inverse, transform_points
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.beside import place_beside, put_aside
from deskhand.skills.gripper import close_gripper, open_gripper
from deskhand.skills.move import home, look
from deskhand.skills.pick import pick
from deskhand.skills.place import place_in
from deskhand.skills.put import place_at, place_on
from deskhand.testing.desk_robot import HOME, DeskRobot
from deskhand.testing.desk_scene import one_of_each
from deskhand.testing.desk_scene import scene_object as an_object
from deskhand.types import ExecutionReport, moved
from deskhand.world.spatial import footprint_gap, relation_holds

BOX = an_object("box_1", "box", (0.04, 0.06, 0.03), (0.0, 0.0, 0.015), color="brown")
KINDS = [item.id for item in one_of_each() if not item.is_container]


def context(robot, belief=None, cancelled=lambda: False):
    return SkillContext(robot, belief or Belief(), cancelled=cancelled)


def in_bin(robot, name, bin_name="bin_1"):
    bin_ = robot.objects[bin_name]
    local = transform_points(inverse(bin_.pose), robot.objects[name].position)
    half = np.asarray(bin_.size) / 2
    return bool(np.all(np.abs(local[:2]) < half[:2]) and -half[2] < local[2] < half[2] + 0.05)  # heaped up


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_is_picked_and_put_into_the_bin(name):
    robot = DeskRobot(one_of_each())
    before = robot.objects[name].position.copy()
    ctx = context(robot)
    picked = pick(ctx, name)
    assert picked.ok, picked.message
    assert robot.held == name == ctx.belief.held.object.id
    assert robot.objects[name].position[2] > before[2] + 0.05
    assert picked.data["width"] == pytest.approx(robot.opened, abs=1e-4)
    assert picked.data["lifted"] > 0.05
    assert picked.data["second_look"] in ("gone", "hidden")
    placed = place_in(ctx, "bin_1")
    assert placed.ok, placed.message
    assert not robot.held and ctx.belief.held is None
    assert in_bin(robot, name)
    assert np.allclose(robot.joints, HOME)
    assert placed.data["disturbed"] == []


def test_all_objects_fit_into_the_bin_one_after_the_other_with_few_looks():
    robot = DeskRobot(one_of_each())
    belief = Belief()
    for name in KINDS:
        assert pick(context(robot, belief), name).ok
        result = place_in(context(robot, belief), "bin_1")
        assert result.ok, result.message
    assert all(in_bin(robot, name) for name in KINDS)
    assert robot.looks < len(KINDS) / 2  # one picture after a place shows what a look would


def test_a_thin_plate_that_is_no_object_is_reckoned_with():
    heights = []
    for surface in (0.0, 0.004):
        robot, belief = DeskRobot(one_of_each()), Belief()
        assert pick(context(robot, belief), "block_1").ok
        opens, where = robot.gripper, []
        robot.gripper = lambda *given, opens=opens, where=where, robot=robot, **more: (where.append(robot.tcp_pose()[2, 3]), opens(*given, **more))[1]
        placed = place_at(context(robot, belief), 0.05, 0.0, 0.0, (), surface)
        assert placed.ok, placed.message
        heights.append(where[0])  # of the hand, as it lets go
    assert heights[1] - heights[0] == pytest.approx(0.004, abs=0.0005)


def test_the_next_pick_can_take_an_object_out_of_the_bin_again():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(context(robot, belief), "block_1").ok
    assert place_in(context(robot, belief), "bin_1").ok
    again = pick(context(robot, belief), "block_1")
    assert again.ok, again.message
    placed = place_at(context(robot, belief), 0.05, 0.0)
    assert placed.ok, placed.message
    assert np.linalg.norm(robot.objects["block_1"].position[:2] - [0.05, 0.0]) < 0.005


def test_a_removed_object_is_lost_not_picked():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert look(context(robot, belief)).ok
    del robot.objects["block_1"]
    result = pick(context(robot, belief), "block_1")
    assert result.code == "object_lost"
    assert result.data["failures"] == ["grasp_failed"]
    assert belief.held is None and np.allclose(robot.joints, HOME)


def test_a_moved_object_is_picked_where_it_lies_now():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert look(context(robot, belief)).ok
    item = robot.objects["block_1"]
    pose = item.pose.copy()
    pose[:2, 3] = 0.06, 0.05
    robot.objects["block_1"] = moved(item, pose)
    result = pick(context(robot, belief), "block_1")
    assert result.ok, result.message
    assert result.data["attempts"] == 2


def test_a_pick_that_slips_is_tried_again_another_way():
    robot = DeskRobot(one_of_each())
    robot.slippery = 2
    result = pick(context(robot), "can_1")
    assert result.ok, result.message
    assert result.data["attempts"] == 3
    assert result.data["failures"] == ["grasp_failed", "grasp_failed"]
    assert robot.held == "can_1"


def test_a_pick_that_always_slips_fails_after_three_attempts():
    robot = DeskRobot(one_of_each())
    robot.slippery = 99
    ctx = context(robot)
    result = pick(ctx, "ball_1")
    assert result.code == "grasp_failed"
    assert result.data["attempts"] == 3
    assert ctx.belief.held is None and not robot.attached


def test_width_alone_does_not_fool_the_second_look():
    robot, belief = DeskRobot([an_object("block_1", "box", (0.03, 0.03, 0.03), (0.05, 0.0, 0.015))]), Belief()
    assert look(context(robot, belief)).ok
    true_gripper = robot.gripper
    robot.gripper = lambda width, force=None, cancelled=None: true_gripper(max(width, 0.03), force, cancelled)  # fingers that jam at 30 mm
    robot._between = dict  # and hold nothing
    result = pick(context(robot, belief), "block_1")
    assert result.code == "grasp_failed"
    assert "still where it was" in result.message


def test_unknown_objects_and_full_hands_are_refused_before_anything_moves():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(context(robot, belief), "banana_7").code == "unknown_object"
    assert place_in(context(robot, belief), "bin_1").code == "not_holding"
    assert not robot.executed
    assert pick(context(robot, belief), "block_1").ok
    count = len(robot.executed)
    assert pick(context(robot, belief), "can_1").code == "already_holding"
    assert place_in(context(robot, belief), "can_1").code == "invalid_input"
    assert place_on(context(robot, belief), "bin_1").code == "invalid_input"
    assert place_at(context(robot, belief), 3.0, 0.0).code == "invalid_input"
    assert place_at(context(robot, belief), float("nan"), 0.0).code == "invalid_input"
    assert len(robot.executed) == count
    assert belief.held is not None


def test_what_falls_beside_the_container_is_a_failed_place():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(context(robot, belief), "block_1").ok
    fall = robot._fall

    def fall_beside():
        fall()
        item = robot.objects["block_1"]
        pose = item.pose.copy()
        pose[:3, 3] = 0.03, 0.1, 0.0175
        robot.objects["block_1"] = moved(item, pose)

    robot._fall = fall_beside
    result = place_in(context(robot, belief), "bin_1")
    assert result.code == "place_failed"
    assert result.data["position"][:2] == [0.03, 0.1]
    assert belief.held is None


def _drop(robot):
    if robot.held:
        robot.opened = robot.arm.gripper.width_min
        robot._fall()


def test_what_is_lost_on_the_way_is_noticed_before_it_is_put_down():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(context(robot, belief), "block_1").ok
    robot.after_execute = _drop
    result = place_at(context(robot, belief), 0.05, 0.0)
    assert result.code == "object_lost"
    assert belief.held is None
    assert not robot.attached and "block_1" not in robot.obstacles, "the planner has nothing in the hand either"


def test_what_turns_between_the_fingers_is_still_held():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(context(robot, belief), "eraser_1").ok
    width = robot.opened

    def turn(robot):
        if robot.held:
            robot.opened = width + 0.009

    robot.after_execute = turn
    result = place_in(context(robot, belief), "bin_1")
    assert result.ok, result.message
    assert robot.opened > width + 0.011


def test_fingers_that_somebody_has_opened_hold_nothing():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(context(robot, belief), "eraser_1").ok
    robot.opened = robot.arm.gripper.width_max
    assert place_in(context(robot, belief), "bin_1").code == "object_lost"


def test_contents_that_the_walls_hide_are_counted_when_they_are_nowhere_else():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(context(robot, belief), "eraser_1").ok
    robot.hidden.add("eraser_1")
    result = place_in(context(robot, belief), "bin_1")
    assert result.ok and result.data["seen"] is False


def test_objects_that_were_pushed_are_named():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(context(robot, belief), "block_1").ok
    item = robot.objects["can_1"]
    pose = item.pose.copy()
    pose[0, 3] += 0.08
    robot.objects["can_1"] = moved(item, pose)
    result = place_in(context(robot, belief), "bin_1")
    assert result.ok and result.data["disturbed"] == ["can_1"]


def test_blocks_are_stacked():
    robot, belief = (
        DeskRobot(
            [
                an_object(f"block_{i}", "box", (0.034, 0.034, 0.034), (0.0, 0.1 * i, 0.017), 0.3 * i, color=color)
                for i, color in enumerate(("red", "blue", "green"))
            ]
        ),
        Belief(),
    )
    for upper, lower in (("block_1", "block_0"), ("block_2", "block_1")):
        assert pick(context(robot, belief), upper).ok
        result = place_on(context(robot, belief), lower)
        assert result.ok, result.message
        assert np.linalg.norm(robot.objects[upper].position[:2] - robot.objects[lower].position[:2]) < 0.003
        assert robot.objects[upper].bottom == pytest.approx(robot.objects[lower].top, abs=0.002)


def test_a_place_that_is_taken_is_refused_and_a_free_one_is_found():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(context(robot, belief), "block_1").ok
    taken = robot.objects["can_1"].position[:2]
    result = place_at(context(robot, belief), float(taken[0]), float(taken[1]))
    assert result.code == "no_free_space"
    result = put_aside(context(robot, belief), [(0.0, 0.0)])
    assert result.ok, result.message
    where = robot.objects["block_1"]
    assert where.bottom == pytest.approx(0.0, abs=0.002) and np.linalg.norm(where.position[:2]) > 0.03
    gaps = [footprint_gap(where, other) for other in robot.objects.values() if other.id != "block_1"]
    assert min(gaps) > 0.01


@pytest.mark.parametrize("side", ["left_of", "right_of", "in_front_of", "behind", "near"])
def test_a_object_is_put_beside_another_with_the_gap_asked_for(side):
    robot, belief = DeskRobot([an_object("block_1", "box", (0.034, 0.034, 0.034), (0.05, 0.2, 0.017), 0.4), BOX]), Belief()
    assert pick(context(robot, belief), "block_1").ok
    result = place_beside(context(robot, belief), "box_1", side, 0.03)
    assert result.ok, result.message
    scene = belief.scene
    assert relation_holds(scene, scene.get("block_1"), side, scene.get("box_1"))[0]
    assert footprint_gap(robot.objects["block_1"], robot.objects["box_1"]) == pytest.approx(0.03, abs=0.006)
    assert result.data["gap"] == pytest.approx(0.03, abs=0.006)


def test_a_side_that_is_taken_is_refused_and_any_side_finds_another():
    wall = an_object("wall_1", "box", (0.05, 0.30, 0.06), (-0.075, 0.0, 0.03), color="brown")
    robot, belief = DeskRobot([an_object("block_1", "box", (0.034, 0.034, 0.034), (0.05, 0.2, 0.017)), BOX, wall]), Belief()
    assert pick(context(robot, belief), "block_1").ok
    refused = place_beside(context(robot, belief), "box_1", "in_front_of", 0.01)
    assert refused.code == "no_free_space" and belief.held is not None
    found = place_beside(context(robot, belief), "box_1", "near", 0.01)
    assert found.ok and found.data["side"] != "in_front_of"


def test_cancel_ends_a_pick_without_another_motion():
    robot = DeskRobot(one_of_each())
    result = pick(context(robot, cancelled=lambda: len(robot.executed) >= 1), "block_1")
    assert result.code == "cancelled"
    assert len(robot.executed) == 1


class After:
    """True from the ``count``-th time on that it is asked."""

    def __init__(self, count):
        self.left = count

    def __call__(self):
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("stopped", [False, True])
def test_whenever_a_pick_or_a_place_is_cut_short_the_belief_is_true_and_the_next_task_succeeds(stopped):
    for count in (8, 11, 18) if stopped else (3, 9, 10, 12, 16, 20):
        robot, belief = DeskRobot(one_of_each()), Belief()
        cut = After(count)

        def pulled(cut=cut, robot=robot):
            if stopped and cut():
                robot.stop("somebody pressed the button")
            return not stopped and cut()

        result = pick(context(robot, belief, pulled), "block_1")
        if result.ok:
            result = place_in(context(robot, belief, pulled), "bin_1")
        assert result.code in ("", "safety_stop" if stopped else "cancelled")
        assert (belief.held.object.id if belief.held else "") == robot.held, f"cut at {count}"
        robot.reset_stop()
        if not robot.held and not in_bin(robot, "block_1"):
            assert (again := pick(context(robot, belief), "block_1")).ok, f"cut at {count}: {again.message}"
        if robot.held:
            assert (again := place_in(context(robot, belief), "bin_1")).ok, f"cut at {count}: {again.message}"
        assert in_bin(robot, "block_1")


def test_a_safety_stop_ends_a_pick_and_is_not_tried_again():
    robot = DeskRobot(one_of_each())
    robot.after_execute = lambda robot: robot.stop("somebody pressed the button")
    result = pick(context(robot), "block_1")
    assert result.code == "safety_stop" and "button" in result.message
    assert len(robot.executed) == 1


def test_out_of_reach_is_no_grasp():
    robot = DeskRobot(one_of_each(), reach=0.25)
    result = pick(context(robot), "box_1")
    assert result.code == "no_grasp"
    assert not robot.executed


def test_the_time_of_each_phase_is_reported():
    result = pick(context(DeskRobot(one_of_each())), "block_1")
    times = result.data["times"]
    assert {"perception", "grasping", "planning", "motion", "wall", "robot"} <= times.keys()
    assert times["grasping"] > 0 and times["robot"] > 0
    assert sum(times[key] for key in ("perception", "grasping", "planning", "motion")) <= times["wall"] + 0.01


def test_hand_and_home():
    robot, belief = DeskRobot(one_of_each()), Belief()
    closed = close_gripper(context(robot, belief))
    assert closed.ok and not closed.data["stalled"] and closed.data["width"] == pytest.approx(0.005)
    opened = open_gripper(context(robot, belief))
    assert opened.ok and opened.data["width"] == pytest.approx(0.049)
    assert close_gripper(context(robot, belief), force=100.0).code == "invalid_input"
    assert pick(context(robot, belief), "block_1").ok
    assert home(context(robot, belief)).ok
    assert np.allclose(robot.joints, HOME) and robot.held == "block_1"


def test_a_free_motion_that_was_halted_is_taken_up_again():
    robot, belief = DeskRobot(one_of_each()), Belief()
    true_execute, halted = robot.execute, []

    def execute(plan_id, progress=None, cancelled=None):
        if len(halted) < 1 and np.allclose(robot.plans[plan_id].trajectory.positions[-1], HOME):
            halted.append(plan_id)
            return ExecutionReport("stalled", "joint states came late", 0.9, 0.0, 0.1, 1.0)
        return true_execute(plan_id, progress, cancelled)

    robot.execute = execute
    assert pick(context(robot, belief), "block_1").ok
    assert place_in(context(robot, belief), "bin_1").ok
    assert halted and np.allclose(robot.joints, HOME)


def test_a_place_that_is_hit_on_the_way_down_is_given_up_for_another():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(context(robot, belief), "block_1").ok
    true_execute, hit = robot.execute, []

    def execute(plan_id, progress=None, cancelled=None):
        path = robot.plans[plan_id].trajectory.positions
        if not hit and path[-1][2] < path[0][2] - 0.01:
            hit.append(path[-1][:2].copy())
            return ExecutionReport("stalled", "something is in the way", 0.5, 0.0, 0.1, 1.0)
        return true_execute(plan_id, progress, cancelled)

    robot.execute = execute
    result = place_in(context(robot, belief), "bin_1")
    assert result.ok, result.message
    assert np.linalg.norm(robot.objects["block_1"].position[:2] - hit[0]) > 0.015
