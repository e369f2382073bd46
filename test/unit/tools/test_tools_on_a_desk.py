import re
from dataclasses import replace

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.geometry import make_transform
from deskhand.testing.desk_robot import DeskRobot
from deskhand.testing.desk_scene import one_of_each
from deskhand.testing.desk_scene import scene_object as an_object
from deskhand.tools.base import make_session
from deskhand.tools.poses import hand_poses

GOAL = {"conditions": [{"object_id": "block_1", "relation": "in", "target_id": "bin_1"}]}


@pytest.fixture
def robot():
    return DeskRobot([item for item in one_of_each() if item.id not in ("eraser_1", "ball_1", "cup_1", "box_1")])


@pytest.fixture
def session(robot):
    with make_session(robot) as session:
        yield session


def ok(session, name, **arguments):
    result = session.invoke(name, arguments)
    assert result.ok, result
    return result.data


def test_a_look_gives_what_other_tools_take(session, robot):
    look = ok(session, "detect_objects")
    assert {item["id"] for item in look["objects"]} == set(robot.objects) and look["note"] == ""
    block = next(item for item in look["objects"] if item["id"] == "block_1")
    assert block["size"] == pytest.approx([0.035] * 3) and block["yaw"] == pytest.approx(0.4) and (block["support"], block["relation"]) == ("table", "on")
    assert robot.obstacles >= {"block_1", "bin_1"}  # the planner knows
    desk, arm = look["desk"], robot.arm
    assert desk["reach"] == pytest.approx(arm.work_radius, abs=1e-3) and desk["base"] == pytest.approx(arm.world_T_base[:2, 3], abs=1e-3)
    assert [high - low for low, high in (desk["x"], desk["y"])] == pytest.approx((0.9, 1.1), abs=1e-3)


def test_tools_of_the_last_look_ask_for_one_first(session):
    for name, arguments in (("find_objects", {}), ("describe_scene", {}), ("generate_grasps", {"object_id": "block_1"}), ("pick", {"object_id": "block_1"})):
        result = session.invoke(name, arguments)
        assert result.code == "precondition_failed" and "detect_objects" in result.hint, name


def test_remembered_objects_are_found_by_what_they_are(session):
    ok(session, "detect_objects")
    assert {item["id"] for item in ok(session, "find_objects", color="Yellow")["objects"]} == {"can_2", "sponge_1"}
    assert [item["id"] for item in ok(session, "find_objects", container=True)["objects"]] == ["bin_1"]
    assert [item["id"] for item in ok(session, "find_objects", label="can", color="green")["objects"]] == ["can_1"]
    nothing = ok(session, "find_objects", label="banana")
    assert nothing["objects"] == [] and "block_1 (red block)" in nothing["hint"]


def test_an_unknown_id_is_an_error_that_names_the_known_ones(session):
    ok(session, "detect_objects")
    for name, arguments in (
        ("pick", {"object_id": "block_9"}),
        ("check_reachable", {"object_id": "block_9"}),
        ("query_relation", {"object_id": "block_9", "relation": "on", "target_id": "table"}),
    ):
        result = session.invoke(name, arguments)
        assert result.code == "unknown_object" and "block_1" in result.message and not result.retry, name


def test_a_desk_is_cleaned_step_by_step_and_the_goal_check_follows(session, robot):
    ok(session, "detect_objects")
    before = ok(session, "check_goal", **GOAL)
    assert not before["satisfied"] and "on table" in before["unmet"][0]["reason"]
    picked = ok(session, "pick", object_id="block_1")
    assert picked["width"] == pytest.approx(0.035, abs=0.003) and picked["lifted"] > 0.05 and picked["object_id"] == "block_1"
    assert ok(session, "get_robot_state")["holding"] == "block_1"
    assert session.invoke("pick", {"object_id": "pen_1"}).details["precondition"] == "not_holding"
    placed = ok(session, "place_in", container_id="bin_1")
    assert placed["object_id"] == "block_1"
    after = ok(session, "check_goal", **GOAL)
    assert after["satisfied"] and after["unmet"] == [] and after["met"][0]["object_id"] == "block_1"
    assert "bin_1" in ok(session, "describe_scene")["text"]
    assert session.invoke("place_in", {"container_id": "bin_1"}).details["precondition"] == "holding"


def test_a_object_that_was_put_into_a_container_and_is_hidden_counts_with_its_evidence(session, robot):
    ok(session, "detect_objects")
    for name in ("sponge_1", "block_1"):
        ok(session, "pick", object_id=name)
        ok(session, "place_in", container_id="bin_1")
    robot.hidden = {"block_1"}
    answer = ok(session, "check_goal", **GOAL)
    assert answer["satisfied"] and "inside, hidden" in answer["met"][0]["reason"] and "sponge_1" in answer["met"][0]["reason"]


def test_a_object_that_vanished_from_an_empty_container_does_not_count(session, robot):
    ok(session, "detect_objects")
    ok(session, "pick", object_id="can_1")
    ok(session, "place_in", container_id="bin_1")
    robot.hidden = {"can_1"}
    answer = ok(session, "check_goal", conditions=[{"object_id": "can_1", "relation": "in", "target_id": "bin_1"}])
    assert not answer["satisfied"] and "looks empty" in answer["unmet"][0]["reason"]


def test_a_object_that_is_not_seen_and_was_not_placed_never_counts(session, robot):
    ok(session, "detect_objects")
    robot.hidden = {"block_1", "bin_1"}
    reasons = [
        ok(session, "check_goal", conditions=[{"object_id": name, "relation": relation, "target_id": target}])["unmet"][0]["reason"]
        for name, relation, target in (("block_1", "on", "table"), ("pen_1", "in", "bin_1"), ("block_1", "in", "bin_1"))
    ]
    assert "has not put it anywhere" in reasons[0] and "bin_1 is not seen" in reasons[1] and "bin_1 is not seen" in reasons[2]


def test_what_is_picked_out_again_no_longer_counts_as_placed(session, robot):
    ok(session, "detect_objects")
    ok(session, "pick", object_id="block_1")
    ok(session, "place_in", container_id="bin_1")
    ok(session, "pick", object_id="block_1")
    ok(session, "move_home")
    answer = ok(session, "check_goal", **GOAL)
    assert not answer["satisfied"] and "in the gripper" in answer["unmet"][0]["reason"]


def test_a_failed_pick_is_a_result_with_the_skills_own_code_and_what_it_measured(session, robot):
    ok(session, "detect_objects")
    robot.slippery = 10
    result = session.invoke("pick", {"object_id": "block_1"})
    assert result.code == "grasp_failed" and result.retry and result.data["attempts"] >= 2
    assert ok(session, "get_robot_state")["holding"] is None


def test_containers_cannot_be_picked(session):
    ok(session, "detect_objects")
    result = session.invoke("pick", {"object_id": "bin_1"})
    assert result.code == "invalid_arguments" and "container" in result.message


def test_reach_is_told_with_a_reason(session, robot):
    robot.objects["far_1"] = an_object("far_1", "box", (0.03, 0.03, 0.03), (0.42, 0.4, 0.015))
    far_away = make_transform(translation=(0.5, 0.3, 0.0))
    robot.objects["bin_2"] = replace(robot.objects["bin_1"], id="bin_2", pose=far_away @ robot.objects["bin_1"].pose)
    ok(session, "detect_objects")
    assert ok(session, "check_reachable", object_id="block_1")["grasps"] > 0
    for name in ("far_1", "bin_2"):
        answer = ok(session, "check_reachable", object_id=name)
        assert not answer["reachable"] and answer["reason"]
    assert ok(session, "check_reachable", object_id="bin_1")["reachable"]


def test_a_point_out_of_reach_is_told_with_the_nearest_that_is_reached(session, robot):
    refused = session.invoke("solve_ik", {"position": [0.6, 0.0, 0.1]})
    found = re.search(r"within reach, at that height: \((-?[\d.]+), (-?[\d.]+), (-?[\d.]+)\), (\d+) mm off", refused.message)
    assert refused.code == "no_ik_solution" and found, refused
    assert ok(session, "solve_ik", position=[float(found[n]) for n in (1, 2, 3)])["solutions"]


def test_a_plan_moves_nothing_until_it_is_executed(session, robot):
    before = robot.joints.copy()
    plan = ok(session, "plan_motion", position=[0.0, 0.1, 0.25])
    assert np.allclose(robot.joints, before) and plan["clearance"] is None
    ok(session, "execute_plan", plan_id=plan["plan_id"])
    assert robot.tcp_pose()[:3, 3] == pytest.approx([0.0, 0.1, 0.25])
    assert ok(session, "get_robot_state")["at_home"] is False
    ok(session, "move_home")
    assert ok(session, "get_robot_state")["at_home"] is True


@pytest.mark.parametrize("arguments", [{}, {"named": "home", "position": [0, 0, 0.2]}, {"named": "nowhere"}])
def test_a_plan_needs_one_goal(session, arguments):
    assert session.invoke("plan_motion", arguments).code == "invalid_arguments"


def test_a_stop_is_latched_and_told(session, robot):
    assert ok(session, "stop_motion", reason="a hand is in the way")["stopped"]
    for name, arguments in (("move_home", {}), ("plan_motion", {"named": "home"}), ("open_gripper", {})):
        result = session.invoke(name, arguments)
        assert result.code == "safety_stop" and "a hand is in the way" in result.message
    assert ok(session, "get_robot_state")["stopped"] and robot.executed == []


def test_a_place_out_of_the_table_is_refused_before_anything_moves(session, robot):
    ok(session, "detect_objects")
    ok(session, "pick", object_id="block_1")
    moves = len(robot.executed)
    result = session.invoke("place_at", {"x": 150.0, "y": 20.0})
    assert result.code == "invalid_arguments" and "[m]" in result.message and len(robot.executed) == moves
    assert ok(session, "place_at", x=0.06, y=-0.04)["position"][:2] == pytest.approx([0.06, -0.04], abs=0.02)


@pytest.mark.parametrize("approach", ["down", "tilted", "forward"])
def test_the_hands_of_an_approach_are_right_handed_and_point_where_they_should(approach):
    arm = load_arm("wx250s")
    drop = {"down": -1.0, "tilted": -np.sqrt(0.5), "forward": 0.0}[approach]
    for yaw in (None, 0.0, 0.7):
        for pose in hand_poses(arm, [0.1, 0.1, 0.1], approach, yaw):
            assert np.linalg.det(pose[:3, :3]) == pytest.approx(1.0) and pose[2, 2] == pytest.approx(drop)
    if approach == "down":
        closing = hand_poses(arm, [0, 0, 0.1], "down", 0.3)[0][:3, 1]
        assert abs(closing @ [-np.sin(0.3), np.cos(0.3), 0]) == pytest.approx(1.0)


def test_an_arm_without_joint_efforts_weighs_nothing_in_its_hand(session, robot):
    ok(session, "detect_objects")
    assert not len(robot.joint_state().efforts)
    before = robot.objects["block_1"].pose.copy()
    result = session.invoke("weigh_in_hand", {"object_id": "block_1"})
    assert result.code == "impossible" and "effort" in result.message and "balance" in result.hint
    assert np.array_equal(robot.objects["block_1"].pose, before)
