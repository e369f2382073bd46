"""The board: found where it is, printed at its size."""

import re

import cv2
import numpy as np
import pytest

from deskhand.calibration.board import Board
from deskhand.calibration.printable import PAPER, write_pdf
from deskhand.errors import DeskhandError
from deskhand.geometry import look_at, make_transform, rotation_about, rotation_angle
from deskhand.types import CameraIntrinsics

LENS = CameraIntrinsics(640, 480, 600.0, 605.0, 322.0, 237.0)


def seen(board, camera_T_board, noise=0.0, seed=0):
    """(480, 640) grey picture of the board through a pinhole."""
    margin, scale = 40, 60
    paper = cv2.copyMakeBorder(board.picture(scale), margin, margin, margin, margin, cv2.BORDER_CONSTANT, value=255)
    matrix = np.array([[LENS.fx, 0, LENS.cx], [0, LENS.fy, LENS.cy], [0, 0, 1]])
    pixel = board.square / scale
    to_board = np.array([[pixel, 0, (0.5 - margin) * pixel], [0, pixel, (0.5 - margin) * pixel], [0, 0, 1]])  # middle of pixel (0, 0)
    picture = cv2.warpPerspective(paper, matrix @ camera_T_board[:3, [0, 1, 3]] @ to_board, (640, 480), flags=cv2.INTER_AREA, borderValue=128)
    picture = cv2.GaussianBlur(picture, (3, 3), 0.7)
    return np.clip(picture + np.random.default_rng(seed).normal(0, noise, picture.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("tilt", [0.0, 0.4, 0.7])
def test_the_boards_pose_is_found_to_a_fraction_of_a_millimetre(tilt):
    board = Board()
    pose = make_transform(rotation_about([1, 0.5, 0.2], tilt), [-0.08, -0.11, 0.5])
    corners = board.find(seen(board, pose, noise=3.0))
    assert len(corners) == len(board.points)
    found = board.pose(corners, LENS)
    assert np.linalg.norm(found[:3, 3] - pose[:3, 3]) < 0.0008 and rotation_angle(found, pose) < np.radians(0.25)


def test_a_part_of_the_board_is_enough_and_nothing_is_made_up():
    board = Board()
    pose = make_transform(rotation_about([0, 1, 0], 0.3), [-0.08, -0.11, 0.5])
    picture = seen(board, pose)
    picture[:, 375:] = 90
    corners = board.find(picture)
    assert 6 <= len(corners) < len(board.points)
    assert np.linalg.norm(board.pose(corners, LENS)[:3, 3] - pose[:3, 3]) < 0.003
    assert len(board.find(np.full((480, 640, 3), 128, np.uint8))) == 0
    assert board.pose(board.find(np.full((480, 640), 128, np.uint8)), LENS) is None


def test_opencv_draws_the_same_board():
    if not hasattr(cv2.aruco, "CharucoBoard") or not hasattr(cv2.aruco, "CharucoDetector"):
        pytest.skip("this OpenCV draws boards by another function")
    board = Board(5, 7, 0.036, 0.024)  # a marker's cell is a whole number of pixels
    drawn = cv2.aruco.CharucoBoard((5, 7), 0.036, 0.024, cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)).generateImage((5 * 72, 7 * 72))
    assert np.mean(np.abs(drawn.astype(int) - board.picture(72)) > 100) < 0.001


@pytest.mark.parametrize("paper", sorted(PAPER))
def test_the_page_has_the_papers_size_and_the_board_its_own(tmp_path, paper):
    board = Board()
    write_pdf(board, tmp_path / "board.pdf", paper)
    text = (tmp_path / "board.pdf").read_bytes().decode("latin-1")
    width, height = (float(value) for value in re.search(r"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", text).groups())
    assert np.allclose([width, height], np.array(PAPER[paper]) / 0.0254 * 72, atol=0.01)
    black = text[text.index("stream") :].split(" 0 g ")  # every rectangle sets its colour before its outline
    points = np.array([[float(x), float(y)] for part in black[1:] for x, y in re.findall(r"^([\d.]+) ([\d.]+) [ml]$", part, re.M)][: 4 * len(board.black())])
    size = np.ptp(points, axis=0) / 72 * 0.0254
    assert np.allclose(size, board.size, atol=1e-5)
    first = points[:4]
    assert np.allclose(np.ptp(first, axis=0) / 72 * 0.0254, [board.square, board.square], atol=1e-6)


def test_what_cannot_be_printed_or_understood_is_said(tmp_path):
    with pytest.raises(DeskhandError, match="does not fit"):
        write_pdf(Board(6, 9, 0.04, 0.03), tmp_path / "board.pdf")
    for name in ("5x7", "5x6@35/26mm", "5x7@35/36mm", "20x21@5/4mm"):
        with pytest.raises(DeskhandError):
            Board.parse(name)
    assert Board.parse(Board(4, 5, 0.0305, 0.022).name) == Board(4, 5, 0.0305, 0.022)


def test_the_board_faces_who_looks_at_its_front():
    board = Board()
    camera = look_at([0.2, 0.1, 0.6], [0, 0, 0])
    lying = make_transform(np.diag([1.0, -1.0, -1.0]), [-0.09, 0.12, 0.0])  # z into the table
    pose = np.linalg.inv(camera) @ lying
    found = board.pose(board.find(seen(board, pose)), LENS)
    assert found is not None and rotation_angle(found, pose) < np.radians(0.5)
