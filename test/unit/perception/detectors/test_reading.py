"""The tool that reads text, with two small networks in the place of the real ones."""

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")
import small_models
import yaml

from deskhand.errors import DeskhandError
from deskhand.etp.resources import ResourceStore
from deskhand.etp.tool import ToolContext
from deskhand.perception.detectors.config import SHIPPED
from deskhand.tools.perception.reading import read_text
from deskhand.types.resources import resource_path

PURE = {"a": (255, 0, 0), "b": (0, 255, 0), "c": (0, 0, 255)}


@pytest.fixture
def ctx():
    return ToolContext(robot=None, belief=None, resources=ResourceStore())


def written(*words):
    """A grey picture with words in blocks of colour, one below the other."""
    picture = np.full((480, 640, 3), 128, np.uint8)
    for row, word in enumerate(words):
        for number, sign in enumerate(word):
            picture[60 + 90 * row : 84 + 90 * row, 200 + 24 * number : 224 + 24 * number] = PURE[sign]
    return picture


def test_lines_of_a_stored_picture_are_read_from_the_top_down(ctx, tmp_path, monkeypatch):
    finder, reader = small_models.text_networks(tmp_path)
    file = tmp_path / "detectors.yaml"
    entry = {"kind": "printed_text", "weights": str(finder), "reader": str(reader)}
    file.write_text(yaml.safe_dump({"use": ["geometry", "small"], "detectors": {"small": entry}}))
    monkeypatch.setenv("DESKHAND_DETECTORS", str(file))
    uri = ctx.resources.put(written("cab", "bca", "ab"))["uri"]
    told = read_text(ctx, picture_uri=uri)
    assert [line["text"] for line in told["lines"]] == ["cab", "bca", "ab"]
    assert all(line["position"] is None and line["object_id"] == "" for line in told["lines"])
    assert np.abs(np.mean(told["lines"][1]["corners"], axis=0) - [236, 162]).max() < 3
    sure = read_text(ctx, picture_uri=uri, min_score=0.999)["lines"]
    assert [line["text"] for line in sure] == [line["text"] for line in told["lines"] if line["score"] >= 0.999]


def test_without_a_network_it_is_said_how_to_get_one(ctx, monkeypatch):
    monkeypatch.setenv("DESKHAND_DETECTORS", str(resource_path(SHIPPED)))
    with pytest.raises(DeskhandError, match="no network that reads text") as raised:
        read_text(ctx, picture_uri=ctx.resources.put(written("a"))["uri"])
    assert raised.value.code == "missing_dependency"
    assert "pip download --no-deps rapidocr" in raised.value.hint and "detectors import" in raised.value.hint


def test_an_object_or_a_picture_not_both(ctx):
    with pytest.raises(DeskhandError, match="not both"):
        read_text(ctx, "box_1", "deskhand://a")
