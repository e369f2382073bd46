"""Items of the benchmark as lines of JSON beside their pictures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import cv2
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.types import Image

KINDS = ("need", "selection", "execution", "chain")
DEV = Path(__file__).parent / "dev"
"""The folder of the items that come with the package."""
_FILE, _PICTURES = "items.jsonl", "pictures"
WIDTH = 320  # [px] of a kept picture


@dataclass(frozen=True)
class Item:
    """One decision.

    Attributes:
        kind: one of :data:`KINDS`; family, environment, seed: where it comes from; difficulty: easy, medium or hard.
        say: the instruction; history: the calls until now, each with tool, arguments and result (or error); picture: file of what the camera shows now.
        candidates: names of the tools to choose from; their cards are those of the package.
        reference: what is right: ``{"need": bool}``; ``{"tool": name}``; ``{"tool", "arguments", "output", "shown", "next": {tool, arguments}}``;
            ``{"tools": [names], "before": [[a, b], …]}``.
        settled: what was run to settle it, for people.
    """

    id: str
    kind: str
    family: str
    environment: str
    seed: int
    difficulty: str
    say: str
    history: tuple[dict[str, Any], ...]
    picture: str
    candidates: tuple[str, ...]
    reference: dict[str, Any]
    settled: dict[str, Any] = field(default_factory=dict)


def read_items(folder: Path, kinds: Sequence[str] = KINDS) -> list[Item]:
    """The items of a folder.

    Raises:
        DeskhandError: ``invalid_input`` when it cannot be read or a line is no item.
    """
    for kind in kinds:
        check_kind(kind)
    try:
        lines = [json.loads(line) for line in (folder / _FILE).read_text().splitlines() if line.strip()]
        items = [Item(**{**line, "history": tuple(line["history"]), "candidates": tuple(line["candidates"])}) for line in lines]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DeskhandError("invalid_input", f"{folder / _FILE} cannot be read as items: {error}.", hint="Write items with `bench toolbench make`.") from error
    return [item for item in items if item.kind in kinds]


def check_kind(kind: str) -> None:
    """Raises ``invalid_input`` for a kind that there is not, with those there are."""
    if kind not in KINDS:
        raise DeskhandError("invalid_input", f"there is no kind {kind!r}; valid: {', '.join(KINDS)}.")


def add_items(folder: Path, items: Iterable[Item]) -> None:
    """Write more items behind those that a folder has."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _FILE).open("a") as file:
        for item in items:
            file.write(json.dumps(asdict(item)) + "\n")


def drawn_order(name: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """The candidates of the item of this name, in an order that is drawn for it: no place is the right one's more often than another."""
    names = sorted(candidates)
    return tuple(names[int(index)] for index in np.random.default_rng(crc32(name.encode())).permutation(len(names)))


def kept_picture(folder: Path, color: Image) -> str:
    """Keep a picture (H, W, 3) as a small JPEG; its name below the folder. The same picture is kept once."""
    height = round(color.shape[0] * WIDTH / color.shape[1])
    small = cv2.resize(color, (WIDTH, height), interpolation=cv2.INTER_AREA)
    done, data = cv2.imencode(".jpg", cv2.cvtColor(small, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 85])
    if not done:
        raise DeskhandError("internal_error", "the picture could not be encoded.")
    name = f"{_PICTURES}/{crc32(np.asarray(data).tobytes()):08x}.jpg"
    (folder / _PICTURES).mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(np.asarray(data).tobytes())
    return name
