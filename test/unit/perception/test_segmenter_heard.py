"""A segmenter in the pipeline: what it says joins and parts what shape would not, as far as it is trusted; wrong files are clear errors."""

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
import onnx
from cast import Box, cast
from onnx import TensorProto, helper, numpy_helper

from deskhand.errors import DeskhandError
from deskhand.perception.learned.affinities import OFFSETS, STRIDE
from deskhand.perception.learned.config import load_segmenter
from deskhand.perception.learned.inputs import PLANES
from deskhand.perception.learned.segmenter import Segmenter, metadata_of
from deskhand.perception.pipeline import Perception
from deskhand.types.resources import resource_path


def always(file, logit, metadata=None):
    """A network that says the same of every pair of pixels, and that everything is an object."""
    outputs = 1 + len(OFFSETS)
    weights = numpy_helper.from_array(np.zeros((outputs, len(PLANES), 1, 1), np.float32), "weights")
    bias = numpy_helper.from_array(np.array([5.0] + [logit] * len(OFFSETS), np.float32), "bias")
    node = helper.make_node("Conv", ["planes", "weights", "bias"], ["logits"], strides=[STRIDE, STRIDE])
    planes = helper.make_tensor_value_info("planes", TensorProto.FLOAT, [1, len(PLANES), "h", "w"])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, outputs, "r", "c"])
    model = helper.make_model(helper.make_graph([node], "g", [planes], [logits], [weights, bias]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for key, value in (metadata_of() if metadata is None else metadata).items():
        model.metadata_props.add(key=key, value=value)
    onnx.save(model, str(file))
    return file


def count(frame, segmenter):
    perception = Perception(detectors=(), segmenter=segmenter or "geometry")
    return len(perception.detect(frame).objects)


def test_a_segmenter_without_trust_changes_nothing_and_one_with_all_of_it_joins_what_touches(tmp_path):
    low, high = Box((-0.03, 0, 0), (0.06, 0.06, 0.03)), Box((0.03, 0, 0), (0.06, 0.06, 0.09))
    frame, _ = cast(low, high)
    file = always(tmp_path / "one.onnx", 8.0)
    assert count(frame, None) == count(frame, Segmenter(file, 0.0)) == 2
    from deskhand.perception.corrected import corrected
    from deskhand.perception.segment.settings import SegmentSettings
    from deskhand.perception.segment.shape import learned_parts, shape_parts
    from deskhand.perception.view import make_view

    settings = Perception(detectors=()).settings
    level, fit = corrected(frame, settings)
    view = make_view(level, fit, settings)
    parts = [len(np.unique(shape_parts(view, SegmentSettings(), Segmenter(file, trust).say(view)).labels)) - 1 for trust in (0.0, 1.0)]
    assert parts == [2, 1]
    assert len(np.unique(learned_parts(view, SegmentSettings(), Segmenter(file, 0.0).say(view)))) - 1 == 1
    assert count(frame, Segmenter(file, 0.0, 0.9)) == 1 and count(frame, Segmenter(always(tmp_path / "half.onnx", 1.0), 0.0, 0.9)) == 2
    apart = Segmenter(always(tmp_path / "apart.onnx", -8.0), 1.0)
    assert len(np.unique(learned_parts(view, SegmentSettings(), apart.say(view)))) - 1 > 2


def test_wrong_files_are_named(tmp_path):
    (tmp_path / "no.onnx").write_bytes(b"nothing of the kind")
    other = always(tmp_path / "other.onnx", 0.0, {**metadata_of(), "deskhand.segmenter.inputs": "0"})
    strange = always(tmp_path / "strange.onnx", 0.0, {})
    for file, words in ((tmp_path / "no.onnx", "no ONNX model"), (other, "inputs is '0', not '1'"), (strange, "no segmenter of this version")):
        with pytest.raises(DeskhandError, match=words) as error:
            Segmenter(file, 0.5).check()
        assert error.value.code == "config_error" and file.name in str(error.value)
    with pytest.raises(DeskhandError, match=r"no segmenter 'none.onnx'; valid: geometry, piles, or an ONNX file") as error:
        load_segmenter("none.onnx")
    assert error.value.code == "config_error"


def test_the_weights_that_come_with_it_fit_this_version_and_part_a_low_box_from_a_high_one():
    ours = load_segmenter("piles")
    ours.check()
    frame, _ = cast(Box((-0.03, 0, 0), (0.06, 0.06, 0.03)), Box((0.03, 0, 0), (0.06, 0.06, 0.09)))
    assert (ours.trust, ours.sure) == (0.3, 1.0) and count(frame, ours) == 2 == count(frame, load_segmenter("piles", trust=1.0))


def test_the_configuration_chooses_it(tmp_path, monkeypatch):
    from deskhand.perception.learned import config

    assert load_segmenter() is None is Perception(detectors=()).segmenter  # geometry, as it comes
    chosen = tmp_path / "segmenter.yaml"
    monkeypatch.setattr(config, "resource_path", lambda name: chosen if name == config.FILE else resource_path(name))
    chosen.write_text(f"use: {always(tmp_path / 'one.onnx', 0.0)}\ntrust: 0.3\n")
    segmenter = load_segmenter()
    assert segmenter is not None and segmenter.trust == 0.3
    assert load_segmenter("geometry") is None
    chosen.write_text("use: geometry\ntrust: 3\n")
    with pytest.raises(DeskhandError, match="trust") as error:
        load_segmenter()
    assert error.value.code == "config_error"
