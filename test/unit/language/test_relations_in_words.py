"""Which object is meant, by where it stands in words: between, not, in an open drawer, goods by what they come in."""

from __future__ import annotations

from typing import Any

import pytest

from deskhand.language.compound_names import join_names
from deskhand.language.intents import Place
from deskhand.language.parser import parse
from deskhand.language.resolve import is_tableware
from deskhand.planning.goals import make_goals

NAMES = ("soup bowl", "crackers", "oak cabinet")


def _item(name: str, x: float, y: float, size: tuple[float, float, float] = (0.1, 0.1, 0.05), z: float = 0.0, **more: Any) -> dict[str, Any]:
    label = name.rsplit("_", 1)[0]
    base = {"id": name, "label": label, "color": "grey", "shape": "box", "size": list(size), "position": [x, y, z + size[2] / 2], "yaw": 0.0}
    return base | {"is_container": False, "support": "table", "relation": "on", "confidence": 0.9} | more


PLATE = _item("plate_1", 0.1, 0.2, (0.14, 0.14, 0.02), is_container=True)
CRACKERS = _item("crackers_1", 0.2, -0.1, (0.08, 0.06, 0.02))
CUP = _item("cup_1", -0.2, 0.2)
CABINET = _item("oak_cabinet_1", 0.1, -0.4, (0.3, 0.25, 0.22))
BOX = _item("box_1", -0.2, -0.1, (0.2, 0.2, 0.03), confidence=0.5)


def _bowl(number: int, x: float, y: float, z: float = 0.0, support: str = "table") -> dict[str, Any]:
    return _item(f"soup_bowl_{number}", x, y, z=z, support=support, is_container=True, shape="cylinder")


DESK = (PLATE, CRACKERS, CUP, CABINET, BOX)
MIDDLE, FAR = _bowl(1, -0.05, 0.2), _bowl(2, 0.35, 0.35)


@pytest.mark.parametrize(
    ("where", "bowls", "meant"),
    [
        ("between the plate and the cup", (MIDDLE, FAR), "soup_bowl_1"),
        ("between the plate and the cup", (_bowl(1, -0.05, 0.12), FAR), "soup_bowl_1"),
        ("not between the plate and the cup", (MIDDLE, FAR), "soup_bowl_2"),
        ("from table center", (_bowl(1, 0.0, 0.02), FAR), "soup_bowl_1"),
        ("next to the cracker box", (_bowl(1, 0.2, -0.22), FAR), "soup_bowl_1"),
        ("on the crackers packet", (FAR, _bowl(3, 0.2, -0.1, 0.02, "crackers_1")), "soup_bowl_3"),
        ("in the top layer of the oak cabinet", (_bowl(1, 0.12, -0.3, 0.15), _bowl(2, 0.1, -0.4, 0.22, "oak_cabinet_1")), "soup_bowl_1"),
        ("on the top of the cabinet", (_bowl(1, 0.12, -0.3, 0.15), _bowl(2, 0.1, -0.4, 0.22, "oak_cabinet_1")), "soup_bowl_2"),
    ],
)
def test_where_it_stands_says_which_is_meant(where: str, bowls: tuple[dict[str, Any], ...], meant: str) -> None:
    intents = parse(join_names(f"pick the soup bowl {where} and place it on the plate", NAMES)).intents
    made = make_goals([task for task in intents if isinstance(task, Place)], [*DESK, *bowls])
    assert [(goal.object_id, goal.target_id) for goal in made.goals] == [(meant, "plate_1")] and not made.problems


def test_nothing_is_in_a_closed_object_that_lies_on_it() -> None:
    top = _bowl(1, 0.1, -0.4, 0.22, "oak_cabinet_1")
    drawn = _bowl(2, 0.12, -0.33, 0.15, "oak_cabinet_1")  # the drawer that carries it was taken for a part of the cabinet
    lid = _bowl(3, 0.1, 0.2, 0.02, "plate_1")

    def goals(text: str, *bowls: dict[str, Any]) -> list[str]:
        made = make_goals([task for task in parse(join_names(text, NAMES)).intents if isinstance(task, Place)], [*DESK, *bowls])
        return [goal.object_id for goal in made.goals]

    assert goals("pick the soup bowl in the top layer of the oak cabinet and place it on the cup", top, FAR) == []
    assert goals("pick the soup bowl in the top layer of the oak cabinet and place it on the cup", top, drawn) == ["soup_bowl_2"]
    assert goals("pick the soup bowl on the top of the oak cabinet and place it on the cup", top, drawn) == ["soup_bowl_1"]
    assert goals("pick the soup bowl in the plate and place it on the cup", FAR, lid) == ["soup_bowl_3"]


def test_of_two_that_are_loosely_between_none_is_meant() -> None:
    bowls = _bowl(1, -0.05, 0.10), _bowl(2, -0.05, 0.30)
    made = make_goals(list(parse(join_names("put the soup bowl between the plate and the cup on the crackers", NAMES)).intents), [*DESK, *bowls])  # type: ignore[arg-type]
    assert not made.goals


def test_a_word_that_nothing_is_called_by_is_no_guess_among_several_nor_a_target() -> None:
    def goals(text: str, *bowls: dict[str, Any]) -> list[str]:
        made = make_goals([task for task in parse(join_names(text, NAMES)).intents if isinstance(task, Place)], [*DESK, *bowls])
        return [goal.object_id for goal in made.goals]

    on_box, on_other = _bowl(1, -0.2, -0.1, 0.03, "box_1"), _bowl(2, -0.2, -0.1, 0.03, "box_1")
    assert goals("pick the soup bowl on the stove and place it on the plate", on_box, on_other) == []
    assert goals("put the soup bowl on the stove", FAR) == []


def test_what_hides_most_of_what_it_stands_on_is_on_what_is_not_seen() -> None:
    def goals(sliver: float, second: dict[str, Any]) -> list[str]:
        hidden = _item("eraser_1", sliver, -0.3, (0.02, 0.06, 0.012))
        bowls = _bowl(1, 0.1, -0.3, 0.02, "eraser_1"), second
        intents = parse(join_names("pick the soup bowl on the ramekin and place it on the plate", NAMES)).intents
        made = make_goals([task for task in intents if isinstance(task, Place)], [PLATE, CRACKERS, CUP, hidden, *bowls])
        return [goal.object_id for goal in made.goals]

    assert goals(0.13, FAR) == ["soup_bowl_1"]
    assert goals(0.10, FAR) == []  # it stands on what is seen, and that is no ramekin
    assert goals(0.13, _bowl(2, 0.2, -0.16, 0.02, "crackers_1")) == []  # both do


def test_on_the_cabinet_is_also_what_stands_on_a_board_on_it() -> None:
    board = _item("board_1", 0.1, -0.4, (0.25, 0.2, 0.005), 0.22, support="oak_cabinet_1")
    bowls = _bowl(1, 0.1, -0.4, 0.225, "board_1"), FAR
    intents = parse(join_names("pick the soup bowl on the oak cabinet and place it on the plate", NAMES)).intents
    made = make_goals([task for task in intents if isinstance(task, Place)], [*DESK, board, *bowls])
    assert [goal.object_id for goal in made.goals] == ["soup_bowl_1"]


def test_names_of_goods_and_what_they_come_in() -> None:
    assert join_names("the cracker box and the crackers", NAMES) == "the crackers and the crackers"
    assert join_names("the crackers behind the box", NAMES) == "the crackers behind the box"
    assert join_names("two soup bowls", NAMES) == "two soup_bowls"


def test_bowls_and_plates_are_carried_and_bins_are_not() -> None:
    assert is_tableware(FAR) and is_tableware(PLATE) and not is_tableware(_item("bin_1", 0, 0)) and not is_tableware(CABINET)
