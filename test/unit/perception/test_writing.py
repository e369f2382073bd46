"""Whether there is writing in a picture."""

import cv2
import numpy as np
import pytest

from deskhand.perception.writing import has_writing


def desk(seed: int) -> np.ndarray:
    """A noisy table with some plain objects on it."""
    rng = np.random.default_rng(seed)
    picture = np.full((480, 640, 3), 170, np.uint8)
    for _ in range(8):
        x, y, w, h = (int(rng.integers(*span)) for span in ((40, 560), (40, 400), (20, 60), (20, 60)))
        cv2.rectangle(picture, (x, y), (x + w, y + h), tuple(int(value) for value in rng.integers(20, 235, 3)), -1)
    return np.clip(picture + rng.normal(0, 3, picture.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("seed", range(6))
def test_plain_objects_are_no_writing_and_words_are(seed: int) -> None:
    picture = desk(seed)
    assert not has_writing(picture)
    cv2.rectangle(picture, (200, 200), (420, 240), (240, 240, 240), -1)
    cv2.putText(picture, "MOVE THE PHONE", (210, 226), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (30, 30, 30), 1, cv2.LINE_AA)
    assert has_writing(picture)
