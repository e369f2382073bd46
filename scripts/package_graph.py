"""Draws the packages of deskhand and their imports into docs/architecture.md, as a mermaid diagram between two marks.

``python scripts/package_graph.py`` writes it; the test of layers says when it is out of date. An arrow that follows from others is left out (transitive
reduction), so the picture shows the shortest set of arrows from which all imports follow.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "deskhand"
PAGE = ROOT / "docs" / "architecture.md"
MARKS = re.compile(r"(<!-- packages -->\n```mermaid\n).*?(```)", re.DOTALL)


def package_imports() -> dict[str, set[str]]:
    """Package or file directly below ``deskhand`` -> those that it imports."""
    names = {path.stem for path in SOURCES.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()} - {"__init__"}
    found: dict[str, set[str]] = {name: set() for name in names}
    for file in sorted(SOURCES.rglob("*.py")):
        owner = file.relative_to(SOURCES).parts[0].removesuffix(".py")
        if owner == "__init__":
            continue
        for node in statements(ast.parse(file.read_text())):
            for other in _imported(node):
                if other in names and other != owner:
                    found[owner].add(other)
    return found


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """``tree`` and all statements in it, whose expressions are left out: most of a file, and none imports."""
    rest = [tree]
    while rest:
        node = rest.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            rest.extend(getattr(node, name, ()))


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom) and node.module == "deskhand":
        return [alias.name for alias in node.names]
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    return [module.split(".")[1] for module in modules if module.startswith("deskhand.")]


def reduced(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The same without the arrows that follow from others; ``graph`` has no circle."""
    below: dict[str, set[str]] = {}

    def reach(name: str) -> set[str]:
        if name not in below:
            below[name] = set().union(*({other} | reach(other) for other in graph[name]), set())
        return below[name]

    return {name: {other for other in others if not any(other in reach(between) for between in others - {other})} for name, others in graph.items()}


def diagram() -> str:
    """The lines of the mermaid diagram."""
    lines = ["flowchart TD"]
    for name, others in sorted(reduced(package_imports()).items()):
        lines += [f"  {name} --> {other}" for other in sorted(others)]
    return "\n".join(lines) + "\n"


def drawn(page: str) -> str:
    """The page with the diagram as it should be."""
    return MARKS.sub(lambda marks: marks[1] + diagram() + marks[2], page)


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text()))
