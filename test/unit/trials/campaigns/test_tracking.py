"""What a tracker of experiments is told; MLflow's own files are read. Skipped where it is not installed."""

import pytest

from deskhand.bench.cluster.run import cluster_campaign
from deskhand.trials.campaigns.campaign import Shard
from deskhand.trials.campaigns.execute import execute
from deskhand.trials.campaigns.local_pool import Inline
from deskhand.trials.campaigns.tracking import Tracker, plain_numbers


def test_numbers_at_the_top_are_metrics():
    assert plain_numbers({"success": True, "score": 0.5, "n": 3, "name": "x", "list": [1], "none": None}) == {"success": 1.0, "score": 0.5, "n": 3.0}


def test_mlflow_has_settings_results_and_summary(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed (pip install mlflow-skinny); `make test-campaigns` installs it")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    campaign = cluster_campaign(5, 0.0, None, render=False)
    with Tracker("mlflow", campaign, Shard()) as tracker:
        done = execute(campaign, Inline(), Shard(), None, False, lambda ended, _: tracker.told(ended) if ended else None, lambda _: None)
        tracker.finish(campaign.summarise(campaign.settings, list(done.results.values())), None)
    (run,) = mlflow.search_runs(experiment_names=["deskhand bench cluster"], output_format="list")
    assert run.info.status == "FINISHED" and run.data.params["cases"] == "5" and run.data.params["render"] == "False"
    assert run.data.metrics["success_rate"] == 1.0 and run.data.metrics["summary_cases"] == 5.0
