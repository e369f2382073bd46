"""Scenes, words and goals of balance_scale, and end states made by hand, of which each must be judged as what it is."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import Truth, TruthObject, pose_at
from deskhand.tasks.balance_goals import pan_of, weighings_allowed
from deskhand.tasks.balance_scale import HELD_OUT, MASSES, VARIANTS, BalanceScale, settings
from deskhand.tasks.base import Word
from deskhand.tasks.placement import footprint_of

TASK = BalanceScale()
SEEDS = range(60)
SEED = {variant: number for number, variant in enumerate(VARIANTS)}
LEVEL = {"balance/left": 0.0, "balance/right": 0.0}


def start(seed):
    return Truth(0.0, tuple(TruthObject(item.name, item.kind, item.size, item.pose) for item in TASK.world(seed).objects), joints=dict(LEVEL))


def moved(truth, name, pose=None, x=0.0, y=0.0, z=0.0):
    """The truth with an object at a pose, or shifted."""
    objects = []
    for item in truth.objects:
        if item.name == name:
            new = (pose if pose is not None else item.pose).copy()
            new[:3, 3] += [x, y, z]
            item = replace(item, pose=new)
        objects.append(item)
    return replace(truth, objects=tuple(objects))


def on_pan(truth, seed, name, side, aside=0.0):
    fixture = TASK.world(seed).fixtures[0]
    height = fixture.size[2] - truth.joints[f"balance/{side}"] + truth.get(name).size[2] / 2
    return moved(truth, name, fixture.pose @ pose_at(0.0, (1 if side == "left" else -1) * fixture.apart / 2 + aside, height))


def in_tray(truth, name):
    tray = truth.get("tray")
    return moved(truth, name, pose_at(tray.pose[0, 3], tray.pose[1, 3], 0.004 + truth.get(name).size[2] / 2))


def in_row(truth, names, gap=0.06, x=0.1):
    for number, name in enumerate(names):
        truth = moved(truth, name, pose_at(x, gap * (len(names) / 2 - number), truth.get(name).size[2] / 2))
    return truth


def judge(seed, end, **word):
    return TASK.score(seed, start(seed), end, Word(**{"success": True, **word}))


# ---------------------------------------------------------------- scenes and words


def test_scenes_are_as_promised():
    for seed in SEEDS:
        setting = TASK.setting(seed)
        assert setting.variant == TASK.group(seed) == VARIANTS[seed % 6]
        assert all(0.008 - 1e-9 <= mass <= 0.081 for mass in setting.masses.values())
        spots = [footprint_of(item) for item in setting.world.objects if item.pose[2, 3] < 0.06]
        assert min((a.distance(b) for i, a in enumerate(spots) for b in spots[:i]), default=1.0) >= 0.018, seed  # along a side; 26 mm from corner to corner
        assert TASK.world(seed).fixtures[0].kind == "balance"
        if setting.goal.weighings:
            assert 4 <= len(setting.goal.candidates) <= 9
            assert setting.goal.weighings == weighings_allowed(len(setting.goal.candidates))


@pytest.mark.parametrize(("count", "most"), [(4, 3), (5, 4), (9, 4)])
def test_weighings_that_are_allowed(count, most):
    assert weighings_allowed(count) == most


def test_what_looks_the_same_differs_in_mass_alone_and_the_words_do_not_tell():
    for seed in SEEDS:
        setting = TASK.setting(seed)
        items = [item for item in setting.world.objects if item.name in setting.alike]
        assert len({(item.size, item.rgb, item.kind) for item in items}) <= 1
        hidden = [f"{1000 * setting.masses[name]:g}" for name in setting.goal.candidates if not name.startswith("weight_")]
        assert not any(f" {grams} g" in setting.instruction for grams in hidden)


def test_shuffled_masses_change_the_goal_and_neither_the_picture_nor_the_words():
    changed = 0
    for seed in SEEDS:
        setting, other = TASK.setting(seed), TASK.setting(seed + MASSES)
        assert other.instruction == setting.instruction
        for item, again in zip(setting.world.objects, other.world.objects, strict=True):
            assert (item.name, item.kind, item.rgb, item.size) == (again.name, again.kind, again.rgb, again.size)
            assert np.allclose(item.pose, again.pose)
        assert sorted(setting.masses) == sorted(other.masses)
        changed += setting.masses != other.masses
    assert changed == len(SEEDS)
    assert TASK.setting(SEED["odd_one"] + MASSES).goal.chosen != TASK.setting(SEED["odd_one"]).goal.chosen


def test_no_sentence_is_in_both_lists_and_all_are_said():
    for words in settings()["wordings"].values():
        assert not set(words["dev"]) & set(words["held_out"])
    said = {seed: TASK.instruction(seed) for seed in [*SEEDS, *range(HELD_OUT, HELD_OUT + 60)]}
    assert not any("{" in text or "  " in text for text in said.values())
    assert not {said[seed] for seed in SEEDS} & {text for seed, text in said.items() if seed >= HELD_OUT}


def test_what_stands_on_the_pans_at_the_start_stays_there():
    seed = SEED["counterweight"]
    simulation = Simulation(TASK.world(seed))
    simulation.step(2.0)
    truth, fixture = simulation.truth(), TASK.world(seed).fixtures[0]
    assert [pan_of(truth.get(f"there_{side}"), fixture, truth) for side in ("left", "right")] == ["left", "right"]
    assert abs(truth.joints["balance/left"] - truth.joints["balance/right"]) < 0.001
    assert not judge(seed, truth).success


def test_a_weight_that_fits_levels_the_pans_in_physics_and_another_does_not():
    seed = SEED["counterweight"]
    setting = TASK.setting(seed)
    fits = f"weight_{1000 * setting.masses['can']:g}"
    for weight in setting.goal.candidates:
        objects = on_pan(on_pan(start(seed), seed, "can", "left", -0.02), seed, weight, "right", -0.02).objects
        placed = {item.name: item.pose for item in objects}
        world = replace(setting.world, objects=tuple(replace(item, pose=placed[item.name]) for item in setting.world.objects))
        simulation = Simulation(world)
        simulation.step(3.0)
        assert judge(seed, simulation.truth()).success == (weight == fits)


# ---------------------------------------------------------------- ends made by hand


def test_compare_wants_the_right_one_alone_in_the_tray():
    seed = SEED["compare"]
    goal = TASK.setting(seed).goal
    other = next(name for name in goal.candidates if name != goal.chosen)
    right = in_tray(start(seed), goal.chosen)
    assert judge(seed, right).score == 1.0
    for wrong in (
        start(seed),
        in_tray(start(seed), other),
        in_tray(right, other),
        replace(right, in_hand=(goal.chosen,), objects=moved(right, goal.chosen, z=0.1).objects),
    ):
        assert judge(seed, wrong).score == 0.0
    assert not judge(seed, moved(right, other, z=-0.6)).success  # fell off the desk


def test_odd_one_costs_half_when_it_took_too_many_weighings():
    seed = SEED["odd_one"]
    goal = TASK.setting(seed).goal
    right = in_tray(start(seed), goal.chosen)
    assert judge(seed, right, weighings=goal.weighings).score == 1.0
    late = judge(seed, right, weighings=goal.weighings + 1)
    assert late.score == 0.5 and not late.success
    other = next(name for name in goal.candidates if name != goal.chosen)
    assert judge(seed, in_tray(start(seed), other), weighings=1).score == 0.0


@pytest.mark.parametrize("tilt", [0.0, 0.0004, 0.0006, -0.0006])
def test_level_is_within_a_millimetre_with_all_on_its_pan(tilt):
    seed = SEED["balance"]
    weight = TASK.setting(seed).goal.any_right[0]
    end = replace(start(seed), joints={"balance/left": tilt, "balance/right": -tilt})
    end = on_pan(on_pan(end, seed, "can", "left"), seed, weight, "right")
    assert judge(seed, end).success == (abs(tilt) < 0.0005)


def test_level_with_the_object_taken_off_or_held_or_without_a_weight_is_no_success():
    seed = SEED["balance"]
    weight = TASK.setting(seed).goal.any_right[0]
    both = on_pan(on_pan(start(seed), seed, "can", "left"), seed, weight, "right")
    assert judge(seed, both).success
    assert not judge(seed, moved(both, "can", y=-0.3, z=-0.07)).success
    assert not judge(seed, moved(both, weight, x=0.12, z=-0.07)).success
    assert not judge(seed, replace(both, in_hand=(weight,))).success
    assert not judge(seed, on_pan(on_pan(both, seed, "can", "right"), seed, weight, "left")).success
    assert not judge(seed, moved(both, weight, z=0.03)).success  # above the pan, not on it


def test_counterweight_wants_what_stood_there_to_stay():
    seed = SEED["counterweight"]
    weight = TASK.setting(seed).goal.any_right[0]
    end = on_pan(on_pan(start(seed), seed, "can", "left", -0.02), seed, weight, "right", -0.02)
    assert judge(seed, end).success
    assert not judge(seed, moved(end, "there_left", x=0.14, z=-0.07)).success
    assert not judge(seed, start(seed)).success


def test_sort_wants_a_straight_row_in_order_on_the_desk():
    seed = SEED["sort"]
    row = TASK.setting(seed).goal.row
    right = in_row(start(seed), row)
    assert judge(seed, right).success
    wrong = [row[1], row[0], *row[2:]]
    assert not judge(seed, in_row(start(seed), wrong)).success
    assert not judge(seed, moved(right, row[1], x=0.05)).success
    assert not judge(seed, moved(right, row[1], z=0.03)).success
    assert not judge(seed, in_row(start(seed), row, gap=0.15)).success
    assert not judge(seed, start(seed)).success


def test_a_row_from_left_to_right_begins_at_the_left():
    seed = next(seed for seed in range(SEED["sort"], 600, 6) if "left to right" in TASK.instruction(seed))
    row = TASK.setting(seed).goal.row
    assert judge(seed, in_row(start(seed), row)).success
    assert not judge(seed, in_row(start(seed), row[::-1])).success


def test_grams_are_said_once_and_to_five_grams():
    seed = SEED["measure"]
    grams = TASK.setting(seed).goal.grams[0]
    for text, right in (
        (f"The can weighs {grams:.0f} g.", True),
        (f"It is {grams + 4:.1f} grams", True),
        (f"The can weighs {grams + 6:.0f} g.", False),
        ("The can is heavy.", False),
        (f"It weighs {grams:.0f} g or {grams + 20:.0f} g.", False),
    ):
        assert judge(seed, start(seed), summary=text).success == right
    assert not judge(seed, start(seed), summary=f"The can weighs {grams:.0f} g.", success=False).success
