"""A frozen network in the graph-model format of TensorFlow.js (``model.json`` and its weights) as ONNX nodes.

Operations and their attributes are those of TensorFlow (``tensorflow/core/ops``); pictures are (N, H, W, C) there and (N, C, H, W) in ONNX, so that
convolutions, pooling and resizing have a transpose before and after, which ONNX Runtime takes out again.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.perception.detectors.onnx_graph import OnnxGraph

TO_CHANNELS_FIRST, TO_CHANNELS_LAST = (0, 3, 1, 2), (0, 2, 3, 1)
_TYPES = {"float32": np.float32, "float16": np.float16, "int32": np.int32, "uint8": np.uint8, "uint16": np.uint16, "bool": np.bool_}


class TfjsGraph:
    """The nodes of ``model`` in ``graph``; each value has the name that TensorFlow gives it, a second output of a node ``name:1``."""

    def __init__(self, graph: OnnxGraph, model: Mapping[str, Any], weights: bytes) -> None:
        self._graph = graph
        self._values = read_weights(model["weightsManifest"], weights)
        self._nodes: dict[str, Mapping[str, Any]] = {node["name"]: node for node in model["modelTopology"]["node"]}
        self._done: set[str] = set()
        self._folds: Mapping[str, Callable[..., Array]] = {"SparseToDense": _dense, "AddV2": np.add, "Add": np.add, "Identity": np.array}

    def build(self, outputs: Sequence[str]) -> None:
        """All operations that ``outputs`` need, in an order in which they can run.

        Raises:
            DeskhandError: ``config_error`` naming an operation that is not known here, or a node that is missing.
        """
        waiting = [name.split(":")[0] for name in outputs]
        while waiting:
            name = waiting[-1]
            node = self._nodes.get(name)
            if node is None:
                raise DeskhandError("config_error", f"the network has no node {name!r}.")
            needed = [source for source in _sources(node) if source not in self._done]
            if needed and name not in self._done:
                waiting += needed
                continue
            waiting.pop()
            if name not in self._done:
                self._done.add(name)
                self._make(node)

    def _make(self, node: Mapping[str, Any]) -> None:
        name, kind, inputs = str(node["name"]), str(node["op"]), [_plain(text) for text in node.get("input", ())]
        if kind in ("Placeholder", "Const"):
            return
        if kind in self._folds and all(source in self._values for source in inputs):
            self._values[name] = self._folds[kind](*(self._values[source] for source in inputs))
            return
        make = getattr(self, f"_{kind.lower()}", None)
        if make is None:
            raise DeskhandError("config_error", f"the network has the operation {kind}, which is not known here.")
        make(name, inputs, node.get("attr", {}))

    def _given(self, source: str) -> str:
        """The name of an input in the graph, where it may be a constant."""
        return self._graph.constant(self._values[source]) if source in self._values else source

    def _numbers(self, source: str) -> list[int]:
        return [int(value) for value in self._values[source].reshape(-1)]

    # ------------------------------------------------------------ operations

    def _add(self, name: str, inputs: list[str], _: Any) -> None:
        self._graph.node("Add", [self._given(source) for source in inputs], name)

    _addv2 = _biasadd = _add

    def _identity(self, name: str, inputs: list[str], _: Any) -> None:
        self._graph.node("Identity", [self._given(inputs[0])], name)

    def _sigmoid(self, name: str, inputs: list[str], _: Any) -> None:
        self._graph.node("Sigmoid", inputs, name)

    def _leakyrelu(self, name: str, inputs: list[str], attr: Mapping[str, Any]) -> None:
        self._graph.node("LeakyRelu", inputs, name, alpha=float(attr.get("alpha", {}).get("f", 0.2)))

    def _transpose(self, name: str, inputs: list[str], _: Any) -> None:
        self._graph.node("Transpose", inputs[:1], name, perm=self._numbers(inputs[1]))

    def _reshape(self, name: str, inputs: list[str], _: Any) -> None:
        self._graph.node("Reshape", [inputs[0], self._graph.constant(self._numbers(inputs[1]), np.int64)], name)

    def _concatv2(self, name: str, inputs: list[str], _: Any) -> None:
        self._graph.node("Concat", [self._given(source) for source in inputs[:-1]], name, axis=self._numbers(inputs[-1])[0])

    def _splitv(self, name: str, inputs: list[str], _: Any) -> None:
        sizes = self._numbers(inputs[1])
        outputs = [name, *(f"{name}:{number}" for number in range(1, len(sizes)))]
        self._graph.node("Split", [inputs[0], self._graph.constant(sizes, np.int64)], outputs, axis=self._numbers(inputs[2])[0])

    def _pad(self, name: str, inputs: list[str], _: Any) -> None:
        pads = self._values[inputs[1]].reshape(-1, 2).T.reshape(-1)
        filled = float(self._values[inputs[2]].reshape(-1)[0]) if len(inputs) > 2 else 0.0
        self._graph.node("Pad", [inputs[0], self._graph.constant(pads, np.int64), self._graph.constant(filled)], name)

    _padv2 = _pad

    def _conv2d(self, name: str, inputs: list[str], attr: Mapping[str, Any]) -> None:
        kernel = self._graph.constant(self._values[inputs[1]].transpose(3, 2, 0, 1))
        about = {"strides": _spatial(attr["strides"]), "dilations": _spatial(attr["dilations"])}
        self._pictured("Conv", name, [inputs[0], kernel], attr, **about)

    def _maxpool(self, name: str, inputs: list[str], attr: Mapping[str, Any]) -> None:
        self._pictured("MaxPool", name, inputs, attr, strides=_spatial(attr["strides"]), kernel_shape=_spatial(attr["ksize"]))

    def _pictured(self, kind: str, name: str, inputs: list[str], attr: Mapping[str, Any], **about: Any) -> None:
        """An operation on pictures (N, H, W, C)."""
        if base64.b64decode(attr["data_format"]["s"]) != b"NHWC":
            raise DeskhandError("config_error", f"{name} of the network takes pictures in another order than NHWC.")
        padding = "SAME_UPPER" if base64.b64decode(attr["padding"]["s"]) == b"SAME" else "VALID"
        self._graph.node("Transpose", inputs[:1], f"{name}/in", perm=TO_CHANNELS_FIRST)
        self._graph.node(kind, [f"{name}/in", *inputs[1:]], f"{name}/out", auto_pad=padding, **about)
        self._graph.node("Transpose", [f"{name}/out"], name, perm=TO_CHANNELS_LAST)

    def _resizebilinear(self, name: str, inputs: list[str], attr: Mapping[str, Any]) -> None:
        if not attr.get("half_pixel_centers", {}).get("b"):
            raise DeskhandError("config_error", f"{name} of the network resizes without half pixel centres, which is not known here.")
        height, width = self._numbers(inputs[1])
        graph = self._graph
        graph.node("Transpose", inputs[:1], f"{name}/in", perm=TO_CHANNELS_FIRST)
        graph.node("Shape", [f"{name}/in"], f"{name}/shape")
        graph.node("Slice", [f"{name}/shape", graph.constant([0], np.int64), graph.constant([2], np.int64)], f"{name}/channels")
        graph.node("Concat", [f"{name}/channels", graph.constant([height, width], np.int64)], f"{name}/size", axis=0)
        graph.node("Resize", [f"{name}/in", "", "", f"{name}/size"], f"{name}/out", mode="linear", coordinate_transformation_mode="half_pixel")
        graph.node("Transpose", [f"{name}/out"], name, perm=TO_CHANNELS_LAST)


def read_weights(manifest: Sequence[Mapping[str, Any]], data: bytes) -> dict[str, Array]:
    """Every weight by name, from the files of the manifest one after another.

    Raises:
        DeskhandError: ``config_error`` when there are more or fewer bytes than the manifest says.
    """
    values: dict[str, Array] = {}
    start = 0
    for group in manifest:
        for entry in group["weights"]:
            packed = entry.get("quantization", {})
            stored = _TYPES[packed.get("dtype", entry["dtype"])]
            end = start + int(np.prod(entry["shape"])) * np.dtype(stored).itemsize
            if end > len(data):
                raise DeskhandError("config_error", f"the weights end before {entry['name']}.")
            value: Array = np.frombuffer(data[start:end], stored).reshape(entry["shape"])
            if "scale" in packed:
                value = value * packed["scale"] + packed["min"]
            values[entry["name"]] = value.astype(_TYPES[entry["dtype"]])
            start = end
    if start != len(data):
        raise DeskhandError("config_error", f"the weights are {len(data)} bytes, but the network says {start}.")
    return values


def _sources(node: Mapping[str, Any]) -> list[str]:
    return [_plain(text).split(":")[0] for text in node.get("input", ())]


def _plain(source: str) -> str:
    """The name of an input: ``name`` for the first output of a node."""
    return source[:-2] if source.endswith(":0") else source.lstrip("^")


def _spatial(attribute: Mapping[str, Any]) -> list[int]:
    """Of four numbers (N, H, W, C) those of height and width."""
    return [int(value) for value in attribute["list"]["i"]][1:3]


def _dense(indices: Array, shape: Array, values: Array, default: Array) -> Array:
    """TensorFlow's SparseToDense."""
    dense = np.full([int(value) for value in shape.reshape(-1)], default.reshape(-1)[0] if default.size else 0)
    if indices.size:
        dense[tuple(np.asarray(indices).reshape(len(indices), -1).T)] = values
    return dense
