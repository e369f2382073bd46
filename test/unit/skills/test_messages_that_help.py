"""Failures name what is in the way, how much is missing, and the nearest place that works."""

import re

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.geometry import rotation_about
from deskhand.grasping.generator import GraspGenerator
from deskhand.perception.balance import Balance, Pan
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.beside import place_beside
from deskhand.skills.carry import ready
from deskhand.skills.pan import room_on
from deskhand.skills.pick import pick
from deskhand.skills.place import place_in
from deskhand.skills.push import push
from deskhand.skills.put import place_at
from deskhand.skills.why import workspace_in_words
from deskhand.skills.wipe import wipe
from deskhand.testing.desk_robot import DeskRobot
from deskhand.testing.desk_scene import desk, one_of_each
from deskhand.testing.desk_scene import scene_object as an_object
from deskhand.types import SceneObject, Table

ARM = load_arm("wx250s")


def holding(robot: DeskRobot, name: str = "block_1") -> SkillContext:
    ctx = SkillContext(robot, Belief())
    assert pick(ctx, name).ok
    return ctx


def test_a_place_that_is_taken_names_what_stands_there_and_the_nearest_that_works() -> None:
    robot = DeskRobot(one_of_each())
    ctx = holding(robot)
    x, y = robot.objects["can_1"].position[:2]
    result = place_at(ctx, float(x), float(y))
    assert result.code == "no_free_space" and re.search(r"can_1 is \d+ mm too near", result.message)
    found = re.search(r"within reach that I find is \((-?[\d.]+), (-?[\d.]+)\), (\d+) mm off", result.message)
    assert found, result.message
    assert place_at(ctx, float(found[1]), float(found[2])).ok
    assert np.hypot(float(found[1]) - x, float(found[2]) - y) == pytest.approx(float(found[3]) / 1000, abs=0.002)


def test_a_side_that_is_taken_names_what_stands_there_and_a_side_that_is_free() -> None:
    box = an_object("box_1", "box", (0.05, 0.05, 0.05), (0.0, 0.0, 0.025), label="box")
    wall = an_object("wall_1", "box", (0.05, 0.30, 0.06), (-0.075, 0.0, 0.03), color="brown")
    robot = DeskRobot([an_object("block_1", "box", (0.034, 0.034, 0.034), (0.05, 0.2, 0.017)), box, wall])
    ctx = holding(robot)
    refused = place_beside(ctx, "box_1", "in_front_of", 0.01)
    assert refused.code == "no_free_space" and "wall_1 is" in refused.message
    side = re.search(r"(left of|right of|behind) it there is room", refused.message)
    assert side, refused.message
    assert place_beside(ctx, "box_1", side[1].replace(" ", "_"), 0.01).ok


def test_a_full_container_names_what_is_in_it_and_another_that_has_room() -> None:
    cup = an_object("tray_1", "box", (0.05, 0.05, 0.03), (0.0, 0.2, 0.015), label="tray", is_container=True, wall=0.003)
    inside = an_object("block_2", "box", (0.042, 0.042, 0.03), (0.0, 0.2, 0.018), support="tray_1", relation="in")
    bin_1 = next(item for item in one_of_each() if item.id == "bin_1")
    robot = DeskRobot([cup, inside, bin_1, an_object("block_1", "box", (0.034, 0.034, 0.034), (0.05, -0.1, 0.017))])
    result = place_in(holding(robot), "tray_1")
    assert result.code == "no_free_space"
    assert all(word in result.message for word in ("full", "block_2", "cm3", "bin_1 has the most room")), result.message


def test_what_is_too_wide_says_by_how_much() -> None:
    wide = an_object("box_1", "box", (0.12, 0.11, 0.10), (0.05, 0.0, 0.05))
    with pytest.raises(DeskhandError, match=r"the narrowest way across it is \d+ mm, \d+ mm too wide") as raised:
        GraspGenerator(ARM).generate(desk(wide), "box_1")
    missing = int(re.search(r"(\d+) mm too wide", raised.value.message)[1])  # type: ignore[index]
    assert raised.value.code == "no_grasp" and 20 < missing < 90


def test_what_stands_too_close_is_named_with_its_distance() -> None:
    middle = an_object("block_1", "box", (0.035, 0.035, 0.035), (0.0, 0.0, 0.0175))
    around = [
        an_object(f"block_{n}", "box", (0.035, 0.035, 0.06), (0.038 * x, 0.038 * y, 0.03))
        for n, (x, y) in enumerate([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)], start=2)
    ]
    with pytest.raises(DeskhandError, match=r"would touch block_\d \(\d+ mm off\).*each finger needs \d+ mm beside it") as raised:
        GraspGenerator(ARM).generate(desk(middle, *around), "block_1")
    assert raised.value.code == "no_grasp" and re.search(r"Move block_\d away", raised.value.hint)


def test_what_lies_too_far_says_how_far_and_where_it_would_be_reached() -> None:
    far = an_object("block_1", "box", (0.035, 0.035, 0.035), (0.38, 0.0, 0.0175))
    robot = DeskRobot([far], reach=0.45)
    result = pick(SkillContext(robot, Belief()), "block_1")
    away = 0.38 - float(ARM.world_T_base[0, 3])
    assert result.code == "no_grasp" and f"lies {away:.2f} m from the base" in result.message
    assert re.search(r"\d+ mm too far; the nearest place that works is about \(", result.message), result.message


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_a_pick_that_slips_says_after_how_much_of_the_lift(share: float) -> None:
    robot = DeskRobot(one_of_each())
    robot.slippery, robot.gives_at = 99, share
    result = pick(SkillContext(robot, Belief()), "ball_1")
    found = re.search(r"slipped out after (\d+) mm of lift", result.message)
    assert result.code == "grasp_failed" and found, result.message
    assert int(found[1]) == pytest.approx(100 * share, abs=2)


def test_the_workspace_is_one_sentence_with_the_desk_and_the_reach() -> None:
    said = workspace_in_words(ARM, Table(np.eye(4), (0.9, 1.1)))
    assert said.count(". ") == 0 and said.endswith(".")
    assert f"{ARM.reach:.2f} m" in said and f"{ARM.work_radius[1]:.2f} m" in said and "0.90 x 1.10 m" in said and "-0.45 to 0.45" in said
    assert "desk" not in workspace_in_words(ARM)


def test_a_push_that_something_stands_in_the_way_of_says_how_far_it_could_go() -> None:
    block = an_object("block_1", "box", (0.03, 0.03, 0.03), (0.0, 0.0, 0.015))
    ahead = an_object("cup_1", "box", (0.04, 0.04, 0.04), (0.10, 0.0, 0.02))
    robot = DeskRobot([block, ahead])
    refused = push(SkillContext(robot, Belief()), "block_1", 0.0, 0.08)
    found = re.search(r"cup_1 is in the way of block_1: it can go (\d+) mm that way, (\d+) mm are missing", refused.message)
    assert refused.code == "no_free_space" and found, refused.message
    assert (int(found[1]), int(found[2])) == (53, 27), "100 mm between the middles, 15 and 20 of them theirs, 12 kept clear"
    other_way = push(SkillContext(DeskRobot([block, an_object("cup_1", "box", (0.04, 0.04, 0.04), (0.0, 0.045, 0.02))]), Belief()), "block_1", -np.pi / 2, 0.05)
    assert "cup_1 stands where the fingers would come down behind block_1" in other_way.message


def test_an_area_to_wipe_that_is_taken_names_all_that_stands_there_and_the_nearest_that_is_free() -> None:
    cup = an_object("cup_1", "box", (0.04, 0.04, 0.04), (0.05, 0.0, 0.02))
    across = an_object("ruler_1", "box", (0.30, 0.03, 0.005), (0.0, -0.05, 0.0025))  # no corner and not the middle of it is in the area
    robot = DeskRobot([cup, across])
    refused = wipe(SkillContext(robot, Belief()), 0.09, -0.01, 0.10, 0.10)
    said = dict(re.findall(r"(\w+) is (\d+) mm too near", refused.message))
    assert refused.code == "no_free_space" and said == {"cup_1": "40", "ruler_1": "35"}, refused.message
    found = re.search(r"free and within reach is about \((-?[\d.]+), (-?[\d.]+)\), (\d+) mm off", refused.message)
    assert found and 35 <= int(found[3]) <= 110, refused.message
    assert wipe(SkillContext(robot, Belief()), float(found[1]), float(found[2]), 0.10, 0.10).ok


def test_an_area_to_wipe_is_not_taken_by_what_stands_askew_beside_it() -> None:
    pose = rotation_about([0, 0, 1], np.pi / 4)
    askew = an_object("box_1", "box", (0.10, 0.10, 0.04), (0.125, 0.125, 0.02))
    askew.pose[:3, :3] = pose
    assert wipe(SkillContext(DeskRobot([askew]), Belief()), 0.0, 0.0, 0.10, 0.10).ok


def test_an_area_to_wipe_beyond_the_table_says_by_how_much() -> None:
    refused = wipe(SkillContext(DeskRobot([]), Belief()), 0.42, 0.0, 0.10, 0.10)  # the table ends at x = 0.45 m
    assert refused.code == "invalid_input" and "beyond the table by 20 mm in x" in refused.message, refused.message


def balance(left: tuple[float, float] = (0.0, 0.09), right: tuple[float, float] = (0.0, -0.09), side: float = 0.07) -> Balance:
    return Balance(Pan(left, 0.06, side, 0.0, 400), Pan(right, 0.06, side, 0.0, 400), 0.0)


def plate(name: str, y: float, side: float = 0.07) -> SceneObject:
    return an_object(name, "box", (side, side, 0.06), (0.0, y, 0.03))


def test_a_pan_that_is_taken_names_what_lies_there_and_the_pan_that_has_room() -> None:
    weight = an_object("block_2", "box", (0.045, 0.045, 0.045), (0.0, 0.09, 0.0825), support="pan_1")
    robot = DeskRobot([plate("pan_1", 0.09), plate("pan_2", -0.09), weight, an_object("block_1", "box", (0.034, 0.034, 0.034), (-0.12, 0.0, 0.017))])
    ctx = holding(robot)
    held, scene = ready(ctx, "place it")
    with pytest.raises(DeskhandError, match=r"block_2 is \d+ mm too near") as raised:
        room_on(ctx, balance(), "left", held, scene)
    assert "on the right pan at (" in raised.value.message and "Take block_2 off" in raised.value.hint
