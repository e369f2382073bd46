"""Bodies that a program makes: the same from the same seed, solid, of a size that lies on a desk, and steady on some side."""

import numpy as np
import pytest

from deskhand.bench.foreign.made import FAMILIES, made_parts
from deskhand.bench.foreign.prepare import prepare
from deskhand.errors import DeskhandError
from deskhand.sim.convex import volume_of
from deskhand.tasks.foreign_objects import catalogue


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_gives_the_same_body_again_and_another_for_another_seed(family):
    parts, pieces = made_parts(family, 3)
    again, other = made_parts(family, 3)[1], made_parts(family, 4)[1]
    assert all(np.array_equal(one, two) for one, two in zip(pieces, again, strict=True))
    assert len(other) != len(pieces) or not all(one.shape == two.shape and np.allclose(one, two) for one, two in zip(pieces, other, strict=True))
    assert min(map(volume_of, pieces)) > 0
    everything = np.vstack([part.vertices for part in parts])
    assert 0.059 < np.ptp(everything, axis=0).max() < 0.161


def test_every_made_kind_of_the_file_is_of_a_family():
    kinds = [kind for kind in catalogue().values() if kind.package == "made"]
    assert len(kinds) >= 60 and all(kind.split == "wide" and kind.file.partition("/")[0] in FAMILIES for kind in kinds)


def test_a_made_body_lies_steadily_on_some_side(tmp_path):
    model = prepare(catalogue()["made_tool_2"], tmp_path)
    assert model.shares.sum() == pytest.approx(1.0) and model.mass > 0
    assert np.allclose(model.vertices.min(axis=0) + model.vertices.max(axis=0), 0.0, atol=1e-9)


def test_families_that_there_are_not_are_named():
    with pytest.raises(DeskhandError, match="no family 'cloud'"):
        made_parts("cloud", 0)
