"""What is sent is what is read, for every type; bad messages are refused with a code."""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")

from geometry_msgs.msg import Pose, PoseStamped  # noqa: E402
from sensor_msgs.msg import CameraInfo, Image, JointState  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from deskhand import types  # noqa: E402
from deskhand.errors import DeskhandError  # noqa: E402
from deskhand.geometry import pose_from_xyz_rpy  # noqa: E402
from deskhand.nodes import conversions as c  # noqa: E402
from deskhand_interfaces.srv import PlanCartesian, PlanMotion  # noqa: E402

RNG = np.random.default_rng(4)
POSE = pose_from_xyz_rpy([0.1, -0.2, 0.3], [0.4, -0.5, 0.6])


def same(a, b):
    if is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and np.allclose(a, b, atol=1e-6, equal_nan=True)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float):
        return a == pytest.approx(b, abs=1e-6, nan_ok=True)
    return a == b


def scene_object(name):
    return types.SceneObject(
        id=name,
        label="cup",
        color="red",
        shape="cylinder",
        size=np.array([0.04, 0.05, 0.06]),
        pose=POSE,
        points=RNG.random((7, 3)).astype(np.float32),
        confidence=0.8,
        label_source="onnx:x",
        is_container=True,
        wall=0.003,
        support="tray_1",
        relation="in",
        box2d=(1, 2, 3, 4),
        guessed=(0, 2),
    )


def trajectory():
    return types.Trajectory(("a", "b"), np.array([0.0, 0.5]), RNG.random((2, 2)), RNG.random((2, 2)), RNG.random((2, 2)))


def box_and_mesh():
    mesh = types.Shape("mesh", (), POSE, RNG.random((4, 3)), np.array([[0, 1, 2], [1, 2, 3]], np.int32))
    points = types.Shape("points", (0.01,), vertices=RNG.random((5, 3)).astype(np.float32).astype(float))
    shapes = (types.Shape("box", (0.1, 0.2, 0.3), POSE), types.Shape("cylinder", (0.02, 0.5)), types.Shape("sphere", (0.3,)), mesh, points)
    return types.CollisionObject("thing", shapes, POSE)


OPTIONS = types.PlanOptions({"a": 0.1, "b": -2.0}, 0.5, (("gripper", "cup_1"),), 1.0, 0.003, 0.9, 0.2)


@pytest.mark.parametrize(
    ("value", "back"),
    [
        (POSE, lambda v: c.pose_from_msg(c.pose_to_msg(v))),
        (POSE, lambda v: c.pose_stamped_from_msg(c.pose_stamped_to_msg(v, 2.5))),
        (RNG.random((9, 3)).astype(np.float32), lambda v: c.cloud_from_msg(c.cloud_to_msg(v))),
        (np.zeros((0, 3), np.float32), lambda v: c.cloud_from_msg(c.cloud_to_msg(v))),
        (RNG.integers(0, 255, (4, 6, 3)).astype(np.uint8), lambda v: c.image_from_msg(c.image_to_msg(v, 1.0, "camera"))),
        (RNG.random((4, 6)).astype(np.float32), lambda v: c.image_from_msg(c.image_to_msg(v, 1.0, "camera"))),
        (types.CameraIntrinsics(640, 480, 500.0, 501.0, 320.0, 240.0), lambda v: c.camera_info_from_msg(c.camera_info_to_msg(v, 0.0))),
        (types.JointState(("a", "b"), RNG.random(2), RNG.random(2), RNG.random(2), 12.25), lambda v: c.joint_state_from_msg(c.joint_state_to_msg(v))),
        (trajectory(), lambda v: c.trajectory_from_msg(c.trajectory_to_msg(v))),
        (scene_object("cup_1"), lambda v: c.scene_object_from_msg(c.scene_object_to_msg(v))),
        (
            types.Scene((scene_object("a"), scene_object("b")), types.Table(POSE, (0.5, 0.7)), 3.5, RNG.random((5, 3)).astype(np.float32)),
            lambda v: c.scene_from_msg(c.scene_to_msg(v)),
        ),
        (types.Grasp("cup_1", POSE, 0.04, 0.7, RNG.random((2, 3)), 0.1, 0.02, RNG.random(6)), lambda v: c.grasp_from_msg(c.grasp_to_msg(v))),
        (OPTIONS, lambda v: c.plan_options_from_msg(c.plan_options_to_msg(v))),
        (types.PlanOptions(), lambda v: c.plan_options_from_msg(c.plan_options_to_msg(v))),
        (types.MotionGoal(joints={"a": 1.0}), lambda v: c.motion_goal_from_msg(c.motion_goal_to_msg(v))),
        (types.MotionGoal(poses=(POSE, POSE)), lambda v: c.motion_goal_from_msg(c.motion_goal_to_msg(v))),
        (types.MotionGoal(named="home"), lambda v: c.motion_goal_from_msg(c.motion_goal_to_msg(v))),
        (types.Plan("p", trajectory(), 1.5, 0.02, 1.0, 1, np.array([POSE])), lambda v: c.plan_from_msg(c.plan_to_msg(v, PlanMotion.Response()))),
        (types.Plan("p", trajectory(), 1.5, 0.02, 0.7, 0, np.array([POSE])), lambda v: c.plan_from_msg(c.plan_to_msg(v, PlanCartesian.Response()))),
        (types.IkSolution(RNG.random(6), 1e-4, 2e-4, True), lambda v: c.ik_solution_from_msg(c.ik_solution_to_msg(v))),
        (types.SceneUpdate(replace=(box_and_mesh(),), allow=(("a", "b"),)), lambda v: c.scene_update_from_msg(c.scene_update_to_msg(v))),
        (
            types.SceneUpdate(add=(box_and_mesh(),), remove=("x",), attach="thing", detach=True),
            lambda v: c.scene_update_from_msg(c.scene_update_to_msg(v)),
        ),
        (types.SafetyStatus(True, "watchdog", "motion died", 4.0), lambda v: c.safety_status_from_msg(c.safety_status_to_msg(v))),
    ],
    ids=lambda v: type(v).__name__ if not callable(v) else "",
)
def test_round_trip(value, back):
    assert same(value, back(value))


def test_depth_in_millimetres_becomes_metres_and_zero_becomes_nan():
    message = c.image_to_msg(np.array([[0, 500], [1500, 65535]], np.uint16), 0.0, "camera")
    assert message.encoding == "16UC1"
    np.testing.assert_allclose(c.image_from_msg(message), [[np.nan, 0.5], [1.5, 65.535]], rtol=1e-6)


def test_bgr_is_turned_into_rgb():
    message = c.image_to_msg(np.array([[[1, 2, 3]]], np.uint8), 0.0, "camera", "bgr8")
    assert c.image_from_msg(message).tolist() == [[[3, 2, 1]]]


def test_a_scene_in_another_frame_is_brought_into_world_with_its_points():
    message = c.scene_to_msg(types.Scene((scene_object("a"),), types.Table(POSE, (0.9, 1.1)), 3.0, RNG.random((5, 3)).astype(np.float32)))
    scene = c.scene_from_msg(message)
    message.header.frame_id = "base_link"
    moved = c.scene_from_msg(message, lambda header: POSE if header.frame_id == "base_link" else np.eye(4))
    for item, before in zip(moved.objects, scene.objects, strict=True):
        np.testing.assert_allclose(item.pose, POSE @ before.pose)
        np.testing.assert_allclose(item.points, before.points @ POSE[:3, :3].T + POSE[:3, 3], atol=1e-6)
    np.testing.assert_allclose(moved.table.pose, POSE @ scene.table.pose)
    with pytest.raises(DeskhandError, match="base_link"):
        c.scene_from_msg(message)


def bad_pose(**values):
    message = PoseStamped(pose=Pose())
    message.pose.orientation.w = 1.0
    for path, value in values.items():
        part, axis = path.split("_")
        setattr(getattr(message.pose, part), axis, value)
    return message


@pytest.mark.parametrize(
    "read",
    [
        lambda: c.pose_stamped_from_msg(bad_pose(position_x=float("nan"))),
        lambda: c.pose_stamped_from_msg(bad_pose(orientation_w=float("inf"))),
        lambda: c.pose_stamped_from_msg(bad_pose(orientation_w=0.5)),
        lambda: c.pose_stamped_from_msg(c.pose_stamped_to_msg(POSE, frame_id="moon")),
        lambda: c.joints_from_msg(JointState(name=["a"], position=[])),
        lambda: c.joints_from_msg(JointState(name=["a", "a"], position=[1.0, 2.0])),
        lambda: c.image_from_msg(Image(encoding="yuv422", width=2, height=2)),
        lambda: c.image_from_msg(Image(encoding="rgb8", width=2, height=2, step=6, data=b"123")),
        lambda: c.camera_info_from_msg(CameraInfo()),
        lambda: c.trajectory_from_msg(JointTrajectory(joint_names=["a", "b"], points=[JointTrajectoryPoint(positions=[1.0])])),
    ],
)
def test_bad_messages_are_refused(read):
    with pytest.raises(DeskhandError) as caught:
        read()
    assert caught.value.code == "invalid_input"
