"""What is carried and gives way between the fingers, and is held still."""

from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.pick import pick
from deskhand.skills.place import place_in
from deskhand.testing.desk_robot import DeskRobot
from deskhand.testing.desk_scene import one_of_each


def _fingers_blip(robot, times):
    """The fingers read as closed once on each of the next ``times`` motions, and as before after it."""
    go, left = robot.execute, [times]

    def execute(plan_id, progress=None, cancelled=None):
        def asked():
            kept, robot.opened = robot.opened, robot.arm.gripper.width_min if left[0] > 0 else robot.opened
            left[0] -= 1
            try:
                return bool(cancelled and cancelled())
            finally:
                robot.opened = kept

        return go(plan_id, progress, asked)

    robot.execute = execute


def test_an_object_that_gives_way_on_the_way_and_is_held_still_is_brought_to_its_place_and_not_let_go_before():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(SkillContext(robot, belief), "block_1").ok
    _fingers_blip(robot, 1)
    result = place_in(SkillContext(robot, belief), "bin_1")
    assert result.ok, result.message
    off = robot.objects["block_1"].position - robot.objects["bin_1"].position
    assert (abs(off[:2]) < robot.objects["bin_1"].size[:2] / 2).all() and off[2] < robot.objects["bin_1"].size[2] / 2, "let go in the bin, not above it"


def test_an_object_that_gives_way_again_and_again_is_not_let_go():
    robot, belief = DeskRobot(one_of_each()), Belief()
    assert pick(SkillContext(robot, belief), "block_1").ok
    _fingers_blip(robot, 99)
    result = place_in(SkillContext(robot, belief), "bin_1")
    assert result.code == "place_failed" and "gave way" in result.message
    assert robot.held == "block_1" and belief.held is not None
