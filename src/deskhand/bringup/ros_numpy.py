"""Which numpy a sourced ROS 2 was compiled against. Standard library only: scripts/bootstrap.py uses it before anything is installed.

Messages with arrays, and what else of ROS is compiled, use numpy's C interface, which changed from numpy 1 to 2. The packages of Ubuntu 22.04 and 24.04
(Humble, Jazzy) were compiled against their own python3-numpy: 1.21.5 and 1.26.4. A later numpy of the same major version does as well.
"""

from __future__ import annotations

import os
import subprocess
import sys

# without a virtual environment, the user's own packages and PYTHONPATH (-I), and without what pip put into /usr/local
ASK = "import sys; sys.path[:] = [p for p in sys.path if not p.startswith('/usr/local/')]; import numpy; print(numpy.__version__)"
OF_DISTRO = {"humble": 1, "iron": 1, "jazzy": 1}
"""Major version, where the system has no numpy to ask."""


def system_python() -> str:
    """The interpreter that this environment was made from."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def numpy_of_ros(distro: str, python: str = "") -> int:
    """Major version of numpy for an environment beside the sourced ROS 2 ``distro``; ``python`` is the interpreter that ROS uses (default: this one's)."""
    try:
        done = subprocess.run([python or system_python(), "-I", "-c", ASK], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return OF_DISTRO.get(distro, 2)
    major = done.stdout.partition(".")[0]
    return int(major) if done.returncode == 0 and major.isdigit() else OF_DISTRO.get(distro, 2)
