#!/usr/bin/env python3
"""`make lock`: resolve requirements/ to pinned versions, one file of requirements/lock a combination of Python, processor and numpy. Standard library and uv.

A file is a whole, closed list: it is installed with `pip install --no-deps` (scripts/bootstrap.py). numpy 1 is for an environment beside a ROS 2 from apt,
whose messages are compiled against it; numpy 2 for one without. Versions that a file has already stay, unless `--upgrade` is given; `--check` only compares.
The seal on the first lines of a file is a check sum of what was asked for and what was found, so that an edit of either is seen without asking the registry.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements/lock"
SETS = ("core", "sim", "view", "search", "servos", "detectors", "anthropic", "cameras", "orbbec", "dev")
"""What goes into a lock, of requirements/."""
GLIBC = "manylinux_2_28"
"""Wheels for the C library of Debian 10 and newer: Ubuntu 22.04 (also of JetPack 6) has 2.35, 24.04 has 2.39."""
SOURCE_ONLY = ("feetech-servo-sdk", "empy")
"""Pure Python without a wheel in the registry; everything else must have one for the processor, so that nothing is compiled."""
LOOSENED = {"cmeel-boost": ("1.90.0", ("cmeel", "numpy")), "pyorbbecsdk2": ("2.1.2", ())}
"""Distributions whose own requirements are not followed: (version, requirements in their place).

cmeel-boost asks for numpy >= 2, as its wheel is compiled with numpy 2: what is compiled so runs with numpy 1.26 also (test/scripts/test_lock.py, and
scripts/check_lock.py runs the planner). pyorbbecsdk2 asks for what its examples import, which would replace numpy and OpenCV.
"""


class LockError(Exception):
    """What could not be resolved."""


@dataclass(frozen=True)
class Target:
    """One combination. ``python`` is "3.10"; ``machine`` as uname says it; ``numpy`` the major version."""

    python: str
    machine: str
    numpy: int
    ros_wheels: bool = False

    @property
    def file(self) -> Path:
        """The lock."""
        version = self.python.replace(".", "")
        return FOLDER / (f"ros-py{version}-{self.machine}.txt" if self.ros_wheels else f"py{version}-{self.machine}-numpy{self.numpy}.txt")

    @property
    def sets(self) -> tuple[str, ...]:
        """The files of requirements/ that it resolves."""
        return ("ros",) if self.ros_wheels else SETS

    def text(self, pins: list[str]) -> str:
        """The lock: what it is, its seal, that nothing is compiled but what :data:`SOURCE_ONLY` names, and the pins."""
        sets = ", ".join(self.sets)
        title = f"# Made by `make lock`: {sets} for Python {self.python} on {self.machine} with numpy {self.numpy}. Install with pip's --no-deps."
        return "\n".join([title, SEAL + seal(self, pins), "--only-binary :all:", *(f"--no-binary {name}" for name in SOURCE_ONLY), *pins, ""])


UBUNTU = tuple(Target(python, machine, numpy) for machine in ("aarch64", "x86_64") for python in ("3.10", "3.12") for numpy in (1, 2))
"""The eight combinations of {3.10 of Ubuntu 22.04 and Humble, 3.12 of 24.04 and Jazzy} x {aarch64, x86-64} x {numpy 1, 2}."""
DEBIAN = tuple(Target("3.11", "x86_64", numpy) for numpy in (1, 2))
TARGETS = (*UBUNTU, *DEBIAN)
WHEELS = tuple(Target(python, "x86_64", 2, ros_wheels=True) for python in ("3.10", "3.11", "3.12"))
"""ROS 2 itself as wheels, which there are for x86-64 alone."""
AT_ONCE = 6
SEAL = "# Seal: "


def seal(target: Target, pins: list[str]) -> str:
    """Check sum of what the lock is resolved from and of its ``pins``."""
    asked = [*sorted(requirement_lines(target)), GLIBC, *SOURCE_ONLY, json.dumps(LOOSENED, sort_keys=True)]
    return hashlib.sha256("\n".join([target.file.name, *asked, *pins]).encode()).hexdigest()[:16]


def pins_of(text: str) -> list[str]:
    """The lines of a lock, or of uv's output, that pin something."""
    return [line for line in text.splitlines() if re.match(r"[a-z0-9]", line)]


def edited(target: Target) -> bool:
    """Whether the lock, or what it is resolved from, has changed since `make lock` wrote it."""
    text = target.file.read_text()
    return SEAL + seal(target, pins_of(text)) not in text.splitlines()


def find_uv() -> str:
    """The program uv, of this Python's environment or on the path.

    Raises:
        LockError: when there is none.
    """
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    if not found:
        raise LockError("uv is not installed: pip install -r requirements/dev.txt, or pip install uv.")
    return found


def uv_settings() -> str:
    """:data:`LOOSENED` as uv reads it: TOML, of which JSON's strings and lists are part."""
    lines = [
        f"  {{ name = {json.dumps(name)}, version = {json.dumps(version)}, requires-dist = {json.dumps(requires)} }},"
        for name, (version, requires) in LOOSENED.items()
    ]
    return "\n".join(["dependency-metadata = [", *lines, "]", ""])


def requirement_lines(target: Target) -> list[str]:
    """What the lock must cover."""
    lines = [line.strip() for name in target.sets for line in (ROOT / f"requirements/{name}.txt").read_text().splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def resolve(target: Target, known: str, timeout: float = 600.0) -> str:
    """The text of the lock, with the versions of ``known`` (a lock, or empty) where they still do. Downloads metadata only; installs nothing.

    Raises:
        LockError: when there is no such set of wheels, or the registry does not answer.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        output, settings, wanted = folder / "lock.txt", folder / "uv.toml", folder / "wanted.txt"
        output.write_text(known)
        settings.write_text(uv_settings())
        wanted.write_text("\n".join([*requirement_lines(target), *([] if target.ros_wheels else [f"numpy>={target.numpy},<{target.numpy + 1}"]), ""]))
        options = ["--config-file", str(settings), "--python-version", target.python, "--python-platform", f"{target.machine}-{GLIBC}"]
        wheels = ["--only-binary", ":all:", *(part for each in SOURCE_ONLY for part in ("--no-binary", each))]
        if target.ros_wheels:  # together with the libraries in one environment
            beside = Target(target.python, target.machine, 2).file
            options += ["--constraints", str(beside)] if beside.exists() else []
        command = [find_uv(), "pip", "compile", "--quiet", "--no-header", "--no-annotate", *options, *wheels, str(wanted), "--output-file", str(output)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=index_environment(dict(os.environ)))
        except subprocess.TimeoutExpired as error:
            raise LockError(f"{target.file.name}: the registry did not answer within {timeout:g} s.") from error
        if done.returncode:
            raise LockError(f"{target.file.name}:\n{done.stderr}")
        return target.text(pins_of(output.read_text()))


def index_environment(environment: dict[str, str]) -> dict[str, str]:
    """The registry that pip is told to ask, told to uv."""
    if "PIP_INDEX_URL" in environment:
        environment.setdefault("UV_DEFAULT_INDEX", environment["PIP_INDEX_URL"])
    if "PIP_CERT" in environment:
        environment.setdefault("SSL_CERT_FILE", environment["PIP_CERT"])
    return environment


def reach_registry() -> None:
    """See that the registry answers, with the smallest of requirements.

    Raises:
        LockError: when it does not within a minute.
    """
    command = [find_uv(), "pip", "compile", "--quiet", "--no-header", "--no-deps", "--refresh-package", "typing-extensions", "-"]
    environment = {**index_environment(dict(os.environ)), "UV_HTTP_TIMEOUT": "20"}
    try:
        done = subprocess.run(command, input="typing-extensions", capture_output=True, text=True, timeout=60.0, env=environment)
    except subprocess.TimeoutExpired as error:
        raise LockError("the package registry cannot be reached: no answer within a minute.") from error
    if done.returncode:
        raise LockError(f"the package registry cannot be reached: {(done.stderr.strip().splitlines() or ['no reason given'])[-1].strip()}")


def resolve_all(targets: tuple[Target, ...], upgrade: bool = False) -> dict[Target, tuple[str, str]]:
    """The lock that is there and the one that resolving gives, several at a time: most of it is waiting for the registry.

    Raises:
        LockError: as :func:`resolve`.
    """
    known = {target: target.file.read_text() if target.file.exists() else "" for target in targets}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        texts = list(pool.map(lambda target: resolve(target, "" if upgrade else known[target]), targets))
    return {target: (known[target], text) for target, text in zip(targets, texts, strict=True)}


def write(targets: tuple[Target, ...], upgrade: bool) -> None:
    """Write the locks."""
    FOLDER.mkdir(exist_ok=True)
    for target, (old, new) in resolve_all(targets, upgrade).items():
        target.file.write_text(new)
        print(f"{target.file.relative_to(ROOT)}: {new.count('==')} packages{'' if new != old else ', unchanged'}", flush=True)


def differences(targets: tuple[Target, ...]) -> list[str]:
    """Locks that are not what resolving gives.

    Raises:
        LockError: as :func:`resolve`.
    """
    found = []
    for target, (old, new) in resolve_all(targets).items():
        if lines := sorted(set(old.splitlines()) ^ set(new.splitlines())):
            found.append(f"{target.file.name} is not what requirements/ resolve to: {', '.join(lines[:8])}")
    return found


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when a lock is not what resolving gives")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions, not those of the locks")
    arguments = parser.parse_args()
    try:
        if not arguments.check:
            for targets in (TARGETS, WHEELS):  # ROS 2 as wheels follows the libraries
                write(targets, arguments.upgrade)
            return 0
        found = differences((*TARGETS, *WHEELS))
    except LockError as error:
        print(f"lock: {error}", file=sys.stderr)
        return 1
    print("".join(f"lock: {line}; run `make lock`.\n" for line in found), end="", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
