"""Small real detectors as ONNX files, made by the tests: they find colours, cell by cell, and pictures to look at."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from deskhand.types import CameraIntrinsics, Frame

CELL = 32
COLORS = {"red": (220, 30, 30), "green": (30, 170, 50), "blue": (30, 60, 210)}
GAIN = 12.0


def frame(*squares, width=640, height=480):
    """A grey picture with squares (colour name, left, top, side) [px]."""
    color = np.full((height, width, 3), 128, np.uint8)
    for name, left, top, side in squares:
        color[top : top + side, left : left + side] = COLORS[name]
    k = CameraIntrinsics(width, height, 500.0, 500.0, width / 2, height / 2)
    return Frame(color, np.full((height, width), 0.8, np.float32), k, np.eye(4), 0.0)


def grid(side):
    """Corners (N, 4) of the cells of a square picture [px]."""
    cells = side // CELL
    y, x = np.mgrid[0:cells, 0:cells].reshape(2, -1) * CELL
    return np.stack([x, y, x + CELL, y + CELL], axis=1).astype(np.float32)


def _features(nodes, constants):
    """Cells' mean colour, each part less the mean of the others: (1, N, 3)."""
    kernel = (1.5 * np.eye(3) - 0.5).astype(np.float32).reshape(3, 3, 1, 1)
    constants += [numpy_helper.from_array(kernel, "kernel"), numpy_helper.from_array(np.array([1, 3, -1], np.int64), "flat")]
    nodes += [
        helper.make_node("AveragePool", ["images"], ["pooled"], kernel_shape=[CELL, CELL], strides=[CELL, CELL]),
        helper.make_node("Conv", ["pooled", "kernel"], ["purity"]),
        helper.make_node("Reshape", ["purity", "flat"], ["columns"]),
        helper.make_node("Transpose", ["columns"], ["features"], perm=[0, 2, 1]),
    ]


def _scores(nodes, constants, source):
    """Features of a colour's own purity become scores near 1, those of grey near 0."""
    constants += [numpy_helper.from_array(np.array(GAIN, np.float32), "gain"), numpy_helper.from_array(np.array(0.35, np.float32), "threshold")]
    nodes += [
        helper.make_node("Sub", [source, "threshold"], ["above"]),
        helper.make_node("Mul", ["above", "gain"], ["logits"]),
        helper.make_node("Sigmoid", ["logits"], ["scores"]),
    ]


def _save(file, nodes, constants, inputs, outputs, metadata=None):
    graph = helper.make_graph(
        nodes,
        "colours",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, f"{name}_rows", f"{name}_columns"]) for name in outputs],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, metadata or {})
    onnx.checker.check_model(model)
    onnx.save(model, str(file))
    return file


def ssd(file, side=320):
    """Three labels, boxes as shares; it says itself what it is."""
    nodes, constants = [], [numpy_helper.from_array(grid(side)[None] / side, "cells")]
    _features(nodes, constants)
    _scores(nodes, constants, "features")
    nodes.append(helper.make_node("Identity", ["cells"], ["boxes"]))
    metadata = {"format": "ssd", "labels": '["Red thing", "Green thing", "Blue thing"]'}
    return _save(file, nodes, constants, [("images", [1, 3, side, side])], ["boxes", "scores"], metadata)


def yolo(file, side=320):
    """The same in one output (1, 4 + 3, N), with the labels as YOLO's exporters write them."""
    boxes = grid(side)
    centred = np.hstack([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]])
    nodes, constants = [], [numpy_helper.from_array(centred[None], "cells")]
    _features(nodes, constants)
    _scores(nodes, constants, "features")
    nodes += [helper.make_node("Concat", ["cells", "scores"], ["rows"], axis=2), helper.make_node("Transpose", ["rows"], ["output"], perm=[0, 2, 1])]
    return _save(file, nodes, constants, [("images", [1, 3, side, side])], ["output"], {"names": "{0: 'red', 1: 'green', 2: 'blue'}"})


def open_vocabulary(file, side=320):
    """Scores are features times text vectors (1, N, 3)."""
    nodes, constants = [], [numpy_helper.from_array(grid(side)[None], "cells")]
    _features(nodes, constants)
    nodes += [
        helper.make_node("Transpose", ["texts"], ["words"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["features", "words"], ["likeness"]),
        helper.make_node("Identity", ["cells"], ["boxes"]),
    ]
    _scores(nodes, constants, "likeness")
    return _save(file, nodes, constants, [("images", [1, 3, side, side]), ("texts", [1, "n", 3])], ["scores", "boxes"])


def text_encoder(folder):
    """(encoder, tokenizer.json): words to colours, the mean over the words of a prompt that are colours."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({"[PAD]": 0, "a": 1, "red": 2, "green": 3, "blue": 4, "thing": 5}, unk_token="[PAD]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    table = np.zeros((6, 3), np.float32)
    table[2:5] = np.eye(3)
    constants = [numpy_helper.from_array(table, "table")]
    nodes = [helper.make_node("Gather", ["table", "tokens"], ["vectors"]), helper.make_node("ReduceMean", ["vectors"], ["embedding"], axes=[1], keepdims=0)]
    graph = helper.make_graph(
        nodes,
        "words",
        [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["n", 77])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["n", 3])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(folder / "text.onnx"))
    return folder / "text.onnx", folder / "tokenizer.json"


def text_networks(folder):
    """(finder, reader): blocks of pure colour are text; in a strip, red reads as a, green as b, blue as c, grey as nothing; one column is 8 px."""
    picture = ("x", [1, 3, "h", "w"])
    kernel = numpy_helper.from_array((1.5 * np.eye(3)[::-1] - 0.5).astype(np.float32).reshape(3, 3, 1, 1), "kernel")  # from BGR to R, G, B less the others
    gain = [numpy_helper.from_array(np.array(value, np.float32), name) for name, value in (("gain", 20.0), ("threshold", 0.5))]
    nodes = [
        helper.make_node("Conv", ["x", "kernel"], ["purity"]),
        helper.make_node("ReduceMax", ["purity"], ["pure"], axes=[1], keepdims=1),
        helper.make_node("Sub", ["pure", "threshold"], ["above"]),
        helper.make_node("Mul", ["above", "gain"], ["logits"]),
        helper.make_node("Sigmoid", ["logits"], ["map"]),
    ]
    finder = _network(folder / "small_det.onnx", nodes, [kernel, *gain], picture, ("map", [1, 1, "h", "w"]), {})
    nodes = [
        helper.make_node("AveragePool", ["x"], ["pooled"], kernel_shape=[48, 8], strides=[48, 8]),
        helper.make_node("Conv", ["pooled", "kernel"], ["purity"]),
        helper.make_node("Pad", ["purity", "pads", "threshold"], ["with_nothing"]),
        helper.make_node("Mul", ["with_nothing", "gain"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["shares"], axis=1),
        helper.make_node("Squeeze", ["shares", "row"], ["flat"]),
        helper.make_node("Transpose", ["flat"], ["chances"], perm=[0, 2, 1]),
    ]
    pads, row = np.array([0, 1, 0, 0, 0, 1, 0, 0], np.int64), np.array([2], np.int64)
    constants = [kernel, *gain, numpy_helper.from_array(pads, "pads"), numpy_helper.from_array(row, "row")]
    reader = _network(folder / "small_rec.onnx", nodes, constants, ("x", [1, 3, 48, "w"]), ("chances", [1, "columns", 5]), {"character": "a\nb\nc"})
    return finder, reader


def _network(file, nodes, constants, taken, given, metadata):
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)] for name, shape in (taken, given)]
    model = helper.make_model(helper.make_graph(nodes, "text", *ends, constants), opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, metadata)
    onnx.checker.check_model(model)
    onnx.save(model, str(file))
    return file
