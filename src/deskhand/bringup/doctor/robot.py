"""What ``deskhand doctor`` looks at on the machine of a robot: ports, cameras and their USB, clock, graphics processor, disk, DDS.

Each check takes the root of the file system, so that it can be tried on a made-up one. What is not there fails only with ``--robot``: a workstation has no arm.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.arms.bus.holders import holders
from deskhand.bringup.doctor.base import Check
from deskhand.bringup.environment import CYCLONE_DDS
from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.cameras.base import RgbdDriver

ROOT = Path("/")
RULES = "config/jetson/99-deskhand.rules"
PORTS = ("ttyUSB*", "ttyACM*", "rrc", "deskhand_arm")
MAKERS = {"8086": "Intel", "2bc5": "Orbbec"}
USB3 = 5000  # [Mbit/s]
NEEDED = 300  # [Mbit/s] that colour and depth of 640x480 at 30 Hz take
USB2_GIVES = 280  # [Mbit/s] of its 480, in practice
DEPTH_PICTURES, PICTURE_TIME = 4, 3.0  # that are looked at for aligned depth, and [s] to wait for each
DISK_NEEDED = 2e9  # [bytes]
SOCKET_BUFFER = 2_097_152  # [bytes]
FIRST_YEAR = 2024


@dataclass(frozen=True)
class UsbCamera:
    """A depth camera on the bus: ``speed`` [Mbit/s], ``node`` its file below /dev/bus/usb."""

    name: str
    speed: float
    node: Path
    maker: str = ""


def check_serial(robot: bool = False, root: Path = ROOT) -> Check:
    """Serial adapters, and that this user may open them."""
    ports = sorted({port for pattern in PORTS for port in (root / "dev").glob(pattern)})
    if not ports:
        return Check("serial", not robot, "no serial adapter is connected", "Plug in the arm's USB cable and switch its power on.")
    closed = [str(port) for port in ports if not os.access(port, os.R_OK | os.W_OK)]
    advice = f"sudo usermod -aG dialout $USER and log in again; {RULES} gives the ports names that stay."
    used = [f"; {port} is used by {holder.words()}: {holder.advice()}" for port in ports if root == ROOT for holder in holders(str(port))]
    return Check("serial", not closed, f"{', '.join(map(str, ports))}{'; no permission for ' + ', '.join(closed) if closed else ''}{''.join(used)}", advice)


def usb_cameras(root: Path = ROOT) -> Iterator[UsbCamera]:
    """Depth cameras of the makers that there are drivers for."""
    for device in sorted((root / "sys/bus/usb/devices").glob("*")):
        try:
            maker, product, speed, bus, number = ((device / name).read_text().strip() for name in ("idVendor", "product", "speed", "busnum", "devnum"))
        except OSError:
            continue  # an interface or a hub without a name
        if maker in MAKERS and (maker != "8086" or "RealSense" in product):
            yield UsbCamera(product, float(speed), root / f"dev/bus/usb/{int(bus):03d}/{int(number):03d}", MAKERS[maker])


def check_cameras(robot: bool = False, root: Path = ROOT) -> Check:
    """Depth cameras, that this user may open them, and that their USB port is fast enough."""
    cameras = list(usb_cameras(root))
    if not cameras:
        return Check("cameras", not robot, "no RealSense or Orbbec camera is connected", "Plug it into a USB 3 port, with the cable that came with it.")
    detail = ", ".join(f"{camera.name} at {camera.speed:g} Mbit/s" for camera in cameras)
    slow = [camera.name for camera in cameras if camera.speed < USB3]
    closed = [camera.name for camera in cameras if not os.access(camera.node, os.R_OK | os.W_OK)]
    if closed:
        return Check("cameras", False, f"{detail}; no permission for {', '.join(closed)}", f"Install {RULES}, and sudo usermod -aG video $USER.")
    advice = f"640x480 at 30 Hz takes {NEEDED} Mbit/s, USB 2 gives about {USB2_GIVES}: use a USB 3 port and cable, or set the camera's rate to 15."
    return Check("cameras", not slow, f"{detail}{'; too slow: ' + ', '.join(slow) if slow else ''}", advice)


def check_depth(robot: bool = False, root: Path = ROOT) -> Check:
    """That depth of the camera is aligned to colour, by a picture of what is before it. A camera that another program uses is not disturbed."""
    from deskhand.cameras.base import StreamSettings
    from deskhand.cameras.drivers import make_driver

    maker = next((camera.maker for camera in usb_cameras(root)), "")
    if not maker or not robot:
        return Check("depth", True, "not looked at" if maker else "no camera")
    driver = make_driver({"Intel": "realsense", "Orbbec": "orbbec"}[maker], StreamSettings())
    try:
        driver.connect()
        return told_depth(driver)
    except DeskhandError as error:
        return Check("depth", True, f"not looked at: {error}")  # no library, or in use: check_cameras and the first task say more
    finally:
        driver.close()


def told_depth(driver: RgbdDriver) -> Check:
    """Of a camera that is open."""
    from deskhand.cameras.registration import RegistrationWatch, unregistered

    watch = RegistrationWatch()
    try:
        for _ in range(DEPTH_PICTURES):
            image = driver.read(PICTURE_TIME).image()
            watch.look(image.color, image.metres())
    except DeskhandError as error:
        if error.code != unregistered(watch.seen).code:
            raise
        return Check("depth", False, error.message, error.hint)
    return Check("depth", True, watch.seen.words())


def check_clock(robot: bool = False, root: Path = ROOT) -> Check:
    """That the time of day is right: pictures and joints are matched by it, and a Jetson without a battery begins in 1970."""
    now = time.strftime("%Y-%m-%d %H:%M:%S %Z")
    if time.localtime().tm_year < FIRST_YEAR:
        return Check("clock", False, f"it is {now}", "Set the clock: sudo timedatectl set-ntp true, or sudo date -s.")
    told = shutil.which("timedatectl")
    if told is None or not (root / "run/systemd/system").exists():
        return Check("clock", True, f"it is {now}; nothing here tells whether it is synchronised")
    done = subprocess.run([told, "show", "-p", "NTPSynchronized", "--value"], capture_output=True, text=True, timeout=10)
    synchronised = done.stdout.strip() == "yes"
    advice = "sudo timedatectl set-ntp true. With parts on several machines their clocks must agree within milliseconds: use chrony."
    return Check("clock", synchronised or not robot, f"it is {now}, {'synchronised' if synchronised else 'not synchronised'}", advice)


def check_gpu(_robot: bool = False, root: Path = ROOT) -> Check:
    """Which graphics processor there is; none is needed."""
    found = [name for name in ("dev/nvidia0", "dev/nvhost-gpu", "dev/nvgpu", "dev/dri/renderD128") if (root / name).exists()]
    return Check("gpu", True, f"/{found[0]}" if found else "none; everything but large local models works without")


def check_disk(_robot: bool = False, root: Path = ROOT) -> Check:
    """Room for episodes and recordings where the command was started."""
    free = shutil.disk_usage(Path.cwd()).free
    advice = "An hour of recording takes 4 GB; delete old episodes and recordings, or start elsewhere."
    return Check("disk", free >= DISK_NEEDED, f"{free / 1e9:.1f} GB free in {Path.cwd()}", advice)


def check_dds(robot: bool = False, root: Path = ROOT) -> Check:
    """Which middleware, and that the kernel lets it receive pictures: CycloneDDS sends them over sockets also within one machine."""
    middleware = os.environ.get("RMW_IMPLEMENTATION", "the default RMW")
    sockets_only = middleware == CYCLONE_DDS
    file = root / "proc/sys/net/core/rmem_max"
    size = int(file.read_text()) if file.is_file() else 0
    detail = f"{middleware}, socket buffers up to {size / 1e6:.1f} MB"
    where = "With CycloneDDS that is so within one machine too." if sockets_only else "On one machine it does not matter."
    advice = f"Pictures between machines are lost: sudo sysctl -w net.core.rmem_max={SOCKET_BUFFER} (and in /etc/sysctl.d). {where}"
    return Check("dds", size >= SOCKET_BUFFER or not (robot or sockets_only), detail, advice)


ROBOT_CHECKS: tuple[Callable[[bool], Check], ...] = (check_serial, check_cameras, check_depth, check_clock, check_gpu, check_disk, check_dds)
