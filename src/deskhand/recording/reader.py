"""Reads a recording in the order in which it was written, also one that was cut off."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mcap.exceptions import McapError
from mcap.reader import make_reader
from mcap.records import Channel, Footer, Message, Metadata, Schema
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory

from deskhand.errors import DeskhandError


@dataclass(frozen=True)
class Record:
    """One recorded message; ``data`` is its CDR, ``stamp`` [s] when it was recorded."""

    topic: str
    datatype: str
    stamp: float
    data: bytes
    _decode: Callable[[bytes], Any]

    @cached_property
    def message(self) -> Any:
        """Decoded: an object with the fields of the ROS message."""
        return self._decode(self.data)


class Recording:
    """A recording on disk: an MCAP file, or a folder of rosbag2 or an episode with one in it.

    ``complete`` is False after an iteration that met the end of the file before its index, as when the recorder was killed.
    """

    def __init__(self, path: Path) -> None:
        self.path = mcap_in(path)
        self.complete = False

    def metadata(self, name: str = "deskhand") -> dict[str, str]:
        """Words about the recording, as its writer left them; empty where there are none or the file was cut off before."""
        with self.path.open("rb") as stream:
            try:
                for record in StreamReader(stream).records:
                    if isinstance(record, Metadata) and record.name == name:
                        return dict(record.metadata)
            except (McapError, ValueError, EOFError, struct.error):
                pass
        return {}

    def __iter__(self) -> Iterator[Record]:
        schemas: dict[int, Schema] = {}
        channels: dict[int, Channel] = {}
        factory = DecoderFactory()  # it knows schemas by their number in this file
        self.complete = False
        with self.path.open("rb") as stream:
            if stream.read(5) != b"\x89MCAP":
                raise DeskhandError("invalid_input", f"{self.path} is not an MCAP file.")
            stream.seek(0)
            try:
                for record in StreamReader(stream, validate_crcs=True).records:
                    if isinstance(record, Schema):
                        schemas[record.id] = record
                    elif isinstance(record, Channel):
                        channels[record.id] = record
                    elif isinstance(record, Message):
                        channel = channels[record.channel_id]
                        schema = schemas[channel.schema_id]
                        decode = factory.decoder_for(channel.message_encoding, schema)
                        if decode is not None:
                            yield Record(channel.topic, schema.name, record.log_time * 1e-9, record.data, decode)
                    elif isinstance(record, Footer):
                        self.complete = True
            except (McapError, ValueError, EOFError, struct.error):  # the file ends within a record, or a checksum is wrong
                return

    def in_time(self) -> Iterator[Record]:
        """In the order of their times, where the file has its index; else as they were written."""
        with self.path.open("rb") as stream:
            try:
                indexed = make_reader(stream)
                ordered = indexed.get_summary() is not None
            except (McapError, ValueError, EOFError, struct.error):
                ordered = False
            if ordered:
                factory = DecoderFactory()
                for schema, channel, message in indexed.iter_messages(log_time_order=True):
                    decode = factory.decoder_for(channel.message_encoding, schema)
                    if decode is not None and schema is not None:
                        yield Record(channel.topic, schema.name, message.log_time * 1e-9, message.data, decode)
                return
        yield from self


def mcap_in(path: Path) -> Path:
    """The file itself, or the only MCAP file in a folder.

    Raises:
        DeskhandError: ``invalid_input`` when there is none, or more than one.
    """
    path = Path(path)
    if path.is_file():
        return path
    files = sorted(path.glob("*.mcap"))
    if len(files) != 1:
        raise DeskhandError("invalid_input", f"{path} is no MCAP file and holds {len(files)} of them, not one.")
    return files[0]
