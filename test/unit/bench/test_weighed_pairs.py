"""What two segments are one object by is fitted to looks: the fit finds what the data says, heaps are heaps, and too little data is an error."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from deskhand.bench.foreign.prepare import prepare
from deskhand.bench.foreign.weigh import KNOTS, Options, Pairs, fitted, pairs_seen, weigh, weights_of, written
from deskhand.errors import DeskhandError
from deskhand.perception.fit import one_object
from deskhand.perception.fit.one_object import pair_model
from deskhand.perception.fit.pair_evidence import NAMES
from deskhand.sim.model_file import load_model, save_model
from deskhand.tasks.desk_cleaning_foreign import full_container
from deskhand.tasks.foreign_objects import catalogue, heaped_world, model_path

KINDS = ("made_tool_3", "made_bottle_4")


@pytest.fixture
def installed(monkeypatch, tmp_path):
    monkeypatch.setenv("DESKHAND_FOREIGN", str(tmp_path))
    for name in KINDS:
        save_model(prepare(catalogue()[name], tmp_path), model_path(name))


def test_the_fit_finds_the_weights_that_the_pairs_were_drawn_with():
    random = np.random.default_rng(2)
    features = random.normal(size=(4000, 3)) * [1.0, 5.0, 0.2]
    same = random.random(4000) < 1 / (1 + np.exp(-(features @ [1.5, -0.3, 4.0] + 0.7)))
    weights, bias = fitted(features, same, 0.1)
    assert np.allclose(weights, [1.5, -0.3, 4.0], rtol=0.2) and bias == pytest.approx(0.7, abs=0.15)


def test_what_a_model_does_not_know_is_fitted_beside_it_and_the_rest_stays(tmp_path):
    random, count = np.random.default_rng(3), len(NAMES) + sum(map(len, KNOTS.values()))
    base = np.zeros(count)
    base[NAMES.index("color")], inside = -2.0, NAMES.index("inside")
    lines = written(Options(), base, 0.3, 1).splitlines()
    (tmp_path / "base.yaml").write_text("\n".join(line for line in lines if "inside:" not in line))
    features = np.zeros((6000, len(NAMES)))
    features[:, NAMES.index("color")], features[:, NAMES.index("odder")] = random.uniform(-0.5, 0.03, 6000), 5.0
    features[:, inside] = random.random(6000) < 0.4
    same = random.random(6000) < 1 / (1 + np.exp(-(0.3 - 2.0 * features[:, NAMES.index("color")] - 1.5 * features[:, inside])))
    pairs = Pairs(features, same, np.ones(6000))
    weights, bias, _ = weights_of(Options(base=tmp_path / "base.yaml"), pairs)
    assert weights[inside] == pytest.approx(-1.5, abs=0.2) and bias == 0.3
    assert np.array_equal(np.delete(weights, inside), np.delete(base, inside))
    with pytest.raises(DeskhandError, match="no model to go on from"):
        weights_of(Options(base=tmp_path / "missing.yaml"), pairs)


def test_what_is_written_is_read_again(monkeypatch, tmp_path):
    count = len(NAMES) + sum(map(len, KNOTS.values()))
    weights = np.arange(count) / 10
    (tmp_path / "weights.yaml").write_text(written(Options(), weights, -0.5, 7))
    monkeypatch.setattr(one_object, "resource_path", lambda name: tmp_path / "weights.yaml")
    pair_model.cache_clear()
    try:
        model = pair_model()
    finally:
        pair_model.cache_clear()
    assert np.allclose(model.weights, weights) and model.bias == -0.5 and len(model.knots) == count - len(NAMES)
    assert yaml.safe_load((tmp_path / "weights.yaml").read_text())["joined"] == Options().joined


def test_a_heap_begins_with_no_object_in_another(installed):
    world = heaped_world("panda", 3, ",".join(KINDS), 5)
    again = heaped_world("panda", 3, ",".join(KINDS), 5)
    assert len(world.objects) == 5 and all(np.array_equal(one.pose, two.pose) for one, two in zip(world.objects, again.objects, strict=True))
    spans = [(item.pose[:2, 3], item.pose[2, 3]) for item in world.objects]
    assert max(height for _, height in spans) > min(height for _, height in spans) + 0.02  # some lie on others


def test_pairs_are_kept_for_their_looks_only(tmp_path):
    kept = tmp_path / "pairs.npz"
    none = Options(looks=0, heaps=0, trays=0, desks=0, kept=kept)
    assert not len(pairs_seen(none, lambda name: None).same) and kept.is_file()
    assert not len(pairs_seen(none, pytest.fail).same)
    with pytest.raises(DeskhandError, match="other looks"):
        pairs_seen(replace(none, looks=1), pytest.fail)


def test_a_heap_in_a_container_begins_within_it(installed):
    world = full_container("panda", 3, ",".join(KINDS), 4)
    tray, *heap = world.objects
    for item in heap:
        model = load_model(item.mesh)
        corners = (model.vertices @ item.pose[:3, :3].T + item.pose[:3, 3]) - tray.pose[:3, 3]
        assert len(heap) == 4 and (np.abs(corners[:, :2]) < np.array(tray.size[:2]) / 2).all()


def test_no_looks_give_no_weights(tmp_path):
    with pytest.raises(DeskhandError, match="not of both kinds"):
        weigh(Options(looks=0, heaps=0, trays=0, desks=0), tmp_path / "weights.yaml", lambda name: None)
