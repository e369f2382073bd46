"""Ends process groups when the process that started them is gone, even by SIGKILL.

Run by path in an own session by :class:`deskhand.bringup.supervisor.Supervisor`; standard library only, so that it starts in milliseconds.
Standard input carries lines "add GROUP" and "drop GROUP"; its end means that the supervisor is gone.
"""

from __future__ import annotations

import os
import signal
import sys
import time

GRACE = 1.0  # [s] between asking and killing


def _signal(groups: set[int], number: int) -> None:
    for group in tuple(groups):
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            groups.discard(group)


def main() -> None:
    """Read until the end of standard input, then end what is still registered."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        verb, group = line.split()
        (groups.add if verb == "add" else groups.discard)(int(group))
    _signal(groups, signal.SIGINT)
    end = time.monotonic() + GRACE
    while groups and time.monotonic() < end:
        time.sleep(0.05)
        _signal(groups, 0)
    _signal(groups, signal.SIGKILL)


if __name__ == "__main__":
    main()
