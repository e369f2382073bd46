"""The audit log: append-only JSON lines, each chained to the one before by its hash, the newest vouched for by a signed head.

What matters is on disk (``fsync``) before :meth:`AuditLog.write` returns; the rest is with the operating system, where the end of this process does not harm
it: only a power cut can take such lines, and only the last ones.

A line is ``{"index", "stamp", "event", "data", "previous", "hash"}``; ``hash`` is the SHA-256 of the line's JSON (sorted keys, no spaces)
without the field ``hash`` itself, ``previous`` the hash of the line before, 64 zeros for the first. A changed, removed or inserted line breaks the chain.

Lines taken off the end break no chain. So ``FILE.head`` tells how many lines there were, and the last one's hash, with an HMAC-SHA256 by this robot's key
(``audit.key`` below the ROS home, readable by its user alone). A file that was copied elsewhere is checked there without the key: all but its end.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from deskhand.errors import DeskhandError

log = logging.getLogger(__name__)

FIRST = "0" * 64
HEAD = ".head"
SIGNED, UNSIGNED, UNKNOWN = "signed", "unsigned", "not checked"
"""Whether the end of a file is vouched for: by its head; it has none; there is no key here to check it with."""


@dataclass(frozen=True)
class AuditCheck:
    """What a file is like.

    Attributes:
        lines: whole lines whose chain holds; ``last`` is the hash of the last one.
        torn: bytes of a last line that was only half written: a crash or a power cut, no tampering.
        head: SIGNED, UNSIGNED or UNKNOWN.
        problem: what was changed, removed or forged; empty for nothing.
    """

    lines: int
    last: str
    torn: bytes = b""
    head: str = UNSIGNED
    problem: str = ""


class AuditLog:
    """Writes one file; continues a file that is already there. Safe to use from several threads, not from several processes."""

    def __init__(self, path: Path, key_file: Path | None = None) -> None:
        self._path, self._key_file = path, key_file
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._index, self._previous = 0, FIRST
        self._key: bytes | None = None

    def open(self) -> AuditLog:
        """Create or continue the file. Half a last line, which a crash left, is put aside (``FILE.torn-N``) and told in the log; so is a head that is missing.

        Raises:
            DeskhandError: ``config_error`` when it cannot be written, or was changed.
        """
        found = AuditCheck(0, FIRST)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._key = read_key(self._key_file, make=True)
            if self._path.exists() and self._path.stat().st_size:
                found = check(self._path, self._key_file)
                if found.problem:
                    raise DeskhandError("config_error", f"the audit log {self._path}: {found.problem}", hint="Keep it and begin a new file.")
                self._index, self._previous = found.lines, found.last
                if found.torn:
                    self._put_aside(found.torn)
            self._file = self._path.open("ab")
        except OSError as error:
            raise DeskhandError("config_error", f"the audit log {self._path} cannot be written: {error}.") from error
        if found.lines and found.head == UNSIGNED:  # a kill before the first signature, or somebody took the head away, perhaps lines too
            log.warning("the audit log %s has %d lines and no head: whether lines are missing at its end cannot be told", self._path, found.lines)
            self.write("unsigned", {"lines": found.lines})
        if found.torn:
            self.write("recovered", {"torn_bytes": len(found.torn)})
        return self

    def _put_aside(self, torn: bytes) -> None:
        number = next(number for number in range(1, 10_000) if not Path(f"{self._path}.torn-{number}").exists())
        Path(f"{self._path}.torn-{number}").write_bytes(torn)
        os.truncate(self._path, self._path.stat().st_size - len(torn))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._file:
                self._sign()
                self._file.close()
                self._file = None

    def __enter__(self) -> AuditLog:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, event: str, data: dict[str, Any], durable: bool = True) -> dict[str, Any]:
        """Append one event (JSON-able ``data``); when it is ``durable``, it and all before it are on disk when this returns. Gives the line as written."""
        with self._lock:
            if self._file is None:
                raise DeskhandError("internal_error", f"the audit log {self._path} is not open.")
            entry: dict[str, Any] = {"index": self._index, "stamp": time.time(), "event": event, "data": data, "previous": self._previous}
            entry["hash"] = _digest(entry)
            self._file.write(_json(entry) + b"\n")
            self._file.flush()
            if durable:
                os.fsync(self._file.fileno())
            self._index, self._previous = self._index + 1, entry["hash"]
            if durable:
                self._sign()
            return entry

    def _sign(self) -> None:
        """The head, whole or not at all. One that is older than the log, after a power cut, still vouches for what it knows."""
        if self._key is None or not self._index:
            return
        head = {"lines": self._index, "last": self._previous}
        signed = {**head, "hmac": _signature(head, self._key)}
        new = Path(f"{self._path}{HEAD}.new")
        new.write_bytes(_json(signed))
        new.replace(f"{self._path}{HEAD}")


def verify(path: Path) -> tuple[int, str]:
    """Number of lines and the last hash of a file whose chain holds, whole to its end.

    Raises:
        DeskhandError: ``config_error`` naming the first line that does not fit, or what is missing at the end.
    """
    found = check(path)
    problem = found.problem or (f"its last line, after line {found.lines}, is only half written." if found.torn else "")
    if problem:
        raise DeskhandError("config_error", f"the audit log {path}: {problem}", hint="Keep it and begin a new file.")
    return found.lines, found.last


def check(path: Path, key_file: Path | None = None) -> AuditCheck:
    """Go through a file; never raises but for what cannot be read (OSError)."""
    previous, count, hashes = FIRST, 0, [FIRST]
    with path.open("rb") as lines:
        for line in lines:
            try:
                entry = json.loads(line)
                good = entry["previous"] == previous and entry["index"] == count and entry["hash"] == _digest(entry) and line.endswith(b"\n")
            except (ValueError, KeyError, TypeError):
                good = False
            if not good:
                if not line.endswith(b"\n"):
                    return _with_head(path, key_file, count, previous, hashes, torn=line)
                return AuditCheck(count, previous, problem=f"it was changed: line {count + 1} does not follow the one before.")
            previous, count = entry["hash"], count + 1
            hashes.append(previous)
    return _with_head(path, key_file, count, previous, hashes)


def _with_head(path: Path, key_file: Path | None, count: int, last: str, hashes: list[str], torn: bytes = b"") -> AuditCheck:
    head_file = Path(f"{path}{HEAD}")
    if not head_file.exists():
        return AuditCheck(count, last, torn, UNSIGNED)
    key = read_key(key_file)
    try:
        signed = json.loads(head_file.read_bytes())
        lines, signature = int(signed["lines"]), str(signed["hmac"])
        head: dict[str, Any] = {"lines": lines, "last": str(signed["last"])}
    except (ValueError, KeyError, TypeError):
        return AuditCheck(count, last, torn, problem=f"its head {head_file.name} cannot be read.")
    if key is None:
        return AuditCheck(count, last, torn, UNKNOWN)
    if not hmac.compare_digest(signature, _signature(head, key)):
        return AuditCheck(count, last, torn, problem=f"its head {head_file.name} is not signed by this robot's key.")
    if lines > count:
        return AuditCheck(count, last, torn, problem=f"its end is missing: line {count + 1} to {lines}.")
    if lines < 0 or hashes[lines] != head["last"]:
        return AuditCheck(count, last, torn, problem=f"line {lines} is not the one that its head vouches for.")
    return AuditCheck(count, last, torn, SIGNED)


def key_path() -> Path:
    """Where this robot's key is."""
    return Path(os.environ.get("ROS_HOME", "~/.ros")).expanduser() / "deskhand/audit.key"


def read_key(file: Path | None = None, make: bool = False) -> bytes | None:
    """The key that heads are signed with; None where there is none. ``make``: a new one then, for its user alone."""
    file = file or key_path()
    if make and not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(number, "wb") as out:
            out.write(secrets.token_hex(32).encode())
    try:
        return file.read_bytes().strip() or None
    except FileNotFoundError:
        return None


def _signature(head: dict[str, Any], key: bytes) -> str:
    return hmac.new(key, _json(head), hashlib.sha256).hexdigest()


def _digest(entry: dict[str, Any]) -> str:
    return hashlib.sha256(_json({key: value for key, value in entry.items() if key != "hash"})).hexdigest()


def _json(data: dict[str, Any]) -> bytes:
    """Half a surrogate pair, which UTF-8 cannot say, is written as JSON's own escape, and read back as it was."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str).encode(errors="backslashreplace")
