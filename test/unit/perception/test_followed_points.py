import cv2
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


def test_many_small_steps_add_no_drift_up_where_the_background_stays() -> None:
    """A block slides out of a shadow that stays, over a desk with grain: its corners are where they are drawn, thirty pictures on."""
    noise = np.random.default_rng(4)
    desk = np.full((120, 200, 3), (222, 205, 180), np.uint8) + np.repeat(noise.integers(-6, 6, (120, 40, 1)), 5, axis=1).astype(np.int16)
    desk[:66, :43] -= 80

    def picture(shift: float) -> np.ndarray:
        fine = cv2.resize(np.clip(desk, 0, 255).astype(np.uint8), None, fx=8, fy=8, interpolation=cv2.INTER_NEAREST)
        left = round(8 * (40 + shift))
        fine[8 * 30 : 8 * 52, left : left + 8 * 24] = (224, 28, 28)
        fine[8 * 52 : 8 * 68, left : left + 8 * 24] = (128, 16, 18)
        grey = cv2.resize(fine, (200, 120), interpolation=cv2.INTER_AREA).astype(float) + noise.normal(0, 2.5, (120, 200, 3))
        return np.clip(grey, 0, 255).astype(np.uint8)

    corners = np.array([(40.0, 30.0), (64.0, 30.0), (40.0, 52.0), (64.0, 52.0)]) - 0.5
    tracker = PointTracker(picture(0.0), corners.tolist())
    for number in range(1, 31):
        tracker.update(picture(1.375 * number))
    off = np.linalg.norm(tracker.pixels - corners - [1.375 * 30, 0.0], axis=1)
    assert tracker.visible.all() and off.max() < 1.0, off
