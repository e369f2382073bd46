"""The unit is one that systemd takes, complete, and its checks of the port say what is wrong."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deskhand.commands import service
from deskhand.commands.cli import app
from deskhand.errors import DeskhandError
from deskhand.types.resources import resource_path

SERIAL = {"ID_VENDOR_ID": "1a86", "ID_MODEL_ID": "55d3", "ID_SERIAL_SHORT": "58FA0", "ID_PATH": "pci-0000:00:14.0-usb-0:2:1.0"}


@pytest.fixture
def files(monkeypatch):
    monkeypatch.setattr(service, "udev_properties", lambda _: SERIAL)
    monkeypatch.setenv("ROS_DOMAIN_ID", "7")
    return service.service_files("jetarm", "", "/dev/ttyUSB0", "orbbec", "wrist", "humble", "ubuntu")


def test_systemd_takes_the_unit(files, tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze")
    unit = tmp_path / service.UNIT
    unit.write_text(files[service.UNIT])
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if service.UNIT in line]
    assert not said and done.returncode == 0, done.stderr


def test_the_unit_is_complete_for_its_arm(files):
    unit, environment = files[service.UNIT], dict(line.split("=", 1) for line in files[service.ENVIRONMENT].splitlines())
    assert "User=ubuntu\n" in unit and "Conflicts=start_app_node.service" in unit and "dev-deskhand_arm.device" in unit and "/opt/ros/*" not in unit
    assert environment["DISTRO"] == "humble" and environment["PORT"] == "/dev/deskhand_arm" and environment["ROS_DOMAIN_ID"] == "7"
    for words in ("--arm jetarm", "--driver hiwonder_rrc", "--port /dev/deskhand_arm", "--camera orbbec", "--camera-mount wrist"):
        assert words in environment["COMMAND"]


def prechecks(unit, port):
    """Exit code and words of each ExecStartPre, as the shell sees them."""
    for line in re.findall(r"ExecStartPre=\+/bin/sh -c '(.*)'", unit):
        done = subprocess.run(["/bin/sh", "-c", line], env={"PORT": port, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
        yield done.returncode, done.stdout


def test_a_port_that_is_missing_or_in_use_is_said_to_be_before_the_start(files, tmp_path):
    unit, port = files[service.UNIT], tmp_path / "port"
    assert next(prechecks(unit, str(port)))[0] == 1 and "is the arm plugged in" in next(prechecks(unit, str(port)))[1]
    port.touch()
    assert [code for code, _ in prechecks(unit, str(port))] == [0, 0] and [code for code, _ in prechecks(unit, "")] == [0, 0]
    if shutil.which("fuser") is None:
        return
    with port.open():
        (there, _), (used, words) = prechecks(unit, str(port))
    assert there == 0 and used == 1 and "is in use by" in words and "start_app_node.service" in words


def test_the_arms_name_is_bound_to_its_adapter_not_to_its_chip(files):
    assert 'ENV{ID_SERIAL_SHORT}=="58FA0"' in files[service.RULE] and 'SYMLINK+="deskhand_arm"' in files[service.RULE]
    without = service.udev_rule("/dev/ttyUSB0", {**SERIAL, "ID_SERIAL_SHORT": ""})
    assert 'ENV{ID_PATH}=="pci-0000:00:14.0-usb-0:2:1.0"' in without and 'TAG+="systemd"' in without
    assert service.udev_rule("/dev/ttyUSB0", {}) == ""
    assert 'deskhand_arm"' not in resource_path("config/jetson/99-deskhand.rules").read_text()


def test_what_up_robot_would_refuse_is_refused_and_nothing_is_assumed(monkeypatch, tmp_path):
    with pytest.raises(DeskhandError, match="no driver 'feetech'"):
        service.service_files("jetarm", "feetech", "", "ros", "", "humble", "ubuntu")
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    for name in ("humble", "jazzy"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "setup.bash").touch()
    with pytest.raises(DeskhandError, match="humble, jazzy"):
        service.found_distro(tmp_path)


def test_the_command_writes_the_files_and_tells_how_to_install_them(tmp_path):
    chosen = ["--arm", "jetarm", "--camera", "ros", "--distro", "jazzy", "--user", "me", "--write", str(tmp_path)]
    result = CliRunner().invoke(app, ["service", *chosen])
    assert result.exit_code == 0, result.exception
    assert (tmp_path / "deskhand.service").read_text().count("User=me") == 1 and "DISTRO=jazzy" in (tmp_path / "robot.env").read_text()
    assert "sudo systemctl daemon-reload && sudo systemctl enable --now deskhand" in result.output and Path(tmp_path / "robot.env").is_file()
