"""deskhand: a real tabletop arm that a language model can use."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def _version() -> str:
    """As package.xml says, which is the one place: of the sources that run, or of what was installed from it."""
    sources = Path(__file__).resolve().parents[2] / "package.xml"
    if sources.is_file() and (found := re.search(r"<name>deskhand</name>\s*<version>(.+)</version>", sources.read_text(encoding="utf-8"))):
        return found[1]
    try:
        return version("deskhand")
    except PackageNotFoundError:
        return "unknown"


__version__ = _version()
