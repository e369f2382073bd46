"""The doctor's checks of a robot's machine, on made-up ones."""

import os

import pytest

from deskhand.bringup.doctor import robot as doctor


def usb(root, name, maker="8086", product="Intel(R) RealSense(TM) Depth Camera 435", speed="5000", number=3):
    device = root / "sys/bus/usb/devices" / name
    device.mkdir(parents=True)
    for file, text in (("idVendor", maker), ("product", product), ("speed", speed), ("busnum", "2"), ("devnum", str(number))):
        (device / file).write_text(f"{text}\n")
    node = root / f"dev/bus/usb/002/{number:03d}"
    node.parent.mkdir(parents=True, exist_ok=True)
    node.touch()
    return node


def test_what_is_not_connected_matters_on_a_robot_only(tmp_path):
    for check in (doctor.check_serial, doctor.check_cameras):
        assert check(False, tmp_path).ok
        missing = check(True, tmp_path)
        assert not missing.ok and missing.advice


def test_ports_are_named_and_need_permission(tmp_path, monkeypatch):
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/ttyUSB0").touch()
    (tmp_path / "dev/ttyS0").touch()
    check = doctor.check_serial(True, tmp_path)
    assert check.ok and "ttyUSB0" in check.detail and "ttyS0" not in check.detail
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    check = doctor.check_serial(True, tmp_path)
    assert not check.ok and "dialout" in check.advice


def test_a_camera_on_usb_2_is_too_slow(tmp_path):
    usb(tmp_path, "2-1")
    usb(tmp_path, "2-2", "2bc5", "Orbbec Gemini 335", number=4)
    usb(tmp_path, "2-3", "8086", "Bluetooth", "12", number=5)  # of the same maker, and no camera
    assert doctor.check_cameras(True, tmp_path).ok
    usb(tmp_path, "2-4", "2bc5", "Orbbec Astra", "480", number=6)
    check = doctor.check_cameras(True, tmp_path)
    assert not check.ok and "too slow: Orbbec Astra" in check.detail and "USB 3" in check.advice


def test_a_camera_that_may_not_be_opened_is_said_to(tmp_path, monkeypatch):
    node = usb(tmp_path, "2-1")
    monkeypatch.setattr(os, "access", lambda path, mode: path != node)
    check = doctor.check_cameras(True, tmp_path)
    assert not check.ok and "no permission" in check.detail and "rules" in check.advice


def test_a_clock_that_was_never_set_is_noticed(tmp_path, monkeypatch):
    import time

    assert doctor.check_clock(False, tmp_path).ok
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(0))
    assert not doctor.check_clock(False, tmp_path).ok


@pytest.mark.parametrize(("size", "ok"), [(212992, False), (4194304, True)])
def test_small_socket_buffers_matter_on_a_robot_and_always_to_cyclonedds(tmp_path, monkeypatch, size, ok):
    monkeypatch.delenv("RMW_IMPLEMENTATION", raising=False)
    file = tmp_path / "proc/sys/net/core/rmem_max"
    file.parent.mkdir(parents=True)
    file.write_text(f"{size}\n")
    assert doctor.check_dds(True, tmp_path).ok is ok and doctor.check_dds(False, tmp_path).ok
    monkeypatch.setenv("RMW_IMPLEMENTATION", "rmw_cyclonedds_cpp")
    assert doctor.check_dds(False, tmp_path).ok is ok
