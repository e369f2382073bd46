"""YAML as every part of deskhand reads it: safe, and a key that stands twice in one mapping is an error.

YAML's own rule (1.2.2, section 3.2.1.1) is that keys are unique; PyYAML takes the last and says nothing: a limit set at the top of a file is undone below.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


class RepeatedKeyError(yaml.MarkedYAMLError):
    """A key that stands twice: ``problem`` names the key, the file and both lines."""

    def __init__(self, key: Any, name: str, first: yaml.Mark, second: yaml.Mark) -> None:
        lines = f"in lines {first.line + 1} and {second.line + 1}" if first.line != second.line else f"twice in line {second.line + 1}"
        super().__init__(problem=f"the key {key!r} is repeated{f' in {name}' if name else ''}: it stands {lines}", problem_mark=second)

    def __str__(self) -> str:
        return str(self.problem)

    __repr__ = __str__


def read_yaml(file: Path, quick: bool = False) -> Any:
    """What a file holds; ``quick``: read in C where there is such a loader, for large files of our own.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is not text.
        yaml.YAMLError: it is not YAML; :class:`RepeatedKeyError` when a key stands twice.
    """
    return parse_yaml(Path(file).read_text(encoding="utf-8"), str(file), quick)


def parse_yaml(text: str, name: str = "", quick: bool = False) -> Any:
    """What a text says; ``name`` is that of its file, for messages. Raises as :func:`read_yaml`."""
    loader: Any = (getattr(yaml, "CSafeLoader", yaml.SafeLoader) if quick else yaml.SafeLoader)(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _require_keys_once(loader, node, name)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _require_keys_once(loader: Any, root: yaml.Node, name: str) -> None:
    """Look through the tree as it is written, before what ``<<`` merges is laid below a mapping's own keys."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += reversed(node.value)
        elif isinstance(node, yaml.MappingNode):
            first: dict[Any, yaml.Mark] = {}
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    continue
                word = key.value if key.tag.endswith(":merge") else loader.construct_object(key)
                if word in first:
                    raise RepeatedKeyError(word, name, first[word], key.start_mark)
                first[word] = key.start_mark
            waiting += [value for _, value in reversed(node.value)]
