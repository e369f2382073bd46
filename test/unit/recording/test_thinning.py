import numpy as np
import pytest

from deskhand.recording.thinning import Thinner


@pytest.mark.parametrize(("comes", "kept"), [(150.0, 10.0), (50.0, 10.0), (15.0, 10.0), (11.0, 10.0), (10.0, 10.0), (4.0, 4.0)])
def test_the_rate_is_kept_whatever_comes(comes: float, kept: float) -> None:
    thinner, stamps = Thinner(10.0), 3.0 + np.arange(0, 20, 1 / comes)
    taken = [stamp for stamp in stamps if thinner.keeps(stamp)]
    assert np.mean(np.diff(taken)) == pytest.approx(1 / kept, rel=0.02)
    assert taken[0] == 3.0


def test_time_that_jumps_back_or_far_ahead_begins_again() -> None:
    thinner = Thinner(10.0)
    assert [thinner.keeps(stamp) for stamp in (5.0, 5.05, 5.1, 9.0, 9.05, 9.1, 0.5, 0.55, 0.6)] == [True, False, True, True, False, True, True, False, True]
