import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
import small_models
from small_models import frame

from deskhand.errors import DeskhandError
from deskhand.perception.detectors.base import Vocabulary, non_maximum_suppression, overlap
from deskhand.perception.detectors.closed_set import ClosedSetDetector
from deskhand.perception.detectors.objectron import anchors, convert
from deskhand.perception.detectors.open_vocabulary import OpenVocabularyDetector, StoredEmbeddings, TextEncoder

# a 640x480 picture in a square of 320: stretched, a cell is 64x48 px of it; letterboxed, 64x64 px, from 0 px at the top
STRETCHED = {"red": (64, 96, 128, 144)}


def found(detector, picture):
    return [(item.label, item.box, item.source) for item in detector.detect(picture)]


def test_an_ssd_that_says_what_it_is_finds_its_colours_where_they_are(tmp_path):
    detector = ClosedSetDetector("small", small_models.ssd(tmp_path / "m.onnx"), vocabulary=Vocabulary({"Red thing": "block"}, frozenset({"Blue thing"})))
    picture = frame(("red", 64, 96, 64), ("blue", 320, 240, 64))
    (red,) = detector.detect(picture)
    assert red.label == "block" and red.source == "onnx:small" and red.score > 0.9
    assert red.box == pytest.approx((64, 96, 128, 144), abs=0.5)


def test_a_yolo_is_letterboxed_and_its_boxes_come_back_to_the_picture(tmp_path):
    detector = ClosedSetDetector("yolo", small_models.yolo(tmp_path / "m.onnx"))
    seen = found(detector, frame(("green", 128, 64, 64), ("blue", 576, 384, 64)))
    # 480 rows at scale 0.5 are 240 of 320: the picture begins 40 rows down, so the cells are shifted by 80 px
    assert {label for label, _, _ in seen} == {"green", "blue"}
    for label, box, _ in seen:
        left, top = {"green": (128, 64), "blue": (576, 384)}[label]
        assert overlap(box, (left, top, left + 64, top + 64)) > 0.5, (label, box)


def test_labels_and_format_of_the_configuration_come_first(tmp_path):
    file = small_models.yolo(tmp_path / "m.onnx")
    assert {item.label for item in ClosedSetDetector("y", file, labels=("a", "b", "c")).detect(frame(("red", 64, 64, 64)))} == {"a"}
    with pytest.raises(DeskhandError, match="3 classes apart, but 2 labels") as error:
        ClosedSetDetector("y", file, labels=("a", "b")).detect(frame())
    assert error.value.code == "config_error"
    with pytest.raises(DeskhandError, match="unknown format"):
        ClosedSetDetector("y", file, form="rcnn")


def test_files_that_are_missing_or_no_models_are_clear_errors(tmp_path):
    (tmp_path / "no.onnx").write_bytes(b"nothing of the kind")
    for name, words in (("none.onnx", "there is no"), ("no.onnx", "no ONNX model")):
        with pytest.raises(DeskhandError, match=words) as error:
            ClosedSetDetector("m", tmp_path / name).detect(frame())
        assert error.value.code == "config_error" and name in str(error.value)


def test_without_onnxruntime_the_package_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(DeskhandError, match="onnxruntime") as error:
        ClosedSetDetector("m", small_models.ssd(tmp_path / "m.onnx")).detect(frame())
    assert error.value.code == "missing_dependency" and "pip install" in error.value.hint


@pytest.fixture
def picture():
    return frame(("red", 128, 64, 128), ("green", 384, 192, 128))


def test_an_open_vocabulary_finds_what_it_is_told_to_look_for(tmp_path, picture):
    np.savez(tmp_path / "words.npz", **{"a red thing": [2.0, 0, 0], "a green thing": [0, 1.0, 0], "a blue thing": [0, 0, 1.0]})
    file = small_models.open_vocabulary(tmp_path / "m.onnx")
    texts = StoredEmbeddings(tmp_path / "words.npz")
    for prompts, kinds in (
        ({"block": ["a red thing"]}, {"block"}),
        ({"block": ["a red thing", "a green thing"]}, {"block"}),
        ({"pen": ["a blue thing"]}, set()),
    ):
        seen = OpenVocabularyDetector("world", file, texts, prompts).detect(picture)
        assert {item.label for item in seen} == kinds
    both = OpenVocabularyDetector("world", file, texts, {"ball": ["a red thing"], "cup": ["a green thing"]}).detect(picture)
    for item in both:
        middle = (item.box[0] + item.box[2]) / 2
        assert (item.label == "ball") == (middle < 320) and item.source == "onnx:world"


def test_prompts_go_through_a_text_encoder_and_its_tokenizer(tmp_path, picture):
    pytest.importorskip("tokenizers")
    encoder = TextEncoder(*small_models.text_encoder(tmp_path))
    vectors = encoder.embed(["a red thing", "green"])
    assert vectors.shape == (2, 3) and np.allclose(np.linalg.norm(vectors, axis=1), 1) and vectors.argmax(axis=1).tolist() == [0, 1]
    detector = OpenVocabularyDetector("world", small_models.open_vocabulary(tmp_path / "m.onnx"), encoder, {"cup": ["a green thing"]})
    seen = detector.detect(picture)
    assert seen and {item.label for item in seen} == {"cup"} and all(item.box[0] > 320 for item in seen)


def test_an_open_vocabulary_that_cannot_be_is_a_clear_error(tmp_path):
    file = small_models.open_vocabulary(tmp_path / "m.onnx")
    np.savez(tmp_path / "words.npz", known=[1.0, 0, 0])
    texts = StoredEmbeddings(tmp_path / "words.npz")
    with pytest.raises(DeskhandError, match="no prompts"):
        OpenVocabularyDetector("w", file, texts, {"cup": []})
    with pytest.raises(DeskhandError, match="unheard of"):
        OpenVocabularyDetector("w", file, texts, {"cup": ["unheard of"]}).detect(frame())
    with pytest.raises(DeskhandError, match="not a picture and text vectors"):
        OpenVocabularyDetector("w", small_models.ssd(tmp_path / "closed.onnx"), texts, {"cup": ["known"]}).detect(frame())


def test_of_boxes_on_one_object_the_best_stays():
    boxes = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [30, 30, 40, 40]], np.float32)
    assert non_maximum_suppression(boxes, np.array([0.5, 0.9, 0.4], np.float32)) == [1, 2]
    assert overlap(boxes[0], boxes[1]) == pytest.approx(9 / 11) and overlap(boxes[0], boxes[2]) == 0.0


def test_anchors_cover_the_picture_as_ssd_lays_them():
    rows = anchors()
    assert rows.shape == (19 * 19 * 3 + 6 * (100 + 25 + 9 + 4 + 1), 4)
    assert (rows[:, :2] > 0).all() and (rows[:, :2] < 1).all()
    assert rows[0] == pytest.approx([0.5 / 19, 0.5 / 19, 0.1, 0.1]) and rows[-1] == pytest.approx([0.5, 0.5, 0.95**0.5, 0.95**0.5])
    areas = rows[:3, 2] * rows[:3, 3]
    assert areas == pytest.approx([0.01, 0.04, 0.04])


def test_what_is_not_the_package_is_refused(tmp_path):
    pytest.importorskip("tflite")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "objectron_solution_packed_assets_loader.js").write_text("not what it is called")
    with pytest.raises(DeskhandError, match="is not the npm @mediapipe/objectron") as error:
        convert(tmp_path / "other", tmp_path / "out.onnx")
    assert error.value.code == "config_error" and not (tmp_path / "out.onnx").exists()


@pytest.mark.skipif("DESKHAND_OBJECTRON" not in os.environ, reason="DESKHAND_OBJECTRON names no downloaded mediapipe-objectron-*.tgz")
def test_the_downloaded_package_becomes_a_detector_that_computes_what_its_network_does(tmp_path):
    import cv2
    import tflite  # noqa: F401

    package = Path(os.environ["DESKHAND_OBJECTRON"])
    labels = convert(package, tmp_path / "objectron.onnx")
    assert len(labels) == 23 and "Mug" in labels
    detector = ClosedSetDetector("objectron", tmp_path / "objectron.onnx")
    detector.detect(frame(("red", 64, 96, 64)))
    from deskhand.perception.detectors.objectron import _assets

    (tmp_path / "ssd.tflite").write_bytes(_assets(package)[1])
    picture = np.random.default_rng(1).random((1, 3, 300, 300), dtype=np.float32)
    reference = cv2.dnn.readNetFromTFLite(str(tmp_path / "ssd.tflite"))
    reference.setInput(picture * 2 - 1)
    logits = next(out for out in reference.forward(reference.getUnconnectedOutLayersNames()) if out.shape[-1] == 24)
    _, scores = detector.model.run({"picture": picture})
    assert np.abs(scores[0] - 1 / (1 + np.exp(-logits[0, :, 1:]))).max() < 1e-5
