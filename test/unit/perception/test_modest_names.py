"""Geometry is modest: of an unknown box it says what it may be and how likely, and leaves room for a plain box."""

import numpy as np
import pytest

from deskhand.bench.perception.reliability import reliability
from deskhand.perception.classify import Appearance, load_classifier

# Edges [m] of cartons as sold, from the HOPE set of groceries (Tyree et al. 2022) at the size that LIBERO has them.
CARTONS = {"cream cheese": (0.083, 0.043, 0.019), "butter": (0.077, 0.040, 0.018), "chocolate pudding": (0.083, 0.049, 0.030), "popcorn": (0.063, 0.042, 0.019)}


def names(shape: str, size: tuple[float, ...], color: str = "white") -> dict[str, float]:
    return {name.name: name.probability for name in load_classifier().candidates(Appearance(shape, np.array(size), color))}


@pytest.mark.parametrize("carton", CARTONS)
def test_an_unknown_box_is_never_a_sponge_or_an_eraser_for_sure(carton):
    told = names("box", CARTONS[carton])
    assert told["box"] > 0.2
    assert all(share <= 0.75 for name, share in told.items() if name != "box")
    assert 0.9 < sum(told.values()) <= 1.0 + 1e-9


def test_what_fits_no_kind_has_the_word_for_its_shape_and_the_label_object():
    label, confidence, told = load_classifier().named(Appearance("cylinder", np.array((0.10, 0.10, 0.25)), "white"))
    assert label == "object"
    assert confidence <= 0.3
    assert [name.name for name in told] == ["cylinder"]
    assert names("box", (0.25, 0.012, 0.012)).get("long object", 0.0) > 0.5


def test_a_kind_goes_before_the_word_where_it_is_half_as_likely():
    label, confidence, told = load_classifier().named(Appearance("box", np.array((0.047, 0.021, 0.012)), "white"))
    assert label == "eraser"
    assert confidence == told[0].probability <= 0.75
    assert "box" in [name.name for name in told]


def test_how_far_confidences_hold():
    good = [(0.9, True)] * 9 + [(0.9, False)]
    assert reliability(good)["ece"] == pytest.approx(0.0, abs=1e-6)
    assert reliability([(0.9, False)] * 4)["ece"] == pytest.approx(0.9)
    half = reliability([(0.25, True), (0.25, False), (0.75, True), (0.75, True)])
    assert half["ece"] == pytest.approx(0.25)
    assert [row["count"] for row in half["bins"]] == [2, 2]
    assert reliability([])["ece"] is None
