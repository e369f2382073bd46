"""Takes a node's messages in one thread, at a fraction of what rclpy's executors cost.

An executor of rclpy builds its wait set anew, from every service, timer and action of the node, each time that anything comes: 2 ms of a core for every
joint state and every tick of the clock. Here the set holds the subscriptions only.
"""

from __future__ import annotations

import threading
import traceback
from contextlib import ExitStack, suppress
from typing import Any

from rclpy.context import Context
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.subscription import Subscription

WAKE_PERIOD = 0.5  # [s] after which the thread looks whether its context still lives


class Listener:
    """The thread that waits for messages and calls the subscriptions' callbacks, one at a time; it starts with the first subscription.

    Attributes:
        error: what a callback raised, if one did; nothing is taken any more then.
    """

    def __init__(self, context: Context, name: str) -> None:
        self.error: Exception | None = None
        self._context, self._name = context, name
        self._changed = threading.Condition()
        self._subscriptions: list[Subscription] = []
        self._taking: Subscription | None = None
        self._guard: Any = None
        self._closing = False
        self._thread: threading.Thread | None = None

    def add(self, subscription: Subscription) -> None:
        """Take the messages of ``subscription`` from now on."""
        with self._changed:
            self._subscriptions = [*self._subscriptions, subscription]
            if self._thread is None:
                self._guard = _rclpy.GuardCondition(self._context.handle)
                self._thread = threading.Thread(target=self._run, name=f"{self._name} listener", daemon=True)
                self._thread.start()
        self._guard.trigger_guard_condition()

    def remove(self, subscription: Subscription) -> None:
        """Take no more of its messages; a callback that is running has ended when this returns, unless it is the caller."""
        with self._changed:
            self._subscriptions = [other for other in self._subscriptions if other is not subscription]
            if threading.current_thread() is not self._thread:
                self._changed.wait_for(lambda: self._taking is not subscription, timeout=1.0)
        if self._guard is not None:
            self._guard.trigger_guard_condition()

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closing, self._subscriptions = True, []
        if self._thread is not None and threading.current_thread() is not self._thread:
            self._guard.trigger_guard_condition()
            self._thread.join(timeout=2.0)

    def _run(self) -> None:
        try:
            while not self._closing and self._context.ok():
                for subscription in self._ready(self._subscriptions):
                    self._take(subscription)
        except Exception as error:
            if self._closing or not self._context.ok():
                return  # the thread only misses what is being shut down
            traceback.print_exc()
            self.error = error

    def _ready(self, subscriptions: list[Subscription]) -> list[Subscription]:
        """Those that have a message, once one has."""
        with ExitStack() as in_use:  # what is in use is destroyed only afterwards
            in_use.enter_context(self._context.handle)
            wait_set = _rclpy.WaitSet(len(subscriptions), 1, 0, 0, 0, 0, self._context.handle)
            in_use.enter_context(wait_set)
            wait_set.clear_entities()
            wait_set.add_guard_condition(self._guard)
            added = []
            for subscription in subscriptions:
                with suppress(_rclpy.InvalidHandle):  # destroyed meanwhile
                    in_use.enter_context(subscription.handle)
                    wait_set.add_subscription(subscription.handle)
                    added.append(subscription)
            wait_set.wait(int(WAKE_PERIOD * 1e9))
            ready = set(wait_set.get_ready_entities("subscription"))
            return [subscription for subscription in added if subscription.handle.pointer in ready]

    def _take(self, subscription: Subscription) -> None:
        with self._changed:
            if not any(other is subscription for other in self._subscriptions):
                return  # removed meanwhile
            self._taking = subscription
        try:
            taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
            if taken is not None:
                subscription.callback(taken[0])
        finally:
            with self._changed:
                self._taking = None
                self._changed.notify_all()
