"""Several nodes of the stack in one process: ``composed_node perception grasping …``.

They import everything once, which is most of their memory. What stops the arm (motion, safety) and drives it stays apart: these go on when
this process ends.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from rclpy.utilities import remove_ros_args

from deskhand.bringup.stack import COMPOSED
from deskhand.nodes.node import run_nodes

NAME = "composed"


def main() -> int:
    """Run the nodes that are named."""
    parser = argparse.ArgumentParser(prog="composed_node", description="Run several nodes of the stack in one process.")
    parser.add_argument("nodes", nargs="+", choices=COMPOSED, metavar="NODE", help=", ".join(COMPOSED))
    names = dict.fromkeys(parser.parse_args(remove_ros_args(sys.argv)[1:]).nodes)
    modules = {name: import_module(f"deskhand.nodes.{name}_node") for name in names}
    return run_nodes({getattr(module, f"{name.title().replace('_', '')}Node"): module.THREADS for name, module in modules.items()}, NAME)


if __name__ == "__main__":
    sys.exit(main())
