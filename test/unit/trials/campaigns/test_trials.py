"""Trials as cases: what is sent to a worker is all that it needs."""

import json
from pathlib import Path

import pytest

from deskhand.trials.base import TrialOptions
from deskhand.trials.campaign import options_from_json, options_to_json, run_one, trial_campaign


def test_options_come_out_of_json_as_they_went_in(tmp_path):
    options = TrialOptions("block_building", 7, tmp_path / "desk.yaml", "tidy up", local=True, fault="slip", files=(tmp_path,), images=2, record_rate=10.0)
    assert options_from_json(json.loads(json.dumps(options_to_json(options)))) == options
    assert options_from_json(options_to_json(TrialOptions())) == TrialOptions()


def test_a_case_says_all_and_seeds_are_no_setting(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_arm.yaml").write_text("name: mine")
    campaign = trial_campaign(TrialOptions("desk_cleaning", arm="my_arm.yaml", local=True), range(5, 8), Path("records"), only_successes=True)
    assert [case.id for case in campaign.cases] == ["seed_5", "seed_6", "seed_7"] and "seed" not in campaign.settings
    given = campaign.cases[2].arguments
    assert given["folder"] == str(tmp_path / "records/seed_7") and given["options"]["seed"] == 7 and given["options"]["arm"] == str(tmp_path / "my_arm.yaml")
    assert campaign.settings["arm"] == "my_arm.yaml" and campaign.settings["only_successes"] is True


class Drawn:
    """Stands for samples that were kept."""

    count = 3

    def write(self, folder):
        (folder / "drawn").write_text("pictures")


@pytest.mark.parametrize("success", [True, False])
def test_of_demonstrations_only_successes_are_kept_and_drawn(success, tmp_path, monkeypatch):
    def run_local(options, world, instruction, folder, tell, attempt, person):
        (folder / "audit.jsonl").write_text("{}\n")
        attempt.success, attempt.sampler = success, Drawn()

    monkeypatch.setattr("deskhand.trials.local.run_local", run_local)
    options = TrialOptions("block_building", 3, instruction="build a tower", local=True, record_rate=10.0)
    (case,) = trial_campaign(options, [3], tmp_path, only_successes=True).cases
    result = run_one(case)
    assert result["success"] is success and result["samples"] == 3
    assert (tmp_path / "seed_3" / "drawn").exists() is success and (tmp_path / "seed_3").exists() is success and bool(result["episode"]) is success
