"""A node with the lifecycle of ROS 2: what drives a device is configured, activated, deactivated and cleaned up by the standard services.

https://design.ros2.org/articles/node_lifecycle.html
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.lifecycle import LifecycleNodeMixin, TransitionCallbackReturn

from deskhand.errors import DeskhandError
from deskhand.nodes.diagnostics import Health
from deskhand.nodes.guarded import answered
from deskhand.nodes.node import DeskhandNode
from deskhand.nodes.parameters import declare_parameters


@dataclass
class LifecycleParameters:
    """Of every managed node.

    Attributes:
        autostart: configure and activate the node when it starts; false leaves both to whoever manages it.
    """

    autostart: bool = True


class ManagedNode(LifecycleNodeMixin, DeskhandNode):
    """A DeskhandNode with ``~/change_state``, ``~/get_state``, ``~/get_available_states``, ``~/get_available_transitions``, ``~/get_transition_graph`` and
    ``~/transition_event``.

    A node says what its device does in :meth:`configure`, :meth:`activate`, :meth:`deactivate` and :meth:`cleanup`; each raises DeskhandError when it cannot,
    and the node stays in the state that it was in. A transition that is not valid now is answered by ``success`` false.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        DeskhandNode.__init__(self, name, **kwargs)
        self._autostart = declare_parameters(self, LifecycleParameters).autostart
        self._transition = threading.RLock()
        self._open, self._running = False, False
        self._refusal: DeskhandError | None = None
        LifecycleNodeMixin.__init__(self, callback_group=self.reentrant)
        self._managed = (
            self._service_change_state,
            self._service_get_state,
            self._service_get_available_states,
            self._service_get_available_transitions,
            self._service_get_transition_graph,
        )
        for service in self._managed:  # rclpy's raise, and would end the node, when somebody asks for a transition that is not valid now
            service.callback = answered(service.callback, lambda text: self.get_logger().error(text), service.srv_name)
        self._rclpy_change, self._service_change_state.callback = self._service_change_state.callback, self._change

    # ------------------------------------------------------------ what a device does

    def configure(self) -> None:
        """Open the device."""

    def activate(self) -> None:
        """Let it work."""

    def deactivate(self) -> None:
        """Let it rest, open; nothing of it works any more when this returns."""

    def cleanup(self) -> None:
        """Close it."""

    def device_health(self) -> Health:
        """As ``health`` of other nodes."""
        return Health()

    # ------------------------------------------------------------ life

    @property
    def lifecycle_state(self) -> str:
        """``unconfigured``, ``inactive``, ``active``, ``finalized``, or the name of a transition under way."""
        return str(self._state_machine.current_state[1])

    def start(self) -> None:
        """Configure and activate the node where ``autostart`` says so, then serve the lifecycle. Raises what the device raised."""
        if self._autostart:
            self._do(Transition.TRANSITION_CONFIGURE)
            self._do(Transition.TRANSITION_ACTIVATE)
        for service in self._managed:
            self.listener.add(service)

    def _do(self, transition: int) -> None:
        request = ChangeState.Request(transition=Transition(id=transition))
        if not self._change(request, ChangeState.Response()).success:
            raise self._refusal or DeskhandError("internal_error", f"{self.get_name()} is {self.lifecycle_state} after transition {transition}.")

    def _change(self, request: ChangeState.Request, response: ChangeState.Response) -> ChangeState.Response:
        with self._transition:
            self._refusal = None
            return self._rclpy_change(request, response)

    def close(self) -> None:
        """Deactivate and clean up what is not, as the end of the process."""
        with self._transition:
            if self.context.ok() and self.lifecycle_state != "finalized":
                self._change(ChangeState.Request(transition=Transition(label="shutdown")), ChangeState.Response())
            self._release()  # without a context nobody can be told, and rclpy calls nothing

    def _release(self) -> None:
        if self._running:
            self._running = False
            self.deactivate()
        if self._open:
            self._open = False
            self.cleanup()

    def health(self) -> Health:
        """See base; a device that is not to work is a warning."""
        state, health = self.lifecycle_state, self.device_health()
        health = replace(health, values={"state": state, **health.values})
        return health if state == "active" else replace(health, level="warning", message=f"{state}: `ros2 lifecycle set {self.get_name()} …` changes it")

    # ------------------------------------------------------------ for rclpy

    def on_configure(self, state: Any) -> TransitionCallbackReturn:
        """See rclpy."""
        return self._step("configured", self.configure, opened=True, running=False)

    def on_activate(self, state: Any) -> TransitionCallbackReturn:
        """See rclpy."""
        return self._step("activated", self.activate, opened=True, running=True)

    def on_deactivate(self, state: Any) -> TransitionCallbackReturn:
        """See rclpy."""
        return self._step("deactivated", self.deactivate, opened=True, running=False)

    def on_cleanup(self, state: Any) -> TransitionCallbackReturn:
        """See rclpy."""
        return self._step("cleaned up", self.cleanup, opened=False, running=False)

    def on_shutdown(self, state: Any) -> TransitionCallbackReturn:
        """See rclpy."""
        return self._step("shut down", self._release, opened=False, running=False)

    def _step(self, done: str, act: Callable[[], None], opened: bool, running: bool) -> TransitionCallbackReturn:
        """FAILURE leaves the node in the state that it was in; rclpy's ERROR would strand it in Humble, which never leaves the state after it."""
        try:
            act()
        except DeskhandError as error:
            self._refusal = error
            self.get_logger().error(f"{self.get_name()} cannot be {done}: {error}")
            return TransitionCallbackReturn.FAILURE
        except Exception as error:
            self._refusal = DeskhandError("internal_error", f"{type(error).__name__}: {error}")
            self.get_logger().error(f"{self.get_name()} cannot be {done}:\n{traceback.format_exc()}")
            return TransitionCallbackReturn.FAILURE
        self._open, self._running = opened, running
        return TransitionCallbackReturn.SUCCESS
