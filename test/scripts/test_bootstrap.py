"""The setup script's decisions: which Python, what is missing, what is stale."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bootstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """scripts/bootstrap.py, working in a folder of its own."""
    specification = importlib.util.spec_from_file_location("bootstrap", ROOT / "scripts/bootstrap.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "STATE", tmp_path / ".venv/.deskhand")
    module.STATE.mkdir(parents=True)
    return module


def python(version: tuple[int, int], executable: str = "", **has: bool) -> dict[str, Any]:
    name = executable or "/usr/bin/python{}.{}".format(*version)
    return {"executable": name, "version": list(version), "pip": True, "ros": False, "headers": True, **has}


def test_the_newest_python_that_can_build_is_chosen(bootstrap: ModuleType) -> None:
    found = [python((3, 9)), python((3, 10)), python((3, 11)), python((3, 12), headers=False), python((3, 13))]
    assert bootstrap.choose_python(found, with_ros=False)["version"] == [3, 11]


def test_a_python_without_headers_is_better_than_none(bootstrap: ModuleType) -> None:
    assert bootstrap.choose_python([python((3, 11), headers=False)], with_ros=False)["version"] == [3, 11]


def test_with_a_sourced_ros_only_its_python_will_do(bootstrap: ModuleType) -> None:
    found = [python((3, 12), "/opt/python3.12"), python((3, 10), ros=True)]
    assert bootstrap.choose_python(found, with_ros=True)["version"] == [3, 10]
    with pytest.raises(bootstrap.SetupError, match="rclpy"):
        bootstrap.choose_python([python((3, 12))], with_ros=True)


def test_no_suitable_python_says_what_was_found(bootstrap: ModuleType) -> None:
    with pytest.raises(bootstrap.SetupError, match=r"from 3\.10 to 3\.12; found: 3\.13, 3\.9"):
        bootstrap.choose_python([python((3, 9)), python((3, 13))], with_ros=False)


def test_missing_system_packages_are_named_as_debian_names_them(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: None)
    monkeypatch.setattr(bootstrap, "has_egl", lambda: False)
    bare = python((3, 11), pip=False, headers=False)
    names = ["python3.11-venv", "python3.11-dev", "g++", "make", "libegl1", "libgl1-mesa-dri"]
    assert bootstrap.missing_packages(bare, with_ros=False) == names
    assert set(bootstrap.missing_packages(bare, with_ros=True)) == {*names, "python3-colcon-common-extensions"}


def test_without_root_the_one_line_to_run_is_printed(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)
    with pytest.raises(bootstrap.SetupError, match="sudo apt-get install -y --no-install-recommends g\\+\\+ libegl1\n"):
        bootstrap.install_system_packages(["g++", "libegl1"])


def test_no_other_environment_shines_through(bootstrap: ModuleType) -> None:
    outer = {"PATH": "/usr/bin", "VIRTUAL_ENV": "/other", "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1", "LD_LIBRARY_PATH": "/other/lib", "PYTHONPATH": "/other"}
    clean = bootstrap.clean_environment(outer, with_ros=False)
    assert not set(outer) - {"PATH"} & set(clean)
    assert clean["PATH"] == f"{bootstrap.VENV}/bin:/usr/bin"
    assert clean["AMENT_PREFIX_PATH"] == str(bootstrap.VENV)
    ros = bootstrap.clean_environment({**outer, "AMENT_PREFIX_PATH": "/opt/ros/jazzy"}, with_ros=True)
    assert ros["PYTHONPATH"] == "/other"
    assert ros["AMENT_PREFIX_PATH"] == f"{bootstrap.VENV}:/opt/ros/jazzy"


def test_a_sourced_ros_is_recognised(bootstrap: ModuleType) -> None:
    assert bootstrap.ros_sourced({"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": "/opt/ros/jazzy"})
    assert not bootstrap.ros_sourced({"AMENT_PREFIX_PATH": "/somewhere"})


def test_the_real_message_packages_are_used_where_they_are(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ros/share/control_msgs").mkdir(parents=True)
    (tmp_path / "ros/share/control_msgs/package.xml").touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ros"))

    def built(ros: bool) -> list[str]:
        return [path.name for path in bootstrap.Setup(python((3, 12)), ros).interface_packages()]

    assert built(True) == ["deskhand_interfaces", "nav2_msgs", "tf2_msgs"]
    assert built(False) == ["deskhand_interfaces", "control_msgs", "nav2_msgs", "tf2_msgs"]


def test_the_libraries_are_those_that_fit_the_ros_that_is_sourced(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.platform, "machine", lambda: "aarch64")
    monkeypatch.setattr(bootstrap, "numpy_of_ros", lambda distro, python: 1)
    assert bootstrap.Setup(python((3, 10)), True).lock("libraries").name == "py310-aarch64-numpy1.txt"
    monkeypatch.setattr(bootstrap.platform, "machine", lambda: "x86_64")
    assert bootstrap.Setup(python((3, 11)), False).lock("libraries").name == "py311-x86_64-numpy2.txt"
    assert bootstrap.Setup(python((3, 11)), False).lock("ros").name == "ros-py311-x86_64.txt"
    monkeypatch.setattr(bootstrap.platform, "machine", lambda: "riscv64")
    with pytest.raises(bootstrap.SetupError, match="py312-riscv64-numpy1; there are: py310-aarch64-numpy1"):
        bootstrap.Setup(python((3, 12)), True).lock("libraries")


@pytest.mark.parametrize("numpy", ["numpy/_core", "numpy/core"])
def test_cmake_files_of_the_wheels_point_to_this_machine_afterwards(bootstrap: ModuleType, numpy: str) -> None:
    text = f'INCLUDES "/opt/python/cp311-cp311/include/python3.11;/build/env/lib/python3.11/site-packages/{numpy}/include;${{prefix}}/include/std_msgs"'
    fixed = bootstrap.fix_cmake(text, "/usr/include/python3.11", "/venv/numpy/include")
    assert fixed == 'INCLUDES "/usr/include/python3.11;/venv/numpy/include;${prefix}/include/std_msgs"'
    assert bootstrap.fix_cmake(fixed, "/usr/include/python3.11", "/venv/numpy/include") == fixed


def test_a_fingerprint_sees_content_names_and_versions_but_no_caches(bootstrap: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "A.msg").write_text("int32 a")
    first = bootstrap.fingerprint([folder], (3, 11))
    (folder / "__pycache__/x.pyc").write_text("x")
    assert bootstrap.fingerprint([folder], (3, 11)) == first
    assert bootstrap.fingerprint([folder], (3, 12)) != first
    (folder / "A.msg").rename(folder / "B.msg")
    renamed = bootstrap.fingerprint([folder], (3, 11))
    (folder / "B.msg").write_text("int64 a")
    assert len({first, renamed, bootstrap.fingerprint([folder], (3, 11))}) == 3


def test_a_step_is_done_again_when_its_inputs_changed(bootstrap: ModuleType) -> None:
    setup = bootstrap.Setup(python((3, 11)), False)
    assert not setup.fresh("libraries", "a")
    setup.done("libraries", "a")
    assert setup.fresh("libraries", "a")
    assert not setup.fresh("libraries", "b")


def test_a_command_that_fails_shows_its_last_lines_and_where_all_of_them_are(bootstrap: ModuleType) -> None:
    setup = bootstrap.Setup(python((3, 11)), False)
    code = "for i in range(100): print('line', i)\nraise SystemExit(1)"
    with pytest.raises(bootstrap.SetupError, match=r"(?s)building failed.*line 99.*colcon\.log") as caught:
        setup.finish(*setup.start([sys.executable, "-c", code], "colcon"), "building")
    assert "line 10\n" not in str(caught.value)


def test_a_python_that_does_not_run_is_passed_over(bootstrap: ModuleType, tmp_path: Path) -> None:
    broken = tmp_path / "python3.12"
    broken.write_text("#!/bin/sh\necho no such version >&2\nexit 127\n")
    broken.chmod(0o755)
    assert bootstrap.probe(str(broken)) is None
    assert bootstrap.probe(str(tmp_path / "missing")) is None
    assert bootstrap.probe(sys.executable)["version"] == list(sys.version_info[:2])


def test_beside_a_sourced_ros_the_loader_finds_the_libraries_of_the_environment(bootstrap: ModuleType, tmp_path: Path) -> None:
    environment = tmp_path / "with_ros"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "deskhand_libraries.pth").write_text(bootstrap.LIBRARY_PATH)
    code = "import os, sys; print(os.environ['LD_LIBRARY_PATH'], sys.argv[1:])"
    clean = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": "/opt/ros/jazzy/lib"}
    done = subprocess.run([environment / "bin/python", "-c", code, "a b"], env=clean, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{environment}/lib:/opt/ros/jazzy/lib ['a b']"


def test_the_python_that_is_asked_for_is_the_only_one_looked_at(bootstrap: ModuleType) -> None:
    (found,) = bootstrap.find_pythons(False, wanted=sys.executable)
    assert found["version"] == list(sys.version_info[:2])
    assert bootstrap.find_pythons(False, wanted="no-such-python") == []


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_every_make_target_is_in_the_help() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    targets = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("  make ")}
    assert targets == {"help", "setup", "demo", "test", "test-long", "test-page", "test-campaigns", "coverage", "docs", "lint", "lock", "check-lock", "clean"}
