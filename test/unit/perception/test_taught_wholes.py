"""What is cut into pieces by shape and colour is one object where somebody has taught the whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cast import Box, cast

from deskhand.perception.pipeline import Perception
from deskhand.perception.taught.naming import cut_out
from deskhand.types import Scene
from deskhand.world.taught import TaughtStore, TaughtView

FOOT, STEM = (0.12, 0.09, 0.03), (0.035, 0.035, 0.11)
YAWS = (0.3, 0.8, 1.4, 2.0)


def _lamp(x: float, y: float, yaw: float, stem: tuple[int, int, int] = (200, 40, 30)) -> list[Box]:
    return [Box((x, y, 0), FOOT, yaw, (40, 60, 160)), Box((x, y, FOOT[2]), STEM, yaw, stem)]


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lamp of two colours, and a plain box that is as wide as its foot."""
    file = tmp_path_factory.mktemp("taught") / "taught.sqlite"
    with TaughtStore(file) as store:
        for name, solids in (("desk lamp", _lamp), ("green box", lambda x, y, yaw: [Box((x, y, 0), (0.1, 0.07, 0.05), yaw, (40, 150, 50))])):
            views = []
            for seed, yaw in enumerate(YAWS):
                frame, labels = cast(*solids(0.0, 0.05, yaw), seed=seed)
                color, mask = cut_out(frame.color, np.flatnonzero(labels.reshape(-1)))
                size = (*FOOT[:2], FOOT[2] + STEM[2]) if name == "desk lamp" else (0.1, 0.07, 0.05)
                views.append(TaughtView(color, mask, size))
            store.add(name, views)
    return file


def _look(file: Path | None, *solids: Box, seed: int = 20) -> Scene:
    return Perception(taught=file, detectors=()).detect(cast(*solids, seed=seed)[0])


def test_without_teaching_it_is_two() -> None:
    assert len(_look(None, *_lamp(0.05, -0.05, 1.1)).objects) == 2


@pytest.mark.parametrize("yaw", [0.5, 1.1, 1.8])
def test_what_was_taught_whole_is_one_with_the_sides_that_were_taught(taught: Path, yaw: float) -> None:
    (lamp,) = _look(taught, *_lamp(0.05, -0.05, yaw)).objects
    assert (lamp.label, lamp.support) == ("desk_lamp", "table")
    assert np.allclose(sorted(lamp.size), sorted((*FOOT[:2], FOOT[2] + STEM[2])), atol=0.004)
    assert np.linalg.norm(lamp.position[:2] - [0.05, -0.05]) < 0.012


def test_other_objects_that_lie_on_each_other_stay_two(taught: Path) -> None:
    green = Box((0.0, 0.1, 0), (0.1, 0.07, 0.05), 0.4, (40, 150, 50))
    scene = _look(taught, green, Box((0.0, 0.1, 0.05), STEM, 0.4, (200, 40, 30)))
    assert len(scene.objects) == 2 and "desk_lamp" not in {item.label for item in scene.objects}


def test_what_stands_beside_is_left_alone(taught: Path) -> None:
    scene = _look(taught, *_lamp(0.0, -0.1, 0.7), Box((0.0, 0.06, 0), (0.1, 0.07, 0.05), 0.2, (40, 150, 50)))
    assert sorted(item.label for item in scene.objects) == ["desk_lamp", "green_box"]
