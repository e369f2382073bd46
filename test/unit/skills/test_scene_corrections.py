"""What a model with eyes puts right is kept over looks; what was measured stays as it was."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform
from deskhand.skills.corrections import MODEL, Corrections, Name
from deskhand.testing.desk_scene import one_of_each
from deskhand.types import Scene, Table


def scene_of(*items):
    return Scene(tuple(items), Table(np.eye(4), (0.9, 1.1)), 1.0)


def block(name="block_1", x=0.0, y=0.0, points=200):
    item = next(item for item in one_of_each() if item.id == "block_1")
    pose = np.eye(4)
    pose[:3, 3] = x, y, item.size[2] / 2
    spread = np.random.default_rng(3).uniform(-0.5, 0.5, (points, 3)) * item.size + pose[:3, 3]
    return replace(item, id=name, pose=pose, points=spread.astype(np.float32))


def test_a_name_is_kept_over_looks_and_nothing_measured_changes():
    corrections = Corrections({"block_1": Name("sponge", "maroon")})
    for _ in range(2):
        (item,) = corrections.apply(scene_of(block())).objects
        assert (item.label, item.color, item.label_source) == ("sponge", "maroon", MODEL)
        assert np.array_equal(item.pose, block().pose) and np.array_equal(item.size, block().size)
    corrections.renamed("block_1", "block_7")
    (item,) = corrections.apply(scene_of(block("block_7"))).objects
    assert item.label == "sponge"


def test_parts_share_the_measured_points_and_the_rest_stays_when_one_is_taken():
    corrections, whole = Corrections(), block()
    aside = np.array([0.0, 0.01, 0.0])
    left, right = whole.position + aside, whole.position - aside
    names = corrections.split(whole, [left, right])
    parts = corrections.apply(scene_of(whole)).objects
    assert [item.id for item in parts] == list(names) and sum(len(item.points) for item in parts) == len(whole.points)
    assert all(item.size[:2].min() < 0.6 * whole.size[1] for item in parts) and parts[0].position[1] > parts[1].position[1]
    assert corrections.apply(corrections.apply(scene_of(whole))).objects[0].id == names[0]
    corrections.grasped(names[0])
    assert [item.id for item in corrections.apply(scene_of(whole)).objects] == [names[1]]


def test_a_part_of_which_too_little_was_measured_is_refused():
    with pytest.raises(DeskhandError, match="measured points of block_1"):
        Corrections().split(block(points=40), [[0, 0, 0.02], [0, 0.5, 0.02]])


def test_pieces_beside_each_other_are_one_as_long_as_they_lie_so():
    corrections, a, b = Corrections(), block("block_1"), block("block_2", y=0.04)
    kept = corrections.join([a, b])
    (item,) = corrections.apply(scene_of(a, b)).objects
    assert item.id == kept and item.size[0] == pytest.approx(0.04 + a.size[1], abs=1e-3) and item.position[1] == pytest.approx(0.02, abs=1e-3)
    assert len(corrections.apply(scene_of(a, block("block_2", y=0.2))).objects) == 2
    with pytest.raises(DeskhandError, match="cannot be one object"):
        corrections.join([a, block("block_3", y=0.3)])


@pytest.mark.parametrize(("away", "one"), [(0.028, True), (0.033, False)])
def test_how_far_pieces_are_apart_does_not_depend_on_how_they_are_turned(away, one):
    for turn in (0.0, 0.5, np.pi / 4):
        about = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1.0]])
        corrections, a, b = Corrections(), block("block_1"), block("block_2")
        b = replace(b, pose=make_transform(None, (0.0, b.size[1] + away, 0.0)) @ b.pose)
        a, b = (replace(item, pose=make_transform(about, None) @ item.pose) for item in (a, b))
        if one:
            assert corrections.join([a, b])
        else:
            with pytest.raises(DeskhandError, match="from the others"):
                corrections.join([a, b])
