"""Standard input and output for an MCP server without a thread: the library's own hand every line to a thread and back three times."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

LONGEST = 64 * 2**20
"""[bytes] of one message."""


class Lines:
    """What comes, line by line; as much of anyio.AsyncFile as the library's stdio_server asks for."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        line = await self._reader.readline()
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")


class Writer:
    """Where answers go; as much of anyio.AsyncFile as the library's stdio_server asks for."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        """Begin to send."""
        self._writer.write(text.encode())

    async def flush(self) -> None:
        """Wait while the other side is behind."""
        await self._writer.drain()


@asynccontextmanager
async def standard_streams() -> AsyncIterator[tuple[Any, Any]]:
    """Standard input and output for ``mcp.server.stdio.stdio_server``; ``(None, None)``, its own, when one is a file.

    Meanwhile descriptor 0 is the null device and 1 is the standard error, so that what a tool prints cannot end up between the messages.
    """
    if any(stat.S_ISREG(os.fstat(number).st_mode) for number in (0, 1)):
        yield None, None
        return
    sys.stdout.flush()
    incoming, outgoing = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb", buffering=0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(LONGEST)
    reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), incoming)
    writing, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, outgoing)
    writer = asyncio.StreamWriter(writing, protocol, None, loop)
    try:
        yield Lines(reader), Writer(writer)
    finally:
        await writer.drain()
        reading.close()
        writer.close()
