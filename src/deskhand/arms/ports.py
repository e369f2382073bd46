"""Which serial port an arm is on: by its adapter's USB ids, or by pulling it out and putting it in again. For every arm."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deskhand.arms.operator import Operator
from deskhand.errors import DeskhandError

ADAPTERS: dict[tuple[int, int], str] = {
    (0x1A86, 0x55D3): "CH343 (bus servo adapter of the SO-101, Waveshare, Seeed)",
    (0x1A86, 0x55D4): "CH9102",
    (0x1A86, 0x7523): "CH340 (Hiwonder's boards, LX debug boards)",
    (0x0403, 0x6014): "FT232H (ROBOTIS U2D2)",
    (0x0403, 0x6001): "FT232R",
    (0x10C4, 0xEA60): "CP210x",
    (0x0483, 0x5740): "STM32 virtual port (Hiwonder's RRC board by its own USB)",
}
"""Adapters that buses of servos hang on, by vendor and product."""
BY_ID = Path("/dev/serial/by-id")
APPEARS = 10.0  # [s] for a port to be there after its cable was put in
POLL = 0.2  # [s]


@dataclass(frozen=True)
class SerialPort:
    """A serial adapter.

    Attributes:
        path: that opens it; ``/dev/serial/by-id/…``, which stays the same, where there is one.
        device: the kernel's name, which may be another tomorrow.
        vid, pid: of USB; None for what is on no USB.
        serial: number of the adapter; empty when it has none.
    """

    path: str
    device: str
    vid: int | None = None
    pid: int | None = None
    serial: str = ""
    description: str = ""

    @property
    def adapter(self) -> str:
        """What is known of it; empty for an unknown one."""
        return ADAPTERS.get((self.vid, self.pid), "") if self.vid is not None and self.pid is not None else ""

    def words(self) -> str:
        """On one line."""
        usb = "" if self.vid is None or self.pid is None else f" [{self.vid:04x}:{self.pid:04x}]"
        return f"{self.path}{usb} {self.adapter or self.description}".rstrip()


Listing = Callable[[], Sequence[SerialPort]]


def list_ports() -> list[SerialPort]:
    """All serial adapters on USB, by path.

    Raises:
        DeskhandError: ``missing_dependency`` without pyserial.
    """
    try:
        from serial.tools.list_ports import comports
    except ImportError as error:
        raise DeskhandError("missing_dependency", "pyserial is not installed.", hint="pip install pyserial, or apt install python3-serial.") from error
    stable = {str(link.resolve()): str(link) for link in sorted(BY_ID.glob("*"))} if BY_ID.is_dir() else {}
    return [
        SerialPort(stable.get(port.device, port.device), port.device, port.vid, port.pid, port.serial_number or "", port.description or "")
        for port in sorted(comports(), key=lambda port: port.device)
        if port.vid is not None
    ]


def find_port(
    operator: Operator, arm: str, adapters: Sequence[tuple[int, int]] = (), listing: Listing = list_ports, sleep: Callable[[float], None] = time.sleep
) -> SerialPort:
    """The port of an arm. The only adapter of these USB ids (none given: of any) is proposed; else its cable is pulled out and put in again.

    Asks ``port.plugged``, ``port.right``, ``port.unplug``, ``port.plug``.

    Raises:
        DeskhandError: ``device_unavailable`` when none appears, more than one does, or this user may not use it.
    """
    operator.act("port.plugged", f"Connect the {arm} to this computer by USB, and switch its power on.")
    ports = _await(listing, sleep, bool)
    for port in ports:
        operator.say(f"    {port.words()}")
    likely = [port for port in ports if not adapters or (port.vid, port.pid) in adapters]
    if len(likely) == 1 and operator.confirm("port.right", f"Is the {arm} on {likely[0].words()}?"):
        return _usable(likely[0])
    return _usable(find_by_plugging(operator, arm, listing, sleep))


def find_by_plugging(operator: Operator, arm: str, listing: Listing = list_ports, sleep: Callable[[float], None] = time.sleep) -> SerialPort:
    """The port that goes when the cable is pulled out, and comes when it is put in.

    Raises:
        DeskhandError: ``device_unavailable`` when not exactly one does.
    """
    operator.act("port.unplug", f"Pull the USB cable of the {arm} out. Leave everything else as it is.")
    before = {port.device for port in listing()}
    operator.act("port.plug", "Put it in again.")
    fresh = [port for port in _await(listing, sleep, lambda ports: any(port.device not in before for port in ports)) if port.device not in before]
    if len(fresh) != 1:
        many = ", ".join(port.device for port in fresh) or "none"
        raise DeskhandError(
            "device_unavailable",
            f"of the serial ports {many} appeared when the cable was put in; it must be one.",
            retry=True,
            hint="A cable that only charges shows none; try another cable and another socket. dmesg says what was plugged in.",
        )
    return fresh[0]


def _await(listing: Listing, sleep: Callable[[float], None], there: Callable[[Sequence[SerialPort]], bool]) -> Sequence[SerialPort]:
    """The ports, as soon as they are as wished, or after APPEARS."""
    waited = 0.0
    while not there(ports := listing()) and waited < APPEARS:
        sleep(POLL)
        waited += POLL
    return ports


def _usable(port: SerialPort) -> SerialPort:
    if not os.access(port.path, os.R_OK | os.W_OK):
        raise DeskhandError("device_unavailable", f"{port.path} may not be used by this user.", hint="sudo usermod -aG dialout $USER, then log in again.")
    return port
