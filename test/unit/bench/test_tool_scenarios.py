import math
import threading
import time
from itertools import combinations

import numpy as np
import pytest

from deskhand.bench.tools import base, run
from deskhand.bench.tools.base import Measured, Scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.drawing import GAP, region, stands_free
from deskhand.bench.tools.worlds import bare, behind, objects
from deskhand.errors import DeskhandError
from deskhand.etp.registry import Registry
from deskhand.geometry import make_transform
from deskhand.tasks.placement import footprint_of
from deskhand.tools import validated
from deskhand.tools.base import load_tools


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_tools(others=False)[0]


def test_every_card_has_an_example_a_failure_example_and_two_scenarios_that_it_passed(registry: Registry) -> None:
    scenarios = {(item.tool, item.name) for item in run.all_scenarios()}
    poor = []
    for card in registry.cards():
        passed = [item for item in card.validation if item.passed and (card.name, item.name) in scenarios]
        if not card.examples or not (card.failures or card.lenient) or len(passed) < 2:
            poor.append(card.name)
    assert not poor, "give them examples, failures and scenarios, then `deskhand tools validate --write`"


def test_every_scenario_is_of_a_tool_of_its_module_s_unit_and_its_result_is_kept(registry: Registry) -> None:
    for item in run.all_scenarios():
        card = registry.get(item.tool).card
        assert item.run.__module__.endswith(card.unit) and len(item.situation) > 20
        assert item.name in [kept.name for kept in card.validation]


def test_a_bar_is_met_on_its_right_side_only_and_never_by_nothing() -> None:
    assert Measured(1.0, "m", at_most=1.0).passed and not Measured(1.1, "m", at_most=1.0).passed
    assert Measured(1.0, "m", at_least=1.0).passed and not Measured(0.9, "m", at_least=1.0).passed
    assert Measured(0.0, "m", equal=0).passed and not Measured(0.1, "m", equal=0).passed
    assert not any(Measured(math.nan, "m", **{bar: 1.0}).passed for bar in ("at_most", "at_least", "equal"))
    with pytest.raises(ValueError, match="exactly one"):
        Measured(1.0, "m")


def test_two_scenarios_of_one_tool_cannot_have_one_name() -> None:
    item = run.all_scenarios()[0]
    with pytest.raises(ValueError, match="two scenarios"):
        base.scenario(tool=item.tool, name=item.name, situation="again")(item.run)


@pytest.mark.parametrize(
    ("error", "text"), [(DeskhandError("object_lost", "it is gone."), "object_lost: it is gone."), (ZeroDivisionError("oh"), "ZeroDivisionError: oh")]
)
def test_what_a_scenario_raises_is_a_failed_row_that_says_why(registry: Registry, error: Exception, text: str) -> None:
    def broken(desk: object) -> Measured:
        raise error

    row = run._measured(Scenario("look", "broken", "nothing works", bare, broken), registry, 0)
    assert not row.passed and row.value is None and row.problem == text


def test_a_scenario_measures_the_same_alone_and_after_others_and_another_sees_other_noise(registry: Registry) -> None:
    heard: dict[str, list[np.ndarray]] = {}

    def heaped(desk: ScenarioDesk) -> Measured:
        """Leaves all that it can: pictures that were taken, a camera that was knocked, objects elsewhere and said to be one, a stop, time that passed."""
        ids = desk.look()
        desk.shift("red", (0.02, 0.0))
        desk.knock(make_transform(None, (0.0, 0.01, 0.0)))
        desk.look()
        desk.robot.stop("by a scenario")
        desk.simulation.step(1.0)
        return Measured(len(ids), "objects", at_least=0)

    def looked(name: str) -> Scenario:
        def look(desk: ScenarioDesk) -> Measured:
            desk.look()
            assert desk.belief.scene is not None
            heard.setdefault(name, []).append(np.array([item.pose for item in desk.belief.scene.objects]))
            return Measured(desk.robot.now(), "s", at_least=0)

        return Scenario("detect_objects", name, "what is seen is kept for the test", objects, look)

    left = Scenario("detect_objects", "heaped", "leaves all behind that it can", objects, heaped)
    first = list(run.run([looked("one")], registry, seed=3))
    later = list(run.run([left, looked("other"), looked("one")], registry, seed=3))
    assert later[-1].value == first[0].value and np.array_equal(heard["one"][0], heard["one"][1])
    assert not np.array_equal(heard["one"][0], heard["other"][0])


def test_results_are_kept_beside_the_tools_and_old_ones_stay(registry: Registry, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(run, "validation_file", lambda group: tmp_path / f"{group}.json")
    kept = {"detect_objects": {"position": {"passed": True, "measure": "mm <= 8", "value": 2.0}, "no_more": {"passed": True, "measure": "", "value": 1.0}}}
    monkeypatch.setattr(run, "kept_results", lambda group: dict(kept))
    run.write([run.Row("detect_objects", "all_found", "…", 0.5, "share", ">= 1", False, 0.1)], registry, seed=7)
    monkeypatch.setattr(validated, "validation_file", lambda group: tmp_path / f"{group}.json")
    entries = validated.kept_results("perception")["detect_objects"]
    assert set(entries) == {"position", "all_found"} and entries["all_found"] == {"passed": False, "measure": "share >= 1", "value": 0.5, "seed": 7}


WORLDS = {item.world.__name__: item.world for item in run.all_scenarios() if item.world is not bare}


@pytest.mark.parametrize("name", sorted(WORLDS.keys() - {"crowded"}))
def test_a_desk_is_drawn_from_its_seed(name: str) -> None:
    first, again, other = (run.drawn_world(WORLDS[name], seed) for seed in (11, 11, 12))
    poses = [np.array([item.pose for item in (*world.objects, *world.fixtures)]) for world in (first, again, other)]
    assert np.array_equal(poses[0], poses[1]) and np.abs(poses[0] - poses[2]).max() > 0.01
    assert [item.name for item in first.objects] == [item.name for item in other.objects]


@pytest.mark.parametrize("seed", range(20, 23))
def test_what_is_drawn_stands_apart_in_reach_and_in_view(seed: int) -> None:
    world = run.drawn_world(objects, seed)
    for one, other in combinations(map(footprint_of, world.objects), 2):
        assert one.distance(other) >= GAP
    for item in world.objects:
        assert stands_free(world, item, [other for other in world.objects if other is not item])
        if item.kind != "bin":
            assert region("wx250s")["x"][0] <= item.pose[0, 3] <= region("wx250s")["x"][1]


def test_what_belongs_together_is_moved_as_one_and_turned_to_the_camera() -> None:
    for seed in range(5):
        world = run.drawn_world(behind, seed)
        block, tall = (next(item for item in world.objects if item.name == name).pose[:2, 3] for name in ("block", "tall"))
        toward = world.camera.world_T_camera[:2, 3] - block
        assert np.linalg.norm(tall - block) == pytest.approx(np.hypot(0.1, 0.01))
        assert (tall - block) @ toward / np.linalg.norm(toward) > 0.097  # [m] it stands before the block, as the camera sees it


def test_a_share_of_the_scenarios_is_drawn() -> None:
    scenarios = run.all_scenarios()
    tenth = run.drawn_share(scenarios, 0.1, 3)
    assert len(tenth) == round(0.1 * len(scenarios)) and tenth == run.drawn_share(scenarios, 0.1, 3) != run.drawn_share(scenarios, 0.1, 4)
    assert run.drawn_share(scenarios[:4], 0.1, 0) and run.drawn_share([], 0.5, 0) == []


def test_a_few_drawn_scenarios_pass_on_a_drawn_desk(registry: Registry) -> None:
    some = [item for item in run.all_scenarios() if item.world is objects]
    rows = list(run.run(run.drawn_share(some, 0.01, 31), registry, seed=31))
    assert len(rows) >= 2 and [f"{row.tool} {row.scenario} {row.value} {row.problem}" for row in rows if not row.passed] == []


def test_a_hand_tells_when_it_acts_not_when_it_was_asked_to(registry: Registry) -> None:
    """Something else lets time pass while it waits for its turn; a scenario that began to count before told of an event 0.35 s late that took 0.04 s."""
    with ScenarioDesk(objects(np.random.default_rng(3)), registry) as desk:
        desk.begin()
        simulation, taken = desk.simulation, threading.Event()

        def busy() -> None:
            with simulation.lock:
                taken.set()
                time.sleep(0.1)  # the hand comes and waits
                simulation.step(0.4)

        other = threading.Thread(target=busy)
        asked = simulation.time
        other.start()
        taken.wait(5.0)
        acted = desk.put("red", make_transform(None, (3.0, 0.0, 0.0)), settle=0.0)
        other.join()
        assert acted - asked == pytest.approx(0.4, abs=0.01) and acted == pytest.approx(simulation.time, abs=1e-6)
