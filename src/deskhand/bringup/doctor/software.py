"""Libraries, rendering, ROS 2, pictures between processes, language models."""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from deskhand.bringup.doctor.base import Check

LIBRARIES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "cv2": "opencv-python-headless",
    "roboplan": "roboplan",
    "pydantic": "pydantic",
    "jsonschema": "jsonschema",
    "mcap": "mcap",
    "openai": "openai",
    "xacro": "xacro",
}
MESSAGES = ("control_msgs.action", "tf2_msgs.msg", "deskhand_interfaces.action", "deskhand_interfaces.msg", "deskhand_interfaces.srv")
SHARED_MEMORY_NEEDED = 56e6  # [bytes]: one segment of config/dds/fastdds.xml for each of ten processes, and room
AGAIN = "Run `make setup`."

PLAN = """
from deskhand.arms.model import RobotModel
from deskhand.motion.embedded import EmbeddedBackend
model = RobotModel.load('wx250s')
home = model.arm.named_poses['home']
backend = EmbeddedBackend(model)
found = backend.first_ik(model.tcp_pose(model.arm_joints(home)), home, 2.0)
assert found is not None, 'no joint angles for the pose home'
"""

RENDER = """
import mujoco
model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><light pos="0 0 2"/><geom type="sphere" size=".3" rgba="1 0 0 1"/></worldbody></mujoco>')
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
with mujoco.Renderer(model, 48, 64) as renderer:
    renderer.update_scene(data)
    picture = renderer.render()
assert picture[..., 0].max() > 50, "the picture is black"
"""


def _python(code: str, timeout: float = 60.0) -> str:
    """Run Python in a process of its own, as a broken library may take its process with it; the error's last line, empty when it went well."""
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout, env=_environment())
    except subprocess.TimeoutExpired:
        return f"no answer within {timeout:g} s"
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"ended with {done.returncode}"


def _environment() -> dict[str, str]:
    from deskhand.bringup.environment import workstation_defaults

    return {**os.environ, **workstation_defaults(os.environ)}


def check_python() -> Check:
    """Version 3.10 or newer."""
    text = f"{platform.python_version()} ({sys.prefix}) on {platform.machine()}, {os.cpu_count()} processors"
    return Check("python", sys.version_info >= (3, 10), text, "deskhand needs Python 3.10 or newer.")


def check_libraries() -> Check:
    """Every library can be imported."""
    broken = [f"{package}: {error}" for module, package in LIBRARIES.items() if (error := _python(f"import {module}"))]
    if broken:
        return Check("libraries", False, "; ".join(broken), AGAIN)
    versions = [f"{package} {metadata.version(package)}" for package in LIBRARIES.values() if _installed(package)]
    return Check("libraries", True, ", ".join(versions))


def check_numpy() -> Check:
    """Numpy has the major version that the sourced ROS 2 was compiled against."""
    from deskhand.bringup.ros_numpy import numpy_of_ros

    version = metadata.version("numpy") if _installed("numpy") else ""
    distro = os.environ.get("ROS_DISTRO", "")
    if not distro:
        return Check("numpy", bool(version), f"{version or 'not installed'}; the interfaces here are built for it", AGAIN)
    wanted = numpy_of_ros(distro)
    advice = f"ROS 2 {distro} was compiled against numpy {wanted}. {AGAIN} By hand: pip install --no-deps -r requirements/lock/{_lock_name(wanted)}"
    return Check("numpy", version.partition(".")[0] == str(wanted), f"{version or 'not installed'} beside ROS 2 {distro}, which needs numpy {wanted}", advice)


def _lock_name(numpy: int) -> str:
    return f"py{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}-numpy{numpy}.txt"


def check_planner() -> Check:
    """The embedded planner can be imported and finds joint angles with this numpy."""
    error = _python(PLAN)
    version = metadata.version("roboplan") if _installed("roboplan") else "not installed"
    advice = f"Its libraries must be those of one lock (requirements/lock/{_lock_name(1 if os.environ.get('ROS_DISTRO') else 2)}). {AGAIN}"
    return Check("planner", not error, f"roboplan {version}: {error or 'finds joint angles'}", advice)


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False  # from the system's packages, without metadata
    return True


def check_rendering() -> Check:
    """MuJoCo draws without a screen."""
    error = _python(RENDER)
    name = f"MuJoCo with MUJOCO_GL={_environment().get('MUJOCO_GL', 'not set')}"
    advice = f"Debian, Ubuntu: apt-get install libegl1 libgl1-mesa-dri. A robot without simulation does not need it. {AGAIN}"
    return Check("rendering", not error, f"{name}: {error or 'draws'}", advice)


def check_ros() -> Check:
    """Rclpy works."""
    error = _python("import deskhand.nodes, rclpy; rclpy.init(); rclpy.create_node('doctor').destroy_node(); rclpy.shutdown()")
    source = f"ROS 2 {os.environ['ROS_DISTRO']}, sourced" if os.environ.get("ROS_DISTRO") else "ROS 2 Jazzy from wheels"
    advice = f"{AGAIN} On a robot: source /opt/ros/humble/setup.bash (Ubuntu 22.04) or /opt/ros/jazzy/setup.bash (24.04)."
    return Check("ros", not error, f"{source}{f': {error}' if error else ''}", advice)


def check_interfaces() -> Check:
    """Messages, services and actions are built for this Python and this numpy."""
    error = _python(f"import {', '.join(MESSAGES)}")
    packages = ", ".join(dict.fromkeys(module.partition(".")[0] for module in MESSAGES))
    advice = f"{AGAIN} In a colcon workspace: colcon build, and source its install/setup.bash."
    return Check("interfaces", not error, error or packages, advice)


def check_shared_memory() -> Check:
    """Room for the pictures of all processes."""
    folder = Path("/dev/shm")
    if not folder.is_dir():
        return Check("memory", False, "there is no /dev/shm", "In a container: mount a tmpfs of 256 MB there.")
    free = shutil.disk_usage(folder).free
    advice = "In a container: docker run --shm-size=256m. Remains of killed processes: rm /dev/shm/fastrtps_*."
    return Check("memory", free >= SHARED_MEMORY_NEEDED, f"{free / 1e6:.0f} MB shared memory free", advice)


def check_ports() -> Check:
    """UDP on this machine, which DDS needs to find the other processes."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two:
        try:
            one.bind(("127.0.0.1", 0))
            one.settimeout(2.0)
            two.sendto(b"deskhand", one.getsockname())
            one.recv(16)
        except OSError as error:
            return Check("ports", False, f"UDP on 127.0.0.1: {error}", "A firewall must let UDP on the loopback interface through.")
    domain = os.environ.get("ROS_DOMAIN_ID", "0")
    if not domain.isdigit() or int(domain) > 101:
        return Check("ports", False, f"ROS_DOMAIN_ID is {domain!r}", "Set it to a number from 0 to 101, or unset it.")
    first = 7400 + 250 * int(domain)
    return Check("ports", True, f"UDP on 127.0.0.1 works; ROS domain {domain} has ports {first} to {first + 249}")


def check_brain(name: str) -> Check:
    """The model of a profile answers and calls tools."""
    from deskhand.llm.trial import try_profile

    tried = try_profile(name)
    return Check("brain", tried.ok, tried.detail, tried.advice)


def check_pictures() -> Check:
    """Camera pictures pass between two processes over DDS."""
    from deskhand.bringup.domains import free_domain

    advice = "See the checks above; config/dds/fastdds.xml must be in force (FASTRTPS_DEFAULT_PROFILES_FILE), and /dev/shm large enough."
    command = [sys.executable, "-m", "deskhand.nodes.picture_check"]
    with free_domain() as domain:
        environment = {**_environment(), "ROS_DOMAIN_ID": str(domain)}
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
        sender = subprocess.Popen([*command, "send"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        receiver = subprocess.Popen([*command, "receive"], **quiet)  # type: ignore[call-overload]
        try:
            output, errors = receiver.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            output, errors = "", "no answer within 60 s"
        finally:
            for process in (sender, receiver):
                process.kill()
                process.wait()
    lines = [line for line in output.splitlines() if line.startswith("{")]
    if not lines:
        return Check("pictures", False, (errors.strip().splitlines() or ["nothing arrived"])[-1], advice)
    result = json.loads(lines[-1])
    text = f"{result['received']} of {result['sent']} pictures of 640x480 at 30 Hz between two processes"
    if result["median_delay_ms"] is not None:
        text += f", {result['median_delay_ms']} ms each"
    return Check("pictures", result["received"] >= 0.9 * result["sent"], text, advice)


CHECKS: tuple[Callable[[], Check], ...] = (
    check_python,
    check_libraries,
    check_numpy,
    check_planner,
    check_rendering,
    check_ros,
    check_interfaces,
    check_shared_memory,
    check_ports,
    check_pictures,
)
