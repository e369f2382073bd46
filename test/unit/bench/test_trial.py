"""What a trial makes of what the robot did, without a robot."""

import json
import os
import socket

import pytest

from deskhand.bringup.domains import free_domain
from deskhand.errors import DeskhandError
from deskhand.sim.spec import Truth, TruthObject
from deskhand.tasks import load_task
from deskhand.tools.base import load_tools
from deskhand.trials.base import Attempt, TrialOptions, prepare
from deskhand.trials.campaign import options_from_json, options_to_json
from deskhand.trials.trial import judge
from deskhand.trials.trials import ran_to_an_outcome, summarise

TASK = load_task("desk_cleaning")


def truth(time, solved):
    world, goal = TASK.world(0), TASK.setting(0).goal
    by_name = {item.name: item for item in world.objects}
    objects = []
    for item in world.objects:
        pose = item.pose.copy()
        if solved and item.name in goal:
            pose[:3, 3] += by_name[goal[item.name]].pose[:3, 3] - pose[:3, 3] + [0, 0, -0.001]
        objects.append(TruthObject(item.name, item.kind, item.size, pose))
    return Truth(time, tuple(objects))


def result_of(attempt, **options):
    chosen = TrialOptions(**options)
    world, instruction = prepare(chosen)
    return judge(chosen, world, instruction, attempt)


def test_the_scorer_decides_on_success_whatever_the_agent_says():
    good = result_of(Attempt(False, "task_incomplete", "?", "no", 9, ("grasp_failed",), truth(1.0, False), truth(61.0, True), 12.5))
    assert good["success"] and good["score"] == 1.0 and good["agent_success"] is False and good["sim_s"] == 60.0 and good["wall_s"] == 12.5
    bad = result_of(Attempt(True, "", "", "done!", 9, (), truth(1.0, False), truth(61.0, False), 12.5))
    assert not bad["success"] and bad["score"] == 0.0 and bad["error_code"] == "task_incomplete" and "belongs in" in bad["error_message"]
    json.dumps([good, bad])


def test_without_truth_at_the_end_a_trial_is_no_success():
    result = result_of(Attempt(False, "node_unavailable", "node sim ended", start=truth(1.0, False)))
    assert not result["success"] and result["score"] == 0.0 and result["sim_s"] is None and result["final_objects"] == []


def test_an_own_instruction_is_judged_by_the_robots_own_word_and_reports_where_objects_are():
    result = result_of(Attempt(True, "", "", "ok", 3, (), truth(1.0, False), truth(5.0, True), 2.0), instruction="put it all away")
    assert result["success"] and result["score"] is None and result["objects"] == []
    rows = {row["name"]: row for row in result["final_objects"]}
    assert rows.keys() == {item.name for item in TASK.world(0).objects}
    name, wanted = next(iter(TASK.setting(0).goal.items()))
    assert rows[name]["where"] == wanted and len(rows[name]["pose"]["position"]) == 3 and len(rows[name]["pose"]["orientation"]) == 4


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"instruction": "  "}, "empty_instruction"),
        ({"task": "fly"}, "invalid_input"),
        ({"mode": "magic"}, "invalid_input"),
        ({"seed": -1}, "invalid_input"),
        ({"arm": "x"}, "config_error"),
        ({"brain": "x"}, "config_error"),
        ({"sim": "x"}, "invalid_input"),
        ({"sim": "gazebo", "local": True}, "invalid_input"),
    ],
)
def test_bad_options_are_refused_before_anything_starts(options, code):
    with pytest.raises(DeskhandError) as error:
        prepare(TrialOptions(**options))
    assert error.value.code == code


def test_tools_that_are_left_out_are_not_there_and_must_be_ours():
    names = {card.name for card in load_tools(others=False, without=("plan_structure",))[0].cards()}
    assert "plan_structure" not in names and "place_at" in names
    with pytest.raises(DeskhandError, match="no tool 'plan_structures'") as failed:
        load_tools(others=False, without=("plan_structures",))
    assert "plan_structure" in str(failed.value)
    options = TrialOptions(local=True, without=("plan_structure",))
    assert options_from_json(json.loads(json.dumps(options_to_json(options)))) == options


def test_a_scene_file_needs_an_instruction(tmp_path):
    with pytest.raises(DeskhandError) as error:
        prepare(TrialOptions(scene=tmp_path / "x.yaml"))
    assert error.value.code == "empty_instruction"


def test_the_first_cause_of_a_failure_stays():
    attempt = Attempt()
    attempt.failed("timeout", "first")
    attempt.failed("cancelled", "second")
    assert (attempt.code, attempt.message) == ("timeout", "first")


def test_the_summary_of_trials_has_rate_means_and_errors():
    good = result_of(Attempt(True, "", "", "", 9, ("grasp_failed",), truth(1.0, False), truth(61.0, True), 14.0))
    dead = result_of(Attempt(False, "node_unavailable", "node sim ended", start=truth(1.0, False), wall=1.0))
    for result in (good, dead):
        result["phases"] = {"perception": 1.0, "grasping": 1.0, "planning": 1.0, "motion": 2.0, "other": 0.0}
    summary = summarise("desk_cleaning", "offline", "tools", [good, dead])
    assert summary["success_rate"] == 0.5 and summary["mean_score"] == 0.5 and summary["phases"]["motion"] == 4.0
    assert summary["mean_sim_s_per_object"] == pytest.approx(60.0 / len(good["objects"]), abs=1e-3)
    assert summary["error_counts"] == {"grasp_failed": 1, "node_unavailable": 1}
    assert set(summary["trials"][0]) >= {"seed", "instruction", "success", "score", "wall_s", "sim_s", "tool_calls", "errors"}
    assert ran_to_an_outcome(good) and not ran_to_an_outcome(dead)


def test_two_trials_at_once_get_two_ros_domains_and_a_used_one_is_left_alone(monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", "95")
    with free_domain() as first, free_domain() as second:
        assert first >= 95 and first != second
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 7400 + 250 * first + 10))
        with free_domain() as third:
            assert third != first
    assert os.environ["ROS_DOMAIN_ID"] == "95"
