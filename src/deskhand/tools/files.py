"""Files that tools may read: those in folders that the operator named, and nothing else on the machine."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from deskhand.errors import DeskhandError

SHOWN = 20


def read_named(folders: Sequence[Path], name: str, suffixes: Sequence[str], most: int) -> bytes:
    """The content of the regular file ``name`` directly in one of ``folders``, at most ``most`` bytes; a path is taken where it leads into one of them.

    What lies elsewhere is answered alike whether it exists or not. Links are not followed, and nothing is read before its kind and size are known.

    Raises:
        DeskhandError: ``invalid_input`` naming what there is, or ``access_denied`` where the operator has named no folder.
    """
    if not folders:
        raise DeskhandError(
            "access_denied",
            "the operator has named no folder to read files from.",
            hint="Start with --files FOLDER (launch: files:=FOLDER), or give the plan itself.",
        )
    wanted = Path(name).expanduser()
    if wanted.suffix.lower() in suffixes:
        for folder in folders:
            if len(wanted.parts) == 1 or os.path.realpath(wanted.parent) == os.path.realpath(folder):
                data = _read(folder / wanted.name, name, most)
                if data is not None:
                    return data
    known = sorted(file.name for folder in folders if folder.is_dir() for file in folder.iterdir() if file.suffix.lower() in suffixes and not file.is_symlink())
    there = ", ".join(known[:SHOWN]) + (f" and {len(known) - SHOWN} more" if len(known) > SHOWN else "")
    raise DeskhandError(
        "invalid_input",
        f"there is no file {name!r} in the folders that the operator named; there is: {there or 'nothing'}.",
        hint=f"Names end with {', '.join(suffixes)}.",
    )


def _read(file: Path, name: str, most: int) -> bytes | None:
    """None where it is no regular file of the folder."""
    try:
        number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    info = os.fstat(number)
    if not stat.S_ISREG(info.st_mode):
        os.close(number)
        return None
    with os.fdopen(number, "rb") as opened:
        if info.st_size > most:
            raise DeskhandError("invalid_input", f"{name} has {info.st_size} bytes; at most {most} are read.")
        return opened.read(most + 1)[:most]
