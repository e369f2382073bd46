"""Makes an ONNX detector of the SSD MobileNetV2 (23 kinds of objects, Apache-2.0) that the npm package @mediapipe/objectron carries.

The user downloads the package (``npm pack @mediapipe/objectron``); here its weights are read, nothing is fetched. The network has six kinds of
operations; boxes are decoded with the anchors of MediaPipe's graph ``object_detection_oid_v4`` (SSD: Liu et al. 2016).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.perception.detectors.onnx_graph import OnnxGraph
from deskhand.perception.detectors.packages import OBJECTRON, opened

SIDE = 300  # [px] of the input
STRIDES = (16, 32, 64, 128, 256, 512)
SCALES = (0.2, 0.95)
RATIOS = (1.0, 2.0, 0.5, 3.0, 1 / 3)
CODE = (10.0, 10.0, 5.0, 5.0)  # by which box codes (y, x, h, w) are divided
_DATA, _LOADER = "objectron_solution_packed_assets.data", "objectron_solution_packed_assets_loader.js"
_RELU6 = 3  # of tflite.ActivationFunctionType


def convert(package: Path, target: Path) -> list[str]:
    """Write the ONNX file ``target`` from the npm package (``.tgz``, or the folder it was unpacked to); returns its labels.

    Raises:
        DeskhandError: ``config_error`` when the package is not the one, ``missing_dependency`` without the packages ``onnx`` and ``tflite``.
    """
    onnx = OnnxGraph()
    try:
        import tflite
    except ImportError as error:
        raise DeskhandError("missing_dependency", "the package 'tflite' is not installed.", hint="pip install tflite") from error
    labels, network = _assets(package)
    graph = _Graph(tflite, tflite.Model.GetRootAsModel(network, 0), onnx)
    graph.build()
    boxes = anchors()
    graph.decode(boxes, len(labels))
    labels = labels[1:]  # the first stands for nothing
    metadata = {"format": "ssd", "labels": json.dumps(labels), "source": f"{OBJECTRON.package}; {OBJECTRON.licence}"}
    outputs = {"boxes": (1, len(boxes), 4), "scores": (1, len(boxes), len(labels))}
    onnx.save(target, "objectron_ssd", {"picture": (1, 3, SIDE, SIDE)}, outputs, metadata)
    return labels


def anchors() -> Array:
    """Centres and sides (N, 4) of the anchors (y, x, h, w), as shares of the picture: 3 a cell on the finest grid, 6 on the others."""
    rows: list[Array] = []
    for layer, stride in enumerate(STRIDES):
        cells = -(-SIDE // stride)
        scale, after = (SCALES[0] + (SCALES[1] - SCALES[0]) * k / (len(STRIDES) - 1) for k in (layer, layer + 1))
        after = 1.0 if layer == len(STRIDES) - 1 else after
        sides = [(0.1, 0.1), *((scale / r**0.5, scale * r**0.5) for r in (2.0, 0.5))] if layer == 0 else [(scale / r**0.5, scale * r**0.5) for r in RATIOS]
        sides += [] if layer == 0 else [((scale * after) ** 0.5,) * 2]
        y, x = np.mgrid[0:cells, 0:cells]
        centres = np.stack([y, x], axis=-1).reshape(-1, 1, 2)
        grid = np.broadcast_to((centres + 0.5) / cells, (cells * cells, len(sides), 2))
        rows.append(np.concatenate([grid, np.broadcast_to(np.array(sides), grid.shape)], axis=-1).reshape(-1, 4))
    return np.concatenate(rows)


def _assets(package: Path) -> tuple[list[str], bytes]:
    """Labels and network out of the package."""
    try:
        with opened(package) as content:
            loader, data = content.read(_LOADER).decode(), content.read(_DATA)
        listed = re.search(r'\{"files":.*?\]', loader)
        files = json.loads(listed[0] + "}")["files"] if listed else []
        parts = {Path(item["filename"]).name: data[item["start"] : item["end"]] for item in files}
        labels = parts["object_detection_oidv4_labelmap.txt"].decode().split("\n")
        return [label for label in labels if label], parts["object_detection_ssd_mobilenetv2_oidv4_fp16.tflite"]
    except (KeyError, ValueError) as error:
        raise DeskhandError("config_error", f"{package} is not the {OBJECTRON.package}: {type(error).__name__}: {error}.", hint=OBJECTRON.get) from error


class _Graph:
    """A TFLite network as ONNX nodes; pictures are (1, channels, rows, columns) inside."""

    def __init__(self, tflite: Any, model: Any, onnx: OnnxGraph) -> None:
        self._tflite, self._model, self._graph = tflite, model, model.Subgraphs(0)
        self._values: dict[int, Array] = {}
        self._node, self._constant = onnx.node, onnx.constant

    def build(self) -> None:
        """All operations, in their order, on a picture 0..1."""
        self._node("Mul", ["picture", self._constant(2.0)], "doubled")
        self._node("Sub", ["doubled", self._constant(1.0)], f"t{int(self._graph.Inputs(0))}")
        kinds = {number: name for name, number in vars(self._tflite.BuiltinOperator).items() if isinstance(number, int)}
        for index in range(self._graph.OperatorsLength()):
            operator = self._graph.Operators(index)
            code = self._model.OperatorCodes(operator.OpcodeIndex())
            kind = kinds[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]
            make = getattr(self, f"_{kind.lower()}", None)
            if make is None:
                raise DeskhandError("config_error", f"the network has the operation {kind}, which is not known here.")
            make(operator, list(map(int, operator.InputsAsNumpy())), int(operator.Outputs(0)))

    def decode(self, boxes: Array, classes: int) -> None:
        """Codes and scores to boxes (left, top, right, bottom) and probabilities, without the class of nothing."""
        codes, scores = (f"t{int(self._graph.Outputs(k))}" for k in (0, 1))
        centre, extent = boxes[:, :2].astype(np.float32), boxes[:, 2:].astype(np.float32)
        c = self._constant
        self._node("Slice", [codes, c([0], np.int64), c([2], np.int64), c([2], np.int64)], "code_centre")
        self._node("Slice", [codes, c([2], np.int64), c([4], np.int64), c([2], np.int64)], "code_extent")
        self._node("Mul", ["code_centre", c(extent / np.array(CODE[:2], np.float32))], "shift")
        self._node("Add", ["shift", c(centre)], "centre")
        self._node("Mul", ["code_extent", c(1 / np.array(CODE[2:], np.float32))], "log_extent")
        self._node("Exp", ["log_extent"], "growth")
        self._node("Mul", ["growth", c(extent / 2)], "half")
        self._node("Sub", ["centre", "half"], "low")
        self._node("Add", ["centre", "half"], "high")
        self._node("Concat", ["low", "high"], "top_left", axis=2)
        self._node("Gather", ["top_left", c([1, 0, 3, 2], np.int64)], "boxes", axis=2)
        self._node("Slice", [scores, c([1], np.int64), c([classes], np.int64), c([2], np.int64)], "logits")
        self._node("Sigmoid", ["logits"], "scores")

    # ------------------------------------------------------------ operations

    def _dequantize(self, _: Any, inputs: list[int], output: int) -> None:
        self._values[output] = self._weights(inputs[0]).astype(np.float32)

    def _conv_2d(self, operator: Any, inputs: list[int], output: int) -> None:
        options = self._options(operator, self._tflite.Conv2DOptions())
        kernel = self._weights(inputs[1]).transpose(0, 3, 1, 2)
        self._convolve(options, inputs, output, kernel, 1)

    def _depthwise_conv_2d(self, operator: Any, inputs: list[int], output: int) -> None:
        options = self._options(operator, self._tflite.DepthwiseConv2DOptions())
        kernel = self._weights(inputs[1]).transpose(3, 0, 1, 2)
        self._convolve(options, inputs, output, kernel, len(kernel))

    def _convolve(self, options: Any, inputs: list[int], output: int, kernel: Array, groups: int) -> None:
        names = [f"t{inputs[0]}", self._constant(kernel), self._constant(self._weights(inputs[2]))]
        padding = "SAME_UPPER" if options.Padding() == self._tflite.Padding.SAME else "VALID"
        raw = f"t{output}" if options.FusedActivationFunction() != _RELU6 else f"raw{output}"
        self._node("Conv", names, raw, auto_pad=padding, strides=[options.StrideH(), options.StrideW()], group=groups)
        if options.FusedActivationFunction() == _RELU6:
            self._node("Clip", [raw, self._constant(0.0), self._constant(6.0)], f"t{output}")

    def _add(self, _: Any, inputs: list[int], output: int) -> None:
        self._node("Add", [f"t{number}" for number in inputs], f"t{output}")

    def _reshape(self, _: Any, inputs: list[int], output: int) -> None:
        source = f"t{inputs[0]}"
        if len(self._graph.Tensors(inputs[0]).ShapeAsNumpy()) == 4:
            self._node("Transpose", [source], f"rows{output}", perm=[0, 2, 3, 1])
            source = f"rows{output}"
        shape = self._graph.Tensors(output).ShapeAsNumpy()
        self._node("Reshape", [source, self._constant(shape, np.int64)], f"t{output}")

    def _concatenation(self, _: Any, inputs: list[int], output: int) -> None:
        self._node("Concat", [f"t{number}" for number in inputs], f"t{output}", axis=1)

    # ------------------------------------------------------------ pieces

    def _options(self, operator: Any, options: Any) -> Any:
        table = operator.BuiltinOptions()
        options.Init(table.Bytes, table.Pos)
        return options

    def _weights(self, number: int) -> Array:
        if number in self._values:
            return self._values[number]
        tensor = self._graph.Tensors(number)
        data = self._model.Buffers(tensor.Buffer()).DataAsNumpy()
        kind = {self._tflite.TensorType.FLOAT16: np.float16, self._tflite.TensorType.FLOAT32: np.float32}[tensor.Type()]
        return np.asarray(np.frombuffer(data.tobytes(), kind).reshape(tensor.ShapeAsNumpy()))
