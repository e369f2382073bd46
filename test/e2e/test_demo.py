"""One whole demo through the real nodes, as a user starts it, checked on where objects really are; and Ctrl-C in the middle of one."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deskhand.geometry import matrix_from_quaternion
from deskhand.recording.episode.reader import read_episode
from deskhand.safety.audit import verify
from deskhand.sim.spec import CONTAINER_KINDS
from deskhand.tasks import load_task

SEED = 10
"""A small scene: this test is about the way through all nodes; success over many scenes is measured by ``deskhand trial``."""


@contextlib.contextmanager
def started(folder):
    """A running demo; killed, with all that it started, when the test fails on the way."""
    command = [
        sys.executable,
        "-m",
        "deskhand",
        "demo",
        "--seed",
        str(SEED),
        "--episode",
        str(folder / "episode"),
        "--json",
        str(folder / "out.json"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as demo:
        try:
            yield demo
        finally:
            demo.kill()  # its reaper ends the nodes


def in_container(row, container):
    """Written apart from the scorer: the centre, in the container's frame, is between its walls and not above its rim by more than its own half size."""
    rotation = matrix_from_quaternion(container["pose"]["orientation"])
    local = rotation.T @ (np.array(row["pose"]["position"]) - container["pose"]["position"])
    half = np.array(container["size"]) / 2
    return bool(np.all(np.abs(local[:2]) < half[:2]) and local[2] < half[2] + max(row["size"]) / 2)


def test_the_demo_cleans_the_desk_and_leaves_its_record(tmp_path):
    with started(tmp_path) as demo:
        output, _ = demo.communicate(timeout=240)
    assert demo.returncode == 0, output
    task = load_task("desk_cleaning")
    assert task.instruction(SEED) in " ".join(output.split()) and "pick" in output and "score 1.00" in output and "report.html" in output
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["success"] and result["score"] == 1.0 and result["error_code"] == "" and result["summary"]
    rows = {row["name"]: row for row in result["final_objects"]}
    for name, container in task.setting(SEED).goal.items():
        assert in_container(rows[name], rows[container]), name
    for row in rows.values():
        if row["kind"] in CONTAINER_KINDS:
            assert matrix_from_quaternion(row["pose"]["orientation"])[2, 2] > 0.97, "upright"
    check_record(tmp_path / "episode")


def check_record(folder: Path):
    episode = read_episode(folder)
    assert episode.complete and episode.camera() is not None
    tools = [event["tool"] for event in episode.events if event["event"] == "end"]
    assert tools.count("pick") >= 4 and "detect_objects" in tools
    assert len(episode.looks()) >= 3 and all(look.objects for look in episode.looks())
    stamps = [stamp for stamp, _ in episode.joints]
    assert np.mean(np.diff(stamps)) == pytest.approx(0.1, abs=0.03) and np.all(np.diff(stamps) > 0)
    lines, _ = verify(folder / "audit.jsonl")
    assert lines >= 2 * len(tools)
    page = (folder / "report.html").read_text()
    assert "grasp of" in page and page.count("data:image/jpeg") >= 5


def test_ctrl_c_ends_a_demo_and_keeps_the_record(tmp_path):
    with started(tmp_path) as demo:
        for line in demo.stdout:
            if "approach" in line:
                break
        children = descendants(demo.pid)
        assert len(children) >= 9
        demo.send_signal(signal.SIGINT)
        output, _ = demo.communicate(timeout=20)
    assert demo.returncode == 130 and "interrupted" in output and "Traceback" not in output
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["error_code"] == "cancelled" and not result["success"]
    assert read_episode(tmp_path / "episode").complete and (tmp_path / "episode" / "report.html").is_file()
    assert [pid for pid in children if Path(f"/proc/{pid}").exists()] == [], "everything was stopped"


def descendants(pid):
    """Processes started by ``pid`` and by those."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                parent = int(Path(entry.path, "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            if parent == pid:
                found += [int(entry.name), *descendants(int(entry.name))]
    return found
