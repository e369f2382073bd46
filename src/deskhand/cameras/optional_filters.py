"""Filters of a vendor's library that are nice to have, tried in a process of their own first: some builds of some libraries die of them (SIGSEGV, SIGILL)."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache

TIMEOUT = 20.0  # [s] to import the library, make the filter and let it work once
NO_LIBRARY = 3  # exit code of a trial without the library: that is told when the camera is opened

TRIAL = """
import sys
try:
    import {module} as sdk
except ImportError:
    sys.exit({no_library})
{code}
"""

log = logging.getLogger(__name__)


@cache
def broken(module: str, name: str, code: str) -> str:
    """Why the filter ``name`` cannot be used, found by running ``code`` (Python; the library is ``sdk``) in a child process; empty: it can.

    An exception counts as well as a death by a signal, but for a library that is not there. Each is tried once a process.
    """
    command = [sys.executable, "-c", TRIAL.format(module=module, code=code, no_library=NO_LIBRARY)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"{name} did not end within {TIMEOUT:g} s"
    if done.returncode in (0, NO_LIBRARY):
        return ""
    if done.returncode < 0:
        return f"{name} kills its process ({signal.Signals(-done.returncode).name})"
    lines = done.stderr.strip().splitlines()
    return f"{name} fails: {lines[-1] if lines else done.returncode}"


def usable(module: str, wanted: Sequence[tuple[str, str]]) -> list[str]:
    """Names of the ``wanted`` filters (name, code of its trial) that work; the others are told and left out."""
    names = []
    for name, code in wanted:
        if why := broken(module, name, code):
            log.warning("%s: %s; the pictures are used without it", module, why)
        else:
            names.append(name)
    return names
