"""``deskhand audit verify``: the exit code says whole, changed, or that nobody vouches for the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deskhand.commands.cli import app
from deskhand.errors import DeskhandError
from deskhand.safety.audit import AuditLog


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROS_HOME", str(tmp_path / "home"))
    with AuditLog(tmp_path / "audit.jsonl") as audit:
        for number in range(4):
            audit.write("tool_call", {"number": number})
    return tmp_path / "audit.jsonl"


def verified(file: Path) -> tuple[int, dict[str, object]]:
    out = file.parent / "out.json"
    result = CliRunner().invoke(app, ["audit", "verify", str(file), "--json", str(out)])
    code = 1 if isinstance(result.exception, DeskhandError) else result.exit_code
    return code, json.loads(out.read_text())


def cut(file: Path) -> None:
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:2]))


def test_a_whole_file_exits_with_0(log: Path) -> None:
    code, told = verified(log)
    assert code == 0 and told["good"] and told["vouched"] and told["lines"] == 4


def test_lines_taken_off_the_end_exit_with_1(log: Path) -> None:
    cut(log)
    code, told = verified(log)
    assert code == 1 and not told["good"] and "line 3 to 4" in str(told["problem"])


def test_whoever_takes_the_head_away_too_does_not_get_a_0(log: Path) -> None:
    cut(log)
    Path(f"{log}.head").unlink()
    code, told = verified(log)
    assert code == 3 and not told["vouched"] and told["head"] == "unsigned"
