"""Results of a campaign on disk: JSON lines, the first of which says what campaign it is; each result is a line, written at once as its case ends."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from deskhand import __version__
from deskhand.errors import DeskhandError
from deskhand.trials.campaigns.campaign import Campaign, Ended, Shard, name_of, names

FORMAT = 1


@dataclass
class Results:
    """What a file holds.

    Attributes:
        header: campaign, settings, ids of all its cases, which shard this is.
        lines: the last line of each case by its id: with ``result``, or with ``error``.
        twice: ids that have two results.
    """

    path: Path
    header: dict[str, Any]
    lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)

    @property
    def results(self) -> dict[str, dict[str, Any]]:
        """Results by id; cases that have none are left out."""
        return {name: line["result"] for name, line in self.lines.items() if "result" in line}

    @property
    def own(self) -> list[str]:
        """Ids of the cases of this shard."""
        shard = Shard.parse(self.header["shard"])
        return list(self.header["cases"][shard.number - 1 :: shard.count])

    @property
    def missing(self) -> list[str]:
        """Ids of this shard that have no result."""
        known = self.results
        return [name for name in self.own if name not in known]


def header_of(campaign: Campaign, shard: Shard) -> dict[str, Any]:
    """The first line."""
    header = {
        "campaign": campaign.name,
        "format": FORMAT,
        "deskhand": __version__,
        "settings": dict(campaign.settings),
        "summarise": name_of(campaign.summarise),
        "shard": str(shard),
        "cases": [case.id for case in campaign.cases],
    }
    plain: dict[str, Any] = json.loads(json.dumps(header))  # as it will be read: tuples are lists
    return plain


def read_results(path: Path) -> Results:
    """Read a file. A last line that was cut by a kill is left out.

    Raises:
        DeskhandError: ``invalid_input`` for a file that is not there, that holds no results, or whose lines are broken before the last.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DeskhandError("invalid_input", f"{path} cannot be read: {error}.") from error
    whole = lines[:-1]  # what comes after the last end of line was cut
    try:
        header = json.loads(whole[0])
        if header["format"] != FORMAT:
            raise DeskhandError("invalid_input", f"{path} has format {header['format']}, this deskhand reads format {FORMAT}.")
        found = Results(Path(path), {name: header[name] for name in ("campaign", "format", "deskhand", "settings", "summarise", "shard", "cases")})
    except (IndexError, ValueError, KeyError, TypeError) as error:
        raise DeskhandError("invalid_input", f"{path} holds no results of a campaign.", hint="Give a file that --results has written.") from error
    known = set(found.header["cases"])
    for number, text in enumerate(whole[1:], 2):
        try:
            line = json.loads(text)
            name = line["id"]
            if name not in known or not ("result" in line or "error" in line):
                raise ValueError("no case of this campaign")
        except (ValueError, KeyError, TypeError) as error:
            raise DeskhandError("invalid_input", f"line {number} of {path} is no result of this campaign: {error}.") from error
        if "result" in found.lines.get(name, {}):
            if "result" in line:
                found.twice.append(name)
            continue
        found.lines[name] = line
    return found


def differences(one: Mapping[str, Any], other: Mapping[str, Any], but: Sequence[str] = ()) -> list[str]:
    """What two headers do not share, as ``name a or b``."""
    told = [f"{name} {one[name]} or {other[name]}" for name in ("campaign", "deskhand", "shard") if name not in but and one[name] != other[name]]
    mine, theirs = one["settings"], other["settings"]
    for name in sorted(mine.keys() | theirs.keys()):
        if mine.get(name) != theirs.get(name):
            told.append(f"{name} {json.dumps(mine.get(name))} or {json.dumps(theirs.get(name))}")
    if not told and one["cases"] != other["cases"]:
        told.append(f"{len(one['cases'])} cases or {len(other['cases'])}, or other ids")
    return told


class ResultsFile:
    """Writes results as they end; one process at a time.

    A line is handed to the operating system whole, at once: whoever is killed loses the case that runs, no more. An error line says why a case has no
    result; it is run again when the campaign is taken up.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path, self._header = Path(path), dict(header)
        self._file: IO[bytes] | None = None

    def open(self, resume: bool) -> Results:
        """Begin the file, or go on with it; gives what it has already.

        Raises:
            DeskhandError: ``invalid_input`` when it is of another campaign, or holds results that would be lost; ``busy`` when another process writes it;
                ``config_error`` when it cannot be written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab")
        except OSError as error:
            raise DeskhandError("config_error", f"{self.path} cannot be written: {error.strerror}.") from error
        try:
            self._lock(self._file)
            known = self._known(resume)
        except BaseException:
            self.close()
            raise
        text = "".join(json.dumps(line) + "\n" for line in (self._header, *known.lines.values()))
        self._file.truncate(0)  # written anew: a line that was cut has no end, and the next one would be lost with it
        self._put(text)
        return known

    def _lock(self, file: IO[bytes]) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DeskhandError("busy", f"another process writes {self.path}.", hint="Give each shard a file of its own (--results).") from error
        except OSError:  # a file system without locks
            pass

    def _known(self, resume: bool) -> Results:
        fresh = Results(self.path, self._header)
        if self.path.stat().st_size == 0:
            return fresh
        try:
            known = read_results(self.path)
        except DeskhandError as error:
            if self.path.read_bytes().count(b"\n") == 0:  # killed while the first line was written
                return fresh
            raise DeskhandError("invalid_input", f"{error.message}", hint="Give another file with --results, or remove this one.") from error
        if not resume:
            if known.missing and known.results:
                done = f"{len(known.results)} of {len(known.own)} results"
                raise DeskhandError("invalid_input", f"{self.path} holds {done} of a campaign that was cut.", hint="Go on with --resume, or remove the file.")
            return fresh
        if other := differences(known.header, self._header):
            raise DeskhandError("invalid_input", f"{self.path} is of another campaign: {'; '.join(other)}.", hint="Give the same options as before.")
        return known

    def add(self, ended: Ended) -> None:
        """Write one."""
        line: dict[str, Any] = {"id": ended.case.id}
        if ended.result is not None:
            line["result"] = ended.result
        else:
            code, message = ended.error or ("internal_error", "")
            line["error"] = {"code": code, "message": message}
        line |= {"seconds": round(ended.seconds, 3), "worker": ended.worker, "attempts": ended.attempts}
        self._put(json.dumps(line) + "\n")

    def _put(self, text: str) -> None:
        assert self._file is not None
        left = memoryview(text.encode())
        while left:  # a disk that fills up takes a part
            left = left[os.write(self._file.fileno(), left) :]

    def close(self) -> None:
        """Let the file go; safe to call again."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def merge(files: Sequence[Path]) -> Results:
    """All shards of one campaign as one, in the order of its cases.

    Raises:
        DeskhandError: ``invalid_input`` for files of different settings, results that are there twice, and cases that have none; each by name.
    """
    parts = [read_results(path) for path in files]
    first = parts[0]
    for part in parts[1:]:
        if other := differences(first.header, part.header, but=("shard",)):
            raise DeskhandError("invalid_input", f"{first.path} and {part.path} are not of one campaign: {'; '.join(other)}.")
    found: dict[str, tuple[Path, dict[str, Any]]] = {}
    twice: list[str] = []
    for part in parts:
        twice += [f"{name} (in {part.path})" for name in part.twice]
        for name, line in part.lines.items():
            if "result" in line and name in found:
                twice.append(f"{name} (in {found[name][0]} and {part.path})")
            elif "result" in line:
                found[name] = (part.path, line)
    if twice:
        raise DeskhandError("invalid_input", f"{len(twice)} results are there twice: {names(twice)}.", hint="Give each file once, and each shard one file.")
    if gaps := [name for name in first.header["cases"] if name not in found]:
        raise DeskhandError("invalid_input", f"{len(gaps)} of {len(first.header['cases'])} cases have no result: {names(gaps)}.", hint=_advice(parts, gaps))
    lines = {name: found[name][1] for name in first.header["cases"]}
    return Results(first.path, {**first.header, "shard": "1/1"}, lines)


def _advice(parts: Sequence[Results], gaps: Sequence[str]) -> str:
    """Whose cases they are."""
    count = max(Shard.parse(part.header["shard"]).count for part in parts)
    cases, asked = parts[0].header["cases"], set(gaps)
    numbers = sorted({index % count + 1 for index, name in enumerate(cases) if name in asked})
    given = {Shard.parse(part.header["shard"]).number for part in parts}
    absent = [f"{number}/{count}" for number in numbers if number not in given]
    cut = [f"{number}/{count}" for number in numbers if number in given]
    told = [f"The file of shard {names(absent)} was not given."] if absent else []
    return " ".join([*told, *([f"Run shard {names(cut)} again with --resume."] if cut else [])])


def write_whole(path: Path, results: Results) -> None:
    """Write results as one file, as if one process had run them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text("".join(json.dumps(line) + "\n" for line in (results.header, *results.lines.values())))
    new.replace(path)
