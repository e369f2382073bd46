"""Printed words: found where they are, read in the right order, given to the object that they stand on."""

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")
import small_models
from small_models import frame

from deskhand.errors import DeskhandError
from deskhand.perception.detectors.config import DetectorConfig, make_detector
from deskhand.perception.detectors.printed_text import Line, PrintedTextDetector, phrase

PURE = {"a": (255, 0, 0), "b": (0, 255, 0), "c": (0, 0, 255)}


@pytest.fixture
def reads(tmp_path):
    return PrintedTextDetector("test", *small_models.text_networks(tmp_path))


def printed(picture, word, left, top, size):
    """A word in blocks of colour without a gap, ``size`` px high."""
    for number, sign in enumerate(word):
        picture.color[top : top + size, left + number * size : left + (number + 1) * size] = PURE[sign]


def pixels(left, top, right, bottom):
    v, u = np.mgrid[top:bottom, left:right]
    return (v * 640 + u).ravel()


def test_a_line_is_found_and_read(reads):
    picture = frame()
    printed(picture, "cab", 200, 100, 24)
    (line,) = reads.lines(picture.color)
    assert line.text == "cab" and line.score > 0.8
    assert np.abs(line.corners.mean(axis=0) - [236, 112]).max() < 3
    (seen,) = reads.detect(picture)
    assert (seen.label, seen.printed, seen.source) == ("cab", True, "ocr:test")


def test_words_belong_to_the_object_that_they_stand_on(reads):
    picture = frame()
    printed(picture, "abc", 110, 110, 16)
    printed(picture, "bab", 420, 300, 16)
    first, second, bare = pixels(100, 100, 180, 140), pixels(400, 290, 500, 340), pixels(250, 50, 300, 90)
    seen = reads.detect(picture, [bare, second, first])
    assert [item.label for item in seen] == ["bab", "abc"]
    assert seen[0].mask is not None and seen[0].mask.sum() == len(second)


def test_a_line_on_an_object_is_told_where_it_is_in_the_picture(reads):
    picture = frame()
    printed(picture, "bab", 420, 300, 16)
    mask = np.zeros(picture.depth.shape, bool)
    mask.reshape(-1)[pixels(400, 280, 500, 340)] = True
    (line,) = reads.on(picture.color, mask)
    assert line.text == "bab" and np.abs(line.corners.mean(axis=0) - [444, 308]).max() < 2 and 16 <= line.height < 48


def test_an_object_before_a_word_does_not_get_it(reads):
    picture = frame()
    printed(picture, "abc", 200, 100, 16)
    around = np.setdiff1d(pixels(180, 80, 280, 140), pixels(195, 95, 255, 122))
    assert reads.detect(picture, [around]) == []


def test_an_object_is_called_by_its_largest_words():
    corners = np.zeros((4, 2))
    lines = [
        Line("net 500 g", 0.99, corners, 8.0),
        Line("OAT-flakes", 0.95, corners, 30.0),
        Line("crunchy", 0.9, corners, 20.0),
        Line("tiny", 0.9, corners, 5.0),
    ]
    assert phrase([*lines, Line("wrong", 0.4, corners, 60.0)], 0.8) == "oat_flakes_crunchy"
    assert phrase(lines[:1], 0.8) == "net"
    assert phrase([], 0.8) == ""


def test_files_that_are_no_reading_networks_are_clear_errors(reads, tmp_path):
    picture = frame()
    printed(picture, "cab", 200, 100, 24)
    with pytest.raises(DeskhandError, match="which signs"):
        PrintedTextDetector("x", reads.finder.file, reads.finder.file).lines(picture.color)
    with pytest.raises(DeskhandError, match="has no reader"):
        make_detector(DetectorConfig(name="ocr", kind="printed_text", weights=str(reads.finder.file)))
    with pytest.raises(DeskhandError, match="there is no network that reads"):
        make_detector(DetectorConfig(name="ocr", kind="printed_text", weights=str(reads.finder.file), reader=str(tmp_path / "none.onnx")))
