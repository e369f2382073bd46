"""Many episodes together: groups, shares, the row without tools, and what cannot be read."""

import json
from pathlib import Path
from typing import Any

import pytest

from deskhand.commands.report import plot, show
from deskhand.errors import DeskhandError
from deskhand.trials.campaigns.episodes import find_episodes, read_row, summarise
from deskhand.trials.campaigns.statistics import wilson


def step(tool: str, failure: str = "", **more: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": {}, "ok": not failure, "failure": failure, "needed": True, "used": None, "latency": 0.5, "prompt_chars": 400, **more}


def episode(root: Path, name: str, mode: str, success: bool, steps: list[dict[str, Any]], **more: Any) -> None:
    folder = root / name
    folder.mkdir(parents=True)
    result = {"task": "desk_cleaning", "brain": "small", "mode": mode, "success": success, "score": float(success), "wall_s": 10.0, "tool_calls": len(steps)}
    (folder / "result.json").write_text(json.dumps({**result, "error_code": "" if success else "task_incomplete", **more}))
    (folder / "agent.json").write_text(json.dumps({"model": "small", "mode": mode, "tokens": 100, "steps": steps}))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    good = [step("detect_objects", used=True), step("pick", overhead=0.004), step("finish")]
    episode(tmp_path, "a/seed_0", "tools", True, good)
    episode(tmp_path, "a/seed_1", "tools", True, [step("pick", "invalid_call"), *good])
    episode(
        tmp_path,
        "a/seed_2",
        "tools",
        False,
        [step("", "missed_call"), step("pick", "tool_error"), step("finish", "ignored_output", used=False)],
        false_done=True,
    )
    episode(tmp_path, "b/seed_0", "direct", False, [step("direct_action")])
    return tmp_path


def test_groups_shares_and_the_row_without_tools(root: Path) -> None:
    summary = summarise([read_row(folder) for folder in find_episodes([root])])
    direct, tools = summary["groups"]
    assert (direct["mode"], direct["success"]) == ("direct", 0.0)
    assert (tools["episodes"], tools["success"], tools["success_without_tools"]) == (3, pytest.approx(2 / 3), 0.0)
    assert tools["failure_shares"] == {"missed_call": 0.1, "invalid_call": 0.1, "wrong_choice": 0.0, "ignored_output": 0.1, "tool_error": 0.1}
    assert (tools["rescued"], tools["false_done"], tools["codes"]) == (pytest.approx(1 / 3), 1, {"task_incomplete": 1})
    assert (tools["need"], tools["selection"], tools["use"]) == (0.9, pytest.approx(8 / 9, abs=1e-3), pytest.approx(2 / 3, abs=1e-3))
    assert (tools["overhead_ms"], tools["prompt_chars_mean"], tools["mean_latency_s"]) == (4.0, 400.0, 0.5)


def test_an_episode_without_a_scorer_counts_by_the_agents_own_word(tmp_path: Path) -> None:
    (tmp_path / "agent.json").write_text(json.dumps({"model": "offline", "mode": "tools", "success": True, "steps": [], "seconds": 3.0}))
    row = read_row(tmp_path)
    assert (row["success"], row["task"], row["wall_s"]) == (True, "free instruction", 3.0)


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DeskhandError, match="no episode in"):
        find_episodes([tmp_path / "nowhere"])
    (tmp_path / "result.json").write_text("{")
    with pytest.raises(DeskhandError, match=r"result\.json cannot be read"):
        read_row(tmp_path)


def test_the_table_and_the_plot_are_made(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = summarise([read_row(folder) for folder in find_episodes([root])])
    show(summary)
    shown = capsys.readouterr().out
    assert "67 % (21-94)" in shown and "failed: missed call" in shown and "task_incomplete 1" in shown
    plot(summary, root / "plots/plot.png")
    assert (root / "plots/plot.png").read_bytes().startswith(b"\x89PNG")


def test_the_interval_of_a_proportion_is_wilsons() -> None:
    assert wilson(0, 10) == (0.0, 0.2775)
    assert wilson(50, 50) == (0.9287, 1.0)
