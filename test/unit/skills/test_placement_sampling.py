"""Where in a container something is let go: clear of the walls, and on the floor where there is room."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.geometry import inverse, make_transform, rotation_about
from deskhand.skills.belief import Held
from deskhand.skills.placement_sampling import Spot, spots_in
from deskhand.testing.desk_scene import scene_object
from deskhand.types import Grasp, Scene, SceneObject, Table

GRIPPER = load_arm("wx250s").gripper
BASE = np.array([-0.3, 0.0, 0.0])
EDGE = 0.03  # [m] of the block


def held_block() -> Held:
    block = scene_object("block_1", "box", (EDGE, EDGE, EDGE), (-0.1, 0.1, EDGE / 2))
    hand = make_transform(np.diag([1.0, -1.0, -1.0]), [-0.1, 0.1, EDGE / 2])
    return Held(block, Grasp("block_1", hand, EDGE, 1.0, np.zeros((2, 3))), EDGE, inverse(hand) @ block.pose, block.pose)


def bin_of(size: tuple[float, float, float], yaw: float = 0.0) -> SceneObject:
    item = scene_object("bin_1", "box", size, (0.05, 0.0, size[2] / 2), is_container=True, wall=0.004)
    pose = item.pose.copy()
    pose[:3, :3] = rotation_about([0, 0, 1], yaw)
    return replace(item, pose=pose)


def spots(container: SceneObject, *contents: SceneObject, limit: int = 1000) -> list[Spot]:
    scene = Scene((container, *contents), Table(np.eye(4), (0.9, 1.1)), 0.0)
    return spots_in(scene, container, held_block(), GRIPPER, BASE, limit=limit)


def clearance(spot: Spot, container: SceneObject) -> float:
    """Distance [m] of the block's nearest corner from the inside of the walls."""
    pose = inverse(container.pose) @ spot.release @ held_block().tcp_T_object
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * EDGE / 2 @ pose[:3, :3].T + pose[:3, 3]
    return float((np.asarray(container.size[:2]) / 2 - container.wall - np.abs(corners[:, :2])).min())


@pytest.mark.parametrize("yaw", [0.0, 0.5])
def test_it_keeps_off_the_walls(yaw: float) -> None:
    container = bin_of((0.22, 0.18, 0.07), yaw)
    for spot in spots(container, limit=5):
        assert clearance(spot, container) > 0.0049, "walls and objects are known to 4.9 mm (docs/reality.md)"


def test_where_there_is_no_more_room_it_still_goes_between_the_walls() -> None:
    container = bin_of((0.05, 0.05, 0.04))
    assert spots(container)[0].inside and clearance(spots(container)[0], container) > 0


def test_the_floor_comes_before_what_lies_there() -> None:
    brick = scene_object("brick_1", "box", (0.20, 0.07, 0.03), (0.05, 0.045, 0.019))
    best = spots(bin_of((0.22, 0.18, 0.07)), brick, limit=5)
    assert all(spot.position[1] < 0.0 for spot in best)


def test_a_leaning_hand_drops_it_into_a_deep_basket_rather_than_lay_it_on_the_wall() -> None:
    basket = scene_object("basket_1", "box", (0.156, 0.169, 0.16), (0.0, 0.27, 0.08), is_container=True, wall=0.0077)
    size = (0.08, 0.041, 0.018)
    carton = scene_object("carton_1", "box", size, (0.047, -0.102, 0.009))
    hand = make_transform(rotation_about([0, 1, 0], np.deg2rad(-15.0)) @ np.diag([1.0, -1.0, -1.0]), [0.044, -0.102, 0.016])
    held = Held(carton, Grasp("carton_1", hand, 0.041, 1.0, np.zeros((2, 3))), 0.041, inverse(hand) @ carton.pose, carton.pose)
    scene = Scene((basket,), Table(np.eye(4), (0.9, 1.1)), 0.0)
    half = np.array(size) / 2
    for spot in spots_in(scene, basket, held, load_arm("panda").gripper, np.array([-0.6, 0.0, 0.0])):
        pose = inverse(basket.pose) @ spot.release @ held.tcp_T_object
        reach = np.abs(pose[:2, :3]) @ half + np.abs(pose[:2, 3])
        assert (reach < np.array(basket.size[:2]) / 2 - basket.wall).all(), "no part of it is over a wall"
        assert spot.fall < 0.14
