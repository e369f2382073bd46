"""The store of taught objects outlives its program and refuses what it cannot keep."""

from pathlib import Path

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.world.taught import MOST_SIDE, TaughtStore, TaughtView, checked_name

RANDOM = np.random.default_rng(4)


def _view(side: int = 40, size: tuple[float, ...] = (0.02, 0.08, 0.05)) -> TaughtView:
    mask = np.zeros((side, side), bool)
    mask[side // 4 : side // 2, side // 4 : side - 2] = True
    return TaughtView(RANDOM.integers(0, 255, (side, side, 3)).astype(np.uint8), mask, size, "picture")


def test_views_come_back_as_they_were(tmp_path: Path) -> None:
    view = _view()
    with TaughtStore(tmp_path / "deep" / "taught.sqlite") as store:
        assert store.add("  My  Mug", [view, _view()]) == 2
    with TaughtStore(tmp_path / "deep" / "taught.sqlite") as store:
        assert store.names() == ["my mug"]
        again = store.views("my mug")[0]
        assert (again.color[again.mask] == view.color[view.mask]).all() and again.mask.all()
        assert again.size == (0.08, 0.05, 0.02) and again.source == "picture"
        (line,) = store.listing()
        assert (line.views, line.size, line.sources) == (2, (0.08, 0.05, 0.02), ("picture",))


def test_large_pictures_are_kept_small_in_their_own_colours() -> None:
    color = np.zeros((900, 700, 3), np.uint8)
    mask = np.zeros((900, 700), bool)
    mask[3:893, 7:691], color[3:893, 7:691] = True, (200, 40, 90)
    with TaughtStore(":memory:") as store:
        store.add("book", [TaughtView(color, mask)])
        (view,) = store.views("book")
    assert max(view.mask.shape) <= MOST_SIDE
    assert (view.color[view.mask] == (200, 40, 90)).all()


def test_forgetting(tmp_path: Path) -> None:
    with TaughtStore(tmp_path / "taught.sqlite") as store:
        store.add("my mug", [_view()])
        before = store.version()
        with pytest.raises(DeskhandError, match="known: my mug"):
            store.forget("your mug")
        assert store.forget("My mug") == 1
        assert store.names() == [] and store.version() != before


@pytest.mark.parametrize("name", ["", "   ", "123", "x" * 61, "a\u0007b"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(DeskhandError, match="no name"):
        checked_name(name)


@pytest.mark.parametrize(
    ("color", "mask", "size"),
    [((4, 4), (4, 4), ()), ((4, 4, 3), (4, 5), ()), ((4, 4, 3), (4, 4), (0.1, 0.1)), ((4, 4, 3), (4, 4), (0.1, 0.1, float("nan")))],
)
def test_what_is_no_view_is_refused(color: tuple[int, ...], mask: tuple[int, ...], size: tuple[float, ...]) -> None:
    with pytest.raises(DeskhandError) as refused:
        TaughtView(np.zeros(color, np.uint8), np.ones(mask, bool), size)
    assert refused.value.code == "invalid_input"


def test_another_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(b"milk, eggs" * 200)
    with pytest.raises(DeskhandError) as refused:
        TaughtStore(tmp_path / "notes.txt").open()
    assert refused.value.code == "memory_broken"
