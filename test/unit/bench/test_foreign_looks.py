"""One object, one object: parts, merged and missed ones are told apart; the catalogue says what it must."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.bench.foreign.looks import compared, summarise
from deskhand.errors import DeskhandError
from deskhand.tasks import foreign_objects


def look(*segments: np.ndarray) -> tuple[list[dict[str, Any]], int]:
    """Two objects of 400 pixels each, 0 to 399 and 400 to 799; the rest is table."""
    owners = np.repeat([0, 1, -1], 400)
    items = [SimpleNamespace(label="box", confidence=0.5, named=0.5, label_source="geometry", names=(), size=np.ones(3)) for _ in segments]
    return compared(owners, ["milk_1", "jenga_2"], SimpleNamespace(objects=items), segments, np.zeros(1200, bool))  # type: ignore[arg-type]


def test_each_for_one() -> None:
    rows, false = look(np.arange(0, 400), np.arange(410, 800))
    assert [row["one"] for row in rows] == [True, True]
    assert [row["kind"] for row in rows] == ["milk", "jenga"]
    assert false == 0


def test_two_parts_two_in_one_and_table_for_an_object() -> None:
    rows, _ = look(np.arange(0, 200), np.arange(200, 400), np.arange(400, 800))
    assert [(row["one"], row["parts"]) for row in rows] == [(False, 2), (True, 1)]
    rows, false = look(np.arange(0, 800))
    assert [row["one"] for row in rows] == [False, False]
    assert false == 1
    rows, false = look(np.arange(0, 400), np.arange(400, 800), np.arange(900, 1000))
    assert false == 1


def test_what_they_say_together() -> None:
    rows, false = look(np.arange(0, 200), np.arange(200, 400))
    told = summarise({"seed": 0}, [{"objects": rows, "false": false}])
    assert (told["objects"], told["one"], told["split"], told["missed"]) == (2, 0, 1, 1)
    assert told["kinds"]["milk"] == {"looks": 1, "one": 0}


def test_forty_kinds_and_a_third_of_each_package_is_kept_for_judging() -> None:
    kinds = [kind for kind in foreign_objects.catalogue().values() if kind.split != "wide"]
    assert len(kinds) >= 40
    for package in {kind.package for kind in kinds}:
        some = [kind.split for kind in kinds if kind.package == package]
        assert some.count("judged") == -(-len(some) // 3)


def test_what_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("DESKHAND_FOREIGN", str(tmp_path))
    with pytest.raises(DeskhandError) as told:
        foreign_objects.graspable("dev", load_arm("panda"))
    assert told.value.code == "missing_dependency"
    with pytest.raises(DeskhandError, match="no foreign object teapot"):
        foreign_objects.installed("teapot")
