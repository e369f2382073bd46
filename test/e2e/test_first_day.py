"""A first day without hardware, as its owner starts it, checked on where objects really are.

By default a short one of the JetArm, resumed where its play and its camera have been measured, from the servo bus to the pick. ``DESKHAND_FIRST_DAYS=all`` (or
names with commas) walks through every step, as .github/workflows/first-day.yml does each night for every arm.
"""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from deskhand.arms.config import load_arm
from deskhand.arms.unit import UnitData
from deskhand.bench.rehearsal.unit import Unit
from deskhand.bringup.first_day.common import ARMS, steps_of
from deskhand.bringup.first_day.journal import Entry, Journal
from deskhand.cameras.config import camera_of, load_camera, save_camera
from deskhand.recording.episode.reader import read_episode
from deskhand.sim.worldfile import load_world

CHOSEN = os.environ.get("DESKHAND_FIRST_DAYS", "")
ATTEMPTS = 3
LATE = ("stale_data", "no_frame", "timeout", "plan_expired", "controller_failed", "device_unavailable", "node_unavailable", "servo_fault")
"""What a busy machine stops a day for."""
MEASURED_BEFORE = ("gripper", "dry_run", "play", "camera", "registration", "handeye", "table")
"""Steps of a day that a short rehearsal finds done: each has tests of its own (test/unit/bringup/first_day, test/unit/calibration)."""
COMMAND = [sys.executable, "-m", "deskhand", "first-day"]


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


def _begun(arm, folder, seed=0):
    """The folder of a day whose slow measurements were made before: the gripper's widths, the play, and where the camera is."""
    unit, journal = Unit(arm, folder / "rehearsal", seed), Journal.open(folder, arm, rehearsal=True)
    play = {joint: float(np.degrees(whole)) for joint, whole in unit.plays.items()}
    UnitData(table=unit.data["driver"]["gripper"]["table"], backlash=play).write(load_arm(arm), folder / "arm.yaml")
    mount = camera_of(arm, "fixed")
    save_camera(replace(load_camera(mount), pose=unit.camera(mount).world_T_camera), folder / "camera.yaml")
    journal.settings = {"camera": "ros", "mount": mount}
    journal.entries = {step: Entry("2026-01-01 12:00:00", 1.0, 1.0, "0") for step in MEASURED_BEFORE}
    journal.save()


def test_a_day_that_is_resumed_goes_from_the_servo_bus_to_a_block_in_the_tray(tmp_path):
    _begun("jetarm", tmp_path)
    before = (tmp_path / "camera.yaml").read_text()
    done = _walked("jetarm", tmp_path)
    steps = [step.name for step in steps_of("jetarm")]
    assert sorted(json.loads((tmp_path / "journal.json").read_text())["steps"]) == sorted(steps)
    assert all((f"] {step}: " in done.stdout) == (step not in MEASURED_BEFORE) for step in steps), "what is done is not done again"
    assert "Does the red block lie in the tray?\n    > True" in done.stdout, "the person of a rehearsal answers by the truth"
    assert (tmp_path / "camera.yaml").read_text() == before
    _zeros_found(tmp_path)
    assert all(file.is_file() for file in (tmp_path / "pictures/pick.png", tmp_path / "safety.yaml", tmp_path / "nodes.yaml"))


def _zeros_found(folder):
    truth, unit = load_arm(str(folder / "rehearsal/truth.yaml")), load_arm(str(folder / "arm.yaml"))
    for joint in truth.joints:
        assert abs(unit.driver.servos[joint].angle_of(truth.driver.servos[joint].zero)) < np.radians(1.5), f"the zero of {joint} was found"
    return truth, unit


@pytest.mark.parametrize("arm", [name for name in ARMS if CHOSEN == "all" or name in CHOSEN.split(",")])
def test_a_rehearsed_first_day_ends_with_a_block_in_the_tray(tmp_path, arm):
    done = _walked(arm, tmp_path)
    journal = json.loads((tmp_path / "journal.json").read_text())
    assert list(journal["steps"]) == [step.name for step in steps_of(arm)]
    assert "Does the red block lie in the tray?\n    > True" in done.stdout, "the person of a rehearsal answers by the truth"

    truth, unit = _zeros_found(tmp_path)
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
