"""``deskhand arms check``: every problem and exit code 1, or what the arm does and a picture; the page has every field."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import yaml
from typer.testing import CliRunner

from deskhand.arms.arm_file import read_arm_file
from deskhand.arms.config import load_arm
from deskhand.arms.layout import field_tables
from deskhand.arms.unit import UnitData
from deskhand.commands.cli import app
from deskhand.types.resources import resource_path

PAGE = Path(__file__).parents[3] / "docs/adding-an-arm.md"


def check(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["arms", "check", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_all_that_is_wrong_is_said_and_the_exit_code_is_one(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump({"extends": "jetarm", "reach": 429, "payloads": 1, "gripper": {"width_min": 0.2}, "tcp": "hand"}))
    code, said = check(str(file), "--json", str(tmp_path / "result.json"))
    assert code == 1 and "Traceback" not in said and "4 problems" in said
    result = json.loads((tmp_path / "result.json").read_text())
    assert not result["ok"] and {problem["field"] for problem in result["problems"]} == {"reach", "payloads", "gripper.width_min", "tcp"}
    assert all(problem["file"] == str(file) and problem["do"] for problem in result["problems"])


def test_without_reach_only_the_files_are_read() -> None:
    code, said = check("wx250s", "--no-reach")
    assert code == 0 and "OK" in said and "reach" not in said


def test_a_pose_in_collision_and_a_radius_beyond_reach_are_found_and_the_arm_is_drawn(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    poses = {"low": [0, 0.0, 0.6, -1.0, 0]}
    file.write_text(yaml.safe_dump({"extends": "jetarm", "named_poses": poses, "work_radius": [0.14, 0.35]}))
    code, said = check(str(file), "--out", str(tmp_path / "arm.png"), "--json", str(tmp_path / "result.json"))
    result = json.loads((tmp_path / "result.json").read_text())
    assert code == 1 and {problem["field"] for problem in result["problems"]} == {"named_poses.low", "work_radius"}, said
    assert result["contacts"]["home"] == [] and any("table" in contact for contact in result["contacts"]["low"])
    least, most = result["reach"]["measured"]
    assert least <= 0.16 and 0.2 <= most < 0.3, "jetarm's own work radius is 0.135 to 0.225 m"
    assert result["ik"]["solved"] == result["ik"]["drawn"] == 100 and result["plan"]["duration_s"] > 0
    picture = cv2.imread(str(tmp_path / "arm.png"))
    assert picture is not None and picture.shape[1] > 1000 and picture.std() > 10


def test_the_page_has_the_tables_of_the_fields() -> None:
    text = PAGE.read_text()
    wanted = "\n".join(field_tables())
    assert wanted in text, f"expected after <!-- fields -->:\n{wanted}"


def test_a_unit_of_an_arm_of_ones_own_extends_its_file(tmp_path: Path) -> None:
    own, unit = tmp_path / "own.yaml", tmp_path / "units" / "mine.yaml"
    unit.parent.mkdir()
    own.write_text((resource_path("config/arms") / "jetarm.yaml").read_text().replace("name: jetarm", "name: own"))
    UnitData(offsets={"joint1": 2.0}).write(load_arm(str(own)), unit)
    assert load_arm(str(unit)).name == "own" and read_arm_file(unit).layers[1][0].samefile(own)
