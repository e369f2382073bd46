"""What the site has besides docs/: the README as its first page, the changelog, and the API of every package; a hook of MkDocs (mkdocs.yml)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/deskhand/deskhand/blob/main/"
LINK = re.compile(r"(\]\()(?!https?:|#|mailto:)([^)#\s]+)((?:#[^)\s]*)?\))")
LEFT_OUT = ("nodes", "bench", "commands", "doctor", "testing")
"""Packages whose modules are no API: programs, measurements, ROS."""


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that do not lie in docs/."""
    pages = {"index.md": _moved(ROOT / "README.md"), "changelog.md": _moved(ROOT / "CHANGELOG.md"), "api.md": _api()}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links out of docs/ lead to the repository."""
    folder = (ROOT / "docs" / page.file.src_uri).parent
    return LINK.sub(lambda found: found[1] + _target(found[2], folder) + found[3], markdown)


def _moved(file: Path) -> str:
    """A page of the root as if it lay in docs/: links to docs/ lead there, others to the repository."""
    return LINK.sub(lambda found: found[1] + _target(found[2], file.parent, inside="docs/") + found[3], file.read_text(encoding="utf-8"))


def _target(link: str, folder: Path, inside: str = "") -> str:
    docs, path = ROOT / "docs", (folder / link).resolve()
    if not path.exists() or path.is_relative_to(docs):  # what is not there is left as it is, and fails the build
        return link.removeprefix(inside) if inside else link
    return REPOSITORY + path.relative_to(ROOT).as_posix()


def _api() -> str:
    """One heading for each module of the packages, with its first sentence, by mkdocstrings."""
    sources = ROOT / "src" / "deskhand"
    names = [_module(file) for file in sorted(sources.rglob("*.py")) if file.relative_to(sources).parts[0] not in LEFT_OUT and not file.name.startswith("_")]
    intro = "Of the packages that are written for use by others; units, frames and shapes are in the docstrings."
    return f"# API\n\n{intro}\n\n" + "\n\n".join(f"::: {name}" for name in names)


def _module(file: Path) -> str:
    return ".".join(file.relative_to(ROOT / "src").with_suffix("").parts)
