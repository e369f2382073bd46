"""Where the time of an object goes: cycles, and the bounds beside them, of records made by hand and of one that is recorded."""

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.bench.speed import Joints, cycles_of, episode_folders, summarise
from deskhand.errors import DeskhandError
from deskhand.motion.timing import rest_to_rest
from deskhand.recording.episode.timeline import Call

ARM = load_arm("wx250s")
OPEN, HELD = 0.045, 0.030


def call(number, tool, begun, ended, code="", **phases):
    return Call(str(number), tool, "agent", {"object_id": "can_1"}, 100 + 2 * begun, begun, 2 * (ended - begun), ended, code, robot_phases=phases)


def recorded():
    """Home for 1 s, at the object by 2 s, closed by 2.5 s, at its place by 4 s, opened by 4.5 s; once again the same way."""
    grasp, place = np.array([0.5, 0.2, 0, 0, 1, 0]), np.array([-0.5, 0.2, 0, 0, 1, 0])
    marks = [(0, [0] * 6, OPEN), (1, [0] * 6, OPEN), (2, grasp, OPEN), (2.5, grasp, HELD), (4, place, HELD), (4.5, place, OPEN), (6, grasp, OPEN)]
    marks += [(6.5, grasp, HELD), (8, place, HELD), (8.5, place, OPEN), (9, place, OPEN)]
    times = np.arange(0, 9, 0.1)
    of = np.array([stamp for stamp, _, _ in marks])
    arm = np.column_stack([np.interp(times, of, [float(joints[k]) for _, joints, _ in marks]) for k in range(6)])
    return Joints(times, arm, np.interp(times, of, [width for _, _, width in marks])), grasp, place


def test_a_motion_from_rest_to_rest_meets_its_limits_and_no_less():
    limits = np.array([2.0, 1.0]), np.array([4.0, 4.0])
    assert rest_to_rest([0, 0], [0.5, 0], *limits) == pytest.approx(2 * np.sqrt(0.5 / 4))  # never at full speed
    assert rest_to_rest([0, 0], [4, 0], *limits) == pytest.approx(4 / 2 + 2 / 4)
    assert rest_to_rest([0, 0], [1, -3], *limits) == pytest.approx(3 / 1 + 1 / 4)  # the slower joint tells
    assert rest_to_rest([1, 1], [1, 1], *limits) == 0
    with pytest.raises(DeskhandError, match="numbers"):
        rest_to_rest([0, np.nan], [1, 1], *limits)


def test_a_cycle_is_from_one_object_put_down_to_the_next_and_knows_its_bounds():
    joints, grasp, place = recorded()
    calls = [
        call(1, "detect_objects", 0.0, 0.5, perception=0.5),
        call(2, "pick", 1.0, 3.0, motion_limits=1.5, gripper=0.5),
        call(3, "place_in", 3.0, 5.0, motion_limits=1.0, motion_near_obstacle=0.4, gripper=0.5),
        call(4, "pick", 5.2, 5.4, "no_grasp", motion_limits=0.2),
        call(5, "pick", 5.4, 7.0, motion_limits=1.0, gripper=0.5),
        call(6, "place_on", 7.0, 7.5, "place_failed"),
        call(7, "place_on", 7.5, 8.9, motion_limits=1.0),
        call(8, "move_home", 8.9, 9.5),
    ]
    first, second = cycles_of(calls, joints, ARM)
    assert (first.object_id, first.robot, first.wall) == ("can_1", 5.0, 10.0)
    assert (second.robot, second.wall) == (pytest.approx(3.9), pytest.approx(7.8))
    assert first.phases["motion_limits"] == 2.5 and first.phases["gripper"] == 1.0 and first.phases["other"] == pytest.approx(5.0 - 4.4)
    between = rest_to_rest(grasp, place, ARM.max_velocity, ARM.max_acceleration)
    assert first.motion_bound == pytest.approx(rest_to_rest(np.zeros(6), grasp, ARM.max_velocity, ARM.max_acceleration) + between, rel=0.1)
    assert second.motion_bound == pytest.approx(2 * between, rel=0.1)
    assert first.gripper_bound == pytest.approx(2 * (OPEN - HELD) / (2 * ARM.gripper.speed), rel=0.15)
    found = summarise([first, second])
    assert found["objects"] == 2 and found["per_hour"] == round(3600 / 4.45)
    assert found["in_motion"] == pytest.approx((2.9 + 2.2) / 8.9, abs=0.01) and found["times_bound"] > 1


def test_without_recorded_joints_the_times_stay_and_the_bounds_are_not_known():
    nothing = Joints(np.zeros(0), np.zeros((0, 6)), np.zeros(0))
    (cycle,) = cycles_of([call(1, "pick", 0.0, 2.0, motion=2.0), call(2, "place_in", 2.0, 4.0, motion=2.0)], nothing, ARM)
    found = summarise([cycle])
    assert found["robot_s"]["median"] == 4.0 and found["in_motion"] == 1.0 and found["times_bound"] is None


def test_folders_without_records_and_records_without_objects_are_said(tmp_path):
    with pytest.raises(DeskhandError, match=r"no episode.mcap below .* "):
        episode_folders([tmp_path])
    with pytest.raises(DeskhandError, match="no object was put down"):
        summarise([])
