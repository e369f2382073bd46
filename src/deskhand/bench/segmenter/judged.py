"""Rendered piles as labelled frames, to judge methods on what none of them was made for: a frame of each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deskhand.bench.frames.labelled import LabelledFrame
from deskhand.bench.frames.measure import TABLE
from deskhand.bench.segmenter.pictures import pile_frames


def labelled_piles(seed: int, count: int) -> Iterator[LabelledFrame]:
    """Of ``count`` piles from ``seed`` on; all that is no object is table. Raises ``missing_dependency`` without off-screen rendering."""
    for number in range(seed, seed + count):
        for frame, owners in pile_frames(number, 1):
            labels = np.where(owners >= 0, owners + TABLE + 1, np.where(np.isfinite(frame.depth), TABLE, 0)).astype(np.int32)
            yield LabelledFrame(f"pile_{number}", frame.color, frame.depth, frame.intrinsics, labels)
