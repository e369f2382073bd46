"""Every node says once a second how it is: of its own full name, with its own numbers, and also when it cannot tell."""

import ast
import contextlib
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor

from deskhand.bringup.domains import free_domain
from deskhand.nodes.diagnostics import Health
from deskhand.nodes.node import DeskhandNode
from deskhand.nodes.safety_node import SafetyNode

NODES = Path(__file__).parents[2] / "src/deskhand/nodes"


class Patient(DeskhandNode):
    """Is as the test says."""

    state = Health()

    def health(self):
        if isinstance(self.state, Exception):
            raise self.state
        return self.state


@pytest.fixture
def ward():
    """A patient, and what is said on /diagnostics, by name."""
    context = Context()
    with free_domain() as domain:
        rclpy.init(context=context, domain_id=domain)
        patient, watcher = Patient("patient", context=context, namespace="/left"), rclpy.create_node("watcher", context=context)
        said = []
        watcher.create_subscription(DiagnosticArray, "/diagnostics", said.append, 10)
        executor = MultiThreadedExecutor(3, context=context)
        for node in (patient, watcher):
            executor.add_node(node)

        def spin():
            with contextlib.suppress(ExternalShutdownException):
                executor.spin()

        thread = threading.Thread(target=spin, daemon=True)
        thread.start()
        yield patient, said
        executor.shutdown(timeout_sec=2.0)
        thread.join(2.0)
        for node in (patient, watcher):
            node.destroy_node()
        rclpy.shutdown(context=context)


def until(ready, seconds=20.0):
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.02)


def test_a_node_tells_its_level_its_words_and_its_numbers_and_a_fault_of_the_telling_too(ward):
    patient, said = ward
    until(lambda: len(said) >= 3)
    stamps = [message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec for message in said]
    assert 0.5 < (stamps[-1] - stamps[0]) / (len(stamps) - 1) < 2.0
    (status,) = said[-1].status
    assert (status.name, status.level, status.message) == ("left/patient", DiagnosticStatus.OK, "ok")
    assert float({item.key: item.value for item in status.values}["memory at most [MiB]"]) > 10
    patient.state = Health("warning", "warm", {"temperature [C]": 61.23456}, "servo 3")
    until(lambda: said[-1].status[0].level == DiagnosticStatus.WARN)
    status = said[-1].status[0]
    assert (status.message, status.hardware_id) == ("warm", "servo 3")
    assert {item.key: item.value for item in status.values}["temperature [C]"] == "61.23"
    patient.state = RuntimeError("no pulse")
    until(lambda: said[-1].status[0].level == DiagnosticStatus.ERROR)
    assert "no pulse" in said[-1].status[0].message


@pytest.mark.parametrize("file", sorted(set(NODES.glob("*_node.py")) - {NODES / "composed_node.py"}), ids=lambda file: file.stem)  # that runs others
def test_every_node_has_something_of_its_own_to_tell(file):
    classes = [item for item in ast.parse(file.read_text()).body if isinstance(item, ast.ClassDef)]
    told = {"DeskhandNode": "health", "ManagedNode": "device_health"}
    nodes = [(item, told[base]) for item in classes for base in map(ast.unparse, item.bases) if base in told]
    assert nodes and all(name in {part.name for part in item.body if isinstance(part, ast.FunctionDef)} for item, name in nodes)


def test_a_stop_is_a_warning_with_its_reason():
    with free_domain() as domain:
        rclpy.init(domain_id=domain)
        node = SafetyNode()
        try:
            assert (node.health().level, node.health().values["stopped"]) == ("ok", False)
            node._stop.stop("safety_stop", "somebody pressed it")
            assert node.health().level == "warning" and "somebody pressed it" in node.health().message
        finally:
            node.close()
            node.destroy_node()
            rclpy.try_shutdown()
