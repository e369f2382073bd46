"""The perception benchmark counts what it says it counts."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")

from deskhand.bench.perception.measure import angle_error, compare
from deskhand.bench.perception.run import Level, Options, perception_campaign, summary
from deskhand.bench.perception.scenes import EDGE, built
from deskhand.bench.perception.truth import TABLE, SeenTruth, seen_truth
from deskhand.errors import DeskhandError
from deskhand.geometry import rotation_rpy
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import ObjectSpec, TruthObject, WorldSpec, pose_at
from deskhand.trials.campaigns.execute import run_here
from deskhand.types import Scene, SceneObject, Table


def found(x, size=(0.03,) * 3, label="block", **changes):
    item = SceneObject(f"{label}_{x}", label, "red", "box", np.array(size), pose_at(x, 0.0, 0.015), np.zeros((0, 3), np.float32), 1.0)
    return replace(item, **changes)


def truth(x, visible=1.0, size=(0.03,) * 3):
    return SeenTruth(TruthObject(f"t{x}", "block", size, pose_at(x, 0.0, 0.015)), visible, ("red",), (TABLE,), "on")


def scene(*objects):
    return Scene(objects, Table(np.eye(4), (1.0, 1.0)), 0.0)


def test_what_is_too_far_off_is_missed_and_false():
    rows, false = compare(scene(found(0.025), found(0.301)), [truth(0.0), truth(0.3)])
    assert [row["found"] for row in rows] == [False, True]
    assert false == 1
    assert rows[1]["position_error"] == pytest.approx(0.001)


def test_what_is_hidden_counts_neither_way():
    rows, false = compare(scene(found(0.0)), [truth(0.0, visible=0.1), truth(0.3, visible=0.1)])
    assert rows == [] and false == 0


def test_one_object_is_not_found_twice():
    rows, false = compare(scene(found(0.001), found(-0.004)), [truth(0.0)])
    assert rows[0]["position_error"] == pytest.approx(0.001) and false == 1


def test_turns_that_give_the_same_box_cost_nothing():
    real = truth(0.0, size=(0.03, 0.03, 0.05))
    pose = real.item.pose.copy()
    pose[:3, :3] = rotation_rpy(0.0, 0.0, np.pi / 2)
    assert angle_error(real, found(0.0, (0.03, 0.03, 0.05), pose=pose)) == pytest.approx(0.0, abs=1e-6)
    pose[:3, :3] = rotation_rpy(0.0, 0.0, 0.2)
    assert angle_error(real, found(0.0, (0.03, 0.03, 0.05), pose=pose)) == pytest.approx(0.2, abs=1e-6)


def test_shares_of_nothing_are_none():
    assert summary([])["recall"] is None


@pytest.fixture(scope="module")
def looked_at():
    def block(name, x, y, z):
        return ObjectSpec(name, "block", (EDGE,) * 3, (0.8, 0.1, 0.1), 0.02, pose_at(x, y, z))

    behind = (block("tall", 0.0, 0.0, EDGE / 2), block("on it", 0.0, 0.0, 1.5 * EDGE + 0.0005), block("free", 0.0, 0.2, EDGE / 2))
    wall = ObjectSpec("wall", "box", (0.02, 0.1, 0.09), (0.1, 0.1, 0.8), 0.1, pose_at(0.06, 0.0, 0.045))
    simulation = Simulation(WorldSpec((*behind, wall)))
    try:
        with RgbdRenderer(simulation) as renderer:
            frame = renderer.render()
            return {item.item.name: item for item in seen_truth(simulation, renderer, frame)}
    except DeskhandError as error:
        pytest.skip(str(error))


def test_visible_shares_and_supports_come_from_the_simulation(looked_at):
    assert looked_at["free"].visible == pytest.approx(1.0, abs=0.08)
    assert looked_at["tall"].visible < 0.05
    assert 0.1 < looked_at["on it"].visible < 0.9
    assert looked_at["on it"].carried_by == ("tall",)
    assert looked_at["free"].carried_by == (TABLE,)


def test_built_objects_stand():
    for seed in range(3):
        world = built("wx250s", seed)
        end = Simulation(world).truth()
        assert all(np.linalg.norm(end.get(item.name).pose[:3, 3] - item.pose[:3, 3]) < 0.004 for item in world.objects)


def test_a_run_has_every_number():
    try:
        result = run_here(perception_campaign(Options(scenes=4, noise_scenes=0, looks=2, seed=3)))
    except DeskhandError as error:
        pytest.skip(str(error))
    assert set(result["ways"]) == {"spread", "touching", "stacked", "in containers", "built"}
    assert result["clutter"]["looks"] == 8 and result["clutter"]["recall"] > 0.8
    assert result["clutter"]["ids_kept"] > 0.8


def test_levels_change_the_sensor():
    assert Level(noise=2.0).sensor.noise == pytest.approx(2 * Level().sensor.noise)
    assert Level(holes=0.2).sensor.dropout == 0.2
