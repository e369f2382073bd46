"""Workers on this machine: what they lose is begun again, nothing comes twice, and ending them lets them clean up."""

import os
import signal
import threading
import time

import pytest

from deskhand.bench.cluster.run import BEGUN, cluster_campaign
from deskhand.trials.campaigns.campaign import Campaign, Case, Shard
from deskhand.trials.campaigns.execute import execute
from deskhand.trials.campaigns.local_pool import LOST, LocalPool
from deskhand.trials.campaigns.reporting import tell
from deskhand.trials.campaigns.results import read_results


def nothing(settings, results):
    return {}


def kills_itself(case):
    tell(f"at {case.id}")
    if case.id == "case_2":
        os.kill(os.getpid(), signal.SIGKILL)
    if case.id == "case_1":
        return {"n": {1, 2}}  # no JSON
    return {"n": case.arguments["n"]}


def waits(case):
    try:
        time.sleep(case.arguments["n"])
    finally:
        with open(case.arguments["file"], "a") as file:  # noqa: PTH123
            file.write("cleaned up\n")
    return {}


def run(campaign, path, workers=2, told=lambda *_: None, retries=3, tell=lambda _: None):
    return execute(campaign, LocalPool(workers, retries), Shard(), path, False, told, tell)


def test_a_case_that_kills_its_worker_has_no_result_and_holds_nobody_up(tmp_path):
    heard = []
    campaign = Campaign("x", {}, [Case(f"case_{n}", {"n": n}) for n in range(5)], kills_itself, nothing)
    done = run(campaign, tmp_path / "a.jsonl", retries=1, tell=heard.append)
    assert [result["n"] for result in done.results.values()] == [0, 3, 4]
    assert done.failed["case_1"][0] == "internal_error" and done.failed["case_2"] == (LOST, "the process that ran it ended with signal SIGKILL, 2 times")
    assert heard.count("at case_2") == 2 and "at case_4" in heard
    assert read_results(tmp_path / "a.jsonl").missing == ["case_1", "case_2"]


def test_a_worker_killed_in_the_middle_costs_no_result_and_doubles_none(tmp_path):
    campaign = cluster_campaign(40, 0.02, tmp_path, render=False)
    killed = threading.Event()

    def told(ended, progress):
        if ended is not None and len(progress.results) == 10 and not killed.is_set():
            killed.set()
            running = {file.name: int(file.read_text().split()[1]) for file in (tmp_path / BEGUN).iterdir()}
            victims = [pid for name, pid in running.items() if name not in progress.results]
            os.kill(victims[0] if victims else next(iter(running.values())), signal.SIGKILL)

    done = run(campaign, tmp_path / "a.jsonl", told=told)
    lines = read_results(tmp_path / "a.jsonl")
    assert killed.is_set() and not done.failed and len(done.results) == 40 and not lines.twice and not lines.missing


def test_ending_a_campaign_lets_workers_clean_up_and_keeps_what_has_ended(tmp_path):
    cases = [Case(f"case_{n}", {"n": n, "file": str(tmp_path / "cleaned")}) for n in (0, 30, 31)]

    def told(ended, progress):
        if ended is not None:
            time.sleep(0.3)  # until the next one has been taken up
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Campaign("x", {}, cases, waits, nothing), tmp_path / "a.jsonl", told=told)
    assert (tmp_path / "cleaned").read_text().count("cleaned up") == 2
    assert read_results(tmp_path / "a.jsonl").missing == ["case_30", "case_31"]
