"""Where a person speaks of the bin and of the open box, and two things are called open boxes, one of them is the bin."""

from typing import Any

import pytest

from deskhand.language.coverage import phrases_of
from deskhand.language.names_apart import names_apart
from deskhand.language.parser import parse


def _open(name: str, label: str, color: str, **names: float) -> dict[str, Any]:
    told = [{"name": key, "probability": value, "source": "geometry"} for key, value in names.items()]
    about = {"shape": "box", "size": [0.17, 0.16, 0.06], "position": [0.0, 0.2, 0.03], "is_container": True}
    return {"id": name, "label": label, "color": color, "names": told} | about


BROWN, BLACK = _open("box_open_1", "box_open", "brown", box_open=0.99), _open("box_open_2", "box_open", "black", box_open=0.36, bin=0.45)
TRAY = _open("tray_1", "tray", "white", tray=1.0)


def called(words: str, *objects: dict[str, Any]) -> dict[str, str]:
    refs = [ref for item in parse(words).intents for ref in phrases_of(item)]
    return {item["id"]: item["label"] for item in names_apart(refs, objects)}


@pytest.mark.parametrize("words", ["the bin is for cups, the open box is for the rest", "put the cups in the open box and the cans in the bin"])
def test_the_one_that_may_be_a_bin_is_the_bin(words: str) -> None:
    assert called(words, BROWN, BLACK, TRAY) == {"box_open_1": "box_open", "box_open_2": "bin", "tray_1": "tray"}


@pytest.mark.parametrize(
    ("words", "objects"),
    [
        ("put the cups in the open box", (BROWN, BLACK)),  # nobody speaks of a bin: which is meant must be asked
        ("put the cups in the bin and the cans in the tray", (BROWN, BLACK, TRAY)),  # the tray is the tray
        ("put the cups in the open box and the cans in the bin", (BROWN, BLACK, _open("bin_1", "bin", "grey", bin=0.9))),  # there is one that is called so
        ("put the cups in the open box and the cans in the bowl", (BROWN, BLACK)),  # neither may be a bowl
        ("put the cups in the open box and the cans in the bin", (BROWN, _open("box_open_2", "box_open", "black", box_open=0.8, bin=0.1))),  # hardly a bin
    ],
)
def test_others_keep_their_names(words: str, objects: tuple[dict[str, Any], ...]) -> None:
    assert called(words, *objects) == {item["id"]: item["label"] for item in objects}
