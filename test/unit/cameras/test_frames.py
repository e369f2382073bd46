"""What drivers share: counting frames, clocks, lenses, recorded frames."""

import cv2
import numpy as np
import pytest
import yaml

from deskhand.cameras.base import CameraHealth, Exposure, RgbdImage, StreamSettings
from deskhand.cameras.drivers import DRIVERS, make_driver
from deskhand.cameras.orbbec import decode_color
from deskhand.cameras.rectify import Rectifier
from deskhand.cameras.stamps import DeviceClock
from deskhand.errors import DeskhandError
from deskhand.types import CameraIntrinsics

LENS = CameraIntrinsics(320, 240, 250.0, 255.0, 158.0, 122.0)


def exposure(number, stamp):
    return Exposure(stamp, number, lambda: None)


def test_dropped_and_stale_frames_are_counted():
    health = CameraHealth(max_age=0.5)
    taken = [health.takes(exposure(*one), now) for *one, now in ((1, 10.0, 10.05), (2, 10.1, 10.15), (6, 10.5, 10.55), (7, 10.5, 10.6), (8, 10.6, 11.5))]
    assert taken == [True, True, True, False, False]
    assert (health.published, health.dropped, health.stale) == (3, 3, 2)
    health.back()
    assert health.takes(exposure(1, 12.0), 12.0) and health.dropped == 3 and health.reconnects == 1


def test_a_cameras_clock_is_mapped_by_the_quickest_arrivals():
    clock, rng = DeviceClock(), np.random.default_rng(0)
    times = np.arange(200) / 30
    system = [clock.system(t, t + 1000.0 + 0.004 + rng.exponential(0.01)) for t in times]
    error = np.array(system) - (times + 1000.0)
    assert np.all(error > 0.0039) and error[-1] < 0.006
    assert clock.system(2.0, 5000.0) == pytest.approx(5000.0)  # it began anew


@pytest.mark.parametrize(("coefficients", "inverse"), [((0.12, -0.2, 0.001, -0.002, 0.05), False), ((-0.06, 0.05, 0.0005, 0.0002, -0.02), True)])
def test_straight_lines_become_straight(coefficients, inverse):
    """A grid of points is drawn where the lens shows it; rectified, each is where a pinhole has it."""
    x, y = (axis.ravel() for axis in np.meshgrid(np.linspace(-0.4, 0.4, 9), np.linspace(-0.32, 0.32, 7)))
    rays = np.column_stack([x, y, np.ones_like(x)])
    if inverse:  # the model takes the seen point to the ray: look for the seen point whose ray this is
        seen = cv2.undistortPoints(rays[:, None, :2].copy(), np.eye(3), np.array(coefficients)).reshape(-1, 2)
    else:
        seen = cv2.projectPoints(rays, np.zeros(3), np.zeros(3), np.eye(3), np.array(coefficients))[0].reshape(-1, 2)
    picture, depth = np.zeros((240, 320, 3), np.uint8), np.zeros((240, 320), np.uint16)
    for u, v in seen * [LENS.fx, LENS.fy] + [LENS.cx, LENS.cy]:
        cv2.circle(picture, (round(u * 16), round(v * 16)), 40, (255, 255, 255), -1, cv2.LINE_AA, 4)
        cv2.circle(depth, (round(u), round(v)), 3, 1000, -1)
    rectifier = Rectifier(LENS, coefficients, inverse)
    image = rectifier.apply(RgbdImage(picture, depth, 0.001, LENS))
    assert rectifier.needed and set(np.unique(image.depth)) == {0, 1000}
    for u, v in rays[:, :2] * [LENS.fx, LENS.fy] + [LENS.cx, LENS.cy]:
        around = image.color[round(v) - 5 : round(v) + 6, round(u) - 5 : round(u) + 6, 0].astype(float)
        rows, columns = np.mgrid[-5:6, -5:6]
        middle = np.array([(columns * around).sum(), (rows * around).sum()]) / around.sum() + [round(u), round(v)]
        assert np.linalg.norm(middle - [u, v]) < 0.35 and image.depth[round(v), round(u)] == 1000


def test_a_lens_without_distortion_needs_no_work():
    assert not Rectifier(LENS, (0.0,) * 5).needed


def test_colour_of_every_format_is_red_first():
    red = np.zeros((48, 64, 3), np.uint8)
    red[..., 0] = 250
    bgr = red[..., ::-1].copy()
    jpeg = cv2.imencode(".jpg", bgr)[1].reshape(-1)
    pair = cv2.cvtColor(bgr, cv2.COLOR_BGR2YUV)[0, 0]
    yuyv = np.tile(np.array([pair[0], pair[1], pair[0], pair[2]], np.uint8), 48 * 32)
    for data, encoding in ((red, "RGB"), (bgr, "BGR"), (jpeg, "MJPG"), (yuyv, "YUYV")):
        picture = decode_color(data.reshape(-1), encoding, 48, 64)
        assert picture.shape == (48, 64, 3) and picture[24, 32, 0] > 200 and picture[24, 32, 2] < 60
    with pytest.raises(DeskhandError, match="H264"):
        decode_color(red.reshape(-1), "H264", 48, 64)
    with pytest.raises(DeskhandError, match="broken JPEG"):
        decode_color(np.zeros(10, np.uint8), "MJPG", 48, 64)


@pytest.fixture
def folder(tmp_path):
    """Three frames of 64x48, 0.1 s apart."""
    (tmp_path / "color").mkdir()
    (tmp_path / "depth").mkdir()
    (tmp_path / "camera.yaml").write_text(yaml.safe_dump({"width": 64, "height": 48, "fx": 50.0, "fy": 50.0, "cx": 31.5, "cy": 23.5}))
    for index in range(3):
        stamp = 5_000_000_000 + index * 100_000_000
        cv2.imwrite(str(tmp_path / f"color/{stamp}.png"), np.full((48, 64, 3), (0, 0, 10 * index + 5), np.uint8))
        cv2.imwrite(str(tmp_path / f"depth/{stamp}.png"), np.full((48, 64), 700 + index, np.uint16))
    return tmp_path


def test_recorded_frames_come_in_their_order_at_their_pace_again_and_again(folder):
    camera = make_driver("file", StreamSettings(rate=10, frame_id="eye"), str(folder))
    camera.connect()
    taken = [camera.read(1.0) for _ in range(5)]
    images = [one.image() for one in taken]
    assert [int(image.depth[0, 0]) for image in images] == [700, 701, 702, 700, 701]
    assert [image.color[0, 0].tolist() for image in images[:2]] == [[5, 0, 0], [15, 0, 0]]
    assert images[0].intrinsics.frame_id == "eye" and images[0].metres()[0, 0] == pytest.approx(0.7)
    assert [one.number for one in taken] == [1, 2, 3, 4, 5]
    assert taken[4].stamp - taken[0].stamp >= 0.39


def test_a_folder_without_its_lens_or_with_other_sizes_is_refused(folder):
    cv2.imwrite(str(folder / "depth/5000000000.png"), np.zeros((10, 10), np.uint16))
    camera = make_driver("file", StreamSettings(), str(folder))
    camera.connect()
    with pytest.raises(DeskhandError, match="same size"):
        camera.read(1.0)
    (folder / "camera.yaml").write_text("width: 64\n")
    camera.connect()
    with pytest.raises(DeskhandError, match="fx"):
        camera.read(1.0)


def test_drivers_are_known_by_name():
    for name in DRIVERS[:2]:
        make_driver(name, StreamSettings())  # no library is loaded before it connects
    for name, file in (("kinect", ""), ("file", ""), ("file", "/nowhere")):
        with pytest.raises(DeskhandError) as caught:
            make_driver(name, StreamSettings(), file)
        assert caught.value.code == "config_error"
