"""Bad input at the command line: one clear line with a code, exit code 1, nothing moves."""

import json
import subprocess
import sys

import pytest

from deskhand.commands import cli
from deskhand.tasks import load_task


@pytest.fixture
def deskhand(monkeypatch, capsys):
    """The command in this process: (exit code, standard error in one line)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["deskhand", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code, " ".join(capsys.readouterr().err.split())

    return run


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("demo", "--instruction", ""), "empty_instruction", "instruction"),
        (("demo", "--instruction", " \n"), "empty_instruction", "instruction"),
        (("demo", "--task", "fly"), "invalid_input", "desk_cleaning"),
        (("demo", "--arm", "nothing"), "config_error", "wx250s"),
        (("demo", "--brain", "nothing"), "config_error", "offline"),
        (("demo", "--scene", "nowhere.yaml", "--instruction", "clean up"), "scene_file_error", "nowhere.yaml"),
        (("demo", "--scene", "nowhere.yaml"), "empty_instruction", "--instruction"),
        (("trial", "fly"), "invalid_input", "desk_cleaning"),
        (("trial", "desk_cleaning", "--mode", "magic"), "invalid_input", "tools"),
        (("trial", "desk_cleaning", "--planner", "magic"), "invalid_input", "embedded"),
        (("trial", "desk_cleaning", "--planner", "auto", "--local"), "invalid_input", "--local"),
        (("trial", "desk_cleaning", "--composed", "--local"), "invalid_input", "--composed"),
    ],
)
def test_bad_input_is_one_clear_error(arguments, code, says, tmp_path, deskhand):
    exit_code, errors = deskhand(*arguments, "--json", str(tmp_path / "out.json"))
    assert exit_code == 1
    assert errors.startswith(f"error {code}:") and says in errors
    if arguments[0] == "demo":
        result = json.loads((tmp_path / "out.json").read_text())
        assert result["error_code"] == code and result["success"] is False and result["final_objects"] == []


@pytest.mark.parametrize("text", ["objects: [", "objects: 7", "objects: [{kind: dragon}]", ""])
def test_a_broken_scene_file_is_one_clear_error(text, tmp_path, deskhand):
    file = tmp_path / "scene.yaml"
    file.write_text(text)
    exit_code, errors = deskhand("demo", "--scene", str(file), "--instruction", "clean up", "--json", str(tmp_path / "out.json"))
    assert exit_code == 1 and errors.startswith("error scene_file_error:")
    assert json.loads((tmp_path / "out.json").read_text())["error_code"] == "scene_file_error"


def test_an_instruction_that_cannot_be_followed_moves_nothing(tmp_path):
    out = tmp_path / "out.json"
    command = [
        sys.executable,
        "-m",
        "deskhand",
        "demo",
        "--local",
        "--instruction",
        "fly to the moon",
        "--episode",
        str(tmp_path / "episode"),
        "--json",
        str(out),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    result = json.loads(out.read_text())
    assert done.returncode == 1 and result["error_code"] in ("impossible", "not_understood") and result["summary"]
    start = {item.name: item.pose[:3, 3] for item in load_task("desk_cleaning").world(0).objects}
    for item in result["final_objects"]:
        assert abs(start[item["name"]] - item["pose"]["position"]).max() < 0.005
    events = [json.loads(line) for line in (tmp_path / "episode" / "audit.jsonl").read_text().splitlines()]
    assert not any(name in json.dumps(event) for event in events for name in ('"pick"', '"place_in"', '"execute_plan"', '"move_home"'))
