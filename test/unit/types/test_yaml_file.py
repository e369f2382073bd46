"""One way to read YAML: safe, and what stands twice is refused by name, file and lines, wherever a person may write a file."""

import re
from pathlib import Path

import pytest
import yaml

from deskhand.arms.config import load_arm
from deskhand.arms.emulate.reality import load_reality
from deskhand.bringup.spec import StackOptions
from deskhand.bringup.stack import sim_nodes
from deskhand.cameras.config import load_camera
from deskhand.errors import DeskhandError
from deskhand.etp.remote.config import load_servers
from deskhand.grasping.success import load_success_model
from deskhand.llm.config import load_profile
from deskhand.llm.scripted import ScriptedModel
from deskhand.perception.classify import load_classifier
from deskhand.perception.detectors.config import detector_list
from deskhand.safety.settings import load_safety
from deskhand.sim.worldfile import load_world
from deskhand.types.yaml_file import RepeatedKeyError, parse_yaml, read_yaml

ROOT = Path(__file__).parents[3]
READERS = {
    "arm": lambda file: load_arm(str(file)),
    "camera": lambda file: load_camera(str(file)),
    "servos": lambda file: load_reality(str(file)),
    "safety": load_safety,
    "scene": load_world,
    "profiles": lambda file: load_profile("x", file),
    "scripted model": ScriptedModel.from_file,
    "mcp servers": load_servers,
    "grasps": load_success_model,
    "kinds": load_classifier,
    "detectors": detector_list,
    "ROS parameters": lambda file: sim_nodes(StackOptions(parameter_files=(file,))),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_repeated_key_in_a_file_of_ones_own_is_refused_by_name_file_and_both_lines(reader: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("first: 1\nlimits:\n  speed: 0.2\n  force: 3.0\n  speed: 2.0\n")
    with pytest.raises(DeskhandError) as caught:
        READERS[reader](file)
    assert "'speed'" in str(caught.value) and str(file) in str(caught.value) and "lines 3 and 5" in str(caught.value)


@pytest.mark.parametrize("quick", [False, True])
def test_what_yaml_allows_is_read_as_ever(quick: bool) -> None:
    text = "base: &base {speed: 1, force: 2}\nmine:\n  <<: *base\n  speed: 3\nagain: *base\nlist: [{a: 1}, {a: 2}]\n1: one\n'1': text\n? [1, 2]\n: pair\n"
    text = text.rsplit("?", 1)[0]
    assert parse_yaml(text, quick=quick) == yaml.safe_load(text)
    assert parse_yaml(text, quick=quick)["mine"] == {"speed": 3, "force": 2}
    assert parse_yaml("", quick=quick) is None
    for twice in ("{a: 1, a: 2}", "x: [{y: {on: 1, true: 2}}]", "- &one {a: 1}\n- {<<: *one, <<: *one}"):
        with pytest.raises(RepeatedKeyError):
            parse_yaml(twice, quick=quick)
    with pytest.raises(yaml.YAMLError):
        parse_yaml("!!python/object/apply:os.getcwd []", quick=quick)


def test_every_yaml_file_of_ours_says_each_object_once() -> None:
    files = sorted({*(ROOT / "config").rglob("*.yaml"), *(ROOT / "src").rglob("*.yaml"), *(ROOT / "test").rglob("*.yaml"), *(ROOT / ".github").rglob("*.yml")})
    assert len(files) > 30
    for file in files:
        read_yaml(file, quick=True)


def test_nothing_of_ours_reads_yaml_by_itself() -> None:
    own = {str(file.relative_to(ROOT)) for file in (ROOT / "src/deskhand").rglob("*.py") if re.search(r"yaml\.(safe_|full_|unsafe_)?load", file.read_text())}
    assert own == set()
