"""Chains of transforms, in time, and what is said when there is none."""

import numpy as np
import pytest

pytest.importorskip("rclpy")

from deskhand.cameras.config import load_camera
from deskhand.errors import DeskhandError
from deskhand.geometry import inverse, make_transform, pose_from_xyz_rpy, rotation_about, rotation_angle
from deskhand.nodes.tf import TfBuffer, interpolate

A, B, C = (pose_from_xyz_rpy(xyz, rpy) for xyz, rpy in (([0.1, 0.2, 0.3], [0.3, -0.2, 1.0]), ([0, 0.5, 0], [1, 0, 0]), ([0.4, 0, 0.1], [0, 0.7, 2.0])))


@pytest.fixture
def tree():
    buffer = TfBuffer()
    buffer.put("world", "base_link", A, static=True)
    buffer.put("base_link", "hand", B, 10.0)
    buffer.put("world", "camera", C, static=True)
    return buffer


def test_chains_go_up_and_down(tree):
    assert np.allclose(tree.lookup("world", "hand"), A @ B)
    assert np.allclose(tree.lookup("camera", "hand"), inverse(C) @ A @ B)
    assert np.allclose(tree.lookup("hand", "hand"), np.eye(4))


def test_moving_links_are_interpolated(tree):
    later = make_transform(B[:3, :3] @ rotation_about((0, 0, 1), 1.0), B[:3, 3] + [0.2, 0, 0])
    tree.put("base_link", "hand", later, 11.0)
    half = tree.lookup("base_link", "hand", 10.5)
    assert np.allclose(half[:3, 3], B[:3, 3] + [0.1, 0, 0])
    assert rotation_angle(half, B) == pytest.approx(0.5, abs=1e-6)
    assert rotation_angle(half, later) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("angle", [1e-10, 0.4, np.pi - 1e-4, np.pi])
def test_interpolation_of_any_turn_ends_where_it_should(angle):
    rng = np.random.default_rng(3)
    a = pose_from_xyz_rpy([0, 0, 0], rng.uniform(-3, 3, 3))
    b = make_transform(a[:3, :3] @ rotation_about(rng.normal(size=3), angle), [1, 0, 0])
    assert rotation_angle(interpolate(a, b, 1.0), b) < 1e-3
    assert rotation_angle(interpolate(a, b, 0.5), a) == pytest.approx(angle / 2, abs=1e-3)


def test_unknown_frames_are_named_with_the_known_ones(tree):
    with pytest.raises(DeskhandError) as caught:
        tree.lookup("world", "wrist_camera", timeout=0.05)
    assert caught.value.code == "no_frame"
    assert "wrist_camera" in str(caught.value) and "base_link" in str(caught.value)


def test_a_moving_link_that_is_too_old_is_stale(tree):
    with pytest.raises(DeskhandError) as caught:
        tree.lookup("world", "hand", 14.0)
    assert caught.value.code == "stale_data"


def test_time_that_goes_back_begins_anew(tree):
    tree.put("base_link", "hand", C, 0.1 - 10.0)
    assert np.allclose(tree.lookup("base_link", "hand"), C)


def test_the_fixed_camera_looks_down_at_the_desk():
    mount = load_camera("fixed")
    assert (mount.parent, mount.child) == ("world", "camera_color_optical_frame")
    assert mount.pose[2, 2] < -0.5 and mount.pose[2, 3] == pytest.approx(0.62)


@pytest.mark.parametrize(
    "text", ["parent: world\nchild: c\nxyz: [0, 0]\nlook_at: [0, 0, 0]", "parent: world\nchild: c\nxyz: [0, 0, 1]", "nonsense", "xyz: [0, 0, 1]\nfov: 3"]
)
def test_a_wrong_camera_file_is_a_clear_error(tmp_path, text):
    file = tmp_path / "camera.yaml"
    file.write_text(text)
    with pytest.raises(DeskhandError) as caught:
        load_camera(str(file))
    assert caught.value.code == "config_error"


def test_an_unknown_camera_names_the_known_ones():
    with pytest.raises(DeskhandError, match="fixed"):
        load_camera("periscope")
