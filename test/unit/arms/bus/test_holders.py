"""Who holds a port is named, with the line that ends it."""

import os
import subprocess
import sys

import pytest

from deskhand.arms.bus.holders import Holder, holders, service_of
from deskhand.arms.bus.port import Port, port_busy
from deskhand.errors import DeskhandError

HOLD = """
import fcntl, os, sys
port = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
fcntl.flock(port, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path):
    """A pty that another process has open, by a link such as udev's; the process."""
    controller, terminal = os.openpty()
    link = tmp_path / "deskhand_arm"
    link.symlink_to(os.ttyname(terminal))
    os.close(terminal)
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(link)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield link, process
    process.stdin.close()
    process.wait()
    process.stdout.close()
    os.close(controller)


def test_a_port_that_another_process_has_is_refused_with_its_name(held):
    pytest.importorskip("serial")
    link, process = held
    assert [holder.pid for holder in holders(str(link))] == [process.pid]
    with pytest.raises(DeskhandError) as caught:
        Port(str(link), 115200).open()
    assert caught.value.code == "device_busy" and f"process {process.pid}" in str(caught.value)
    found = holders(str(link))[0]
    assert found.advice() in caught.value.hint and found.name in str(caught.value)


def test_the_vendors_service_is_named_with_the_line_that_stops_it():
    error = port_busy("/dev/rrc", [Holder(812, "ros_robot_contr", "start_app_node.service")])
    assert "ros_robot_contr (process 812 of start_app_node.service)" in str(error)
    assert "sudo systemctl stop start_app_node.service" in error.hint and "disable start_app_node.service" in error.hint


@pytest.mark.parametrize(
    ("cgroup", "service"),
    [
        ("0::/system.slice/start_app_node.service", ("start_app_node.service", False)),
        ("12:pids:/system.slice/robot.service\n0::/system.slice/robot.service", ("robot.service", False)),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/mine.service", ("mine.service", True)),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Terminal.slice/vte.scope", ("", False)),
        ("0::/user.slice/user-1000.slice/session-3.scope", ("", False)),
        ("", ("", False)),
    ],
)
def test_services_are_read_from_control_groups(cgroup, service):
    assert service_of(cgroup) == service


def test_a_port_that_nobody_has_or_that_is_not_there_has_no_holder(tmp_path):
    controller, terminal = os.openpty()
    name = os.ttyname(terminal)
    os.close(terminal)
    assert holders(name) == [] and holders(str(tmp_path / "none")) == []
    os.close(controller)
