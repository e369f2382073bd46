"""The real Gazebo Harmonic, where it is installed: pictures in the right frames, the arm along a trajectory, the truth for the scorer only."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.geometry import inverse, rotation_angle
from deskhand.nodes.connected import connected_robot
from deskhand.nodes.ros_robot import RosRobot
from deskhand.sim.gazebo.files import require_gazebo
from deskhand.sim.spec import CameraSpec, WorldSpec
from deskhand.sim.worldfile import world_from_dict
from deskhand.trials.base import TrialOptions
from deskhand.trials.ros import Stack, running_gazebo
from deskhand.types import Frame, MotionGoal

COLORS = {"red": 0, "green": 1, "blue": 2}
WORLD = {
    "objects": [
        {"name": "zqx_red", "kind": "block", "color": "red", "size": [0.05, 0.05, 0.05], "pose": {"x": 0.05, "y": 0.08}},
        {"name": "zqx_green", "kind": "block", "color": "green", "size": [0.06, 0.04, 0.03], "pose": {"x": 0.10, "y": -0.12, "yaw": 0.6}},
        {"name": "zqx_blue", "kind": "block", "color": "blue", "size": [0.04, 0.04, 0.08], "pose": {"x": -0.05, "y": -0.02}},
    ]
}


@pytest.fixture(scope="module")
def world() -> WorldSpec:
    try:
        require_gazebo()
    except DeskhandError as error:
        pytest.skip(str(error))
    return world_from_dict(WORLD)


@pytest.fixture(scope="module")
def live(world: WorldSpec, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, RosRobot]]:
    folder = tmp_path_factory.mktemp("gazebo")
    patch = pytest.MonkeyPatch()
    with running_gazebo(TrialOptions(sim="gazebo"), world, folder) as stack, patch.context() as environment:
        stack.truth.get()
        for name, value in stack.environment.items():
            environment.setenv(name, value)
        with connected_robot("wx250s") as robot:
            robot.sleep(1.0)
            yield stack, robot


def seen_point(frame: Frame, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the picture shows where a point of the world should be: its place (3,) [m] by depth, its colour (3,)."""
    k = frame.intrinsics
    x, y, z = (inverse(frame.world_T_camera) @ [*point, 1])[:3]
    u, v = round(k.fx * x / z + k.cx), round(k.fy * y / z + k.cy)
    depth = float(frame.depth[v, u])
    there = frame.world_T_camera @ [(u - k.cx) / k.fx * depth, (v - k.cy) / k.fy * depth, depth, 1]
    return there[:3], frame.color[v, u].astype(float)


def test_colour_and_depth_are_in_the_cameras_optical_frame(live: tuple[Stack, RosRobot]) -> None:
    stack, robot = live
    frame = robot.observe(0.0)  # simulated time
    camera = CameraSpec()
    assert frame.intrinsics.frame_id == camera.frame_id
    assert frame.world_T_camera[:3, 3] == pytest.approx(camera.world_T_camera[:3, 3], abs=1e-6)  # by /tf_static
    assert rotation_angle(frame.world_T_camera, camera.world_T_camera) < 1e-5
    for item in stack.truth.get().objects:
        top = item.pose[:3, 3] + [0, 0, item.size[2] / 2]
        there, color = seen_point(frame, top)
        assert np.linalg.norm(there - top) < 0.005, (item.name, there, top)
        assert int(np.argmax(color)) == COLORS[item.name.removeprefix("zqx_")], (item.name, color)


def test_objects_come_to_rest_where_the_world_says(live: tuple[Stack, RosRobot], world: WorldSpec) -> None:
    truth = live[0].truth.get()
    for item in world.objects:
        assert np.linalg.norm(truth.get(item.name).pose[:3, 3] - item.pose[:3, 3]) < 0.003, item.name
        assert truth.get(item.name).velocity < 0.01


def test_the_arm_follows_a_trajectory_through_its_controllers(live: tuple[Stack, RosRobot]) -> None:
    robot = live[1]
    goal = dict(zip(robot.arm.joints, (0.5, -0.9, 0.8, 0.2, 0.9, -0.4), strict=True))
    report = robot.execute(robot.plan_motion(MotionGoal(joints=goal)).id)
    assert report.ok, report
    state = robot.joint_state()
    reached = dict(zip(state.names, state.positions, strict=True))
    assert [reached[name] for name in goal] == pytest.approx(list(goal.values()), abs=0.02)
    assert reached["right_finger"] == pytest.approx(reached["left_finger"], abs=0.001)
    assert robot.execute(robot.plan_motion(MotionGoal(named="home")).id).ok


def test_the_gripper_closes_on_nothing_and_opens(live: tuple[Stack, RosRobot]) -> None:
    robot = live[1]
    assert robot.gripper(robot.arm.gripper.width_min).width == pytest.approx(robot.arm.gripper.width_min, abs=0.003)
    assert robot.gripper(robot.arm.gripper.width_max).width == pytest.approx(robot.arm.gripper.width_max, abs=0.003)


def test_no_ros_topic_is_there_that_tells_where_objects_are(live: tuple[Stack, RosRobot]) -> None:
    robot = live[1]
    topics = dict(robot._node.get_topic_names_and_types())
    assert not [name for name in topics if "pose" in name or "contact" in name or "zqx" in name]
    assert not [name for name, types in topics.items() if any(kind.startswith("ros_gz") for kind in types)]
