"""The scorer's end of the socket over which a simulation tells the truth (sim/truth.py)."""

from __future__ import annotations

import socket
from types import TracebackType

from deskhand.sim.spec import Truth
from deskhand.sim.truth import TruthClient


class TruthChannel:
    """Make it, start the simulation with ``fd`` passed on, call :meth:`started`, then :meth:`get`."""

    def __init__(self, timeout: float = 10.0) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._client = TruthClient(self._ours, timeout)

    @property
    def fd(self) -> int:
        """The end for the simulation; no other process may have it."""
        return self._theirs.fileno()

    def started(self) -> None:
        """The simulation has its copy of ``fd``: close ours, so that its death is noticed."""
        self._theirs.close()

    def get(self) -> Truth:
        """Ground truth now. Raises ``node_unavailable`` when the simulation is gone, ``timeout`` when it does not answer."""
        return self._client.get()

    def close(self) -> None:
        """Safe to call again."""
        self._theirs.close()
        self._ours.close()

    def __enter__(self) -> TruthChannel:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
