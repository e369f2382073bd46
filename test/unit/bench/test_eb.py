"""The bench of EB-Manipulation: the expert's plans, what results mean together, and the one form that benchmarks have."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from deskhand.bench.eb.expert import expert_plan, run_expert
from deskhand.bench.eb.items import chance, tasks_of
from deskhand.bench.eb.run import markdown, summarise_items
from deskhand.commands.cli import app
from deskhand.errors import DeskhandError
from deskhand.sim.spec import Truth, TruthObject
from deskhand.types.action_cells import pose_of

PICK, STACK, SORTER, WIPE = tasks_of([], "wx250s")
SETTINGS = {"split": "dev", "seed": 0, "brain": "offline", "mode": "tools", "arm": "wx250s", "reality": "", "images": None}


def start(task, seed):
    return Truth(0.0, tuple(TruthObject(item.name, item.kind, item.size, item.pose) for item in task.world(seed).objects))


def item(kind, group, right, **more):
    plain = {"id": f"{kind}_{group}", "kind": kind, "group": group, "right": right, "success": right, "score": float(right), "chance": 0.1, "false_done": False}
    return {**plain, "said_done": right, "skill_calls": 2, "false_claims": [], "calls": 7, "wall_s": 1.0, "codes": [], "problems": [], **more}


def test_a_plan_of_the_expert_goes_from_the_object_to_its_target_in_fifteen_actions():
    for task, seed in ((PICK, 0), (PICK, 4), (STACK, 0), (STACK, 9)):
        setting, truth = task.setting(seed), start(task, seed)
        plan = expert_plan(setting, truth)
        assert len(plan) <= 15
        assert all(len(action) == 7 and min(action) >= 0 and max(action[:3]) <= 100 and max(action[3:6]) < 120 for action in plan)
        assert [action[6] for action in plan] == [1, 1, 0, 0, 0, 0, 1, 1]
        first, last = (setting.goal.item, setting.goal.container) if task is PICK else (setting.goal.top, setting.goal.bottom)
        for number, name in ((1, first), (5, last)):
            pose = pose_of(plan[number])
            assert np.abs(pose[:2, 3] - truth.get(name).pose[:2, 3]).max() <= 0.003 + 1e-9  # half a cell
            assert np.allclose(pose[:3, 2], [0, 0, -1])


def test_the_expert_wipes_from_one_end_of_the_area_to_the_other_at_the_height_at_which_it_took_the_sponge():
    for seed in range(4):
        setting, truth = WIPE.setting(seed), start(WIPE, seed)
        plan = expert_plan(setting, truth)
        assert [action[6] for action in plan] == [1, 1, 0, 0, 0, 0, 0, 0]
        assert plan[1][2] == plan[5][2] == plan[6][2]
        corners = np.asarray(next(one.outline for one in setting.world.stains if one.name == setting.goal.area))
        first, last = (pose_of(plan[number])[:2, 3] for number in (5, 6))
        assert np.linalg.norm((first + last) / 2 - (corners.min(axis=0) + corners.max(axis=0)) / 2) < 0.03
        assert np.linalg.norm(first - last) == pytest.approx(0.16, abs=0.02)
    assert chance(WIPE.setting(0)) == 0.5


@pytest.mark.long
def test_the_expert_does_it_in_physics(tmp_path):
    done = run_expert(STACK, 5, tmp_path / "stack", "none")
    assert done["success"] and done["calls"] == 8 and not done["codes"]


def test_chance_is_that_of_a_blind_choice():
    shapes = sum(item.kind != "box_open" for item in PICK.world(0).objects)
    assert chance(PICK.setting(0)) == pytest.approx(1 / (2 * shapes))
    assert chance(STACK.setting(0)) == pytest.approx(1 / 12)


def test_an_unknown_family_is_told():
    with pytest.raises(DeskhandError, match="valid: pick, stack, sorter, wipe"):
        tasks_of(["juggle"], "wx250s")


def test_results_are_told_by_family_and_subset_beside_chance_and_the_paper(tmp_path):
    results = [item("pick", "base", True), item("pick", "visual", False, false_done=True), item("stack", "base", True)]
    summary = summarise_items(SETTINGS, results)
    assert summary["metrics"]["right"]["count"] == 2 and summary["metrics"]["false_done"] == 1
    assert set(summary["by"]) == {"pick", "stack", "base", "visual"}
    low, high = summary["by"]["base"]["right"]["interval"]
    assert 0.3 < low < 0.4 and high == pytest.approx(1.0)  # Wilson's for 2 of 2
    table = markdown([summary])
    assert "| – visual | 1 | 0 |" in table and "a random choice" in table and "paper" in table

    file = tmp_path / "out.json"
    file.write_text(json.dumps(summary))
    shown = CliRunner().invoke(app, ["bench", "eb", "show", str(file)])
    assert shown.exit_code == 0 and "| – stack | 1 | 1 |" in shown.output
    file.write_text(json.dumps({"bench": "balance"}))
    assert CliRunner().invoke(app, ["bench", "eb", "show", str(file)]).exit_code != 0


def test_items_have_a_picture_and_what_must_be_true(tmp_path):
    made = CliRunner().invoke(app, ["bench", "eb", "make", str(tmp_path / "items"), "--split", "heldout", "--count", "1", "--family", "pick"])
    assert made.exit_code == 0, made.output
    (line,) = map(json.loads, (tmp_path / "items" / "items.jsonl").read_text().splitlines())
    assert (line["id"], line["seed"], line["kind"], line["group"]) == ("eb_pick_1000", 1000, "pick", "base")
    assert (tmp_path / "items" / line["picture"]).stat().st_size > 10000
    assert line["truth"]["container"] in ("container_1", "container_2")
