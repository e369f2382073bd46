"""What went through a hole stays in there, whatever flaw of one look beside the board gets its id."""

from dataclasses import replace

import numpy as np

from deskhand.geometry import make_transform
from deskhand.skills.belief import Belief
from deskhand.types import Scene, SceneObject, Table


def _item(name: str, x: float, y: float, size: tuple[float, float, float] = (0.03, 0.03, 0.03), **more: object) -> SceneObject:
    pose = make_transform(translation=[x, y, size[2] / 2])
    item = SceneObject(name, name.rsplit("_", 1)[0], "white", "box", np.array(size), pose, np.zeros((0, 3), np.float32), 0.9)
    return replace(item, **more)  # type: ignore[arg-type]


def _scene(*items: SceneObject) -> Scene:
    return Scene(items, Table(np.eye(4), (1.0, 1.0)), 0.0, np.zeros((0, 3), np.float32))


SORTER = _item("box_2", 0.0, -0.2, (0.15, 0.12, 0.06))
PIECE, INSIDE = _item("object_1", 0.1, 0.1), _item("object_1", 0.03, -0.18, support="box_2", relation="in")
OUTSIDE, PART = _item("object_1", -0.03, -0.28), _item("box_4", 0.03, -0.19)


def _after_inserting(sorter: SceneObject = SORTER) -> Belief:
    belief = Belief()
    belief.see(_scene(sorter, PIECE))
    belief.see(_scene(sorter))
    belief.hide(INSIDE)
    return belief


def _where(belief: Belief) -> list[str]:
    return [item.relation for item in belief.everything().objects if item.id == "object_1"]


def test_one_look_that_shows_it_outside_is_not_believed() -> None:
    belief = _after_inserting()
    belief.see(_scene(SORTER, OUTSIDE))
    assert _where(belief) == ["in"]
    belief.see(_scene(SORTER))
    belief.see(_scene(SORTER, OUTSIDE))  # again a first one
    assert _where(belief) == ["in"]


def test_two_looks_in_a_row_are() -> None:
    belief = _after_inserting()
    for _ in range(2):
        belief.see(_scene(SORTER, OUTSIDE))
    assert _where(belief) == ["on"]
    assert not belief.hidden


def test_a_part_of_the_sorter_that_is_seen_near_it_says_nothing() -> None:
    belief = _after_inserting()
    belief.see(_scene(SORTER, PART))
    assert _where(belief) == ["in"]
    assert {item.id for item in belief.everything().objects} == {"box_2", "box_4", "object_1"}


def test_in_an_open_container_what_is_seen_counts_at_once() -> None:
    box = replace(SORTER, is_container=True)
    belief = _after_inserting(box)
    belief.see(_scene(box, OUTSIDE))
    assert _where(belief) == ["on"]
    belief = _after_inserting(box)
    belief.see(_scene(box, PART))
    assert _where(belief) == []


def test_when_the_sorter_is_gone_nothing_is_known_of_it() -> None:
    belief = _after_inserting()
    belief.see(_scene())
    assert _where(belief) == []
