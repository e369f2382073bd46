"""Drawers, lids and knobs in physics: they move as is told, and what did not move is not said to have."""

from contextlib import contextmanager

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.perception.handles import Handle, find_handles
from deskhand.recording.episode.writer import EpisodeWriter
from deskhand.sim.worldfile import world_from_dict
from deskhand.skills import articulated
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.handle_grips import handle_grips
from deskhand.trials.local import local_robot

FURNITURE = [
    {"kind": "drawer", "color": "brown", "pose": [-0.08, 0.15, 3.1]},
    {"kind": "lid_box", "color": "blue", "pose": [-0.10, -0.16, 0.1]},
    {"kind": "knob", "color": "yellow", "pose": [0.08, -0.02, 0.4]},
]
X, Y, Z = np.eye(3)


@contextmanager
def robot(tmp_path, fixtures):
    with (
        EpisodeWriter(tmp_path) as writer,
        local_robot(world_from_dict({"fixtures": fixtures, "reality": "mild", "seed": 0}), writer, tmp_path / "m.sqlite") as parts,
    ):
        parts.wait(0.5)
        ctx = SkillContext(parts.robot, Belief())
        ctx.look()
        yield ctx, parts.simulation


def named(ctx, color):
    return next(item.id for item in ctx.belief.scene.objects if item.color == color and item.size[2] > 0.03)


def test_a_drawer_opens_as_far_as_is_told_and_shuts_again(tmp_path):
    with robot(tmp_path, FURNITURE[:1]) as (ctx, simulation):
        opened = articulated.open_drawer(ctx, named(ctx, "brown"), 0.06)
        assert opened.ok, opened.message
        assert opened.data["moved"] == pytest.approx(simulation.truth().joints["drawer/drawer"], abs=0.008) and opened.data["moved"] > 0.05
        scene = ctx.belief.scene
        handles = [handle for item in scene.objects for handle in find_handles(scene.cloud, item, float(scene.table.pose[2, 3]))]
        front = min(handles, key=lambda handle: np.linalg.norm(handle.centre - opened.data["handle"]))
        shut = articulated.close_drawer(ctx, front.object_id, near=front.centre)
        assert shut.ok, shut.message
        assert simulation.truth().joints["drawer/drawer"] < 0.005
        again = articulated.close_drawer(ctx, named(ctx, "brown"))
        assert not again.ok, "it was shut"


def test_a_lid_stays_open_and_a_knob_turns_by_what_is_told(tmp_path):
    with robot(tmp_path, FURNITURE[1:]) as (ctx, simulation):
        refused = articulated.open_drawer(ctx, named(ctx, "blue"))
        assert refused.code == "no_handle"
        turned = articulated.turn_knob(ctx, named(ctx, "yellow"), 1.2)
        assert turned.ok, turned.message
        assert turned.data["moved"] == pytest.approx(simulation.truth().joints["knob/knob"], abs=0.2)
        back = articulated.turn_knob(ctx, named(ctx, "yellow"), -1.0)
        assert back.ok and turned.data["moved"] - back.data["moved"] == pytest.approx(simulation.truth().joints["knob/knob"], abs=0.25)
        lid = articulated.open_lid(ctx, named(ctx, "blue"))
        assert lid.ok, lid.message
        simulation.step(2.0)
        assert simulation.truth().joints["lid_box/lid"] > np.radians(95)


@pytest.mark.parametrize(("call", "code"), [(lambda ctx, name: articulated.open_drawer(ctx, name, float("nan")), "invalid_input")])
def test_bad_numbers_are_refused(tmp_path, call, code):
    with robot(tmp_path, FURNITURE[:1]) as (ctx, _):
        assert call(ctx, named(ctx, "brown")).code == code
        assert articulated.turn_knob(ctx, named(ctx, "brown"), 9.0).code == "invalid_input"
        assert articulated.open_lid(ctx, "nothing").code == "unknown_object"


def rod(gap=0.02):
    return Handle("cabinet", np.array([0.0, -0.1, 0.2]), -Y, X, np.array([gap + 0.012, 0.09, 0.012]), gap)


def test_a_bar_is_gripped_from_in_front_and_from_above_where_a_finger_fits_behind_it():
    gripper = load_arm("panda").gripper
    with_room, without = handle_grips(rod(0.03), gripper, 0.0), handle_grips(rod(0.004), gripper, 0.0)
    down = [grip for grip in with_room if grip.pose[2, 2] < -0.99]
    assert down and all(abs(grip.pose[1, 1]) > 0.99 for grip in down), "one finger behind, one in front"
    assert not [grip for grip in without if grip.pose[2, 2] < -0.99]
    straight = [grip for grip in without if grip.pose[1, 2] > 0.99]
    assert straight and all(abs(grip.pose[2, 1]) > 0.99 and grip.width == pytest.approx(0.012) for grip in straight)


def test_fingers_that_are_pushed_aside_by_nothing_stay_above_the_table_and_off_the_side():
    gripper = load_arm("wx250s").gripper
    low = Handle("drawer", np.array([0.0, -0.1, 0.012]), -Y, Z, np.array([0.026, 0.02, 0.012]))
    for grip in handle_grips(low, gripper, 0.0):
        tips = grip.pose[:3, 3] + gripper.finger_depth * grip.pose[:3, 2]
        assert tips[2] >= 0.0029 and tips[1] <= -0.1 + 0.013 - 0.0029
    assert handle_grips(Handle("drawer", np.zeros(3), -Y, X, np.array([0.03, 0.2, 0.06])), gripper, 0.0) == [], "wider than the fingers open"
