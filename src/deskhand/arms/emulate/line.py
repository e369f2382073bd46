"""The serial line of an emulator: a pseudo-terminal that can be pulled out and put in again."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import termios
import threading
import time
import tty
from collections import deque
from collections.abc import Callable
from pathlib import Path

from deskhand.arms.emulate.faults import WireFaults

POLL = 0.5  # [s]
TCGETS2, TERMIOS2, OUTPUT_SPEED = 0x802C542A, 44, 40  # Linux, asm-generic: the call, the size of its structure and where the speed stands in it [bytes]


class Line:
    """Gives what a client sends to ``receive``, from one thread, which also calls it with nothing when the line was quiet for ``quiet`` seconds.

    Args:
        receive: takes bytes, b"" for quiet.
        link: symbolic link to the terminal that stays the same when it is pulled out and put in, as a udev rule makes it; empty: none.
        faults: applied to every frame that is sent.
        latency: [s] that each takes to arrive.
        clock, sleep: tell time and let it pass [s], for ``latency``.
    """

    def __init__(
        self,
        receive: Callable[[bytes], None],
        link: str = "",
        faults: WireFaults | None = None,
        quiet: float = POLL,
        latency: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._receive, self._link, self._quiet = receive, link, quiet
        self.faults = faults or WireFaults()
        self._latency, self._clock, self._sleep = latency, clock, sleep
        self._late: deque[tuple[float, bytes]] = deque()
        self._some_late = threading.Event()
        self._lock = threading.Lock()
        self._master = self._slave = -1
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.device = ""

    @property
    def path(self) -> str:
        """What a client opens."""
        return self._link or self.device

    @property
    def baud(self) -> int:
        """That the client has set; 0 when nothing is plugged in."""
        with self._lock:
            if self._slave < 0:
                return 0
            return int(struct.unpack_from("=I", fcntl.ioctl(self._slave, TCGETS2, bytes(TERMIOS2)), OUTPUT_SPEED)[0])

    def start(self) -> None:
        """Plug in and serve."""
        self.plug()
        self._thread = threading.Thread(target=self._serve, name="emulator", daemon=True)
        self._thread.start()
        if self._latency:
            threading.Thread(target=self._deliver, name="emulator's answers", daemon=True).start()

    def close(self) -> None:
        """Pull out and end."""
        self._stop.set()
        self._some_late.set()
        self.unplug()
        if self._thread is not None:
            self._thread.join(2.0)

    def plug(self) -> None:
        """A new terminal appears; nothing happens when one is there."""
        with self._lock:
            if self._master >= 0:
                return
            self._master, self._slave = os.openpty()
            tty.setraw(self._slave)
            os.set_blocking(self._master, False)
            self.device = os.ttyname(self._slave)
            if self._link:
                new = Path(f"{self._link}.new")
                new.unlink(missing_ok=True)
                new.symlink_to(self.device)
                new.replace(self._link)

    def unplug(self) -> None:
        """The terminal goes; whoever has it open gets errors."""
        with self._lock:
            for number in (self._master, self._slave):
                if number >= 0:
                    os.close(number)
            self._master = self._slave = -1
            if self._link:
                Path(self._link).unlink(missing_ok=True)

    def send(self, frame: bytes) -> None:
        """Send one frame, damaged as the faults will have it; lost when nobody is there or nobody reads."""
        damaged = self.faults.apply(frame)
        if self._latency:
            self._late.append((self._clock() + self._latency, damaged))
            self._some_late.set()
        else:
            self._write(damaged)

    def _deliver(self) -> None:
        """Send on what is due, in its order."""
        while not self._stop.is_set():
            self._some_late.wait()
            self._some_late.clear()
            while self._late and not self._stop.is_set():
                due, frame = self._late.popleft()
                self._sleep(max(0.0, due - self._clock()))
                self._write(frame)

    def _write(self, damaged: bytes) -> None:
        with self._lock:
            if self._master >= 0:
                try:
                    os.write(self._master, damaged)
                except (BlockingIOError, OSError):
                    return  # as on a wire: what nobody reads is lost

    def _serve(self) -> None:
        while not self._stop.is_set():
            data = self._read()
            if data is None:
                self._stop.wait(0.005)
            else:
                self._receive(data)

    def _allow_another(self) -> None:
        """A client that died without closing leaves a real port free; a terminal whose other end is still open it would keep."""
        with self._lock:
            if self._slave >= 0:
                fcntl.ioctl(self._slave, termios.TIOCNXCL)

    def _read(self) -> bytes | None:
        """What has come, b"" when it was quiet, None when nothing is plugged in."""
        with self._lock:
            master = self._master
        if master < 0:
            return None
        try:
            ready, _, _ = select.select([master], [], [], self._quiet)
            if not ready:
                self._allow_another()
                return b""
            with self._lock:  # it may have been pulled out meanwhile, and its number given to something else
                return os.read(master, 4096) if self._master == master else None
        except (OSError, ValueError):
            return None
