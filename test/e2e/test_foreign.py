"""One task of a foreign world through the real nodes, where its environment is installed: the simulator's own test judges."""

import pytest

from deskhand.bench.libero.install import installed
from deskhand.bench.libero.run import robosuite_campaign, run_one
from deskhand.errors import DeskhandError

pytest.importorskip("rclpy")


def test_a_cube_is_stacked_in_robosuite_over_ros(tmp_path):
    try:
        installed("robosuite")
    except DeskhandError as error:
        pytest.skip(f"{error.message} (deskhand bench libero install, 2.1 GB)")
    [case] = robosuite_campaign(["stack"], "0", "offline", tmp_path, taught=False, ros=True).cases
    result = run_one(case)
    assert result["success"] and result["robots_word"]["success"], result["robots_word"]
    assert [call["tool"] for call in result["tool_calls"] if call["tool"] in ("pick", "place_on")] == ["pick", "place_on"]
    assert {file.name for file in (tmp_path / "stack_0").iterdir()} >= {"episode.mcap", "audit.jsonl", "panda_foreign.yaml", "safety.yaml"}
