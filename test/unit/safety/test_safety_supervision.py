"""Stop, watchdog and audit log, with real processes and real files."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from deskhand.errors import DeskhandError
from deskhand.safety.audit import AuditCheck, AuditLog, check, verify
from deskhand.safety.stop import SafetyStop
from deskhand.safety.watchdog import Watchdog
from deskhand.types import SafetyStatus

HOST = socket.gethostname()


@pytest.fixture(autouse=True)
def own_ros_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_HOME", str(tmp_path / "ros"))


class Deaths:
    def __init__(self) -> None:
        self.seen: list[tuple[str, str, float]] = []
        self.news = threading.Event()

    def __call__(self, name: str, why: str) -> None:
        self.seen.append((name, why, time.monotonic()))
        self.news.set()


@pytest.fixture
def child():  # type: ignore[no-untyped-def]
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def test_a_killed_process_is_known_without_waiting_for_its_silence(child: "subprocess.Popen[bytes]") -> None:
    deaths = Deaths()
    watchdog = Watchdog(["arm"], 30.0, deaths)
    watchdog.start()
    try:
        watchdog.beat(f"arm {child.pid} {HOST}")
        assert not watchdog.dead() and not watchdog.unseen()
        child.send_signal(signal.SIGKILL)
        assert deaths.news.wait(10.0)  # of the 30 s that silence would take
        assert deaths.seen[0][0] == "arm" and str(child.pid) in deaths.seen[0][1]
        child.wait()
        watchdog.beat(f"arm {child.pid} {HOST}")  # a late message of the dead
        assert "arm" in watchdog.dead()
    finally:
        watchdog.close()
    assert len(deaths.seen) == 1


def test_silence_of_another_machine_is_death_and_a_new_beat_is_life() -> None:
    deaths, now = Deaths(), [0.0]
    watchdog = Watchdog(["arm"], 0.4, deaths, clock=lambda: now[0])
    watchdog.start()
    try:
        watchdog.beat("arm 1 elsewhere")
        now[0] = 0.3
        watchdog.beat("arm 1 elsewhere")
        now[0] = 0.6
        assert not deaths.news.wait(0.3)
        now[0] = 0.8
        assert deaths.news.wait(10.0)
        assert "no heartbeat" in watchdog.dead()["arm"]
        watchdog.beat("arm 1 elsewhere")
        assert not watchdog.dead()
    finally:
        watchdog.close()


def test_a_watchdog_that_stood_still_blames_nobody_for_its_own_silence() -> None:
    deaths, now = Deaths(), [0.0]
    watchdog = Watchdog(["arm"], 0.4, deaths, clock=lambda: now[0])
    watchdog.start()
    try:
        watchdog.beat("arm 1 elsewhere")
        now[0] = 60.0  # as after SIGSTOP and SIGCONT, or a suspended machine
        assert not deaths.news.wait(0.5)
        now[0] = 60.45
        assert deaths.news.wait(10.0), "who is silent from then on is"
    finally:
        watchdog.close()


def test_a_stopped_process_is_dead_too_and_a_restarted_one_lives(child: "subprocess.Popen[bytes]") -> None:
    deaths = Deaths()
    watchdog = Watchdog(["arm"], 30.0, deaths, hang_timeout=0.3)
    watchdog.start()
    try:
        watchdog.beat(f"arm {child.pid} {HOST}")  # and never again
        assert deaths.news.wait(10.0)
        second = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        try:
            watchdog.beat(f"arm {second.pid} {HOST}")
            assert not watchdog.dead()
        finally:
            deaths.news.clear()
            second.kill()
            second.wait()
        assert deaths.news.wait(10.0)
    finally:
        watchdog.close()


def test_a_last_message_that_comes_late_raises_nobody_from_the_dead() -> None:
    deaths = Deaths()
    watchdog = Watchdog(["arm"], 5.0, deaths)
    watchdog.start()
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        watchdog.beat(f"arm {process.pid} {HOST}")
        process.kill()
        assert deaths.news.wait(10.0)
        watchdog.beat(f"arm {process.pid} {HOST}")  # nobody has waited for the process: it is still in the table
        assert "arm" in watchdog.dead()
    finally:
        process.kill()
        process.wait()
        watchdog.close()


def test_unknown_unseen_and_malformed_are_not_deaths() -> None:
    deaths = Deaths()
    watchdog = Watchdog(["arm", "camera"], 0.2, deaths)
    watchdog.start()
    try:
        for text in ("", "arm", "arm x host", "arm -1 host", "stranger 1 elsewhere", "arm 1 2 3", "arm 99999999 " + HOST):
            watchdog.beat(text)
        assert not deaths.news.wait(0.6)
        assert watchdog.unseen() == ["arm", "camera"]
    finally:
        watchdog.close()


def test_a_stop_is_latched_keeps_its_first_reason_and_waits_for_its_cause() -> None:
    heard: list[SafetyStatus] = []
    lasting = ["node motion is dead"]
    stop = SafetyStop(lambda: 12.5)
    stop.listen(heard.append)
    stop.add_cause(lambda: lasting[0])
    stop.require()
    assert stop.stop("watchdog", "node motion is dead")
    assert not stop.stop("safety_stop", "somebody else")
    assert stop.status() == SafetyStatus(True, "watchdog", "node motion is dead", 12.5)
    for call in (stop.require, stop.reset):
        with pytest.raises(DeskhandError, match="motion") as caught:
            call()
        assert caught.value.code == "watchdog"
    lasting[0] = ""
    stop.reset()
    stop.require()
    assert [status.stopped for status in heard] == [True, False]
    with pytest.raises(ValueError, match="no_such_code"):
        stop.stop("no_such_code", "")


def test_many_stops_at_once_are_one() -> None:
    stop, heard = SafetyStop(lambda: 0.0), []
    stop.listen(heard.append)
    threads = [threading.Thread(target=stop.stop, args=("safety_stop", str(i))) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(heard) == 1


def test_the_audit_log_survives_reopening_and_shows_tampering(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "audit.jsonl"
    with AuditLog(path) as log:
        for i in range(3):
            log.write("tool_call", {"tool": "pick", "number": i, "text": "Würfel ✓"})
    with AuditLog(path) as log:
        assert log.write("stop", {})["index"] == 3
    assert verify(path)[0] == 4
    lines = path.read_bytes().splitlines(keepends=True)
    assert json.loads(lines[1])["data"]["number"] == 1
    for tampered in (lines[:1] + lines[2:], [lines[0], lines[1].replace(b'"number":1', b'"number":7'), *lines[2:]], lines[::-1], lines[:3]):
        path.write_bytes(b"".join(tampered))
        with pytest.raises(DeskhandError, match="line") as caught:
            verify(path)
        assert caught.value.code == "config_error"
        with pytest.raises(DeskhandError), AuditLog(path):
            pass


def test_lines_taken_off_the_end_are_missed_by_the_signed_head_and_a_forged_head_is_not_believed(tmp_path: Path) -> None:
    path, key = tmp_path / "audit.jsonl", tmp_path / "audit.key"
    with AuditLog(path, key) as log:
        for number in range(5):
            log.write("tool_call", {"number": number})
    assert key.stat().st_mode & 0o077 == 0
    whole, head = path.read_bytes(), Path(f"{path}.head").read_bytes()
    assert check(path, key) == AuditCheck(5, check(path, key).last, head="signed")
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:3]))
    assert "line 4 to 5" in check(path, key).problem
    Path(f"{path}.head").write_bytes(head.replace(b'"lines":5', b'"lines":3'))
    assert "not signed" in check(path, key).problem
    Path(f"{path}.head").unlink()
    assert not check(path, key).problem and check(path, key).head == "unsigned"
    with AuditLog(path, key):  # the next start says that nobody vouches for what is there
        pass
    assert [(entry["event"], entry["data"]) for entry in map(json.loads, path.read_text().splitlines())][-1] == ("unsigned", {"lines": 3})
    path.write_bytes(whole)
    Path(f"{path}.head").write_bytes(head)
    assert check(path, tmp_path / "no.key").head == "not checked"


def test_half_a_last_line_is_put_aside_told_and_no_reason_not_to_start(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with AuditLog(path) as log:
        for number in range(3):
            log.write("tool_call", {"number": number})
    torn = b'{"data":{"number":3},"event":"tool_c'
    with path.open("ab") as file:
        file.write(torn)
    assert check(path).torn == torn and not check(path).problem
    with AuditLog(path) as log:
        log.write("tool_call", {"number": 4})
    assert verify(path)[0] == 5
    assert [json.loads(line)["event"] for line in path.read_text().splitlines()] == ["tool_call"] * 3 + ["recovered", "tool_call"]
    assert Path(f"{path}.torn-1").read_bytes() == torn


def test_text_that_utf8_cannot_say_loses_no_line(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    odd = "half a pair \ud83d and \udc80, Würfel ✓"
    with AuditLog(path) as log:
        log.write("told", {"text": odd})
    assert verify(path)[0] == 1
    path.read_text(encoding="utf-8")
    assert json.loads(path.read_bytes())["data"]["text"] == odd


def test_each_audit_line_is_on_disk_when_write_returns(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    code = f"""
import os, signal
from pathlib import Path
from deskhand.safety.audit import AuditLog
log = AuditLog(Path({str(path)!r})).open()
for i in range(5):
    log.write("event", {{"i": i}})
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert verify(path)[0] == 5
