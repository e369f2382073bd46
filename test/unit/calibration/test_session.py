"""A calibration by a robot that moves: the board is looked for, and what came out is where the camera really is."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from deskhand.cameras.config import load_camera
from deskhand.commands.cli import app
from deskhand.errors import DeskhandError

pytest.importorskip("mujoco")


@pytest.mark.parametrize("arm", [pytest.param("jetarm", marks=pytest.mark.long), "so101"])
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
        assert isinstance(result.exception, DeskhandError) and "jetarm, panda, so101, wx250s" in result.exception.hint, command


@pytest.mark.parametrize(("code", "left_out"), [("stale_data", True), ("tracking_error", False)])
def test_a_pose_is_left_out_when_a_late_joint_state_halted_the_motion_and_nothing_else_is_passed_over(code, left_out):
    from deskhand.calibration.session import Session

    told = []
    report = SimpleNamespace(ok=False, code=code, message="halted")
    robot = SimpleNamespace(plan_motion=lambda *_: SimpleNamespace(id="plan"), execute=lambda _: report, sleep=lambda _: None)
    session = Session(robot, None, None, None, told.append)
    if left_out:
        assert session._go({}) is False and told == ["a pose is left out: halted"]
    else:
        with pytest.raises(DeskhandError, match="did not get to a pose"):
            session._go({})


def test_more_pictures_are_taken_by_itself_where_only_their_number_is_lacking():
    """Joints that scatter as those with play do: as many pictures as were asked for leave the camera too uncertain, twice as many do not."""
    from deskhand.bench.calibration.handeye import Bench
    from deskhand.calibration.handeye import Limits
    from deskhand.calibration.session import Session

    noise, told = np.radians(0.22), []
    with Bench("fixed", 1, "jetarm") as bench:

        class Put(Session):
            """Puts the arm from pose to pose instead of planning ways there."""

            def _take_board(self, rng):
                self._free = lambda _joints: True

            def _picture(self, joints):
                return bench.view(joints, noise)

        robot = SimpleNamespace(observe=bench.renderer.render, update_scene=lambda _update: None, joint_state=None)
        session = Put(robot, bench.model, bench.board, bench.guess, told.append)
        session._first_look = lambda _rng: None
        result, views = session.run(12)
        assert 12 < len(views) <= 24 and any("not known well enough yet" in line for line in told)
        assert result.shift_sigma <= Limits().shift_sigma and bench.error(result)[0] < 2.5 * Limits().shift_sigma
        assert session._needed(views[:12], Limits()) > 12 and session._needed(views, Limits()) == 0
        assert session._needed(views[:12], replace(Limits(), shift_sigma=result.shift_sigma / 10)) == 0, "no number of pictures makes up for that"
