"""The pinned versions: they cover what is required, fit together, name no server, and resolve again for every processor and Python; nothing is installed."""

from __future__ import annotations

import importlib.util
import platform
import re
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "requirements/lock").glob("*.txt"))
LIBRARIES = [path for path in FILES if path.name.startswith("py")]


def load(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(f"scripts_{name}", ROOT / f"scripts/{name}.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # dataclasses ask for it
    specification.loader.exec_module(module)
    return module


lock = load("lock")


def pins(path: Path) -> dict[str, Version]:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith(("#", "--"))]
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9a-z.+]+", line) for line in lines), [line for line in lines if "==" not in line]
    return {name: Version(version) for name, version in (line.split("==") for line in lines)}


def marker_environment(target: Any) -> dict[str, str]:
    return {"python_version": target.python, "python_full_version": f"{target.python}.1", "platform_machine": target.machine, "sys_platform": "linux"}


def test_there_is_one_file_for_each_combination_and_no_other() -> None:
    assert {target.file for target in (*lock.TARGETS, *lock.WHEELS)} == set(FILES)
    eight = {(target.machine, target.python, target.numpy) for target in lock.UBUNTU}
    assert eight == {(machine, python, numpy) for machine in ("aarch64", "x86_64") for python in ("3.10", "3.12") for numpy in (1, 2)}


@pytest.mark.parametrize("target", [*lock.TARGETS, *lock.WHEELS], ids=lambda target: target.file.stem)
def test_every_requirement_is_met_by_a_pin_and_numpy_has_the_right_major_version(target: Any) -> None:
    pinned = pins(target.file)
    assert pinned["numpy"].major == target.numpy
    for line in lock.requirement_lines(target):
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(marker_environment(target)):
            version = pinned.get(canonicalize_name(requirement.name))
            assert version is not None and version in requirement.specifier, f"{line}: {version}"


def test_every_file_of_requirements_is_in_a_lock_or_said_to_be_left_out() -> None:
    files = {path.stem for path in (ROOT / "requirements").glob("*.txt")}
    campaigns = {"ray", "mlflow", "wandb", "lerobot"}  # where somebody asks for them, and make test-campaigns
    # browser: make test-page alone; docs: make docs, in an environment of its own; clients: other people's, without what they ask for
    assert files == {*lock.SETS, "ros", "browser", "docs", "clients", *campaigns}


def test_beside_ros_as_wheels_the_libraries_have_the_same_versions() -> None:
    for target in lock.WHEELS:
        libraries, ros = pins(lock.Target(target.python, target.machine, 2).file), pins(target.file)
        assert {name: ros[name] for name in ros.keys() & libraries.keys()} == {name: libraries[name] for name in ros.keys() & libraries.keys()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_server_and_no_path_stands_in_a_lock(path: Path) -> None:
    text = path.read_text()
    assert "://" not in text and "index-url" not in text and " @ " not in text and "/work" not in text and "find-links" not in text
    assert "--only-binary :all:" in text  # nothing is compiled on a robot


def test_one_distribution_alone_asks_for_another_numpy_than_it_gets() -> None:
    """Reads the metadata of the wheels that are installed here and pinned beside ROS in the same version."""
    file = ROOT / f"requirements/lock/py{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}-numpy1.txt"
    if not file.exists():
        pytest.skip(f"there is no {file.name}")
    pinned, other = pins(file), set()
    for name, version in pinned.items():
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        asked = [Requirement(text) for text in found.requires or []] if Version(found.version) == version else []
        asked = [each for each in asked if each.name == "numpy" and (each.marker is None or each.marker.evaluate({"extra": ""}))]
        if any(pinned["numpy"] not in each.specifier for each in asked):
            other.add(name)
    assert other <= {"cmeel-boost"} <= set(lock.LOOSENED)


@pytest.mark.timeout(900)
def test_the_eight_combinations_resolve_to_what_is_pinned_with_a_wheel_for_each() -> None:
    """Asks the registry, as a person's pip does; wheels only, so every pin has one for the C library and the processor."""
    try:
        lock.find_uv()
        lock.reach_registry()
    except lock.LockError as error:
        pytest.skip(str(error))
    assert lock.differences(lock.UBUNTU) == []


def test_beside_ros_the_planner_cannot_be_resolved_without_loosening(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `pip install roboplan "numpy<2"` met; when this one passes without loosening, LOOSENED can go."""
    try:
        lock.find_uv()
        lock.reach_registry()
    except lock.LockError as error:
        pytest.skip(str(error))
    monkeypatch.setattr(lock, "LOOSENED", {})
    monkeypatch.setattr(lock, "SETS", ("core",))
    with pytest.raises(lock.LockError, match="numpy"):
        lock.resolve(lock.UBUNTU[0], "")
