"""What a chain of calls costs is told from what calls took."""

from __future__ import annotations

import pytest

from deskhand.errors import DeskhandError
from deskhand.etp.card import Measured
from deskhand.etp.tool import ToolContext
from deskhand.tools.base import load_tools
from deskhand.tools.reasoning.costs import estimate_cost

KNOWN = {
    "pick": Measured(calls=8, success_rate=0.75, latency_median=4.0, latency_p95=9.0),
    "detect_objects": Measured(calls=18, success_rate=1.0, latency_median=0.5, latency_p95=0.7),
}


@pytest.fixture
def context() -> ToolContext:
    registry = load_tools(others=False)[0]
    return ToolContext(None, None, cards=registry.cards, measured=lambda name: KNOWN.get(name, Measured()))  # type: ignore[arg-type]


def test_times_add_up_and_chances_multiply(context: ToolContext) -> None:
    told = estimate_cost(context, ["detect_objects", "pick", "pick"])
    assert told["seconds"] == 8.5
    assert told["at_most"] == 18.7
    assert told["success"] == pytest.approx(19 / 20 * 0.7 * 0.7, abs=1e-3)
    assert told["motions"] == 2
    assert not told["unmeasured"]


def test_what_was_never_called_is_told_and_counts_by_its_time_limit_only(context: ToolContext) -> None:
    told = estimate_cost(context, ["wipe"])
    assert told["unmeasured"] == ["wipe"]
    assert told["calls"][0]["success"] is None
    assert told["seconds"] == 0.0
    limit = next(card.timeout for card in context.cards() if card.name == "wipe")
    assert told["at_most"] == limit


def test_a_tool_that_there_is_not_is_refused_with_what_is_like_it(context: ToolContext) -> None:
    with pytest.raises(DeskhandError, match="nearest: pick") as caught:
        estimate_cost(context, ["pik"])
    assert caught.value.code == "unknown_tool"
