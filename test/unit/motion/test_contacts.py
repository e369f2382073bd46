"""Contacts that joint states show, made by formula: fingers that close, meet, let slip and lose; an arm that is pressed and moves."""

import numpy as np
import pytest

from deskhand.motion.contacts import ContactMonitor

STEP = 0.02
NAMES = ("one", "two")


def run(widths, positions=None, efforts=None, seed=0, step=STEP):
    random = np.random.default_rng(seed)
    monitor = ContactMonitor(0.0, NAMES)
    found = []
    for index, width in enumerate(widths):
        place = np.zeros(2) if positions is None else positions[index]
        load = np.array([0.5, -2.0]) if efforts is None else efforts[index]
        found += monitor.update(index * step, width + random.normal(0, 5e-5), place, load + random.normal(0, 0.01, 2))
    return [(contact.kind, round(contact.time, 3)) for contact in found]


def closing(to, start=0.05, speed=0.1):
    return list(np.arange(start, to, -speed * STEP)) + [to] * 40


def kinds(found):
    return [kind for kind, _ in found]


def test_fingers_that_meet_something_touch_and_those_that_shut_do_not():
    assert kinds(run(closing(0.03))) == ["touch"]
    assert kinds(run(closing(0.0))) == []
    touched = run(closing(0.03))[0][1]
    assert touched - STEP * len(np.arange(0.05, 0.03, -0.1 * STEP)) <= 0.3


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([0.028] * 20, ["touch", "slip"]),
        ([0.0] * 20, ["touch", "lost"]),
        (list(np.linspace(0.03, 0.05, 10)) + [0.05] * 20, ["touch", "released"]),
        ([0.0297] * 40, ["touch"]),
    ],
)
def test_what_is_held_slips_is_lost_or_is_let_go(after, expected):
    assert kinds(run(closing(0.03) + after)) == expected


def test_a_load_on_the_resting_arm_is_told_and_its_end_but_not_the_arm_s_own_motion():
    count = 200
    still, width = np.zeros((count, 2)), [0.05] * count
    loaded = np.tile([0.5, -2.0], (count, 1))
    loaded[80:140, 1] -= 3.0
    found = run(width, still, loaded)
    assert kinds(found) == ["stuck", "free"]
    assert found[0][1] - 80 * STEP <= 0.3 and found[1][1] - 140 * STEP <= 0.3
    moving = still.copy()
    moving[80:140, 0] = np.linspace(0, 1, 60)
    moving[140:, 0] = 1.0
    assert kinds(run(width, moving, loaded)) == []


def test_an_arm_that_tells_no_efforts_still_tells_its_fingers():
    widths = closing(0.03)
    assert kinds(_without_efforts(widths)) == ["touch"]


def _without_efforts(widths):
    monitor, found = ContactMonitor(0.0, NAMES), []
    for index, width in enumerate(widths):
        found += monitor.update(index * STEP, width, np.zeros(2), np.zeros(0))
    return [(contact.kind, contact.time) for contact in found]


def test_readings_that_are_far_apart_tell_no_contact():
    """On a busy machine joints were read every 0.4 s: the effort of one moment of a motion was a load that lasted, fingers that closed and opened stood."""
    still, efforts = np.zeros((12, 2)), np.tile([0.5, -2.0], (12, 1))
    efforts[6, 1] -= 3.0
    closed_and_opened = [0.05] * 5 + [0.042, 0.0424] + [0.05] * 5
    assert run(closed_and_opened, still, efforts, step=0.4) == []
