"""How far confidences hold: told against true, by bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

BINS = 10
WHOLE = 0.75  # intersection over union from which the extent is right


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


def wholes(owners: npt.NDArray[Any], pixels: Sequence[npt.NDArray[np.int64]], others: npt.NDArray[np.bool_]) -> list[bool | None]:
    """Of each segment (flat indices) whether it is all of an object and nothing else is of that, None where it is mostly what nobody asked for.

    ``owners`` (N,): number of the object of each pixel, -1 for none; ``others`` (N,): pixels of what is no object of the scene.
    """
    owners = np.asarray(owners, np.int64)
    count = int(owners.max(initial=-1)) + 1
    sizes = np.bincount(owners[owners >= 0], minlength=count)
    shares = [np.bincount(owners[own][owners[own] >= 0], minlength=count) for own in pixels]
    mostly = [int(share.argmax()) if count and share.max() > 0.5 * len(own) else -1 for share, own in zip(shares, pixels, strict=True)]
    told: list[bool | None] = []
    for share, own, best in zip(shares, pixels, mostly, strict=True):
        overlap = share[best] / (len(own) + sizes[best] - share[best]) if best >= 0 else 0.0
        told.append(None if len(own) and others[own].mean() > 0.5 else bool(overlap >= WHOLE and mostly.count(best) == 1))
    return told
