"""kill -9, SIGSTOP and a second clock against ``deskhand up sim``, seen by any client: a result that says why, the arm at rest, a record."""

import pytest
from run import attacks, table

pytest.importorskip("rclpy")
from freezes import freeze
from kills import strike
from robot import running


def test_a_frozen_node_is_named_the_robot_can_be_used_again_and_a_client_of_a_killed_orchestrator_is_answered(tmp_path):
    with running(tmp_path, 10) as (robot, client):
        frozen = freeze(robot, client, "tool_server", 2.0, 60.0, until_its_end=True)
        assert frozen.good and frozen.named and not frozen.ended_before, frozen
        assert client.wait(client.reset, 20.0)
        killed = strike(robot, client, "orchestrator", 3.0)
        assert killed.good and not killed.ended_before, killed


@pytest.mark.attacks
@pytest.mark.parametrize("kind", ["kills", "freezes", "clocks"])
def test_many(kind, attack_count, attack_seed, tmp_path):
    runs = list(attacks(kind, attack_count, attack_seed, tmp_path))
    broken = [run for run in runs if isinstance(run, str)]
    assert not broken, broken[0]
    assert all(run.good for run in runs), "\n".join([table(runs), *(str(run) for run in runs if not run.good)])
