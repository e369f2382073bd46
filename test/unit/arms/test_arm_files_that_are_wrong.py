"""Whatever is wrong with an arm's file is said with its field, all of it at once, within seconds, and never by a traceback."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from deskhand.arms.arm_file import read_arm_file
from deskhand.arms.config import load_arm
from deskhand.arms.problems import ArmFileError
from deskhand.errors import DeskhandError
from deskhand.types.resources import resource_path

ARMS = ("jetarm", "so101", "wx250s")
DRAWN = 60  # wrong values
ANY = (None, True, float("nan"), float("inf"), float("-inf"), "1e-3", "a text", [[[]]], -1e9, 1e12, {"x": [1]}, "\x00", "x" * 5000, "2024-01-01")


def arm_data(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((resource_path("config/arms") / f"{name}.yaml").read_text()))


def write(folder: Path, data: Any) -> Path:
    file = folder / "mine.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True))
    return file


def problems_of(folder: Path, data: Any) -> list[str]:
    """All fields that are named, once each."""
    with pytest.raises(ArmFileError) as caught:
        load_arm(str(write(folder, data)))
    assert caught.value.code == "config_error" and all(problem.said and problem.do for problem in caught.value.problems)
    for problem in caught.value.problems:
        assert problem.field in str(caught.value)
    return [problem.field for problem in caught.value.problems]


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all values, those within others too."""
    found = [path] if path else []
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        found += places(value, (*path, key))
    return found


def put(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(data)
    there = changed
    for key in path[:-1]:
        there = there[key]
    there[path[-1]] = value
    return changed


def named(path: tuple[Any, ...]) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) and not _keyed(path, index) else f".{key}" for index, key in enumerate(path)).lstrip(".")


def _keyed(path: tuple[Any, ...], index: int) -> bool:
    return len(path) > 2 and path[1] == "dynamixel" and index == 3 and path[2] != "reversed"


def test_the_arms_that_are_shipped_have_no_problems() -> None:
    for name in ARMS:
        assert read_arm_file(resource_path("config/arms") / f"{name}.yaml").problems() == []


def test_each_of_many_drawn_wrong_values_is_named_with_its_field(tmp_path: Path) -> None:
    random = np.random.default_rng(19)
    arms = {name: arm_data(name) for name in ARMS}
    tried = 0
    while tried < DRAWN:
        data = arms[ARMS[int(random.integers(len(ARMS)))]]
        every = places(data)
        path, value = every[int(random.integers(len(every)))], ANY[int(random.integers(len(ANY)))]
        if path == ("driver", "port") and isinstance(value, str) and value.isprintable() and len(value) < 500:
            continue  # may be a port
        fields = problems_of(tmp_path, put(data, path, value))
        field = named(path)
        assert any(each.startswith(field) or field.startswith(each) for each in fields), (field, value, fields)
        tried += 1


NUMBERS = [  # field, wrong value, what the message says
    (("max_velocity", 0), 115, "degrees"),
    (("named_poses", "home", 1), -126.0, "degrees"),
    (("mount", "xyz", 0), -150, "millimetres"),
    (("mount", "rpy", 2), 90, "degrees"),
    (("gripper", "width_max"), 60, "millimetres"),
    (("gripper", "width_min"), 0.07, "width_max"),
    (("gripper", "finger_length"), 0, "above 0"),
    (("gripper", "force_default"), 20, "force_max"),
    (("gripper", "width_max"), 0.09, "left_finger goes from"),
    (("payload",), 200, "grams"),
    (("reach",), 429, "millimetres"),
    (("reach",), "0.4 m", "no unit"),
    (("resolution",), 0.24, "degrees"),
    (("work_radius",), [0.225, 0.135], "least first"),
    (("work_radius",), [0.135, 0.6], "reach"),
    (("driver", "period"), 60, "milliseconds"),
    (("driver", "lookahead"), 0.01, "period"),
    (("driver", "health", "warm"), 80, "hot"),
    (("driver", "servos", "joint2", "id"), 1, "joint1"),
    (("driver", "gripper", "id"), 3, "joint3"),
    (("driver", "servos", "joint1"), {"id": 1, "at_0": -2.09, "at_1000": 2.09}, "radians"),
    (("driver", "servos", "joint1", "range"), [700, 300], "smaller tick first"),
    (("driver", "gripper", "table"), [[200, 60], [700, 2]], "millimetres"),
    (("driver", "gripper", "table"), [[200, 0.06], [400, 0.01], [700, 0.02]], "only grow"),
    (("driver", "reference"), "upwards", "named_poses"),
    (("driver", "kinds"), ["magic"], "hiwonder_rrc"),
    (("named_poses", "home"), [0, -2.2, 1.75, 0.25], "5 joints"),
    (("named_poses", "home", 1), 1.0, "beyond the limits of joint2"),
    (("max_velocity", 3), 4.0, "beyond the URDF's 3"),
    (("joints", 1), "joint_2", "Do you mean joint2"),
    (("joints",), ["joint1", "joint3", "joint2", "joint4", "joint5"], "in this order"),
    (("tcp",), "hand", "Its links"),
    (("base_link",), "base", "Do you mean base_link"),
    (("geometry", "link_1"), 0.1, "Do you mean link1"),
    (("group",), "body", "Its groups: arm"),
    (("gripper", "joint"), "right_finger", "left_finger"),
    (("gripper", "mimic"), "joint1", "right_finger"),
    (("gripper", "links", 0), "link9", "no link"),
    (("approach_axis",), [1, 0, 0], "z axis"),
    (("max_velocities",), [1], "Do you mean max_velocity"),
    (("urdf",), "nowhere.urdf", "beside the arm's file"),
]


@pytest.mark.parametrize(("path", "value", "said"), NUMBERS, ids=[f"{named(path)}={str(value)[:20]}" for path, value, _ in NUMBERS])
def test_what_is_wrong_is_said_with_what_to_do(tmp_path: Path, path: tuple[Any, ...], value: Any, said: str) -> None:
    with pytest.raises(ArmFileError) as caught:
        load_arm(str(write(tmp_path, put(arm_data("jetarm"), path, value))))
    assert said in str(caught.value)
    assert any(problem.field.startswith(named(path)) or named(path).startswith(problem.field) for problem in caught.value.problems)


def test_all_problems_come_at_once_each_with_the_file_that_it_stands_in(tmp_path: Path) -> None:
    base = put(put(arm_data("jetarm"), ("payload",), -1), ("gripper", "speed"), 0)
    (tmp_path / "base.yaml").write_text(yaml.safe_dump(base))
    (tmp_path / "unit.yaml").write_text(yaml.safe_dump({"extends": "base.yaml", "reach": "far", "driver": {"servos": {"joint9": {"id": 9}}}, "colour": 3}))
    with pytest.raises(ArmFileError) as caught:
        load_arm(str(tmp_path / "unit.yaml"))
    where = {problem.field: problem.file.name for problem in caught.value.problems if problem.file}
    assert where["payload"] == where["gripper.speed"] == "base.yaml"
    assert where["reach"] == where["driver.servos.joint9"] == where["colour"] == "unit.yaml"


def test_files_that_extend_each_other_are_told_and_do_not_hang(tmp_path: Path) -> None:
    for one, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{one}.yaml").write_text(f"extends: {other}.yaml\n")
    (tmp_path / "self.yaml").write_text(f"extends: {tmp_path / 'self.yaml'}\n")
    for name in ("a", "self"):
        with pytest.raises(ArmFileError, match="without an end"):
            load_arm(str(tmp_path / f"{name}.yaml"))
    (tmp_path / "c.yaml").write_text("extends: jetarn\n")
    with pytest.raises(ArmFileError, match="jetarm"):
        load_arm(str(tmp_path / "c.yaml"))


@pytest.mark.parametrize(
    "text",
    ["", "- 1\n", "name: [\n", "name: a\nname: b\n", "\tname: a\n", "a: &a [*a]\n", b"\xff\xfe\x00a: 1", "{" * 3000, "x: !!python/object:os.system {}\n"],
    ids=["empty", "list", "open", "twice", "tab", "circle", "bytes", "deep", "object"],
)
def test_what_is_no_yaml_of_an_arm_is_told(tmp_path: Path, text: str | bytes) -> None:
    file = tmp_path / "mine.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ArmFileError):
        load_arm(str(file))


def test_a_file_that_is_none_names_the_arms_there_are(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    for name in (str(tmp_path / "nothing.yaml"), str(tmp_path / "folder.yaml"), "jetarn"):
        with pytest.raises(DeskhandError, match="jetarm, panda, so101, wx250s"):
            load_arm(name)


URDF = [  # replaced by, and what the message says
    ('<link name="world"/>', '<link name="room"/>', "'world'"),
    ('<xacro:arg name="tool" default="0.112"/>', "$(arg tools)", "Undefined substitution argument tools"),
    ('<origin xyz="$(arg mount_xyz)" rpy="$(arg mount_rpy)"/>', '<origin xyz="0 0 0"/>', "whatever `mount` says"),
    ('<xacro:arg name="tool" default="0.112"/>', '<xacro:arg name="tool"/>', "a default"),
    ('<child link="tcp"/>', '<child link="tool"/>', "tool"),
    ('lower="0.001" upper="0.030"', 'lower="0.030" upper="0.001"', "left_finger"),
    ('<xacro:include filename="macros.xacro"/>', '<xacro:include filename="macro.xacro"/>', "macro.xacro"),
    ('<mimic joint="left_finger" multiplier="1" offset="0"/>', "", "right_finger"),
    ('lower="${radians(-180)}" upper="0"', 'lower="-180" upper="180"', "radians"),
    ('lower="${radians(-180)}" upper="0" effort="${torque}"', 'lower="${radians(-180)}" upper="0" effort="0"', "effort"),
    ('<xacro:box_inertia mass="0.12" xyz="0 0.02 0" x="0.04" y="0.06" z="0.05"/>', "", "'link4' moves, and has no <inertial>"),
    (
        '<geometry><cylinder radius="0.042" length="0.027"/></geometry>',
        '<geometry><mesh filename="arm.stl"/></geometry>',
        "'link1' is not there",
    ),
    (
        '<geometry><cylinder radius="0.042" length="0.027"/></geometry>',
        '<geometry><mesh filename="package://no_such/arm.stl"/></geometry>',
        "a package that is not there",
    ),
    ('<geometry><cylinder radius="0.042" length="0.027"/></geometry>', '<geometry><cylinder radius="x" length="0.027"/></geometry>', "radius 'x'"),
    ('<cylinder radius="0.042" length="0.027"/>', '<mesh filename="ascii.stl"/>', "no binary STL"),
    ("</robot>", "", "cannot be expanded"),
]


@pytest.mark.parametrize(("part", "instead", "said"), URDF, ids=[said for _, _, said in URDF])
def test_what_is_wrong_with_a_urdf_is_said(tmp_path: Path, part: str, instead: str, said: str) -> None:
    folder = resource_path("urdf")
    text = (folder / "jetarm.urdf.xacro").read_text()
    assert part in text
    text = (
        text.replace(part, instead)
        .replace('filename="macros.xacro"', f'filename="{folder}/macros.xacro"')
        .replace('"ros2_control/', f'"{folder}/ros2_control/')
    )
    (tmp_path / "jetarm.urdf.xacro").write_text(text)
    (tmp_path / "ascii.stl").write_text("solid arm\nendsolid arm\n")
    with pytest.raises(ArmFileError) as caught:
        load_arm(str(write(tmp_path, {"extends": "jetarm"})))
    assert said in str(caught.value)
