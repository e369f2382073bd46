"""The process of a foreign simulator: ``python worker.py KIND ROBOT_FD SCORER_FD``, the two being inherited sockets. Imports nothing of deskhand's."""

from __future__ import annotations

import os
import socket
import sys


def main() -> int:
    """Serve until the other side is gone."""
    if len(sys.argv) != 4:
        sys.stderr.write(str(__doc__))
        return 2
    os.environ.setdefault("MUJOCO_GL", "egl")  # before the first import of the simulator
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    robot, scorer = (socket.socket(fileno=int(number)) for number in sys.argv[2:])
    import serving
    from robosuite_world import WORLDS

    serving.serve(WORLDS[sys.argv[1]](), robot, scorer)
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # EGL's own ending complains about contexts that are gone
