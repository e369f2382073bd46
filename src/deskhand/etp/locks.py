"""Who has the camera, the arm and the gripper: exclusive, first come first served."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from deskhand.errors import DeskhandError
from deskhand.etp.card import Card

_POLL = 0.05  # [s] how often a waiter asks whether its caller gave up


def resources_of(card: Card) -> frozenset[str]:
    """What a call holds alone while it runs.

    A tool that may move something holds all the devices that it needs; one that only looks holds the camera, so that two looks
    do not mix; one that only reads joints or computes holds nothing.
    """
    devices = frozenset(card.needs) - {"model"}
    return devices if card.effects == "motion" else devices & {"camera"}


class Hold:
    """Resources that a call has, until :meth:`release`."""

    def __init__(self, locks: Locks, resources: frozenset[str], owner: str) -> None:
        self._locks, self.resources, self.owner = locks, resources, owner

    def release(self) -> None:
        """Give them back; the next in the queue goes on. More than once does no harm."""
        self._locks.release(self)


class Locks:
    """Exclusive resources with a fair queue: nobody overtakes an earlier call that waits for the same."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holders: dict[str, Hold] = {}
        self._queue: list[Hold] = []

    def holder(self, resource: str) -> str:
        """Who has it, empty for nobody."""
        held = self._holders.get(resource)
        return held.owner if held else ""

    def acquire(self, resources: frozenset[str], owner: str, wait: float, cancelled: Callable[[], bool] | None = None) -> Hold:
        """All ``resources`` at once, after at most ``wait`` seconds (0: at once or not at all).

        Raises:
            DeskhandError: ``busy``, naming who has them; ``cancelled``.
        """
        hold = Hold(self, resources, owner)
        if not resources:
            return hold
        end = time.monotonic() + wait
        with self._changed:
            self._queue.append(hold)
            try:
                while not self._is_next(hold):
                    left = end - time.monotonic()
                    if cancelled and cancelled():
                        raise DeskhandError("cancelled", f"{owner} was cancelled while it waited for {_list(resources)}.")
                    if left <= 0:
                        raise DeskhandError("busy", self._who(hold, wait), retry=True, hint="Wait for it to end, or stop it.")
                    self._changed.wait(min(left, _POLL) if cancelled else left)
                for resource in resources:
                    self._holders[resource] = hold
            finally:
                self._queue.remove(hold)
                self._changed.notify_all()
        return hold

    def release(self, hold: Hold) -> None:
        """Give back what ``hold`` has."""
        with self._changed:
            for resource in [name for name, holder in self._holders.items() if holder is hold]:
                del self._holders[resource]
            self._changed.notify_all()

    def _is_next(self, hold: Hold) -> bool:
        earlier = self._queue[: self._queue.index(hold)]
        return not any(resource in self._holders for resource in hold.resources) and not any(hold.resources & other.resources for other in earlier)

    def _who(self, hold: Hold, wait: float) -> str:
        users = [f"{name} is in use by {self._holders[name].owner}" for name in sorted(hold.resources) if name in self._holders]
        waited = f" (waited {wait:g} s)" if wait > 0 else ""
        return f"{hold.owner}: {', '.join(users) or 'others wait for ' + _list(hold.resources)}{waited}."


def _list(resources: frozenset[str]) -> str:
    return " and ".join(sorted(resources))
