"""Motion and safety as processes over DDS against the simulated robot: services, execution, stop, and what a kill -9 does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from control_msgs.action import FollowJointTrajectory
from motion_graph import ARM, MODEL, Graph, goal, running_graph
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState as JointStateMsg
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform, rotation_rpy
from deskhand.nodes import conversions
from deskhand.nodes.node import call_service, wait_future
from deskhand.nodes.ros_arm import CONTROLLER
from deskhand.perception.self_filter import joint_map
from deskhand.types import MotionGoal, PlanOptions, SceneUpdate
from deskhand_interfaces.msg import SafetyStatus
from deskhand_interfaces.srv import CheckState, PlanCartesian, PlanMotion, SolveIK, UpdateScene

DOMAIN = 51
SLOW = PlanOptions(speed_scale=0.4)


@pytest.fixture(scope="module")
def graph() -> Iterator[Graph]:
    with running_graph(DOMAIN) as graph:
        yield graph


def home(graph: Graph) -> None:
    if (status := graph.robot.safety_status()).stopped:
        assert status.code
        graph.robot.reset_stop()
    plan = graph.robot.plan_motion(MotionGoal(named="home"))
    if plan.length > 0.01:
        assert graph.robot.execute(plan.id).ok


def test_the_safety_status_is_stamped_when_it_is_said_also_while_nothing_changes(graph: Graph) -> None:
    said: list[float] = []
    now: list[float] = []

    def on_status(message: SafetyStatus) -> None:
        said.append(conversions.time_from_msg(message.header.stamp))
        now.append(graph.robot.now())

    graph.wait(lambda: graph.robot.now() > 0.0 and graph.robot.safety_status().stamp > 0.0)  # both have heard /clock
    subscription = graph.node.create_subscription(SafetyStatus, "safety/status", on_status, 10)
    graph.wait(lambda: len(said) > 20)
    graph.node.destroy_subscription(subscription)
    assert said == sorted(said) and said[-1] - said[0] > 0.2
    assert max(abs(stamp - heard) for stamp, heard in zip(said, now, strict=True)) < 0.5


def test_poses_in_any_frame_of_tf_are_those_in_world_and_an_unknown_frame_names_the_known_ones(graph: Graph) -> None:
    home(graph)
    client = graph.node.create_client(SolveIK, "motion/solve_ik", callback_group=graph.node.reentrant)
    world_T_base = ARM.world_T_base
    world_T_tcp = MODEL.forward(joint_map(graph.robot.joint_state()))[ARM.tcp] @ make_transform(translation=(-0.03, 0.0, 0.0))  # 3 cm back
    in_base = np.linalg.inv(world_T_base) @ world_T_tcp
    in_tcp = make_transform(translation=(-0.03, 0.0, 0.0))
    for frame, pose in ((ARM.base_link, in_base), (ARM.tcp, in_tcp)):
        answer = call_service(client, SolveIK.Request(pose=conversions.pose_stamped_to_msg(pose, frame_id=frame)))
        assert not answer.error_code, answer.error_message
        reached = MODEL.forward(dict(zip(ARM.joints, conversions.ik_solution_from_msg(answer.solutions[0]).joints, strict=True)))[ARM.tcp]
        assert np.allclose(reached[:3, 3], world_T_tcp[:3, 3], atol=3e-3), frame
    for frame, stamp, said in (("mars", 0.0, (ARM.base_link, "world", "mars")), (ARM.tcp, 0.5, ("tcp", "known from"))):
        answer = call_service(client, SolveIK.Request(pose=conversions.pose_stamped_to_msg(in_tcp, stamp, frame)))
        assert answer.error_code and all(word in answer.error_message for word in said), answer.error_message


def test_a_plan_is_executed_once_and_ends_where_it_said(graph: Graph) -> None:
    home(graph)
    plan = graph.robot.plan_motion(goal(0.4))
    progress: list[float] = []
    report = graph.robot.execute(plan.id, lambda fraction, _: progress.append(fraction))
    assert report.ok and report.final_error < 0.02
    assert progress and progress == sorted(progress)
    assert graph.robot.joint_state().of(["waist"])[0] == pytest.approx(0.4, abs=0.02)
    with pytest.raises(DeskhandError) as caught:
        graph.robot.execute(plan.id)
    assert caught.value.code == "plan_used"


def test_broken_requests_are_answered_with_a_code_and_move_nothing(graph: Graph) -> None:
    graph.settle()
    before = graph.seen[-1][1]
    nan = float("nan")
    bad_pose = conversions.pose_stamped_to_msg(make_transform(translation=(0, 0, 0.1)))
    bad_pose.pose.orientation.w = 7.0
    nan_pose = conversions.pose_stamped_to_msg(make_transform(translation=(0, 0, 0.1)))
    nan_pose.pose.position.x = nan
    elsewhere = conversions.pose_stamped_to_msg(make_transform(translation=(0, 0, 0.1)), frame_id="mars")
    joints = JointStateMsg(name=["nose"], position=[0.1])
    ragged = JointStateMsg(name=["waist", "elbow"], position=[0.1])
    requests: list[tuple[Any, str, list[Any]]] = [
        (SolveIK, "motion/solve_ik", [SolveIK.Request(pose=pose) for pose in (bad_pose, nan_pose, elsewhere)]),
        (SolveIK, "motion/solve_ik", [SolveIK.Request(pose=conversions.pose_stamped_to_msg(np.eye(4)), seed=seed) for seed in (joints, ragged)]),
        (PlanMotion, "motion/plan_motion", [PlanMotion.Request(), PlanMotion.Request(named="moon"), PlanMotion.Request(joints=joints)]),
        (PlanMotion, "motion/plan_motion", [PlanMotion.Request(poses=[nan_pose]), PlanMotion.Request(named="home", poses=[bad_pose])]),
        (PlanCartesian, "motion/plan_cartesian", [PlanCartesian.Request(), PlanCartesian.Request(waypoints=[nan_pose, elsewhere])]),
        (CheckState, "motion/check_state", [CheckState.Request(joints=joints), CheckState.Request(joints=ragged)]),
        (UpdateScene, "motion/update_scene", [UpdateScene.Request(remove=["ghost"]), UpdateScene.Request(attach="ghost"), UpdateScene.Request(detach=True)]),
    ]
    for kind, name, cases in requests:
        client = graph.node.create_client(kind, name, callback_group=graph.node.reentrant)
        assert client.wait_for_service(timeout_sec=10.0)
        for request in cases:
            answer = wait_future(client.call_async(request), 20.0, name)
            assert answer.error_code and answer.error_message, request
    with pytest.raises(DeskhandError) as caught:
        graph.robot.execute("plan_of_nobody")
    assert caught.value.code == "unknown_plan"
    assert graph.robot.check_state().valid
    assert np.abs(graph.seen[-1][1] - before).max() < 5e-3


def test_a_pause_holds_the_next_motion_until_it_is_lifted_and_a_stop_ends_the_wait(graph: Graph) -> None:
    home(graph)
    planned: list[JointTrajectory] = []
    graph.node.create_subscription(JointTrajectory, "motion/planned", planned.append, 10)
    client = graph.node.create_client(SetBool, "motion/pause")

    def pause(on: bool) -> None:
        assert call_service(client, SetBool.Request(data=on)).success

    with ThreadPoolExecutor(1) as pool:
        for lifted in (True, False):
            plan = graph.robot.plan_motion(goal(0.5))
            graph.wait(lambda plan=plan: bool(planned) and len(planned[-1].points) == len(plan.trajectory.times))
            before = graph.seen[-1][1]
            pause(True)
            moving = pool.submit(graph.robot.execute, plan.id)
            heard = len(graph.seen)
            graph.wait(lambda heard=heard: len(graph.seen) > heard + 40)
            assert not moving.done() and np.abs(graph.seen[-1][1] - before).max() < 5e-3
            if lifted:
                pause(False)
                assert moving.result(30).ok
                home(graph)
                continue
            graph.robot.stop("a test")
            with pytest.raises(DeskhandError) as caught:
                moving.result(30)
            assert caught.value.code == "safety_stop" and np.abs(graph.seen[-1][1] - before).max() < 5e-3
            pause(False)
        graph.wait(lambda: not planned[-1].points)
    home(graph)


def test_a_second_motion_is_refused_planning_goes_on_and_cancel_halts(graph: Graph) -> None:
    home(graph)
    plan, other = graph.robot.plan_motion(goal(1.2), SLOW), graph.robot.plan_motion(goal(-0.5), SLOW)
    cancel = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        moving = pool.submit(graph.robot.execute, plan.id, None, cancel.is_set)
        graph.wait(graph.moving)
        with pytest.raises(DeskhandError) as caught:
            graph.robot.execute(other.id)
        assert caught.value.code == "busy"
        assert graph.robot.solve_ik(make_transform(rotation_rpy(0, np.pi, 0), (0.05, 0.0, 0.15)))
        cancel.set()
        report = moving.result(30)
    assert report.code == "cancelled" and 0.0 < report.progress < 0.95
    assert "halted at" in report.message
    graph.settle()
    graph.robot.update_scene(SceneUpdate(replace=()))


def test_a_stop_halts_the_arm_whoever_moves_it_and_stays(graph: Graph) -> None:
    home(graph)
    plan = graph.robot.plan_motion(goal(1.2), SLOW)
    with ThreadPoolExecutor(1) as pool:
        moving = pool.submit(graph.robot.execute, plan.id)
        graph.wait(graph.moving)
        graph.robot.stop("test")
        stopped_at = graph.seen[-1][0]  # the last status and the clock may be from before
        report = moving.result(30)
    assert report.code == "safety_stop" and report.progress < 0.95
    graph.settle()
    assert graph.last_motion() - stopped_at < 0.5
    for call in (lambda: graph.robot.plan_motion(goal(0.0)), lambda: graph.robot.execute("any")):
        with pytest.raises(DeskhandError) as caught:
            call()
        assert caught.value.code == "safety_stop"
    # Somebody who goes to the controller past the motion node is halted as well.
    before = graph.seen[-1][1].copy()
    client = ActionClient(graph.node, FollowJointTrajectory, CONTROLLER, callback_group=graph.node.reentrant)
    assert client.wait_for_server(timeout_sec=10.0)
    message = FollowJointTrajectory.Goal(trajectory=conversions.trajectory_to_msg(plan.trajectory))
    message.trajectory.points[0].positions = before.tolist()
    handle = wait_future(client.send_goal_async(message), 10.0, CONTROLLER)
    if handle.accepted:
        wait_future(handle.get_result_async(), 20.0, CONTROLLER)
    graph.settle()
    travelled = np.abs(plan.trajectory.positions[-1] - before).max()
    assert np.abs(graph.seen[-1][1] - before).max() < 0.8 * travelled
    graph.robot.reset_stop()
    assert not graph.robot.safety_status().stopped


@pytest.mark.parametrize("victim", ["motion", "safety"])
def test_kill_of_a_node_halts_the_arm_within_half_a_second(graph: Graph, victim: str) -> None:
    home(graph)
    plan = graph.robot.plan_motion(goal(1.2), SLOW)
    with ThreadPoolExecutor(1) as pool:
        moving = pool.submit(graph.robot.execute, plan.id)
        graph.wait(graph.moving)
        killed_at = graph.robot.now()
        graph.processes[victim].send_signal(signal.SIGKILL)
        graph.processes.pop(victim).wait()
        if victim == "motion":
            with pytest.raises(DeskhandError) as caught:
                moving.result(30)
            assert caught.value.code == "node_unavailable"
        else:
            assert moving.result(30).code == "watchdog"
    graph.settle()
    assert graph.last_motion() - killed_at < 0.5
    assert abs(graph.seen[-1][1][0] - 1.2) > 0.1, "it was halted, not done"
    status = graph.robot.safety_status()
    assert status.stopped and status.code == "watchdog"
    graph.start(victim)
    if victim == "motion":
        assert "motion" in status.reason
        graph.wait(lambda: _reset(graph))
    graph.wait(lambda: graph.robot.check_state().valid and not graph.robot.safety_status().stopped)


def _reset(graph: Graph) -> bool:
    """Refused until the node is heard again."""
    graph.robot.reset_stop()
    return True
