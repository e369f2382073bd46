"""Segments joined by weighed evidence: odd bodies of several bulges become one, what plain solids explain stays apart."""

from dataclasses import replace

import numpy as np
import pytest
from cast import Box, cast

from deskhand.bench.foreign.weigh import PairWatcher
from deskhand.errors import DeskhandError
from deskhand.perception.fit import one_object
from deskhand.perception.fit.one_object import PairModel, expanded, pair_model
from deskhand.perception.fit.pair_evidence import NAMES
from deskhand.perception.pipeline import Perception

TYPICAL = {"contact": 1.5, "bend": 0.9, "step": -0.5, "gap": 0.02, "color": 0.02, "light": 0.1, "ratio": 0.5, "extent": -1.0, "foot": 3.0, "meets": 0.1}
TYPICAL |= {"air": 0.3, "hidden": 0.2, "slope": 0.5, "level": 0.2, "wall": 0.3, "overhang": 0.2, "error_up": 3.0, "error_down": 2.5, "error_both": 6.0}
TYPICAL |= {"usual_up": 0.1, "usual_down": 0.1, "usual_both": 0.1, "odder": 3.0, "plainer": 2.5, "inside": 0.0}


def features(**changes):
    return np.array([(TYPICAL | changes)[name] for name in NAMES])


def test_one_colour_and_a_flat_seam_tell_one_object_other_colours_and_a_gap_tell_two():
    model = pair_model()
    alike = model.probability(features(bend=-0.5))
    assert alike > model.joined
    assert model.probability(features(bend=1.5)) < alike
    assert model.probability(features(color=0.35, gap=0.3, bend=1.5)) < 0.5 * model.joined


def test_features_beyond_their_knots_count_more():
    given = np.array([[1.0, 5.0], [3.0, 5.0]])
    assert np.allclose(expanded(given, ((0, 2.0),)), [[1.0, 5.0, 0.0], [3.0, 5.0, 1.0]])
    model = PairModel(((0, 0.0),), np.zeros(len(NAMES) + 1), 0.0, 0.8, 1.5)
    assert model.probability(features()) == pytest.approx(0.5)


def test_blocks_of_one_colour_that_stand_on_each_other_stay_two():
    red = {"color": (180, 40, 40)}
    frame, labels = cast(Box((0.0, 0.0, 0.0), (0.06, 0.06, 0.04), 0.4, **red), Box((0.004, 0.002, 0.04), (0.035, 0.035, 0.03), 0.9, **red))
    perception = Perception(detectors=())
    perception.detect(frame)
    owners = [int(np.bincount(labels.reshape(-1)[pixels]).argmax()) for pixels in perception.pixels]
    assert sorted(owners) == [1, 2]


def test_a_broken_file_is_named(monkeypatch, tmp_path):
    (tmp_path / "wrong.yaml").write_text("knots: {bend: [0.3]}\nweights: {}\n")
    monkeypatch.setattr(one_object, "resource_path", lambda name: tmp_path / "wrong.yaml")
    pair_model.cache_clear()
    try:
        with pytest.raises(DeskhandError, match="no model of pairs"):
            pair_model()
    finally:
        pair_model.cache_clear()


def test_what_is_joined_depends_on_the_threshold(monkeypatch):
    frame, _ = cast(Box((0.0, 0.0, 0.0), (0.06, 0.06, 0.04)), Box((0.1, 0.1, 0.0), (0.05, 0.04, 0.05), 0.3, (40, 60, 190)))
    sure = replace(pair_model(), joined=0.0, odd=0.0)
    monkeypatch.setattr(one_object, "pair_model", lambda: sure)
    perception = Perception(detectors=())
    assert len(perception.detect(frame).objects) == 2  # what does not touch is not asked


def test_pairs_that_touch_are_seen_with_whose_they_are():
    frame, labels = cast(Box((0.0, 0.0, 0.0), (0.06, 0.06, 0.04), 0.4), Box((0.004, 0.002, 0.04), (0.035, 0.035, 0.03), 0.9, (40, 90, 180)))
    watcher = PairWatcher()
    watcher.owners = labels.reshape(-1).astype(np.int64) - 1
    assert not watcher.detect(frame).objects
    ((features, same),) = watcher.pairs
    assert features.shape == (len(NAMES),) and not same and features[NAMES.index("inside")] == 0.0
