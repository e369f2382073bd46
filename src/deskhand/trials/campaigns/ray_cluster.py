"""Running cases on a Ray cluster: one task a case; a case whose worker, or whose machine, is lost is begun again."""

from __future__ import annotations

import contextlib
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from deskhand import __version__
from deskhand.errors import DeskhandError
from deskhand.trials.campaigns.campaign import Campaign, Case, Ended
from deskhand.trials.campaigns.local_pool import LOST, RETRIES, attempt, worker_name
from deskhand.trials.campaigns.reporting import Tell

LOCAL = "local"
AHEAD = 2
"""So many cases are handed to the cluster for each of its processors: enough that none waits, few enough to keep Ray's tables small."""
LOOK_AGAIN = 5.0
"""[s] after which the number of processors is asked for again: machines come and go."""

CONNECT_TIME = 5.0
"""[s] that the head of a cluster has to answer at all."""


def require_ray() -> Any:
    """The module.

    Raises:
        DeskhandError: ``missing_dependency`` where it is not installed.
    """
    try:
        import ray
    except ImportError as error:
        raise DeskhandError("missing_dependency", "--ray needs the package ray.", hint="Install it: pip install ray.") from error
    return ray


def run_case(run_one: Any, case: Case, version: str) -> tuple[dict[str, Any] | None, tuple[str, str] | None, float, str]:
    """A case on a worker: result or error, wall clock [s], who ran it."""
    if __version__ != version:
        text = f"{worker_name()} has deskhand {__version__}, the campaign was started with {version}."
        return None, ("config_error", text), 0.0, worker_name()
    return (*attempt(run_one, case), worker_name())


class RayCluster:
    """A cluster at ``address``: ``host:port`` of its head, ``ray://host:port``, ``auto`` for the one this machine is in, ``local`` for one of its own.

    Ray's own retries are off: a lost worker is noticed here, so that attempts are counted and each case has one result, written by one process.

    Args:
        retries: so often a case is begun again.
        cpus: processors that a case takes of its machine.
    """

    def __init__(self, address: str, retries: int = RETRIES, cpus: float = 1.0) -> None:
        self._address, self._retries, self._cpus = address, retries, cpus

    def run(self, campaign: Campaign, cases: Sequence[Case], tell: Tell) -> Iterator[Ended]:
        """Each case as it ends, in whatever order.

        Raises:
            DeskhandError: ``missing_dependency``, ``config_error`` when there is no cluster at the address.
        """
        ray = require_ray()
        begun_here = not ray.is_initialized()
        if begun_here:
            self._connect(ray)
        try:
            yield from self._run(ray, campaign, cases)
        finally:
            if begun_here:
                ray.shutdown()

    def _connect(self, ray: Any) -> None:
        _check_reachable(self._address)
        try:
            ray.init(address=None if self._address == LOCAL else self._address, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
        except (ConnectionError, RuntimeError, ValueError, OSError, TimeoutError) as error:
            text = f"there is no Ray cluster at {self._address}: {str(error).splitlines()[0] if str(error) else type(error).__name__}."
            raise DeskhandError("config_error", text, hint="Start one (ray start --head), or give --ray local.") from error

    def _run(self, ray: Any, campaign: Campaign, cases: Sequence[Case]) -> Iterator[Ended]:
        remote = ray.remote(num_cpus=self._cpus, max_retries=0)(run_case)
        waiting = deque((case, 1) for case in cases)
        running: dict[Any, tuple[Case, int]] = {}
        room, asked = 0, float("-inf")
        try:
            while waiting or running:
                if time.monotonic() - asked > LOOK_AGAIN:
                    room, asked = max(1, int(AHEAD * ray.cluster_resources().get("CPU", 0) / self._cpus)), time.monotonic()
                while waiting and len(running) < room:
                    case, number = waiting.popleft()
                    running[remote.remote(campaign.run_one, case, __version__)] = (case, number)
                ready, _ = ray.wait(list(running), num_returns=1, timeout=LOOK_AGAIN)
                for reference in ready:
                    case, number = running.pop(reference)
                    ended = _ended(ray, reference, case, number)
                    if ended.error is not None and ended.error[0] == LOST and number <= self._retries:
                        waiting.append((case, number + 1))  # at the end: a case that kills its workers holds nobody up
                    else:
                        yield ended
        finally:
            for reference in running:
                with contextlib.suppress(Exception):  # the cluster may be gone
                    ray.cancel(reference, force=False)


def _check_reachable(address: str) -> None:
    """Ray itself tries for minutes.

    Raises:
        DeskhandError: ``config_error`` when nobody listens at a ``host:port``.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_TIME).close()
    except OSError as error:
        text = f"there is no Ray cluster at {address}: {error.strerror or error}."
        raise DeskhandError("config_error", text, hint="Start one (ray start --head), or give --ray local.") from error


def _ended(ray: Any, reference: Any, case: Case, number: int) -> Ended:
    try:
        result, error, seconds, worker = ray.get(reference)
    except ray.exceptions.RayTaskError as wrong:
        # Our own code catches what a case raises: this one could not be unpacked, or its module is not there.
        return Ended(case, None, ("config_error", f"a worker could not begin: {str(wrong).strip().splitlines()[-1]}"), attempts=number)
    except ray.exceptions.RayError as lost:
        text = f"{type(lost).__name__}: {(str(lost).strip() or 'no reason given').splitlines()[0]}"
        return Ended(case, None, (LOST, f"{text}, {number} times"), attempts=number)
    return Ended(case, result, error, seconds, worker, number)
