"""The RealSense driver on librealsense's software devices: everything but the USB is real."""

import time

import numpy as np
import pytest

pytest.importorskip("pyrealsense2", exc_type=ImportError, reason="needs pyrealsense2 and libusb-1.0")
from software_realsense import BASELINE, HEIGHT, WIDTH, SoftwareRealSense, plane_depth

from deskhand.cameras import realsense
from deskhand.cameras.base import StreamSettings
from deskhand.cameras.realsense import RealSense
from deskhand.errors import DeskhandError

NORMAL = np.array([0.25, -0.35, 1.0]) / np.linalg.norm([0.25, -0.35, 1.0])
DISTANCE = 0.7
COLOR = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
COLOR[:, :, 0], COLOR[:, :, 2] = 200, np.arange(WIDTH) // 3


def shot(camera, device, times=1, depth=None):
    for _ in range(times):
        device.expose(plane_depth(NORMAL, DISTANCE) if depth is None else depth, COLOR)
        taken = camera.read(2.0)
        image = taken.image()
    return taken, image


@pytest.fixture
def opened():
    device = SoftwareRealSense()
    made = []

    def make(**settings):
        camera = RealSense(StreamSettings(**settings), find=device.find)
        camera.connect()
        made.append(camera)
        return camera, device

    yield make
    for camera in made:
        camera.close()


@pytest.mark.parametrize("settings", [{}, {"decimation": 1}, {"decimation": 1, "temporal": True}, {"spatial": True}], ids=str)
def test_the_cloud_in_the_colour_frame_lies_on_the_plane_that_the_depth_sensor_saw(opened, settings):
    camera, device = opened(**settings)
    _, image = shot(camera, device, times=3)
    k = image.intrinsics
    assert (k.width, k.height) == (WIDTH, HEIGHT) == image.depth.shape[::-1] and k.fx == pytest.approx(612.0)
    v, u = np.nonzero(image.depth)
    z = image.depth[v, u] * image.unit
    points = np.column_stack([(u - k.cx) / k.fx * z, (v - k.cy) / k.fy * z, z]) - [BASELINE, 0, 0]  # back in the depth sensor's frame
    error = np.abs(points @ NORMAL - DISTANCE)
    # The depth is in whole millimetres; decimation and aligning give a pixel of colour the depth of a pixel of depth, whose middle may be beside it.
    assert len(z) > 0.8 * WIDTH * HEIGHT
    assert np.sqrt(np.mean(error**2)) < 0.0012 and np.percentile(error, 99) < 0.003


def test_colour_is_red_first_and_not_mirrored(opened):
    camera, device = opened()
    _, image = shot(camera, device)
    assert np.array_equal(image.color, COLOR)


@pytest.mark.parametrize("temporal", [False, True])
def test_holes_stay_holes(opened, temporal):
    camera, device = opened(temporal=temporal)
    depth = plane_depth(NORMAL, DISTANCE)
    depth[150:330, 200:440] = 0
    shot(camera, device, times=4)
    _, image = shot(camera, device, times=8, depth=depth)
    u, v = np.mean([200, 440]), np.mean([150, 330])
    assert not image.depth[int(v) - 60 : int(v) + 60, int(u) - 60 : int(u) + 60].any()


def test_smoothing_over_time_does_not_bring_back_what_was_there_before_a_pause(opened):
    camera, device = opened(decimation=1, temporal=True)
    flat = np.full((HEIGHT, WIDTH), 800, np.uint16)
    shot(camera, device, times=5, depth=flat)
    for _ in range(realsense.LONGEST_MEMORY + 1):  # exposures that nobody looks at
        device.expose(flat, COLOR)
        camera.read(2.0)
    _, image = shot(camera, device, depth=flat + 6)
    assert np.median(image.depth[image.depth > 0]) == 806


@pytest.mark.parametrize("temporal", [False, True])
def test_a_flat_object_that_is_taken_away_is_gone_at_once_unless_smoothing_is_asked_for(opened, temporal):
    camera, device = opened(decimation=1, temporal=temporal)
    flat = np.full((HEIGHT, WIDTH), 800, np.uint16)
    shot(camera, device, times=5, depth=flat)
    _, image = shot(camera, device, depth=flat + 15)
    seen = np.median(image.depth[image.depth > 0])
    assert 800 < seen < 810 if temporal else seen == 815


def test_an_exposure_tells_when_and_which(opened):
    camera, device = opened()
    first, _ = shot(camera, device)
    second, _ = shot(camera, device)
    assert second.number == first.number + 1
    assert abs(second.stamp - time.time()) < 5 and second.stamp > first.stamp


def test_a_camera_that_is_silent_or_missing_is_said_to_be(opened):
    camera, _ = opened()
    with pytest.raises(DeskhandError) as caught:
        camera.read(0.05)
    assert caught.value.code == "no_frame" and caught.value.retry
    with pytest.raises(DeskhandError, match="no RealSense 77 is connected"):
        RealSense(StreamSettings(serial="77"), find=lambda _rs, serial: None).connect()


def test_a_size_that_it_does_not_offer_is_a_configuration_error(opened):
    device = SoftwareRealSense()
    with pytest.raises(DeskhandError) as caught:
        RealSense(StreamSettings(width=333), find=device.find).connect()
    assert caught.value.code == "config_error" and "333" in str(caught.value)


def test_it_comes_back_after_the_device_vanished_and_was_plugged_in_again():
    devices = [SoftwareRealSense(first=500)]
    asked = []

    def find(_library, serial):
        asked.append(serial)
        return devices[0].find(_library, serial) if devices else None

    camera = RealSense(StreamSettings(), find=find, reset_time=0.3)
    camera.connect()
    before, _ = shot(camera, devices[0])
    for _ in range(2):
        devices.clear()
        with pytest.raises(DeskhandError, match="no picture"):
            camera.read(0.05)
        with pytest.raises(DeskhandError, match="no RealSense is connected"):
            camera.recover()
        devices.append(SoftwareRealSense())
        camera.recover()
        after, image = shot(camera, devices[0])
        assert after.number < before.number and image.depth.any()
    camera.close()
    camera.close()


def test_a_pipeline_that_does_not_stop_is_left_behind(monkeypatch, caplog):
    monkeypatch.setattr(realsense, "STOP_TIME", 0.05)
    device = SoftwareRealSense()
    camera = RealSense(StreamSettings(), find=device.find)
    camera.connect()
    hanging = camera._pipeline

    class Hangs:
        def stop(self):
            time.sleep(0.5)
            hanging.stop()

    camera._pipeline = Hangs()
    started = time.monotonic()
    camera.close()
    assert time.monotonic() - started < 0.45 and "left behind" in caplog.text
    time.sleep(0.7)  # the library's threads end before the device does
