#!/usr/bin/env python3
"""`make check-lock`: fresh environments from the locks beside ROS (numpy 1.26), and in them plans, IK, the envelope and perception. Standard library only.

Each environment is made by the same pip command as on a robot, without ROS, and runs the unit tests that need none against the sources of this checkout.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("python3.10", "python3.12")
TESTS = (
    "test/unit/test_geometry.py",
    "test/unit/motion",
    "test/unit/safety",
    "test/unit/grasping",
    "test/unit/perception",
    "test/unit/arms/test_link_frames.py",
)


def check(python: str, numpy: int, folder: Path, tests: list[str]) -> bool:
    """Make an environment in ``folder`` from the lock for ``python`` and run ``tests`` in it; whether they pass."""
    version = subprocess.run([python, "-c", "import sys; print('%d%d' % sys.version_info[:2])"], capture_output=True, text=True, check=True).stdout.strip()
    lock = ROOT / f"requirements/lock/py{version}-{platform.machine()}-numpy{numpy}.txt"
    print(f"[check-lock] {python}: {lock.relative_to(ROOT)}", flush=True)
    started = time.monotonic()
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    own = str(folder / "bin/python")
    subprocess.run([own, "-m", "pip", "install", "--quiet", "--no-deps", "--progress-bar", "off", "-r", str(lock)], check=True)
    versions = "import numpy, scipy, cv2, roboplan; print('numpy', numpy.__version__, 'scipy', scipy.__version__, 'OpenCV', cv2.__version__)"
    subprocess.run([own, "-c", versions], check=True)
    print(f"[check-lock] installed after {time.monotonic() - started:.0f} s", flush=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("AMENT_PREFIX_PATH", "VIRTUAL_ENV", "PYTHONHOME")}
    environment |= {"PYTHONPATH": str(ROOT / "src"), "MUJOCO_GL": "egl"}
    return subprocess.run([own, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], cwd=ROOT, env=environment).returncode == 0


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", help=f"interpreter; may be given again (default: {', '.join(PYTHONS)}, those that are there)")
    parser.add_argument("--numpy", type=int, choices=(1, 2), default=1, help="major version: 1 is beside ROS from apt (default: %(default)s)")
    parser.add_argument("tests", nargs="*", help="tests to run (default: geometry, motion, safety, grasping and perception)")
    arguments = parser.parse_args()
    pythons = arguments.python or [python for python in PYTHONS if shutil.which(python)]
    if not pythons:
        print(f"check-lock: none of {', '.join(PYTHONS)} is on the path; name one: --python PATH.", file=sys.stderr)
        return 1
    failed = []
    for python in pythons:
        with tempfile.TemporaryDirectory(prefix="deskhand-lock-") as name:
            try:
                if not check(python, arguments.numpy, Path(name) / "venv", arguments.tests or list(TESTS)):
                    failed.append(python)
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"check-lock: {error}", file=sys.stderr)
                failed.append(python)
    print(f"[check-lock] {'failed with ' + ', '.join(failed) if failed else 'all well with ' + ', '.join(pythons)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
