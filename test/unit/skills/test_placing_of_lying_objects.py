"""A pen that lies is put down along the heading that was asked for: its long axis is what counts, whatever axis of its own that is."""

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.geometry import inverse, make_transform, rotation_about
from deskhand.skills.belief import Held
from deskhand.skills.placement_sampling import spots_for_pose
from deskhand.types import Grasp, Scene, SceneObject, Table
from deskhand.world.level import level, turn_between

SCENE = Scene((), Table(pose=np.eye(4), size=np.array([1.0, 1.0])), 0.0)
DOWN = np.diag([1.0, -1.0, -1.0])


def held_pen(heading, roll):
    lying = rotation_about([0, 0, 1], heading) @ rotation_about([0, 1, 0], np.pi / 2) @ rotation_about([0, 0, 1], roll)
    pose, size = make_transform(lying, [0.1, 0.1, 0.006]), np.array([0.012, 0.012, 0.14])
    pen = SceneObject("pen_1", "pen", "blue", "cylinder", size, pose, np.zeros((0, 3), np.float32), 1.0)
    hand = make_transform(rotation_about([0, 0, 1], heading + np.pi / 2) @ DOWN, [0.1, 0.1, 0.01])
    grasp = Grasp("pen_1", hand, 0.012, 1.0, np.zeros((2, 3)))
    return Held(pen, grasp, 0.012, inverse(hand) @ pose, pose)


@pytest.mark.parametrize("roll", [-0.8, 0.0, 1.3])
@pytest.mark.parametrize("asked", [-1.0, 0.0, 0.8])
def test_the_long_axis_comes_to_lie_as_asked(asked, roll):
    held = held_pen(-0.25, roll)
    spots = spots_for_pose(SCENE, np.array([0.0, -0.1]), asked, 0.0, held, load_arm("wx250s").gripper)
    assert spots
    for spot in spots:
        lies = level(spot.release @ held.tcp_T_object, held.object.size)
        assert abs(turn_between(lies.yaw, asked)) < 1e-6 and lies.oblong
