"""A serial port that belongs to one process, notices when it has gone, and can be opened again."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import termios
from typing import Any

from deskhand.arms.bus.holders import Holder, holders
from deskhand.errors import DeskhandError

WRITE_TIMEOUT = 1.0  # [s] also of what was written at once, when this process had to wait for a processor meanwhile
CHUNK = 4096


class Port:
    """``path`` at ``baud``, 8N1. Nothing is opened before :meth:`open`."""

    def __init__(self, path: str, baud: int) -> None:
        self.path, self.baud = path, baud
        self._serial: Any = None

    @property
    def is_open(self) -> bool:
        """Whether it is."""
        return self._serial is not None

    def open(self) -> None:
        """Open it for this process alone.

        Raises:
            DeskhandError: ``device_unavailable`` when there is no such port, or no right to use it; ``device_busy`` when another process has it;
                ``missing_dependency`` without pyserial.
        """
        try:
            import serial
        except ImportError as error:
            raise DeskhandError("missing_dependency", "pyserial is not installed.", hint="pip install pyserial, or apt install python3-serial.") from error
        self.close()
        try:
            # exclusive: flock, which every program that uses pyserial and ours respect
            self._serial = serial.Serial(self.path, self.baud, timeout=0, write_timeout=WRITE_TIMEOUT, exclusive=True)
            fcntl.ioctl(self._serial.fileno(), termios.TIOCEXCL)  # for those that do not: no second open, except root's
            self._serial.reset_input_buffer()
        except (serial.SerialException, OSError, ValueError, termios.error) as error:
            self.close()
            raise _refusal(self.path, error) from error

    def close(self) -> None:
        """Give it back; nothing happens when it is closed."""
        serial, self._serial = self._serial, None
        if serial is None:
            return
        with contextlib.suppress(OSError, ValueError):  # the device may have gone, and its lock with it
            fcntl.ioctl(serial.fileno(), termios.TIOCNXCL)
        with contextlib.suppress(OSError):
            serial.close()

    def read(self, timeout: float) -> bytes:
        """What has come, at least one byte; nothing when none came within ``timeout`` [s].

        Raises:
            DeskhandError: ``device_unavailable``.
        """
        try:
            number = self._number()
            ready, _, _ = select.select([number], [], [], max(0.0, timeout))
            if not ready:
                return b""
            data = os.read(number, CHUNK)
        except (OSError, ValueError) as error:
            raise self._lost(error) from error
        if not data:
            raise self._lost("it was hung up")
        return data

    def write(self, data: bytes) -> None:
        """Send all of it.

        Raises:
            DeskhandError: ``device_unavailable``.
        """
        import serial

        self._number()
        try:
            self._serial.write(data)
        except (serial.SerialException, OSError, ValueError) as error:
            raise self._lost(error) from error

    def drain(self) -> bytes:
        """What has come until now, without waiting."""
        data = bytearray()
        while more := self.read(0.0):
            data += more
        return bytes(data)

    def _number(self) -> int:
        if self._serial is None:
            raise DeskhandError("device_unavailable", f"{self.path} is not open.", retry=True)
        return int(self._serial.fileno())

    def _lost(self, why: object) -> DeskhandError:
        self.close()
        return DeskhandError("device_unavailable", f"{self.path} has gone ({why}).", retry=True, hint="Is it plugged in? It is taken again when it comes back.")


def port_busy(path: str, found: list[Holder]) -> DeskhandError:
    """That others (who of them can be seen) use the port, and the lines that end them."""
    if not found:
        return DeskhandError(
            "device_busy", f"another process uses {path}.", retry=True, hint=f"Another user's process: `sudo fuser -v {path}` shows which. End it."
        )
    services = sorted({holder.unit for holder in found if holder.unit and not holder.of_user})
    for_good = f" So that it does not come back with the next start: sudo systemctl disable {' '.join(services)}." if services else ""
    lines = "; ".join(dict.fromkeys(holder.advice() for holder in found))
    text = f"{path} is used by {', '.join(holder.words() for holder in found)}."
    return DeskhandError("device_busy", text, retry=True, hint=f"End it: {lines}.{for_good}")


def _refusal(path: str, error: Exception) -> DeskhandError:
    text, number = str(error), getattr(error, "errno", None)
    if number in (11, 16) or "exclusively lock" in text or "busy" in text.lower():
        return port_busy(path, holders(path))
    if number == 13 or "Permission denied" in text:
        return DeskhandError("device_unavailable", f"{path} may not be used by this user.", hint="Join the group dialout: sudo usermod -aG dialout $USER.")
    return DeskhandError("device_unavailable", f"{path} cannot be opened: {text}.", retry=True, hint="Is the arm plugged in and the port right (driver.port)?")
