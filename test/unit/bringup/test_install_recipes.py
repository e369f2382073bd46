"""docs/setup.md, docker/ and the workflows say the same: system packages, commands, files that exist."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
SETUP = (ROOT / "docs/setup.md").read_text()
DOCKER = (ROOT / "docker/Dockerfile").read_text()
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ROS = (ROOT / ".github/workflows/ros.yml").read_text()


def system_packages(text: str) -> set[str]:
    """What the first ``apt-get install`` beside ROS asks for, with DISTRO for the distribution."""
    lines = text.replace("\\\n", " ").splitlines()
    line = next(line for line in lines if "apt-get install" in line and "ros-" in line)
    words = line.split("apt-get install", 1)[1].split(" && ")[0].split()
    return {re.sub(r"\$\{?(ROS_)?DISTRO\}?", "DISTRO", word) for word in words if not word.startswith("-")}


def test_the_same_system_packages_in_the_docs_the_image_and_the_workflow() -> None:
    packages = system_packages(SETUP)
    assert {"ros-DISTRO-ros-base", "ros-DISTRO-robot-state-publisher", "python3-colcon-common-extensions", "python3-venv"} <= packages
    assert packages == system_packages(DOCKER) == system_packages(ROS)


def test_the_ros_packages_of_the_manifest_are_installed() -> None:
    """Those that ros-base does not bring; nav2_msgs is built as a stand-in where it is not installed, our own messages always."""
    manifest = (ROOT / "package.xml").read_text()
    named = set(re.findall(r"<(?:exec_)?depend>(\w+)</", manifest))
    messages = {name for name in named if name.endswith(("_msgs", "_srvs", "_interfaces")) and name != "control_msgs"}
    base = {"rclpy", "launch", "launch_ros", "ros2launch", *messages}
    assert {f"ros-DISTRO-{name.replace('_', '-')}" for name in named - base} <= system_packages(SETUP)


def test_the_image_is_made_by_the_documented_command_from_files_that_exist() -> None:
    assert "make setup" in SETUP and "scripts/bootstrap.py" in (ROOT / "Makefile").read_text() and "python3 scripts/bootstrap.py" in DOCKER
    assert re.findall(r"^FROM (.+)$", DOCKER, re.MULTILINE) == ["ros:${DISTRO}-ros-base"]  # has amd64 and arm64
    copied = [word for line in re.findall(r"^COPY (.+)$", DOCKER, re.MULTILINE) for word in line.split()[:-1]]
    assert all((ROOT / name).exists() for name in copied) and copied
    (entry,) = re.findall(r'^ENTRYPOINT \["/opt/deskhand/(.+)"\]$', DOCKER, re.MULTILINE)
    assert os.access(ROOT / entry, os.X_OK)
    assert subprocess.run(["bash", "-n", str(ROOT / entry)]).returncode == 0


def test_what_does_not_belong_into_an_image_stays_out() -> None:
    left_out = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", "build"} <= set(left_out)
    assert not {"requirements", "scripts", "src", "docker", "Makefile", "package.xml"} & set(left_out)


def test_a_plain_colcon_build_of_the_documented_workspace_finds_both_packages(tmp_path: Path) -> None:
    """By the real colcon, in a workspace that is made as the documentation and the workflows say."""
    beside = Path(sys.executable).with_name("colcon")
    colcon = str(beside) if beside.exists() else shutil.which("colcon")
    if colcon is None:
        pytest.skip("colcon is not installed")
    (link,) = re.findall(r"^(ln -sfn .+)$", SETUP, re.MULTILINE)
    assert all(f"{link}\n" in path.read_text() for path in WORKFLOWS if "colcon build" in path.read_text())
    (tmp_path / "src").mkdir()
    (tmp_path / "src/deskhand").symlink_to(ROOT)
    subprocess.run(link.split(), cwd=tmp_path, check=True)
    environment = {**os.environ, "COLCON_HOME": str(tmp_path / "home"), "COLCON_LOG_PATH": os.devnull}
    listed = subprocess.run([colcon, "list", "--names-only"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert listed.stdout.split() == ["deskhand", "deskhand_interfaces"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_yaml_and_runs_scripts_that_exist(path: Path) -> None:
    text = path.read_text()
    for job in yaml.safe_load(text)["jobs"].values():
        assert job["runs-on"] and all("uses" in step or "run" in step for step in job["steps"])
    for name in re.findall(r"(?<![\w/.])(?:scripts|docker|requirements|test|\.ci)/[\w/.-]+", text):
        assert (ROOT / name).exists(), name
    assert "break-system-packages" not in text


def test_both_distributions_and_both_processors_are_tried() -> None:
    for job in yaml.safe_load(ROS)["jobs"].values():
        matrix = job["strategy"]["matrix"]
        assert matrix["distro"] == ["humble", "jazzy"] and any(runner.endswith("-arm") for runner in matrix["runner"])
    for distro in ("humble", "jazzy"):
        assert f"DISTRO={distro}" in DOCKER


def test_the_files_that_the_setup_page_names_exist() -> None:
    named = re.findall(r"`((?:scripts|docker|requirements|src|config)/[\w/.-]*)`", SETUP)
    pages = [f"docs/{name}" for name in re.findall(r"\]\(([\w-]+\.md)\)", SETUP)]
    assert named and pages and [name for name in (*named, *pages) if not (ROOT / name).exists()] == []
