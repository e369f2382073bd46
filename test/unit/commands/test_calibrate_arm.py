"""`calibrate arm` refuses what cannot be before it asks anybody anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from deskhand.commands.calibrate import arm_command
from deskhand.errors import DeskhandError


def refused(output: Path, **options: object) -> DeskhandError:
    given = {"arm": "so101", "driver": "", "port": "", "force": False, "lerobot": None, "save_lerobot": None, **options}
    with pytest.raises(DeskhandError) as caught:
        arm_command(output, **given)  # type: ignore[arg-type]
    return caught.value


def test_only_an_arm_of_feetech_servos_takes_a_calibration_of_lerobot(tmp_path: Path) -> None:
    error = refused(tmp_path / "my.yaml", arm="jetarm", lerobot=tmp_path / "a.json")
    assert error.code == "config_error" and "so101" in str(error)


def test_a_port_that_is_not_there_and_a_file_that_is(tmp_path: Path) -> None:
    assert refused(tmp_path / "my.yaml", port=str(tmp_path / "tty")).code == "device_unavailable"
    (tmp_path / "my.yaml").write_text("extends: so101\n")
    assert "--force" in str(refused(tmp_path / "my.yaml"))
