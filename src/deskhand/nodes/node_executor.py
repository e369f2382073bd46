"""Takes a node's messages, requests, answers and what comes for its actions in one thread, at a fraction of what rclpy's executors cost.

An executor of rclpy builds its wait set anew, from everything that the node has, each time that anything comes: 2 ms of Python for every joint state, and
again before and after every service call, in competition with the callback itself. Here that is a few microseconds for each entity waited for.
"""

from __future__ import annotations

import atexit
import threading
import time
import traceback
from collections.abc import Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from typing import Any, TypeAlias

from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.client import Client
from rclpy.context import Context
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.waitable import NumberOfEntities, Waitable

Entity: TypeAlias = "Subscription | Service | Client | Waitable"
WORKERS = 8
HAND_OVER = 1e-4  # [s] that the thread stands back after it woke another, which else waits for Python's lock until the next wait set is built
WAKE_PERIOD = 0.5  # [s] after which the thread looks whether its context still lives


class NodeExecutor:
    """The thread that waits; it starts with the first item to wait for.

    Callbacks of subscriptions, of answers and of waitables (the actions) are called in it, one at a time, and must not block; those of services in up to
    ``workers`` threads, one at a time within a mutually exclusive callback group.

    Attributes:
        error: what a callback raised, if one did; nothing is taken any more then.
    """

    def __init__(self, context: Context, name: str, workers: int = WORKERS) -> None:
        self.error: Exception | None = None
        self._context, self._name = context, name
        self._changed = threading.Condition()
        self._entities: dict[Entity, NumberOfEntities] = {}
        self._sizes: tuple[int, ...] = ()
        self._taking: Entity | None = None
        self._guard: Any = None
        self._closing = False
        self._thread: threading.Thread | None = None
        self._workers = ThreadPoolExecutor(workers, thread_name_prefix=f"{name} service")
        self._turns: dict[CallbackGroup, threading.Lock] = {}
        atexit.register(self.close)  # a thread inside rclpy while the interpreter ends would abort the process

    def add(self, entity: Entity) -> None:
        """Take what comes for ``entity`` from now on."""
        with self._changed:
            self._listen_to({**self._entities, entity: _numbers(entity)})
            if self._thread is None:
                self._guard = _rclpy.GuardCondition(self._context.handle)
                self._thread = threading.Thread(target=self._run, name=f"{self._name} listener", daemon=True)
                self._thread.start()
        self._guard.trigger_guard_condition()

    def remove(self, entity: Entity) -> None:
        """Take no more for it; a callback that is running in the listener's thread has ended when this returns, unless it is the caller."""
        with self._changed:
            self._listen_to({other: numbers for other, numbers in self._entities.items() if other is not entity})
            if threading.current_thread() is not self._thread:
                self._changed.wait_for(lambda: self._taking is not entity, timeout=1.0)
        if self._guard is not None:
            self._guard.trigger_guard_condition()

    def close(self) -> None:
        """End the thread; requests that wait for a worker are dropped. Once more does nothing."""
        atexit.unregister(self.close)
        with self._changed:
            self._closing = True
            self._listen_to({})
        self._workers.shutdown(wait=False, cancel_futures=True)
        if self._thread is not None and threading.current_thread() is not self._thread:
            self._guard.trigger_guard_condition()
            self._thread.join(timeout=2.0)

    def _listen_to(self, entities: dict[Entity, NumberOfEntities]) -> None:
        counts = sum(entities.values(), NumberOfEntities(num_gcs=1))
        self._sizes = tuple(getattr(counts, f"num_{kind}") for kind in ("subscriptions", "guard_conditions", "timers", "clients", "services", "events"))
        self._entities = entities

    def _run(self) -> None:
        try:
            while not self._closing and self._context.ok():
                with self._changed:
                    entities, sizes = self._entities, self._sizes
                for entity in self._ready(entities, sizes):
                    self._take(entity)
        except Exception as error:
            self.failed(error)

    def failed(self, error: Exception) -> None:
        """A callback raised: the node ends, unless it is being shut down anyway."""
        if self._closing or not self._context.ok():
            return  # it only misses what is being shut down
        traceback.print_exception(error)
        self.error = error

    def _ready(self, entities: Iterable[Entity], sizes: tuple[int, ...]) -> list[Entity]:
        """Those for which something has come, once it has."""
        with ExitStack() as in_use:  # what is in use is destroyed only afterwards
            in_use.enter_context(self._context.handle)
            wait_set = _rclpy.WaitSet(*sizes, self._context.handle)
            in_use.enter_context(wait_set)
            wait_set.clear_entities()
            wait_set.add_guard_condition(self._guard)
            added: list[tuple[Entity, str]] = []
            for entity in entities:
                with suppress(_rclpy.InvalidHandle):  # destroyed meanwhile
                    in_use.enter_context(entity if isinstance(entity, Waitable) else entity.handle)
                    added.append((entity, _add(wait_set, entity)))
            wait_set.wait(int(WAKE_PERIOD * 1e9))
            ready = {kind: set(wait_set.get_ready_entities(kind)) for kind in ("subscription", "client", "service")}
            return [entity for entity, kind in added if (entity.handle.pointer in ready[kind] if kind else entity.is_ready(wait_set))]

    def _take(self, entity: Entity) -> None:
        with self._changed:
            if entity not in self._entities:
                return  # removed meanwhile
            self._taking = entity
        try:
            if isinstance(entity, Subscription):
                taken = entity.handle.take_message(entity.msg_type, entity.raw)
                if taken is not None:
                    entity.callback(taken[0])
            elif isinstance(entity, Client):
                _take_answer(entity)
                time.sleep(HAND_OVER)
            elif isinstance(entity, Waitable):
                finish(entity.execute(entity.take_data()))
                time.sleep(HAND_OVER)
            else:
                request, header = entity.handle.service_take_request(entity.srv_type.Request)
                if header is not None:
                    self._workers.submit(self._serve, entity, request, header)
                    time.sleep(HAND_OVER)
        finally:
            with self._changed:
                self._taking = None
                self._changed.notify_all()

    def _serve(self, service: Service, request: Any, header: Any) -> None:
        try:
            with self._turn(service.callback_group):
                response = service.callback(request, service.srv_type.Response())
            with suppress(_rclpy.InvalidHandle):  # destroyed meanwhile
                service.send_response(response, header)
        except Exception as error:
            self.failed(error)

    def _turn(self, group: CallbackGroup | None) -> AbstractContextManager[Any]:
        if not isinstance(group, MutuallyExclusiveCallbackGroup):
            return nullcontext()
        with self._changed:
            return self._turns.setdefault(group, threading.Lock())


def finish(work: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine of rclpy's, which waits for nothing when its callbacks are plain functions."""
    with suppress(StopIteration):
        work.send(None)
        work.close()
        raise TypeError("callbacks of actions must be plain functions here.")


def _numbers(entity: Entity) -> NumberOfEntities:
    if isinstance(entity, Waitable):
        return entity.get_num_entities()
    return NumberOfEntities(num_subs=isinstance(entity, Subscription), num_clients=isinstance(entity, Client), num_services=isinstance(entity, Service))


def _add(wait_set: Any, entity: Entity) -> str:
    """Wait for ``entity``; the name of its kind in a wait set, empty when it finds its own."""
    if isinstance(entity, Waitable):
        entity.add_to_wait_set(wait_set)
        return ""
    if isinstance(entity, Subscription):
        wait_set.add_subscription(entity.handle)
        return "subscription"
    if isinstance(entity, Client):
        wait_set.add_client(entity.handle)
        return "client"
    wait_set.add_service(entity.handle)
    return "service"


def _take_answer(client: Client) -> None:
    header, response = client.handle.take_response(client.srv_type.Response)
    if header is None:
        return
    with suppress(KeyError):  # given up meanwhile
        client.get_pending_request(header.request_id.sequence_number).set_result(response)
