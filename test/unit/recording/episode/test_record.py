"""What a task leaves beside its recording, whoever ends first."""

import json

from deskhand.nodes.task_audit import TaskAudit
from deskhand.recording.episode.reader import read_episode
from deskhand.recording.episode.record import begin_record, complete_record, complete_records, end_record, new_folder
from deskhand.recording.episode.timeline import calls_from, robot_shares
from deskhand.recording.episode.writer import EpisodeWriter
from deskhand.safety.audit import verify


def recorded(folder):
    with EpisodeWriter(folder) as writer:
        writer.event({"event": "start", "id": "a", "tool": "detect_objects", "arguments": {}, "time": 1.0, "sim_time": 1.0}, 1.0)
        writer.event({"event": "end", "id": "a", "duration": 0.5, "sim_time": 1.5, "code": "", "data": {}}, 1.5)
    return folder


def test_a_record_says_from_its_beginning_that_it_is_not_ended_and_then_how_it_ended(tmp_path):
    folder = recorded(new_folder(tmp_path, "Put the cup / into the bin!"))
    assert folder.name.endswith("_put_the_cup_into_the_bin")
    begin_record(folder, "Put the cup / into the bin!", "wx250s", "offline", "tools")
    assert read_episode(folder).result["error_message"] == "the record ends before the task does."
    complete_record(folder, success=True, code="", summary="Done.", tool_calls=1, wall=2.0)
    told = json.loads((folder / "result.json").read_text())
    assert (told["instruction"], told["brain"], told["success"], told["summary"]) == ("Put the cup / into the bin!", "offline", True, "Done.")
    assert told["phases"]["perception"] == 0.5 and told["episode"] == str(folder)
    assert "detect_objects" in (folder / "report.html").read_text()


def test_reports_that_nobody_wrote_any_more_are_written_and_whole_ones_are_left(tmp_path):
    whole, cut = (recorded(new_folder(tmp_path, words)) for words in ("one", "two"))
    complete_record(whole, success=True, code="", summary="Done.")
    page = (whole / "report.html").stat().st_mtime_ns
    begin_record(cut, "two", "wx250s", "offline", "tools")
    end_record(cut, success=False, code="node_unavailable", summary="Node recorder is dead.")
    assert complete_records(tmp_path, 0.0) == [cut]
    assert "Node recorder is dead." in (cut / "report.html").read_text()
    assert (whole / "report.html").stat().st_mtime_ns == page
    assert complete_records(tmp_path, 0.0) == []


def test_two_tasks_of_the_same_second_and_words_have_folders_of_their_own(tmp_path):
    assert len({new_folder(tmp_path, "same") for _ in range(5)}) == 5


def test_a_task_has_its_part_of_the_audit_log_as_a_log_of_its_own(tmp_path):
    audit = TaskAudit(tmp_path / "all.jsonl").open()
    (tmp_path / "task").mkdir()
    audit.write("tool_call", {"tool": "before"})
    audit.begin(str(tmp_path / "task"))
    audit.write("tool_call", {"tool": "pick"})
    audit.end(str(tmp_path / "another"))
    audit.write("tool_call", {"tool": "place"})
    audit.end(str(tmp_path / "task"))
    audit.write("tool_call", {"tool": "after"})
    audit.begin(str(tmp_path / "task"))  # a log is there: it is kept as it is
    (tmp_path / "file").write_text("")
    audit.begin(str(tmp_path / "file/below"))  # a folder that nobody can make
    audit.write("tool_call", {"tool": "last"})
    audit.close()
    assert verify(tmp_path / "all.jsonl")[0] == 5
    assert verify(tmp_path / "task/audit.jsonl")[0] == 2
    part = [json.loads(line)["data"]["tool"] for line in (tmp_path / "task/audit.jsonl").read_text().splitlines()]
    assert part == ["pick", "place"]


def test_the_robots_time_is_told_by_what_took_it() -> None:
    """A skill tells its own shares; a tool counts as what it does; what no call took is whoever decides."""
    told = {"times": {"wall": 3.0, "robot": 4.0, "robot_phases": {"motion_limits": 2.5, "motion_near_obstacle": 0.5, "gripper": 0.6, "perception": 0.4}}}
    events = [
        {"event": "start", "id": "1", "tool": "pick", "time": 0.0, "sim_time": 10.0, "arguments": {}},
        {"event": "end", "id": "1", "tool": "pick", "duration": 3.0, "sim_time": 14.0, "code": "", "data": told},
        {"event": "start", "id": "2", "tool": "detect_objects", "time": 4.0, "sim_time": 15.0, "arguments": {}},
        {"event": "end", "id": "2", "tool": "detect_objects", "duration": 0.5, "sim_time": 15.5, "code": "", "data": {}},
    ]
    shares = robot_shares(calls_from(events), 6.0)
    assert shares["motion_limits"] == 2.5 and shares["motion_near_obstacle"] == 0.5 and shares["gripper"] == 0.6
    assert abs(shares["perception"] - 0.9) < 1e-6 and abs(shares["other"] - 1.5) < 1e-6
    assert abs(sum(shares.values()) - 6.0) < 1e-6
