from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from deskhand.sim.camera import RgbdRenderer, intrinsics_of
from deskhand.sim.sensor import DepthSensor
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import CameraSpec, ObjectSpec, Truth
from deskhand.sim.worldfile import world_from_dict
from deskhand.types import Frame

SCENE = {
    "seed": 3,
    "objects": [
        {"kind": "block", "name": "red", "color": "red", "size": 0.05, "pose": [0.05, 0.0, 0.4]},
        {"kind": "block", "name": "green", "color": "green", "size": 0.05, "pose": [0.05, 0.15]},
        {"kind": "block", "name": "blue", "color": "blue", "size": 0.05, "pose": [0.05, -0.15]},
        {"kind": "bin", "name": "bin", "color": "white", "pose": [-0.05, 0.33]},
    ],
}


@pytest.fixture(scope="module")
def seen() -> tuple[Frame, np.ndarray, Truth]:
    simulation = Simulation(world_from_dict(SCENE))
    with RgbdRenderer(simulation) as renderer:
        return renderer.render(), renderer.render_true()[1], simulation.truth()


def flat(depth: float) -> np.ndarray:
    return np.full((480, 640), depth, np.float32)


@pytest.mark.parametrize("distance", [0.4, 0.8, 1.6])
def test_noise_grows_with_the_distance_squared(distance: float) -> None:
    true = flat(distance) + np.linspace(0, 0.01, 640, dtype=np.float32)  # so that rounding errs evenly
    measured = DepthSensor().measure(true, 540.0, np.random.default_rng(0))
    error = (measured - true)[np.isfinite(measured)]
    assert error.std() == pytest.approx(np.hypot(0.0016 * distance**2, 0.001 / np.sqrt(12)), rel=0.15)
    assert abs(error.mean()) < 0.0005


def test_depth_comes_in_whole_millimetres() -> None:
    measured = DepthSensor().measure(flat(0.7), 540.0, np.random.default_rng(0))
    seen = measured[np.isfinite(measured)] * 1000
    assert np.abs(seen - np.round(seen)).max() < 1e-3


@pytest.mark.parametrize("distance", [0.2, 3.0])
def test_nothing_is_measured_out_of_range(distance: float) -> None:
    assert np.all(np.isnan(DepthSensor().measure(flat(distance), 540.0, np.random.default_rng(0))))


def test_a_near_object_casts_a_shadow_on_one_side_and_loses_its_edges() -> None:
    depth = flat(1.0)
    depth[200:280, 300:340] = 0.6
    lost = np.isnan(DepthSensor(dropout=0.0).measure(depth, 540.0, np.random.default_rng(0)))
    shift = 540 * 0.045 * (1 / 0.6 - 1)
    left, right = lost[210:270, 280:300].mean(0), lost[210:270, 340:360].mean(0)
    assert lost[:190].sum() == 0
    assert left[1 - int(shift) :].min() > 0.9
    assert right[2:].max() == 0
    assert lost[220:260, 305:335].mean() == 0


def test_points_lie_on_the_faces_of_the_objects_seen(seen: tuple[Frame, np.ndarray, Truth]) -> None:
    frame, _, truth = seen
    points = frame.points()
    for name in ("red", "green", "blue"):
        pose, size = truth.get(name).pose, np.array(truth.get(name).size)
        local = (points.reshape(-1, 3).astype(float) - pose[:3, 3]) @ pose[:3, :3]
        inside = local[np.all(np.abs(local) < size / 2 + 0.004, axis=1)]
        # above the desk: distance of each point from the nearest face
        inside = inside[inside[:, 2] > -size[2] / 2 + 0.008]
        error = np.abs(np.abs(inside) - size / 2).min(axis=1)
        assert len(inside) > 500
        assert np.median(error) < 0.0015


def test_the_desk_lies_at_height_zero(seen: tuple[Frame, np.ndarray, Truth]) -> None:
    frame, _, _ = seen
    desk = frame.points()[420:470, 100:540, 2]
    assert np.nanmedian(desk) == pytest.approx(0.0, abs=0.001)


def test_colours_are_what_the_scene_says(seen: tuple[Frame, np.ndarray, Truth]) -> None:
    frame, _, truth = seen
    for name, channel in (("red", 0), ("green", 1), ("blue", 2)):
        top = truth.get(name).pose @ np.array([0, 0, 0.025, 1])
        u, v = np.round(frame.project(top[None, :3])[0]).astype(int)
        color = frame.color[v - 3 : v + 4, u - 3 : u + 4].reshape(-1, 3).mean(0)
        assert color[channel] == color.max()
        assert color[channel] > 1.6 * np.median(color)


def test_the_same_seed_gives_the_same_picture_to_the_last_bit() -> None:
    frames = []
    for _ in range(2):
        with RgbdRenderer(Simulation(world_from_dict(SCENE))) as renderer:
            frames.append(renderer.render())
    assert np.array_equal(frames[0].color, frames[1].color)
    assert np.array_equal(frames[0].depth, frames[1].depth, equal_nan=True)


def test_intrinsics_belong_to_the_field_of_view() -> None:
    k = intrinsics_of(CameraSpec(width=320, height=240, fovy=np.pi / 2))
    assert (k.fx, k.fy, k.cx, k.cy) == pytest.approx((120, 120, 159.5, 119.5))


def test_a_cup_is_seen_hollow() -> None:
    simulation = Simulation(world_from_dict({"objects": [{"kind": "cup", "name": "cup", "size": [0.08, 0.09], "pose": [0.1, 0.0]}]}))
    with RgbdRenderer(simulation) as renderer:
        frame = renderer.render()
    cup: ObjectSpec = simulation.built.spec.objects[0]
    points = frame.points().reshape(-1, 3)
    inner = points[np.linalg.norm(points[:, :2] - [0.1, 0.0], axis=1) < 0.034]
    assert len(inner) > 50
    assert inner[:, 2].min() < 0.6 * cup.size[2]


def test_pictures_need_no_screen_and_no_settings():
    program = (
        "from deskhand.sim.simulation import Simulation\nfrom deskhand.sim.camera import RgbdRenderer\nfrom deskhand.tasks import load_task\n"
        "with RgbdRenderer(Simulation(load_task('desk_cleaning').world(0))) as renderer: print(renderer.render().color.mean() > 10)"
    )
    environment = {name: value for name, value in os.environ.items() if name not in ("MUJOCO_GL", "DISPLAY")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "True", done.stderr
