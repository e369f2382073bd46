"""How far confidences hold: told against true, by bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

BINS = 10


def reliability(told: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    """``{"count", "ece", "bins": [{"from", "to", "count", "confidence", "right"}]}`` of pairs (confidence 0..1, whether it was right).

    ``ece`` is the expected calibration error: the mean over all pairs of how far the share that is right in a bin is from the mean confidence in it
    (Naeini, Cooper, Hauskrecht 2015); None of nothing.
    """
    bins, off = [], 0.0
    for number in range(BINS):
        some = [(confidence, right) for confidence, right in told if min(BINS - 1, int(confidence * BINS)) == number]
        if not some:
            continue
        confidence, right = sum(one[0] for one in some) / len(some), sum(one[1] for one in some) / len(some)
        off += len(some) * abs(confidence - right)
        row = {"from": number / BINS, "to": (number + 1) / BINS, "count": len(some), "confidence": round(confidence, 3), "right": round(right, 3)}
        bins.append(row)
    return {"count": len(told), "ece": round(off / len(told), 4) if told else None, "bins": bins}
