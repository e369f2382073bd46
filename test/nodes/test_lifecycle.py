"""Managed nodes by the standard services, as `ros2 lifecycle` calls them: what is not valid now is refused, what fails leaves the node as it was."""

import contextlib
import threading

import pytest

pytest.importorskip("rclpy")
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableStates, GetAvailableTransitions, GetState
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.parameter import Parameter

from deskhand.bringup.domains import free_domain
from deskhand.errors import DeskhandError
from deskhand.nodes.managed import ManagedNode
from deskhand.nodes.node import DeskhandNode, call_service

TAKEN = contextlib.ExitStack()
"""A domain for each test, kept until the process ends: DDS may still tell of the services of the test before, and then none is called ready."""


class Device(ManagedNode):
    """Notes what it was told; fails where it is told to."""

    def __init__(self, **parameters):
        super().__init__("device", parameter_overrides=[Parameter(name, value=value) for name, value in parameters.items()])
        self.did, self.failing, self.entered, self.go_on = [], {}, threading.Event(), threading.Event()
        self.go_on.set()

    def note(self, what):
        self.entered.set()
        assert self.go_on.wait(20)
        if what in self.failing:
            raise self.failing[what]
        self.did.append(what)

    def configure(self):
        self.note("configure")

    def activate(self):
        self.note("activate")

    def deactivate(self):
        self.note("deactivate")

    def cleanup(self):
        self.note("cleanup")


class Manager(DeskhandNode):
    """Whoever manages the device."""

    def __init__(self):
        super().__init__("manager")
        kinds = {"change_state": ChangeState, "get_state": GetState}
        kinds |= {"get_available_states": GetAvailableStates, "get_available_transitions": GetAvailableTransitions}
        self.ask = {name: self.create_client(kind, f"device/{name}") for name, kind in kinds.items()}
        self.events, self.levels = [], []
        self.create_subscription(TransitionEvent, "device/transition_event", self.events.append, 50)
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_health, 10)

    def _on_health(self, message):
        if message.status[0].name == "device":
            self.levels.append((message.status[0].level, message.status[0].message))

    def go(self, transition=0, label=""):
        return call_service(self.ask["change_state"], ChangeState.Request(transition=Transition(id=transition, label=label))).success

    def state(self):
        return call_service(self.ask["get_state"], GetState.Request()).current_state.label


@contextlib.contextmanager
def served(**parameters):
    rclpy.init(domain_id=TAKEN.enter_context(free_domain()))
    device, manager = Device(**parameters), Manager()
    executor = MultiThreadedExecutor(num_threads=3)
    for node in (device, manager):
        executor.add_node(node)

    def spin():
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    try:
        yield device, manager
    finally:
        device.failing.clear()
        device.close()
        executor.shutdown(timeout_sec=2.0)
        thread.join(2.0)
        for node in (device, manager):
            node.destroy_node()
        rclpy.try_shutdown()


def until(true):
    ready = threading.Event()
    for _ in range(2000):
        if true():
            return
        ready.wait(0.01)
    raise AssertionError("it does not come")


def test_it_starts_by_itself_and_goes_through_its_states_with_an_event_for_each():
    with served() as (device, manager):
        device.start()
        assert manager.state() == "active" and device.did == ["configure", "activate"]
        until(lambda: manager.count_publishers("device/transition_event"))
        for label, becomes in (("deactivate", "inactive"), ("cleanup", "unconfigured"), ("configure", "inactive"), ("activate", "active")):
            assert manager.go(label=label) and manager.state() == becomes
        assert device.did[2:] == ["deactivate", "cleanup", "configure", "activate"]
        until(lambda: manager.events and manager.events[-1].goal_state.label == "active")
        assert manager.go(label="shutdown") and manager.state() == "finalized" and device.did[-2:] == ["deactivate", "cleanup"]


def test_states_and_transitions_are_those_of_ros():
    with served() as (device, manager):
        device.start()
        states = call_service(manager.ask["get_available_states"], GetAvailableStates.Request()).available_states
        assert {"unconfigured", "inactive", "active", "finalized"} <= {state.label for state in states}
        transitions = call_service(manager.ask["get_available_transitions"], GetAvailableTransitions.Request()).available_transitions
        assert {item.transition.label for item in transitions} == {"deactivate", "shutdown"}


def test_without_autostart_it_waits_to_be_configured_and_says_so():
    with served(autostart=False) as (device, manager):
        device.start()
        assert manager.state() == "unconfigured" and device.did == []
        until(lambda: any(level == b"\x01" and text.startswith("unconfigured") for level, text in manager.levels))
        assert manager.go(Transition.TRANSITION_CONFIGURE) and manager.go(Transition.TRANSITION_ACTIVATE)
        manager.levels.clear()
        until(lambda: (b"\x00", "ok") in manager.levels)


@pytest.mark.parametrize("request_", [{"transition": Transition.TRANSITION_ACTIVATE}, {"transition": 250}, {"label": "dance"}])
def test_what_is_not_valid_now_is_refused_and_the_node_lives(request_):
    with served() as (device, manager):
        device.start()
        assert not manager.go(**request_)
        assert manager.state() == "active" and device.listener.error is None and device.did == ["configure", "activate"]


@pytest.mark.parametrize("error", [DeskhandError("device_unavailable", "no such port"), ValueError("a mistake of ours")])
def test_a_transition_that_fails_leaves_the_node_as_it_was(error):
    with served(autostart=False) as (device, manager):
        device.start()
        device.failing = {"configure": error}
        assert not manager.go(Transition.TRANSITION_CONFIGURE) and manager.state() == "unconfigured"
        device.failing = {"activate": error}
        assert manager.go(Transition.TRANSITION_CONFIGURE) and not manager.go(Transition.TRANSITION_ACTIVATE) and manager.state() == "inactive"
        device.failing = {}
        assert manager.go(Transition.TRANSITION_ACTIVATE) and manager.state() == "active"


def test_a_start_that_fails_says_what_the_device_said():
    with served() as (device, _):
        device.failing = {"configure": DeskhandError("config_error", "no such size")}
        with pytest.raises(DeskhandError, match="no such size"):
            device.start()


def test_the_state_is_answered_during_a_transition_and_a_second_one_waits():
    with served(autostart=False) as (device, manager):
        device.start()
        device.go_on.clear()
        futures = [manager.ask["change_state"].call_async(ChangeState.Request(transition=Transition(label=label))) for label in ("configure", "activate")]
        assert device.entered.wait(20) and manager.state() == "configuring"
        device.go_on.set()
        until(lambda: all(future.done() for future in futures))
        assert futures[0].result().success


def test_the_end_of_the_process_closes_what_is_open_also_when_nobody_can_be_told():
    with served() as (device, _):
        device.start()
        rclpy.shutdown()
        device.close()
        device.close()
        assert device.did == ["configure", "activate", "deactivate", "cleanup"]
