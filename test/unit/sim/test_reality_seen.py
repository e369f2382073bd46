"""What a drawn reality does to depth and colour, measured in the pictures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.sim.builder import build
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.fields import Field
from deskhand.sim.reality.color import balance, blurred
from deskhand.sim.reality.depth import DepthCamera, smooth_noise
from deskhand.sim.reality.file import draw
from deskhand.sim.reality.light import light_color
from deskhand.sim.reality.spec import DepthReality, RealitySpec
from deskhand.sim.reality.world import mount_error
from deskhand.sim.sensor import DepthSensor
from deskhand.sim.simulation import Simulation
from deskhand.sim.worldfile import world_from_dict
from deskhand.tasks import world_of
from deskhand.types import Frame

OBJECTS = [
    {"kind": "block", "name": "black", "color": "#080808", "size": 0.08, "pose": [0.05, 0.1]},
    {"kind": "box", "name": "box", "color": "blue", "size": [0.1, 0.08, 0.06], "pose": [0.05, -0.12, 0.3]},
]
QUIET = DepthSensor(noise=0.0, dropout=0.0)


def simulation(reality: dict[str, Any] | None = None) -> Simulation:
    return Simulation(world_from_dict({"seed": 2, "objects": OBJECTS, **({"reality": reality} if reality is not None else {})}))


def seen(reality: dict[str, Any] | None = None, sensor: DepthSensor | None = None, frames: int = 1) -> list[Frame]:
    with RgbdRenderer(simulation(reality), sensor) as renderer:
        return [renderer.render() for _ in range(frames)]


@pytest.fixture(scope="module")
def ideal() -> Frame:
    return seen(sensor=QUIET)[0]


def depth_camera(sensor: DepthSensor = QUIET, seed: int = 0, **errors: float) -> DepthCamera:
    return DepthCamera(RealitySpec(seed, depth=DepthReality(**errors)), sensor, (480, 640))


def measured(distance: float | np.ndarray, frame: int = 0, **errors: float) -> np.ndarray:
    true = np.full((480, 640), distance, np.float32)
    return depth_camera(**errors).measure(true, 540.0, np.random.default_rng(frame))


def test_an_empty_reality_is_the_ideal_world_to_the_last_bit() -> None:
    plain, empty = seen()[0], seen({})[0]
    assert np.array_equal(plain.color, empty.color)
    assert np.array_equal(plain.depth, empty.depth, equal_nan=True)


def test_the_same_seed_gives_the_same_pictures_to_the_last_bit_and_another_others() -> None:
    hard = {"depth": {"noise": 0.002, "flying": 0.3, "dark": 0.5, "registration": 1.5, "interference": 0.01}, "color": {"exposure": 0.4}}
    first, second, other = (seen({**hard, "seed": seed})[0] for seed in (7, 7, 8))
    assert np.array_equal(first.color, second.color)
    assert np.array_equal(first.depth, second.depth, equal_nan=True)
    assert not np.array_equal(first.depth, other.depth, equal_nan=True)


def test_depth_is_off_by_the_drawn_scale(ideal: Frame) -> None:
    frame = seen({"depth": {"scale": 0.01}}, QUIET)[0]
    both = np.isfinite(frame.depth) & np.isfinite(ideal.depth)
    assert np.mean(frame.depth[both] / ideal.depth[both]) == pytest.approx(1.01, abs=2e-4)


@pytest.mark.parametrize("distance", [0.5, 1.0])
def test_the_bend_is_as_drawn_at_a_metre_and_grows_with_the_square(distance: float) -> None:
    error = measured(distance, bend=0.004) - distance
    assert np.abs(error).max() == pytest.approx(0.004 * distance**2, abs=0.0006)
    smooth = cv2.GaussianBlur(error, (0, 0), 5)  # without the steps of a millimetre
    assert np.abs(np.diff(smooth, axis=1)).max() < 0.0003


def test_noise_is_shared_by_neighbours_and_in_part_by_frames() -> None:
    first, second = (measured(1.0, frame, noise=0.004, correlation=8.0, fixed=0.6) - 1.0 for frame in (0, 1))
    assert first.std() == pytest.approx(0.004, rel=0.15)
    near = np.corrcoef(first[:, :-2].ravel(), first[:, 2:].ravel())[0, 1]
    far = np.corrcoef(first[:, :-30].ravel(), first[:, 30:].ravel())[0, 1]
    assert near > 0.8
    assert abs(far) < 0.1
    assert np.corrcoef(first.ravel(), second.ravel())[0, 1] == pytest.approx(0.6, abs=0.08)


def test_noise_has_the_variance_that_it_is_scaled_for() -> None:
    fields = [smooth_noise((480, 640), length, np.random.default_rng(seed)) for seed, length in enumerate((4.0, 8.0, 14.0, 4.0, 8.0, 14.0))]
    assert [field.std() for field in fields] == pytest.approx([1.0] * 6, abs=0.06)


def test_flying_pixels_lie_between_foreground_and_background_at_its_edge() -> None:
    true = np.full((480, 640), 1.0, np.float32)
    true[150:330, 200:440] = 0.7
    flown = depth_camera(flying=0.5).measure(true, 540.0, np.random.default_rng(0))
    flying = np.isfinite(flown) & (flown > 0.705) & (flown < 0.995)
    rows, columns = np.nonzero(flying)
    from_edge = np.minimum.reduce([np.abs(rows - 149.5), np.abs(rows - 329.5)]), np.minimum.reduce([np.abs(columns - 199.5), np.abs(columns - 439.5)])
    assert np.minimum(*from_edge).max() <= 1.5
    border = 2 * 2 * (180 + 240)
    assert 0.35 * border < len(rows) < 0.6 * border
    assert np.nanmin(flown) > 0.699
    assert np.nanmax(flown) < 1.001


@pytest.mark.parametrize("offset", [0.5, 2.0])
def test_depth_lies_beside_the_colour_by_the_drawn_offset(ideal: Frame, offset: float) -> None:
    """Found again by correlating the depth with that of a camera without the offset."""
    with RgbdRenderer(simulation(), QUIET) as renderer:
        still = renderer.render_true()[1]
    with RgbdRenderer(simulation({"depth": {"registration": offset}}), QUIET) as renderer:
        renderer.render()
        moved = renderer._drawing.depth()
    edges = [cv2.magnitude(cv2.Sobel(depth, cv2.CV_32F, 1, 0), cv2.Sobel(depth, cv2.CV_32F, 0, 1)) for depth in (still, moved)]
    shift, _ = cv2.phaseCorrelate(*(np.minimum(edge, 0.05).astype(np.float64) for edge in edges), cv2.createHanningWindow((640, 480), cv2.CV_64F))
    assert np.hypot(*shift) == pytest.approx(offset, abs=0.25)


def test_dark_surfaces_lose_pixels_in_blotches_and_bright_ones_do_not(ideal: Frame) -> None:
    world = simulation({"depth": {"dark": 0.6}})
    with RgbdRenderer(world, QUIET) as renderer:
        owners = renderer.render_owners()
        frame = renderer.render()
    inside = [cv2.erode((owners == number).astype(np.uint8), np.ones((9, 9))) > 0 for number in (0, 1)]
    lost = ~np.isfinite(frame.depth)
    black = lost[inside[0]].mean()
    assert 0.3 < black < 0.75
    assert lost[inside[1]].mean() < 0.05
    patches, _ = cv2.connectedComponents((lost & inside[0]).astype(np.uint8))
    assert (lost & inside[0]).sum() / (patches - 1) > 15  # [px] a hole


def test_interference_takes_other_pixels_in_every_frame() -> None:
    first, second = (np.isnan(measured(0.8, frame, interference=0.02)) for frame in (0, 1))
    assert 0.01 < first.mean() < 0.03
    assert (first & second).mean() < 0.4 * first.mean()


def test_the_camera_is_really_off_by_the_drawn_error_and_does_not_know_it(ideal: Frame) -> None:
    reality = draw(Field({"camera": {"translation": 0.004, "rotation": 0.5}}, "", ""), 3)
    error = mount_error(reality)
    assert np.linalg.norm(error[:3, 3]) == pytest.approx(0.004)
    assert np.degrees(np.arccos((np.trace(error[:3, :3]) - 1) / 2)) == pytest.approx(0.5, abs=1e-4)
    frame = seen({"seed": 3, "camera": {"translation": 0.004, "rotation": 0.5}}, QUIET)[0]
    assert np.array_equal(frame.world_T_camera, ideal.world_T_camera)
    told, real = frame.points(), replace(frame, world_T_camera=frame.world_T_camera @ error).points()
    desk = np.s_[420:470, 100:540]
    assert abs(np.nanmedian(real[desk][..., 2])) < 0.0008
    assert abs(np.nanmedian(told[desk][..., 2])) > 0.001


def test_white_balance_turns_grey_by_the_drawn_angle() -> None:
    for angle in (-6.0, 3.0):
        shown = balance(np.radians(angle))
        off = np.degrees(np.arccos(shown.sum() / np.linalg.norm(shown) / np.sqrt(3)))
        assert off == pytest.approx(abs(angle), abs=0.15)
        assert (shown[0] > shown[2]) == (angle > 0)


def test_a_warm_lamp_is_red_and_the_sky_blue() -> None:
    assert light_color(5500.0) == pytest.approx([1, 1, 1])
    assert light_color(2856.0)[0] > 1.4 > 0.6 > light_color(2856.0)[2]
    assert light_color(9000.0)[2] > 1.1 > 0.95 > light_color(9000.0)[0]


def test_exposure_changes_brightness_and_the_light_only_its_direction(ideal: Frame) -> None:
    desk = np.s_[400:470, 200:440]
    dim = seen({"color": {"exposure": -1.0}})[0].color[desk].mean()
    lit = seen({"light": {"direct": 0.5, "azimuth": 30, "elevation": 60, "temperature": 3200}})[0].color[desk].reshape(-1, 3).mean(0)
    plain = ideal.color[desk].reshape(-1, 3).mean(0)
    assert dim / plain.mean() == pytest.approx(0.5 ** (1 / 2.2), abs=0.04)
    assert lit == pytest.approx(plain, rel=0.12)  # automatic exposure and white balance


def test_a_print_covers_an_object_and_leaves_its_colour_the_main_one() -> None:
    world = simulation({"surfaces": {"printed": 1.0}})
    with RgbdRenderer(world) as renderer:
        owners = renderer.render_owners()
        pixels = renderer.render().color[owners == 1].astype(int)
    blue = (pixels[:, 2] > 1.3 * pixels[:, 0]) & (pixels[:, 2] > 1.15 * pixels[:, 1])
    assert 0.45 < blue.mean() < 0.97


def test_motion_blurs_along_its_way() -> None:
    picture = np.zeros((60, 60, 3), np.uint8)
    picture[30, 30] = 255
    smeared = blurred(picture, np.array([9.0, 0.0]))[..., 0] > 0
    assert smeared.sum() == pytest.approx(9, abs=2)
    assert smeared[30].sum() == smeared.sum()


@pytest.mark.parametrize("arm", ["wx250s", "panda"])
def test_what_does_not_move_stands_where_the_arm_does_not_grasp(arm: str) -> None:
    config, seen = load_arm(arm), 0
    for seed in range(6):
        spec = {"arm": arm, "objects": [{"kind": "block", "pose": [0.05, 0.1]}], "reality": {"seed": seed, "clutter": {"things": 3}}}
        model = build(world_from_dict(spec)).model
        edge = [model.body(index) for index in range(model.nbody) if model.body(index).name.startswith("edge")]
        seen += len(edge)
        assert all(np.linalg.norm(body.pos[:2] - config.world_T_base[:2, 3]) > config.work_radius[1] for body in edge)
    assert seen >= 12, "they find room all the same"


def test_objects_of_others_stand_on_the_desk_and_are_none_of_the_worlds_objects() -> None:
    world = simulation({"clutter": {"things": 5, "hand": 1}})
    names = [world.model.body(index).name for index in range(world.model.nbody)]
    edge = [name for name in names if name.startswith("edge")]
    assert len(edge) >= 4
    assert {item.name for item in world.truth().objects} == {"black", "box"}
    for name in edge:
        x, y = world.data.body(name).xpos[:2]
        assert abs(x) < 0.46 and abs(y) < 0.56
        assert x > 0.2 or abs(y) > 0.3, f"{name} is where the arm works"


@pytest.mark.parametrize("seed", [414, 415])
def test_the_fingers_of_a_hand_at_the_edge_touch_no_object_of_the_task(seed: int) -> None:
    assert Simulation(world_of("wx250s", "desk_cleaning", seed, None, "hard")).time >= 0.0  # overlaps at the start are refused
