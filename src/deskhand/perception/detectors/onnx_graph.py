"""An ONNX graph that grows node by node, as the readers of other formats fill it. The package onnx is imported when a graph is begun."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.errors import DeskhandError

OPSET = 13
IR_VERSION = 8


class OnnxGraph:
    """Nodes and constants; an output of one node is the input of others by its name.

    Raises:
        DeskhandError: ``missing_dependency`` without the package onnx.
    """

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError as error:
            raise DeskhandError("missing_dependency", "the package 'onnx' is not installed.", hint="pip install onnx") from error
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, value: Any, kind: Any = np.float32) -> str:
        """The name of a new constant of the NumPy type ``kind``."""
        name = f"c{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.array(value, kind, order="C"), name))
        return name

    def node(self, kind: str, inputs: Sequence[str], outputs: str | Sequence[str], **attributes: Any) -> None:
        """An operation of ONNX."""
        named = [outputs] if isinstance(outputs, str) else list(outputs)
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), named, **attributes))

    def save(self, file: Path, name: str, inputs: Mapping[str, Sequence[int]], outputs: Mapping[str, Sequence[int]], metadata: Mapping[str, str]) -> None:
        """Check the model and write it; ``inputs`` and ``outputs``: shapes of float32 by name."""
        helper, kind = self._onnx.helper, self._onnx.TensorProto.FLOAT
        ends = [[helper.make_tensor_value_info(key, kind, list(shape)) for key, shape in some.items()] for some in (inputs, outputs)]
        graph = helper.make_graph(self._nodes, name, *ends, self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        helper.set_model_props(model, dict(metadata))
        self._onnx.checker.check_model(model)
        file.parent.mkdir(parents=True, exist_ok=True)
        self._onnx.save(model, str(file))
