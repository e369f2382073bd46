"""Tool calls, requests and goals as broken or hostile clients send them, at a whole robot: each is answered, nothing moves unasked, every node lives."""

import pytest

pytest.importorskip("rclpy")
from fuzzing import Attack
from harness import stack_with_watcher

from deskhand.recording.episode.reader import read_episode
from deskhand.trials.base import TrialOptions

CALLS, REQUESTS = 17, 9
"""So many for each of the ``--attacks``: 1000 and 500 at 60."""
NAMES = ["waist", "shoulder", "gripper", "world", "base_link", "cup_1", "block_1", "tray_1"]


@pytest.mark.attacks
@pytest.mark.parametrize(("what", "each"), [("tool_calls", CALLS), ("requests", REQUESTS)])
def test_hostile_clients_are_answered_and_move_nothing(what, each, attack_count, attack_seed, tmp_path):
    with stack_with_watcher(TrialOptions(seed=attack_seed % 1000), tmp_path) as (stack, watcher):
        tally = getattr(Attack(watcher, attack_seed, NAMES), what)(each * attack_count)
        assert stack.supervisor.died() == []
    assert not tally.hangs and not tally.unasked, "\n  ".join([tally.line(), *tally.hangs, *tally.unasked])
    assert read_episode(tmp_path).complete
