"""The doctor's checks of what was installed: numpy beside a ROS 2, and the planner."""

import pytest

from deskhand.bringup.doctor import software as doctor


@pytest.mark.parametrize(("version", "wanted", "ok"), [("1.26.4", 1, True), ("2.4.0", 1, False), ("2.4.0", 2, True), ("", 1, False)])
def test_numpy_must_be_of_the_version_that_ros_was_compiled_against(monkeypatch, version, wanted, ok):
    monkeypatch.setenv("ROS_DISTRO", "humble")
    monkeypatch.setattr("deskhand.bringup.ros_numpy.numpy_of_ros", lambda distro: wanted)
    monkeypatch.setattr(doctor, "_installed", lambda package: bool(version))
    monkeypatch.setattr(doctor.metadata, "version", lambda package: version)
    check = doctor.check_numpy()
    assert check.ok is ok and "humble" in check.detail
    assert f"numpy{wanted}.txt" in check.advice and "make setup" in check.advice


def test_without_a_sourced_ros_any_numpy_will_do(monkeypatch):
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    assert doctor.check_numpy().ok


def test_the_planner_is_tried_and_its_failure_is_said(monkeypatch):
    assert doctor.check_planner().ok
    monkeypatch.setattr(doctor, "PLAN", "import roboplan_that_is_not_there")
    check = doctor.check_planner()
    assert not check.ok and "roboplan_that_is_not_there" in check.detail and "requirements/lock" in check.advice
