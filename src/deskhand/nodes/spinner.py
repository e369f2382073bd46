"""Spins a node in threads, and ends in an order in which nothing uses what is destroyed."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from concurrent import futures

from rclpy.executors import Executor, ExternalShutdownException, ShutdownException, TimeoutException
from rclpy.node import Node
from rclpy.task import Task

UNDER_WAY = 2.0  # [s] that callbacks under way have to end; then what they use is destroyed all the same
A_LOOK = 0.001  # [s] between two looks at what waits for a thread


class Spinner(Executor):
    """Calls what is ready of a node in up to ``threads`` threads from :meth:`start` to :meth:`end`.

    rclpy's own executors (Humble and Jazzy) do not wait in ``shutdown``: they destroy what callbacks under way still use, and each of these ends with
    "cannot use Destroyable because destruction was requested", told by nobody knows whom when Python collects it. Here three objects end one after the
    other: nothing new is taken, what was taken is done, and then the rest is destroyed; the node is whoever's who made it.

    Args:
        node: not yet of another executor.
        threads: for callbacks.
        failed: called in the spinning thread with what a callback raised, or what waiting did; nothing is called any more then. None: it is printed.
    """

    def __init__(self, node: Node, threads: int, failed: Callable[[Exception], None] | None = None) -> None:
        super().__init__(context=node.context)
        self._pool = futures.ThreadPoolExecutor(threads, thread_name_prefix=f"{node.get_name()} callback")
        self._taken: dict[Task, futures.Future[None]] = {}
        self._ending = threading.Event()
        self._failed = failed or traceback.print_exception
        self._thread = threading.Thread(target=self._run, name=f"{node.get_name()} spinner", daemon=True)
        self.add_node(node)

    def start(self) -> None:
        """Begin to call."""
        self._thread.start()

    def end(self) -> None:
        """Call nothing any more; what is being called has ended when this returns. Not from a callback."""
        self._ending.set()
        self.create_task(_nothing)  # the thread comes back with it at once
        self._thread.join(UNDER_WAY)  # a thread inside rclpy while the interpreter ends would abort the process
        futures.wait(self._taken.values(), UNDER_WAY)
        self._pool.shutdown(wait=False, cancel_futures=True)
        try:
            self._raise_what_was_raised()
        except Exception as error:
            traceback.print_exception(error)
        self.shutdown(timeout_sec=0.0)

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """See rclpy: wait for something, and have a thread call it. Raises what a callback has raised."""
        try:
            task, _, _ = self.wait_for_ready_callbacks(timeout_sec=timeout_sec)
        except (ShutdownException, TimeoutException):
            return
        waits = self._taken.get(task)
        if waits and not waits.done():  # rclpy gives again what has not begun; taken twice, the one that runs would be forgotten
            futures.wait([waits], A_LOOK)
        else:
            self._taken[task] = self._pool.submit(task)
        self._raise_what_was_raised()

    def _raise_what_was_raised(self) -> None:
        for task in [task for task in self._taken if task.done()]:
            del self._taken[task]
            task.result()

    def _run(self) -> None:
        try:
            while not self._ending.is_set() and self.context.ok():
                self.spin_once()
        except ExternalShutdownException:
            pass
        except Exception as error:
            self._failed(error)


def _nothing() -> None:
    """What wakes the spinning thread."""
