"""What a network says of pixels, as evidence between patches: each pair counted once, nothing where nothing is said; and the planes that it is given."""

import numpy as np
import pytest
from cast import Box, cast

from deskhand.perception.corrected import corrected
from deskhand.perception.learned.affinities import OFFSETS, STRIDE, across_borders, shifted
from deskhand.perception.learned.inputs import PLANES, InputSettings, inputs_of
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.view import make_view


def test_an_offset_finds_every_pair_once():
    picture = np.arange(6 * 7).reshape(6, 7)
    for down, right in (*OFFSETS, (2, -4), (9, 0), (0, 9)):
        begin, end = shifted(6, 7, (down, right))
        pairs = set(zip(picture[begin].reshape(-1).tolist(), picture[end].reshape(-1).tolist(), strict=True))
        expected = {(int(picture[v, u]), int(picture[v + down, u + right])) for v in range(6) for u in range(7) if v + down < 6 and 0 <= u + right < 7}
        assert pairs == expected


def test_evidence_is_the_mean_over_the_pairs_that_cross_a_border():
    patches = np.repeat(np.array([0, 0, 0, 2, 2, 2, 2, 2, -1, 5]), 20).reshape(10, 20)
    logits = np.zeros((len(OFFSETS), 10, 20), np.float32)
    logits[OFFSETS.index((1, 0)), 2] = 3.0  # the row above the border of 0 and 2, downwards
    logits[OFFSETS.index((3, 0)), :3] = -1.0
    said = across_borders(logits, patches, np.array([[2, 5], [0, 2], [0, 5]]))
    crossing = {offset: (offset[0] if offset[0] < 4 else 3) * (20 - abs(offset[1])) for offset in OFFSETS if offset[0]}
    crossing[8, 0] = 20  # of rows 0 to 2 the one below at 8 is none of 2's, but for none: row 8 is no patch, row 9 is patch 5
    to_two = sum(count for offset, count in crossing.items() if offset != (8, 0))
    mean = (3.0 * 20 - 1.0 * 60) / to_two
    assert said.one[1] == pytest.approx(1 / (1 + np.exp(-mean)))
    assert said.count[1] == to_two
    assert said.count[2] == 20 and said.count[0] > 0
    nothing = across_borders(logits, np.full((10, 20), -1), np.array([[0, 1]]))
    assert (nothing.one[0], nothing.count[0]) == (0.5, 0)
    assert len(across_borders(logits, patches, np.zeros((0, 2), np.int64)).one) == 0


def test_planes_tell_height_direction_and_colour_where_they_are():
    frame, _ = cast(Box((0, 0, 0), (0.08, 0.06, 0.05)), noise=0.0)
    level, fit = corrected(frame, PerceptionSettings())
    view = make_view(level, fit, PerceptionSettings())
    inputs = inputs_of(view, InputSettings())
    count, height, width = inputs.planes.shape
    assert count == len(PLANES) and height % InputSettings().multiple == 0 == width % InputSettings().multiple
    planes = dict(zip(PLANES, inputs.planes, strict=True))
    top = (planes["objects"] > 0) & (np.abs(planes["height"] - 0.5) < 0.02)
    assert top.sum() * InputSettings().pitch ** 2 > 0.3 * 0.08 * 0.06  # seen from aside
    assert np.median(planes["up"][top]) > 0.99
    side = (planes["objects"] > 0) & (planes["height"] < 0.4) & (planes["height"] > 0.1) & (np.abs(planes["up"]) < 0.3)
    assert side.sum() > 50 and np.median(planes["along"][side]) < -0.5  # towards the camera
    assert np.median(planes["red"][top]) > np.median(planes["blue"][top]) + 0.2
    beyond = inputs.rows < 0
    assert not inputs.planes[:, beyond].any()
    assert (np.diff(inputs.rows[~beyond]) >= 0).all() and STRIDE == 2
