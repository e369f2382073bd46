"""Where an object sits in the hand once the pads have closed: between them, unless they hold it by a wall."""

from __future__ import annotations

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.geometry import make_transform
from deskhand.skills.belief import Held
from deskhand.skills.carry import settled
from deskhand.skills.placement_sampling import spots_in
from deskhand.types import Grasp, Scene, SceneObject, Table

GRIPPER = load_arm("panda").gripper
DOWN = np.diag([1.0, -1.0, -1.0])


def _item(name: str, at: tuple[float, float], size: tuple[float, float, float], container: bool, wall: float = 0.0) -> SceneObject:
    pose = make_transform(translation=[*at, size[2] / 2])
    empty = np.zeros((0, 3), np.float32)
    return SceneObject(name, name[:-2], "grey", "cylinder", np.array(size), pose, empty, 0.9, is_container=container, wall=wall)


def _held(size: tuple[float, float, float], aside: float, width: float) -> Held:
    """In a hand that points down, closing along y; the object's middle is ``aside`` [m] of the pads along that."""
    item = _item("bowl_1", (0.0, 0.0), size, True, 0.003)
    grasp = Grasp(item.id, make_transform(DOWN, [0.0, -aside, 0.04]), width, 0.9, np.zeros((2, 3)))
    return Held(item, grasp, width, np.linalg.inv(grasp.pose) @ item.pose, item.pose)


def test_what_is_gripped_across_comes_to_the_middle_and_what_hangs_by_its_wall_does_not() -> None:
    assert abs(settled(_held((0.06, 0.06, 0.1), 0.004, 0.06), GRIPPER).tcp_T_object[1, 3]) < 1e-9
    by_the_rim = settled(_held((0.11, 0.11, 0.05), 0.052, 0.003), GRIPPER)
    assert abs(abs(by_the_rim.tcp_T_object[1, 3]) - 0.052) < 1e-9


def test_a_bowl_that_hangs_by_its_rim_is_put_onto_the_middle_of_a_plate() -> None:
    held = settled(_held((0.11, 0.11, 0.05), 0.052, 0.003), GRIPPER)
    plate = _item("plate_1", (0.1, 0.2), (0.136, 0.136, 0.017), True, 0.003)
    scene = Scene((plate,), Table(np.eye(4), (1.2, 1.2)), 0.0, np.zeros((0, 3), np.float32))
    spots = spots_in(scene, plate, held, GRIPPER, np.array([-0.6, 0.0, 0.0]))
    middle = (spots[0].release @ held.tcp_T_object)[:2, 3]
    assert np.linalg.norm(middle - plate.position[:2]) < 0.002
