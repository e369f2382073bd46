"""The file behind the memory: SQLite in WAL mode. One process writes, any number may read meanwhile.

Nothing is lost while another program holds the file: what cannot be written waits and goes in first with the next write.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

from deskhand.errors import DeskhandError

VERSION = 1
IN_MEMORY = ":memory:"
BUSY = 2.0  # [s] wall time that a statement waits for another program

_SCHEMA = """
CREATE TABLE sessions(id INTEGER PRIMARY KEY, begun REAL NOT NULL);
CREATE TABLE moments(
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES sessions(id), stamp REAL NOT NULL, wall REAL NOT NULL, kind TEXT NOT NULL);
CREATE TABLE states(
    id INTEGER PRIMARY KEY, object TEXT NOT NULL, status TEXT NOT NULL,
    begun INTEGER NOT NULL REFERENCES moments(id), last INTEGER NOT NULL REFERENCES moments(id), ended INTEGER REFERENCES moments(id),
    confidence REAL NOT NULL, label TEXT NOT NULL, label_source TEXT NOT NULL, color TEXT NOT NULL, shape TEXT NOT NULL, material TEXT NOT NULL,
    container INTEGER NOT NULL, wall REAL NOT NULL, support TEXT NOT NULL, relation TEXT NOT NULL,
    x REAL NOT NULL, y REAL NOT NULL, z REAL NOT NULL, qx REAL NOT NULL, qy REAL NOT NULL, qz REAL NOT NULL, qw REAL NOT NULL,
    size_x REAL NOT NULL, size_y REAL NOT NULL, size_z REAL NOT NULL);
CREATE TABLE events(
    id INTEGER PRIMARY KEY, moment INTEGER NOT NULL REFERENCES moments(id), object TEXT NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL);
CREATE INDEX states_of_object ON states(object, begun);
CREATE INDEX states_open ON states(ended);
CREATE INDEX events_of_object ON events(object, moment);
CREATE INDEX moments_of_session ON moments(session, stamp);
"""

Statement = tuple[str, Sequence[Any]]


class Store:
    """One memory file; ``writes`` decides whether it is opened for writing (then it is made when it is not there). Safe to use from several threads."""

    def __init__(self, path: str | Path, writes: bool = True) -> None:
        self.path = str(path)
        self.writes = writes
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._owner: IO[str] | None = None
        self._waiting: list[list[Statement]] = []

    # ------------------------------------------------------------ opening

    def open(self) -> Store:
        """Open or make the file.

        Raises:
            DeskhandError: ``memory_busy`` when another process writes it already, ``memory_broken`` when it is no memory of this version or damaged,
                ``config_error`` when it cannot be made or read.
        """
        with self._lock:
            if self.writes and self.path != IN_MEMORY:
                self._claim()
            try:
                self._connection = self._connect()
                self._prepare()
            except (sqlite3.Error, DeskhandError) as error:
                self._release()
                raise error if isinstance(error, DeskhandError) else self._problem(error) from error
        return self

    def close(self) -> None:
        """Write what still waits and close.

        Raises:
            DeskhandError: ``memory_busy`` when that cannot be written; the file then stays open and nothing is lost.
        """
        with self._lock:
            if self._connection is not None:
                self.flush()
                self._release()

    def __enter__(self) -> Store:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _claim(self) -> None:
        """Be the one that writes: a lock beside the file, which ends with the process."""
        try:
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            # kept open as long as the memory is
            lock = Path(f"{self.path}.lock").open("a+", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise DeskhandError("config_error", f"the memory {self.path} cannot be made: {error}.") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.seek(0)
            owner = lock.read().strip() or "unknown"
            lock.close()
            raise DeskhandError(
                "memory_busy", f"the memory {self.path} is already written by process {owner}.", hint="Stop that process, or choose another file."
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        self._owner = lock

    def _connect(self) -> sqlite3.Connection:
        if self.path == IN_MEMORY:
            return sqlite3.connect(IN_MEMORY, check_same_thread=False, isolation_level=None)
        mode = "rwc" if self.writes else "ro"
        uri = f"{Path(self.path).resolve().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY, check_same_thread=False, isolation_level=None)
        if self.writes:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    def _prepare(self) -> None:
        connection = self._open()
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if self.writes and not version and not tables:
            connection.executescript(f"BEGIN IMMEDIATE;{_SCHEMA}PRAGMA user_version={VERSION};COMMIT;")
        elif version != VERSION or not {"sessions", "moments", "states", "events"} <= tables:
            raise DeskhandError(
                "memory_broken", f"{self.path} is no memory of version {VERSION} (it says version {version}).", hint="Choose another file, or move it away."
            )
        if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise DeskhandError("memory_broken", f"the memory {self.path} is damaged.", hint="Move the file away; `sqlite3 FILE .recover` may save its rows.")

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise DeskhandError("memory_broken", f"the memory {self.path} is not open.")
        return self._connection

    def _release(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._owner is not None:
            self._owner.close()
        self._connection = self._owner = None

    def _problem(self, error: sqlite3.Error) -> DeskhandError:
        text = str(error)
        if isinstance(error, sqlite3.OperationalError) and ("locked" in text or "busy" in text):
            return DeskhandError("memory_busy", f"the memory {self.path} is held by another program: {text}.", retry=True, hint="Close that program.")
        if isinstance(error, sqlite3.OperationalError) and ("unable to open" in text or "readonly" in text or "full" in text):
            return DeskhandError("config_error", f"the memory {self.path} cannot be opened or written: {text}.")
        return DeskhandError("memory_broken", f"{self.path} is no memory, or damaged: {text}.", hint="Choose another file, or move it away.")

    # ------------------------------------------------------------ reading and writing

    def write(self, statements: Iterable[Statement]) -> DeskhandError | None:
        """Write as one. What cannot be written now waits, in its order, and goes in with a later write; the error that is given says why."""
        with self._lock:
            self._waiting.append(list(statements))
            try:
                self.flush()
            except DeskhandError as error:
                return error
            return None

    def flush(self) -> None:
        """Write what waits.

        Raises:
            DeskhandError: ``memory_busy``, ``memory_broken``, ``config_error`` (the disk is full); nothing is lost.
        """
        with self._lock:
            while self._waiting:
                connection = self._open()
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    for sql, values in self._waiting[0]:
                        connection.execute(sql, values)
                    connection.execute("COMMIT")
                except sqlite3.Error as error:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise self._problem(error) from error
                self._waiting.pop(0)

    def copied(self) -> sqlite3.Connection:
        """The content, with everything written before, as a database of its own in memory.

        Raises:
            DeskhandError: ``memory_busy``, ``memory_broken``.
        """
        with self._lock:
            self.flush()
            copy = sqlite3.connect(IN_MEMORY, check_same_thread=False, isolation_level=None)
            self._copy(self._open(), copy)
            return copy

    def replace(self, content: sqlite3.Connection) -> None:
        """Have the content that :meth:`copied` gave.

        Raises:
            DeskhandError: ``memory_busy``, ``memory_broken``, ``config_error``.
        """
        with self._lock:
            self._waiting.clear()
            self._copy(content, self._open())

    def _copy(self, content: sqlite3.Connection, into: sqlite3.Connection) -> None:
        try:
            content.backup(into)
        except sqlite3.Error as error:
            raise self._problem(error) from error

    @property
    def waiting(self) -> int:
        """Number of writes that wait."""
        return len(self._waiting)

    def read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows, with everything written before.

        Raises:
            DeskhandError: ``memory_busy``, ``memory_broken``.
        """
        with self._lock:
            self.flush()
            try:
                return list(self._open().execute(sql, values))
            except sqlite3.Error as error:
                raise self._problem(error) from error
