"""Who has a serial port open, and by which system service, as /proc tells it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class Holder:
    """A process that has a port open.

    Attributes:
        pid, name: of the process.
        unit: systemd service that it belongs to; empty: none.
        of_user: whether that is a service of the user, not of the system.
    """

    pid: int
    name: str
    unit: str = ""
    of_user: bool = False

    def words(self) -> str:
        """For people."""
        return f"{self.name} (process {self.pid}{f' of {self.unit}' if self.unit else ''})"

    def advice(self) -> str:
        """The line that ends it."""
        if not self.unit:
            return f"kill {self.pid}"
        return f"systemctl --user stop {self.unit}" if self.of_user else f"sudo systemctl stop {self.unit}"


def holders(path: str, proc: Path = PROC) -> list[Holder]:
    """Other processes that have ``path`` open, or a link to it; only those of this user can be seen, unless this is root."""
    try:
        device = Path(path).stat()
    except OSError:
        return []
    found = []
    for entry in sorted(proc.glob("[0-9]*"), key=lambda item: int(item.name)):
        if int(entry.name) != os.getpid() and _has_open(entry, device):
            unit, of_user = service_of(_text(entry / "cgroup"))
            found.append(Holder(int(entry.name), _text(entry / "comm") or "a process", unit, of_user))
    return found


def service_of(cgroup: str) -> tuple[str, bool]:
    """The systemd service that /proc/PID/cgroup names (empty: none), and whether it is one of a user."""
    for line in cgroup.splitlines():
        parts = line.rpartition(":")[2].split("/")
        services = [part for part in parts if part.endswith(".service") and not part.startswith("user@")]
        if services:
            return services[-1], any(part.startswith("user@") for part in parts)
    return "", False


def _has_open(entry: Path, device: os.stat_result) -> bool:
    try:
        numbers = list((entry / "fd").iterdir())
    except OSError:  # it has ended, or is another user's
        return False
    return any(_same(number, device) for number in numbers)


def _same(number: Path, device: os.stat_result) -> bool:
    try:
        there = number.stat()
    except OSError:
        return False
    return there.st_rdev == device.st_rdev and (there.st_ino, there.st_dev) == (device.st_ino, device.st_dev)


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
