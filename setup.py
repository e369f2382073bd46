"""Python package and ament_python package in one. Dependencies are listed in requirements/ (here: extras) and, for a robot, in package.xml."""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).resolve().parent
DATA = ("launch", "config", "urdf")
EXTRAS = (
    *("core", "sim", "dev", "ros", "detectors", "anthropic", "servos", "view", "cameras", "search"),
    *("ray", "mlflow", "wandb", "lerobot", "train"),
)


def requirements(name: str) -> list[str]:
    """Requirements of requirements/NAME.txt."""
    lines = (ROOT / "requirements" / f"{name}.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def data_files() -> list[tuple[str, list[str]]]:
    """Files for share/deskhand, with their folders."""
    files = [("share/ament_index/resource_index/packages", ["resource/deskhand"]), ("share/deskhand", ["package.xml"])]
    folders = sorted({path.parent for top in DATA for path in (ROOT / top).rglob("*") if path.is_file() and "__pycache__" not in path.parts})
    for folder in folders:
        inside = folder.relative_to(ROOT)
        files.append((f"share/deskhand/{inside}", [str(inside / path.name) for path in sorted(folder.iterdir()) if path.is_file()]))
    return files


def executables() -> list[str]:
    """``deskhand`` and one executable a node."""
    nodes = sorted(path.stem for path in (ROOT / "src/deskhand/nodes").glob("*_node.py"))
    return ["deskhand = deskhand.commands.cli:main", *(f"{node} = deskhand.nodes.{node}:main" for node in nodes)]


setup(
    name="deskhand",
    version=re.findall(r"<version>(.+)</version>", (ROOT / "package.xml").read_text())[0],
    description="Let a language model use a real tabletop arm.",
    license="Apache-2.0",
    python_requires=">=3.10",
    package_dir={"": "src"},
    packages=find_packages("src", include=["deskhand", "deskhand.*"]),
    package_data={"deskhand": ["**/*.html", "**/*.j2", "**/*.yaml", "**/*.json", "**/*.jsonl", "**/*.jpg", "**/*.npz", "**/*.cpp", "py.typed"]},
    data_files=data_files(),
    install_requires=["setuptools"],  # the rest comes from package.xml (rosdep) on a robot
    extras_require={name: requirements(name) for name in EXTRAS},
    entry_points={"console_scripts": executables()},
    zip_safe=False,
)
