"""The journal of a first day: whole whatever happens, and clear about what is not its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deskhand.bringup.first_day.journal import FILE, Entry, Failure, Journal, locked
from deskhand.errors import DeskhandError


def _filled(folder: Path) -> Journal:
    journal = Journal.open(folder, "jetarm")
    journal.settings = {"port": "/dev/ttyUSB0"}
    journal.entries["unit"] = Entry("2026-01-02 03:04:05", 61.5, 40.0, "0.1.0", {"offsets": {"joint1": 1.25}, "table": [[200, 0.06]], "word": "ok"})
    journal.entries["table"] = Entry("2026-01-02 03:05:05", 1.0, 0.5, "0.1.0", {}, left_out=True)
    journal.failures.append(Failure("handeye", "2026-01-02 03:06:05", "calibration_failed", "the board was not seen."))
    journal.save()
    return journal


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    written, read = _filled(tmp_path), Journal.open(tmp_path, "jetarm")
    assert (read.settings, read.entries, read.failures, read.begun) == (written.settings, written.entries, written.failures, written.begun)
    assert read.done("unit") and read.done("table") and not read.done("handeye")
    assert list(read.measured) == ["unit"]


def test_a_new_folder_has_an_empty_journal_that_is_not_written_before_something_happened(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "new", "so101")
    assert not journal.entries and not (tmp_path / "new").exists()
    journal.save()
    assert Journal.open(tmp_path / "new", "so101").begun == journal.begun


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 1}', '{"version": 99, "arm": "jetarm"}', '{"version": 1, "steps": {"a": 1}}', "\x00\x01"], ids=range(7)
)
def test_a_broken_journal_is_said_with_what_to_do_and_stays_as_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(DeskhandError, match="cannot be read") as caught:
        Journal.open(tmp_path, "jetarm")
    assert caught.value.code == "config_error" and "mv " in caught.value.hint
    assert (tmp_path / FILE).read_text() == text


@pytest.mark.parametrize("cut", range(1, 10))
def test_no_journal_that_was_cut_off_is_taken_for_a_whole_one(tmp_path: Path, cut: int) -> None:
    _filled(tmp_path)
    text = (tmp_path / FILE).read_text()
    (tmp_path / FILE).write_text(text[: len(text) * cut // 10])
    with pytest.raises(DeskhandError, match="cannot be read"):
        Journal.open(tmp_path, "jetarm")


def test_the_journal_of_another_arm_or_of_a_rehearsal_is_refused(tmp_path: Path) -> None:
    _filled(tmp_path)
    with pytest.raises(DeskhandError, match="the folder of a jetarm, not of a so101"):
        Journal.open(tmp_path, "so101")
    with pytest.raises(DeskhandError, match="the folder of a real arm"):
        Journal.open(tmp_path, "jetarm", rehearsal=True)


def test_what_json_cannot_hold_leaves_the_old_file(tmp_path: Path) -> None:
    journal = _filled(tmp_path)
    before = (tmp_path / FILE).read_text()
    for value in (float("nan"), object()):
        journal.entries["look"] = Entry("", 0.0, 0.0, "0.1.0", {"value": value})
        with pytest.raises(DeskhandError, match="cannot be written"):
            journal.save()
    assert (tmp_path / FILE).read_text() == before


def test_a_process_killed_while_it_writes_leaves_a_whole_file(tmp_path: Path) -> None:
    _filled(tmp_path)
    code = """
import os, sys
from pathlib import Path
from deskhand.bringup.first_day.journal import Journal
journal = Journal.open(Path(sys.argv[1]), "jetarm")
os.fsync = lambda number: os._exit(9)  # the power goes while it is written
journal.settings["port"] = "another"
journal.save()
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False, env=dict(os.environ))
    assert done.returncode == 9
    assert Journal.open(tmp_path, "jetarm").settings == {"port": "/dev/ttyUSB0"}
    assert json.loads((tmp_path / FILE).read_text())["version"] == 1


def test_two_at_once_in_one_folder_are_refused(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(DeskhandError, match="another first-day works"), locked(tmp_path):
        pytest.fail("both have it")
    with locked(tmp_path):
        pass
