"""Segments of the dead go, those of the living stay."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from deskhand.bringup.shared_memory import remove_dead_segments


def segment(folder: Path, name: str, age: float) -> Path:
    (folder / name).write_bytes(b"x" * 100)
    lock = folder / f"{name}_el"
    lock.touch()
    past = lock.stat().st_mtime - age
    os.utime(lock, (past, past))
    return lock


def test_only_old_segments_whose_owner_is_gone_are_removed(tmp_path: Path) -> None:
    segment(tmp_path, "fastrtps_dead", 60)
    living = segment(tmp_path, "fastrtps_living", 60)
    segment(tmp_path, "fastrtps_young", 0)
    segment(tmp_path, "fastrtps_port7411", 60)
    (tmp_path / "somebody_else").touch()
    with living.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert remove_dead_segments(tmp_path) == 1
    left = {path.name for path in tmp_path.iterdir() if not path.name.endswith("_el")}
    assert left == {"fastrtps_living", "fastrtps_young", "fastrtps_port7411", "somebody_else"}
    assert not (tmp_path / "fastrtps_dead_el").exists()


def test_no_shared_memory_is_no_error(tmp_path: Path) -> None:
    assert remove_dead_segments(tmp_path / "missing") == 0
