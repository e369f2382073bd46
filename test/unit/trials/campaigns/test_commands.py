"""Campaigns by the command line: shards, merging, comparing, Ctrl-C, and what is refused."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deskhand.commands import cli
from deskhand.trials.campaigns.results import read_results


@pytest.fixture
def deskhand(monkeypatch, capsys):
    """The command in this process: (exit code, output, standard error in one line)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["deskhand", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        told = capsys.readouterr()
        return code, " ".join(told.out.split()), " ".join(told.err.split())

    return run


CASES = ("bench", "cluster", "--cases", 7, "--seconds", 0)


def test_shards_merge_into_what_one_run_would_have_written(deskhand, tmp_path):
    files = [tmp_path / f"{number}.json" for number in (1, 2, 3)]
    for number, file in enumerate(files, 1):
        assert deskhand(*CASES, "--shards", f"{number}/3", "--json", file)[0] == 0
    lines = [file.with_suffix(".jsonl") for file in files]
    code, said, _ = deskhand("merge", *lines, "--json", tmp_path / "all.json", "--results", tmp_path / "all.jsonl")
    assert code == 0 and "7 results of 3 files, success 7 of 7" in said
    assert json.loads((tmp_path / "all.json").read_text())["cases"] == 7 and not read_results(tmp_path / "all.jsonl").missing
    code, _, errors = deskhand("merge", *lines[:2], "--json", tmp_path / "part.json")
    assert code == 1 and "case_2, case_5" in errors and "shard 3/3 was not given" in errors and not (tmp_path / "part.json").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--shards", "9/3", "--json", "x.json"), "3/50"),
        (("--resume",), "--results"),
        (("--shards", "1/2"), "--results"),
        (("--workers", "2", "--ray", "local"), "exclude"),
        (("--track", "notes"), "mlflow, wandb"),
        (("--json", "x.jsonl"), "same file"),
    ],
)
def test_options_that_cannot_be_are_one_clear_error(arguments, says, deskhand, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, errors = deskhand(*CASES, *arguments)
    assert code == 1 and errors.startswith("error invalid_input:") and says in errors and not list(tmp_path.iterdir())


@pytest.mark.parametrize(("option", "package"), [(("--ray", "local"), "ray"), (("--track", "mlflow"), "mlflow"), (("--track", "wandb"), "wandb")])
def test_a_package_that_is_not_installed_is_named(option, package, deskhand, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    code, _, errors = deskhand(*CASES, *option)
    assert code == 1 and errors.startswith("error missing_dependency:") and f"pip install {package}" in errors


def test_ctrl_c_writes_what_is_done_and_says_how_to_go_on(tmp_path):
    command = [sys.executable, "-m", "deskhand", *map(str, CASES), "--workers", "2", "--json", str(tmp_path / "a.json")]
    command[command.index("0", 3)] = "0.5"
    environment = os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[2]), "COLUMNS": "300"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    lines = tmp_path / "a.jsonl"
    until = time.monotonic() + 60
    while time.monotonic() < until and not (lines.exists() and len(lines.read_text().splitlines()) >= 3):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 130 and "interrupted" in said and "--resume" in said and str(lines) in said
    before = read_results(lines)
    assert 2 <= len(before.results) < 7 and json.loads((tmp_path / "a.json").read_text())["cases"] == len(before.results)
    done = subprocess.run([*command, "--resume"], capture_output=True, text=True, env=environment, timeout=90)
    assert done.returncode == 0 and f"{len(before.results)} of 7 have a result already" in done.stdout and not read_results(lines).missing


def trials(path, successes):
    path.write_text(json.dumps({"trials": [{"seed": seed, "success": success} for seed, success in enumerate(successes)]}))
    return path


def test_two_campaigns_are_compared_by_seed(deskhand, tmp_path):
    old, new = trials(tmp_path / "old.json", [False] * 10 + [True] * 20), trials(tmp_path / "new.json", [True] * 29)
    code, said, _ = deskhand("report", "--compare", old, new, "--json", tmp_path / "c.json")
    found = json.loads((tmp_path / "c.json").read_text())
    assert code == 0 and "This is a change" in said and "not compared: 1 cases of the first and 0 of the second" in said
    assert found["pairs"] == 29 and found["table"] == {"both": 19, "only_first": 0, "only_second": 10, "neither": 0} and found["p"] == pytest.approx(2 / 2**10)
    code, said, _ = deskhand("report", "--compare", old, old)
    assert code == 0 and "No change is shown" in said
    code, _, errors = deskhand("report", "--compare", old)
    assert code == 1 and "takes two campaigns" in errors
    (tmp_path / "empty").mkdir()
    code, _, errors = deskhand("report", "--compare", old, tmp_path / "empty")
    assert code == 1 and "no episode" in errors
