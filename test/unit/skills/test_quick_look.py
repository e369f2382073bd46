"""One picture after a place: what it takes in, and what it leaves to a look."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.perception.track.changes import Backdrop, changes
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.pick import pick
from deskhand.skills.place import place_in
from deskhand.skills.quick_look import put_of, quick_look
from deskhand.testing.desk_robot import CAMERA, WORLD_T_CAMERA, DeskRobot
from deskhand.testing.desk_scene import one_of_each
from deskhand.types import Frame, moved

SHAPE = (CAMERA.height, CAMERA.width)


def picture(depth):
    return Frame(np.zeros((*SHAPE, 3), np.uint8), depth.astype(np.float32), CAMERA, WORLD_T_CAMERA, 1.0)


def noisy(seed, sigma=0.0015):
    return 0.8 + sigma * np.random.default_rng(seed).standard_normal(SHAPE)


NOBODY = np.zeros(SHAPE, bool)


def test_noise_is_no_change_and_a_step_is_one_with_its_area():
    before = Backdrop.of(picture(noisy(1)), NOBODY)
    still = changes(before, picture(noisy(2)), NOBODY)
    assert not still.nearer.any() and not still.farther.any()
    now = noisy(2)
    now[100:140, 200:260] -= 0.02
    seen = changes(before, picture(now), NOBODY)
    side = 0.78 / CAMERA.fx
    assert seen.area(seen.nearer) == pytest.approx(40 * 60 * side**2, rel=0.1)
    assert seen.blobs(seen.nearer) == pytest.approx(seen.area(seen.nearer)) and not seen.farther.any()


def test_the_robot_changes_nothing_and_a_noisy_sensor_tells_nothing():
    robot = NOBODY.copy()
    robot[100:140, 200:260] = True
    now = noisy(2)
    now[robot] -= 0.3
    assert not changes(Backdrop.of(picture(noisy(1)), NOBODY), picture(now), robot).nearer.any()
    assert changes(Backdrop.of(picture(noisy(1, 0.02)), NOBODY), picture(noisy(2, 0.02)), NOBODY) is None


class Placed:
    """A block that was put into the bin, or as a test says, before anybody has looked since."""

    def __init__(self):
        self.robot, self.belief = DeskRobot(one_of_each()), Belief()
        self.ctx = SkillContext(self.robot, self.belief)
        assert pick(self.ctx, "block_1").ok
        self.held, self.before = self.belief.held, self.belief.scene
        bin_1 = self.before.get("bin_1")
        rest = self.held.object.pose.copy()
        rest[:3, 3] = [*bin_1.position[:2], 0.004 + 0.035 / 2]
        self.put = put_of(self.held, rest, bin_1)
        self.belief.released(rest)
        self.robot.attached = ""
        self.robot.objects["block_1"] = moved(self.robot.objects["block_1"], rest)
        self.robot.joints = np.asarray(self.robot.arm.named_poses["home"], dtype=float)

    def seen(self):
        looks = self.robot.looks
        scene = quick_look(self.ctx, self.put, self.before)
        assert self.robot.looks == looks
        return scene

    def push(self, name, by):
        pose = self.robot.objects[name].pose.copy()
        pose[:3, 3] += by
        self.robot.objects[name] = moved(self.robot.objects[name], pose)


def test_what_lies_where_it_was_let_go_is_taken_in_without_a_look():
    placed = Placed()
    scene = placed.seen()
    item = scene.get("block_1")
    assert (item.support, item.relation) == ("bin_1", "in") and placed.belief.scene is scene and placed.belief.fresh
    assert np.linalg.norm(item.position - placed.robot.objects["block_1"].position) < 0.003
    assert {other.id for other in scene.objects} == {other.id for other in placed.before.objects} | {"block_1"}


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("block_1", (0.0, -0.15, 0.0)),
        ("block_1", (0.05, -0.05, 0.07)),
        ("can_1", (0.03, 0.0, 0.0)),
        ("eraser_1", (0.0, 0.03, 0.0)),
        ("bin_1", (0.02, 0.0, 0.0)),
    ],
)
def test_what_lies_elsewhere_and_what_else_has_moved_is_left_to_a_look(name, by):
    placed = Placed()
    placed.push(name, by)
    assert placed.seen() is None


def test_what_comes_to_light_where_a_thing_was_taken_from_is_left_to_a_look():
    placed = Placed()
    hidden = replace(placed.robot.objects["can_1"], id="can_9")
    pose = hidden.pose.copy()
    pose[:2, 3] = placed.held.picked_from[:2, 3]
    placed.robot.objects["can_9"] = moved(hidden, pose)
    assert placed.seen() is None


def test_a_camera_that_has_moved_is_left_to_a_look():
    placed = Placed()
    placed.belief.backdrop = replace(placed.belief.backdrop, world_T_camera=placed.belief.backdrop.world_T_camera + 1e-3)
    assert placed.seen() is None


def test_a_place_says_so_by_one_picture():
    robot, belief = DeskRobot(one_of_each()), Belief()
    ctx = SkillContext(robot, belief)
    assert pick(ctx, "can_1").ok
    looks = robot.looks
    result = place_in(ctx, "bin_1")
    assert result.ok and result.data["seen"] and robot.looks == looks
