"""Shared memory that Fast DDS leaves behind when a process is killed: a few megabytes each time, until the machine restarts."""

from __future__ import annotations

import contextlib
import fcntl
import time
from pathlib import Path

YOUNG = 10.0  # [s]; a segment younger than this may belong to a process that is just creating it


def remove_dead_segments(folder: Path = Path("/dev/shm"), older_than: float = YOUNG) -> int:
    """Remove segments whose process is gone; how many there were.

    Fast DDS holds a lock on NAME_el as long as the owner of the segment NAME lives.
    """
    removed = 0
    for lock in folder.glob("fastrtps_*_el"):
        if "port" in lock.name:
            continue
        with contextlib.suppress(FileNotFoundError, PermissionError), lock.open() as file:
            if time.time() - lock.stat().st_mtime < older_than:
                continue
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            lock.with_name(lock.name.removesuffix("_el")).unlink(missing_ok=True)
            lock.unlink()
            removed += 1
    return removed
