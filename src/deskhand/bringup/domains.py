"""A ROS domain of its own for every trial, so that several stacks on one machine do not meet."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deskhand.errors import DeskhandError

LAST = 101
"""Highest domain whose ports lie below Linux's range of ephemeral ports."""
_PORT_BASE, _PORTS = 7400, 250  # of a domain, DDS-RTPS 9.6.1.1


def _used_ports() -> set[int]:
    ports = set()
    for name in ("/proc/net/udp", "/proc/net/udp6"):
        if Path(name).exists():
            for line in Path(name).read_text().splitlines()[1:]:
                ports.add(int(line.split()[1].rpartition(":")[2], 16))
    return ports


@contextmanager
def free_domain() -> Iterator[int]:
    """A domain that nobody on this machine uses, kept from other trials while the block runs; searched upwards from ROS_DOMAIN_ID (default 1).

    Raises:
        DeskhandError: ``busy`` when there is none.
    """
    text = os.environ.get("ROS_DOMAIN_ID", "")
    first = int(text) if text.isdigit() and 1 <= int(text) <= LAST else 1
    used = {(port - _PORT_BASE) // _PORTS for port in _used_ports() if port >= _PORT_BASE}
    for domain in [*range(first, LAST + 1), *range(1, first)]:
        if domain in used:
            continue
        # The lock, not the file, says that a domain is taken: it ends with its process.
        with (Path(tempfile.gettempdir()) / f"deskhand_domain_{os.getuid()}_{domain}.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield domain
            return
    raise DeskhandError("busy", "every ROS domain on this machine is in use.", hint="End a running deskhand, or set ROS_DOMAIN_ID.")
