"""How likely an object is one whole one: what is looked at, what was fitted, and that probabilities hold."""

import numpy as np
import pytest
from cast import Box, cast

from deskhand.bench.foreign.confide import Options, held_out, written
from deskhand.bench.foreign.weigh import fitted
from deskhand.bench.perception.reliability import wholes
from deskhand.errors import DeskhandError
from deskhand.perception import wholeness
from deskhand.perception.fusion import _confidence
from deskhand.perception.pipeline import Perception
from deskhand.perception.wholeness import FEATURES, WholeModel, load_whole_model, whole_model
from deskhand.types import SceneObject


def feature(perception, name):
    return perception.features[:, FEATURES.index(name)]


def test_an_object_is_whole_when_all_of_it_and_nothing_else_is_told():
    owners = np.repeat([0, 1, -1], 400)
    others = np.zeros(1200, bool)
    others[1000:] = True
    first, second = np.arange(0, 390), np.arange(400, 800)
    assert wholes(owners, [first, second], others) == [True, True]
    assert wholes(owners, [first, np.arange(400, 650), np.arange(650, 800)], others) == [True, False, False]
    assert wholes(owners, [np.arange(0, 800)], others) == [False]
    assert wholes(owners, [np.arange(0, 280)], others) == [False], "too little of it"
    assert wholes(owners, [np.arange(850, 950), np.arange(1010, 1100)], others) == [False, None]
    assert wholes(np.full(10, -1), [np.arange(3)], np.zeros(10, bool)) == [False]


def test_what_a_look_tells_of_each_object():
    alone, _ = cast(Box((0.0, 0.0, 0.0), (0.06, 0.06, 0.04), 0.4))
    stacked, _ = cast(Box((0.0, 0.0, 0.0), (0.06, 0.06, 0.04), 0.4), Box((0.004, 0.002, 0.04), (0.035, 0.035, 0.03), 0.9, (40, 60, 190)))
    one, two = Perception(detectors=()), Perception(detectors=())
    (single,) = one.detect(alone).objects
    below, above = sorted(two.detect(stacked).objects, key=lambda item: item.position[2])
    assert one.features.shape == (1, len(FEATURES)) and two.features.shape == (2, len(FEATURES))
    assert feature(one, "touch")[0] == 0 and (feature(two, "touch") > 0.05).all()
    assert feature(one, "neighbours")[0] == 0 and (feature(two, "neighbours") == 1).all()
    assert sorted(feature(two, "above")) == [0, 1] and feature(one, "fill")[0] > 0.9
    assert {single.confidence} == set(whole_model().probability(one.features))
    assert 0 < min(below.confidence, above.confidence) <= 0.99


def test_a_plain_box_that_stands_alone_is_surer_than_what_hardly_shows():
    typical = dict.fromkeys(FEATURES, 0.0) | {"pixels": 3.3, "error": 0.9, "fill": 0.97, "short": -1.4, "long": -1.1}
    scrap = typical | {"pixels": 1.9, "error": 4.0, "cut": 0.6, "touch": 0.5, "alike": 0.5, "neighbours": 2.0, "fill": 0.6, "short": -2.0, "loose": 0.2}
    sure, doubtful = whole_model().probability(np.array([[row[name] for name in FEATURES] for row in (typical, scrap)]))
    assert sure > 0.85 and doubtful < 0.6


def test_probabilities_hold_for_looks_that_were_left_out_of_the_fit():
    random = np.random.default_rng(3)
    rows = random.normal(size=(600, len(FEATURES)))
    truth = WholeModel(np.linspace(-1.0, 1.0, len(FEATURES)), 1.0)
    right = random.random(600) < truth.probability(rows)
    looks = [f"look {number // 3}" for number in range(600)]
    held = held_out(rows, right, looks, Options())
    assert held["count"] == 600 and held["ece"] < 0.08
    assert held == held_out(rows, right, looks, Options()), "the same seed gives the same"


def test_a_model_is_read_as_it_was_written(tmp_path):
    random = np.random.default_rng(4)
    rows = random.normal(size=(80, len(FEATURES)))
    right = rows[:, 0] + random.normal(size=80) > 0
    model = WholeModel(*fitted(rows, right, 2.0))
    file = tmp_path / "whole.yaml"
    file.write_text(written(Options(), model, right, {"ece": 0.03}))
    assert np.abs(load_whole_model(file).probability(rows) - model.probability(rows)).max() < 0.01


def test_a_broken_file_is_named(monkeypatch, tmp_path):
    (tmp_path / "wrong.yaml").write_text("bias: 1.0\nweights: {pixels: 0.1}\n")
    with pytest.raises(DeskhandError, match="no model of whole objects"):
        load_whole_model(tmp_path / "wrong.yaml")
    monkeypatch.setattr(wholeness, "resource_path", lambda name: tmp_path / "none.yaml")
    whole_model.cache_clear()
    try:
        with pytest.raises(DeskhandError, match="no model of whole objects"):
            whole_model()
    finally:
        whole_model.cache_clear()


def test_views_that_measured_an_object_as_it_is_told_say_how_likely_it_is():
    def seen(sure, long):
        return SceneObject("a", "box", "red", "box", np.array([long, 0.04, 0.04]), np.eye(4), np.zeros((0, 3), np.float32), sure)

    whole, also, piece = seen(0.9, 0.10), seen(0.8, 0.11), seen(0.3, 0.05)
    assert _confidence([whole, also, piece], whole.size) == pytest.approx(0.85)
    assert _confidence([whole, piece], np.array([0.2, 0.04, 0.04])) == pytest.approx(0.6)
