"""Which numpy a sourced ROS needs: asked of the interpreter that ROS uses, not of what shines into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from deskhand.bringup.ros_numpy import numpy_of_ros


def interpreter(path: Path, prints: str, code: int = 0) -> str:
    path.write_text(f'#!/bin/sh\n[ "$1" = -I ] || exit 9\necho "{prints}"\nexit {code}\n')
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(("version", "major"), [("1.21.5", 1), ("1.26.4", 1), ("2.4.0", 2)])
def test_the_system_is_asked(version: str, major: int, tmp_path: Path) -> None:
    assert numpy_of_ros("humble", interpreter(tmp_path / "python", version)) == major


def test_without_a_numpy_to_ask_the_distribution_says_it(tmp_path: Path) -> None:
    none = interpreter(tmp_path / "python", "", 1)
    assert [numpy_of_ros(distro, none) for distro in ("humble", "jazzy", "rolling")] == [1, 1, 2]
    assert numpy_of_ros("jazzy", str(tmp_path / "missing")) == 1
