"""Scenes of the grasp campaign: each is told from the others, and the same for a seed."""

from dataclasses import replace

from deskhand.bench.grasp.run import Job, grasp_campaign
from deskhand.bench.grasp.subjects import hard_world, single_world


def test_each_scene_is_a_case_of_its_own():
    one = Job("single", "wx250s", 1, "mug")
    jobs = [
        one,
        replace(one, seed=2),
        replace(one, arm="jetarm"),
        replace(one, kind="clutter"),
        replace(one, kind="explore"),
        replace(one, kind="explore", hard=True),
    ]
    campaign = grasp_campaign(jobs, {"seed": 1})
    assert len({case.id for case in campaign.cases}) == 6 and Job(**campaign.cases[5].arguments) == jobs[5]
    assert campaign.settings == {"seed": 1, "arms": ["wx250s", "jetarm"]}


def test_hard_scenes_are_the_same_for_a_seed_and_heavier_than_others():
    worlds = [hard_world("wx250s", seed) for seed in range(60)]
    assert [hardship for _, hardship in worlds] == [hard_world("wx250s", seed)[1] for seed in range(60)]
    assert all(0.15 <= hardship.friction <= 1.0 and 1.0 <= hardship.noise <= 3.0 for _, hardship in worlds)
    easy = [single_world("wx250s", seed).objects[0] for seed in range(60)]
    hard = [world.objects[0] for world, _ in worlds]
    assert sum(item.mass for item in hard) > 1.5 * sum(item.mass for item in easy)
    assert [(item.kind, item.shape) for item in hard] == [(item.kind, item.shape) for item in easy]
