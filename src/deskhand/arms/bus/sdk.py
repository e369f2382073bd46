"""What the buses of Feetech and Dynamixel share: the vendors' own packet handlers (two SDKs of one make) on a port of ours.

Their ports are replaced because they wait by spinning, are not exclusive, do not notice that the device has gone, and take stale bytes for answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from deskhand.arms.bus.base import BusCounters
from deskhand.arms.bus.port import Port
from deskhand.errors import DeskhandError

SLICE = 0.002  # [s] of waiting at once
SLOWEST = 20  # of the wall clock, that ``clock`` may be slower
TRIES = 2
PATIENT = 0.25  # [s] that an answer may take while it is learnt how long they take
MEASURED = 3  # questions for that
LATE = 2.5  # of the longest time of an answer then: later than that it does not come
SUCCESS = 0  # COMM_SUCCESS of both


class SdkPort:
    """A :class:`Port` with the methods that both SDKs call; the names are theirs. Times are those of ``clock`` [s], simulated time when the servos are."""

    def __init__(self, port: Port, latency: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.port, self._latency, self._clock = port, latency, clock
        self.is_using = False
        self._pending = bytearray()
        self._end = self._wall = 0.0

    def clearPort(self) -> None:
        """Before a packet is sent: what came late is no answer to it."""
        self._pending.clear()
        self.port.drain()

    def writePort(self, packet: list[int]) -> int:
        """Send."""
        self.port.write(bytes(packet))
        return len(packet)

    def readPort(self, length: int) -> list[int]:
        """At most ``length`` bytes; waits a little when there are none."""
        if not self._pending:
            self._pending += self.port.read(min(SLICE, max(0.0, self._end - self._clock())))
        data = list(self._pending[:length])
        del self._pending[:length]
        return data

    def wait_at_least(self, latency: float) -> None:
        """[s] that adapter and servo may take to answer."""
        self._latency = latency

    def setPacketTimeout(self, packet_length: int) -> None:
        """Of an answer of so many bytes."""
        self._wait(self._latency + packet_length * 10 / self.port.baud)

    def setPacketTimeoutMillis(self, msec: float) -> None:
        """Of an answer."""
        self._wait(msec / 1000)

    def isPacketTimeout(self) -> bool:
        """Whether it is late."""
        return self._clock() >= self._end - 1e-9 or time.monotonic() > self._wall

    def _wait(self, seconds: float) -> None:
        self._end, self._wall = self._clock() + seconds, time.monotonic() + SLOWEST * seconds

    def getBaudRate(self) -> int:
        """[baud]"""
        return self.port.baud


def load_sdk(module: str, package: str) -> Any:
    """Import a vendor's library.

    Raises:
        DeskhandError: ``missing_dependency``.
    """
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise DeskhandError("missing_dependency", f"{package} is not installed.", hint=f"pip install {package}.") from error


class SdkBus:
    """Registers of servos; see :class:`deskhand.arms.bus.base.ServoBus`.

    Args:
        sdk: the vendor's module.
        handler: its packet handler.
        position: address and length of the measured position; ``decode`` makes ticks of its bytes.
        latency: [s] that adapter and servo may take to answer.
        clock: [s] in which they do; simulated time when the servos are.
    """

    together = True
    retold = False
    move_delay = 0.0

    def __init__(
        self,
        port: str | Port,
        baud: int,
        sdk: Any,
        handler: Any,
        position: tuple[int, int],
        decode: Callable[[bytes], int],
        latency: float,
        clock: Callable[[], float],
    ) -> None:
        self._port = SdkPort(port if isinstance(port, Port) else Port(port, baud), latency, clock)
        self._sdk, self._handler = sdk, handler
        self._position, self._decode = position, decode
        self._last: dict[int, int] = {}
        self._clock, self._least = clock, latency
        self.latency = 0.0
        self.counters = BusCounters()

    def open(self) -> None:
        """See base."""
        self._port.port.open()
        self._port.is_using = False
        self._last.clear()
        self.counters.opened += 1

    def close(self) -> None:
        """See base."""
        self._port.port.close()

    def measure(self, servos: Iterable[int]) -> None:
        """See base."""
        self._port.wait_at_least(PATIENT)
        times, servos = [], list(servos)
        for _ in range(MEASURED):
            began = self._clock()
            if len(self.read_positions(servos)) == len(servos):
                times.append(self._clock() - began)
        self._last.clear()
        if times:
            self.latency = sorted(times)[len(times) // 2]
        self._port.wait_at_least(max(self._least, LATE * max(times, default=0.0)))

    def read_positions(self, servos: Iterable[int]) -> dict[int, int]:
        """See base. Those that a damaged packet hid are asked once more, one by one."""
        servos, (address, length) = list(servos), self._position
        self.counters.asked += 1
        group = self._sdk.GroupSyncRead(self._port, self._handler, address, length)
        for servo in servos:
            group.addParam(servo)
        self._safely(group.txRxPacket)
        found = {}
        for servo in servos:
            data = group.data_dict.get(servo) if group.isAvailable(servo, address, length) else None
            if data is None or len(data) != length:
                self.counters.retries += 1
                data = self._read(servo, address, length)
            if data is not None:
                found[servo] = self._last[servo] = self._decode(bytes(data))
        return found

    def _read(self, servo: int, address: int, length: int) -> bytes | None:
        """Registers; None without a valid answer."""
        self.counters.asked += 1
        for attempt in range(TRIES):
            self.counters.retries += attempt > 0
            answer = self._safely(lambda: self._handler.readTxRx(self._port, servo, address, length))
            if answer is not None and answer[1] == SUCCESS and len(answer[0]) == length:
                return bytes(answer[0])
        self.counters.unanswered += 1
        return None

    def _write(self, servo: int, address: int, data: bytes) -> bool:
        """Registers; whether the servo has confirmed."""
        for _ in range(TRIES):
            answer = self._safely(lambda: self._handler.writeTxRx(self._port, servo, address, len(data), list(data)))
            if answer is not None and answer[0] == SUCCESS:
                return True
        self.counters.unanswered += 1
        return False

    def _write_all(self, address: int, values: Mapping[int, bytes]) -> None:
        """Registers of several servos at once; nobody confirms."""
        if not values:
            return
        length = len(next(iter(values.values())))
        group = self._sdk.GroupSyncWrite(self._port, self._handler, address, length)
        for servo, data in values.items():
            group.addParam(servo, list(data))
        self._safely(group.txPacket)

    def _safely(self, act: Callable[[], Any]) -> Any:
        """What ``act`` gives; None where the SDK trips over a damaged packet (it indexes what it has not checked)."""
        try:
            return act()
        except (IndexError, TypeError, KeyError):
            self.counters.rejected += 1
            return None
        finally:
            self._port.is_using = False

    def _present(self, servos: Iterable[int]) -> dict[int, int]:
        """Newest positions known, asked for where there are none."""
        missing = [servo for servo in servos if servo not in self._last]
        if missing:
            self.read_positions(missing)
        return self._last
