"""What a long run is said to have shown."""

import os
import time

import pytest

from deskhand.bench.soak import ROUND, WARM, Done, _Readings, summarise


def run(count, seconds, growth=0.0):
    """``count`` instructions: how long each takes by its number, and [MB] that the tool server grows with each."""
    return [
        Done(
            number,
            ROUND[number % len(ROUND)],
            number != 7,
            "timeout" if number == 7 else "",
            seconds(number),
            {"motion": 90.0, "tool_server": 200 + growth * number},
            {"motion": 95.0 + 30 * (number == 50), "tool_server": 260.0},
        )
        for number in range(count)
    ]


def test_growth_is_counted_from_when_all_was_used_once_and_slowness_kind_by_kind():
    found = summarise(run(200, lambda number: (4.0 if number % 2 else 8.0) * (1.5 if number >= 160 else 1.0), growth=0.1))
    assert found["memory"]["tool_server"]["growth_mb"] == pytest.approx(0.1 * (200 - WARM / 2 - 1.5 * WARM), abs=0.11)
    assert found["memory"]["motion"]["growth_mb"] == 0 and found["memory"]["motion"]["most_mb"] == 125 and found["last_to_first"] == 1.5
    assert found["done"] == 199 and found["codes"] == ["timeout"] and found["seconds"][ROUND[0]] == 8.0


def test_a_short_run_tells_what_it_can():
    found = summarise(run(3, lambda _: 5.0))
    assert found["memory"] == {} and found["last_to_first"] is None and list(found["seconds"]) == list(ROUND[:3])


def test_what_is_given_back_is_no_growth_and_yet_counts_as_the_most():
    with _Readings({"me": os.getpid()}) as readings:
        time.sleep(0.1)
        much = bytearray(b"x") * (80 << 20)
        time.sleep(0.6)
        del much
    assert 60 < readings.most["me"] - readings.least["me"] < 120
