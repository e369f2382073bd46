"""The pinned versions: they cover what is required, fit together, name no server, and neither they nor the requirements were edited since `make lock`.

With ``DESKHAND_LOCKS=all``, as in .github/workflows/locks.yml, the registry is asked too: all combinations resolve to what is pinned. Nothing is installed.
"""

from __future__ import annotations

import importlib.util
import os
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

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "requirements/lock").glob("*.txt"))


def load(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(f"scripts_{name}", ROOT / f"scripts/{name}.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # dataclasses ask for it
    specification.loader.exec_module(module)
    return module


lock = load("lock")
JETSON = lock.Target("3.10", "aarch64", 1)
"""JetPack 6, with ROS 2 Humble from apt."""


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
    # browser: make test-page alone; coverage: make coverage alone; docs: make docs, in an environment of its own
    # clients: other people's, without what they ask for; train: whoever trains the segmenter again
    assert files == {*lock.SETS, "ros", "browser", "coverage", "docs", "clients", "train", *campaigns}


def test_beside_ros_as_wheels_the_libraries_have_the_same_versions() -> None:
    for target in lock.WHEELS:
        libraries, ros = pins(lock.Target(target.python, target.machine, 2).file), pins(target.file)
        assert {name: ros[name] for name in ros.keys() & libraries.keys()} == {name: libraries[name] for name in ros.keys() & libraries.keys()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_server_and_no_path_stands_in_a_lock(path: Path) -> None:
    text = path.read_text()
    assert "://" not in text and "index-url" not in text and " @ " not in text and "/work" not in text and "find-links" not in text
    assert "--only-binary :all:" in text  # nothing is compiled on a robot


def test_only_loosened_distributions_ask_for_another_numpy_than_they_get() -> None:
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
    assert other <= set(lock.LOOSENED)


@pytest.mark.parametrize("target", [*lock.TARGETS, *lock.WHEELS], ids=lambda target: target.file.stem)
def test_neither_a_lock_nor_what_it_is_resolved_from_was_edited_since(target: Any) -> None:
    assert not lock.edited(target), "run `make lock`"


@pytest.mark.parametrize("change", ["requirement", "pin", "loosened"])
def test_an_edit_of_either_is_seen(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = lock.UBUNTU[0]
    asked = lock.requirement_lines(target)
    monkeypatch.setattr(lock, "FOLDER", tmp_path)
    target.file.write_text(target.text(lock.pins_of((ROOT / "requirements/lock" / target.file.name).read_text())))
    assert not lock.edited(target)
    if change == "requirement":
        monkeypatch.setattr(lock, "requirement_lines", lambda _: [*asked, "another"])
    elif change == "pin":
        target.file.write_text(re.sub(r"^scipy==.*$", "scipy==1.0.0", target.file.read_text(), flags=re.MULTILINE))
    else:
        monkeypatch.setattr(lock, "LOOSENED", {})
    assert lock.edited(target)


@pytest.fixture(scope="module")
def registry() -> None:
    """It can be asked. Most of a test's time is waiting for it, so it is asked only when that is wished."""
    if os.environ.get("DESKHAND_LOCKS") != "all":
        pytest.skip("the registry is asked with DESKHAND_LOCKS=all")
    lock.find_uv()
    lock.reach_registry()


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("registry")
def test_every_combination_resolves_to_what_is_pinned_with_a_wheel_for_each() -> None:
    """As a person's pip asks; wheels only, so every pin has one for the C library and the processor."""
    assert lock.differences((*lock.TARGETS, *lock.WHEELS)) == []


@pytest.mark.usefixtures("registry")
def test_beside_ros_the_planner_cannot_be_resolved_without_loosening(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `pip install roboplan "numpy<2"` met; when this one passes without loosening, LOOSENED can go."""
    planner = [f"{name}=={version}" for name, version in pins(JETSON.file).items() if name.startswith("roboplan")]
    assert planner
    monkeypatch.setattr(lock, "LOOSENED", {})
    monkeypatch.setattr(lock, "requirement_lines", lambda _: planner)
    with pytest.raises(lock.LockError, match="numpy"):
        lock.resolve(JETSON, "")
