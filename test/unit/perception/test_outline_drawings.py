"""Drawings of prisms are as large as what is seen, hollow outlines too: else these overlap by less than what is plain."""

import numpy as np
import pytest

from deskhand.perception.outline_match import OUTLINES, SPREAD, SWEEPS, _drawn


@pytest.mark.parametrize("name", OUTLINES)
def test_a_drawn_prism_covers_what_is_seen(name: str) -> None:
    for polygons in OUTLINES[name]:
        for angle in np.arange(0.0, 2 * np.pi, 0.9):
            for sweep in (0, 5, 9):
                drawn = _drawn(polygons, float(angle), sweep * SWEEPS * SPREAD)
                if drawn is not None:
                    assert drawn[0].sum() == pytest.approx(SPREAD**2, rel=0.08), (name, angle, sweep)
                    assert (drawn[1] <= drawn[0] + 1e-6).all()
