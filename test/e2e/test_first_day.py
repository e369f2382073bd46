"""A whole first day without hardware, as its owner starts it, checked on where things really are.

The JetArm's by default; ``DESKHAND_FIRST_DAYS=all`` (or names with commas) rehearses the others too, as .github/workflows/first-day.yml does each night.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import yaml

from deskhand.arms.config import load_arm
from deskhand.cameras.config import load_camera
from deskhand.episode.reader import read_episode
from deskhand.first_day.common import ARMS, steps_of
from deskhand.sim.worldfile import load_world

CHOSEN = os.environ.get("DESKHAND_FIRST_DAYS", "jetarm")
ATTEMPTS = 3
LATE = ("stale_data", "no_frame", "timeout", "plan_expired", "controller_failed", "device_unavailable", "node_unavailable", "servo_fault")
"""What a busy machine stops a day for."""
COMMAND = [sys.executable, "-m", "deskhand.cli", "first-day"]


def _run(arm, folder, *more, timeout=900):
    return subprocess.run([*COMMAND, arm, "--rehearse", "--folder", str(folder), *more], capture_output=True, text=True, timeout=timeout, check=False)


def _walked(arm, folder):
    """To its end. Servos and cameras live in real time: what a machine that is busy with others stops is taken up by the same command, as a person would."""
    for attempt in range(ATTEMPTS):
        done = _run(arm, folder)
        if done.returncode == 0:
            return done
        stopped = json.loads((folder / "journal.json").read_text())["failures"]
        assert len(stopped) == attempt + 1 and stopped[-1]["code"] in LATE and attempt + 1 < ATTEMPTS, done.stdout[-3000:] + done.stderr
    return None


@pytest.mark.parametrize("arm", [name for name in ARMS if CHOSEN == "all" or name in CHOSEN.split(",")])
def test_a_rehearsed_first_day_ends_with_a_block_in_the_tray(tmp_path, arm):
    done = _walked(arm, tmp_path)
    journal = json.loads((tmp_path / "journal.json").read_text())
    assert list(journal["steps"]) == [step.name for step in steps_of(arm)]
    assert "Does the red block lie in the tray?\n    > True" in done.stdout, "the person of a rehearsal answers by the truth"

    truth, unit = load_arm(str(tmp_path / "rehearsal/truth.yaml")), load_arm(str(tmp_path / "arm.yaml"))
    for joint in truth.joints:
        assert abs(unit.driver.servos[joint].angle_of(truth.driver.servos[joint].zero)) < np.radians(1.5), f"the zero of {joint} was found"
    plays = yaml.safe_load((tmp_path / "rehearsal/servos.yaml").read_text())["plays"]
    for servo in unit.driver.servos.values():
        assert abs(np.degrees(servo.backlash) - plays[servo.id]) < 0.55, f"the play of servo {servo.id} was measured, as a ruler does"
    widths = np.linspace(truth.gripper.width_min, truth.gripper.width_max, 5)
    assert [unit.driver.gripper.width_of(truth.driver.gripper.ticks_of(width)) for width in widths] == pytest.approx(widths, abs=0.004)
    camera, seen = load_world(tmp_path / "rehearsal/work.yaml").camera.world_T_camera, load_camera(str(tmp_path / "camera.yaml")).pose
    assert np.linalg.norm(camera[:3, 3] - seen[:3, 3]) < 0.010, "the camera was found, where it was 20 mm beside"

    events = read_episode(Path(journal["steps"]["pick"]["measured"]["episode"])).events
    assert {"pick", "place_in"} <= {event.get("tool") for event in events}
    report = (tmp_path / "report.md").read_text()
    assert "**A rehearsal**" in report and all(f"| {step.name} | {step.title} | 20" in report for step in steps_of(arm))
    pictures = [line[line.index("(") + 1 : -1] for line in report.splitlines() if line.startswith("![")]
    assert len(pictures) == 4 and all((tmp_path / picture).is_file() for picture in pictures)
    for file in ("safety.yaml", "nodes.yaml"):
        assert yaml.safe_load((tmp_path / file).read_text())

    again = _run(arm, tmp_path, timeout=60)
    assert again.returncode == 0 and "(rehearsed)" not in again.stdout, "what is done is not done again"


def test_leaving_and_a_broken_journal_are_told_apart(tmp_path):
    left = subprocess.Popen([*COMMAND, "jetarm", "--rehearse", "--folder", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    seen = ""
    for line in left.stdout:
        seen += line
        if "[2/" in line:
            break
    time.sleep(0.5)
    left.send_signal(signal.SIGTERM)
    seen += left.communicate(timeout=30)[0]
    assert left.returncode == 130 and "the arm holds. Run the same command again to resume here." in seen
    journal = json.loads((tmp_path / "journal.json").read_text())
    names = [step.name for step in steps_of("jetarm")]
    count = len(journal["steps"])
    assert 0 < count < len(names) and list(journal["steps"]) == names[:count], "what was done is kept"
    assert [(each["step"], each["code"]) for each in journal["failures"]] == [(names[count], "cancelled")]
    shown = subprocess.run([*COMMAND, "jetarm", "--rehearse", "--folder", str(tmp_path), "--list"], capture_output=True, text=True, check=False)
    assert shown.returncode == 0 and f"{count} of {len(names)}" in shown.stdout

    (tmp_path / "journal.json").write_text("{")
    broken = _run("jetarm", tmp_path, timeout=60)
    said = " ".join(broken.stderr.split())
    assert broken.returncode == 1 and "cannot be read" in said and "mv /" in said


def test_a_first_day_with_nobody_at_the_terminal_is_refused(tmp_path):
    done = subprocess.run([*COMMAND, "jetarm", "--folder", str(tmp_path)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    said = " ".join(done.stderr.split())
    assert done.returncode == 1 and "no terminal" in said and "--rehearse" in said
    unknown = subprocess.run([*COMMAND, "panda", "--rehearse"], capture_output=True, text=True, check=False)
    assert unknown.returncode == 1 and "jetarm, so101, wx250s" in " ".join(unknown.stderr.split())
