"""Definitions of ROS messages as MCAP wants them, from the ``.msg`` files that every ROS installation has."""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from pathlib import Path

from deskhand.errors import DeskhandError

_LINE = "\n" + "=" * 80 + "\n"
_FIELD = re.compile(r"^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[a-z]\w*")
_PRIMITIVE = {"bool", "byte", "char", "string", "wstring", *(f"{kind}{size}" for kind in ("int", "uint") for size in (8, 16, 32, 64)), "float32", "float64"}


@cache
def definition_of(datatype: str) -> str:
    """The text of a message ("sensor_msgs/msg/Image") and of all that it contains.

    Raises:
        DeskhandError: ``missing_dependency`` when its package is not installed.
    """
    text = _text(datatype)
    parts, seen, waiting = [text], {datatype}, _used_by(datatype, text)
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        text = _text(name)
        parts.append(f"MSG: {name.replace('/msg/', '/')}\n{text}")
        waiting += _used_by(name, text)
    return _LINE.join(parts)


def _text(datatype: str) -> str:
    package, _, name = datatype.partition("/msg/")
    for root in filter(None, [*os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep), sys.prefix]):
        file = Path(root) / "share" / package / "msg" / f"{name}.msg"
        if file.is_file():
            return file.read_text()
    raise DeskhandError("missing_dependency", f"the definition of {datatype} is in no installed ROS package.", hint=f"Is {package} installed and sourced?")


def _used_by(datatype: str, text: str) -> list[str]:
    found = []
    for line in text.splitlines():
        match = _FIELD.match(line.split("#")[0])
        if match is None or match[1] in _PRIMITIVE:
            continue
        package, _, name = match[1].rpartition("/")
        found.append(f"{package.removesuffix('/msg') or datatype.partition('/')[0]}/msg/{name}")
    return found
