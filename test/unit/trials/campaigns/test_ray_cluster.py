"""A Ray cluster, simulated on this machine: lost workers and lost machines cost no result, and nothing comes twice. Skipped where Ray is not installed."""

import os
import signal
from pathlib import Path

import pytest

from deskhand.bench.cluster.run import BEGUN, cluster_campaign
from deskhand.errors import DeskhandError
from deskhand.trials.campaigns.campaign import Shard
from deskhand.trials.campaigns.execute import execute
from deskhand.trials.campaigns.ray_cluster import RayCluster
from deskhand.trials.campaigns.results import read_results

ray = pytest.importorskip("ray", reason="Ray is not installed (pip install ray); `make test-campaigns` installs it and runs these tests")

SOURCES = str(Path(__file__).parents[4] / "src")


@pytest.fixture(scope="module")
def machines():
    """A cluster of four machines of one processor each, which a test may remove."""
    from ray.cluster_utils import Cluster

    os.environ["PYTHONPATH"] = os.pathsep.join([SOURCES, os.environ.get("PYTHONPATH", "")])  # for workers
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(4)]
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield cluster, nodes
    ray.shutdown()
    cluster.shutdown()


def run(campaign, path, told=lambda *_: None):
    return execute(campaign, RayCluster("auto"), Shard(), path, False, told, lambda _: None)


def running(folder, done):
    """Processes by the case that they run."""
    return {file.name: int(file.read_text().split()[-1]) for file in (folder / BEGUN).iterdir() if file.name not in done}


def test_a_worker_killed_in_the_middle_of_sixty_cases(machines, tmp_path):
    killed = []

    def told(ended, progress):
        if ended is not None and len(progress.results) >= 20 and not killed and (there := running(tmp_path, progress.results)):
            killed.append(next(iter(there)))
            os.kill(there[killed[0]], signal.SIGKILL)

    done = run(cluster_campaign(60, 0.2, tmp_path, render=False), tmp_path / "a.jsonl", told)
    lines = read_results(tmp_path / "a.jsonl")
    assert killed and not done.failed and len(done.results) == 60
    assert not lines.twice and not lines.missing and lines.lines[killed[0]]["attempts"] >= 2


def test_a_machine_that_goes_away_costs_no_result(machines, tmp_path):
    cluster, nodes = machines

    def told(ended, progress):
        if ended is not None and len(progress.results) == 10 and len(nodes) == 4:
            cluster.remove_node(nodes.pop(), allow_graceful=False)

    done = run(cluster_campaign(40, 0.3, tmp_path, render=False), tmp_path / "b.jsonl", told)
    assert len(nodes) == 3 and not done.failed and len(done.results) == 40 and not read_results(tmp_path / "b.jsonl").twice


def test_an_address_without_a_cluster_is_one_clear_error(machines):
    ray.shutdown()
    with pytest.raises(DeskhandError, match=r"no Ray cluster at 127\.0\.0\.1:1"):
        execute(cluster_campaign(1, 0.0, None, render=False), RayCluster("127.0.0.1:1"), Shard(), None, False, lambda *_: None, lambda _: None)
