"""package.xml, setup.py and requirements/ say the same."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "src/deskhand"

# distribution: import name
LIBRARIES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "opencv-python-headless": "cv2",
    "transforms3d": "transforms3d",
    "pyyaml": "yaml",
    "xacro": "xacro",
    "roboplan": "roboplan",
    "pydantic": "pydantic",
    "typing-extensions": "typing_extensions",
    "jsonschema": "jsonschema",
    "openai": "openai",
    "mcap": "mcap",
    "mcap-ros2-support": "mcap_ros2",
    "jinja2": "jinja2",
    "matplotlib": "matplotlib",
    "typer": "typer",
    "rich": "rich",
    "mcp": "mcp",
    "pydantic-monty": "pydantic_monty",
    "pyserial": "serial",
}
COMES_ALONG = {"pydantic_core", "click", "launch", "launch_ros", "mujoco", "anyio", "httpx2", "mcp_types", "uvicorn"}
"""With one of the above, on a robot, or with the extra sim."""


def requirements(name: str) -> dict[str, str]:
    lines = (ROOT / f"requirements/{name}.txt").read_text().splitlines()
    return {re.split(r"[<>=; ]", line)[0]: line for line in lines if line and not line.startswith("#")}


EXTRAS = {name for extra in ("detectors", "view", "cameras", "anthropic", "ray", "lerobot", "mlflow", "wandb", "train") for name in requirements(extra)}
FOREIGN = SOURCES / "sim/foreign/served"
"""Run by a foreign simulator's own Python, in its own environment."""
OPTIONAL = {"moveit", "moveit_msgs", "coal", "ompl", "pinocchio", "dynamixel_sdk", "scservo_sdk", "pyorbbecsdk", *EXTRAS}
"""Imported only where a person has installed it: the planner moveit, the contenders of the motion benchmark, the libraries of servos,
detectors beside geometry, the operator page, a language model's, the cameras of vendors (pyorbbecsdk comes as pyorbbecsdk2), what the segmenter is
trained with."""


@cache
def imported() -> set[str]:
    names = set()
    for file in sorted(set(SOURCES.rglob("*.py")) - set(FOREIGN.rglob("*.py"))):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"deskhand"} - OPTIONAL


def manifest() -> ElementTree.Element:
    return ElementTree.parse(ROOT / "package.xml").getroot()


def test_requirements_name_what_is_imported_and_nothing_else() -> None:
    assert set(requirements("core")) == set(LIBRARIES)
    modules = set(LIBRARIES.values())
    messages = {element.text for element in manifest().iter("depend")}
    assert modules <= imported()
    assert imported() - modules - COMES_ALONG <= messages


def test_the_manifest_leaves_pythons_libraries_to_the_locks() -> None:
    """A library of Ubuntu in the manifest would say that it is new enough; xacro is ROS's as well."""
    keys = {element.text for element in manifest().iter("exec_depend")}
    assert not {key for key in keys if key and key.startswith("python3-")}
    assert "xacro" in keys


def test_setup_py_takes_name_version_and_licence_from_the_manifest() -> None:
    done = subprocess.run([sys.executable, "setup.py", "--name", "--version", "--license"], cwd=ROOT, capture_output=True, text=True, check=True)
    root = manifest()
    assert done.stdout.split()[-3:] == [root.findtext("name"), root.findtext("version"), root.findtext("license")]


def test_every_interface_package_that_nodes_import_is_a_dependency() -> None:
    declared = {element.text for element in manifest().iter("depend")}
    packages = {name for name in imported() if name.endswith(("_msgs", "_srvs", "_interfaces"))} | {"rclpy"}
    assert packages <= declared


def test_colcon_of_a_robot_does_not_see_our_stand_ins() -> None:
    assert (ROOT / "src/ros_compat/COLCON_IGNORE").exists()


def test_the_interfaces_have_the_version_of_the_package() -> None:
    said = {folder: ElementTree.parse(ROOT / folder / "package.xml").getroot().findtext("version") for folder in (".", "src/deskhand_interfaces")}
    assert said["."] and said["src/deskhand_interfaces"] == said["."]
