import json
from dataclasses import replace

import cv2
import numpy as np
import pytest
import yaml

pytest.importorskip("onnxruntime")
import small_models
from small_models import frame

from deskhand.errors import DeskhandError
from deskhand.llm.base import Reply
from deskhand.llm.config import load_profile
from deskhand.llm.scripted import ScriptedModel
from deskhand.perception.classify import load_classifier
from deskhand.perception.detectors.base import Detection
from deskhand.perception.detectors.config import load_detectors
from deskhand.perception.detectors.naming import Opinion, agreed, assigned, rename
from deskhand.perception.detectors.vision_language import SCHEMA, VisionLanguageDetector
from deskhand.types import NameCandidate, SceneObject

SHAPE = (480, 640)


def an_object(label="object", confidence=0.6, container=False):
    return SceneObject("", label, "red", "box", np.full(3, 0.04), np.eye(4), np.zeros((0, 3), np.float32), confidence, is_container=container)


def pixels(left, top, right, bottom):
    v, u = np.mgrid[top:bottom, left:right]
    return (v * SHAPE[1] + u).ravel()


class Says:
    """A detector that says what the test wants."""

    def __init__(self, *found, weight=1.0, fails=None):
        self.name, self.weight, self.found, self.fails = "test", weight, list(found), fails

    def detect(self, frame, objects=()):
        if self.fails:
            raise self.fails
        return self.found


def said(label, box, score=0.9, mask=None, source="onnx:test"):
    return Detection(label, score, source, box, mask)


def test_detections_go_to_the_objects_that_they_cover():
    objects = [pixels(100, 100, 160, 160), pixels(200, 100, 260, 160), pixels(400, 300, 420, 320)]
    left, right, nowhere = said("cup", (205, 98, 262, 158)), said("can", (95, 97, 161, 163)), said("box", (300, 300, 380, 380))
    assert {(i, d.label) for i, d in assigned(objects, SHAPE, [left, right, nowhere])} == {(0, "can"), (1, "cup")}
    around_all = said("table", (0, 0, 640, 480))
    assert assigned(objects, SHAPE, [around_all]) == []


def test_a_mask_says_more_than_a_box():
    ring = np.zeros(SHAPE, bool)
    ring[100:160, 100:160] = True
    ring[115:145, 115:145] = False
    objects = [np.nonzero(ring.ravel())[0], pixels(115, 115, 145, 145)]  # an object that lies within the outline of another
    mask = np.zeros(SHAPE, bool)
    mask[115:145, 115:145] = True
    assert [(i, d.label) for i, d in assigned(objects, SHAPE, [said("ball", (100, 100, 160, 160), mask=mask)])] == [(1, "ball")]


def test_an_unknown_object_takes_the_name_and_its_source():
    named = agreed(an_object(), [Opinion("cup", 0.5, "onnx:a")])
    assert (named.label, named.label_source) == ("cup", "onnx:a") and named.named == pytest.approx(0.5)


def test_agreement_makes_surer_and_disagreement_less_sure_and_sources_are_kept():
    sure = agreed(an_object("cup", 0.6), [Opinion("cup", 0.5, "onnx:a"), Opinion("cup", 0.4, "vlm:b")])
    assert sure.label_source == "geometry+onnx:a+vlm:b" and sure.named == pytest.approx(1 - (1 - 0.9 * 0.6) * 0.5 * 0.6)
    torn = agreed(an_object("cup", 0.6), [Opinion("can", 0.5, "onnx:a")])
    assert (torn.label, torn.label_source) == ("cup", "geometry") and torn.named < 0.6
    outvoted = agreed(an_object("cup", 0.6), [Opinion("can", 0.5, "onnx:a"), Opinion("can", 0.5, "vlm:b")])
    assert (outvoted.label, outvoted.label_source) == ("can", "onnx:a+vlm:b")
    assert agreed(an_object("cup", 0.6), []).named == 0.6


def test_the_word_for_a_shape_leaves_open_what_it_is():
    plain = replace(an_object("object", 0.3), names=(NameCandidate("cylinder", 0.9, "geometry"),))
    bottle = agreed(plain, [Opinion("bottle", 0.6, "onnx:a")])
    assert (bottle.label, bottle.named) == ("bottle", pytest.approx(0.6))
    assert {name.name: round(name.probability, 2) for name in bottle.names} == {"bottle": 0.6, "cylinder": 0.36}
    doubted = agreed(plain, [Opinion("bottle", 0.2, "onnx:a")])
    assert doubted.label == "object" and [name.name for name in doubted.names] == ["cylinder", "bottle"]
    carton = replace(an_object("box", 0.9), names=(NameCandidate("box", 0.9, "geometry"),))
    assert agreed(carton, [Opinion("book", 0.3, "onnx:a")]).label == "box"


def test_a_word_counts_as_far_as_shape_and_sides_allow_it():
    tall, flat = np.array([0.06, 0.06, 0.2]), np.array([0.2, 0.15, 0.02])
    kinds = load_classifier()
    assert kinds.allows("bottle", "cylinder", tall) == 1.0 and kinds.allows("bottle", "box", flat) < 0.01
    assert kinds.allows("bottle", "box", tall) == pytest.approx(0.3) and kinds.allows("widget", "box", flat) == 1.0
    item = replace(an_object(), shape="box", size=flat)
    (named,) = rename([item], [pixels(100, 100, 160, 160)], frame(), [Says(said("bottle", (100, 100, 160, 160)))], kinds)
    assert named.label == "object"


def test_a_container_may_be_called_what_is_open_at_the_top():
    assert agreed(an_object("bin", 0.3, container=True), [Opinion("bowl", 0.7, "onnx:a")]).label == "bowl"
    assert agreed(an_object("bin", 0.3, container=True), [Opinion("bottle", 0.7, "onnx:a")]).label == "bin"


def test_only_geometry_says_what_objects_are_put_into():
    assert agreed(an_object("bin", 0.5, container=True), [Opinion("box", 0.99, "onnx:a")]).label == "bin"
    assert agreed(an_object("box", 0.5), [Opinion("bin", 0.99, "onnx:a")]).label == "box"
    assert agreed(an_object("bin", 0.5, container=True), [Opinion("tray", 0.9, "vlm:a")]).label == "tray"


def test_a_detector_that_fails_leaves_the_labels_of_the_others_and_says_so(caplog):
    broken, works = Says(fails=DeskhandError("model_failed", "no answer")), Says(said("cup", (100, 100, 160, 160)), weight=0.5)
    (named,) = rename([an_object()], [pixels(100, 100, 160, 160)], frame(), [broken, works])
    assert named.label_source == "onnx:test" and "no answer" in caplog.text
    assert named.named == pytest.approx(agreed(an_object(), [Opinion("cup", 0.45, "onnx:test")]).named)  # the weight counts


def test_what_is_printed_on_an_object_is_a_name_beside_its_kind_and_never_its_label():
    box = replace(an_object("box", 0.6), names=(NameCandidate("box", 0.6, "geometry"), NameCandidate("block", 0.2, "geometry")))
    mask = np.zeros(SHAPE, bool)
    mask[100:160, 100:160] = True
    reads = Says(Detection("oat_flakes", 0.9, "ocr:test", (100, 100, 160, 160), mask, printed=True), weight=0.5)
    (named,) = rename([box], [pixels(100, 100, 160, 160)], frame(), [reads])
    assert (named.label, named.label_source) == ("box", "geometry")
    told = {name.name: name for name in named.names}
    assert told["oat_flakes"].probability == pytest.approx(0.45) and told["oat_flakes"].source == "ocr:test"
    assert sum(name.probability for name in named.names) <= 1 and told["box"].probability == pytest.approx(0.6 * 0.55)


def test_a_vision_language_model_is_shown_the_picture_and_its_boxes_are_read():
    answer = {
        "objects": [{"label": "Mug", "box": [100, 200, 200, 400], "sure": 0.8}, {"label": "pen", "box": [500, 500, 400, 600], "sure": 0.9}, {"label": "x"}]
    }
    model = ScriptedModel([Reply(f"Here it is:\n```json\n{json.dumps(answer)}\n```")])
    picture = frame(("red", 64, 96, 64))
    from deskhand.perception.detectors.base import Vocabulary

    (mug,) = VisionLanguageDetector("any", model, ("cup", "pen"), Vocabulary({"Mug": "cup"})).detect(picture)
    assert (mug.label, mug.source, mug.score) == ("cup", "vlm:any", 0.8) and mug.box == pytest.approx((64, 96, 128, 192))
    (message,) = model.conversations[0]
    shown = cv2.cvtColor(cv2.imdecode(np.frombuffer(message.images[0], np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
    assert np.array_equal(shown, picture.color) and "cup, pen" in message.content
    assert SCHEMA["properties"]["objects"]["items"]["required"] == ["label", "box", "sure"]


@pytest.mark.parametrize(
    ("profile", "box", "order"), [("gemini", [200, 100, 400, 200], "[top, left, bottom, right]"), ("openai-eyes", [100, 200, 200, 400], "[left, top")]
)
def test_boxes_are_asked_for_and_read_in_the_order_that_a_profile_was_trained_to(profile, box, order):
    boxes = load_profile(profile).boxes
    model = ScriptedModel([Reply(json.dumps({"objects": [{"label": "cup", "box": box, "sure": 0.8}]}))])
    (cup,) = VisionLanguageDetector("any", model, boxes=boxes).detect(frame(("red", 64, 96, 64)))
    assert cup.box == pytest.approx((64, 96, 128, 192)) and order in model.conversations[0][0].content


@pytest.mark.parametrize("text", ["I see a cup and a pen.", '{"things": []}', '{"objects": 3}', ""])
def test_a_reply_that_is_no_list_of_objects_is_an_error(text):
    with pytest.raises(DeskhandError, match="no list of objects") as error:
        VisionLanguageDetector("any", ScriptedModel([Reply(text)])).detect(frame())
    assert error.value.code == "model_failed" and error.value.retry


def write(folder, use, **detectors):
    file = folder / "detectors.yaml"
    file.write_text(yaml.safe_dump({"use": use, "detectors": detectors}))
    return file


def test_only_geometry_is_on_until_a_file_says_otherwise(tmp_path):
    assert load_detectors() == ()
    weights = str(small_models.ssd(tmp_path / "m.onnx"))
    entry = {"kind": "closed_set", "weights": weights, "kinds": {"Red thing": "block"}, "weight": 0.7}
    (detector,) = load_detectors(write(tmp_path, ["geometry", "mine"], mine=entry, unused={"kind": "nonsense"}))
    assert (detector.name, detector.weight) == ("onnx:mine", 0.7)
    assert detector.detect(frame(("red", 64, 96, 64)))[0].label == "block"


MISTAKES = [
    (["geometry", "mine"], {}, "uses mine"),
    (["mine"], {"mine": {"kind": "closed_set", "weights": "x"}}, "must use geometry"),
    (["geometry", "mine"], {"mine": {"kind": "magic"}}, "kind"),
    (["geometry", "mine"], {"mine": {"kind": "closed_set", "wieghts": "x"}}, "wieghts"),
    (["geometry", "mine"], {"mine": {"kind": "closed_set"}}, "no weights"),
    (["geometry", "mine"], {"mine": {"kind": "closed_set", "weights": "/nowhere/m.onnx"}}, "there is no"),
    (["geometry", "mine"], {"mine": {"kind": "closed_set", "weights": "x", "weight": 7}}, "weight"),
    (["geometry", "mine"], {"mine": {"kind": "open_vocabulary", "weights": "x", "prompts": {"a": ["b"]}}}, "either embeddings"),
    (["geometry", "mine"], {"mine": {"kind": "vision_language", "model": "nobody"}}, "no model profile"),
]


@pytest.mark.parametrize(("use", "detectors", "words"), MISTAKES)
def test_mistakes_in_the_file_are_clear_errors(tmp_path, use, detectors, words):
    with pytest.raises(DeskhandError, match=words) as error:
        load_detectors(write(tmp_path, use, **detectors))
    assert error.value.code == "config_error"


def test_a_file_that_is_no_list_of_detectors_is_told(tmp_path):
    (tmp_path / "x.yaml").write_text("[1, 2")
    with pytest.raises(DeskhandError, match="no list of detectors"):
        load_detectors(tmp_path / "x.yaml")
