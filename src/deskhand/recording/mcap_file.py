"""ROS 2 messages into an MCAP file, laid out as rosbag2 does it."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from mcap.well_known import SchemaEncoding
from mcap.writer import CompressionType, Writer
from mcap_ros2._dynamic import serialize_dynamic

from deskhand.errors import DeskhandError
from deskhand.recording.qos import BAG_METADATA, OFFERED, USUAL, OfferedQos, bag_metadata, qos_text

log = logging.getLogger(__name__)
SAMPLES = 0.5  # [s] of wall time that samples may wait to be packed together: each pack stays in the index, which is kept until the end


class McapFile:
    """Writes; safe to call from several threads.

    A disk that is full, or gone, ends the recording and nothing else: ``problem`` says why, what was written until then stays readable, and what comes
    after is not kept.

    Args:
        path: of the file.
        live: every message is in the file when ``write`` returns, so that a killed process loses nothing but samples of the last half second; else
            messages are packed and compressed.
    """

    def __init__(self, path: Path, live: bool = True) -> None:
        self.path, self._live = Path(path), live
        self.counts: dict[str, int] = {}
        self.problem = ""
        self._file: IO[bytes] | None = None
        self._writer: Writer | None = None
        self._schemas: dict[str, int] = {}
        self._encoders: dict[str, Any] = {}
        self._channels: dict[str, int] = {}
        self._lock = threading.Lock()
        self._packed = float("-inf")

    def open(self) -> None:
        """Create the folder and begin the file.

        Raises:
            DeskhandError: ``config_error`` when it cannot be written.
        """
        compression = CompressionType.NONE if self._live else CompressionType.ZSTD
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("wb")
            self._writer = Writer(self._file, chunk_size=1 << 20, compression=compression)
            self._writer.start(profile="ros2", library="deskhand")
            self._writer.add_metadata(BAG_METADATA, bag_metadata())
            self._file.flush()
        except OSError as error:
            self._give_up(error)
            raise DeskhandError("config_error", f"{self.path} cannot be written: {error}.") from error

    def close(self) -> None:
        """Write the index and close; safe to call again."""
        with self._lock:
            try:
                if self._writer is not None and self._file is not None:
                    self._writer.finish()
                    self._file.close()
            except OSError as error:
                self._give_up(error)
            self._writer = self._file = None

    def __enter__(self) -> McapFile:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def metadata(self, name: str, data: dict[str, str]) -> None:
        """Words about the recording."""
        with self._lock:
            if self._writer is not None:
                try:
                    self._writer.add_metadata(name, data)
                except OSError as error:
                    self._give_up(error)

    def write(self, topic: str, datatype: str, definition: str, message: Any, stamp: float, qos: Sequence[OfferedQos] = (USUAL,), sample: bool = False) -> None:
        """One message as nested dictionaries or a ROS message at ``stamp`` [s]; nothing once closed.

        Args:
            topic, datatype, definition: of the message.
            message: what to write.
            stamp: [s]
            qos: what the topic's publishers offer.
            sample: one of many of which the next says more: a live file may pack it with those that follow.
        """
        if datatype not in self._encoders:
            self._encoders[datatype] = serialize_dynamic(datatype, definition)[datatype]
        self.write_bytes(topic, datatype, definition, self._encoders[datatype](message), stamp, qos, sample)

    def write_bytes(
        self, topic: str, datatype: str, definition: str, data: bytes, stamp: float, qos: Sequence[OfferedQos] = (USUAL,), sample: bool = False
    ) -> None:
        """As :meth:`write`, a message in CDR, as it came over ROS."""
        with self._lock:
            if self._writer is None or self._file is None:
                return
            try:
                self._add(self._writer, topic, datatype, definition, data, max(0, round(stamp * 1e9)), qos)
                waits = sample and self.counts[topic] > 1 and time.monotonic() < self._packed + SAMPLES
                if self._live and not waits:
                    self._packed = time.monotonic()
                    self._writer.flush()
                    self._file.flush()
            except OSError as error:
                self._give_up(error)

    def _add(self, writer: Writer, topic: str, datatype: str, definition: str, data: bytes, time: int, qos: Sequence[OfferedQos]) -> None:
        if datatype not in self._schemas:
            self._schemas[datatype] = writer.register_schema(datatype, SchemaEncoding.ROS2, definition.encode())
        if topic not in self._channels:
            self._channels[topic] = writer.register_channel(topic, "cdr", self._schemas[datatype], {OFFERED: qos_text(qos)})
        count = self.counts[topic] = self.counts.get(topic, 0) + 1
        writer.add_message(self._channels[topic], log_time=time, publish_time=time, sequence=count, data=data)

    def _give_up(self, error: OSError) -> None:
        """Write no more; with the lock, or before anybody else can write."""
        self.problem = f"{self.path} cannot be written: {error.strerror or error}"
        log.error("the recording ends: %s", self.problem)
        file, self._file, self._writer = self._file, None, None
        if file is not None:
            with contextlib.suppress(OSError):  # what is still buffered cannot be written either
                file.close()
