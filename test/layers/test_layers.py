"""Which package may import which: only those above it in docs/architecture.md; and no circle among files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TypeGuard

import package_graph
import pytest
from package_graph import statements

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "deskhand"


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(SOURCES.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(file): file for file in SOURCES.rglob("*.py")}


@cache
def imports(module: str, of_types: bool) -> frozenset[str]:
    """Modules of deskhand that a module imports, anywhere in it; ``of_types``: also for annotations alone."""
    always, for_types = _imports(module)
    return always | for_types if of_types else always


@cache
def _imports(module: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a module imports, and what it imports for annotations alone."""
    tree = ast.parse(MODULES[module].read_text())
    below = {id(inner) for node in statements(tree) if _for_types(node) for child in node.body for inner in statements(child)}
    found: tuple[set[str], set[str]] = (set(), set())
    for node in statements(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found[id(node) in below].update((name if name in MODULES else node.module) for name in names if name in MODULES or node.module in MODULES)
        elif isinstance(node, ast.Import):
            found[id(node) in below].update(alias.name for alias in node.names if alias.name in MODULES)
    return frozenset(found[0]), frozenset(found[1])


def _for_types(node: ast.AST) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def package(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def layers() -> list[list[str]]:
    """The table of docs/architecture.md, the ground first."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    found = re.search(r"<!-- layers -->\n```\n(.*?)```", text, re.DOTALL)
    assert found, "docs/architecture.md has no table of layers"
    return [line.split() for line in found[1].splitlines()]


def test_the_table_has_every_package_once():
    named = [name for layer in layers() for name in layer]
    assert sorted(named) == sorted({package(module) for module in MODULES} - {""})


def test_imports_go_to_lower_layers_only():
    level = {name: index for index, layer in enumerate(layers()) for name in layer}
    wrong = [
        f"{module} imports {other}"
        for module in MODULES
        for other in imports(module, of_types=True)
        if package(module) and package(other) not in ("", package(module)) and level[package(other)] >= level[package(module)]
    ]
    assert not wrong, "\n".join(sorted(set(wrong)))


def test_no_circle_among_files():
    graph = {module: {other for other in imports(module, of_types=False) if other != module} for module in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_the_loop_knows_no_guard_by_name():
    named = {other for module in MODULES if module.startswith("deskhand.agent.") and ".guards" not in module for other in imports(module, of_types=True)}
    assert {name for name in named if name.startswith("deskhand.agent.guards")} == {"deskhand.agent.guards.stack"}


def test_a_guard_knows_no_other_guard():
    guards = {module for module in MODULES if module.startswith("deskhand.agent.guards.")} - {"deskhand.agent.guards.stack"}
    assert len(guards) >= 5
    assert not {(module, other) for module in guards for other in imports(module, of_types=True) if other.startswith("deskhand.agent.guards.")}


def test_the_drawing_shows_the_packages_as_they_are():
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert package_graph.MARKS.search(page), "docs/architecture.md has no drawing of the packages"
    assert page == package_graph.drawn(page), "run: python scripts/package_graph.py"


def test_no_file_is_longer_than_can_be_read_at_one_sitting():
    files = [*SOURCES.rglob("*.py"), *(ROOT / "test").rglob("*.py")]
    assert len(files) > 1000
    long = {str(file.relative_to(ROOT)): lines for file in files if (lines := len(file.read_text().splitlines())) > 400}
    assert not long, f"cut them by subject: {long}"


def test_tests_find_each_other_without_tricks():
    tricks = [str(file.relative_to(ROOT)) for file in (ROOT / "test").rglob("*.py") if file.name != "test_layers.py" and "sys.path" in file.read_text()]
    assert not tricks, f"what several folders share stands in test/support or deskhand.testing: {tricks}"


def test_what_only_decides_loads_nothing_that_sees_or_plans():
    """The orchestrator is one process of eight: what it need not import, a Jetson need not hold, and a start does not wait for."""
    code = "import sys, deskhand.nodes.orchestrator_node; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not [name for name in loaded if name.startswith(("scipy", "mujoco", "roboplan", "deskhand.skills", "deskhand.perception", "deskhand.motion"))]
