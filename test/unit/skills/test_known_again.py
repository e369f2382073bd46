"""What the hand lets go keeps its id, whatever perception takes it for next."""

from dataclasses import replace

import numpy as np

from deskhand.geometry import make_transform
from deskhand.skills.known_again import KnownAgain
from deskhand.types import Scene, SceneObject, Table

SIZE = (0.06, 0.06, 0.14)


def _item(name: str, x: float, y: float, size: tuple[float, float, float] = SIZE, **more: object) -> SceneObject:
    pose = make_transform(translation=[x, y, size[2] / 2])
    item = SceneObject(name, name.rsplit("_", 1)[0], "red", "box", np.array(size), pose, np.zeros((0, 3), np.float32), 0.9)
    return replace(item, **more)  # type: ignore[arg-type]


def _scene(*items: SceneObject) -> Scene:
    return Scene(items, Table(np.eye(4), (1.0, 1.0)), 0.0, np.zeros((0, 3), np.float32))


BIN = _item("bin_1", 0.2, 0.3, (0.16, 0.16, 0.12), is_container=True)
CAN, OTHER = _item("can_2", 0.0, 0.0), _item("box_1", 0.1, -0.2)


def _ids(again: KnownAgain, *items: SceneObject) -> list[str]:
    scene = again.apply(_scene(*items))
    assert again.apply(scene).objects == scene.objects  # twice is the same
    return [item.id for item in scene.objects]


def test_what_lies_half_hidden_below_where_the_hand_opened_keeps_its_id() -> None:
    again = KnownAgain()
    _ids(again, BIN, CAN, OTHER)
    again.let_go(CAN, np.array([0.2, 0.3, 0.1]))
    piece = _item("object_3", 0.24, 0.26, (0.05, 0.03, 0.02), support="bin_1", relation="in")
    on_it = _item("pen_1", 0.24, 0.26, (0.1, 0.01, 0.01), support="object_3")
    assert _ids(again, BIN, piece, OTHER) == ["bin_1", "can_2", "box_1"]
    later = again.apply(_scene(BIN, piece, OTHER, on_it))  # in all later looks, too
    assert [(item.id, item.support) for item in later.objects][-1] == ("pen_1", "can_2")


def test_others_stay_what_they_are() -> None:
    again = KnownAgain()
    _ids(again, BIN, CAN, OTHER)
    again.let_go(CAN, np.array([0.2, 0.3, 0.1]))
    far, large = _item("box_2", -0.3, 0.3), _item("box_3", 0.2, 0.3, (0.06, 0.12, 0.3))
    assert _ids(again, BIN, OTHER, far, large) == ["bin_1", "box_1", "box_2", "box_3"]
    assert _ids(again, BIN, replace(OTHER, pose=CAN.pose)) == ["bin_1", "box_1"]  # one that looks have shown before


def test_it_is_given_up_when_the_object_is_seen_under_its_own_id() -> None:
    again = KnownAgain()
    _ids(again, BIN, CAN)
    again.let_go(CAN, np.array([0.2, 0.3, 0.1]))
    new = _item("object_3", 0.2, 0.3, (0.05, 0.05, 0.1))
    assert _ids(again, BIN, new) == ["bin_1", "can_2"]
    assert _ids(again, BIN, new, CAN) == ["bin_1", "object_3", "can_2"]
    again.taken()
    assert _ids(again, BIN, _item("cup_1", 0.2, 0.3)) == ["bin_1", "cup_1"]
