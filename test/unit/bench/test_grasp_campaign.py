"""A grasp campaign that was cut goes on where it stopped, and loses no result."""

import json
from dataclasses import asdict

import pytest

from deskhand.bench.grasp.run import Job, campaign, finished
from deskhand.bench.grasp.subjects import hard_world, single_world
from deskhand.errors import DeskhandError

JOBS = [Job("single", "wx250s", seed, "mug") for seed in (1, 2)]
DONE = [{"job": asdict(job), "picks": []} for job in JOBS]


def test_a_line_that_was_cut_is_done_again_and_harms_no_other(tmp_path):
    file = tmp_path / "grasps.jsonl"
    file.write_text(json.dumps(DONE[0]) + "\n" + json.dumps(DONE[1])[:20])
    assert campaign(JOBS[:1], 1, file, lambda _: None) == DONE[:1], "nothing is left to do"
    with file.open("a") as lines:
        lines.write(json.dumps(DONE[1]) + "\n")
    assert campaign(JOBS, 1, file, lambda _: None) == DONE


def test_a_file_of_something_else_is_refused(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("milk\nbread\n")
    with pytest.raises(DeskhandError, match="line 1") as caught:
        finished(file)
    assert caught.value.code == "invalid_input" and file.read_text() == "milk\nbread\n"


def test_hard_scenes_are_the_same_for_a_seed_and_heavier_than_others():
    worlds = [hard_world("wx250s", seed) for seed in range(60)]
    assert [hardship for _, hardship in worlds] == [hard_world("wx250s", seed)[1] for seed in range(60)]
    assert all(0.15 <= hardship.friction <= 1.0 and 1.0 <= hardship.noise <= 3.0 for _, hardship in worlds)
    easy = [single_world("wx250s", seed).objects[0] for seed in range(60)]
    hard = [world.objects[0] for world, _ in worlds]
    assert sum(item.mass for item in hard) > 1.5 * sum(item.mass for item in easy)
    assert [(item.kind, item.shape) for item in hard] == [(item.kind, item.shape) for item in easy]
