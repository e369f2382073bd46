"""A robot in a simulator of others, and the stack: ros2 launch deskhand foreign.launch.py sim:=libero task:=libero_object/4 seed:=0"""

import tempfile
from pathlib import Path

from deskhand.bench.libero.over_ros import started_desk
from deskhand.bench.libero.run import case_of
from deskhand.bringup.stack import foreign_nodes
from deskhand.nodes.launching import STACK_ARGUMENTS, launch_description, node_action, stack_options

ARGUMENTS = {
    **{name: value for name, value in STACK_ARGUMENTS.items() if name != "arm"},
    "sim": ("libero", "whose world: libero or robosuite"),
    "task": ("libero_object/4", "SUITE/TASK of libero; stack, milk, can, cereal or bread of robosuite"),
    "seed": ("0", "state of the task; of robosuite its seed"),
    "reality": ("none", "errors of the camera: none, mild, hard or a YAML file"),
    "folder": ("", "folder for the files that the nodes start from; empty: a new one in the temporary folder"),
}


def make(values):
    options = stack_options({**values, "arm": "panda"})
    case = case_of(values["sim"], values["task"], int(values["seed"]))
    folder = Path(values["folder"] or tempfile.mkdtemp(prefix="deskhand_foreign_"))
    return [node_action(spec) for spec in foreign_nodes(options, started_desk(values["sim"], case, folder, values["reality"])[0])]


def generate_launch_description():
    return launch_description(ARGUMENTS, make)
