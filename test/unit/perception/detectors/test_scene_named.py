"""Detectors in a look at a simulated desk: their words arrive at the right objects, with their source."""

import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("mujoco")
import numpy as np
from looked_at import an_object, found_at, look

from deskhand.perception.detectors.base import Detection
from deskhand.perception.pipeline import Perception

WORLD = (
    an_object("block", "red", (0.036,) * 3, 0.0, 0.0, name="red"),
    an_object("block", "blue", (0.036,) * 3, 0.08, 0.12, name="blue"),
    an_object("bin", "black", (0.18, 0.15, 0.1), 0.05, -0.25),
)


class Redness:
    """Finds red pixels in the picture and calls them a toy."""

    name, weight = "onnx:redness", 0.95

    def detect(self, frame, objects=()):
        r, g, b = (frame.color[..., k].astype(int) for k in range(3))
        mask = r - np.maximum(g, b) > 60
        v, u = np.nonzero(mask)
        return [Detection("toy", 1.0, self.name, (u.min(), v.min(), u.max() + 1, v.max() + 1), mask)]


@pytest.fixture(scope="module")
def seen():
    return look(*WORLD)


def test_a_word_lands_on_the_object_that_its_mask_covers(seen):
    perception = Perception(detectors=(Redness(),))
    scene = seen.detect(perception)
    red, blue = found_at(scene, seen.truth("red")), found_at(scene, seen.truth("blue"))
    assert (red.label, red.label_source, red.id) == ("toy", "onnx:redness", "toy_1")
    assert (blue.label, blue.label_source) == ("block", "geometry")
    assert next(item for item in scene.objects if item.is_container).label == "bin"
    assert {item.id: item.label_source for item in seen.detect(perception).objects}[red.id] == "onnx:redness"
