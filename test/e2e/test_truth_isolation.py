"""The robot stack cannot get at the truth: not by import, not over ROS, not through the processes of other nodes."""

import ast
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest
from harness import stack_with_watcher
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from tf2_msgs.msg import TFMessage

from deskhand.bringup.stack import STACK
from deskhand.nodes.node import call_service
from deskhand.sim.spec import CameraSpec
from deskhand.trials.base import Attempt, TrialOptions
from deskhand.trials.ros import run_task

SOURCE = Path(__file__).resolve().parents[2] / "src/deskhand"
FORBIDDEN = ("deskhand.sim", "deskhand.tasks", "deskhand.trials", "deskhand.bench")
NOT_THE_STACK = ("sim", "tasks", "trials", "bench", "doctor", "commands")
SECRET = "zqx"
"""In the name of every object and fixture of the world below, in its file's name, and nowhere else."""

KNOWN_PACKAGES = {"sensor_msgs", "std_msgs", "std_srvs", "tf2_msgs", "rosgraph_msgs", "rcl_interfaces", "control_msgs", "action_msgs", "deskhand_interfaces"}
KNOWN_PACKAGES |= {"type_description_interfaces", "nav2_msgs"}  # the client of a mobile base, which need not be there
KNOWN_PACKAGES |= {"lifecycle_msgs"}  # the managed nodes' states
KNOWN_PACKAGES |= {"geometry_msgs", "trajectory_msgs", "diagnostic_msgs"}  # grasps and plans, for the operator page; health
PARAMETER_SERVICES = {f"{verb}_parameters" for verb in ("get", "set", "list", "describe")} | {
    "get_parameter_types",
    "set_parameters_atomically",
    "get_type_description",
}
LIFECYCLE_SERVICES = {"change_state", "get_state", "get_available_states", "get_available_transitions", "get_transition_graph"}

WORLD = f"""
objects:
  - {{name: {SECRET}_one, kind: block, color: red, pose: {{x: 0.05, y: 0.05}}}}
  - {{name: {SECRET}_two, kind: ball, color: blue, pose: {{x: 0.05, y: -0.08}}}}
  - {{name: {SECRET}_three, kind: tray, pose: {{x: 0.0, y: 0.28}}}}
fixtures:
  - {{name: {SECRET}_four, kind: drawer, pose: [0.18, -0.28]}}
"""
REALITY = """
camera: {translation: 0.004, rotation: 0.4}
depth: {scale: 0.00314159}
"""
DRAWN = "0.00314159"
"""What is wrong with the sensor: as much the scorer's as where objects are."""


def stack_files():
    for path in sorted(SOURCE.rglob("*.py")):
        relative = path.relative_to(SOURCE)
        if relative.parts[0] not in NOT_THE_STACK and relative.as_posix() not in ("nodes/sim_node.py", "nodes/foreign_node.py"):
            yield path


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_file_of_the_stack_imports_the_simulation_the_tasks_or_the_scorer():
    files = list(stack_files())
    assert len(files) > 60
    guilty = [f"{path.relative_to(SOURCE)}: {name}" for path in files for name in imported(path) if name.startswith(FORBIDDEN)]
    assert guilty == []


def test_no_node_of_the_stack_has_them_loaded():
    code = f"import sys, {', '.join(f'deskhand.nodes.{name}_node' for name in STACK)}; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True).stdout.split()
    assert "deskhand.nodes.perception_node" in loaded
    assert [name for name in loaded if name.startswith(FORBIDDEN)] == []


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A stack on a world with secret names, every topic listened to while the robot does something."""
    folder = tmp_path_factory.mktemp("isolation")
    file = folder / f"{SECRET}.yaml"
    file.write_text(WORLD)
    reality = folder / f"{SECRET}_reality.yaml"
    reality.write_text(REALITY)
    options = TrialOptions(scene=file, instruction="Put the block into the tray.", timeout=90.0, reality=str(reality))
    with stack_with_watcher(options, folder / "episode") as (stack, watcher):
        heard = Ears(watcher.node)
        watcher.wait_for_nodes({"sim", *STACK}, 30.0)
        attempt = Attempt()
        run_task(stack, "Put the block into the tray.", options, lambda _: heard.listen_to_new_topics(), attempt)
        truth = stack.truth.get()
        assert truth.objects and f"{SECRET}_four/drawer" in truth.joints, "the scorer does see the truth"
        yield stack, watcher.node, heard, attempt


class Ears:
    """Subscribes to every topic there is and keeps what is said."""

    def __init__(self, node):
        self.node, self.said, self._known = node, {}, set()
        self.listen_to_new_topics()

    def listen_to_new_topics(self):
        for name, types in self.node.get_topic_names_and_types():
            if name not in self._known and "/image_raw" not in name:
                self._known.add(name)
                quality = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
                message_type = type_named(types[0])
                self.node.create_subscription(message_type, name, lambda message, name=name: self._hear(name, message), quality)

    def _hear(self, name, message):
        said = self.said.setdefault(name, [])
        if len(said) < 500:
            said.append(str(message)[:20000])


def type_named(text):
    package, folder, kind = text.split("/")
    module = import_module(f"{package}.{folder}")
    if folder == "action":
        return getattr(module, kind.removesuffix("_FeedbackMessage")).Impl.FeedbackMessage
    return getattr(module, kind)


def test_no_topic_tells_the_truth(live):
    _, _, heard, attempt = live
    assert attempt.tool_calls >= 2, attempt
    assert {"/joint_states", "/perception/scene", "/tools/events"} <= heard.said.keys()
    assert [name for name, messages in heard.said.items() if any(SECRET in text or DRAWN in text for text in messages)] == []


def test_the_robot_is_told_where_its_camera_should_be_and_not_where_it_is(live):
    node = live[1]
    heard = []
    latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
    node.create_subscription(TFMessage, "/tf_static", heard.append, latched)
    nominal = CameraSpec()
    end = time.monotonic() + 10.0
    while time.monotonic() < end and not any(item.child_frame_id == nominal.frame_id for message in heard for item in message.transforms):
        time.sleep(0.05)
    told = next(item.transform.translation for message in heard for item in message.transforms if item.child_frame_id == nominal.frame_id)
    assert (told.x, told.y, told.z) == pytest.approx(tuple(nominal.world_T_camera[:3, 3]), abs=1e-9)


def test_no_service_or_topic_is_there_beyond_those_of_a_real_robot(live):
    _, node, _, _ = live
    for name, types in [*node.get_topic_names_and_types(), *node.get_service_names_and_types()]:
        assert all(kind.split("/")[0] in KNOWN_PACKAGES for kind in types), (name, types)
        assert "truth" not in name and "score" not in name
    of_sim = {name for name, _ in node.get_service_names_and_types_by_node("sim", "/")}
    allowed = PARAMETER_SERVICES | LIFECYCLE_SERVICES
    assert all(name.rpartition("/")[2] in allowed or "/_action/" in name for name in of_sim), of_sim


def test_no_parameter_tells_the_world(live):
    _, node, _, _ = live
    names = {name for name, _ in node.get_node_names_and_namespaces() if name in ("sim", *STACK)}
    assert len(names) == len(STACK) + 1
    for name in names:
        listed = call_service(node.create_client(ListParameters, f"/{name}/list_parameters"), ListParameters.Request(), 10.0).result.names
        values = call_service(node.create_client(GetParameters, f"/{name}/get_parameters"), GetParameters.Request(names=listed), 10.0).values
        text = str(list(zip(listed, map(str, values), strict=True)))
        assert SECRET not in text and DRAWN not in text, (name, text)


def test_no_process_of_the_stack_was_given_the_world_or_the_scorers_socket(live):
    stack = live[0]
    sim = stack.supervisor.pid("sim")
    truth = str(Path(f"/proc/{sim}/fd/{stack.truth_fd}").readlink())
    assert truth.startswith("socket:")
    for name in STACK:
        pid = stack.supervisor.pid(name)
        for file in ("cmdline", "environ"):
            assert SECRET not in Path(f"/proc/{pid}/{file}").read_text(), (name, file)
        assert truth not in open_files(pid), name


def open_files(pid):
    links = set()
    for file in Path(f"/proc/{pid}/fd").iterdir():
        try:
            links.add(str(file.readlink()))
        except FileNotFoundError:  # closed meanwhile
            continue
    return links
