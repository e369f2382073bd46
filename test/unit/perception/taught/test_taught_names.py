"""Taught names come onto what a look shows, and change with the file."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from deskhand.perception.taught.naming import TaughtNames, _known_size
from deskhand.perception.taught.pictures import view_from_files
from deskhand.types import CameraIntrinsics, Frame, NameCandidate, SceneObject
from deskhand.world.taught import TaughtStore, TaughtView

SIZE = (0.10, 0.06, 0.03)


def _printed(seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    picture = np.full((60, 100, 3), random.integers(60, 250, 3), np.uint8)
    for _ in range(5):
        x, y = random.integers(5, 80), random.integers(5, 45)
        cv2.rectangle(picture, (int(x), int(y)), (int(x + 18), int(y + 9)), random.integers(0, 255, 3).tolist(), -1)
    return picture


def _desk(seeds: tuple[int, ...]) -> tuple[list[SceneObject], list[np.ndarray], Frame]:
    """Objects side by side on a grey table, in other light than that in which they were taught."""
    color = np.full((200, 480, 3), 120, np.uint8)
    items, pixels = [], []
    for place, seed in enumerate(seeds):
        top, left = 50, 20 + 150 * place
        color[top : top + 60, left : left + 100] = (_printed(seed) * np.array([0.7, 0.62, 0.55])).astype(np.uint8)
        v, u = np.mgrid[top : top + 60, left : left + 100]
        pixels.append((v * 480 + u).ravel())
        names = (NameCandidate("box", 0.6, "geometry"), NameCandidate("sponge", 0.3, "geometry"))
        items.append(SceneObject(f"box_{place}", "box", "red", "box", np.array(SIZE), np.eye(4), np.zeros((0, 3), np.float32), 0.6, names=names))
    return items, pixels, Frame(color, np.ones((200, 480), np.float32), CameraIntrinsics(480, 200, 400, 400, 240, 100), np.eye(4), 0.0)


def _view(seed: int) -> TaughtView:
    picture = _printed(seed)
    return TaughtView(picture, np.ones(picture.shape[:2], bool), SIZE)


def test_names_come_and_go_with_the_file(tmp_path: Path) -> None:
    names, desk = TaughtNames(tmp_path / "taught.sqlite"), _desk((1, 2, 3))
    assert names.name(*desk) == desk[0]
    with TaughtStore(tmp_path / "taught.sqlite") as store:
        store.add("tea box", [_view(1), _view(1)])
        store.add("rice box", [_view(2), _view(2)])
        tea, rice, stranger = names.name(*desk)
        assert (tea.label, tea.label_source, rice.label) == ("tea_box", "taught", "rice_box")
        assert (stranger.label, stranger.label_source) == ("box", "geometry")
        assert tea.names[0].source == "taught" and "box" in {name.name for name in tea.names} and sum(name.probability for name in tea.names) <= 1.001
        store.forget("tea box")
        assert [item.label for item in names.name(*desk)][:2] == ["box", "rice_box"]


def test_a_file_that_is_broken_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "taught.sqlite").write_bytes(b"no database" * 100)
    desk = _desk((1,))
    assert TaughtNames(tmp_path / "taught.sqlite").name(*desk) == desk[0]


def test_a_picture_before_a_plain_background_teaches(tmp_path: Path) -> None:
    canvas = np.full((200, 260, 3), (206, 200, 196), np.uint8)
    canvas[70:130, 80:180] = _printed(7)
    cv2.imwrite(str(tmp_path / "front.png"), canvas[..., ::-1])
    view = view_from_files(tmp_path / "front.png", size=SIZE)
    assert abs(int(view.mask.sum()) - 6000) < 300
    with TaughtStore(tmp_path / "taught.sqlite") as store:
        store.add("cereal", [view])
        store.add("other", [_view(8)])
    assert [item.label for item in TaughtNames(tmp_path / "taught.sqlite").name(*_desk((7, 8)))] == ["cereal", "other"]


@pytest.mark.parametrize(
    ("shape", "size", "guessed", "known"),
    [
        ("cylinder", (0.025, 0.0252, 0.16), (), [0.0252, 0.0252, 0.16]),
        ("cylinder", (0.16, 0.025, 0.0252), (), [0.0252, 0.0252, 0.16]),
        ("box", (0.025, 0.025, 0.16), (), [0.025, 0.025, 0.16]),
        ("box", (0.05, 0.03, 0.16), (1,), [0.05, 0.16, np.nan]),
    ],
)
def test_what_is_round_has_one_width(shape: str, size: tuple[float, ...], guessed: tuple[int, ...], known: list[float]) -> None:
    item = SceneObject("object_1", "object", "black", shape, np.array(size), np.eye(4), np.zeros((0, 3), np.float32), 0.9, guessed=guessed)
    assert np.allclose(np.sort(_known_size(item)), known, equal_nan=True)
