import numpy as np

from deskhand.perception.monitor.points import PointTracker

POINT = (60.0, 50.0)


def textured(seed: int = 3) -> np.ndarray:
    """A smooth random colour picture (120, 160, 3)."""
    small = np.random.default_rng(seed).integers(30, 220, (24, 32, 3), dtype=np.uint8)
    return np.kron(small, np.ones((5, 5, 1), np.uint8))


def test_a_point_is_followed_and_what_is_rejected_stays_where_it_was() -> None:
    image = textured()
    tracker = PointTracker(image, [POINT, (100.0, 60.0)])
    tracker.update(np.roll(image, (2, 3), axis=(0, 1)))
    assert tracker.visible.all() and np.allclose(tracker.pixels[0], (63, 52), atol=0.3)
    tracker.reject(0)
    assert tracker.visible.tolist() == [False, True] and np.allclose(tracker.pixels, [POINT, (103, 62)], atol=0.3)
    tracker.update(image)
    assert tracker.visible.all() and np.allclose(tracker.pixels[0], POINT, atol=0.3)


def test_what_has_the_same_brightness_and_other_colours_is_something_else() -> None:
    image = textured()
    grey = np.array([0.299, 0.587, 0.114])
    brightness = image @ grey
    other = np.stack([brightness] * 3, axis=-1).round().astype(np.uint8)
    tracker = PointTracker(image, [POINT])
    tracker.update(other)
    assert not tracker.visible[0]
