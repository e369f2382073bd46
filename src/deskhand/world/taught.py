"""What people have taught: names of objects of their own and how these look, in a SQLite file that outlives restarts.

What is kept of a view is the picture itself, cut out, so that the ways of comparing pictures may change and nothing has to be taught again.
"""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError

VERSION = 1
DEFAULT = Path("~/.deskhand/taught.sqlite")
IN_MEMORY = ":memory:"
MOST_SIDE = 160
"""Pictures of views are kept no larger than this [px]: the label of a soup can is read from fewer."""
LONGEST_NAME = 60
SOURCES = ("look", "picture", "mesh")
BUSY = 5.0  # [s] that a statement waits for another program
_SCHEMA = """
CREATE TABLE views(
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, source TEXT NOT NULL, wall REAL NOT NULL, height INTEGER NOT NULL, width INTEGER NOT NULL,
    color BLOB NOT NULL, mask BLOB NOT NULL, long REAL, middle REAL, short REAL);
CREATE INDEX views_of_name ON views(name);
"""


@dataclass(frozen=True)
class TaughtView:
    """One view of an object.

    Attributes:
        color: (H, W, 3) uint8, RGB; what is off the mask is not used.
        mask: (H, W) bool, the object's pixels.
        size: (3,) extents of its oriented box [m], in any order; () where they are not known.
        source: of :data:`SOURCES`.
    """

    color: npt.NDArray[np.uint8]
    mask: npt.NDArray[np.bool_]
    size: tuple[float, ...] = ()
    source: str = "look"

    def __post_init__(self) -> None:
        if self.color.ndim != 3 or self.color.shape[2] != 3 or self.color.dtype != np.uint8 or self.mask.shape != self.color.shape[:2]:
            raise DeskhandError("invalid_input", f"a view is a picture (H, W, 3) uint8 and a mask (H, W), not {self.color.shape} and {self.mask.shape}.")
        if not self.mask.any():
            raise DeskhandError("invalid_input", "the mask of the view is empty.", hint="Give the pixels that show the object.")
        if len(self.size) not in (0, 3) or not all(np.isfinite(side) and side > 0 for side in self.size):
            raise DeskhandError("invalid_input", f"the size of a view is three extents in metres or nothing, not {self.size}.")
        if self.source not in SOURCES:
            raise DeskhandError("invalid_input", f"the source of a view is one of {', '.join(SOURCES)}, not {self.source!r}.")


@dataclass(frozen=True)
class TaughtName:
    """A line of the list: ``views``: how many there are, ``size`` (3,) their median, long to short [m] or (), ``taught``: wall time of the newest view."""

    name: str
    views: int
    size: tuple[float, ...]
    sources: tuple[str, ...]
    taught: float


def checked_name(name: str) -> str:
    """The name as it is kept: "my  red Mug" -> "my red mug". Raises ``invalid_input`` for what is no name."""
    kept = " ".join(name.lower().split())
    if not kept or len(kept) > LONGEST_NAME or not any(letter.isalpha() for letter in kept) or not kept.isprintable():
        raise DeskhandError("invalid_input", f"{name!r} is no name for an object.", hint=f"Use up to {LONGEST_NAME} characters of plain words: my mug.")
    return kept


class TaughtStore:
    """The file. Every statement is a transaction, so several programs may use it at a time. Use as a context manager, or call ``open`` and ``close``."""

    def __init__(self, path: str | Path = DEFAULT) -> None:
        self.path = IN_MEMORY if str(path) == IN_MEMORY else str(Path(path).expanduser())
        self._connection: sqlite3.Connection | None = None

    def open(self) -> TaughtStore:
        """Open or make the file.

        Raises:
            DeskhandError: ``config_error`` when it cannot be made or read, ``memory_broken`` when it is no store of this version.
        """
        try:
            if self.path != IN_MEMORY:
                Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=BUSY, check_same_thread=False, isolation_level=None)
            version = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
            empty = not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if not version and empty:
                self._connection.executescript(f"BEGIN IMMEDIATE;{_SCHEMA}PRAGMA user_version={VERSION};COMMIT;")
            elif version != VERSION:
                raise DeskhandError("memory_broken", f"{self.path} is no store of taught objects of version {VERSION}.", hint="Choose another file.")
        except sqlite3.DatabaseError as error:
            self.close()
            code = "config_error" if isinstance(error, sqlite3.OperationalError) else "memory_broken"
            raise DeskhandError(code, f"the store of taught objects {self.path} cannot be opened: {error}.", hint="Choose another file.") from error
        except OSError as error:
            raise DeskhandError("config_error", f"the folder of {self.path} cannot be made: {error.strerror}.") from error
        return self

    def close(self) -> None:
        """Close the file; what was added is in it already."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def __enter__(self) -> TaughtStore:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def add(self, name: str, views: Iterable[TaughtView]) -> int:
        """Put views to those that a name has; returns how many it has now.

        Raises:
            DeskhandError: ``invalid_input`` for what is no name, or without a view.
        """
        name, now = checked_name(name), time.time()
        rows = [_row(name, view, now) for view in views]
        if not rows:
            raise DeskhandError("invalid_input", f"there is no view of {name!r} to learn.")
        connection = self._open()
        connection.execute("BEGIN IMMEDIATE")
        columns = "name, source, wall, height, width, color, mask, long, middle, short"
        connection.executemany(f"INSERT INTO views({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.execute("COMMIT")
        return len(self.views(name))

    def forget(self, name: str) -> int:
        """Forget a name; returns how many views it had. Raises ``unknown_object``, with the names there are."""
        name = checked_name(name)
        gone = self._open().execute("DELETE FROM views WHERE name = ?", (name,)).rowcount
        if not gone:
            known = ", ".join(self.names()) or "none"
            raise DeskhandError("unknown_object", f"no object {name!r} has been taught; known: {known}.", hint="See deskhand teach --list.")
        return int(gone)

    def names(self) -> list[str]:
        """All names, in order."""
        return [str(name) for (name,) in self._open().execute("SELECT DISTINCT name FROM views ORDER BY name")]

    def views(self, name: str) -> list[TaughtView]:
        """The views of a name, oldest first; none for an unknown one."""
        columns = "height, width, color, mask, long, middle, short, source"
        return [_view(row) for row in self._open().execute(f"SELECT {columns} FROM views WHERE name = ? ORDER BY id", (checked_name(name),))]

    def everything(self) -> dict[str, list[TaughtView]]:
        """Name -> its views."""
        return {name: self.views(name) for name in self.names()}

    def listing(self) -> list[TaughtName]:
        """What there is, for people."""
        lines = []
        for name in self.names():
            views = self.views(name)
            sizes = [sorted(view.size, reverse=True) for view in views if view.size]
            size = tuple(float(side) for side in np.median(sizes, axis=0)) if sizes else ()
            taught = float(self._open().execute("SELECT max(wall) FROM views WHERE name = ?", (name,)).fetchone()[0])
            lines.append(TaughtName(name, len(views), size, tuple(sorted({view.source for view in views})), taught))
        return lines

    def version(self) -> tuple[int, int]:
        """Changes when another program or this one has changed the file: (its data version, its newest row)."""
        data = int(self._open().execute("PRAGMA data_version").fetchone()[0])
        total, newest = self._open().execute("SELECT count(*), ifnull(max(id), 0) FROM views").fetchone()
        return data, int(newest) * 1_000_000 + int(total)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise DeskhandError("memory_broken", f"the store of taught objects {self.path} is not open.")
        return self._connection


def store_path() -> Path:
    """The file that is used: ``DESKHAND_TAUGHT`` in the environment, else :data:`DEFAULT`."""
    return Path(os.environ.get("DESKHAND_TAUGHT") or DEFAULT).expanduser()


def _row(name: str, view: TaughtView, wall: float) -> tuple[object, ...]:
    color, mask = _small(*_cut_out(view))
    size = sorted(map(float, view.size), reverse=True) if view.size else [None, None, None]
    height, width = mask.shape
    return (name, view.source, wall, height, width, zlib.compress(color.tobytes()), zlib.compress(np.packbits(mask).tobytes()), *size)


def _view(row: tuple[object, ...]) -> TaughtView:
    height, width, color, mask, long, middle, short, source = row
    shape = int(str(height)), int(str(width))
    assert isinstance(color, bytes) and isinstance(mask, bytes)
    pixels = np.frombuffer(zlib.decompress(color), np.uint8).reshape(*shape, 3)
    bits = np.unpackbits(np.frombuffer(zlib.decompress(mask), np.uint8), count=shape[0] * shape[1]).reshape(shape).astype(bool)
    size = () if long is None else (float(str(long)), float(str(middle)), float(str(short)))
    return TaughtView(pixels, bits, size, str(source))


def _cut_out(view: TaughtView) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
    """The part of the picture with the object."""
    rows, columns = np.flatnonzero(view.mask.any(axis=1)), np.flatnonzero(view.mask.any(axis=0))
    part = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    return view.color[part], view.mask[part]


def _small(color: npt.NDArray[np.uint8], mask: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
    """Both no larger than :data:`MOST_SIDE`: means over blocks of whole pixels of the object."""
    every = -(-max(mask.shape) // MOST_SIDE)
    if every == 1:
        return color, mask
    height, width = (-(-side // every) * every for side in mask.shape)
    padded = np.zeros((height, width, 4))
    padded[: mask.shape[0], : mask.shape[1], :3] = color * mask[..., None]
    padded[: mask.shape[0], : mask.shape[1], 3] = mask
    blocks = padded.reshape(height // every, every, width // every, every, 4).sum(axis=(1, 3))
    share = blocks[..., 3] / every**2
    return (blocks[..., :3] / np.maximum(blocks[..., 3:], 1)).round().astype(np.uint8), np.asarray(share >= 0.5)
