"""Several nodes of the stack in one process: ``composed_node perception grasping …``.

They import everything once, which is most of the memory and of the start. What stops the arm (motion, safety) and drives it stays apart: these go on when
this process ends.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from rclpy.utilities import remove_ros_args

from deskhand.nodes.node import run_nodes

NAME = "composed"
CLASSES = {
    "perception": "PerceptionNode",
    "grasping": "GraspingNode",
    "tool_server": "ToolServerNode",
    "orchestrator": "OrchestratorNode",
    "recorder": "RecorderNode",
}
"""Of ``<name>_node`` beside this module, which also says its ``THREADS``."""


def main() -> int:
    """Run the nodes that are named."""
    parser = argparse.ArgumentParser(prog="composed_node", description="Run several nodes of the stack in one process.")
    parser.add_argument("nodes", nargs="+", choices=CLASSES, metavar="NODE", help=", ".join(CLASSES))
    names = dict.fromkeys(parser.parse_args(remove_ros_args(sys.argv)[1:]).nodes)
    modules = {name: import_module(f"deskhand.nodes.{name}_node") for name in names}
    return run_nodes({getattr(module, CLASSES[name]): module.THREADS for name, module in modules.items()}, NAME)


if __name__ == "__main__":
    sys.exit(main())
