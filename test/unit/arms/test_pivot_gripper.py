"""A gripper of one fixed jaw and one that turns: widths and angles, the middle of what is held, the room that the jaw takes, what it meets as it closes."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.gripper import Boxes, ParallelGripper, PivotGripper, read_gripper
from deskhand.grasping.collision import closing, hand_clearance, lowest_point

GRIPPER = load_arm("so101").gripper
assert isinstance(GRIPPER, PivotGripper)
PIVOT: PivotGripper = GRIPPER
DOWN = np.diag([1.0, -1.0, -1.0, 1.0])


def block(width: float, above: float, below: float) -> np.ndarray:
    """Samples (N, 3) of a block in the tcp frame: its lower side flush with the fixed pad, from ``above`` [m] behind the tcp to ``below`` in front of it."""
    x, y, z = np.meshgrid(np.linspace(-0.015, 0.015, 13), np.linspace(0, width, 25), np.linspace(-above, below, 41))
    outside = (y == 0) | (y == width) | (z == -above)
    return np.column_stack([x[outside], y[outside] + PIVOT.pad_face, z[outside]])


@pytest.mark.parametrize("width", [0.002, 0.0158, 0.016, 0.03, 0.055, 0.075])
def test_width_and_angle_are_each_others_inverse(width: float) -> None:
    assert PIVOT.width_of(PIVOT.position_of(width)) == pytest.approx(width, abs=1e-9)


def test_a_wider_jaw_is_always_at_a_greater_angle_and_widths_beyond_the_range_are_clamped() -> None:
    widths = [PIVOT.width_of(angle) for angle in np.linspace(-0.1745, 1.5, 200)]
    assert (np.diff(widths) > 0).all()
    assert PIVOT.position_of(0.5) == PIVOT.position_of(PIVOT.width_max) < PIVOT.position_at(0.09)
    assert PIVOT.position_of(-1.0) == PIVOT.position_of(PIVOT.width_min)


def test_pads_are_parallel_at_0_and_the_middle_between_them_moves_with_the_width() -> None:
    apart = PIVOT.width_of(0.0)
    assert PIVOT.angle(apart) == pytest.approx(0.0) and PIVOT.tcp_offset(apart) == pytest.approx([0, 0, 0], abs=1e-9)
    for width in (0.004, 0.03, 0.06):
        assert PIVOT.tcp_offset(width) == pytest.approx([0, -0.0079 + width / 2, 0])
    assert PIVOT.tcp_offset(np.array([0.02, 0.04])).shape == (2, 3)


@pytest.mark.parametrize("arm", ["wx250s", "jetarm"])
def test_two_parallel_fingers_meet_in_the_tcp(arm: str) -> None:
    gripper = load_arm(arm).gripper
    assert isinstance(gripper, ParallelGripper)
    assert not gripper.tcp_offset(np.array([0.01, 0.04])).any() and gripper.lever == 1.0 and not gripper.one_sided
    assert gripper.stand_off(np.array([0.04]), np.array([0.02])) == 0.0 and gripper.widest(0.6) == gripper.width_max


def test_the_lean_of_the_jaw_limits_what_friction_holds() -> None:
    assert PIVOT.angle(PIVOT.widest(0.62)) == pytest.approx(math.atan(0.62))
    assert 0.05 < PIVOT.widest(0.62) < 0.06 and PIVOT.widest(0.3) < 0.04
    assert PIVOT.widest(5.0) == PIVOT.width_max


def test_the_force_of_a_pad_is_a_torque_of_the_joint() -> None:
    step = 1e-5
    across = (PIVOT.width_of(0.2 + step) - PIVOT.width_of(0.2)) / step
    assert PIVOT.lever == pytest.approx(0.0711) and across == pytest.approx(PIVOT.lever, rel=0.06)


def test_boxes_of_the_turned_jaw_are_where_the_jaw_is() -> None:
    opened = np.array([0.05])
    parts = PIVOT.finger_parts(opened)
    pad = parts[-1]
    edge = pad.centre[0] + [0, -pad.half[0, 1], -pad.half[0, 2]]
    y = pad.points(edge[None])[0, 1]
    assert y - PIVOT.pad_face == pytest.approx(0.05)
    points = np.random.default_rng(0).uniform(-0.1, 0.1, (50, 3))
    back = pad.seen_from(pad.points(points)[None, :, 1], pad.points(points)[None, :, 2])
    assert back[0][0] == pytest.approx(points[:, 1]) and back[1][0] == pytest.approx(points[:, 2])
    assert parts[0].angle is None and isinstance(parts[0], Boxes)


def test_the_open_jaw_needs_its_room_on_one_side_only() -> None:
    opened = np.array([0.05])
    low, high = PIVOT.reach_across(opened)
    beside = np.column_stack([np.zeros(20), np.zeros(20), np.linspace(0, 0.03, 20)])
    own = np.zeros((0, 3))
    for y, free in ((float(low[0]) - 0.002, True), (float(low[0]) + 0.002, False), (float(high[0]) + 0.002, True), (float(high[0]) - 0.002, False)):
        others = beside + np.array([0.0, -y, 0.0])  # the hand looks down: its y is the world's -y
        pose = DOWN.copy()
        pose[2, 3] = 0.02
        assert bool(hand_clearance(pose[None], opened, PIVOT, own, others, 0.0005)[0] > 0) is free
    assert high[0] > -low[0]


def test_what_the_object_must_not_touch_leans_with_the_jaw() -> None:
    """Beside the inner face of the leaning jaw, near its axis, there is less room than between the pads."""
    opened = np.array([0.05])
    inside = np.array([[0.0, PIVOT.pad_face + 0.045, 0.0]])
    far_in = np.array([[0.0, PIVOT.pad_face + 0.045, -0.045]])
    nothing = np.zeros((0, 3))
    pose = np.eye(4)[None]
    assert hand_clearance(pose, opened, PIVOT, inside, nothing)[0] > 0.002
    assert hand_clearance(pose, opened, PIVOT, far_in, nothing)[0] == -1.0


def test_the_tip_that_swings_is_told_to_the_table() -> None:
    pose = DOWN.copy()
    pose[2, 3] = 0.02
    angles = np.linspace(PIVOT.position_of(PIVOT.width_min), PIVOT.position_of(0.05), 200)
    _, _, _, tip = PIVOT.moving_jaw[-1]
    reach = max(PIVOT.pivot[1] - y * math.sin(angle) + tip * math.cos(angle) for angle in angles for y in PIVOT.moving_jaw[-1][:2])
    assert lowest_point(pose[None], np.array([0.05]), PIVOT)[0] == pytest.approx(0.02 - reach, abs=2e-4)
    assert lowest_point(pose[None], np.array([0.05]), PIVOT)[0] < 0.02 - PIVOT.finger_depth


@pytest.mark.parametrize("width", [0.008, 0.03, 0.045])
def test_a_shallow_block_is_met_by_the_pad_and_a_deep_one_farther_in(width: float) -> None:
    opened = np.array([width + 0.02])
    shallow = closing(np.eye(4)[None], opened, PIVOT, block(width, 0.006, 0.01))
    deep = closing(np.eye(4)[None], opened, PIVOT, block(width, 0.045, 0.01))
    assert shallow.width[0] == pytest.approx(width, abs=1e-6) and deep.width[0] == pytest.approx(width, abs=1e-6)
    assert shallow.measured[0] == pytest.approx(width, abs=0.0015)
    if width > PIVOT.width_of(0.0) + 0.01:
        assert deep.measured[0] > width + 0.005
    gap = PIVOT.stand_off(opened, np.array([width]))[0]
    assert shallow.offset[0] == pytest.approx(-gap)  # it touches the fixed pad already; while open the hand shall stand beside it


def test_the_stand_off_is_the_gap_or_half_of_the_room() -> None:
    opened, widths = np.array([0.05, 0.036, 0.03]), np.full(3, 0.03)
    assert PIVOT.stand_off(opened, widths) == pytest.approx([PIVOT.approach_gap, 0.003, 0.0])


def test_a_jaw_that_cannot_be_is_refused_by_name() -> None:
    values = {item.name: getattr(PIVOT, item.name) for item in fields(PIVOT)}
    assert read_gripper({**values, "kind": "pivot"}) == PIVOT
    with pytest.raises(ValueError, match=r"gripper.kind is 'claw'; valid: parallel, pivot"):
        read_gripper({**values, "kind": "claw"})
    with pytest.raises(ValueError, match="moving_jaw must be rows"):
        replace(PIVOT, moving_jaw=((0.0, -0.01, 0.0, 0.1),))
    with pytest.raises(ValueError, match="cannot open from"):
        replace(PIVOT, width_max=0.3)
    with pytest.raises(ValueError, match="fixed_link"):
        replace(PIVOT, fixed_link="")
    with pytest.raises(ValueError, match="greater y"):
        replace(PIVOT, pivot=(-0.02, -0.07))
