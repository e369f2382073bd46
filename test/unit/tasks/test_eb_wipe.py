"""Scenes and words of eb_wipe, what the grammar makes of them, and end states made by hand, of which each must be judged as what it is."""

import numpy as np
import pytest

from deskhand.language.intents import Unclear, Wipe
from deskhand.language.parser import parse
from deskhand.offline.wiping import chosen, left_in, parts
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import StainSpec, Truth, TruthObject, pose_at
from deskhand.sim.stains import Wiping
from deskhand.tasks.eb_manipulation import HELD_OUT
from deskhand.tasks.eb_wipe import HORIZONTAL, VERTICAL, WIPED_SUBSETS, EbWipe

WIPE = EbWipe()
SEEDS = range(16)


def ends(seed, named, other, **more):
    """The truth with so much left of the area that was named, and of the other."""
    setting = WIPE.setting(seed)
    rest = next(one.name for one in setting.world.stains if one.name != setting.goal.area)
    objects = tuple(TruthObject(item.name, item.kind, item.size, item.pose) for item in setting.world.objects)
    return Truth(0.0, objects, spots={setting.goal.area: named, rest: other}, **more)


def test_scenes_have_a_horizontal_and_a_vertical_area_and_a_sponge():
    for seed in SEEDS:
        setting = WIPE.setting(seed)
        assert setting.subset == WIPE.group(seed) == WIPED_SUBSETS[seed % 4]
        assert [item.kind for item in setting.world.objects] == ["sponge"]
        for stain, axis in zip(setting.world.stains, ([0, 1], [1, 0]), strict=True):
            corners = np.asarray(stain.outline)
            long = np.linalg.svd(corners - corners.mean(axis=0))[2][0]
            assert abs(long @ axis) > np.cos(np.radians(22.5)), (seed, stain.name)
            assert np.ptp(corners @ long) == pytest.approx(0.16, abs=0.01)
            sponge = setting.world.objects[0]
            assert np.linalg.norm(corners - sponge.pose[:2, 3], axis=1).min() > 0.045 + 0.0375 - 0.005
        first, second = (np.asarray(stain.rgb) for stain in setting.world.stains)
        assert not np.allclose(first, second)


def test_the_words_mean_the_area_that_has_to_be_wiped():
    for seed in SEEDS:
        setting = WIPE.setting(seed)
        (wish,) = parse(setting.instruction).intents
        assert isinstance(wish, Wipe), setting.instruction
        if setting.subset == "spatial":
            y = {stain.name: np.mean(np.asarray(stain.outline)[:, 1]) for stain in setting.world.stains}
            assert wish.place == ("left" if y[setting.goal.area] == max(y.values()) else "right")
        else:
            assert wish.direction == {HORIZONTAL: "left-right", VERTICAL: "front-back"}[setting.goal.area]
    said = {WIPE.instruction(seed) for seed in SEEDS}
    assert not said & {WIPE.instruction(seed) for seed in range(HELD_OUT, HELD_OUT + 16)}


def test_half_of_the_area_that_was_named_has_to_be_gone():
    for seed in (0, 3):
        begin = ends(seed, 1.0, 1.0)
        assert WIPE.score(seed, begin, ends(seed, 0.0, 1.0)).success
        assert WIPE.score(seed, begin, ends(seed, 0.5, 1.0)).success
        for end in (begin, ends(seed, 0.52, 1.0), ends(seed, 1.0, 0.0), ends(seed, 0.9, 0.0, in_hand=("sponge",))):
            score = WIPE.score(seed, begin, end)
            assert not score.success and score.score == 0.0 and score.problems


@pytest.mark.parametrize(("gap", "held", "success"), [(0.002, True, True), (0.010, True, False), (0.002, False, False)])
def test_a_sponge_cleans_only_where_it_is_held_near_enough(gap, held, success):
    """Carried along the axis of the area by hand: 10 mm too high, or let go, it takes nothing away."""
    setting = WIPE.setting(0)
    simulation = Simulation(setting.world)
    begin = simulation.truth()
    stain = next(one for one in setting.world.stains if one.name == setting.goal.area)
    body, joint = simulation.built.object_bodies[0], simulation.model.body_jntadr[simulation.built.object_bodies[0]]
    first, corners = simulation.model.jnt_qposadr[joint], np.asarray(stain.outline)
    middle, long = corners.mean(axis=0), np.linalg.svd(corners - corners.mean(axis=0))[2][0]
    for along in np.linspace(-0.08, 0.08, 9):
        pose = pose_at(*(middle + along * long), gap + setting.world.objects[0].size[2] / 2)
        simulation.data.qpos[first : first + 7] = [*pose[:3, 3], 1, 0, 0, 0]
        import mujoco

        mujoco.mj_kinematics(simulation.model, simulation.data)
        simulation._wiping.step(simulation.data, {body} if held else set())
    assert isinstance(simulation._wiping, Wiping) and isinstance(stain, StainSpec)
    assert WIPE.score(0, begin, simulation.truth()).success == success


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        ("Wipe away the paint of the vertical area.", ("front-back", "", "", "")),
        ("Please clean up the area which lies horizontally.", ("left-right", "", "", "")),
        ("Scrub the marked area that runs from left to right.", ("left-right", "", "", "")),
        ("Erase the vertical mark.", ("front-back", "", "", "")),
        ("Wipe the blue triangle at the front.", ("", "blue", "triangle", "front")),
        ("Take the sponge and wipe the area that lies like a log.", ("left-right", "", "", "")),
    ],
)
def test_areas_are_told_by_direction_colour_shape_and_place(said, wish):
    (found,) = parse(said).intents
    assert isinstance(found, Wipe) and (found.direction, found.color, found.shape, found.place) == wish


@pytest.mark.parametrize(
    "said", ["Do not wipe the horizontal area.", "Wipe the horizontal area unless dry.", "Wipe half of the vertical area.", "Wipe the desk."]
)
def test_what_is_only_half_read_is_not_wiped(said):
    assert not any(isinstance(item, Wipe) for item in parse(said).intents)


def test_the_area_that_words_fit_is_chosen():
    def stain(color, direction, y, filled):
        return {"color": color, "direction": direction, "position": [0.0, y], "length": 0.16, "width": 0.05, "area": filled * 0.16 * 0.05}

    stains = [stain("blue", "left-right", 0.2, 0.95), stain("green", "front-back", -0.2, 0.5)]
    assert chosen(Wipe("", "left-right"), stains) == stains[:1]
    assert chosen(Wipe("", color="green"), stains) == stains[1:]
    assert chosen(Wipe("", shape="triangle"), stains) == stains[1:]
    assert chosen(Wipe("", place="left"), stains) == stains[:1]
    assert chosen(Wipe(""), stains) == stains
    assert chosen(Wipe("", color="red"), stains) == []
    assert isinstance(parse("Wipe the horizontal area and the vertical area.").intents[0], Unclear)


@pytest.mark.parametrize(("box", "axis"), [([0.0, -0.2, 0.05, 0.16], 1), ([0.1, 0.0, 0.16, 0.05], 0)])
def test_parts_of_an_area_lie_in_it_and_end_at_one_of_its_short_sides(box, axis):
    found = parts(box)
    assert len(found) == 4 and [part[2 + axis] for part in found] == sorted((part[2 + axis] for part in found), reverse=True)
    for part in found:
        low, high = part[axis] - part[2 + axis] / 2, part[axis] + part[2 + axis] / 2
        ends = box[axis] - box[2 + axis] / 2, box[axis] + box[2 + axis] / 2
        assert low >= ends[0] - 1e-9 and high <= ends[1] + 1e-9
        assert np.isclose(low, ends[0]) != np.isclose(high, ends[1])
        assert part[1 - axis] == box[1 - axis] and part[3 - axis] == box[3 - axis]


def test_what_is_left_of_an_area_is_what_lies_in_it():
    stains = [{"area": 0.002, "position": [0.0, -0.25]}, {"area": 0.004, "position": [0.0, 0.2]}, {"area": 0.001, "position": [0.01, -0.15]}]
    assert left_in([0.0, -0.2, 0.05, 0.16], stains) == pytest.approx(0.003)
