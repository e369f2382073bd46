"""A calibration by a robot that moves: the board is looked for, and what came out is where the camera really is."""

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from deskhand.cameras.config import load_camera
from deskhand.cli import app
from deskhand.errors import DeskhandError

pytest.importorskip("mujoco")


@pytest.mark.parametrize("arm", ["jetarm", "so101"])
def test_a_small_arm_finds_the_board_on_the_desk_and_its_own_wrist_camera(arm, tmp_path):
    from deskhand.bench.calibration.handeye import Bench
    from deskhand.commands.calibrate import calibrate_handeye

    out = tmp_path / "camera.yaml"
    with Bench("wrist", 3, arm, turned=np.radians(60)) as bench, bench.robot() as robot:
        assert bench.board.pose(bench.board.find(robot.observe().color), bench.renderer.intrinsics) is None  # not seen from where the arm stands
        calibrate_handeye(robot, "wrist", None, out, 10, 3, True, True)
        written = load_camera(str(out))
        shift = np.linalg.norm(written.pose[:3, 3] - bench.camera[:3, 3])
    assert written.parent == load_camera("wrist", arm).parent and shift < 0.0013


def test_a_board_that_is_nowhere_is_said_to_be_missing():
    from deskhand.bench.calibration.handeye import Bench
    from deskhand.calibration.poses import lying_places
    from deskhand.calibration.session import Session

    with Bench("wrist", 0, "so101") as bench, bench.robot() as robot:
        guess = replace(bench.guess, board=np.eye(4))
        session = Session(robot, bench.model, replace(bench.board, columns=4), guess)  # another board than the one that lies there
        places = lying_places(bench.model.arm, bench.board)[:1]
        with pytest.MonkeyPatch.context() as patch, pytest.raises(DeskhandError, match="does not find the board 4x7"):
            patch.setattr("deskhand.calibration.session.lying_places", lambda *_: places)
            session.run(8)


def test_no_arm_is_assumed_where_one_could_move(monkeypatch):
    monkeypatch.delenv("DESKHAND_ARM", raising=False)
    for command in (["calibrate", "handeye", "--sim"], ["calibrate", "arm", "x.yaml"], ["up", "robot"]):
        result = CliRunner().invoke(app, command)
        assert isinstance(result.exception, DeskhandError) and "jetarm, so101, wx250s" in result.exception.hint, command
