"""kill -9 of any node while the arm moves: the arm stops within 0.5 s of its own time, the trial ends with a clear code, the episode can be read."""

import pytest
from harness import kill_during_motion

from deskhand.recording.episode.reader import read_episode
from deskhand.recording.episode.report import write_report

SEED = 10
STOP_LIMIT = 0.5  # [s] of simulated time


KINDS = ["safety", "sim"]
"""Whose call runs, who watches, a bystander, the arm itself. test/e2e/attacks kills who answers; the others die every night, there and here."""


@pytest.mark.parametrize(
    "node",
    [
        *KINDS,
        *(pytest.param(node, marks=pytest.mark.long) for node in ("motion", "recorder", "composed")),
        *(pytest.param(node, marks=pytest.mark.attacks) for node in ("perception", "grasping", "tool_server", "orchestrator")),
    ],
)
def test_a_killed_node_stops_the_arm_and_ends_the_trial_clearly(node, tmp_path):
    run = kill_during_motion(node, tmp_path, SEED)
    assert run.attempt.code == "node_unavailable" and not run.attempt.success
    assert f"node {node} ended (killed by SIGKILL)" in run.attempt.message
    assert run.seconds_to_end < 5.0
    if node != "sim":  # without the simulation there is no arm left
        assert run.stopped_at - run.killed_at < STOP_LIMIT, f"moved for {run.stopped_at - run.killed_at:.2f} s after the kill"
    episode = read_episode(tmp_path)
    assert episode.complete is (node not in ("recorder", "composed"))
    assert any(event["event"] == "start" and event["tool"] == "pick" for event in episode.events)
    assert episode.looks() and episode.joints
    assert (tmp_path / "audit.jsonl").stat().st_size > 0
    assert "pick" in write_report(tmp_path).read_text()
