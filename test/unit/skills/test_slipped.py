"""What slips from the hand above a container: it is in it where a look says so, and lost where something like it lies elsewhere."""

from dataclasses import replace

import numpy as np

from deskhand.geometry import inverse, transform_points
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.pick import pick
from deskhand.skills.place import place_in
from deskhand.testing.desk_robot import DeskRobot
from deskhand.testing.desk_scene import one_of_each
from deskhand.types import moved


def context(robot, belief):
    return SkillContext(robot, belief, cancelled=lambda: False)


def in_bin(robot, name):
    bin_ = robot.objects["bin_1"]
    local = transform_points(inverse(bin_.pose), robot.objects[name].position)
    return bool(np.all(np.abs(local[:2]) < np.asarray(bin_.size)[:2] / 2))


def _drop(robot):
    if robot.held:
        robot.opened = robot.arm.gripper.width_min
        robot._fall()


def test_what_slips_from_the_hand_above_the_container_is_in_it_when_a_look_says_so():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(context(robot, belief), "block_1").ok
    robot.after_execute = _drop
    result = place_in(context(robot, belief), "bin_1")
    assert result.ok and in_bin(robot, "block_1"), result.message
    assert belief.held is None and not robot.attached


def test_what_slips_from_the_hand_and_bounces_off_the_rim_is_not_in_the_container():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(context(robot, belief), "block_1").ok

    def bounce(robot):
        if robot.held:
            _drop(robot)
            item = robot.objects.pop("block_1")
            pose = item.pose.copy()
            pose[:3, 3] = 0.05, -0.28, item.size[2] / 2
            robot.objects["lump_1"] = replace(moved(item, pose), id="lump_1", color="black", support="table", relation="on")

    robot.after_execute = bounce
    result = place_in(context(robot, belief), "bin_1")
    assert result.code == "object_lost" and "lump_1" in result.message, result.message
    assert belief.held is None and not [item for item in belief.everything().objects if item.support == "bin_1"]
