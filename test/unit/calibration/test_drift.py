"""A camera that was moved is noticed before the arm reaches beside objects."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
from looked_at import an_object, look

from deskhand.calibration.board import Board
from deskhand.calibration.drift import camera_drift, levelled, require_still
from deskhand.cameras.config import CameraMount, load_camera, pose_fields, save_camera
from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform, rotation_about, rotation_angle
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import BoardSpec, WorldSpec

LIMITS = (0.006, np.radians(0.6))
LANDMARK = make_transform(np.diag([1.0, -1.0, -1.0]), [-0.05, -0.02, 0.003])


@pytest.fixture(scope="module")
def desk():
    return look(an_object("block", "red", (0.035,) * 3, 0.05, 0.10, 0.4), an_object("bin", "white", (0.18, 0.14, 0.10), 0.0, 0.29)).frame


@pytest.fixture(scope="module")
def with_board():
    """A picture with the board on the desk, and the camera's file with the board as `calibrate table` saw it in a picture before."""
    with RgbdRenderer(Simulation(WorldSpec((), board=BoardSpec(Board().name, LANDMARK)))) as renderer:
        before, now = renderer.render(), renderer.render()
    seen = before.world_T_camera @ Board().pose(Board().find(before.color), before.intrinsics)
    assert np.linalg.norm((seen - LANDMARK)[:3, 3]) < 0.003 and rotation_angle(seen, LANDMARK) < np.radians(0.6)
    return now, CameraMount("world", "camera", now.world_T_camera, landmarks={"board": Board().name, **pose_fields(seen)})


def told(frame, shift=(0, 0, 0), axis=(1, 0, 0), degrees=0.0):
    """The same picture by a camera that is believed to be elsewhere."""
    pose = frame.world_T_camera @ make_transform(rotation_about(axis, np.radians(degrees)))
    return replace(frame, world_T_camera=make_transform(pose[:3, :3], pose[:3, 3] + shift))


def test_a_camera_that_stands_where_it_should_passes(desk, with_board):
    assert require_still(desk, None, *LIMITS).by == "table"
    assert require_still(*with_board, *LIMITS).by == "board"


@pytest.mark.parametrize("drop", [-0.009, 0.009, 0.025])
def test_the_table_tells_that_the_camera_sank(desk, drop):
    drift = camera_drift(told(desk, (0, 0, drop)))
    assert drift.shift == pytest.approx(abs(drop), abs=0.0015)
    with pytest.raises(DeskhandError, match=rf"moved by {abs(drop) * 1000:.0f} mm") as caught:
        require_still(told(desk, (0, 0, drop)), None, 0.006, 0.1)
    assert caught.value.code == "camera_moved" and "calibrate" in caught.value.hint


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0, 1)])
def test_the_table_tells_that_the_camera_tilted(desk, axis):
    assert camera_drift(told(desk, axis=axis, degrees=2.0)).turn > np.radians(1.0)


@pytest.mark.parametrize("shift", [(0.009, 0, 0), (0, -0.012, 0), (0.006, 0.006, 0.003)])
def test_a_board_on_the_desk_tells_what_the_table_cannot(with_board, shift):
    frame, mount = with_board
    drift = camera_drift(told(frame, shift), mount)
    assert drift.by == "board" and drift.shift == pytest.approx(np.linalg.norm(shift), abs=0.002)


def test_levelling_puts_the_table_at_zero_and_refuses_pictures_that_disagree(desk):
    off = [told(desk, (0, 0, 0.02), (1, 0, 0), 2.0)] * 3
    frame, spread, _ = levelled(off)
    assert camera_drift(frame).shift < 0.001 and camera_drift(frame).turn < np.radians(0.1) and spread < 1e-9
    with pytest.raises(DeskhandError, match="differently") as caught:
        levelled([*off, replace(off[0], depth=off[0].depth * np.float32(1.01))])
    assert caught.value.code == "calibration_failed"


def test_what_a_calibration_writes_is_what_a_bring_up_reads(tmp_path):
    mount = replace(load_camera("fixed"), landmarks={"board": Board().name, **pose_fields(LANDMARK)}, calibration={"method": "table", "residual_mm": 0.8})
    save_camera(mount, tmp_path / "camera.yaml")
    read = load_camera(str(tmp_path / "camera.yaml"))
    assert np.allclose(read.pose, mount.pose, atol=1e-6) and read.parent == "world" and read.landmarks == mount.landmarks and read.intrinsics is None
    (tmp_path / "camera.yaml").write_text("parent: world\nchild: c\nxyz: [0, 0, 1]\nlook_at: [0.1, 0, 0]\nlandmarks: {board: 5x7}\n")
    with pytest.raises(DeskhandError, match="landmarks"):
        load_camera(str(tmp_path / "camera.yaml"))


def test_perception_does_not_look_with_a_camera_that_was_calibrated_and_moved_since(desk, tmp_path):
    rclpy = pytest.importorskip("rclpy")
    from rclpy.parameter import Parameter

    from deskhand.nodes.perception_node import PerceptionNode

    mount = CameraMount("world", desk.intrinsics.frame_id, desk.world_T_camera, calibration={"method": "handeye"})
    save_camera(mount, tmp_path / "camera.yaml")
    rclpy.init(domain_id=97)
    node = PerceptionNode(parameter_overrides=[Parameter("camera", value=str(tmp_path / "camera.yaml"))])
    try:
        node.check_camera(desk)
        node.check_camera(replace(told(desk, (0, 0, 0.009)), stamp=desk.stamp + 10))  # it was seen to stand a moment ago
        with pytest.raises(DeskhandError, match="the camera moved by 9 mm"):
            node.check_camera(replace(told(desk, (0, 0, 0.009)), stamp=desk.stamp + 60))
        node._mount = replace(mount, parent="tcp")  # the arm carries it: its joints' errors come to it
        node.check_camera(replace(told(desk, (0, 0, 0.009)), stamp=desk.stamp + 120))
        with pytest.raises(DeskhandError, match="the camera moved by 18 mm"):
            node.check_camera(replace(told(desk, (0, 0, 0.018)), stamp=desk.stamp + 180))
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
