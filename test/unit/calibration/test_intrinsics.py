"""The lens from pictures of a board: found again where it is known, and refused where the pictures do not tell it."""

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from deskhand.calibration.board import Board, Corners
from deskhand.calibration.intrinsics import calibrate_lens, covered, is_new_view
from deskhand.commands.cli import app
from deskhand.errors import DeskhandError
from deskhand.types import CameraIntrinsics

BOARD = Board()
LENS, DISTORTION = CameraIntrinsics(640, 480, 605.0, 602.0, 325.0, 236.0), np.array([0.1, -0.18, 0.001, -0.0015, 0.04])


def pictures(count, rng, tilt=0.6, spread=1.0, noise=0.1):
    """Corners of the board held before the lens, in the picture, ``spread`` of it used."""
    matrix, taken = np.array([[LENS.fx, 0, LENS.cx], [0, LENS.fy, LENS.cy], [0, 0, 1]]), []
    while len(taken) < count:
        z = rng.uniform(0.35, 0.7)
        turn = rng.uniform(-tilt, tilt, 3)
        middle = np.array([rng.uniform(-0.45, 0.45) * spread * z, rng.uniform(-0.35, 0.35) * spread * z, z])
        shift = middle - cv2.Rodrigues(turn)[0] @ BOARD.points.mean(axis=0)
        pixels = cv2.projectPoints(BOARD.points, turn, shift, matrix, DISTORTION)[0].reshape(-1, 2)
        seen = ((pixels > 3) & (pixels < [637, 477])).all(axis=1)
        if seen.sum() >= 12:
            taken.append(Corners(np.flatnonzero(seen), pixels[seen] + rng.normal(0, noise, (seen.sum(), 2))))
    return taken


def test_a_known_lens_is_found_again():
    lens = calibrate_lens(pictures(20, np.random.default_rng(3)), BOARD, 640, 480)
    k = lens.intrinsics
    assert np.allclose([k.fx, k.fy], [605, 602], atol=3) and np.allclose([k.cx, k.cy], [325, 236], atol=3)
    assert lens.error < 0.3 and lens.difference(LENS) > 5  # a pinhole with the same numbers is wrong in the corners


@pytest.mark.parametrize(
    ("taken", "words"),
    [
        (lambda rng: pictures(8, rng), "12 are needed"),
        (lambda rng: pictures(15, rng, spread=0.05), "% of the picture"),
        (lambda rng: pictures(20, rng, noise=2.5), "px are allowed"),
        (lambda rng: pictures(25, rng, tilt=0.01), "the same way"),
    ],
    ids=["few", "middle only", "blurred", "never tilted"],
)
def test_pictures_that_do_not_tell_are_refused(taken, words):
    with pytest.raises(DeskhandError, match=words) as caught:
        calibrate_lens(taken(np.random.default_rng(5)), BOARD, 640, 480)
    assert caught.value.code == "calibration_failed" and caught.value.hint


def test_only_other_views_are_taken():
    first, second = pictures(2, np.random.default_rng(1))
    assert is_new_view(second, [first], 640) and not is_new_view(first, [first, second], 640)
    assert not is_new_view(Corners(first.ids[:4], first.pixels[:4]), [], 640)
    assert 0 < covered([first], 640, 480) < covered([first, second], 640, 480) <= 1


def test_the_board_is_written_by_the_command(tmp_path):
    result = CliRunner().invoke(app, ["calibrate", "board", "--out", str(tmp_path / "board.pdf"), "--board", "4x5@30/22mm"])
    assert result.exit_code == 0 and (tmp_path / "board.pdf").read_bytes().startswith(b"%PDF")
